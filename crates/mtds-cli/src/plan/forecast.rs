//! What `mtds forecast` will do.

use super::result::{count, table_file};
use super::{CommonPlan, SourcePlan, UsageError};
use crate::arguments::{ForecastArguments, MethodName};
use mtds::model::DataColumns;
use std::path::PathBuf;

/// What `mtds forecast` will do.
#[derive(Debug, Clone, PartialEq)]
pub struct ForecastPlan {
    /// Directory of the model.
    pub model: PathBuf,
    /// What is observed.
    pub source: SourcePlan,
    /// File for the forecasts; `None` for stdout.
    pub out: Option<PathBuf>,
    /// Most steps that are used of a sequence.
    pub seen: Option<usize>,
    /// Steps to forecast; `None` for as many as there are in the file.
    pub horizon: Option<usize>,
    /// Levels of the quantiles, ascending.
    pub levels: Vec<f64>,
    /// How posteriors are found.
    pub method: MethodName,
    /// What every verb needs to know.
    pub common: CommonPlan,
}

impl ForecastPlan {
    /// Validates what was typed.
    ///
    /// # Errors
    /// A [`UsageError`] for the first argument that cannot be meant.
    pub fn new(typed: &ForecastArguments) -> Result<Self, UsageError> {
        Ok(Self {
            model: typed.model.clone(),
            source: SourcePlan::new(&typed.source, DataColumns::default())?,
            out: table_file("--out", typed.out.as_deref())?,
            seen: count("--seen", typed.seen, "leave it out to use all steps")?,
            horizon: count("--horizon", typed.horizon, "40")?,
            levels: levels(&typed.quantiles)?,
            method: typed.method,
            common: CommonPlan::new(&typed.common)?,
        })
    }
}

/// Ascending, each once.
fn levels(typed: &[f64]) -> Result<Vec<f64>, UsageError> {
    if let Some(wrong) = typed.iter().find(|level| !(**level > 0.0 && **level < 1.0)) {
        let problem = format!("expected levels between 0 and 1, found {wrong}");
        return Err(UsageError::new("--quantiles", problem, "0.05,0.5,0.95"));
    }
    let mut levels = typed.to_vec();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    Ok(levels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_sorted_and_lie_between_0_and_1() {
        assert_eq!(levels(&[0.9, 0.1, 0.9]).expect("levels"), [0.1, 0.9]);
        for wrong in [0.0, 1.0, -0.5, f64::NAN, f64::INFINITY] {
            assert_eq!(levels(&[0.5, wrong]).expect_err("no level").option, "--quantiles");
        }
    }
}
