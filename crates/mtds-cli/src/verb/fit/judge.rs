//! A first judgement: forecasts of held-out sequences after half of each, beside two that learn almost nothing.

use super::prepare::Parts;
use anyhow::Result;
use mtds::infer::{Online, Tracker};
use mtds::predict::{CENTRAL_LEVELS, Forecast, Scores, SequenceScore, family_mean, last_value, score};
use mtds::random::{Stream, stream};
use mtds::{Family, System};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Most sequences that are judged.
const MOST: usize = 50;

/// The scores of one way to forecast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct JudgedRow {
    pub(super) method: String,
    pub(super) n_seq: usize,
    pub(super) rmse: f64,
    pub(super) rmse_se: Option<f64>,
    pub(super) nll: f64,
    pub(super) nll_se: Option<f64>,
    pub(super) crps: f64,
    pub(super) cover80: f64,
}

/// Scores on the held-out sequences, or on those kept apart; none where there are neither.
///
/// # Errors
/// Sequences that the model cannot take.
pub(super) fn judge(model: &System, online: &Online, parts: &Parts, seed: u64) -> Result<Vec<JudgedRow>> {
    let Some(family) = parts.apart.as_ref().or(parts.held_out.as_ref()) else { return Ok(vec![]) };
    let judged: Vec<usize> =
        (0..family.n_seq()).filter(|&i| family.sequence(i).n_time() >= 4).take(MOST).collect();
    let training: Vec<&[f64]> = parts.training.sequences().iter().map(|s| s.outputs().values()).collect();
    let d = family.d_obs();
    let ours = |i: usize| follow(model, online, family, i, seed);
    let last = |i: usize| -> Result<Forecast> {
        let (outputs, seen) = (family.sequence(i).outputs(), half(family, i));
        Ok(last_value(&training, outputs.slice(0..seen).values(), d, outputs.n_time() - seen)?)
    };
    let mean = |i: usize| -> Result<Forecast> {
        let seen = half(family, i);
        Ok(family_mean(&training, d, seen, family.sequence(i).n_time() - seen)?)
    };
    let rows = [
        row("this model", family, &judged, &ours)?,
        row("last value", family, &judged, &last)?,
        row("family mean", family, &judged, &mean)?,
    ];
    Ok(rows.into_iter().flatten().collect())
}

fn half(family: &Family, i: usize) -> usize {
    family.sequence(i).n_time() / 2
}

fn follow(model: &System, online: &Online, family: &Family, i: usize, seed: u64) -> Result<Forecast> {
    let (outputs, inputs, seen) = (family.sequence(i).outputs(), family.inputs_of(i), half(family, i));
    let settings = Online { every: seen.max(1).div_ceil(3).max(5), ..online.clone() };
    let mut tracker = Tracker::new(model, settings, stream(seed, Stream::Judge(i as u64)))?;
    for t in 0..seen {
        tracker.observe(outputs.row(t), inputs.map_or(&[], |inputs| inputs.row(t)))?;
    }
    let future = inputs.map(|inputs| inputs.slice(seen..outputs.n_time()));
    Ok(tracker.forecast(outputs.n_time() - seen, future.as_ref())?)
}

fn row(
    method: &str,
    family: &Family,
    judged: &[usize],
    forecast: &(dyn Fn(usize) -> Result<Forecast> + Sync),
) -> Result<Option<JudgedRow>> {
    let one = |&i: &usize| -> Result<Option<SequenceScore>> {
        let outputs = family.sequence(i).outputs();
        let truth = outputs.slice(half(family, i)..outputs.n_time());
        Ok(score(&forecast(i)?, truth.values(), &CENTRAL_LEVELS)?)
    };
    let each = judged.par_iter().map(one).collect::<Result<Vec<_>>>()?;
    let each: Vec<_> = each.into_iter().flatten().collect();
    if each.is_empty() {
        return Ok(None);
    }
    let scores = Scores::over(&each)?;
    Ok(Some(JudgedRow {
        method: method.to_owned(),
        n_seq: scores.rmse.n,
        rmse: scores.rmse.mean,
        rmse_se: scores.rmse.std_error,
        nll: scores.nll.mean,
        nll_se: scores.nll.std_error,
        crps: scores.crps.mean,
        cover80: scores.coverage[1].share.mean,
    }))
}
