//! `mtds report` as typed.

use clap::Args;
use std::path::PathBuf;

use super::{CommonArguments, SourceArguments};

/// Examples in the help.
const EXAMPLES: &str = "The page needs nothing else: it can be mailed, printed and read in light or dark. With the family that the
model was learned from, forecasts are judged on the sequences that were held out; with other data, on all of them.

Examples:
  mtds report model family.csv -o report.html
      the course of learning, the map of codes, forecasts, whether intervals hold, residuals, settings
  mtds report model family.csv -o report.html --seen 5,20 --shown 3
      forecasts after 5 and after 20 steps, three sequences drawn
";

/// What was typed after `mtds report`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ReportArguments {
    /// Directory of the model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// Sequences to judge the model by.
    #[command(flatten)]
    pub source: SourceArguments,

    /// File for the page
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub out: PathBuf,

    /// Steps after which the rest is forecast [default: a quarter and half of the middle length]
    #[arg(long, value_name = "STEPS", value_delimiter = ',')]
    pub seen: Vec<usize>,

    /// Sequences that are drawn
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub shown: usize,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: CommonArguments,
}
