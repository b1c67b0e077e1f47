//! What `mtds morph` will do.

use super::generate::code;
use super::result::family_file;
use super::{CommonPlan, DrivePlan, UsageError};
use crate::arguments::MorphArguments;
use std::path::PathBuf;

/// A code to pass.
#[derive(Debug, Clone, PartialEq)]
pub enum Waypoint {
    /// That of a member of the family that was learned, and the option that named it.
    Member(&'static str, String),
    /// It was typed, after this option.
    Code(&'static str, Vec<f64>),
}

/// What `mtds morph` will do.
#[derive(Debug, Clone, PartialEq)]
pub struct MorphPlan {
    /// Directory of the model.
    pub model: PathBuf,
    /// The codes to pass, the first and the last included.
    pub path: Vec<Waypoint>,
    /// Inputs and length.
    pub drive: DrivePlan,
    /// File for the sequence; `None` for stdout.
    pub out: Option<PathBuf>,
    /// What every verb needs to know.
    pub common: CommonPlan,
}

impl MorphPlan {
    /// Validates what was typed.
    ///
    /// # Errors
    /// A [`UsageError`] for the first argument that cannot be meant.
    pub fn new(typed: &MorphArguments) -> Result<Self, UsageError> {
        let first = end(("--from", typed.from.as_ref()), ("--from-code", typed.from_code.as_ref()))?;
        let last = end(("--to", typed.to.as_ref()), ("--to-code", typed.to_code.as_ref()))?;
        let via = typed.via.iter().map(|id| Waypoint::Member("--via", id.clone()));
        Ok(Self {
            model: typed.model.clone(),
            path: std::iter::once(first).chain(via).chain([last]).collect(),
            drive: DrivePlan::new(&typed.drive)?,
            out: family_file(typed.out.as_deref())?,
            common: CommonPlan::new(&typed.common)?,
        })
    }
}

/// An end of the path: a member or a code.
fn end(
    (by_id, id): (&'static str, Option<&String>),
    (by_code, text): (&'static str, Option<&String>),
) -> Result<Waypoint, UsageError> {
    match (id, text) {
        (Some(id), _) => Ok(Waypoint::Member(by_id, id.clone())),
        (None, Some(text)) => Ok(Waypoint::Code(by_code, code(by_code, text)?)),
        (None, None) => Err(UsageError::new(by_id, "expected a member, found none", format!("{by_id} ID"))),
    }
}
