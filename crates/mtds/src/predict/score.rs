//! Scores of forecasts against what came: RMSE, log score, CRPS, coverage and PIT, with standard errors.
//!
//! ```text
//! RMSE       √( mean of (y − E[y | past])² )              over the observed values of a sequence
//! NLL        Σ_τ −log p(y_τ | past) / number of observed values          nats per value
//! CRPS       mean over the observed values, each on its own
//! PIT        F(y): uniform on [0, 1] under a calibrated forecast
//! coverage   share of values with (1 − level)/2 ≤ F(y) ≤ (1 + level)/2
//! ```
//!
//! A score is taken per sequence first; means and standard errors are over sequences, because the values of
//! one sequence are not independent. With one output the NLL is the paper's mean over future steps.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::forecast::Forecast;
use super::marginal::check_level;
use crate::{Error, Result};

/// The levels of the central intervals that are reported unless others are asked for.
pub const CENTRAL_LEVELS: [f64; 3] = [0.5, 0.8, 0.95];

/// The share of values inside the central interval of a level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coverage<T> {
    /// The probability that the forecast gives the interval.
    pub level: f64,
    /// The share of values that fell inside.
    pub share: T,
}

/// The scores of one forecast.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SequenceScore {
    /// Number of observed values that entered.
    pub n_observed: usize,
    /// Root mean squared error of the predictive mean.
    pub rmse: f64,
    /// Mean negative log predictive density, in nats per value.
    pub nll: f64,
    /// Mean continuous ranked probability score.
    pub crps: f64,
    /// Coverage of the central intervals, in the order asked for.
    pub coverage: Vec<Coverage<f64>>,
    /// The probability integral transform of every observed value, row by row.
    pub pit: Vec<f64>,
}

/// A mean with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean.
    #[serde(with = "crate::store::number")]
    pub mean: f64,
    /// Its standard error; `None` for fewer than two values.
    pub std_error: Option<f64>,
    /// Number of values.
    pub n: usize,
}

/// Scores over the sequences of a family.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Root mean squared error of the predictive mean.
    pub rmse: Estimate,
    /// Mean negative log predictive density, in nats per value.
    pub nll: Estimate,
    /// Mean continuous ranked probability score.
    pub crps: Estimate,
    /// Coverage of the central intervals.
    pub coverage: Vec<Coverage<Estimate>>,
}

/// Scores `forecast` against the outputs that came; `None` where none of them was observed.
///
/// # Shapes
/// `truth`: `n_time × d_obs`, NaN where missing; `levels`: any number of central intervals.
///
/// # Errors
/// [`Error::Shape`] when the truth does not fit, [`Error::NotFinite`] for an infinite output,
/// [`Error::Setting`] for a level not between 0 and 1.
pub fn score(forecast: &Forecast, truth: &[f64], levels: &[f64]) -> Result<Option<SequenceScore>> {
    check_truth(forecast, truth)?;
    levels.iter().try_for_each(|&level| check_level("level", level))?;
    let d = forecast.d_obs();
    let log_densities = truth.par_chunks_exact(d).enumerate().map(|(t, y)| forecast.log_density(t, y));
    let log_densities = log_densities.collect::<Result<Vec<f64>>>()?;
    let observed: Vec<usize> = (0..truth.len()).filter(|&k| !truth[k].is_nan()).collect();
    if observed.is_empty() {
        return Ok(None);
    }
    let each = |&k: &usize| {
        let marginal = forecast.marginal_at(k / d, k % d);
        (marginal.cdf(truth[k]), marginal.crps(truth[k]))
    };
    let (pit, crps): (Vec<f64>, Vec<f64>) = observed.par_iter().map(each).unzip();
    let (n, mean) = (observed.len() as f64, forecast.mean());
    Ok(Some(SequenceScore {
        n_observed: observed.len(),
        rmse: (observed.iter().map(|&k| (truth[k] - mean[k]).powi(2)).sum::<f64>() / n).sqrt(),
        nll: -log_densities.iter().sum::<f64>() / n,
        crps: crps.iter().sum::<f64>() / n,
        coverage: levels.iter().map(|&level| central_coverage(&pit, level)).collect(),
        pit,
    }))
}

fn check_truth(forecast: &Forecast, truth: &[f64]) -> Result<()> {
    let (n_time, d_obs) = (forecast.n_time(), forecast.d_obs());
    if truth.len() == n_time * d_obs {
        return Ok(());
    }
    let expected = format!("{n_time} steps × {d_obs} outputs");
    Err(Error::shape("true future", expected, format!("{} numbers", truth.len())))
}

fn central_coverage(pit: &[f64], level: f64) -> Coverage<f64> {
    let inside = pit.iter().filter(|&&p| (p - 0.5).abs() <= 0.5 * level).count();
    Coverage { level, share: inside as f64 / pit.len() as f64 }
}

impl Estimate {
    /// The mean of `values` and its standard error, `None` for no values.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let std_error = (n > 1).then(|| (squares / ((n - 1) * n) as f64).sqrt());
        Some(Self { mean, std_error, n })
    }
}

impl Scores {
    /// Means and standard errors over sequences, each sequence counting once.
    ///
    /// # Errors
    /// [`Error::EmptyFamily`] without sequences; [`Error::Shape`] when they were scored at different levels.
    pub fn over(sequences: &[SequenceScore]) -> Result<Self> {
        let levels_of = |one: &SequenceScore| one.coverage.iter().map(|c| c.level).collect::<Vec<_>>();
        let levels = sequences.first().map(levels_of).unwrap_or_default();
        if let Some(other) = sequences.iter().map(levels_of).find(|other| *other != levels) {
            return Err(Error::shape("coverage levels", format!("{levels:?}"), format!("{other:?}")));
        }
        let estimate = |of: &dyn Fn(&SequenceScore) -> f64| {
            Estimate::of(&sequences.iter().map(of).collect::<Vec<_>>())
                .ok_or_else(|| Error::EmptyFamily("no sequence has an observed future to score".into()))
        };
        let coverage = levels.iter().enumerate().map(|(k, &level)| {
            Ok(Coverage { level, share: estimate(&|one: &SequenceScore| one.coverage[k].share)? })
        });
        Ok(Self {
            rmse: estimate(&|one| one.rmse)?,
            nll: estimate(&|one| one.nll)?,
            crps: estimate(&|one| one.crps)?,
            coverage: coverage.collect::<Result<_>>()?,
        })
    }
}

#[cfg(test)]
#[path = "score_tests.rs"]
mod tests;
