//! What a family of motions needs to go back to the world, in a file beside it: `FAMILY.mocap.json`.

use crate::output::write_whole;
use anyhow::{Context, Result, bail};
use mtds_data::directory::read_file;
use mtds_mocap::frame::Placement;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The version that is written and read.
const VERSION: u32 = 1;

/// Where sequences of a family begin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::verb) struct Side {
    version: u32,
    /// Rows per second.
    pub fps: f64,
    /// By name of the sequence.
    pub clips: BTreeMap<String, SideClip>,
}

/// Where a sequence comes from and begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::verb) struct SideClip {
    /// The file below the folder that was prepared.
    pub file: String,
    /// Its split, where a manifest says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub split: Option<String>,
    /// Where the body is before the first row.
    pub start: Placement,
    /// Length of its legs, in metres, before any scaling.
    pub leg_m: f64,
}

impl Side {
    pub fn new(fps: f64, clips: BTreeMap<String, SideClip>) -> Self {
        Self { version: VERSION, fps, clips }
    }

    /// Writes it beside a family.
    pub fn write(&self, family: &Path) -> Result<()> {
        write_whole(&path_beside(family, "mocap.json"), &serde_json::to_vec_pretty(self)?)
    }

    /// The one beside a family, if there is one.
    pub fn read(family: &Path) -> Result<Option<Self>> {
        let path = path_beside(family, "mocap.json");
        if !path.is_file() {
            return Ok(None);
        }
        let bytes = read_file(&path)?;
        let side: Self = serde_json::from_slice(&bytes).with_context(|| format!("`{}`", path.display()))?;
        if side.version != VERSION {
            bail!("`{}`: expected version {VERSION}, found {}", path.display(), side.version);
        }
        Ok(Some(side))
    }
}

/// `FAMILY.ending` for a family in a file of any format, compressed or not.
pub(super) fn path_beside(family: &Path, ending: &str) -> PathBuf {
    // `with_extension` would replace what follows a dot in the name.
    let name = stem(family).file_name().unwrap_or_default().to_string_lossy().into_owned();
    family.with_file_name(format!("{name}.{ending}"))
}

/// `FAMILY.split.csv` for `FAMILY.csv`.
pub(super) fn path_of_split(family: &Path, split: &str) -> PathBuf {
    let whole = family.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = stem(family);
    let short = stem.file_name().unwrap_or_default().to_string_lossy().into_owned();
    family.with_file_name(format!("{short}.{split}{}", &whole[short.len()..]))
}

/// The path without `.gz` and without the ending of its format.
fn stem(family: &Path) -> PathBuf {
    let is_gzip = family.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
    let plain = if is_gzip { family.with_extension("") } else { family.to_path_buf() };
    plain.with_extension("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beside_a_family() {
        let beside = |name: &str| path_beside(Path::new(name), "mocap.json").to_string_lossy().into_owned();
        assert_eq!(beside("a/walks.csv.gz"), "a/walks.mocap.json");
        assert_eq!(beside("walks.train.parquet"), "walks.train.mocap.json");
        assert_eq!(path_of_split(Path::new("a/walks.csv.gz"), "test"), Path::new("a/walks.test.csv.gz"));
    }
}
