//! `mtds inspect` as typed.

use clap::Args;
use std::path::PathBuf;

use super::{CommonArguments, SourceArguments};

/// Examples in the help.
const EXAMPLES: &str = "Of a model it says what it is, what it was learned from, how much of each output the code explains, and
where the members lie: with -o as a table of codes, or as a map where FILE ends in .html. Of a family it says how many sequences
there are, how long, what is missing, and what is odd about the file.

Examples:
  mtds inspect model -o map.html
      what the model is, and the map of its codes as a page
  mtds inspect family.csv
      what is in the file
";

const SUBJECT: &str = "The directory of a model; or a family: CSV, Parquet, JSON lines or NPZ, also gzipped, `-` for stdin, with --format";

/// What was typed after `mtds inspect`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("data", |data| data.help(SUBJECT)))]
pub struct InspectArguments {
    /// The family, or the directory of a model.
    #[command(flatten)]
    pub source: SourceArguments,

    /// File for the codes of a model: a table by its ending, or a map if that is .html
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: CommonArguments,
}
