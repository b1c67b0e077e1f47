//! `mtds fit` as typed.

use clap::Args;
use std::path::PathBuf;

use super::{CommonArguments, SourceArguments, WishArguments};

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds fit family.csv -o family-model --effort 0.1
      learn the family with a tenth of the usual steps; everything else is chosen from the data
  mtds fit family.csv -o small-model --code 2 --hidden 16 --start-steps 100 --refine-steps 100
      codes of length 2 and a small generator, learned briefly

`mtds fit --help-all` shows every option by topic, and the blocks of parameters.
";

/// What was typed after `mtds fit`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct FitArguments {
    /// What is learned from.
    #[command(flatten)]
    pub source: SourceArguments,

    /// Directory for the model
    #[arg(short, long, value_name = "MODEL")]
    pub out: PathBuf,

    /// Settings as TOML, e.g. the fit.toml of a model; options come before it
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Go on where an interrupted run stopped, to the same bits
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,

    /// Replace a model, or the checkpoint of an interrupted run
    #[arg(long)]
    pub force: bool,

    /// Try these lengths of the code, e.g. 1..8 or 2,4, and keep the one that sequences kept apart like best
    #[arg(long, value_name = "LENGTHS", conflicts_with = "code", hide = true)]
    pub select_code: Option<String>,

    /// Write the course of learning as TensorBoard event files
    #[arg(long, value_name = "DIR", hide = true)]
    pub tensorboard: Option<PathBuf>,

    /// Seconds from one checkpoint to the next
    #[arg(long, value_name = "SECONDS", default_value_t = 120.0, hide = true)]
    pub checkpoint_every: f64,

    /// Settings of learning.
    #[command(flatten)]
    pub wishes: WishArguments,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: CommonArguments,
}
