//! What `mtds quickstart` will do.

use super::{CommonPlan, UsageError, directory};
use crate::arguments::QuickstartArguments;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Fewer sequences leave nothing to hold out; more are not a quick start.
const SEQUENCES: RangeInclusive<usize> = 8..=100_000;

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

impl QuickstartPlan {
    /// Validates what was typed.
    ///
    /// # Errors
    /// A [`UsageError`] for the first argument that cannot be meant.
    pub fn new(typed: &QuickstartArguments) -> Result<Self, UsageError> {
        if !SEQUENCES.contains(&typed.sequences) {
            return Err(UsageError {
                option: "--sequences".into(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Verb};
    use crate::plan::{Format, Verbosity};
    use clap::Parser;
    use std::path::Path;

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
