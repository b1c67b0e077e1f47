//! `mtds evaluate` as typed.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

use super::{CommonArguments, SourceArguments};
use mtds::evaluate::Baseline;

/// Examples in the help, and what the anomaly score means.
const EXAMPLES: &str = "The anomaly score of a sequence: its steps are forecast a few at a time, given all before. The log
density of what came is compared with that of outcomes drawn from the same forecasts; the difference, summed, is divided
by its standard deviation. Sequences that the model itself would make have mean 0 and deviation 1; 3 and more is an
anomaly, far below 0 is more regular than anything the model would make.

Examples:
  mtds evaluate model family.csv --seen 10,20
      forecasts of the rest of every sequence after 10 and after 20 steps
  mtds evaluate model family.csv --train family.csv --against last-value,pooled -o scores.csv --anomaly odd.csv
      the same beside baselines that learn from the training file, and an anomaly score per sequence
";

/// What was typed after `mtds evaluate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct EvaluateArguments {
    /// Directory of the model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// Sequences to score, with the columns of the fit unless others are named.
    #[command(flatten)]
    pub source: SourceArguments,

    /// Steps after which the rest is forecast, each on its own
    #[arg(long, value_name = "STEPS", value_delimiter = ',', default_value = "10,20,40")]
    pub seen: Vec<usize>,

    /// Steps that are forecast [default: to the end of a sequence]
    #[arg(long, value_name = "STEPS")]
    pub horizon: Option<usize>,

    /// Baselines; all but `single` learn from --train [default: last-value,family-mean with --train, else none]
    #[arg(long, value_enum, value_name = "NAMES", value_delimiter = ',')]
    pub against: Option<Vec<BaselineName>>,

    /// Units of the recurrent network that `--against gru` learns
    #[arg(long, value_name = "UNITS", default_value_t = 64)]
    pub gru_units: usize,

    /// Most steps that it learns for; it stops earlier when held-out sequences no longer gain
    #[arg(long, value_name = "STEPS", default_value_t = 1500)]
    pub gru_steps: u64,

    /// Training sequences for the baselines, in a file with the same columns
    #[arg(long, value_name = "FILE")]
    pub train: Option<PathBuf>,

    /// File for the table; its ending says the format
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// File for an anomaly score per sequence; its ending says the format
    #[arg(long, value_name = "FILE")]
    pub anomaly: Option<PathBuf>,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// What a model is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BaselineName {
    /// The last value holds
    LastValue,
    /// The mean of the training sequences at each step
    FamilyMean,
    /// One linear system for all training sequences
    Pooled,
    /// A gated recurrent network for all training sequences: takes its time to learn
    Gru,
    /// A linear system for each sequence on its own, by NUTS: slow
    Single,
}

impl From<BaselineName> for Baseline {
    fn from(name: BaselineName) -> Self {
        match name {
            BaselineName::LastValue => Self::LastValue,
            BaselineName::FamilyMean => Self::FamilyMean,
            BaselineName::Pooled => Self::Pooled,
            BaselineName::Gru => Self::Gru,
            BaselineName::Single => Self::Single,
        }
    }
}
