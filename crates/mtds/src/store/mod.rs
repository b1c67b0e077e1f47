//! The model directory as bytes: what a learned model leaves behind, and how it comes back.
//!
//! ```text
//! config.json         schema version, provenance, columns, architecture, scaling, prior, inference, scores, the fit, members
//! model.safetensors   F32, one tensor per System::tensors(); codes.mean and codes.std_dev
//!                     [n_members × d_code] if the members of the family are kept; companion.K.… of systems beside the first
//! README.md           the model card: for people, never read back
//! inference.safetensors   the inference network, where one was learned
//! members.safetensors     what members did, where forecasts remember it
//! segments.safetensors    what learning believed of the codes of segments, where sequences were cut
//! history.json            the course of learning, where there was one
//! ```
//! The same model always gives the same bytes. A part that cannot be understood is an error that names it, never a default;
//! what is added needs a new version, and old ones stay readable (`migrate`).

mod card;
mod check;
mod config;
mod migrate;
mod network;
pub(crate) mod number;
mod remembered;
mod segments;
mod weights;

use crate::base::Kinds;
use crate::learn::StageRecord;
use crate::model::{Companion, Model};
use crate::system::{Architecture, System};
use crate::{Error, Result};

pub(crate) use check::MAX_SIZE;

/// The schema version that is written.
pub const SCHEMA_VERSION: u64 = 2;
/// The schema versions that can be read.
pub(crate) const READABLE_VERSIONS: [u64; 2] = [1, 2];
/// Everything about a model that is not an array.
pub const CONFIG_FILE: &str = "config.json";
/// The learned arrays.
pub const WEIGHTS_FILE: &str = "model.safetensors";
/// The model card.
pub const CARD_FILE: &str = "README.md";
/// The inference network, beside the others where one was learned.
pub const NETWORK_FILE: &str = "inference.safetensors";
/// What members did, beside the others where forecasts remember it.
pub(crate) const MEMBERS_FILE: &str = "members.safetensors";
/// What learning believed of the codes of segments, beside the others where sequences were cut.
pub(crate) const SEGMENTS_FILE: &str = "segments.safetensors";
/// The course of learning, beside the others where the model was learned by a fit.
pub const HISTORY_FILE: &str = "history.json";
/// The files of a model directory that may be left out.
pub const OPTIONAL_FILE_NAMES: [&str; 4] = [NETWORK_FILE, MEMBERS_FILE, SEGMENTS_FILE, HISTORY_FILE];
/// The files that loading needs; the card may be edited or left out.
pub const REQUIRED_FILE_NAMES: [&str; 2] = [CONFIG_FILE, WEIGHTS_FILE];

impl Model {
    /// The files of the model directory, name and bytes: those that are required, the card, then those that there are of the
    /// [`OPTIONAL_FILE_NAMES`].
    ///
    /// # Errors
    /// [`Error::Store`] for what could not be read back: names that do not fit the model, members of the
    /// same id or with codes of another length, a code or a score that is not finite, a size above
    /// `MAX_SIZE`.
    pub fn to_files(&self) -> Result<Vec<(String, Vec<u8>)>> {
        check::sizes(self.system.spec())?;
        self.check()?;
        let mut files = vec![
            (CONFIG_FILE, config::write(self)?),
            (WEIGHTS_FILE, weights::write(self)?),
            (CARD_FILE, card::write(self)?),
        ];
        if let Some(network) = &self.network {
            files.push((NETWORK_FILE, network::write(network, &self.provenance)?));
        }
        if let Some(remembered) = &self.blend.remembered {
            files.push((MEMBERS_FILE, remembered::write(&remembered.members)?));
        }
        if !self.segments.is_empty() {
            files.push((SEGMENTS_FILE, segments::write(&self.segments, self.system.d_code())?));
        }
        if let Some(fit) = &self.fit {
            let history = serde_json::to_vec(&fit.stages);
            files.push((HISTORY_FILE, history.map_err(|error| broken(HISTORY_FILE, error.to_string()))?));
        }
        Ok(files.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect())
    }

