//! `mtds mocap` as typed.

use clap::{Args, Subcommand};
use std::path::PathBuf;

use super::CommonArguments;

/// Examples in the help of `mtds mocap prepare`.
const PREPARE: &str = "Examples:
  mtds mocap prepare walks -o walks.parquet
      all BVH files below the folder `walks` as one family; the folder of a file is its style
  mtds mocap prepare walks -o same-size.csv.gz --legs 0.85
      bodies scaled to legs of 85 cm, as compressed text
";

/// Examples in the help of `mtds mocap check`.
const CHECK: &str = "Examples:
  mtds mocap check walks -o walks.html
      what is in the files below `walks`, what was odd, and what the motions look like
  mtds mocap check walks/old -o old.html --json
      one style alone, findings as JSON too
";

/// Examples in the help of `mtds mocap export`.
const EXPORT: &str = "Examples:
  mtds mocap export walks.csv --series old_01 -o old.bvh
      one sequence of a prepared family as a skeleton with rotations
  mtds mocap export walks.csv --series proud_02 -o proud.glb --lock-feet
      another as a 3-D model in motion, feet held where they stand
";

/// What was typed after `mtds mocap`.
#[derive(Debug, Subcommand)]
pub enum MocapArguments {
    /// Turn all BVH files below a folder into a family
    Prepare(PrepareArguments),
    /// Look at all BVH files below a folder: a page with findings and pictures
    Check(CheckArguments),
    /// Turn a sequence of a prepared family into BVH, GLB or a picture
    Export(ExportArguments),
}

/// What was typed after `mtds mocap prepare`.
#[derive(Debug, Args)]
#[command(after_help = PREPARE)]
pub struct PrepareArguments {
    /// Folder with BVH files, in folders named by style
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// File to write; its ending says the format
    #[arg(short, long, value_name = "FAMILY")]
    pub out: PathBuf,

    /// Table with columns `file` and `split`: each split is written to a file of its own too [default: manifest.csv in
    /// the folder, if there is one]
    #[arg(long, value_name = "FILE")]
    pub manifest: Option<PathBuf>,

    /// Scale bodies so that legs have this length
    #[arg(long, value_name = "METRES")]
    pub legs: Option<f64>,

    /// Cut this much from both ends of every clip, where people start and stop
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
    pub trim: f64,

    /// Rules of your own for skeletons that are not known, as JSON
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// What was typed after `mtds mocap check`.
#[derive(Debug, Args)]
#[command(after_help = CHECK)]
pub struct CheckArguments {
    /// Folder with BVH files
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// Page to write
    #[arg(short, long, value_name = "PAGE")]
    pub out: PathBuf,

    /// Rules of your own for skeletons that are not known, as JSON
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: CommonArguments,
}

/// What was typed after `mtds mocap export`.
#[derive(Debug, Args)]
#[command(after_help = EXPORT)]
pub struct ExportArguments {
    /// A family as `mtds mocap prepare` writes it
    #[arg(value_name = "FAMILY")]
    pub family: PathBuf,

    /// Which sequence
    #[arg(long, value_name = "ID")]
    pub series: String,

    /// File to write: .bvh, .glb, .png for a row of poses, .apng for a moving picture
    #[arg(short, long, value_name = "CLIP")]
    pub out: PathBuf,

    /// Hold feet in place while they stand
    #[arg(long)]
    pub lock_feet: bool,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: CommonArguments,
}
