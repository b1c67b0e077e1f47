//! A fit between two steps, as bytes.
//!
//! ```text
//! "mtds fit 8\n" · u64 length · JSON of all but the candidate that is being learned · its checkpoint, if there is one
//! ```

use super::Fit;
use super::fitting::{Fitting, State};
use crate::family::Family;
use crate::learn::CourseCheckpoint;
use crate::model::DataColumns;
use crate::{Error, Result};

const MAGIC: &[u8] = b"mtds fit 8\n";

fn broken(why: impl Into<String>) -> Error {
    Error::Store { file: "checkpoint".into(), why: why.into() }
}

impl Fitting {
    /// All that [`Fit::resume`](super::Fit::resume) needs besides the family.
    ///
    /// # Errors
    /// None in practice: what a fit holds can be written.
    pub fn checkpoint(&self) -> Result<Vec<u8>> {
        let state = self.snapshot();
        let text = serde_json::to_vec(&state).map_err(|error| broken(error.to_string()))?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text);
        if let Some(course) = &state.course {
            bytes.extend(course.to_bytes()?);
        }
        Ok(bytes)
    }

    /// The columns that an interrupted fit read its family from.
    ///
    /// # Errors
    /// [`Error::Store`] for bytes that are no checkpoint.
    pub fn columns_of(checkpoint: &[u8]) -> Result<DataColumns> {
        Ok(read(checkpoint)?.columns)
    }

    pub(super) fn resume(fit: &Fit, family: &Family, bytes: &[u8]) -> Result<Self> {
        let state = read(bytes)?;
        check(fit, family, &state)?;
        // What was asked for then is what is asked for now, or more of it.
        let fit = Fit { seed: state.seed, select_code: state.select_code.clone(), ..fit.clone() };
        Self::with(&fit, family, state)
    }
}

fn read(bytes: &[u8]) -> Result<State> {
    let short = || broken("it is cut short");
    let rest = bytes
        .strip_prefix(MAGIC)
        .ok_or_else(|| broken("it is not the checkpoint of a fit, or of another version"))?;
    let (length, rest) = rest.split_first_chunk::<8>().ok_or_else(short)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| short())?;
    let (text, course) = rest.split_at_checked(length).ok_or_else(short)?;
    let mut state: State = serde_json::from_slice(text).map_err(|error| broken(error.to_string()))?;
    if !course.is_empty() {
        state.course = Some(CourseCheckpoint::from_bytes(course)?);
    }
    Ok(state)
}

/// What is asked for now must be what was asked for then.
fn check(fit: &Fit, family: &Family, state: &State) -> Result<()> {
    let other = |key: &str, was: String| Err(Error::Resumed { key: key.to_owned(), was });
    if family.fingerprint() != state.fingerprint {
        return other("data", "other data".into());
    }
    if let Some(key) = fit.wishes.differing(&state.structures[0].choices).first() {
        let was = state.structures[0].reasons.iter().find(|choice| choice.key == *key);
        return other(key, was.map_or_else(String::new, |choice| choice.value.to_string()));
    }
    if !fit.select_code.is_empty() && fit.select_code != state.select_code {
        return other("select_code", format!("{:?}", state.select_code));
    }
    Ok(())
}
