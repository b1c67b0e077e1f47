//! `mtds data` as typed.

use clap::{Args, Subcommand};
use std::path::PathBuf;

use super::{CommonArguments, SourceArguments};

/// Examples in the help of `mtds data oscillators`.
const OSCILLATORS: &str = "Examples:
  mtds data oscillators -o oscillators.csv
      128 sequences of 80 steps, with the impulse that starts them
  mtds data oscillators -o more.csv.gz --sequences 500 --steps 40 --seed 7
      more and shorter ones, compressed
";

/// Examples in the help of `mtds data pharmacodynamics`.
const PHARMACODYNAMICS: &str = "Examples:
  mtds data pharmacodynamics -o patients.csv
      128 patients of 40 steps, doses of their own; what is true of each in patients.truth.csv
  mtds data pharmacodynamics -o few.csv --sequences 20 --steps 60 --noise 1 --seed 7
      fewer and longer records with half of the noise
";

/// Examples in the help of `mtds data convert`.
const CONVERT: &str = "Examples:
  mtds data convert family.csv -o family.jsonl
      the same family as JSON lines
  mtds data convert family.csv -o plain.csv.gz --outputs y
      one output alone, compressed
";

/// Examples in the help of `mtds data gait`.
const GAIT: &str = "Examples:
  mtds data gait -o walks
      four walks in each of eight styles, with known contacts and phase beside each file
  mtds data gait -o few --styles old,proud --walks 2 --frames 150
      two styles, two short walks each
";

/// What was typed after `mtds data`.
#[derive(Debug, Subcommand)]
pub enum DataArguments {
    /// The built-in family: damped oscillators, started by an impulse
    Oscillators(OscillatorsArguments),
    /// Patients who answer to doses, each in a way of his own; with the truth beside them
    Pharmacodynamics(PharmacodynamicsArguments),
    /// A procedural walker in eight styles, as BVH files with ground truth
    Gait(GaitArguments),
    /// Read a family and write it in another format
    Convert(ConvertArguments),
}

/// What was typed after `mtds data oscillators`.
#[derive(Debug, Args)]
#[command(after_help = OSCILLATORS)]
pub struct OscillatorsArguments {
    /// File to write; its ending says the format
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,

    /// Number of sequences
    #[arg(long, value_name = "N", default_value_t = 128)]
    pub sequences: usize,

    /// Steps of a sequence
    #[arg(long, value_name = "N", default_value_t = 80)]
    pub steps: usize,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// What was typed after `mtds data pharmacodynamics`.
#[derive(Debug, Args)]
#[command(after_help = PHARMACODYNAMICS)]
pub struct PharmacodynamicsArguments {
    /// File to write; its ending says the format
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,

    /// Number of patients
    #[arg(long, value_name = "N", default_value_t = 128)]
    pub sequences: usize,

    /// Steps of a record
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub steps: usize,

    /// Standard deviation of the noise on the effect
    #[arg(long, value_name = "STD", default_value_t = 2.0)]
    pub noise: f64,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// What was typed after `mtds data gait`.
#[derive(Debug, Args)]
#[command(after_help = GAIT)]
pub struct GaitArguments {
    /// Folder to write; files go to folders named by style
    #[arg(short, long, value_name = "DIR")]
    pub out: PathBuf,

    /// Styles, e.g. old,proud [default: all eight]
    #[arg(long, value_name = "STYLES", value_delimiter = ',')]
    pub styles: Vec<String>,

    /// Walks of each style; the last one is for testing where there are several
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub walks: usize,

    /// Frames of a walk
    #[arg(long, value_name = "N", default_value_t = 600)]
    pub frames: usize,

    /// Frames per second
    #[arg(long, value_name = "RATE", default_value_t = 30.0)]
    pub fps: f64,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// What was typed after `mtds data convert`.
#[derive(Debug, Args)]
#[command(after_help = CONVERT)]
pub struct ConvertArguments {
    /// What is read.
    #[command(flatten)]
    pub source: SourceArguments,

    /// File to write; its ending says the format
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: CommonArguments,
}
