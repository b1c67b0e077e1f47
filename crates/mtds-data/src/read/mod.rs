//! Families from files: CSV, Parquet, JSON lines and NPZ, each plain or compressed by gzip.
//!
//! A file is a long table, a row per sequence and time, in any order. It is read once, from front to back,
//! and of it only numbers are kept. NPZ holds arrays instead.

#[cfg(feature = "arrow")]
mod arrow;
mod assemble;
mod cell;
mod collect;
mod csv;
mod json_lines;
mod options;
mod order;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_column;
mod regular;
mod resample;
mod roles;
pub(crate) mod share;
mod source;
mod suits;

use std::fs::File;
use std::io::{BufRead, Read};
use std::path::Path;

#[cfg(feature = "arrow")]
pub use arrow::read_family_from_batches;
use mtds::Family;
pub use options::{Columns, ReadOptions, Resample, ResampleMethod};
pub(crate) use roles::list;
pub use suits::columns_of;

use crate::format::Format;
use crate::note::Note;
use crate::npz;
use crate::problem::{Place, Problem};
use crate::time::TimeAxis;
use crate::{Error, Result};

/// A family, and what its file said beside the numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadFamily {
    /// The sequences, in the order in which the file first names them.
    pub family: Family,
    /// The names of the columns.
    pub columns: Columns,
    /// When the sequences start, and the step, so that results carry the right times.
    pub time: TimeAxis,
    /// What was noticed, done or left out.
    pub notes: Vec<Note>,
}

/// Reads the family in a file.
///
/// # Errors
/// [`Error::Io`] if the file cannot be opened or read; [`Error::Data`] with place, reason and advice if it
/// does not hold a family.
pub fn read_family(path: &Path, options: &ReadOptions) -> Result<ReadFamily> {
    let format = options.format.map_or_else(|| Format::of(path), Ok)?;
    let file = File::open(path).map_err(Error::io("open", path))?;
    read_family_from(file, format, path, options)
}

/// Reads the family from anything, such as standard input; `name` stands for it in messages.
///
/// # Errors
/// As [`read_family`].
pub fn read_family_from(
    reader: impl Read,
    format: Format,
    name: &Path,
    options: &ReadOptions,
) -> Result<ReadFamily> {
    let source = source::decompressed(name, reader)?;
    if options.inputs_file.is_some() && format != Format::Npz {
        let what = "a file of inputs beside this one is for NPZ files".to_string();
        let advice = "put the inputs into columns of this file".to_string();
        return Err(Error::data(name, Place::default(), Problem::Unsupported { what, advice }));
    }
    match format {
        Format::Csv => assemble::assemble(&csv::collect(name, source, options)?, options),
        Format::JsonLines => assemble::assemble(&json_lines::collect(name, source, options)?, options),
        Format::Parquet => parquet_family(name, source, options),
        Format::Npz => npz::read(name, whole(name, source)?, options),
    }
}

#[cfg(feature = "parquet")]
fn parquet_family(name: &Path, source: Box<dyn BufRead + '_>, options: &ReadOptions) -> Result<ReadFamily> {
    assemble::assemble(&parquet::collect(name, whole(name, source)?, options)?, options)
}

#[cfg(not(feature = "parquet"))]
fn parquet_family(name: &Path, _: Box<dyn BufRead + '_>, _: &ReadOptions) -> Result<ReadFamily> {
    Err(Error::data(name, Place::default(), Problem::without_parquet()))
}

/// All bytes, for formats whose table of contents comes last.
fn whole(name: &Path, mut source: Box<dyn BufRead + '_>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes).map_err(|error| source::broken(name, error))?;
    Ok(bytes)
}
