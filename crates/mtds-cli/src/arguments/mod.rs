//! What was typed: one file per verb, and the help that groups them by job.

mod common;
mod data;
mod fit;
mod help;
mod mocap;
mod quickstart;
mod reproduce;
mod shell;
mod source;

pub use common::CommonArguments;
pub use data::{ConvertArguments, DataArguments, GaitArguments, OscillatorsArguments};
pub use fit::{BeginningName, FitArguments, ScalingName};
pub use help::{GROUPS, command};
pub use mocap::{CheckArguments, ExportArguments, MocapArguments, PrepareArguments};
pub use quickstart::QuickstartArguments;
pub use reproduce::{DhoArguments, RecipeName, ReproduceArguments, ScaleName};
pub use shell::{CompletionsArguments, ManArguments};
pub use source::{ResampleName, SourceArguments};

use clap::{FromArgMatches, Parser, Subcommand};

/// Learn a family of sequences at once; customise a dynamical system to each member by a short code.
#[derive(Debug, Parser)]
#[command(name = "mtds", version, arg_required_else_help = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

impl Arguments {
    /// What the program was called with; clap itself answers `--help` and `--version`, and exits with 2 when it cannot
    /// parse.
    pub fn from_command_line() -> Self {
        let matches = command().get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// The built-in oscillator family, end to end, in about a minute: learn, infer, forecast, morph
    Quickstart(QuickstartArguments),
    /// Learn a family of sequences from a file
    Fit(Box<FitArguments>),
    /// Families: make the built-in one, convert between formats
    #[command(subcommand)]
    Data(DataArguments),
    /// Motion capture: BVH files into a family, a look at them, and back
    #[command(subcommand)]
    Mocap(MocapArguments),
    /// The paper's experiments, with the paper's numbers, ours and the oracle's
    #[command(subcommand)]
    Reproduce(ReproduceArguments),
    /// Completions for a shell, on stdout
    Completions(CompletionsArguments),
    /// Manual pages, one per verb
    Man(ManArguments),
}
