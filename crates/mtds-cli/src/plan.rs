//! What the arguments mean: validated, defaults filled in, before any work begins.

mod dho;

pub use dho::DhoPlan;

use crate::arguments::{CommonArguments, QuickstartArguments};
use crate::progress::Display;
use std::fmt;
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// Fewer sequences leave nothing to hold out; more are not a quick start.
const SEQUENCES: RangeInclusive<usize> = 8..=100_000;
/// More threads than any machine at hand has cores: most likely a typing error.
const MOST_THREADS: usize = 1024;

/// Arguments that cannot be meant, and what to try instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageError {
    /// The option as it is typed, e.g. `--threads`.
    pub option: &'static str,
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

/// What `mtds quickstart` will do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuickstartPlan {
    /// Directory for everything it leaves behind; created if it is missing.
    pub out: PathBuf,
    /// Number of training sequences.
    pub n_seq: usize,
    /// What every verb needs to know.
    pub common: CommonPlan,
}

impl CommonPlan {
    fn new(typed: &CommonArguments) -> Result<Self, UsageError> {
        Ok(Self {
            seed: typed.seed,
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

impl QuickstartPlan {
    /// Validates what was typed.
    ///
    /// # Errors
    /// A [`UsageError`] for the first argument that cannot be meant.
    pub fn new(typed: &QuickstartArguments) -> Result<Self, UsageError> {
        if !SEQUENCES.contains(&typed.sequences) {
            return Err(UsageError {
                option: "--sequences",
                problem: format!(
                    "expected {} to {} training sequences, found {}",
                    SEQUENCES.start(),
                    SEQUENCES.end(),
                    typed.sequences
                ),
                hint: "leave it out for the default of 128".into(),
            });
        }
        Ok(Self {
            out: directory(&typed.out)?,
            n_seq: typed.sequences,
            common: CommonPlan::new(&typed.common)?,
        })
    }
}

fn threads(typed: Option<usize>) -> Result<NonZeroUsize, UsageError> {
    let all = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    match typed.map(NonZeroUsize::new) {
        None => Ok(all),
        Some(Some(count)) if count.get() <= MOST_THREADS => Ok(count),
        Some(found) => Err(UsageError {
            option: "--threads",
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
            option: "--out",
            problem: "expected a directory, found an empty name".into(),
            hint: "`.` for the directory you are in".into(),
        });
    }
    let in_the_way = typed.ancestors().find(|path| path.exists() && !path.is_dir());
    match in_the_way {
        None => Ok(typed.to_path_buf()),
        Some(file) => Err(UsageError {
            option: "--out",
            problem: format!("expected a directory, but `{}` is a file", file.display()),
            hint: "name a directory that exists or is yet to be made".into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Verb};
    use clap::Parser;

    fn plan(typed: &[&str]) -> Result<QuickstartPlan, UsageError> {
        let words = ["mtds", "quickstart"].iter().chain(typed);
        let verb = Arguments::try_parse_from(words).expect("clap accepts this").verb;
        let Verb::Quickstart(arguments) = verb else { panic!("another verb: {verb:?}") };
        QuickstartPlan::new(&arguments)
    }

    #[test]
    fn defaults_are_filled_in() {
        let plan = plan(&[]).expect("no arguments are fine");
        assert_eq!(plan.out, Path::new("mtds-quickstart"));
        assert_eq!((plan.n_seq, plan.common.seed), (128, 1));
        assert_eq!((plan.common.format, plan.common.verbosity), (Format::Text, Verbosity::Normal));
    }

    #[test]
    fn options_mean_what_they_say() {
        let plan = plan(&["--json", "-v", "--threads", "3", "--seed", "9"]).expect("all valid");
        assert_eq!((plan.common.threads.get(), plan.common.seed), (3, 9));
        assert_eq!((plan.common.format, plan.common.verbosity), (Format::Json, Verbosity::Verbose));
    }

    #[test]
    fn no_threads_and_too_many_are_refused() {
        for count in ["0", "5000"] {
            let error = plan(&["--threads", count]).expect_err("out of range");
            assert_eq!(error.option, "--threads");
            assert!(error.problem.contains(&format!("found {count}")), "{error}");
        }
    }

    #[test]
    fn too_few_sequences_are_refused() {
        let error = plan(&["--sequences", "1"]).expect_err("nothing to hold out");
        assert!(error.to_string().contains("expected 8 to 100000"), "{error}");
    }

    #[test]
    fn a_file_in_the_way_is_named() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let file = folder.path().join("taken");
        std::fs::write(&file, "").expect("a file");
        for out in [file.clone(), file.join("below")] {
            let error = plan(&["-o", out.to_str().expect("plain path")]).expect_err("a file is in the way");
            assert!(error.problem.contains("taken` is a file"), "{error}");
        }
        plan(&["-o", folder.path().join("new/deep").to_str().expect("plain path")]).expect("can be made");
    }
}
