//! `mtds infer` as typed, and the method of inference that other verbs have, too.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

use super::{CommonArguments, SourceArguments};
use crate::plan::UsageError;
use mtds::Model;
use mtds::infer::Method;

/// Examples in the help.
const EXAMPLES: &str = "Examples:
  mtds infer model family.csv --seen 20 -o posteriors.csv
      codes of all sequences after 20 steps: means, deviations, evidence and how far to trust them
  mtds infer model family.csv --method map --draws draws.csv.gz --n-draws 100
      summary on stdout; 100 draws of every code in a file, numbered by chain and draw
";

/// What was typed after `mtds infer`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct InferArguments {
    /// Directory of the model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// What is observed.
    #[command(flatten)]
    pub source: SourceArguments,

    /// File for the summary: CSV, Parquet or JSON lines, by its ending [default: CSV on stdout]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// How posteriors are found
    #[arg(long, value_enum, value_name = "METHOD", default_value_t = MethodName::Adais)]
    pub method: MethodName,

    /// Use at most this many steps of each sequence [default: all]
    #[arg(long, value_name = "N")]
    pub seen: Option<usize>,

    /// File for draws of the codes, in columns series, chain, draw, z1, z2, …
    #[arg(long, value_name = "FILE")]
    pub draws: Option<PathBuf>,

    /// Draws per sequence [default: 1000]
    #[arg(long, value_name = "N", requires = "draws")]
    pub n_draws: Option<usize>,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// How posteriors are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodName {
    /// Adaptive importance sampling, a few updates along the sequence
    Adais,
    /// Hamiltonian Monte Carlo, four chains from the modes: slow and thorough
    Nuts,
    /// Modes by optimisation, Gaussians around them, importance weights
    Map,
    /// The network that `fit --amortised` learned, corrected by importance weights: quick
    Amortised,
}

impl From<MethodName> for Method {
    fn from(name: MethodName) -> Self {
        match name {
            MethodName::Adais => Self::AdaptiveImportance,
            MethodName::Nuts => Self::Nuts,
            MethodName::Map => Self::MapLaplace,
            MethodName::Amortised => Self::Amortised,
        }
    }
}

impl MethodName {
    /// Refuses a method that needs a network where the model has none.
    ///
    /// # Errors
    /// A [`UsageError`] with what to do.
    pub fn check(self, model: &Model) -> Result<(), UsageError> {
        match self {
            Self::Amortised if model.network.is_none() => Err(UsageError::new(
                "--method",
                "`amortised` needs an inference network, and this model was learned without one",
                "another method; or learn one: mtds fit DATA -o OTHER --learn elbo --amortised",
            )),
            _ => Ok(()),
        }
    }
}
