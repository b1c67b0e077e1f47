//! What was typed.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Learn a family of sequences at once; customise a dynamical system to each member by a short code.
#[derive(Debug, Parser)]
#[command(name = "mtds", version, arg_required_else_help = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// The built-in oscillator family, end to end, in about a minute: learn, infer, forecast, morph
    Quickstart(QuickstartArguments),
    /// The paper's experiments, with the paper's numbers, ours and the oracle's
    #[command(subcommand)]
    Reproduce(ReproduceArguments),
}

/// What was typed after `mtds reproduce`: the experiment.
#[derive(Debug, Subcommand)]
pub enum ReproduceArguments {
    /// Damped oscillators: how soon, and how well, a model adapts to a new member of the family
    Dho(DhoArguments),
}

/// What was typed after `mtds reproduce dho`.
#[derive(Debug, Args)]
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

/// What was typed after `mtds quickstart`.
#[derive(Debug, Args)]
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

/// Options that every verb has.
#[derive(Debug, Args)]
pub struct CommonArguments {
    /// Seed of all randomness; the same seed gives the same result on any number of threads
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,

    /// Print the result as one JSON document on stdout, and nothing else there
    #[arg(long)]
    pub json: bool,

    /// Say more
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,

    /// Say nothing but the result and errors
    #[arg(short, long)]
    pub quiet: bool,
}
