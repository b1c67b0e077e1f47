//! A course between two steps, as bytes.
//!
//! ```text
//! `mtds course 1`  line    length of the JSON  u64    JSON: stage, records of those before    checkpoint of the trainer
//! ```

use serde::{Deserialize, Serialize};

use super::{CourseCheckpoint, Stage, StageRecord, broken};
use crate::Result;
use crate::learn::Checkpoint;

/// First line of a stored course.
pub(super) const MAGIC: &[u8] = b"mtds course 1\n";

/// What is not the trainer.
#[derive(Serialize, Deserialize)]
struct CourseState {
    stage: Stage,
    finished: Vec<StageRecord>,
    trainer: bool,
}

impl CourseCheckpoint {
    /// The checkpoint as bytes; the same checkpoint always gives the same bytes.
    ///
    /// # Errors
    /// As [`Checkpoint::to_bytes`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let record = CourseState {
            stage: self.stage,
            finished: self.finished.clone(),
            trainer: self.trainer.is_some(),
        };
        let text = serde_json::to_vec(&record).map_err(|error| broken(error.to_string()))?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text);
        if let Some(trainer) = &self.trainer {
            bytes.extend(trainer.to_bytes()?);
        }
        Ok(bytes)
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// [`Error::Store`](crate::Error::Store) with the reason when the bytes are cut short or are no checkpoint of a course.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let another = || broken("not the checkpoint of a course, or of another version; start over");
        let short = || broken("cut short; use an earlier one, or start over");
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(another)?;
        let (length, rest) = rest.split_first_chunk::<8>().ok_or_else(short)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| short())?;
        let (text, rest) = rest.split_at_checked(length).ok_or_else(short)?;
        let record: CourseState = serde_json::from_slice(text).map_err(|error| broken(error.to_string()))?;
        let trainer = if record.trainer { Some(Checkpoint::from_bytes(rest)?) } else { None };
        Ok(Self { stage: record.stage, finished: record.finished, trainer })
    }
}
