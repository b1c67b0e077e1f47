//! Options that every verb has, as typed.

use clap::Args;

/// Options that every verb has.
#[derive(Debug, Args)]
pub struct CommonArguments {
    /// Seed of all randomness; the same seed gives the same result on any number of threads [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

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