    /// Reads what [`to_files`](Self::to_files) wrote, now or in an earlier version; files of other names are passed over.
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
        let config = config::read(required(files, CONFIG_FILE)?, kinds)?;
        let records = config.members;
        let architectures: Vec<&Architecture> =
            config.companions.iter().map(|companion| &companion.architecture).collect();
        let expected = weights::expected(&config.architecture, records.len())?;
        let of_companions = weights::expected_of_companions(&architectures)?;
        let n_own = expected.len();
        let expected: Vec<_> = expected.into_iter().chain(of_companions.into_iter().flatten()).collect();
        let mut arrays = weights::read(required(files, WEIGHTS_FILE)?, &expected, records.len())?;
        let mut beside = arrays.split_off(n_own).into_iter();
        let (parameters, members) = weights::divide(arrays, records, config.architecture.network.d_code);
        let refused = |error: Error| broken(CONFIG_FILE, format!("{error}; {RESTORE}"));
        let system = System::new(config.architecture, config.scaling, parameters).map_err(refused)?;
        let companion = |of: config::CompanionConfig| {
            let n = weights::expected(&of.architecture, 0)?.len();
            let parameters = beside.by_ref().take(n).flatten().collect();
            let system = System::new(of.architecture, of.scaling, parameters).map_err(refused)?;
            let system = system.with_prior(of.prior).map_err(refused)?;
            Ok(Companion { system, online: of.online, weight: of.weight, held_out_ids: of.held_out_ids })
        };
        let companions = config.companions.into_iter().map(companion).collect::<Result<_>>()?;
        let blend = config.blend.with_members(find(files, MEMBERS_FILE)?, system.base().d_obs())?;
        let mut model = Self {
            companions,
            blend,
            system: system.with_prior(config.prior).map_err(refused)?,
            online: config.online,
            columns: config.columns,
            time_step: config.time_step,
            provenance: config.provenance,
            members,
            segments: vec![],
            network: None,
            scores: config.scores,
            usual_misfit: config.usual_misfit.unwrap_or(1.0),
            fit: config.fit,
        };
        model.check()?;
        let network = find(files, NETWORK_FILE)?;
        model.network = network.map(|bytes| network::read(bytes, &model)).transpose()?;
        if let Some(bytes) = find(files, SEGMENTS_FILE)? {
            model.segments = segments::read(bytes, model.system.d_code())?;
        }
        if let (Some(fit), Some(bytes)) = (&mut model.fit, find(files, HISTORY_FILE)?) {
            fit.stages = read_history(bytes)?;
        }
        Ok(model)
    }

    /// What the types leave open.
    fn check(&self) -> Result<()> {
        check::names("output", &self.columns.outputs, self.system.base().d_obs())?;
        check::names("input", &self.columns.inputs, self.system.d_input())?;
        check::scores(&self.scores)?;
        self.online.validate().map_err(|error| broken(CONFIG_FILE, format!("online: {error}; {RESTORE}")))?;
        check::members(&self.members, self.system.d_code())
    }
}

fn read_history(bytes: &[u8]) -> Result<Vec<StageRecord>> {
    serde_json::from_slice(bytes)
        .map_err(|error| broken(HISTORY_FILE, format!("not a course of learning ({error}); {RESTORE}")))
}

/// What to try with a file that somebody or something has changed.
const RESTORE: &str = "restore the file, or copy the whole model again";

fn broken(file: &str, why: impl Into<String>) -> Error {
    Error::Store { file: file.to_owned(), why: why.into() }
}

/// The one file of this name.
fn required<'a, N: AsRef<str>, F: AsRef<[u8]>>(files: &'a [(N, F)], name: &str) -> Result<&'a [u8]> {
    find(files, name)?.ok_or_else(|| broken(name, format!("missing; {RESTORE}")))
}

/// The file of this name, if there is one.
fn find<'a, N: AsRef<str>, F: AsRef<[u8]>>(files: &'a [(N, F)], name: &str) -> Result<Option<&'a [u8]>> {
    let mut found = files.iter().filter(|(file, _)| file.as_ref() == name);
    match (found.next(), found.next()) {
        (Some(_), Some(_)) => Err(broken(name, "given twice; give each file once")),
        (first, _) => Ok(first.map(|(_, bytes)| bytes.as_ref())),
    }
}

#[cfg(test)]
mod tests;
