//! Scores of a model's forecasts from rolling origins, and of baselines beside it, as a table.

use crate::error::{Result, setting_error};
use crate::model::check_columns;
use crate::table::Table;
use crate::work::{Heard, Watch};
use mtds::evaluate::{Baseline, Origins, Scoring};
use mtds::{Family, Model};
use mtds_data::score_table;
use pyo3::PyResult;

/// What is asked for.
pub(crate) struct Asked {
    /// Steps after which the rest is forecast.
    pub(crate) seen: Vec<usize>,
    /// Steps that are forecast; `None`: to the end.
    pub(crate) horizon: Option<usize>,
    /// What the model is compared with.
    pub(crate) against: Vec<Baseline>,
    /// Seed of all randomness.
    pub(crate) seed: u64,
}

/// Baselines by their names.
///
/// # Errors
/// Names that are none; baselines that learn where there is nothing to learn from.
pub(crate) fn baselines(names: &[String], has_training: bool) -> PyResult<Vec<Baseline>> {
    let named = |name: &String| Baseline::named(name).map_err(|error| setting_error("against", error));
    let asked = names.iter().map(named).collect::<PyResult<Vec<_>>>()?;
    match asked.iter().find(|baseline| baseline.needs_training() && !has_training) {
        Some(baseline) => {
            let why = format!(
                "`{}` learns from training sequences, and none are given; give train, the frame that the model was fit to",
                baseline.title()
            );
            Err(setting_error("against", why))
        }
        None => Ok(asked),
    }
}

/// A row per origin and method.
///
/// # Errors
/// Sequences that are too short, or that the model cannot take; a stop.
pub(crate) fn table(
    model: &Model,
    (family, training): (&Family, Option<&Family>),
    asked: &Asked,
    watch: &Watch,
) -> Result<Table> {
    check_columns(model, family)?;
    let mut seen = asked.seen.clone();
    seen.sort_unstable();
    seen.dedup();
    let Some(&first) = seen.first().filter(|first| **first > 0) else {
        return Err(setting_error("seen", "expected 1 or more steps, found 0 or nothing").into());
    };
    let origins = Origins { horizon: asked.horizon, ..Origins::after(&seen) };
    if origins.are_beyond(family) {
        return Err(setting_error(
            "seen",
            format_args!("no sequence is longer than {first} steps; give fewer"),
        )
        .into());
    }
    let (against, network, seed) = (&asked.against, Scoring::NETWORK, asked.seed);
    let scored = Scoring { model, family, training, against, origins, network, seed }.run(
        &mut |heard| {
            let stage = if heard.is_learning { "learning" } else { "forecasting" };
            watch.hear(Heard { stage, done: heard.done, all: heard.all, part: (0, 1), bound: heard.bound })
        },
        &|| watch.go_on(),
    )?;
    Table::of(score_table(&scored))
}
