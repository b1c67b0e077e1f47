//! Where a watch stands, as one JSON file: all sequences, and how many lines were answered.

use super::Arguments;
use super::series::{StoredSeries, fnv};
use crate::usage::UsageError;
use anyhow::{Context, Result, bail};
use mtds::{Model, Online};
use mtds_data::directory::{read_file, write_file_atomic};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

const FORMAT: &str = "mtds watch 4";

/// Where a watch stands.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Snapshot {
    pub(super) format: String,
    /// Name of the model, from its bytes.
    pub(super) model: String,
    /// Lines that were answered.
    pub(super) lines: u64,
    pub(super) seed: u64,
    /// How new sequences are followed.
    pub(super) online: Online,
    pub(super) series: BTreeMap<String, StoredSeries>,
}

/// What says how to read the rest.
#[derive(Deserialize)]
struct Kind {
    format: String,
}

/// A name for a model that changes with any of its bytes.
///
/// # Errors
/// None for a model that was loaded.
pub(super) fn model_name(model: &Model) -> Result<String> {
    let bytes: Vec<u8> = model.to_files()?.into_iter().flat_map(|(_, bytes)| bytes).collect();
    Ok(format!("{:016x}", fnv(&bytes)))
}

impl Snapshot {
    /// Before the first line.
    pub(super) fn fresh(model: String, seed: u64, online: Online) -> Self {
        Self { format: FORMAT.into(), model, lines: 0, seed, online, series: BTreeMap::new() }
    }

    /// Writes the file, whole or not at all.
    pub(super) fn save(&self, path: &Path) -> Result<()> {
        Ok(write_file_atomic(path, &serde_json::to_vec(self)?)?)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// A file that is no snapshot, or one of another model.
    pub(super) fn load(path: &Path, model: &str) -> Result<Self> {
        let shown = path.display();
        let bytes = read_file(path)?;
        let unreadable = || format!("{shown}: not a snapshot that this program can read");
        let Kind { format } = serde_json::from_slice(&bytes).with_context(unreadable)?;
        if format != FORMAT {
            bail!(
                "{shown}: expected the format `{FORMAT}`, found `{format}`, which another version of this program wrote"
            );
        }
        let snapshot: Self = serde_json::from_slice(&bytes).with_context(unreadable)?;
        if snapshot.model != model {
            bail!("{shown}: a snapshot of another model; give the model that was watched with");
        }
        Ok(snapshot)
    }

    /// What is asked for now must be what was asked for then.
    pub(super) fn check(&self, asked: &Arguments) -> Result<(), UsageError> {
        let other = |option: &'static str, was: String| {
            let problem = format!("the snapshot has {was}, now it is another");
            Err(UsageError::new(option, problem, "leave the option out to go on as before"))
        };
        if asked.common.seed.is_some_and(|seed| seed != self.seed) {
            return other("--seed", self.seed.to_string());
        }
        if let Some(was) = self.online.drift.filter(|was| asked.drift.is_some_and(|now| now != *was)) {
            return other("--drift", was.to_string());
        }
        if asked.drift.is_some() && self.online.drift.is_none() {
            return other("--drift", "no drift".to_owned());
        }
        match self.online.history {
            Some(history) if asked.history.is_some_and(|now| now != history) => {
                other("--history", history.to_string())
            }
            _ => Ok(()),
        }
    }
}
