//! Families and results into files: CSV, Parquet, JSON lines, and NPZ for families.

mod csv;
mod family;
mod json_lines;
#[cfg(feature = "parquet")]
mod parquet;
mod scores;
mod stream;
mod table;

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

pub use family::{family_table, write_family};
pub use scores::score_table;
pub use stream::TableWriter;
pub use table::{Column, Table};

use crate::directory::write_file_atomic;
use crate::format::{Format, is_gzip_name, separator_of};
use crate::problem::{Place, Problem};
use crate::{Error, Result};

/// Writes a table to a file, whole or not at all; the name tells format and compression.
///
/// # Errors
/// [`Error::Data`] if the name tells no format for tables, or the table has columns of different lengths or
/// of one name; else as [`write_file_atomic`].
pub fn write_table(path: &Path, table: &Table) -> Result<()> {
    let format = Format::of(path)?;
    let bytes = table_bytes(path, format, table)?;
    write_file_atomic(path, &compressed(path, bytes)?)
}

/// Writes a table to anything, such as standard output.
///
/// # Errors
/// As [`write_table`], with [`Error::Io`] if the writer fails; `name` stands for it in messages.
pub fn write_table_to(mut writer: impl Write, format: Format, name: &Path, table: &Table) -> Result<()> {
    let bytes = table_bytes(name, format, table)?;
    writer.write_all(&bytes).and_then(|()| writer.flush()).map_err(Error::io("write", name))
}

fn table_bytes(name: &Path, format: Format, table: &Table) -> Result<Vec<u8>> {
    table.check().map_err(|why| unwritable(name, why))?;
    match format {
        Format::Csv => csv::bytes(table, separator_of(name)).map_err(Error::io("write", name)),
        Format::JsonLines => json_lines::bytes(table).map_err(Error::io("write", name)),
        Format::Parquet => parquet_bytes(name, table),
        Format::Npz => Err(no_table_in_npz(name)),
    }
}

fn no_table_in_npz(name: &Path) -> Error {
    let what = "NPZ holds families, not tables".to_string();
    let advice = "write .csv, .parquet or .jsonl".to_string();
    Error::data(name, Place::default(), Problem::Unsupported { what, advice })
}

#[cfg(feature = "parquet")]
fn parquet_bytes(name: &Path, table: &Table) -> Result<Vec<u8>> {
    parquet::bytes(table).map_err(|error| unwritable(name, error.to_string()))
}

#[cfg(not(feature = "parquet"))]
fn parquet_bytes(name: &Path, _: &Table) -> Result<Vec<u8>> {
    Err(Error::data(name, Place::default(), Problem::without_parquet()))
}

/// The bytes as the name asks for them.
fn compressed(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>> {
    if !is_gzip_name(path) {
        return Ok(bytes);
    }
    let compress = || -> io::Result<Vec<u8>> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&bytes)?;
        encoder.finish()
    };
    compress().map_err(Error::io("compress", path))
}

fn unwritable(name: &Path, why: String) -> Error {
    Error::data(name, Place::default(), Problem::Unwritable(why))
}
