//! Thousands of damaged files of every format: a reader may refuse them or read something, never panic.

use std::path::Path;

use mtds_data::oscillators::{Lengths, Oscillators};
use mtds_data::{
    Columns, Format, ReadOptions, Resample, ResampleMethod, Step, TimeAxis, read_family_from, write_family,
};
use rand::RngExt;

/// Files as they are damaged: changed, cut, doubled and swapped bytes.
fn damage(bytes: &[u8], random: &mut mtds::random::Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..random.random_range(1..=4) {
        if bytes.is_empty() {
            break;
        }
        let at = random.random_range(0..bytes.len());
        let end = (at + random.random_range(1..=16)).min(bytes.len());
        match random.random_range(0..6) {
            0 => bytes[at] ^= 1 << random.random_range(0..8),
            1 => bytes[at] = random.random(),
            2 => bytes[at] = *b",;\n\"-.0e{}:\t"[..].get(random.random_range(0..12)).unwrap(),
            3 => bytes.truncate(at),
            4 => drop(bytes.drain(at..end)),
            _ => {
                let piece = bytes[at..end].to_vec();
                let to = random.random_range(0..=bytes.len());
                bytes.splice(to..to, piece);
            }
        }
    }
    bytes
}

fn check(ending: &str, format: Format, n_tries: u64) {
    let settings = Oscillators {
        n_time: 6,
        n_input: 7,
        lengths: Lengths::Ragged { shortest: 3 },
        ..Oscillators::default()
    };
    let family = settings.draw(3, 5).unwrap().family;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("a.{ending}"));
    write_family(&path, &family, &Columns::of(&family), &TimeAxis::counted(3)).unwrap();
    let good = std::fs::read(&path).unwrap();
    let mean = Resample { step: Step::Integer(2), method: ResampleMethod::Mean };
    let linear = Resample { step: Step::Number(0.5), method: ResampleMethod::Linear };
    let mut random = mtds::random::stream(11, 0);
    let (mut n_refused, mut n_read) = (0, 0);
    for _ in 0..n_tries {
        let bytes = damage(&good, &mut random);
        for resample in [None, Some(mean), Some(linear)] {
            let options = ReadOptions { resample, ..ReadOptions::default() };
            match read_family_from(&bytes[..], format, Path::new("a"), &options) {
                Ok(read) => n_read += read.family.n_seq().min(1),
                Err(error) => n_refused += usize::from(error.to_string().starts_with("a")),
            }
        }
    }
    assert_eq!(n_read + n_refused, 3 * n_tries as usize, "every error names the file");
    assert!(n_refused > 0, "damage does not always go unnoticed");
}

#[test]
fn damaged_csv_never_panics() {
    check("csv", Format::Csv, 5000);
}

#[test]
fn damaged_gzip_never_panics() {
    check("csv.gz", Format::Csv, 2000);
}

#[test]
fn damaged_json_lines_never_panic() {
    check("jsonl", Format::JsonLines, 5000);
}

#[test]
fn damaged_npz_never_panics() {
    check("npz", Format::Npz, 5000);
}

#[test]
#[cfg(feature = "parquet")]
fn damaged_parquet_never_panics() {
    check("parquet", Format::Parquet, 5000);
}
