//! What `mtds report` will do.

use super::{CommonPlan, SourcePlan, UsageError};
use crate::arguments::ReportArguments;
use mtds::model::DataColumns;
use std::path::PathBuf;

/// What `mtds report` will do.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportPlan {
    /// Directory of the model.
    pub model: PathBuf,
    /// Sequences to judge it by.
    pub source: SourcePlan,
    /// File for the page.
    pub out: PathBuf,
    /// Steps after which the rest is forecast, rising; empty to choose by the data.
    pub seen: Vec<usize>,
    /// Most sequences that are drawn.
    pub shown: usize,
    /// What every verb needs to know.
    pub common: CommonPlan,
}

impl ReportPlan {
    /// Validates what was typed.
    ///
    /// # Errors
    /// A [`UsageError`] for the first argument that cannot be meant.
    pub fn new(typed: &ReportArguments) -> Result<Self, UsageError> {
        let mut seen = typed.seen.clone();
        seen.sort_unstable();
        seen.dedup();
        if seen.first() == Some(&0) {
            return Err(UsageError::new("--seen", "expected 1 or more steps, found 0", "5,20"));
        }
        if !typed.out.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("html")) {
            let problem = format!("the report is a page, found `{}`", typed.out.display());
            return Err(UsageError::new("--out", problem, "report.html"));
        }
        Ok(Self {
            model: typed.model.clone(),
            source: SourcePlan::new(&typed.source, DataColumns::default())?,
            out: typed.out.clone(),
            seen,
            shown: typed.shown,
            common: CommonPlan::new(&typed.common)?,
        })
    }
}
