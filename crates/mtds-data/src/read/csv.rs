//! Families from text with separators: a header, then one row per sequence and time.

use std::io::{BufRead, Cursor, Read};
use std::path::Path;

use csv::{ByteRecord, ErrorKind, ReaderBuilder};

use super::cell::Cell;
use super::collect::Collector;
use super::options::ReadOptions;
use super::source::broken;
use crate::problem::{Place, Problem};
use crate::{Error, Result};

/// Longest first line that is looked at for its separator.
const MOST_HEADER: usize = 1 << 16;
/// Bytes before and after a wrong one that a message repeats.
const N_AROUND: usize = 40;

/// Collects the rows of a text file.
///
/// # Errors
/// [`Error::Data`] with row and column; [`Error::Io`].
pub(crate) fn collect<'a>(
    file: &'a Path,
    mut source: Box<dyn BufRead + '_>,
    options: &ReadOptions,
) -> Result<Collector<'a>> {
    let start = peek(file, &mut source)?;
    let source = Cursor::new(start.clone()).chain(source);
    let mut builder = ReaderBuilder::new();
    let mut reader = builder
        .has_headers(false)
        .flexible(true)
        .delimiter(separator(&start))
        .buffer_capacity(1 << 18)
        .from_reader(source);
    let mut record = ByteRecord::new();
    if !read(file, &mut reader, &mut record)? {
        return Err(Error::data(file, Place::default(), Problem::NoRows { found: "an empty file" }));
    }
    let header = record.iter().map(|name| text(file, 1, name).map(|name| name.trim().to_string()));
    let names = header.collect::<Result<Vec<_>>>()?;
    let width = names.len();
    let mut collector = Collector::new(file, names, options)?;
    while read(file, &mut reader, &mut record)? {
        let row = record.position().map_or(0, csv::Position::line);
        if record.len() != width {
            let problem = Problem::Width { expected: width, found: record.len() };
            return Err(Error::data(file, Place::row(row), problem));
        }
        collector.push(row, |at| text(file, row, &record[at]).map(Cell::Text))?;
    }
    Ok(collector)
}

/// The next record; false at the end.
fn read(file: &Path, reader: &mut csv::Reader<impl Read>, record: &mut ByteRecord) -> Result<bool> {
    reader.read_byte_record(record).map_err(|error| {
        let found = error.to_string();
        match error.into_kind() {
            ErrorKind::Io(error) => broken(file, error),
            _ => Error::data(file, Place::default(), Problem::Damaged { expected: "a CSV file", found }),
        }
    })
}

fn text<'b>(file: &Path, row: u64, bytes: &'b [u8]) -> Result<&'b str> {
    std::str::from_utf8(bytes).map_err(|error| {
        let bad = error.valid_up_to();
        let around = &bytes[bad.saturating_sub(N_AROUND)..bytes.len().min(bad + N_AROUND)];
        let found = format!("byte 0x{:02x} in `{}`", bytes[bad], around.escape_ascii());
        Error::data(file, Place::row(row), Problem::NotUtf8 { found })
    })
}

/// The first line, or as much of it as is needed to see how the file is written; a byte-order mark is dropped.
fn peek(file: &Path, source: &mut dyn BufRead) -> Result<Vec<u8>> {
    let mut start = Vec::new();
    while start.len() < MOST_HEADER && !start.contains(&b'\n') {
        let chunk = source.fill_buf().map_err(|error| broken(file, error))?;
        if chunk.is_empty() {
            break;
        }
        let n_bytes = chunk.len();
        start.extend_from_slice(chunk);
        source.consume(n_bytes);
    }
    if start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) {
        let problem = Problem::NotUtf8 { found: "UTF-16".into() };
        return Err(Error::data(file, Place::default(), problem));
    }
    if start.starts_with(b"\xef\xbb\xbf") {
        start.drain(..3);
    }
    Ok(start)
}

/// The separator that comes most often in the header, outside quotes; a comma if there is none.
fn separator(start: &[u8]) -> u8 {
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0)];
    let mut is_quoted = false;
    for &byte in start.iter().take_while(|&&byte| byte != b'\n') {
        is_quoted ^= byte == b'"';
        for (separator, count) in &mut counts {
            *count += usize::from(!is_quoted && byte == *separator);
        }
    }
    // The last of equals would win: commas go last.
    counts.iter().rev().max_by_key(|(_, count)| count).map_or(b',', |(separator, _)| *separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_tells_the_separator() {
        for (header, expected) in [
            ("series,t,y", b','),
            ("series;t;y", b';'),
            ("series\tt\ty\na,b,c,d,e", b'\t'),
            ("\"a,b,c,d\";t;y", b';'),
            ("y", b','),
            ("", b','),
        ] {
            assert_eq!(separator(header.as_bytes()), expected, "{header}");
        }
    }
}
