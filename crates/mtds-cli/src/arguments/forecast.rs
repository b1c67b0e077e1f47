//! `mtds forecast` as typed.

use clap::Args;
use std::path::PathBuf;

use super::{CommonArguments, MethodName, SourceArguments};

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds forecast model family.csv --seen 20 --horizon 40 --quantiles 0.05,0.5,0.95 -o forecasts.csv
      the 40 steps after the first 20 of every sequence
  mtds forecast model family.csv --seen 60 --json
      all that the file has inputs for beyond 60 steps, as a JSON document on stdout
";

/// What was typed after `mtds forecast`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ForecastArguments {
    /// Directory of the model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// What is observed; last rows with inputs and no outputs are the future.
    #[command(flatten)]
    pub source: SourceArguments,

    /// File for the forecasts: CSV, Parquet or JSON lines, by its ending [default: CSV on stdout]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Use at most this many steps of each sequence [default: all]
    #[arg(long, value_name = "N")]
    pub seen: Option<usize>,

    /// Steps to forecast [default: as far as DATA goes beyond what is seen]
    #[arg(long, value_name = "N")]
    pub horizon: Option<usize>,

    /// Levels of the quantiles, between 0 and 1
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', default_value = "0.05,0.5,0.95")]
    pub quantiles: Vec<f64>,

    /// How posteriors are found
    #[arg(long, value_enum, value_name = "METHOD", default_value_t = MethodName::Adais)]
    pub method: MethodName,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: CommonArguments,
}
