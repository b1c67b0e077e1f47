//! Finished cells as bytes: believed only if they are whole and of this experiment.

use super::cell::{CellId, CellResult};
use super::experiment::Experiment;
use super::settings::CellSettings;
use crate::cells::Found;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// Version of the program, part of every cell.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A cell as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept<S, R> {
    version: String,
    settings: S,
    result: R,
}

impl Experiment {
    /// The bytes of a result.
    ///
    /// # Errors
    /// A cell that is no part of the experiment.
    pub(super) fn kept(&self, result: &CellResult) -> Result<Vec<u8>> {
        let settings = self.settings.of(&result.cell.kind)?;
        let text = serde_json::to_string(&Kept { version: VERSION.into(), settings, result });
        // Names and numbers only: every value has a form in JSON.
        Ok(format!("{}\n", text.expect("a cell has a form in JSON")).into_bytes())
    }

    /// What the bytes of a cell are.
    ///
    /// # Errors
    /// [`Error::Foreign`] for a whole cell of another experiment or version.
    pub(super) fn believed(&self, cell: &CellId, bytes: &[u8]) -> Result<Found<CellResult>> {
        let kept: Kept<serde_json::Value, CellResult> = match serde_json::from_slice(bytes) {
            Ok(kept) => kept,
            Err(error) => return Ok(Found::Unusable(format!("damaged ({error})"))),
        };
        self.refuse_others(cell, &kept.version, &kept.result)?;
        if kept.result.cell != *cell {
            return Ok(Found::Unusable(format!("is cell {}", kept.result.cell)));
        }
        if let Err(error) = kept.result.check() {
            return Ok(Found::Unusable(format!("damaged ({error})")));
        }
        let expected = self.settings.of(&cell.kind)?;
        match serde_json::from_value::<CellSettings>(kept.settings) {
            Ok(settings) if settings == expected => Ok(Found::Kept(Box::new(kept.result))),
            _ => Ok(Found::Unusable(format!("was computed with other settings of `{}`", cell.kind.model()))),
        }
    }

    fn refuse_others(&self, cell: &CellId, version: &str, result: &CellResult) -> Result<()> {
        let problem = if version != VERSION {
            format!("was computed by version {version}, this is {VERSION}")
        } else if result.protocol != self.protocol {
            let (found, expected) = (result.protocol.brief(), self.protocol.brief());
            format!("is part of another experiment ({found}; expected {expected})")
        } else {
            return Ok(());
        };
        Err(Error::Foreign { cell: cell.to_string(), problem })
    }
}
