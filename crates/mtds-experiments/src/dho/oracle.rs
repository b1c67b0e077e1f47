//! The oracle: the exact posterior predictive under the distribution that generated the data.
//!
//! ```text
//! p*(y_τ | y_{1:t}) = ∫ N(y_τ | mean_τ(u), s²) p(u | y_{1:t}) du            u uniform in the unit cube
//! ```
//!
//! On average nothing forecasts better, and no model gives the data a higher evidence log p*(y_{1:t}). The integral is a
//! Monte-Carlo estimate: several independent runs of [`crate::smc`], mixed by their evidences, whose spread
//! tells the error that is left.

use mtds::predict::DrawNoise;
use mtds::random::{Random, stream};
use mtds::{Error, Forecast, Result};
use mtds_data::oscillators::OscillatorParameters;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::truth::{N_PARAMETERS, Point, Truth, mean_paths, parameters_at};
use crate::smc::{self, Stop, Work, systematic};

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

/// What one run knows.
#[derive(Clone, Debug, PartialEq)]
pub struct RunPosterior {
    /// log p*(y_{1:t}).
    pub log_evidence: f64,
    /// Effective sample size of its weighted particles.
    pub ess: f64,
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
}

impl RunPosterior {
    fn new(stop: &Stop<N_PARAMETERS>, n_draws: usize, random: &mut Random) -> Self {
        let chosen = systematic(&stop.weights, n_draws, random.random());
        Self {
            log_evidence: stop.log_evidence,
            ess: stop.ess,
            work: stop.work,
            draws: chosen.into_iter().map(|i| stop.points[i]).collect(),
        }
    }

    /// The parameters of its draws, all of the same weight.
    pub fn parameters(&self) -> impl ExactSizeIterator<Item = OscillatorParameters> {
        self.draws.iter().map(parameters_at)
    }
}

impl OraclePosterior {
    /// How many observations it has seen.
    #[must_use]
    pub fn n_seen(&self) -> usize {
        self.n_seen
    }

    /// The runs, each an independent estimate of the same posterior.
    #[must_use]
    pub fn runs(&self) -> &[RunPosterior] {
        &self.runs
    }

    /// log p*(y_{1:t}): the logarithm of the mean evidence of the runs.
    #[must_use]
    pub fn log_evidence(&self) -> f64 {
        let largest = self.runs.iter().fold(f64::NEG_INFINITY, |most, run| most.max(run.log_evidence));
        let total: f64 = self.runs.iter().map(|run| (run.log_evidence - largest).exp()).sum();
        largest + (total / self.runs.len() as f64).ln()
    }

    /// The standard error of [`Self::log_evidence`] over the runs; `None` for a single one.
    #[must_use]
    pub fn log_evidence_se(&self) -> Option<f64> {
        let evidences: Vec<f64> = self.runs.iter().map(|run| run.log_evidence).collect();
        mtds::predict::Estimate::of(&evidences)?.std_error
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
