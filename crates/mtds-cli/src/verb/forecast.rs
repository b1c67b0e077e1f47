//! `mtds forecast`: where every sequence is going, as a long table of means and quantiles.

use super::delivery::{Content, Delivery, append};
use super::observed;
use crate::interrupt::Interrupt;
use crate::plan::{ForecastPlan, UsageError, Verbosity};
use crate::progress::{Progress, Stage};
use anyhow::{Result, bail};
use mtds::Model;
use mtds::predict::Forecast;
use mtds::random::{Stream, stream};
use mtds_data::model::load_model;
use mtds_data::{Column, ReadFamily, Table};
use serde_json::json;
use std::io::Write;
use std::ops::Range;

/// Carries the plan out: forecasts, writes the file, prints the result to `stdout`.
///
/// # Errors
/// A model or data that cannot be read, or do not fit each other; inputs of the future that are not there; a file
/// that cannot be written; an interrupt.
pub fn run(plan: &ForecastPlan, interrupt: &Interrupt, stdout: &mut dyn Write) -> Result<()> {
    let model = load_model(&plan.model)?;
    let read = observed::read(&plan.source, &model, plan.common.verbosity)?;
    let steps = all_steps(plan, &read, &model)?;
    plan.method.check(&model)?;
    let table = forecasts(plan, interrupt, &model, (&read, &steps))?;
    let n_seq = steps.iter().filter(|steps| !steps.is_empty()).count();
    let line = format!("forecasts of {n_seq} sequences, {} rows", table.n_rows());
    let facts = [
        ("model", json!(plan.model)),
        ("n_seq", json!(n_seq)),
        ("seen", json!(plan.seen)),
        ("horizon", json!(plan.horizon)),
        ("quantiles", json!(plan.levels)),
    ];
    let delivery = Delivery { verb: "forecast", out: plan.out.as_deref(), common: &plan.common };
    delivery.deliver(Content::Table(table), &facts, &line, stdout)
}

/// The steps of every sequence that are forecast, counted from 0; none where the file does not go on.
fn all_steps(plan: &ForecastPlan, read: &ReadFamily, model: &Model) -> Result<Vec<Range<usize>>> {
    let each = (0..read.family.n_seq()).map(|i| steps(plan, read, model, i));
    let each = each.collect::<Result<Vec<_>>>()?;
    let without = each.iter().filter(|steps| steps.is_empty()).count();
    if without == each.len() {
        return Err(nothing_ahead(model).into());
    }
    if without > 0 && plan.common.verbosity != Verbosity::Quiet {
        eprintln!("note: {without} sequence(s) end with what is seen and are not forecast; set --horizon");
    }
    Ok(each)
}

fn nothing_ahead(model: &Model) -> UsageError {
    let problem = "expected a number of steps, found none, and all of DATA is seen";
    let hint = match model.columns.inputs.is_empty() {
        true => "--horizon 40, or --seen with fewer steps than there are".to_owned(),
        false => format!(
            "rows with {} and no outputs after the last ones, or --seen with fewer steps than there are",
            model.columns.inputs.join(", ")
        ),
    };
    UsageError::new("--horizon", problem, hint)
}

/// The steps of one sequence that are forecast.
fn steps(plan: &ForecastPlan, read: &ReadFamily, model: &Model, i: usize) -> Result<Range<usize>> {
    let sequence = read.family.sequence(i);
    let seen = plan.seen.unwrap_or(usize::MAX).min(sequence.n_time());
    let inputs = observed::inputs_of(&read.family, model, i);
    let ahead = inputs.map_or(sequence.n_time(), |inputs| inputs.n_time()) - seen;
    let horizon = plan.horizon.unwrap_or(ahead);
    if inputs.is_some() && horizon > ahead {
        bail!(
            "{}: sequence `{}`: expected {} for {horizon} step(s) after {seen} seen, found {ahead}\n  try: rows at the \
             end with inputs and empty outputs, --horizon {}, or --seen with fewer steps",
            plan.source.path.display(),
            sequence.id(),
            model.columns.inputs.join(", "),
            ahead.max(1),
        );
    }
    Ok(seen..seen + horizon)
}

/// The forecasts of all sequences, batch by batch.
fn forecasts(
    plan: &ForecastPlan,
    interrupt: &Interrupt,
    model: &Model,
    (read, steps): (&ReadFamily, &[Range<usize>]),
) -> Result<Table> {
    let (family, seed) = (&read.family, plan.common.seed);
    let one = |i: usize| -> Result<Table> {
        if steps[i].is_empty() {
            return Ok(Table::new());
        }
        let outputs = observed::seen(family, i, plan.seen);
        let given = (&outputs, observed::inputs_of(family, model, i));
        let random = [stream(seed, Stream::Infer(i as u64)), stream(seed, Stream::Forecast(i as u64))];
        let forecast = model.forecast_with(given, steps[i].len(), plan.method.into(), random)?;
        rows(&forecast, read, i, &plan.levels)
    };
    let mut table = Table::new();
    let mut progress = Progress::new(plan.common.display());
    let work = (Stage::Forecasting, family.n_seq());
    observed::in_batches(work, &mut progress, interrupt, one, |batch| {
        batch.into_iter().for_each(|rows| append(&mut table, rows));
        Ok(())
    })?;
    Ok(table)
}

/// A row per step and output of sequence `i`.
fn rows(forecast: &Forecast, read: &ReadFamily, i: usize, levels: &[f64]) -> Result<Table> {
    let (d, n) = (forecast.d_obs(), forecast.n_time());
    let row_numbers = (0..n * d).map(|row| (i, forecast.first_step() + row / d));
    let names = read.family.output_names();
    let std_dev = forecast.variance().into_iter().map(f64::sqrt).collect();
    let mut table = Table::new()
        .with("series", Column::Text(vec![read.family.sequence(i).id().to_owned(); n * d]))
        .with("t", read.time.column(row_numbers))
        .with("output", Column::Text((0..n * d).map(|row| names[row % d].clone()).collect()))
        .with("mean", Column::Number(forecast.mean()))
        .with("sd", Column::Number(std_dev));
    for (level, values) in levels.iter().zip(forecast.quantiles(levels)?) {
        table = table.with(format!("q{level}"), Column::Number(values));
    }
    Ok(table)
}
