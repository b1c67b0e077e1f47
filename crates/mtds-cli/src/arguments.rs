//! What was typed.

use clap::{Args, Parser, Subcommand};
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
