//! What `mtds transfer` will do.

use super::result::family_file;
use super::{CommonPlan, SourcePlan, UsageError};
use crate::arguments::TransferArguments;
use mtds::model::DataColumns;
use std::path::PathBuf;

/// What `mtds transfer` will do.
#[derive(Debug, Clone, PartialEq)]
pub struct TransferPlan {
    /// Directory of the model.
    pub model: PathBuf,
    /// Where the inputs are.
    pub source: SourcePlan,
    /// The sequence whose inputs are taken.
    pub content: String,
    /// The member whose code is taken.
    pub style: String,
    /// File for the sequence; `None` for stdout.
    pub out: Option<PathBuf>,
    /// What every verb needs to know.
    pub common: CommonPlan,
}

impl TransferPlan {
    /// Validates what was typed.
    ///
    /// # Errors
    /// A [`UsageError`] for the first argument that cannot be meant.
    pub fn new(typed: &TransferArguments) -> Result<Self, UsageError> {
        Ok(Self {
            model: typed.model.clone(),
            source: SourcePlan::new(&typed.source, DataColumns::default())?,
            content: typed.content.clone(),
            style: typed.style.clone(),
            out: family_file(typed.out.as_deref())?,
            common: CommonPlan::new(&typed.common)?,
        })
    }
}
