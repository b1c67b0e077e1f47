//! The files of finished cells: written whole, and believed only if they are whole and of this experiment.

use crate::plan::DhoPlan;
use anyhow::{Context, Result, bail};
use mtds_data::directory::write_file_atomic;
use mtds_experiments::dho::{CellId, CellResult, CellSettings};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Version of the program, part of every cell.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The directory of cells.
pub(super) struct Cells<'a> {
    plan: &'a DhoPlan,
    folder: PathBuf,
}

/// What is there of a cell.
pub(super) enum Found {
    /// Its result.
    Kept(Box<CellResult>),
    /// A file that cannot be used, and why.
    Unusable(String),
    /// No file.
    Nothing,
}

/// A cell as a file.
#[derive(Serialize, Deserialize)]
struct Kept<S, R> {
    version: String,
    settings: S,
    result: R,
}

impl<'a> Cells<'a> {
    /// The cells in the directory of the plan, which is made if it is missing.
    ///
    /// # Errors
    /// A directory that cannot be made.
    pub(super) fn open(plan: &'a DhoPlan) -> Result<Self> {
        let folder = plan.out.join("cells");
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make the directory `{}`", folder.display()))?;
        Ok(Self { plan, folder })
    }

    /// The file of a cell.
    pub(super) fn path(&self, cell: &CellId) -> PathBuf {
        self.folder.join(format!("{cell}.json"))
    }

    /// Keeps a result.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn keep(&self, result: &CellResult) -> Result<()> {
        let settings = self.plan.settings.of(&result.cell.kind)?;
        let kept = Kept { version: VERSION.into(), settings, result };
        let text = serde_json::to_string(&kept).context("cannot write the cell as JSON")?;
        Ok(write_file_atomic(&self.path(&result.cell), format!("{text}\n").as_bytes())?)
    }

    /// Looks a cell up.
    ///
    /// # Errors
    /// A file that cannot be read; a whole cell of another experiment or version, which is not to be lost.
    pub(super) fn find(&self, cell: &CellId) -> Result<Found> {
        let path = self.path(cell);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(error) => return Err(error).with_context(|| format!("cannot read `{}`", path.display())),
        };
        let kept: Kept<serde_json::Value, CellResult> = match serde_json::from_slice(&bytes) {
            Ok(kept) => kept,
            Err(error) => return Ok(Found::Unusable(format!("damaged ({error})"))),
        };
        self.refuse_others(&path, &kept.version, &kept.result)?;
        if kept.result.cell != *cell {
            return Ok(Found::Unusable(format!("is cell {}", kept.result.cell)));
        }
        if let Err(error) = kept.result.check() {
            return Ok(Found::Unusable(format!("damaged ({error})")));
        }
        let expected = self.plan.settings.of(&cell.kind)?;
        match serde_json::from_value::<CellSettings>(kept.settings) {
            Ok(settings) if settings == expected => Ok(Found::Kept(Box::new(kept.result))),
            _ => Ok(Found::Unusable(format!("was computed with other settings of `{}`", cell.kind.model()))),
        }
    }

    fn refuse_others(&self, path: &Path, version: &str, result: &CellResult) -> Result<()> {
        let (path, plan) = (path.display(), &self.plan.protocol);
        let hint = "name another directory with --out, or delete this one";
        if version != VERSION {
            bail!("`{path}` was computed by version {version}, this is {VERSION}; {hint}");
        }
        if result.protocol != *plan {
            let brief = |protocol: &mtds_experiments::dho::Protocol| {
                format!("scale {:?}, seed {}", protocol.scale, protocol.seed).to_lowercase()
            };
            let (found, expected) = (brief(&result.protocol), brief(plan));
            bail!("`{path}` is part of another experiment ({found}; expected {expected}); {hint}");
        }
        Ok(())
    }
}
