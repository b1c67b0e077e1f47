//! The model directory as bytes: what a learned model leaves behind, and how it comes back.
//!
//! ```text
//! config.json         schema version, base model, architecture, scaling, prior, provenance, scores, members
//! model.safetensors   F32, one tensor per System::tensors(); codes.mean and codes.std_dev
//!                     [n_members × d_code] if the members of the family are kept
//! README.md           the model card: for people, never read back
//! inference.safetensors   the inference network, where one was learned (`network`)
//! ```
//! The same bundle always gives the same bytes. Within a schema version fields may be added, and readers
//! pass over those they do not know; kinds of prior may be added, and readers refuse those they do not know by
//! name; anything else needs a new version, and old ones stay readable.

mod card;
mod check;
mod config;
mod network;
mod weights;

use serde::{Deserialize, Serialize};

use crate::base::Kinds;
use crate::predict::Estimate;
use crate::system::System;
use crate::{Error, Result};

pub use check::MAX_SIZE;
pub use network::{network_from_bytes, network_to_bytes};

/// The schema version that is written.
pub const SCHEMA_VERSION: u64 = 1;
/// The schema versions that can be read.
pub const READABLE_VERSIONS: [u64; 1] = [1];
/// Everything about a model that is not an array.
pub const CONFIG_FILE: &str = "config.json";
/// The learned arrays.
pub const WEIGHTS_FILE: &str = "model.safetensors";
/// The model card.
pub const CARD_FILE: &str = "README.md";
/// The inference network, beside the others where one was learned.
pub const NETWORK_FILE: &str = "inference.safetensors";
/// All files of a model directory, in the order of [`Model::to_files`].
pub const FILE_NAMES: [&str; 3] = [CONFIG_FILE, WEIGHTS_FILE, CARD_FILE];
/// The files that loading needs; the card may be edited or left out.
pub const REQUIRED_FILE_NAMES: [&str; 2] = [CONFIG_FILE, WEIGHTS_FILE];

/// A model with where it came from and whom it knows.
#[derive(Clone, Debug)]
pub struct Model {
    /// The model.
    pub system: System,
    /// Where it came from.
    pub provenance: Provenance,
    /// The training members with their codes; may be empty.
    pub members: Vec<Member>,
}

/// Where a model came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    /// Seed of all randomness in learning.
    pub seed: u64,
    /// The learning settings as resolved, in any JSON form.
    pub settings: serde_json::Value,
    /// [`crate::family::Family::fingerprint`] of the training data.
    pub fingerprint: String,
    /// Version of the program that learned it.
    pub program_version: String,
    /// Names of the outputs, `d_obs`.
    pub output_names: Vec<String>,
    /// Names of the inputs, `d_input`.
    pub input_names: Vec<String>,
    /// What the card reports; may be empty.
    pub scores: Vec<CardScore>,
}

/// A member of the training family and its code, known to about seven digits: stored as F32.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Its id, unlike any other.
    pub id: String,
    /// Its label, if it had one.
    pub label: Option<String>,
    /// Posterior mean of its code, `d_code`.
    pub code_mean: Vec<f64>,
    /// Posterior standard deviation of each dimension of its code, `d_code`; 0 for a point estimate.
    pub code_std_dev: Vec<f64>,
}

/// One line of the table of scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CardScore {
    /// What was measured, e.g. `RMSE`.
    pub measure: String,
    /// On what, e.g. `20 of 60 steps seen`.
    pub condition: String,
    /// The mean over sequences.
    pub mean: f64,
    /// Its standard error; `None` where it is not known, as with one sequence.
    #[serde(deserialize_with = "Option::deserialize")] // may be null, may not be absent
    pub std_error: Option<f64>,
    /// Number of sequences.
    pub n_seq: usize,
}

impl CardScore {
    /// The line for an estimate over sequences.
    #[must_use]
    pub fn new(measure: impl Into<String>, condition: impl Into<String>, estimate: Estimate) -> Self {
        let Estimate { mean, std_error, n } = estimate;
        Self { measure: measure.into(), condition: condition.into(), mean, std_error, n_seq: n }
    }
}

impl Model {
    /// The files of the model directory, name and bytes, in the order of [`FILE_NAMES`].
    ///
    /// # Errors
    /// [`Error::Store`] for what could not be read back: names that do not fit the model, members of the
    /// same id or with codes of another length, a code or a score that is not finite, a size above
    /// [`MAX_SIZE`].
    pub fn to_files(&self) -> Result<Vec<(String, Vec<u8>)>> {
        check::sizes(self.system.spec())?;
        self.check()?;
        let config = config::write(self)?;
        let weights = weights::write(&self.system, &self.members)?;
        let files = [(CONFIG_FILE, config), (WEIGHTS_FILE, weights), (CARD_FILE, card::write(self)?)];
        Ok(files.map(|(name, bytes)| (name.to_owned(), bytes)).into())
    }

    /// Reads what [`to_files`](Self::to_files) wrote; files that are not in [`REQUIRED_FILE_NAMES`] are
    /// passed over.
    ///
    /// # Errors
    /// [`Error::Store`] with the file, what is wrong with it and what to try.
    pub fn from_files<N: AsRef<str>, F: AsRef<[u8]>>(files: &[(N, F)]) -> Result<Self> {
        Self::from_files_of(&Kinds::built_in(), files)
    }

    /// [`from_files`](Self::from_files) where other kinds of base model may be named than those of this crate.
    ///
    /// # Errors
    /// As [`from_files`](Self::from_files).
    pub fn from_files_of<N: AsRef<str>, F: AsRef<[u8]>>(kinds: &Kinds, files: &[(N, F)]) -> Result<Self> {
        let config = config::read(find(files, CONFIG_FILE)?, kinds)?;
        let records = config.members;
        let expected = weights::expected(&config.spec, records.len())?;
        let arrays = weights::read(find(files, WEIGHTS_FILE)?, &expected, records.len())?;
        let (parameters, members) = weights::divide(arrays, records, config.spec.network.d_code);
        let refused = |error: Error| broken(CONFIG_FILE, format!("{error}; {RESTORE}"));
        let model = System::new(config.spec, config.scaling, parameters).map_err(refused)?;
        let model = model.with_prior(config.prior).map_err(refused)?;
        let bundle = Self { system: model, provenance: config.provenance, members };
        bundle.check()?;
        Ok(bundle)
    }

    /// What the types leave open.
    fn check(&self) -> Result<()> {
        let base = self.system.base();
        check::names("output", &self.provenance.output_names, base.d_obs())?;
        check::names("input", &self.provenance.input_names, self.system.d_input())?;
        check::scores(&self.provenance.scores)?;
        check::members(&self.members, self.system.d_code())
    }
}

/// What to try with a file that somebody or something has changed.
const RESTORE: &str = "restore the file, or copy the whole model again";

fn broken(file: &str, why: impl Into<String>) -> Error {
    Error::Store { file: file.to_owned(), why: why.into() }
}

/// The one file of this name.
fn find<'a, N: AsRef<str>, F: AsRef<[u8]>>(files: &'a [(N, F)], name: &str) -> Result<&'a [u8]> {
    let mut found = files.iter().filter(|(file, _)| file.as_ref() == name);
    match (found.next(), found.next()) {
        (Some((_, bytes)), None) => Ok(bytes.as_ref()),
        (None, _) => Err(broken(name, format!("missing; {RESTORE}"))),
        (Some(_), Some(_)) => Err(broken(name, "given twice; give each file once")),
    }
}

#[cfg(test)]
mod tests;
