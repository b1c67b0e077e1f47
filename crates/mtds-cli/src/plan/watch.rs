//! What `mtds watch` will do.

use super::{CommonPlan, UsageError};
use crate::arguments::{FutureName, WatchArguments};
use std::path::PathBuf;

/// Longest forecast of an answer: more would make answers slow, and is what `forecast` is for.
const LONGEST_HORIZON: usize = 1000;
/// Shortest and longest history: two updates; memory.
const HISTORY: std::ops::RangeInclusive<usize> = 2..=100_000;

/// What `mtds watch` will do.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchPlan {
    /// Directory of the model.
    pub model: PathBuf,
    /// Steps that every answer forecasts.
    pub horizon: usize,
    /// Levels of the quantiles, in rising order.
    pub quantiles: Vec<f64>,
    /// Inputs of steps to come that no line says.
    pub future: FutureName,
    /// Steps of history that were asked for.
    pub history: Option<usize>,
    /// Walk of a code per step that was asked for.
    pub drift: Option<f64>,
    /// Most sequences at once.
    pub most_series: usize,
    /// File for snapshots.
    pub snapshot: Option<PathBuf>,
    /// Lines between snapshots; 0 for one at the end.
    pub snapshot_every: u64,
    /// Snapshot to go on from.
    pub restore: Option<PathBuf>,
    /// Seed that was asked for.
    pub seed: Option<u64>,
    /// What every verb needs to know.
    pub common: CommonPlan,
}

impl WatchPlan {
    /// Validates what was typed.
    ///
    /// # Errors
    /// A [`UsageError`] for the first argument that cannot be meant.
    pub fn new(typed: &WatchArguments) -> Result<Self, UsageError> {
        if typed.horizon > LONGEST_HORIZON {
            let problem = format!("expected at most {LONGEST_HORIZON} steps, found {}", typed.horizon);
            return Err(UsageError::new("--horizon", problem, "1"));
        }
        if let Some(history) = typed.history.filter(|history| !HISTORY.contains(history)) {
            let problem = format!("expected {} to {} steps, found {history}", HISTORY.start(), HISTORY.end());
            return Err(UsageError::new("--history", problem, "64"));
        }
        if let Some(drift) = typed.drift.filter(|drift| !(drift.is_finite() && *drift > 0.0)) {
            let problem = format!("expected a standard deviation above 0, found {drift}");
            return Err(UsageError::new("--drift", problem, "0.02"));
        }
        if typed.most_series == 0 {
            return Err(UsageError::new("--most-series", "expected 1 or more, found 0", "1000"));
        }
        no_snapshot_in_the_way(typed)?;
        Ok(Self {
            model: typed.model.clone(),
            horizon: typed.horizon,
            quantiles: quantiles(&typed.quantiles)?,
            future: typed.future,
            history: typed.history,
            drift: typed.drift,
            most_series: typed.most_series,
            snapshot: typed.snapshot.clone(),
            snapshot_every: typed.snapshot_every,
            restore: typed.restore.clone(),
            seed: typed.common.seed,
            common: CommonPlan::new(&typed.common)?,
        })
    }
}

/// Levels in rising order, each once.
fn quantiles(typed: &[f64]) -> Result<Vec<f64>, UsageError> {
    if let Some(level) = typed.iter().find(|level| !(**level > 0.0 && **level < 1.0)) {
        let problem = format!("expected levels between 0 and 1, found {level}");
        return Err(UsageError::new("--quantiles", problem, "0.05,0.5,0.95"));
    }
    let mut levels = typed.to_vec();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    Ok(levels)
}

/// A snapshot is only replaced by what went on from it.
fn no_snapshot_in_the_way(typed: &WatchArguments) -> Result<(), UsageError> {
    match &typed.snapshot {
        Some(path) if path.exists() && typed.restore.as_ref() != Some(path) => Err(UsageError::new(
            "--snapshot",
            format!("`{}` is there already", path.display()),
            "--restore with the same file to go on from it, or another name",
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Verb};
    use clap::Parser;

    fn plan(typed: &[&str]) -> Result<WatchPlan, UsageError> {
        let words = ["mtds", "watch", "model"].iter().chain(typed);
        let verb = Arguments::try_parse_from(words).expect("clap accepts this").verb;
        let Verb::Watch(arguments) = verb else { panic!("another verb: {verb:?}") };
        WatchPlan::new(&arguments)
    }

    #[test]
    fn levels_are_sorted_and_checked() {
        assert_eq!(plan(&["--quantiles", "0.9,0.1,0.9"]).expect("valid").quantiles, [0.1, 0.9]);
        for wrong in ["0,0.5", "1", "-0.1", "NaN"] {
            let error = plan(&[&format!("--quantiles={wrong}")]).expect_err(wrong);
            assert_eq!(error.option, "--quantiles");
        }
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        for (option, value) in
            [("--horizon", "1001"), ("--history", "1"), ("--drift", "0"), ("--most-series", "0")]
        {
            assert_eq!(plan(&[option, value]).expect_err(option).option, option);
        }
    }

    #[test]
    fn a_snapshot_is_not_replaced_unasked() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let path = folder.path().join("s.json");
        let path = path.to_str().expect("plain path");
        plan(&["--snapshot", path]).expect("nothing there");
        std::fs::write(path, "{}").expect("written");
        let error = plan(&["--snapshot", path]).expect_err("in the way");
        assert!(error.hint.contains("--restore"), "{error}");
        plan(&["--snapshot", path, "--restore", path]).expect("goes on");
    }
}
