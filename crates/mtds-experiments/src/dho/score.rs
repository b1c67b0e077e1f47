//! Scores of forecasts of the test sequences: a model is shown the past, and answers for the future.
//!
//! ```text
//! RMSE   √ mean over τ = t+1 … T of (y_τ − E[y_τ | y_{1:t}])²          against noisy outputs: floor 0.05
//! NLL    mean over τ of −log p(y_τ | y_{1:t})                         each step on its own
//! ```

use mtds::predict::{CENTRAL_LEVELS, Estimate, SequenceScore, score};
use mtds::random::stream;
use mtds::{Error, Family, Forecast, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::oracle::{Oracle, OraclePosterior};
use super::protocol::TestSet;

/// A learned model, ready to follow new sequences.
pub trait Predictor: Sync {
    /// Begins to follow test sequence number `sequence`, of which nothing has been seen.
    ///
    /// The number is for drawing from a random stream of its own.
    ///
    /// # Errors
    /// Whatever the model finds wrong.
    fn follow(&self, sequence: usize) -> Result<Box<dyn Follower + '_>>;

    /// log p(y_{1:T}) of whole sequences, one each; `None` from a model that has none.
    ///
    /// # Errors
    /// Whatever the model finds wrong.
    fn log_evidences(&self, _whole: &Family) -> Result<Option<Vec<f64>>> {
        Ok(None)
    }
}

/// A model that follows one sequence. The input is the common impulse: 1 at the first step, then 0.
pub trait Follower {
    /// Takes in the outputs that come next.
    ///
    /// # Errors
    /// Whatever the model finds wrong.
    fn observe(&mut self, outputs: &[f64]) -> Result<()>;

    /// The forecast of the `n_time` steps that follow those observed.
    ///
    /// # Errors
    /// Whatever the model finds wrong.
    fn forecast(&mut self, n_time: usize) -> Result<Forecast>;
}

/// The scores of one forecast.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForecastScore {
    /// Observations seen before.
    pub t: usize,
    /// Root mean squared error of the predictive mean.
    pub rmse: f64,
    /// Mean negative log predictive density, in nats per step.
    pub nll: f64,
    /// Mean continuous ranked probability score.
    pub crps: f64,
    /// Share of steps inside the central 50 % interval.
    pub cover50: f64,
    /// Share of steps inside the central 80 % interval.
    pub cover80: f64,
    /// Share of steps inside the central 95 % interval.
    pub cover95: f64,
    /// Monte-Carlo standard error of `rmse`, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rmse_mc_se: Option<f64>,
    /// Monte-Carlo standard error of `nll`, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nll_mc_se: Option<f64>,
}

/// All that is known of a model on one test sequence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SequenceResult {
    /// One per number of observations seen, in increasing order.
    pub scores: Vec<ForecastScore>,
    /// log p(y_{1:T}) of the whole sequence.
    pub log_evidence: Option<f64>,
    /// Its Monte-Carlo standard error, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_evidence_mc_se: Option<f64>,
}

/// Scores a model on every test sequence, side by side in the current thread pool.
///
/// # Errors
/// Those of the model; [`Error::Shape`] for forecasts of other steps, or not one evidence per sequence.
pub fn score_predictor(predictor: &dyn Predictor, test: &TestSet) -> Result<Vec<SequenceResult>> {
    let one = |i: usize| follow_and_score(predictor, test, i);
    let mut results: Vec<_> = (0..test.n_seq()).into_par_iter().map(one).collect::<Result<_>>()?;
    if let Some(evidences) = predictor.log_evidences(test.family())? {
        check_number("log evidences of the test sequences", test.n_seq(), evidences.len())?;
        for (result, evidence) in results.iter_mut().zip(evidences) {
            result.log_evidence = Some(evidence);
        }
    }
    Ok(results)
}

fn follow_and_score(predictor: &dyn Predictor, test: &TestSet, i: usize) -> Result<SequenceResult> {
    let outputs = test.outputs(i);
    let mut follower = predictor.follow(i)?;
    let (mut scores, mut shown) = (vec![], 0);
    for &t in test.seen() {
        follower.observe(&outputs[shown..t])?;
        shown = t;
        let forecast = follower.forecast(outputs.len() - t)?;
        check_number("first step of a forecast", t, forecast.first_step())?;
        scores.push(ForecastScore::of(t, &forecast, &outputs[t..])?);
    }
    Ok(SequenceResult { scores, log_evidence: None, log_evidence_mc_se: None })
}

