//! `mtds data`: makes built-in families, converts families between formats.

mod gait;

use crate::options::{Common, Source};
use crate::usage::{count, family_file, within};
use anyhow::Result;
use clap::{Args, Subcommand};
use mtds::Family;
use mtds_data::oscillators;
use mtds_data::pharmacodynamics::{self, PatientFamily, PatientParameters};
use mtds_data::{Column, Columns, Table, TimeAxis, write_family, write_table};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

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

/// Which family.
#[derive(Debug, Subcommand)]
pub enum Arguments {
    /// The built-in family: damped oscillators, started by an impulse
    Oscillators(Oscillators),
    /// Patients who answer to doses, each in a way of his own; with the truth beside them
    Pharmacodynamics(Pharmacodynamics),
    /// A procedural walker in eight styles, as BVH files with ground truth
    Gait(gait::Gait),
    /// Read a family and write it in another format
    Convert(Convert),
}

impl Arguments {
    /// Makes or converts the family and says where it is.
    ///
    /// # Errors
    /// A family that cannot be read; a file that cannot be written; a `stdout` that takes no more.
    pub fn run(&self, stdout: &mut dyn Write) -> Result<()> {
        match self {
            Self::Oscillators(asked) => asked.run(stdout),
            Self::Pharmacodynamics(asked) => asked.run(stdout),
            Self::Gait(asked) => asked.run(stdout),
            Self::Convert(asked) => asked.run(stdout),
        }
    }
}

/// Damped oscillators.
#[derive(Debug, Args)]
#[command(after_help = OSCILLATORS)]
pub struct Oscillators {
    /// File to write; its ending says the format
    #[arg(short, long, value_name = "FILE", value_parser = family_file())]
    pub out: PathBuf,

    /// Number of sequences
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = count("80"))]
    pub sequences: usize,

    /// Steps of a sequence
    #[arg(long, value_name = "N", default_value_t = 80, value_parser = count("80"))]
    pub steps: usize,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

/// Patients under doses.
#[derive(Debug, Args)]
#[command(after_help = PHARMACODYNAMICS)]
pub struct Pharmacodynamics {
    /// File to write; its ending says the format
    #[arg(short, long, value_name = "FILE", value_parser = family_file())]
    pub out: PathBuf,

    /// Number of patients
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = count("80"))]
    pub sequences: usize,

    /// Steps of a record
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = count("80"))]
    pub steps: usize,

    /// Standard deviation of the noise on the effect
    #[arg(long, value_name = "STD", default_value_t = 2.0)]
    #[arg(value_parser = within(0.0..=f64::MAX, "a number of at least 0", "2"))]
    pub noise: f64,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

/// Any family in another format.
#[derive(Debug, Args)]
#[command(after_help = CONVERT)]
pub struct Convert {
    /// What is read.
    #[command(flatten)]
    pub source: Source,

    /// File to write; its ending says the format
    #[arg(short, long, value_name = "FILE", value_parser = family_file())]
    pub out: PathBuf,

    /// What all verbs have in common.
    #[command(flatten)]
    pub common: Common,
}

impl Oscillators {
    pub(super) fn run(&self, stdout: &mut dyn Write) -> Result<()> {
        let settings = oscillators::Oscillators {
            n_time: self.steps,
            n_input: self.steps,
            ..oscillators::Oscillators::default()
        };
        // Named so that readers find it by its prefix.
        let family = settings.draw(self.sequences, self.common.seed())?.family.with_input_names(["u"])?;
        write_family(&self.out, &family, &Columns::of(&family), &TimeAxis::counted(family.n_seq()))?;
        said("oscillators", (&self.out, &family), &self.common, stdout)
    }
}

impl Pharmacodynamics {
    /// The family, and what is true of each patient beside it.
    fn run(&self, stdout: &mut dyn Write) -> Result<()> {
        let settings = pharmacodynamics::Pharmacodynamics { n_time: self.steps, noise_std: self.noise };
        let drawn = settings.draw(self.sequences, self.common.seed())?;
        let family = &drawn.family;
        write_family(&self.out, family, &Columns::of(family), &TimeAxis::counted(family.n_seq()))?;
        write_table(&truth_beside(&self.out), &truth(&drawn))?;
        said("pharmacodynamics", (&self.out, family), &self.common, stdout)
    }
}

/// `patients.truth.csv` beside `patients.csv`, whatever the format of the family.
fn truth_beside(out: &Path) -> PathBuf {
    let name = out.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = name.split_once('.').map_or(name.as_str(), |(stem, _)| stem);
    out.with_file_name(format!("{stem}.truth.csv"))
}

/// The parameters of every patient.
fn truth(drawn: &PatientFamily) -> Table {
    let ids = drawn.family.sequences().iter().map(|sequence| sequence.id().to_owned()).collect();
    let column =
        |of: fn(&PatientParameters) -> f64| Column::Number(drawn.parameters.iter().map(of).collect());
    Table::new()
        .with("series", Column::Text(ids))
        .with("half_life", column(|p| p.half_life))
        .with("sensitivity", column(|p| p.sensitivity))
        .with("effect", column(|p| p.effect))
        .with("baseline", column(|p| p.baseline))
}

impl Convert {
    fn run(&self, stdout: &mut dyn Write) -> Result<()> {
        self.source.check()?;
        let read = self.source.read(&self.source.columns(), None)?;
        self.common.say_notes(&read.notes);
        write_family(&self.out, &read.family, &read.columns, &read.time)?;
        said("convert", (&self.out, &read.family), &self.common, stdout)
    }
}

fn said(verb: &str, (out, family): (&Path, &Family), common: &Common, stdout: &mut dyn Write) -> Result<()> {
    let rows: usize = family.sequences().iter().map(|sequence| sequence.n_time()).sum();
    let document = || {
        json!({
            "verb": format!("data {verb}"),
            "version": env!("CARGO_PKG_VERSION"),
            "file": out,
            "n_seq": family.n_seq(),
            "n_rows": rows,
            "outputs": family.output_names(),
            "inputs": family.input_names(),
            "fingerprint": family.fingerprint(),
        })
    };
    common.print(
        stdout,
        || format!("{}: {} sequences, {rows} rows\n", out.display(), family.n_seq()),
        document,
    )
}
