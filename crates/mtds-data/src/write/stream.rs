//! A table that is too long to be held: written part by part, and there as a whole or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::table::Table;
use super::{csv, json_lines, unwritable};
use crate::directory::NewFile;
use crate::format::{Format, is_gzip_name, separator_of};
use crate::{Error, Result};

/// A file of results to which rows are added; dropped before [`TableWriter::finish`] it leaves nothing.
#[derive(Debug)]
pub struct TableWriter {
    file: NewFile,
    body: Body,
}

/// What is written so far.
#[derive(Debug)]
enum Body {
    /// Text, and the separator of its cells.
    Csv(Compressed, u8),
    JsonLines(Compressed),
    /// Text of which nothing is written, or a format that cannot be started without columns.
    Unbegun(Compressed, Format),
    #[cfg(feature = "parquet")]
    Parquet(super::parquet::Groups<Compressed>),
}

/// A file, plain or compressed.
#[derive(Debug)]
pub(super) enum Compressed {
    Plain(BufWriter<File>),
    Gzip(GzEncoder<BufWriter<File>>),
}

impl TableWriter {
    /// Begins a file; the name tells format and compression.
    ///
    /// # Errors
    /// [`Error::Data`] if the name tells no format for tables; else as
    /// [`crate::directory::write_file_atomic`].
    pub fn create(path: &Path) -> Result<Self> {
        let format = Format::of(path)?;
        if format == Format::Npz {
            return Err(super::no_table_in_npz(path));
        }
        let (file, handle) = NewFile::create(path)?;
        let plain = BufWriter::new(handle);
        let to = match is_gzip_name(path) {
            true => Compressed::Gzip(GzEncoder::new(plain, Compression::default())),
            false => Compressed::Plain(plain),
        };
        Ok(Self { file, body: Body::Unbegun(to, format) })
    }

    /// Adds the rows of a table with the same columns as those before.
    ///
    /// # Errors
    /// [`Error::Data`] for columns of different lengths or of one name; [`Error::Io`] if the disk takes no more.
    pub fn push(self, rows: &Table) -> Result<Self> {
        let Self { file, body } = self;
        let path = file.path().to_path_buf();
        rows.check().map_err(|why| unwritable(&path, why))?;
        let io = |result: io::Result<()>| result.map_err(Error::io("write", &path));
        let body = match body {
            Body::Unbegun(to, format) => begin(&path, to, format, rows)?,
            Body::Csv(mut to, separator) => {
                io(csv::rows(rows, separator).and_then(|bytes| to.write_all(&bytes)))?;
                Body::Csv(to, separator)
            }
            Body::JsonLines(mut to) => {
                io(json_lines::bytes(rows).and_then(|bytes| to.write_all(&bytes)))?;
                Body::JsonLines(to)
            }
            #[cfg(feature = "parquet")]
            Body::Parquet(mut groups) => {
                groups.push(rows).map_err(|error| unwritable(&path, error.to_string()))?;
                Body::Parquet(groups)
            }
        };
        Ok(Self { file, body })
    }

    /// Puts the file in its place; one that was there is replaced.
    ///
    /// # Errors
    /// [`Error::Data`] if no rows were ever added, so that there are no columns; [`Error::Io`].
    pub fn finish(self) -> Result<()> {
        let Self { file, body } = self;
        let path = file.path().to_path_buf();
        let to = match body {
            Body::Unbegun(..) => return Err(unwritable(&path, "the table has no columns".into())),
            Body::Csv(to, _) | Body::JsonLines(to) => to,
            #[cfg(feature = "parquet")]
            Body::Parquet(groups) => groups.finish().map_err(|error| unwritable(&path, error.to_string()))?,
        };
        let plain = match to {
            Compressed::Plain(plain) => Ok(plain),
            Compressed::Gzip(encoder) => encoder.finish(),
        };
        let handle = plain.and_then(|plain| plain.into_inner().map_err(io::IntoInnerError::into_error));
        file.finish(handle.map_err(Error::io("write", &path))?)
    }
}

/// The first rows, after what stands before them.
fn begin(path: &Path, mut to: Compressed, format: Format, rows: &Table) -> Result<Body> {
    let io = |result: io::Result<()>| result.map_err(Error::io("write", path));
    match format {
        Format::Csv => {
            let separator = separator_of(path);
            io(csv::bytes(rows, separator).and_then(|bytes| to.write_all(&bytes)))?;
            Ok(Body::Csv(to, separator))
        }
        Format::JsonLines => {
            io(json_lines::bytes(rows).and_then(|bytes| to.write_all(&bytes)))?;
            Ok(Body::JsonLines(to))
        }
        #[cfg(feature = "parquet")]
        Format::Parquet => {
            let groups = super::parquet::Groups::begin(to, rows);
            Ok(Body::Parquet(groups.map_err(|error| unwritable(path, error.to_string()))?))
        }
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => {
            use crate::problem::{Place, Problem};
            Err(Error::data(path, Place::default(), Problem::without_parquet()))
        }
        Format::Npz => Err(super::no_table_in_npz(path)),
    }
}

impl Write for Compressed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(to) => to.write(bytes),
            Self::Gzip(to) => to.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(to) => to.flush(),
            Self::Gzip(to) => to.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Column, write_table};
    use super::*;
    use std::fs;

    fn rows(first: i64, n: i64) -> Table {
        let numbers = first..first + n;
        Table::new()
            .with("series", Column::Text(numbers.clone().map(|i| format!("s, {i}")).collect()))
            .with("draw", Column::Integer(numbers.clone().collect()))
            .with(
                "z1",
                Column::Number(numbers.map(|i| if i == 3 { f64::NAN } else { i as f64 / 8.0 }).collect()),
            )
    }

    #[test]
    fn parts_make_the_same_file_as_the_whole() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.csv", "a.tsv.gz", "a.jsonl"] {
            let (whole, parts) = (folder.path().join(format!("whole-{name}")), folder.path().join(name));
            write_table(&whole, &rows(0, 6)).unwrap();
            let writer = TableWriter::create(&parts).unwrap();
            let writer = writer.push(&rows(0, 2)).unwrap().push(&rows(2, 3)).unwrap();
            assert!(!parts.exists(), "nothing is there before the end");
            writer.push(&rows(5, 1)).unwrap().finish().unwrap();
            let read = |path: &Path| {
                let mut text = String::new();
                let file = File::open(path).unwrap();
                match is_gzip_name(path) {
                    true => io::Read::read_to_string(&mut flate2::read::GzDecoder::new(file), &mut text),
                    false => io::Read::read_to_string(&mut io::BufReader::new(file), &mut text),
                }
                .unwrap();
                text
            };
            assert_eq!(read(&parts), read(&whole), "{name}");
        }
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn parquet_has_a_group_per_part() {
        use parquet::file::reader::{FileReader, SerializedFileReader};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        let writer = TableWriter::create(&path).unwrap().push(&rows(0, 2)).unwrap();
        writer.push(&rows(2, 3)).unwrap().finish().unwrap();
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        let counts: Vec<_> = reader.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
        assert_eq!(counts, [2, 3]);
    }

    #[test]
    fn an_unfinished_file_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        drop(TableWriter::create(&path).unwrap().push(&rows(0, 2)).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(TableWriter::create(&path).unwrap().finish().is_err(), "no columns");
        assert!(TableWriter::create(&folder.path().join("a.npz")).is_err());
        let uneven = Table::new().with("a", Column::Integer(vec![1])).with("b", Column::Integer(vec![]));
        assert!(TableWriter::create(&path).unwrap().push(&uneven).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
