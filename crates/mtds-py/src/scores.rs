//! Scores of a model's forecasts from rolling origins, and of baselines beside it, as a table.

use crate::error::{Result, setting_error};
use crate::model::check_columns;
use crate::table::Table;
use crate::work::{Heard, Watch};
use mtds::evaluate::{
    Baseline, BaselineSettings, Estimate, Evaluated, Forecaster, Origin, Origins, ScoreRow, Seen, evaluate,
};
use mtds::{Family, Forecast, Model};
use mtds_data::Column;
use pyo3::PyResult;

/// Units and steps of the recurrent network among the baselines.
const NETWORK: (usize, u64) = (64, 1500);

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
    let name = |baseline: Baseline| baseline.title().replace(' ', "-");
    let known = || Baseline::ALL.map(name).join(", ");
    if let Some(other) = names.iter().find(|asked| Baseline::ALL.iter().all(|one| name(*one) != **asked)) {
        return Err(setting_error("against", format_args!("found `{other}`; expected some of {}", known())));
    }
    let asked = Baseline::ALL.into_iter().filter(|baseline| names.contains(&name(*baseline)));
    let asked: Vec<Baseline> = asked.collect();
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

/// A forecaster that ends once the caller wants it to: within a sequence where that takes long, else before the next, and not after a batch.
struct Stoppable<'a>(&'a dyn Forecaster, &'a Watch);

impl Forecaster for Stoppable<'_> {
    fn forecasts(&self, family: &Family, i: usize, origins: &[Origin]) -> mtds::Result<Vec<Forecast>> {
        self.0.forecasts_observed((family, i), origins, &|| self.1.go_on())
    }
}

/// A row per origin and method.
///
/// # Errors
/// Sequences that are too short, or that the model cannot take; a stop.
pub(crate) fn table(
    model: &Model,
    (family, train): (&Family, Option<&Family>),
    asked: &Asked,
    watch: &Watch,
) -> Result<Table> {
    check_columns(model, family)?;
    let mut seen = asked.seen.clone();
    seen.sort_unstable();
    seen.dedup();
    let (Some(&first), Some(&last)) = (seen.first().filter(|first| **first > 0), seen.last()) else {
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
    let every: Vec<usize> = (0..family.n_seq()).collect();
    let all = every.len() as u64;
    let score = |name: &str, forecaster: &dyn Forecaster| {
        evaluate((name, &Stoppable(forecaster, watch)), (family, &every), &origins, &mut |done| {
            watch.hear(Heard { stage: "forecasting", done: done as u64, all, part: (0, 1), bound: None })
        })
    };
    let ours = score("this model", &model.following(asked.seed)?)?;
    let mut rows: Vec<(ScoreRow, Option<Estimate>)> =
        ours.iter().map(|evaluated| (evaluated.row.clone(), None)).collect();
    for &baseline in &asked.against {
        let settings = BaselineSettings {
            seen: (first, last),
            horizon: asked.horizon,
            network: NETWORK,
            seed: asked.seed,
        };
        let learned = baseline.learn(&model.system, train, &settings, &mut |step| {
            let (done, all, bound) = (step.step, step.steps, step.bound);
            watch.hear(Heard { stage: "learning", done, all, part: (0, 1), bound })
        })?;
        let less = |theirs: &Evaluated| {
            ours.iter().find(|ours| ours.row.seen == theirs.row.seen).and_then(|ours| ours.crps_less(theirs))
        };
        let theirs = score(baseline.title(), &learned)?;
        rows.extend(theirs.into_iter().map(|theirs| (theirs.row.clone(), less(&theirs))));
    }
    rows.sort_by_key(|(row, _)| origins.seen.iter().position(|seen| *seen == row.seen));
    Table::of(columns(&rows))
}

fn columns(rows: &[(ScoreRow, Option<Estimate>)]) -> mtds_data::Table {
    let seen = rows.iter().map(|(row, _)| match row.seen {
        Seen::Steps(steps) => steps as i64,
        Seen::Share(_) => 0,
    });
    let mut table = mtds_data::Table::new()
        .with("seen", Column::Integer(seen.collect()))
        .with("method", Column::Text(rows.iter().map(|(row, _)| row.method.clone()).collect()))
        .with("n_seq", Column::Integer(rows.iter().map(|(row, _)| row.n_seq as i64).collect()));
    let measures: Vec<_> = rows.iter().map(|(row, _)| row.measures()).collect();
    for k in 0..measures.first().map_or(0, |measures| measures.len()) {
        let name = measures[0][k].0;
        let means = measures.iter().map(|row| row[k].1).collect();
        let std_errors = measures.iter().map(|row| row[k].2.unwrap_or(f64::NAN)).collect();
        table =
            table.with(name, Column::Number(means)).with(format!("{name}_se"), Column::Number(std_errors));
    }
    let less = |of: fn(Estimate) -> Option<f64>| {
        rows.iter().map(|(_, less)| less.and_then(of).unwrap_or(f64::NAN)).collect()
    };
    table
        .with("model_less_crps", Column::Number(less(|found| Some(found.mean))))
        .with("model_less_crps_se", Column::Number(less(|found| found.std_error)))
}
