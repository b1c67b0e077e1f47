//! A fit between two steps, as the bytes of `MODEL.checkpoint`.
//!
//! ```text
//! "mtds fit 2\n" · u64 length · JSON of all but the course · bytes of the course, if one is under way
//! ```

use crate::expected::CalibrationRecord;
use crate::plan::{FitPlan, SourceConfig, UsageError};
use anyhow::{Context, Result, bail};
use mtds::Family;
use mtds::learn::{Choice, Choices, ChosenPrior, CourseCheckpoint, LearnedBeliefs, StageRecord, Status};
use mtds::predict::Estimate;
use mtds_data::directory::write_file_atomic;
use serde::{Deserialize, Serialize};
use std::path::Path;

const MAGIC: &[u8] = b"mtds fit 2\n";

/// All that a fit needs besides its data.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct FitState {
    pub(super) seed: u64,
    /// Fingerprint of the whole family.
    pub(super) fingerprint: String,
    pub(super) data: SourceConfig,
    pub(super) choices: Choices,
    pub(super) reasons: Vec<Choice>,
    /// Lengths of the code to choose from; empty to take the one of `choices`.
    pub(super) select: Vec<usize>,
    /// Models that are learned.
    pub(super) finished: Vec<Finished>,
    /// The model that is being learned.
    #[serde(skip)]
    pub(super) course: Option<CourseCheckpoint>,
}

/// A model that is learned, but not written yet.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Finished {
    pub(super) code: usize,
    pub(super) parameters: Vec<f32>,
    pub(super) status: Status,
    pub(super) best_validation: Option<f64>,
    pub(super) records: Vec<StageRecord>,
    /// What is believed of codes of new members.
    pub(super) prior: ChosenPrior,
    /// How wide forecasts are.
    pub(super) calibration: CalibrationRecord,
    /// What elbo and iwae leave beside the model.
    pub(super) beliefs: Option<LearnedBeliefs>,
    /// Log likelihood per observed value of each sequence that was kept apart, in data units.
    pub(super) apart: Vec<f64>,
}

impl Finished {
    /// Mean and standard error of the log likelihood kept apart.
    pub(super) fn estimate(&self) -> Option<Estimate> {
        Estimate::of(&self.apart)
    }
}

impl FitState {
    /// The lengths of the code that are learned, in order.
    pub(super) fn codes(&self) -> Vec<usize> {
        if self.select.is_empty() { vec![self.choices.code] } else { self.select.clone() }
    }

    /// Writes the checkpoint, whole or not at all.
    pub(super) fn save(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_vec(self).context("cannot write the checkpoint as JSON")?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text);
        if let Some(course) = &self.course {
            bytes.extend(course.to_bytes()?);
        }
        Ok(write_file_atomic(path, &bytes)?)
    }

    /// Reads a checkpoint.
    pub(super) fn load(path: &Path) -> Result<Self> {
        let shown = path.display();
        let bytes = std::fs::read(path).with_context(|| format!("{shown}: cannot read"))?;
        Self::from_bytes(&bytes).with_context(|| {
            format!("{shown}: not a checkpoint that this program can read; start over with --force")
        })
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let rest = bytes.strip_prefix(MAGIC).context("it begins otherwise")?;
        let (length, rest) = rest.split_first_chunk::<8>().context("it is cut short")?;
        let length = usize::try_from(u64::from_le_bytes(*length)).context("it is cut short")?;
        let (text, course) = rest.split_at_checked(length).context("it is cut short")?;
        let mut state: Self = serde_json::from_slice(text)?;
        if !course.is_empty() {
            state.course = Some(CourseCheckpoint::from_bytes(course)?);
        }
        Ok(state)
    }

    /// What is asked for now must be what was asked for then.
    pub(super) fn check_wishes(&self, plan: &FitPlan) -> Result<(), UsageError> {
        let other = |option: String, was: String| {
            let problem = format!("the interrupted run had {was}, now it is another");
            let hint = "leave the option out to go on, or start over with --force";
            Err(UsageError::new(option, problem, hint))
        };
        if let Some(key) = plan.wishes.differing(&self.choices).first() {
            let reason = self.reasons.iter().find(|choice| choice.key == *key);
            let was = reason.map_or_else(String::new, |choice| choice.value.to_string());
            return other(format!("--{}", key.replace('_', "-")), was);
        }
        if plan.seed.is_some_and(|seed| seed != self.seed) {
            return other("--seed".into(), self.seed.to_string());
        }
        if !plan.select_code.is_empty() && plan.select_code != self.select {
            return other("--select-code".into(), format!("{:?}", self.select));
        }
        Ok(())
    }

    /// The state, if it is one of learning this family.
    pub(super) fn of_family(self, family: &Family) -> Result<Self> {
        if family.fingerprint() != self.fingerprint {
            bail!(
                "the data are not those of the interrupted run; give the same file, or start over with --force"
            );
        }
        Ok(self)
    }
}

/// Removes the checkpoint of a run that has ended well.
pub(super) fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error)
            .with_context(|| format!("{}: cannot remove the checkpoint; remove it by hand", path.display())),
        _ => Ok(()),
    }
}
