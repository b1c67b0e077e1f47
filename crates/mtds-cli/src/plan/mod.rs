//! What the arguments mean, one file per verb: validated, defaults filled in, before any work begins.

mod data;
mod dho;
mod evaluate;
mod fit;
mod forecast;
mod gait;
mod generate;
mod infer;
mod inspect;
mod mocap;
mod morph;
mod pd;
mod quickstart;
mod report;
mod result;
mod source;
mod transfer;
mod watch;

pub use data::{ConvertPlan, OscillatorsPlan, PharmacodynamicsPlan};
pub use dho::DhoPlan;
pub use evaluate::EvaluatePlan;
pub use fit::{Begin, FitPlan};
pub use forecast::ForecastPlan;
pub use gait::GaitPlan;
pub use generate::{CodesPlan, DrivePlan, GeneratePlan};
pub use infer::InferPlan;
pub use inspect::{CodesFile, InspectPlan, Thing};
pub use mocap::{CheckPlan, ClipFormat, ExportPlan, Feet, PreparePlan};
pub use morph::{MorphPlan, Waypoint};
pub use pd::PdPlan;
pub use quickstart::QuickstartPlan;
pub use report::ReportPlan;
pub use source::SourcePlan;
pub use transfer::TransferPlan;
pub use watch::WatchPlan;

use crate::arguments::CommonArguments;
use crate::progress::Display;
use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// The seed, unless another is asked for.
pub const DEFAULT_SEED: u64 = 1;
/// More threads than any machine at hand has cores: most likely a typing error.
const MOST_THREADS: usize = 1024;

/// Arguments that cannot be meant, and what to try instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageError {
    /// The option as it is typed, e.g. `--threads`.
    pub option: Cow<'static, str>,
    /// What was expected and what was found.
    pub problem: String,
    /// What to try.
    pub hint: String,
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}\n  try: {}", self.option, self.problem, self.hint)
    }
}

impl std::error::Error for UsageError {}

impl UsageError {
    /// `problem` with `option`, and what to try.
    pub fn new(
        option: impl Into<Cow<'static, str>>,
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { option: option.into(), problem: problem.into(), hint: hint.into() }
    }
}

/// How the result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A table and the names of the files left behind.
    Text,
    /// One JSON document.
    Json,
}

/// How much is said besides the result, on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verbosity {
    /// Errors only.
    Quiet,
    /// Progress too.
    Normal,
    /// Settings and timings too.
    Verbose,
}

/// What every verb needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommonPlan {
    /// Seed of all randomness.
    pub seed: u64,
    /// Number of threads.
    pub threads: NonZeroUsize,
    /// How the result is printed.
    pub format: Format,
    /// How much is said besides.
    pub verbosity: Verbosity,
}

impl CommonPlan {
    fn new(typed: &CommonArguments) -> Result<Self, UsageError> {
        Ok(Self {
            seed: typed.seed.unwrap_or(DEFAULT_SEED),
            threads: threads(typed.threads)?,
            format: if typed.json { Format::Json } else { Format::Text },
            verbosity: match (typed.quiet, typed.verbose) {
                (true, _) => Verbosity::Quiet,
                (false, true) => Verbosity::Verbose,
                (false, false) => Verbosity::Normal,
            },
        })
    }

    /// Where progress goes.
    pub fn display(&self) -> Display {
        if self.verbosity == Verbosity::Quiet { Display::Silent } else { Display::for_stderr() }
    }
}

fn threads(typed: Option<usize>) -> Result<NonZeroUsize, UsageError> {
    let all = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    match typed.map(NonZeroUsize::new) {
        None => Ok(all),
        Some(Some(count)) if count.get() <= MOST_THREADS => Ok(count),
        Some(found) => Err(UsageError {
            option: "--threads".into(),
            problem: format!(
                "expected 1 to {MOST_THREADS} threads, found {}",
                found.map_or(0, NonZeroUsize::get)
            ),
            hint: format!("leave it out to use all cores of this machine ({all})"),
        }),
    }
}

/// A path that is a directory or can become one.
fn directory(typed: &Path) -> Result<PathBuf, UsageError> {
    if typed.as_os_str().is_empty() {
        return Err(UsageError {
            option: "--out".into(),
            problem: "expected a directory, found an empty name".into(),
            hint: "`.` for the directory you are in".into(),
        });
    }
    let in_the_way = typed.ancestors().find(|path| path.exists() && !path.is_dir());
    match in_the_way {
        None => Ok(typed.to_path_buf()),
        Some(file) => Err(UsageError {
            option: "--out".into(),
            problem: format!("expected a directory, but `{}` is a file", file.display()),
            hint: "name a directory that exists or is yet to be made".into(),
        }),
    }
}
