//! What an engine computed, so that only equal work is compared.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Numbers that a work computed, from its deterministic inputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Check {
    /// A training step at its start: the same in every engine up to rounding.
    Step(StepCheck),
    /// Posteriors by Monte Carlo: the same up to sampling error.
    Posterior(PosteriorCheck),
    /// Forecasts by Markov chains: the same up to sampling error, where both found the same mode.
    Forecast(ForecastCheck),
}

/// Loss and gradient norms of a training step, at step 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepCheck {
    /// The loss.
    pub loss: f64,
    /// Euclidean norm of the gradient, by parameter: `W1`, `b1`, `W2`, `b2`.
    pub gradient_norms: BTreeMap<String, f64>,
}

/// Posteriors of the code, one entry per sequence.
///
/// # Shapes
/// `mean` and `std_dev` are `n_seq × d_code`; `ess` and `passes` have length `n_seq`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PosteriorCheck {
    /// Posterior mean of z.
    pub mean: Vec<Vec<f64>>,
    /// Posterior standard deviation of z.
    pub std_dev: Vec<Vec<f64>>,
    /// Effective sample size of the final draws.
    pub ess: Vec<f64>,
    /// Adaptation passes taken, over all attempts.
    pub passes: Vec<f64>,
}

impl PosteriorCheck {
    /// What is wrong with the shapes, if anything.
    pub fn shape_problem(&self) -> Option<String> {
        let n_seq = self.mean.len();
        if [self.std_dev.len(), self.ess.len(), self.passes.len()] != [n_seq; 3] {
            return Some(format!("expected std_dev, ess and passes for each of {n_seq} means"));
        }
        let d_code = self.mean.first()?.len();
        let ragged = self.mean.iter().chain(&self.std_dev).any(|row| row.len() != d_code);
        ragged.then(|| format!("expected {d_code} numbers in every row of mean and std_dev"))
    }
}

/// Predicted means of the draws of a chain, one entry per sequence.
///
/// # Shapes
/// `predicted` is `n_seq × n_draws × n_steps`, the draws in the order of the chain; `mode_log_density` has length
/// `n_seq`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForecastCheck {
    /// Mean output of every draw at every step after the observed ones.
    pub predicted: Vec<Vec<Vec<f64>>>,
    /// log p(y, u) at the start of the chain, with the noise at its prior mean.
    pub mode_log_density: Vec<f64>,
}

impl ForecastCheck {
    /// What is wrong with the shapes, if anything.
    pub fn shape_problem(&self) -> Option<String> {
        let n_seq = self.predicted.len();
        if self.mode_log_density.len() != n_seq {
            return Some(format!("expected a mode for each of {n_seq} sequences"));
        }
        let n_steps = self.predicted.first()?.first()?.len();
        let ragged = self.predicted.iter().flatten().any(|draw| draw.len() != n_steps);
        ragged.then(|| format!("expected {n_steps} steps in every draw"))
    }
}
