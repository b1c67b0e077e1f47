//! `mtds morph` as typed.

use clap::Args;
use std::path::PathBuf;

use super::{CommonArguments, DriveArguments};

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds morph model --from osc-000 --to osc-001 --inputs family.csv -o morph.csv
      begins as one member and ends as another, under the inputs of the first
  mtds morph model --from osc-000 --via osc-002 --to osc-001 --steps 60 --inputs family.csv
      by way of a third
";

/// What was typed after `mtds morph`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct MorphArguments {
    /// Directory of the model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// Id of the member to begin as
    #[arg(long, value_name = "ID", required_unless_present = "from_code")]
    pub from: Option<String>,

    /// Code to begin with, e.g. 0.3,-1.2
    #[arg(long, value_name = "CODE", allow_hyphen_values = true, conflicts_with = "from")]
    pub from_code: Option<String>,

    /// Ids of members to pass on the way, evenly spaced in time
    #[arg(long, value_name = "ID")]
    pub via: Vec<String>,

    /// Id of the member to end as
    #[arg(long, value_name = "ID", required_unless_present = "to_code")]
    pub to: Option<String>,

    /// Code to end with
    #[arg(long, value_name = "CODE", allow_hyphen_values = true, conflicts_with = "to")]
    pub to_code: Option<String>,

    /// Inputs and length.
    #[command(flatten)]
    pub drive: DriveArguments,

    /// File for the sequence: CSV, Parquet, JSON lines or NPZ, by its ending [default: CSV on stdout]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: CommonArguments,
}
