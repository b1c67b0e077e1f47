//! TensorBoard event files with scalars, and nothing else.
//!
//! ```text
//! file     records, one after another
//! record   u64 length · u32 masked CRC of it · bytes · u32 masked CRC of them          little-endian
//! mask     ((crc >> 15) | (crc << 17)) + 0xa282ead8                                    of CRC-32C
//! bytes    protocol buffer Event: 1 wall_time f64, 2 step i64, 3 file_version text | 5 summary
//!          summary: 1 value { 1 tag text, 2 simple_value f32 }
//! ```

use anyhow::{Context, Result};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// A file of events, open for writing. It grows by whole records while the program runs.
#[derive(Debug)]
pub struct EventFile {
    file: File,
    path: PathBuf,
}

impl EventFile {
    /// Begins a new file in the directory, which is made if it is missing.
    ///
    /// # Errors
    /// A directory that cannot be made or written in.
    pub fn create(folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
        let secs = now_secs() as u64;
        for attempt in 0..1000 {
            let path =
                folder.join(format!("events.out.tfevents.{secs:010}.mtds.{}.{attempt}", std::process::id()));
            if let Ok(file) = OpenOptions::new().write(true).create_new(true).open(&path) {
                let mut events = Self { file, path };
                events.append(&event(now_secs(), None, &text_field(3, "brain.Event:2")))?;
                return Ok(events);
            }
        }
        anyhow::bail!("cannot write in `{}`: is the directory writable, and is there room?", folder.display())
    }

    /// Appends the scalars of a step.
    ///
    /// # Errors
    /// A file that takes no more.
    pub fn scalars(&mut self, step: u64, values: &[(&str, f64)]) -> Result<()> {
        let value = |(tag, value): &(&str, f64)| {
            let mut inner = text_field(1, tag);
            inner.push(2 << 3 | 5);
            inner.extend((*value as f32).to_le_bytes());
            bytes_field(1, &inner)
        };
        let summary: Vec<u8> = values.iter().flat_map(value).collect();
        self.append(&event(now_secs(), Some(step), &bytes_field(5, &summary)))
    }

    fn append(&mut self, event: &[u8]) -> Result<()> {
        let write = self.file.write_all(&record(event));
        write.with_context(|| format!("cannot write `{}`: is there room?", self.path.display()))
    }
}

fn now_secs() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// Length, bytes and their checks.
fn record(bytes: &[u8]) -> Vec<u8> {
    let length = (bytes.len() as u64).to_le_bytes();
    let mut out = length.to_vec();
    out.extend(masked_crc(&length).to_le_bytes());
    out.extend(bytes);
    out.extend(masked_crc(bytes).to_le_bytes());
    out
}

fn event(wall_time: f64, step: Option<u64>, content: &[u8]) -> Vec<u8> {
    let mut out = vec![1 << 3 | 1];
    out.extend(wall_time.to_le_bytes());
    if let Some(step) = step {
        out.push(2 << 3);
        out.extend(varint(step));
    }
    out.extend(content);
    out
}

fn text_field(number: u8, text: &str) -> Vec<u8> {
    bytes_field(number, text.as_bytes())
}

fn bytes_field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    out.extend(varint(bytes.len() as u64));
    out.extend(bytes);
    out
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = vec![];
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

fn masked_crc(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// CRC-32C (Castagnoli), bit by bit: records are small.
fn crc32c(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Check values of RFC 3720, B.4, and of the usual nine digits.
    #[test]
    fn checks_are_those_of_the_standard() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
    }

    #[test]
    fn numbers_take_seven_bits_a_byte() {
        assert_eq!((varint(0), varint(127), varint(300)), (vec![0], vec![127], vec![0xac, 2]));
    }

    /// A reader written the other way round: by field numbers, as the format says.
    #[test]
    fn a_file_reads_back() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let mut events = EventFile::create(&folder.path().join("deep/er")).expect("created");
        events.scalars(300, &[("bound/training", -1.5), ("rate", 0.25)]).expect("written");
        let bytes = std::fs::read(&events.path).expect("there");
        let mut rest = &bytes[..];
        let mut found = vec![];
        while !rest.is_empty() {
            let length = u64::from_le_bytes(rest[..8].try_into().expect("8")) as usize;
            assert_eq!(rest[8..12], masked_crc(&rest[..8]).to_le_bytes());
            let event = &rest[12..12 + length];
            assert_eq!(rest[12 + length..16 + length], masked_crc(event).to_le_bytes());
            found.push(event.to_vec());
            rest = &rest[16 + length..];
        }
        assert_eq!(found.len(), 2);
        assert!(found[0].ends_with(b"\x1a\x0dbrain.Event:2"));
        let step_and_summary = &found[1][9..];
        assert_eq!(step_and_summary[..3], [0x10, 0xac, 2]);
        let mut expected = vec![0x0a, 21, 0x0a, 14];
        expected.extend(b"bound/training");
        expected.push(0x15);
        expected.extend((-1.5f32).to_le_bytes());
        assert_eq!(step_and_summary[5..5 + expected.len()], expected);
        let other = EventFile::create(&folder.path().join("deep/er")).expect("beside the first");
        assert_ne!(other.path, events.path);
    }
}
