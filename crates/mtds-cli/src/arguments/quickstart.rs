//! `mtds quickstart` as typed.

use clap::Args;
use std::path::PathBuf;

use super::CommonArguments;

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds quickstart
      a table of scores, a page with pictures and a model, in mtds-quickstart
  mtds quickstart --sequences 32 --seed 2 -o few
      fewer training sequences, another family of oscillators
";

/// What was typed after `mtds quickstart`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct QuickstartArguments {
    /// Directory for the report page, the scores and the model
    #[arg(short, long, value_name = "DIR", default_value = "mtds-quickstart")]
    pub out: PathBuf,

    /// Number of training sequences
    #[arg(long, value_name = "N", default_value_t = 128)]
    pub sequences: usize,

    /// What all these verbs have in common.
    #[command(flatten)]
    pub common: CommonArguments,
}
