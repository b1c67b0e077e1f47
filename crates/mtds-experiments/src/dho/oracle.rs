//! The oracle: the exact posterior predictive under the distribution that generated the data.
//!
//! ```text
//! p*(y_τ | y_{1:t}) = ∫ N(y_τ | mean_τ(u), s²) p(u | y_{1:t}) du            u uniform in the unit cube
//! ```
//!
//! On average nothing forecasts better, and no model gives the data a higher evidence log p*(y_{1:t}). The integral is a
//! Monte-Carlo estimate: several independent runs of [`crate::smc`], mixed by their evidences, whose spread
//! tells the error that is left.

use mtds::evaluate::{Estimate, Forecaster, Origin};
use mtds::parts::DrawNoise;
use mtds::random::{Random, Stream, stream};
use mtds::{Error, Family, Forecast, Result};
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::illustration::SHOWN;
use super::truth::{N_PARAMETERS, Point, Truth, mean_paths};
use crate::smc::{self, Stop, Work, log_mean_exp, systematic};

/// Settings of the oracle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Oracle {
    /// Settings of one run.
    pub sampler: smc::Settings,
    /// Independent runs; 4. Monte-Carlo errors need two.
    pub runs: usize,
    /// Draws of each run that a forecast is made of; 1 024.
    pub draws: usize,
    /// Standard deviation s of the noise, which the oracle knows; 0.05.
    pub noise_std: f64,
}

impl Default for Oracle {
    fn default() -> Self {
        Self { sampler: smc::Settings::default(), runs: 4, draws: 1024, noise_std: 0.05 }
    }
}

/// What the oracle knows after `n_seen` observations.
#[derive(Clone, Debug, PartialEq)]
pub struct OraclePosterior {
    n_seen: usize,
    noise_std: f64,
    runs: Vec<RunPosterior>,
}

/// What the oracle knows of every sequence of a family.
#[derive(Clone, Debug, PartialEq)]
pub struct OracleKnowledge {
    /// Of each sequence: after every number of observations that was asked for, and after all.
    posteriors: Vec<Vec<OraclePosterior>>,
}

/// Monte-Carlo standard errors of what the oracle is scored by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MonteCarloErrors {
    /// Of the RMSE, by number of observations seen and sequence.
    pub rmse: Vec<Vec<f64>>,
    /// Of the NLL, likewise.
    pub nll: Vec<Vec<f64>>,
    /// Of the log evidence of each sequence.
    pub log_evidence: Vec<f64>,
}

/// What one run knows: an independent estimate of the same posterior.
#[derive(Clone, Debug, PartialEq)]
pub struct RunPosterior {
    /// log p*(y_{1:t}).
    pub log_evidence: f64,
    /// What it took to get here.
    pub work: Work,
    /// Draws of equal weight.
    draws: Vec<Point>,
}

impl Oracle {
    /// The posteriors after `seen` numbers of observations, in increasing order.
    ///
    /// `outputs` are y_1, y_2, …, NaN where missing.
    ///
    /// # Errors
    /// [`Error::Setting`] for settings outside their ranges or `seen` that does not increase; [`Error::Shape`]
    /// when more is to be seen than there is; [`Error::NotFinite`] for an infinite output.
    pub fn infer(
        &self,
        outputs: &[f64],
        seen: &[usize],
        random: &mut Random,
    ) -> Result<Vec<OraclePosterior>> {
        for (name, found) in [("runs", self.runs), ("draws", self.draws)] {
            if found == 0 {
                return Err(Error::Setting { name: name.into(), why: "found 0; expected at least 1".into() });
            }
        }
        let truth = Truth::new(outputs, self.noise_std)?;
        let seed = random.random();
        let mut posteriors: Vec<_> = seen
            .iter()
            .map(|&n_seen| OraclePosterior { n_seen, noise_std: self.noise_std, runs: vec![] })
            .collect();
        for run in 0..self.runs {
            let mut random = stream(seed, run as u64);
            let stops = smc::run(&truth, seen, &self.sampler, &mut random)?;
            for (posterior, stop) in posteriors.iter_mut().zip(stops) {
                posterior.runs.push(RunPosterior::new(&stop, self.draws, &mut random));
            }
        }
        Ok(posteriors)
    }

    /// The posteriors of all sequences after `seen` numbers of observations, side by side in the current thread pool.
    ///
    /// Sequence `i` draws from stream `i` of `seed`.
    ///
    /// # Errors
    /// Those of [`Self::infer`].
    pub fn follow(&self, family: &Family, seen: &[usize], seed: u64) -> Result<OracleKnowledge> {
        let one = |i: usize| {
            let outputs = family.sequence(i).outputs().values();
            let seen: Vec<usize> = seen.iter().copied().chain([outputs.len()]).collect();
            self.infer(outputs, &seen, &mut stream(seed, i as u64))
        };
        let posteriors = (0..family.n_seq()).into_par_iter().map(one).collect::<Result<_>>()?;
        Ok(OracleKnowledge { posteriors })
    }

    /// The oracle as it begins anew at every origin, for sequences that are shown.
    pub(super) fn anew(&self, seed: u64) -> impl Forecaster {
        let oracle = *self;
        move |family: &Family, i: usize, origins: &[Origin]| {
            let random = &mut stream(seed, Stream::Illustration((SHOWN + i) as u64));
            let outputs = family.sequence(i).outputs().values();
            let one = |origin: &Origin| {
                let posteriors = oracle.infer(&outputs[..origin.seen], &[origin.seen], random)?;
                posteriors[0].forecast(origin.n_time)
            };
            origins.iter().map(one).collect()
        }
    }
}

