//! What `mtds data` will do.

use super::{CommonPlan, SourcePlan, UsageError};
use crate::arguments::{ConvertArguments, OscillatorsArguments, PharmacodynamicsArguments};
use mtds::model::DataColumns;
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

/// What `mtds data pharmacodynamics` will do.
#[derive(Debug, Clone, PartialEq)]
pub struct PharmacodynamicsPlan {
    /// The file to write.
    pub out: PathBuf,
    /// The file for what is true of each patient.
    pub truth: PathBuf,
    /// Number of patients.
    pub n_seq: usize,
    /// Steps of each.
    pub n_time: usize,
    /// Standard deviation of the noise.
    pub noise_std: f64,
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
        sizes(typed.sequences, typed.steps)?;
        let out = table(&typed.out)?;
        Ok(Self { out, n_seq: typed.sequences, n_time: typed.steps, common: CommonPlan::new(&typed.common)? })
    }
}

impl PharmacodynamicsPlan {
    /// Validates what was typed.
    ///
    /// # Errors
    /// A [`UsageError`] for the first argument that cannot be meant.
    pub fn new(typed: &PharmacodynamicsArguments) -> Result<Self, UsageError> {
        sizes(typed.sequences, typed.steps)?;
        if !(typed.noise.is_finite() && typed.noise >= 0.0) {
            let problem = format!("expected a number of at least 0, found {}", typed.noise);
            return Err(UsageError::new("--noise", problem, "2"));
        }
        let out = table(&typed.out)?;
        Ok(Self {
            truth: truth_beside(&out),
            out,
            n_seq: typed.sequences,
            n_time: typed.steps,
            noise_std: typed.noise,
            common: CommonPlan::new(&typed.common)?,
        })
    }
}

fn sizes(sequences: usize, steps: usize) -> Result<(), UsageError> {
    for (option, found) in [("--sequences", sequences), ("--steps", steps)] {
        if !(1..=10_000_000).contains(&found) {
            return Err(UsageError::new(option, format!("expected 1 to 10000000, found {found}"), "80"));
        }
    }
    Ok(())
}

/// `patients.truth.csv` beside `patients.csv`, whatever the format of the family.
fn truth_beside(out: &Path) -> PathBuf {
    let name = out.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = name.split_once('.').map_or(name.as_str(), |(stem, _)| stem);
    out.with_file_name(format!("{stem}.truth.csv"))
}

impl ConvertPlan {
    /// Validates what was typed.
    ///
    /// # Errors
    /// A [`UsageError`] for the first argument that cannot be meant.
    pub fn new(typed: &ConvertArguments) -> Result<Self, UsageError> {
        let source = SourcePlan::new(&typed.source, DataColumns::default())?;
        Ok(Self { source, out: table(&typed.out)?, common: CommonPlan::new(&typed.common)? })
    }
}

/// A file whose name says its format.
pub(super) fn table(out: &Path) -> Result<PathBuf, UsageError> {
    let wrong = |error: mtds_data::Error| UsageError::new("--out", error.to_string(), "family.csv");
    mtds_data::Format::of(out).map_err(wrong)?;
    Ok(out.to_path_buf())
}
