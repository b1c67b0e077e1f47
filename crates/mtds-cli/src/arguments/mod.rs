//! What was typed: one file per verb, and the help that groups them by job.

mod common;
mod data;
mod evaluate;
mod fit;
mod forecast;
mod generate;
mod help;
mod infer;
mod inspect;
mod mocap;
mod morph;
mod quickstart;
mod report;
mod reproduce;
mod shell;
mod source;
mod transfer;
mod watch;
mod wishes;

pub use common::CommonArguments;
pub use data::{
    ConvertArguments, DataArguments, GaitArguments, OscillatorsArguments, PharmacodynamicsArguments,
};
pub use evaluate::{BaselineName, EvaluateArguments};
pub use fit::FitArguments;
pub use forecast::ForecastArguments;
pub use generate::{DriveArguments, GenerateArguments};
pub use help::{GROUPS, command};
pub use infer::{InferArguments, MethodName};
pub use inspect::InspectArguments;
pub use mocap::{CheckArguments, ExportArguments, MocapArguments, PrepareArguments};
pub use morph::MorphArguments;
pub use quickstart::QuickstartArguments;
pub use report::ReportArguments;
pub use reproduce::{DhoArguments, PdArguments, RecipeName, ReproduceArguments, ScaleName};
pub use shell::{CompletionsArguments, ManArguments};
pub use source::{ResampleName, SourceArguments};
pub use transfer::TransferArguments;
pub use watch::{FutureName, WatchArguments};
pub use wishes::WishArguments;

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
        if let Some(help) = help::all(std::env::args()) {
            print!("{help}");
            std::process::exit(0);
        }
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
    /// Posteriors of the codes of sequences
    Infer(Box<InferArguments>),
    /// Where sequences are going, with quantiles
    Forecast(Box<ForecastArguments>),
    /// New sequences: of a chosen code, like a member, or drawn from the prior
    Generate(Box<GenerateArguments>),
    /// A sequence that changes from one member into another
    Morph(Box<MorphArguments>),
    /// The inputs of one sequence, answered in the style of another
    Transfer(Box<TransferArguments>),
    /// Follow sequences as they come: a JSON line in, posterior and forecast out
    Watch(WatchArguments),
    /// Score a model's forecasts on sequences it has not seen, beside baselines
    Evaluate(Box<EvaluateArguments>),
    /// What is in a model or a family: sizes, what the code explains, the map of codes
    Inspect(Box<InspectArguments>),
    /// The page of a fit: learning, map of codes, forecasts, intervals, residuals, settings
    Report(Box<ReportArguments>),
    /// Families: make a built-in one, convert between formats
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