impl Forecaster for OracleKnowledge {
    fn forecasts(&self, _family: &Family, i: usize, origins: &[Origin]) -> Result<Vec<Forecast>> {
        let one = |&Origin { seen, n_time }: &Origin| {
            let nothing = || {
                let why = format!("found {seen}, after which nothing was inferred");
                Error::Setting { name: "origin".into(), why }
            };
            let posterior = self.posteriors[i].iter().find(|posterior| posterior.n_seen == seen);
            posterior.ok_or_else(nothing)?.forecast(n_time)
        };
        origins.iter().map(one).collect()
    }
}

impl OracleKnowledge {
    /// log p*(y_{1:T}) of each whole sequence.
    #[must_use]
    pub fn log_evidences(&self) -> Vec<f64> {
        self.posteriors.iter().filter_map(|all| all.last()).map(OraclePosterior::log_evidence).collect()
    }

    /// How far runs differ in what they say of the sequences of `family`, of which this is the knowledge; `None` for a single run.
    ///
    /// # Errors
    /// None for the family that was followed.
    pub fn monte_carlo_errors(&self, family: &Family) -> Result<Option<MonteCarloErrors>> {
        let n_times = self.posteriors.first().map_or(0, |all| all.len() - 1);
        let mut errors = MonteCarloErrors {
            rmse: vec![vec![]; n_times],
            nll: vec![vec![]; n_times],
            log_evidence: vec![],
        };
        for (posteriors, sequence) in self.posteriors.iter().zip(family.sequences()) {
            for (k, posterior) in posteriors[..n_times].iter().enumerate() {
                let future = &sequence.outputs().values()[posterior.n_seen..];
                let runs = posterior.run_forecasts(future.len())?;
                let rmse: Vec<f64> = runs.iter().map(|run| rmse_of_mean(run, future)).collect();
                let nll = runs.iter().map(|run| nll_of_steps(run, future)).collect::<Result<Vec<f64>>>()?;
                errors.rmse[k].extend(std_error(&rmse));
                errors.nll[k].extend(std_error(&nll));
            }
            errors.log_evidence.extend(posteriors.last().and_then(OraclePosterior::log_evidence_se));
        }
        Ok((errors.log_evidence.len() == family.n_seq()).then_some(errors))
    }
}

fn std_error(values: &[f64]) -> Option<f64> {
    Estimate::of(values)?.std_error
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

impl RunPosterior {
    fn new(stop: &Stop<N_PARAMETERS>, n_draws: usize, random: &mut Random) -> Self {
        let chosen = systematic(&stop.weights, n_draws, random.random());
        Self {
            log_evidence: stop.log_evidence,
            work: stop.work,
            draws: chosen.into_iter().map(|i| stop.points[i]).collect(),
        }
    }
}

impl OraclePosterior {
    /// How many observations it has seen.
    #[must_use]
    pub fn n_seen(&self) -> usize {
        self.n_seen
    }

    /// The runs.
    #[must_use]
    pub fn runs(&self) -> &[RunPosterior] {
        &self.runs
    }

    /// log p*(y_{1:t}): the logarithm of the mean evidence of the runs.
    #[must_use]
    pub fn log_evidence(&self) -> f64 {
        log_mean_exp(&self.evidences())
    }

    /// The standard error of [`Self::log_evidence`] over the runs; `None` for a single one.
    #[must_use]
    pub fn log_evidence_se(&self) -> Option<f64> {
        std_error(&self.evidences())
    }

    fn evidences(&self) -> Vec<f64> {
        self.runs.iter().map(|run| run.log_evidence).collect()
    }

    /// The forecast of the `n_time` steps that follow, runs mixed by their evidence.
    ///
    /// # Errors
    /// [`Error::Shape`] for no steps.
    pub fn forecast(&self, n_time: usize) -> Result<Forecast> {
        let evidence = self.log_evidence();
        let weight = |run: &RunPosterior| (run.log_evidence - evidence).exp();
        let weights = self.runs.iter().flat_map(|run| vec![weight(run); run.draws.len()]).collect();
        let draws: Vec<Point> = self.runs.iter().flat_map(|run| &run.draws).copied().collect();
        self.forecast_of(&draws, weights, n_time)
    }

    /// The forecast by every run on its own.
    ///
    /// # Errors
    /// [`Error::Shape`] for no steps.
    pub fn run_forecasts(&self, n_time: usize) -> Result<Vec<Forecast>> {
        let of_run = |run: &RunPosterior| self.forecast_of(&run.draws, vec![1.0; run.draws.len()], n_time);
        self.runs.iter().map(of_run).collect()
    }

    fn forecast_of(&self, draws: &[Point], weights: Vec<f64>, n_time: usize) -> Result<Forecast> {
        let means = mean_paths(draws, self.n_seen..self.n_seen + n_time);
        let noise = DrawNoise::Diagonal(vec![self.noise_std; draws.len()]);
        Forecast::new(self.n_seen, 1, weights, means, noise)
    }
}

#[cfg(test)]
#[path = "oracle_tests.rs"]
mod tests;
