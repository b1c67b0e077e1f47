//! Families from files: CSV, Parquet, JSON lines and NPZ, each plain or compressed by gzip.
//!
//! A file is a long table, a row per sequence and time, in any order. It is read once, from front to back,
//! and of it only numbers are kept. NPZ holds arrays instead.

#[cfg(feature = "arrow")]
mod arrow;
mod assemble;
mod attributes;
#[cfg(feature = "arrow")]
mod batch;
mod between_rows;
pub(crate) mod block;
mod cell;
mod collect;
mod csv;
mod entries;
mod irregular;
mod json_lines;
mod local_days;
mod numbers;
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
mod threads;

use std::fs::File;
use std::io::{BufRead, Read};
use std::path::Path;

#[cfg(feature = "arrow")]
pub use arrow::read_family_from_batches;
use collect::Collector;
pub use irregular::Moves;
pub(crate) use irregular::duration;
use mtds::{Family, Signal};
pub use options::{Columns, ReadOptions, Resample, ResampleMethod};
pub(crate) use roles::list;
pub use suits::{columns_of, prolonged, time_step_of};

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
        Format::Npz => npz::read(name, whole(name, source)?, options),
        _ => assemble::family(&collected(name, source, format, options)?, options),
    }
}

/// Inputs alone, and what their file said beside the numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadInputs {
    /// The names of the sequences.
    pub ids: Vec<String>,
    /// Their inputs, `n_time × d_input` each.
    pub signals: Vec<Signal>,
    /// When the sequences start, and the step.
    pub time: TimeAxis,
    /// What was noticed, done or left out.
    pub notes: Vec<Note>,
}

/// Reads the inputs of the sequences in a file, which need not have outputs; of an NPZ file it needs both.
///
/// # Errors
/// As [`read_family`]; [`Problem::NoInputs`].
pub fn read_inputs(path: &Path, options: &ReadOptions) -> Result<ReadInputs> {
    let format = options.format.map_or_else(|| Format::of(path), Ok)?;
    let source = source::decompressed(path, File::open(path).map_err(Error::io("open", path))?)?;
    let without = || Error::data(path, Place::default(), Problem::NoInputs);
    if format != Format::Npz {
        let options = ReadOptions { inputs_alone: true, ..options.clone() };
        let found = assemble::inputs(&collected(path, source, format, &options)?, &options)?;
        return if found.signals.iter().all(|signal| signal.width() > 0) {
            Ok(found)
        } else {
            Err(without())
        };
    }
    let ReadFamily { family, time, notes, .. } = npz::read(path, whole(path, source)?, options)?;
    let ids = family.sequences().iter().map(|sequence| sequence.id().to_owned()).collect();
    let signals = (0..family.n_seq()).map(|i| family.inputs_of(i).cloned().ok_or_else(without));
    Ok(ReadInputs { ids, signals: signals.collect::<Result<_>>()?, time, notes })
}

/// All rows of a table.
fn collected<'a>(
    name: &'a Path,
    source: Box<dyn BufRead + '_>,
    format: Format,
    options: &ReadOptions,
) -> Result<Collector<'a>> {
    match format {
        Format::Csv => csv::collect(name, source, options),
        Format::JsonLines => json_lines::collect(name, source, options),
        _ => parquet_rows(name, source, options),
    }
}

#[cfg(feature = "parquet")]
fn parquet_rows<'a>(
    name: &'a Path,
    source: Box<dyn BufRead + '_>,
    options: &ReadOptions,
) -> Result<Collector<'a>> {
    parquet::collect(name, whole(name, source)?, options)
}

#[cfg(not(feature = "parquet"))]
fn parquet_rows<'a>(name: &'a Path, _: Box<dyn BufRead + '_>, _: &ReadOptions) -> Result<Collector<'a>> {
    Err(Error::data(name, Place::default(), Problem::without_parquet()))
}

/// All bytes, for formats whose table of contents comes last.
fn whole(name: &Path, mut source: Box<dyn BufRead + '_>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes).map_err(|error| source::broken(name, error))?;
    Ok(bytes)
}
