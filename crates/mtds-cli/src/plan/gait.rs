//! What `mtds data gait` will do.

use super::{CommonPlan, UsageError, directory};
use crate::arguments::GaitArguments;
use mtds_mocap::walker::{Cast, Style};
use std::path::PathBuf;

/// What `mtds data gait` will do.
#[derive(Debug, Clone, PartialEq)]
pub struct GaitPlan {
    /// The folder to write.
    pub out: PathBuf,
    /// The styles, in the order of their names.
    pub styles: Vec<Style>,
    /// How many walks, and of what length.
    pub cast: Cast,
    /// What every verb needs to know.
    pub common: CommonPlan,
}

impl GaitPlan {
    /// Validates what was typed.
    ///
    /// # Errors
    /// A [`UsageError`] for the first argument that cannot be meant.
    pub fn new(typed: &GaitArguments) -> Result<Self, UsageError> {
        for (option, found) in [("--walks", typed.walks), ("--frames", typed.frames)] {
            if !(1..=1_000_000).contains(&found) {
                return Err(UsageError::new(option, format!("expected 1 to 1000000, found {found}"), "4"));
            }
        }
        if !(1.0..=1000.0).contains(&typed.fps) {
            let problem = format!("expected 1 to 1000 frames per second, found {}", typed.fps);
            return Err(UsageError::new("--fps", problem, "30"));
        }
        let cast =
            Cast { n_per_style: typed.walks, n_frames: typed.frames, fps: typed.fps, ..Cast::default() };
        let styles = styles(&typed.styles)?;
        Ok(Self { out: directory(&typed.out)?, styles, cast, common: CommonPlan::new(&typed.common)? })
    }
}

/// The styles with these names; all where there are none.
fn styles(names: &[String]) -> Result<Vec<Style>, UsageError> {
    if let Some(unknown) = names.iter().find(|name| Style::from_name(name).is_none()) {
        let problem = format!("found `{unknown}`, which is no style");
        return Err(UsageError::new("--styles", problem, Style::ALL.map(Style::name).join(", ")));
    }
    let is_asked = |style: &Style| names.is_empty() || names.iter().any(|name| name == style.name());
    Ok(Style::ALL.into_iter().filter(is_asked).collect())
}
