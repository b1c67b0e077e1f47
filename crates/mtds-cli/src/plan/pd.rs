//! What `mtds reproduce pd` will do.

use super::{CommonPlan, UsageError, directory};
use crate::arguments::{PdArguments, ScaleName};
use mtds_experiments::pd::{Scale, Settings};
use std::path::{Path, PathBuf};

/// What `mtds reproduce pd` will do.
#[derive(Debug, Clone)]
pub struct PdPlan {
    /// Directory for the result; created if it is missing.
    pub out: PathBuf,
    /// The experiment.
    pub settings: Settings,
    /// What every verb needs to know.
    pub common: CommonPlan,
}

impl PdPlan {
    /// Validates what was typed.
    ///
    /// # Errors
    /// A [`UsageError`] for the first argument that cannot be meant.
    pub fn new(typed: &PdArguments) -> Result<Self, UsageError> {
        let common = CommonPlan::new(&typed.common)?;
        let (scale, default_out) = match typed.scale {
            ScaleName::Quick => (Scale::Quick, "mtds-pd-quick"),
            ScaleName::Full => (Scale::Full, "mtds-pd-full"),
        };
        let out = directory(typed.out.as_deref().unwrap_or(Path::new(default_out)))?;
        Ok(Self { out, settings: Settings::new(scale, common.seed), common })
    }
}
