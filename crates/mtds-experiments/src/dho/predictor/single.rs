//! The single-task linear system: inferred from what was seen of one sequence, and nothing else.

use mtds::{Error, Result};

use crate::dho::score::Predictor;

/// The predictor that infers all parameters of a linear system from each sequence alone; `seed` is for its draws.
///
/// # Errors
/// [`Error::Setting`]: this build has no sampler for it.
pub fn single_task(_seed: u64) -> Result<Box<dyn Predictor>> {
    let why = "single-task systems need a sampler that is not there yet; leave `single` out".into();
    Err(Error::Setting { name: "single".into(), why })
}
