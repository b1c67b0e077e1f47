//! `mtds reproduce` as typed.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

use super::CommonArguments;

/// Examples in the help of `mtds reproduce dho`.
const EXAMPLES: &str = "Examples:
  mtds reproduce dho
      the experiment in small, in minutes: a table, the paper's numbers beside ours, a page
  mtds reproduce dho --scale full --only oracle,pooled --cells 1/4
      the first quarter of the cells of two models, at the paper's size
";

/// Examples in the help of `mtds reproduce pd`.
const PD_EXAMPLES: &str = "Examples:
  mtds reproduce pd
      the experiment in small, in minutes: forecasts, recovery of true parameters, use of the code
  mtds reproduce pd --scale full -o patients
      the figures that the documentation quotes, by every way to learn
";

/// What was typed after `mtds reproduce`: the experiment.
#[derive(Debug, Subcommand)]
pub enum ReproduceArguments {
    /// Damped oscillators: how soon, and how well, a model adapts to a new member of the family
    Dho(DhoArguments),
    /// Patients under doses of their own: do codes know them, and how soon are forecasts better than one system for all
    Pd(PdArguments),
}

/// What was typed after `mtds reproduce dho`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct DhoArguments {
    /// How much of the experiment is run
    #[arg(long, value_enum, default_value_t = ScaleName::Quick)]
    pub scale: ScaleName,

    /// How multi-task systems are learned
    #[arg(long, value_enum, default_value_t = RecipeName::Both)]
    pub recipe: RecipeName,

    /// Directory for the cells, the result and the report page [default: mtds-dho-SCALE]
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Compute these models alone, e.g. `oracle,pooled` or `mtlds-paper-n0128`; the table takes all that are there
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Compute part I of N of the cells, so that N machines can share the work; copy their cells together
    #[arg(long, value_name = "I/N")]
    pub cells: Option<String>,

    /// What all these verbs have in common.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// What was typed after `mtds reproduce pd`.
#[derive(Debug, Args)]
#[command(after_help = PD_EXAMPLES)]
pub struct PdArguments {
    /// How much of the experiment is run
    #[arg(long, value_enum, default_value_t = ScaleName::Quick)]
    pub scale: ScaleName,

    /// Directory for the result [default: mtds-pd-SCALE]
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// What all these verbs have in common.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// How much of an experiment is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScaleName {
    /// Enough to see that everything works, in minutes
    Quick,
    /// The paper's, in hours
    Full,
}

/// How multi-task systems are learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RecipeName {
    /// As the paper prints it
    Paper,
    /// This project's way
    Ours,
    /// Both, side by side
    Both,
}