/// Scores the oracle on every test sequence, with Monte-Carlo errors from its runs.
///
/// Sequence `i` draws from stream `i` of `seed`.
///
/// # Errors
/// Those of [`Oracle::infer`].
pub fn score_oracle(oracle: &Oracle, test: &TestSet, seed: u64) -> Result<Vec<SequenceResult>> {
    let one = |i: usize| {
        let outputs = test.outputs(i);
        let seen: Vec<usize> = test.seen().iter().copied().chain([outputs.len()]).collect();
        let posteriors = oracle.infer(outputs, &seen, &mut stream(seed, i as u64))?;
        let (whole, before) = posteriors.split_last().ok_or_else(no_times)?;
        let scores =
            before.iter().map(|posterior| score_posterior(posterior, outputs)).collect::<Result<_>>()?;
        let (log_evidence, log_evidence_mc_se) = (Some(whole.log_evidence()), whole.log_evidence_se());
        Ok(SequenceResult { scores, log_evidence, log_evidence_mc_se })
    };
    (0..test.n_seq()).into_par_iter().map(one).collect()
}

fn score_posterior(posterior: &OraclePosterior, outputs: &[f64]) -> Result<ForecastScore> {
    let (t, future) = (posterior.n_seen(), &outputs[posterior.n_seen()..]);
    let mut score = ForecastScore::of(t, &posterior.forecast(future.len())?, future)?;
    let runs = posterior.run_forecasts(future.len())?;
    let rmse: Vec<f64> = runs.iter().map(|run| rmse_of_mean(run, future)).collect();
    let nll = runs.iter().map(|run| nll_of_steps(run, future)).collect::<Result<Vec<f64>>>()?;
    score.rmse_mc_se = Estimate::of(&rmse).and_then(|estimate| estimate.std_error);
    score.nll_mc_se = Estimate::of(&nll).and_then(|estimate| estimate.std_error);
    Ok(score)
}

/// RMSE and NLL alone: a run needs no CRPS, which costs most.
fn rmse_of_mean(forecast: &Forecast, future: &[f64]) -> f64 {
    let squares: f64 = forecast.mean().iter().zip(future).map(|(mean, y)| (y - mean).powi(2)).sum();
    (squares / future.len() as f64).sqrt()
}

fn nll_of_steps(forecast: &Forecast, future: &[f64]) -> Result<f64> {
    let log_densities = future.chunks_exact(1).enumerate().map(|(t, y)| forecast.log_density(t, y));
    Ok(-log_densities.sum::<Result<f64>>()? / future.len() as f64)
}

impl ForecastScore {
    /// The scores of `forecast` against the outputs that came after `t` observations.
    ///
    /// # Errors
    /// [`Error::Shape`] for a forecast of another number of steps, or a future without outputs;
    /// [`Error::NotFinite`] for a score that is not finite.
    pub fn of(t: usize, forecast: &Forecast, future: &[f64]) -> Result<Self> {
        let scored = score(forecast, future, &CENTRAL_LEVELS)?.ok_or_else(no_times)?;
        let SequenceScore { rmse, nll, crps, ref coverage, .. } = scored;
        let [cover50, cover80, cover95] = std::array::from_fn(|k| coverage[k].share);
        let (rmse_mc_se, nll_mc_se) = (None, None);
        let score = Self { t, rmse, nll, crps, cover50, cover80, cover95, rmse_mc_se, nll_mc_se };
        score.check()?;
        Ok(score)
    }

    /// # Errors
    /// [`Error::NotFinite`] for the first score that is not finite.
    pub(super) fn check(&self) -> Result<()> {
        let all = [
            ("rmse", self.rmse),
            ("nll", self.nll),
            ("crps", self.crps),
            ("cover50", self.cover50),
            ("cover80", self.cover80),
            ("cover95", self.cover95),
            ("rmse_mc_se", self.rmse_mc_se.unwrap_or(0.0)),
            ("nll_mc_se", self.nll_mc_se.unwrap_or(0.0)),
        ];
        match all.into_iter().find(|(_, value)| !value.is_finite()) {
            Some((name, value)) => {
                let what = format!("{name} after {} observations", self.t);
                Err(Error::NotFinite { what, value, hint: "; the forecast gives the outputs no density" })
            }
            None => Ok(()),
        }
    }
}

fn no_times() -> Error {
    Error::Shape { what: "observed future".into(), expected: "at least 1 output".into(), found: "0".into() }
}

/// # Errors
/// [`Error::Shape`] when the numbers differ.
pub(super) fn check_number(what: &str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Error::Shape { what: what.into(), expected: expected.to_string(), found: found.to_string() })
}

#[cfg(test)]
#[path = "score_tests.rs"]
mod tests;
