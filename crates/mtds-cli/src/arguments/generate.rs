//! `mtds generate` as typed, and where inputs of made-up sequences come from.

use clap::Args;
use std::path::PathBuf;

use super::CommonArguments;

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds generate model --sample 10 --inputs family.csv --inputs-of osc-000 -o new.csv
      ten new members, with codes from the prior, under the inputs of osc-000
  mtds generate model --like osc-003 --inputs family.csv --steps 40 --noise
      what osc-003 might have been, noise included, on stdout
";

/// What was typed after `mtds generate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct GenerateArguments {
    /// Directory of the model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// A code, e.g. 0.3,-1.2; again for more sequences
    #[arg(long, value_name = "CODE", allow_hyphen_values = true, conflicts_with_all = ["like", "sample"])]
    pub code: Vec<String>,

    /// Id of a member that the model was learned from; again for more sequences
    #[arg(long, value_name = "ID", conflicts_with = "sample")]
    pub like: Vec<String>,

    /// Draw this many codes from the prior
    #[arg(long, value_name = "N")]
    pub sample: Option<usize>,

    /// Add the noise of observations
    #[arg(long)]
    pub noise: bool,

    /// Inputs and length.
    #[command(flatten)]
    pub drive: DriveArguments,

    /// File for the sequences: CSV, Parquet, JSON lines or NPZ, by its ending [default: CSV on stdout]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// What drives made-up sequences, and for how long.
#[derive(Debug, Args)]
pub struct DriveArguments {
    /// File with inputs, in columns named as when the model was learned
    #[arg(long, value_name = "DATA")]
    pub inputs: Option<PathBuf>,

    /// The sequence of that file whose inputs are taken [default: the one of the same id, or the only one]
    #[arg(long, value_name = "ID", requires = "inputs")]
    pub inputs_of: Option<String>,

    /// Length of a sequence [default: that of the inputs]
    #[arg(long, value_name = "N")]
    pub steps: Option<usize>,
}
