//! What `mtds data` will do.

use super::{CommonPlan, SourceConfig, SourcePlan, UsageError};
use crate::arguments::{ConvertArguments, OscillatorsArguments};
use std::path::{Path, PathBuf};

/// What `mtds data oscillators` will do.
#[derive(Debug, Clone, PartialEq)]
pub struct OscillatorsPlan {
    /// The file to write.
    pub out: PathBuf,
    /// Number of sequences.
    pub n_seq: usize,
    /// Steps of each.
    pub n_time: usize,
    /// What every verb needs to know.
    pub common: CommonPlan,
}

/// What `mtds data convert` will do.
#[derive(Debug, Clone, PartialEq)]
pub struct ConvertPlan {
    /// What is read.
    pub source: SourcePlan,
    /// The file to write.
    pub out: PathBuf,
    /// What every verb needs to know.
    pub common: CommonPlan,
}

impl OscillatorsPlan {
    /// Validates what was typed.
    ///
    /// # Errors
    /// A [`UsageError`] for the first argument that cannot be meant.
    pub fn new(typed: &OscillatorsArguments) -> Result<Self, UsageError> {
        for (option, found) in [("--sequences", typed.sequences), ("--steps", typed.steps)] {
            if !(1..=10_000_000).contains(&found) {
                return Err(UsageError::new(option, format!("expected 1 to 10000000, found {found}"), "80"));
            }
        }
        let out = table(&typed.out)?;
        Ok(Self { out, n_seq: typed.sequences, n_time: typed.steps, common: CommonPlan::new(&typed.common)? })
    }
}

impl ConvertPlan {
    /// Validates what was typed.
    ///
    /// # Errors
    /// A [`UsageError`] for the first argument that cannot be meant.
    pub fn new(typed: &ConvertArguments) -> Result<Self, UsageError> {
        let source = SourcePlan::new(&typed.source, SourceConfig::default())?;
        Ok(Self { source, out: table(&typed.out)?, common: CommonPlan::new(&typed.common)? })
    }
}

/// A file whose name says its format.
pub(super) fn table(out: &Path) -> Result<PathBuf, UsageError> {
    let wrong = |error: mtds_data::Error| UsageError::new("--out", error.to_string(), "family.csv");
    mtds_data::Format::of(out).map_err(wrong)?;
    Ok(out.to_path_buf())
}
