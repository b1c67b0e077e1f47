//! Options that many verbs have: those of every verb, the family that is read, and how posteriors are found.

use crate::advice::option_beside;
use crate::output::{document_text, print};
use crate::progress::Display;
use crate::usage::{Refusal, UsageError, value};
use anyhow::Result;
use clap::{Args, ValueEnum};
use mtds::parts::{DeviceName, Products};
use mtds::{DataColumns, Device, Method, Model};
use mtds_data::{Format, Note, ReadFamily, ReadOptions, Step, kernel_cache, spelled_out};
use serde_json::Value;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// The seed, unless another is asked for.
pub const DEFAULT_SEED: u64 = 1;
/// More threads than any machine at hand has cores: most likely a typing error.
const MOST_THREADS: usize = 1024;

/// Options that every verb has.
#[derive(Debug, Args)]
pub struct Common {
    /// Seed of all randomness; the same seed gives the same result on any number of threads [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = value(threads))]
    pub threads: Option<NonZeroUsize>,

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

fn all_threads() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

fn threads(found: usize) -> Result<NonZeroUsize, Refusal> {
    NonZeroUsize::new(found).filter(|count| count.get() <= MOST_THREADS).ok_or_else(|| {
        (
            format!("expected 1 to {MOST_THREADS} threads, found {found}"),
            format!("leave it out to use all cores of this machine ({})", all_threads()),
        )
    })
}

impl Common {
    /// Seed of all randomness.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(DEFAULT_SEED)
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads.unwrap_or_else(all_threads).get()
    }

    /// Where progress goes.
    pub fn display(&self) -> Display {
        if self.quiet { Display::Silent } else { Display::for_stderr() }
    }

    /// What a card could not do, and the processor did instead.
    pub fn say_trouble(&self, device: &Device) {
        if let Some(why) = device.trouble() {
            self.say(format_args!("note: {why}; the processor did the rest"));
        }
    }

    /// A line on stderr, unless asked to be quiet; what a terminal would obey is spelled out.
    pub fn say(&self, line: impl std::fmt::Display) {
        if !self.quiet {
            eprintln!("{}", spelled_out(&line.to_string()));
        }
    }

    /// What is odd about a file, unless asked to be quiet.
    pub fn say_notes(&self, notes: &[Note]) {
        for note in notes {
            let option = option_beside(note).map_or(String::new(), |option| format!("; {option}"));
            self.say(format_args!("note: {note}{option}"));
        }
    }

    /// Prints the result, as a document where that was asked for. Names from files are in the text: what a terminal would obey is spelled out.
    ///
    /// # Errors
    /// A `stdout` that takes no more.
    pub fn print(
        &self,
        stdout: &mut dyn Write,
        text: impl FnOnce() -> String,
        document: impl FnOnce() -> Value,
    ) -> Result<()> {
        let text = match self.json {
            true => document_text(document())?,
            false => spelled_out(&text()),
        };
        print(stdout, &text)
    }
}

/// Where a verb computes.
#[derive(Debug, Clone, Args)]
pub struct Where {
    /// Where to compute: auto (a graphics card where there is one and the model gains by it), cpu, cuda, or cuda:1 for the second card
    #[arg(long, value_name = "DEVICE", default_value = "auto", value_parser = value(device))]
    pub device: DeviceName,

    /// Products on a card: exact (as f32), or tf32, which is faster and rounds factors to ten bits
    #[arg(long, value_enum, value_name = "HOW", default_value_t = ProductsName::Exact, hide = true)]
    pub products: ProductsName,
}

/// How products are made on a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProductsName {
    /// As f32.
    Exact,
    /// Factors of ten bits.
    Tf32,
}

fn device(typed: String) -> Result<DeviceName, Refusal> {
    typed.parse().map_err(|_| {
        (
            format!("found `{typed}`, which is no device"),
            "auto, cpu, cuda or cuda:1; `mtds devices` lists them".into(),
        )
    })
}

impl Where {
    /// The device to learn with.
    ///
    /// # Errors
    /// A card that was asked for and cannot be used.
    pub fn open(&self) -> Result<Device> {
        Ok(self.device.open(self.products(), kernel_cache())?)
    }

    /// A model on the device: a card by itself only for networks.
    ///
    /// # Errors
    /// As [`Where::open`].
    pub fn place(&self, model: Model) -> Result<(Model, Device)> {
        let device = self.device.open_for(&model, self.products(), kernel_cache())?;
        Ok((model.on(&device), device))
    }

    fn products(&self) -> Products {
        match self.products {
            ProductsName::Exact => Products::Exact,
            ProductsName::Tf32 => Products::Tf32,
        }
    }
}

/// The family that a verb reads: the file, and which of its columns mean what.
#[derive(Debug, Clone, Args)]
pub struct Source {
    /// The family: CSV, Parquet, JSON lines or NPZ, also gzipped; `-` for stdin, with --format
    #[arg(value_name = "DATA")]
    pub data: PathBuf,

    /// Column that tells sequences apart [default: series]
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub series: Option<String>,

    /// Column of times: integers, numbers, dates [default: t]
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub time: Option<String>,

    /// Column of labels; never used in learning [default: label]
    #[arg(long, value_name = "COLUMN", help_heading = "Columns")]
    pub label: Option<String>,

    /// Output columns [default: those that begin with y, else all with numbers]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Columns")]
    pub outputs: Vec<String>,

