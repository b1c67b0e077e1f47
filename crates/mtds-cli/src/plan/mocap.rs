//! What `mtds mocap` will do.

use super::data::table;
use super::{CommonPlan, UsageError};
use crate::arguments::{CheckArguments, ExportArguments, PrepareArguments};
use std::path::{Path, PathBuf};

/// What `mtds mocap prepare` will do.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparePlan {
    /// The folder with BVH files.
    pub folder: PathBuf,
    /// The family to write.
    pub out: PathBuf,
    /// The table of splits, if there is one.
    pub manifest: Option<PathBuf>,
    /// Length that legs are scaled to, in metres.
    pub leg_m: Option<f64>,
    /// Cut from both ends, in seconds.
    pub trim_secs: f64,
    /// Skeleton rules of the user's own.
    pub rules: Option<PathBuf>,
    /// What every verb needs to know.
    pub common: CommonPlan,
}

/// What `mtds mocap check` will do.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckPlan {
    /// The folder with BVH files.
    pub folder: PathBuf,
    /// The page to write.
    pub out: PathBuf,
    /// Skeleton rules of the user's own.
    pub rules: Option<PathBuf>,
    /// What every verb needs to know.
    pub common: CommonPlan,
}

/// What `mtds mocap export` will do.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportPlan {
    /// The family.
    pub family: PathBuf,
    /// The sequence.
    pub series: String,
    /// The file to write.
    pub out: PathBuf,
    /// What kind of file it is.
    pub format: ClipFormat,
    /// What feet may do.
    pub feet: Feet,
    /// What every verb needs to know.
    pub common: CommonPlan,
}

/// Kinds of files that a clip is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClipFormat {
    /// Skeleton and rotations.
    Bvh,
    /// A model in motion.
    Glb,
    /// A row of poses.
    Montage,
    /// A moving picture.
    Animation,
}

/// What feet may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feet {
    /// They are where the family says.
    Free,
    /// They are held in place while they stand.
    Locked,
}

impl PreparePlan {
    /// Validates what was typed.
    ///
    /// # Errors
    /// A [`UsageError`] for the first argument that cannot be meant.
    pub fn new(typed: &PrepareArguments) -> Result<Self, UsageError> {
        if let Some(legs) = typed.legs.filter(|legs| !(0.1..=10.0).contains(legs)) {
            let problem = format!("expected metres from 0.1 to 10, found {legs}");
            return Err(UsageError::new("--legs", problem, "0.85"));
        }
        if !(0.0..=3600.0).contains(&typed.trim) {
            let problem = format!("expected seconds from 0 to 3600, found {}", typed.trim);
            return Err(UsageError::new("--trim", problem, "0.5"));
        }
        let folder = existing_folder(&typed.folder)?;
        let usual = folder.join("manifest.csv");
        Ok(Self {
            manifest: typed.manifest.clone().or_else(|| usual.is_file().then_some(usual)),
            folder,
            out: table(&typed.out)?,
            leg_m: typed.legs,
            trim_secs: typed.trim,
            rules: typed.rules.clone(),
            common: CommonPlan::new(&typed.common)?,
        })
    }
}

impl CheckPlan {
    /// Validates what was typed.
    ///
    /// # Errors
    /// A [`UsageError`] for the first argument that cannot be meant.
    pub fn new(typed: &CheckArguments) -> Result<Self, UsageError> {
        if typed.out.is_dir() {
            let problem = format!("expected a file, but `{}` is a directory", typed.out.display());
            return Err(UsageError::new("--out", problem, "check.html"));
        }
        let folder = existing_folder(&typed.folder)?;
        let common = CommonPlan::new(&typed.common)?;
        Ok(Self { folder, out: typed.out.clone(), rules: typed.rules.clone(), common })
    }
}

impl ExportPlan {
    /// Validates what was typed.
    ///
    /// # Errors
    /// A [`UsageError`] for the first argument that cannot be meant.
    pub fn new(typed: &ExportArguments) -> Result<Self, UsageError> {
        let ending = typed.out.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let format = match ending.as_str() {
            "bvh" => ClipFormat::Bvh,
            "glb" => ClipFormat::Glb,
            "png" => ClipFormat::Montage,
            "apng" => ClipFormat::Animation,
            _ => {
                let problem = format!("expected .bvh, .glb, .png or .apng, found `{}`", typed.out.display());
                return Err(UsageError::new("--out", problem, "clip.bvh"));
            }
        };
        Ok(Self {
            family: typed.family.clone(),
            series: typed.series.clone(),
            out: typed.out.clone(),
            format,
            feet: if typed.lock_feet { Feet::Locked } else { Feet::Free },
            common: CommonPlan::new(&typed.common)?,
        })
    }
}

fn existing_folder(typed: &Path) -> Result<PathBuf, UsageError> {
    match typed.is_dir() {
        true => Ok(typed.to_path_buf()),
        false => {
            let problem = format!("expected a folder with BVH files, but `{}` is none", typed.display());
            Err(UsageError::new("DIR", problem, "mtds data gait -o walks makes one"))
        }
    }
}
