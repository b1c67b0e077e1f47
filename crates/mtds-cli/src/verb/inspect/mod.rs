//! `mtds inspect`: what a model is and where its members lie; what a family is and what is odd about its file.

mod family;
mod model;

use crate::plan::{InspectPlan, Thing};
use anyhow::Result;
use std::io::Write;

/// Carries the plan out: looks, writes what was asked for, prints what was found to `stdout`.
///
/// # Errors
/// A model or a family that cannot be read; a file that cannot be written.
pub fn run(plan: &InspectPlan, stdout: &mut dyn Write) -> Result<()> {
    match &plan.thing {
        Thing::Model(path) => model::inspect(plan, path, stdout),
        Thing::Family(source) => family::inspect(plan, source, stdout),
    }
}
