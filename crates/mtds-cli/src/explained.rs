//! How much of each output the code explains, as the fit stores it in the settings of a model.

use anyhow::Result;
use mtds::store::Model;
use mtds::{Family, System};
use serde::{Deserialize, Serialize};

/// Key of the settings in a model under which the fit keeps it.
pub const EXPLAINED_KEY: &str = "explained";

/// The shares of the variance of one output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExplainedRow {
    /// Its name.
    pub output: String,
    /// With the code of each member.
    pub with_code: f64,
    /// With the code at the centre for all of them.
    pub without_code: f64,
    /// With one dimension of the code at a time.
    pub alone: Vec<f64>,
}

/// The rows of a family whose codes are known; outputs that never vary have none.
///
/// # Errors
/// Sequences that the model cannot take.
pub fn rows(model: &System, family: &Family, codes: &[Vec<f64>]) -> Result<Vec<ExplainedRow>> {
    let found = model.explained(family, codes)?;
    let named = family.output_names().iter().zip(found);
    Ok(named
        .filter_map(|(output, found)| {
            found.map(|found| ExplainedRow {
                output: output.clone(),
                with_code: found.with_code,
                without_code: found.without_code,
                alone: found.alone,
            })
        })
        .collect())
}

/// What the fit stored; empty for a model that was not made by it.
pub fn explained_of(bundle: &Model) -> Vec<ExplainedRow> {
    let stored = bundle.provenance.settings.get(EXPLAINED_KEY).cloned().unwrap_or_default();
    serde_json::from_value(stored).unwrap_or_default()
}
