//! `mtds transfer` as typed.

use clap::Args;
use std::path::PathBuf;

use super::{CommonArguments, SourceArguments};

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds transfer model family.csv --content osc-000 --style osc-005 -o transferred.csv
      what drove osc-000, answered as osc-005 would
  mtds transfer model family.csv --content osc-000 --style osc-005 --json
      the same as a JSON document, with the code
";

/// What was typed after `mtds transfer`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TransferArguments {
    /// Directory of the model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// The sequence whose inputs are taken is in this file, and the style may be.
    #[command(flatten)]
    pub source: SourceArguments,

    /// Id of the sequence in DATA whose inputs are taken
    #[arg(long, value_name = "ID")]
    pub content: String,

    /// Id of the member whose code is taken; if the model does not know it, inferred from its outputs in DATA
    #[arg(long, value_name = "ID")]
    pub style: String,

    /// File for the sequence: CSV, Parquet, JSON lines or NPZ, by its ending [default: CSV on stdout]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: CommonArguments,
}
