//! Where a family is read from, as typed: the same for every verb that reads one.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// The file, and which of its columns mean what.
#[derive(Debug, Args)]
pub struct SourceArguments {
    /// The family: CSV, Parquet, JSON lines or NPZ, also gzipped; `-` for stdin, with --format
    #[arg(value_name = "DATA")]
    pub data: PathBuf,

    /// Column that tells sequences apart [default: series]
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub series: Option<String>,

    /// Column of times: integers, numbers, dates [default: t]
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub time: Option<String>,

    /// Column of labels; never used in learning [default: label]
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub label: Option<String>,

    /// Output columns [default: those that begin with y, else all with numbers]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Columns")]
    pub outputs: Vec<String>,

    /// Input columns [default: those that begin with u]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Columns")]
    pub inputs: Vec<String>,

    /// Bring irregular times to steps of this length, e.g. 0.5, or 15min for dates
    #[arg(long, value_name = "STEP", help_heading = "Columns")]
    pub resample: Option<String>,

    /// What a resampled row holds
    #[arg(long, value_enum, value_name = "HOW", requires = "resample", help_heading = "Columns")]
    pub resample_by: Option<ResampleName>,

    /// Format, where the name does not tell it: csv, parquet, jsonl, npz
    #[arg(long, value_name = "FORMAT", help_heading = "Columns")]
    pub format: Option<String>,
}

/// What a resampled row holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ResampleName {
    /// The mean over its step
    Mean,
    /// A point on the line between its neighbours
    Linear,
}
