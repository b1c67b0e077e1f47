//! What `mtds infer` will do.

use super::result::{count, table_file};
use super::{CommonPlan, SourcePlan, UsageError};
use crate::arguments::{InferArguments, MethodName};
use mtds::model::DataColumns;
use std::path::PathBuf;

/// Draws per sequence, unless another number is asked for.
const DRAWS: usize = 1000;

/// What `mtds infer` will do.
#[derive(Debug, Clone, PartialEq)]
pub struct InferPlan {
    /// Directory of the model.
    pub model: PathBuf,
    /// What is observed.
    pub source: SourcePlan,
    /// File for the summary; `None` for stdout.
    pub out: Option<PathBuf>,
    /// How posteriors are found.
    pub method: MethodName,
    /// Most steps that are used of a sequence.
    pub seen: Option<usize>,
    /// File for draws.
    pub draws: Option<PathBuf>,
    /// Draws per sequence.
    pub n_draws: usize,
    /// What every verb needs to know.
    pub common: CommonPlan,
}

impl InferPlan {
    /// Validates what was typed.
    ///
    /// # Errors
    /// A [`UsageError`] for the first argument that cannot be meant.
    pub fn new(typed: &InferArguments) -> Result<Self, UsageError> {
        let out = table_file("--out", typed.out.as_deref())?;
        let draws = table_file("--draws", typed.draws.as_deref())?;
        if out.is_some() && out == draws {
            let problem = "expected another file than for the summary";
            return Err(UsageError::new("--draws", problem, "draws.csv"));
        }
        Ok(Self {
            model: typed.model.clone(),
            source: SourcePlan::new(&typed.source, DataColumns::default())?,
            out,
            method: typed.method,
            seen: count("--seen", typed.seen, "leave it out to use all steps")?,
            draws,
            n_draws: count("--n-draws", typed.n_draws, "leave it out for 1000")?.unwrap_or(DRAWS),
            common: CommonPlan::new(&typed.common)?,
        })
    }
}
