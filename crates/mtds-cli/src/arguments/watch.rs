//! `mtds watch` as typed.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

use super::CommonArguments;

/// Examples in the help, and the form of a line.
const EXAMPLES: &str = "One line in, one line out:
  {\"series\": \"a\", \"y\": [0.3, null], \"u\": [1.0], \"t\": \"2024-05-01\", \"future\": [[0.0], [0.0]]}
      series  which sequence; without it, all lines belong to one
      y       outputs of one step, null where missing; a number where there is one output; null where all are missing
      u       inputs of that step, for a model that has inputs
      t       optional; answered as it came, and refused where numbers do not rise. A line is a step: send
              \"y\": null for a step that was missed
      future  optional: inputs of the steps to come, one row each
  {\"series\": \"a\", \"end\": true}
      forgets the sequence
A line that cannot be read is answered with {\"line\": N, \"error\": ...}, and changes nothing.

Examples:
  mtds watch model --horizon 3 --snapshot watch.json
      answers the lines on stdin; at their end, on Ctrl-C and every 1000 lines it saves where it stands
  mtds watch model --restore watch.json --horizon 3 --quantiles 0.1,0.9
      goes on from there as if it had never stopped
";

/// What was typed after `mtds watch`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct WatchArguments {
    /// Directory of the model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// Steps that every answer forecasts; 0 for none
    #[arg(long, value_name = "STEPS", default_value_t = 1)]
    pub horizon: usize,

    /// Quantiles of the forecast
    #[arg(long, value_name = "LEVELS", value_delimiter = ',', default_value = "0.05,0.5,0.95")]
    pub quantiles: Vec<f64>,

    /// Inputs of the steps to come, where a line does not say them
    #[arg(long, value_enum, value_name = "HOW", default_value = "hold")]
    pub future: FutureName,

    /// Steps of history over which the posterior is exact; what is older is carried forward [default: 64; 32 where the state is random]
    #[arg(long, value_name = "STEPS")]
    pub history: Option<usize>,

    /// How far a member may change: the standard deviation by which its code walks per step, where the codes of the family have about 1;
    /// 0.01 is slow, 0.1 fast. Works with a history that is short beside the change [default: members stay as they are]
    #[arg(long, value_name = "SIGMA")]
    pub drift: Option<f64>,

    /// Sequences that are followed at once; lines of further ones are refused
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub most_series: usize,

    /// File to save where it stands: at the end of input, on Ctrl-C, and every few lines
    #[arg(long, value_name = "FILE")]
    pub snapshot: Option<PathBuf>,

    /// Lines from one snapshot to the next; 0 saves at the end only
    #[arg(long, value_name = "LINES", default_value_t = 1000)]
    pub snapshot_every: u64,

    /// Snapshot to go on from, to the same bits as without a stop
    #[arg(long, value_name = "FILE")]
    pub restore: Option<PathBuf>,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// Inputs of steps to come that no line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FutureName {
    /// The last ones hold
    Hold,
    /// They are zero
    Zero,
}
