//! `mtds data` as typed.

use clap::{Args, Subcommand};
use std::path::PathBuf;

use super::{CommonArguments, SourceArguments};

/// Examples in the help of `mtds data oscillators`.
const OSCILLATORS: &str = "Examples:
  mtds data oscillators -o oscillators.csv
      128 sequences of 80 steps, with the impulse that starts them
  mtds data oscillators -o more.csv.gz --sequences 500 --steps 40 --seed 7
      more and shorter ones, compressed
";

/// Examples in the help of `mtds data convert`.
const CONVERT: &str = "Examples:
  mtds data convert family.csv -o family.jsonl
      the same family as JSON lines
  mtds data convert family.csv -o plain.csv.gz --outputs y
      one output alone, compressed
";

/// What was typed after `mtds data`.
#[derive(Debug, Subcommand)]
pub enum DataArguments {
    /// The built-in family: damped oscillators, started by an impulse
    Oscillators(OscillatorsArguments),
    /// Read a family and write it in another format
    Convert(ConvertArguments),
}

/// What was typed after `mtds data oscillators`.
#[derive(Debug, Args)]
#[command(after_help = OSCILLATORS)]
pub struct OscillatorsArguments {
    /// File to write; its ending says the format
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,

    /// Number of sequences
    #[arg(long, value_name = "N", default_value_t = 128)]
    pub sequences: usize,

    /// Steps of a sequence
    #[arg(long, value_name = "N", default_value_t = 80)]
    pub steps: usize,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// What was typed after `mtds data convert`.
#[derive(Debug, Args)]
#[command(after_help = CONVERT)]
pub struct ConvertArguments {
    /// What is read.
    #[command(flatten)]
    pub source: SourceArguments,

    /// File to write; its ending says the format
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: CommonArguments,
}