    /// Input columns; text is categories, one for each sequence [default: those that begin with u]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Columns")]
    pub inputs: Vec<String>,

    /// Bring times to steps of this length, e.g. 0.5, or 15min for dates [default: their own, else a grid that nearly all rows lie on]
    #[arg(long, value_name = "STEP", help_heading = "Columns")]
    pub resample: Option<String>,

    /// What a resampled row holds
    #[arg(long, value_enum, value_name = "HOW", requires = "resample", help_heading = "Columns")]
    pub resample_by: Option<ResampleName>,

    /// Format, where the name does not tell it: csv, parquet, jsonl, npz
    #[arg(long, value_name = "FORMAT", help_heading = "Columns", value_parser = value(format))]
    pub format: Option<Format>,
}

/// A model, and sequences that it is asked about.
#[derive(Debug, Clone, Args)]
pub struct ModelAndData {
    /// Directory of the model; `starter` is the one of walks that comes with the program
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// The sequences, with the columns of the fit unless others are named.
    #[command(flatten)]
    pub source: Source,
}

/// What a resampled row holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ResampleName {
    /// The mean over its step
    Mean,
    /// A point on the line between its neighbours
    Linear,
}

fn format(name: String) -> Result<Format, Refusal> {
    let wrong = |()| (format!("found `{name}`, which is no format"), "csv, parquet, jsonl or npz".into());
    name.parse().map_err(wrong)
}

impl Source {
    /// The columns that were typed.
    pub fn columns(&self) -> DataColumns {
        let by = |name: ResampleName| Some(name.to_possible_value()?.get_name().to_owned());
        DataColumns {
            series: self.series.clone(),
            time: self.time.clone(),
            label: self.label.clone(),
            outputs: self.outputs.clone(),
            inputs: self.inputs.clone(),
            attributes: vec![],
            pulses: vec![],
            resample: self.resample.clone(),
            resample_by: self.resample_by.and_then(by),
        }
    }

    /// Refuses what cannot be read whatever is in the file.
    ///
    /// # Errors
    /// A step that does not exist; stdin without a format.
    pub fn check(&self) -> Result<(), UsageError> {
        if self.data == Path::new("-") && self.format.is_none() {
            let problem = "expected the format of what comes on stdin, found nothing";
            return Err(UsageError::new("--format", problem, "--format csv, or the name of a file"));
        }
        options_by(&self.columns(), None).map(drop)
    }

    /// Reads the family by these columns, at the steps of a model where it has some.
    ///
    /// # Errors
    /// A step that does not exist; a file that cannot be read as a family, with row and column.
    pub fn read(&self, columns: &DataColumns, step: Option<Step>) -> Result<ReadFamily> {
        let options = ReadOptions { format: self.format, ..options_by(columns, step)? };
        match (self.data == Path::new("-"), self.format) {
            (true, Some(format)) => {
                let stdin = std::io::stdin().lock();
                Ok(mtds_data::read_family_from(stdin, format, Path::new("stdin"), &options)?)
            }
            _ => Ok(mtds_data::read_family(&self.data, &options)?),
        }
    }
}

/// How a file with these columns is read, at the steps of a model where it has some; a file of settings may name columns, too.
///
/// # Errors
/// A step or a way to resample that does not exist.
pub fn options_by(columns: &DataColumns, step: Option<Step>) -> Result<ReadOptions, UsageError> {
    ReadOptions::by(columns, step).map_err(|error| match error {
        mtds::Error::Setting { name, why } if name == "resample_by" => {
            UsageError::new("--resample-by", why, "mean")
        }
        mtds::Error::Setting { why, .. } => UsageError::new("--resample", why, "0.5, or 15min for dates"),
        other => UsageError::new("--resample", other.to_string(), "0.5, or 15min for dates"),
    })
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

impl MethodName {
    /// The method.
    ///
    /// # Errors
    /// One that needs a network where the model has none.
    pub fn of(self, model: &Model) -> Result<Method, UsageError> {
        match self {
            Self::Adais => Ok(Method::AdaptiveImportance),
            Self::Nuts => Ok(Method::Nuts),
            Self::Map => Ok(Method::MapLaplace),
            Self::Amortised if model.network.is_some() => Ok(Method::Amortised),
            Self::Amortised => Err(UsageError::new(
                "--method",
                "`amortised` needs an inference network, and this model was learned without one",
                "another method; or learn one: mtds fit DATA -o OTHER --learn elbo --amortised",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Verb;
    use crate::usage::{refused, typed};

    fn common(words: &[&str]) -> Common {
        let Verb::Quickstart(found) = typed(&[&["quickstart"], words].concat()).expect("valid") else {
            panic!("another verb")
        };
        found.common
    }

    #[test]
    fn options_mean_what_they_say() {
        let usual = common(&[]);
        assert_eq!((usual.seed(), usual.threads()), (1, all_threads().get()));
        assert!(!usual.json && !usual.quiet && !usual.verbose);
        let asked = common(&["--json", "-v", "--threads", "3", "--seed", "9"]);
        assert_eq!((asked.threads(), asked.seed()), (3, 9));
        assert!(asked.json && asked.verbose);
    }

    #[test]
    fn no_threads_and_too_many_are_refused() {
        for count in ["0", "5000"] {
            refused(&["quickstart"], &[["--threads", count]]);
            let error = typed(&["quickstart", "--threads", count]).expect_err("out of range");
            assert!(error.contains(&format!("found {count}")), "{error}");
        }
    }
}
