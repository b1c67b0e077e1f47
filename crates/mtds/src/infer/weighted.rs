//! One round of importance sampling: draw from a proposal, evaluate the target, weigh.
//!
//! ```text
//! u_i ~ q      log w_i = log p(y, u_i) − log q(u_i)      w̃_i = w_i / Σ w      ESS = 1 / Σ w̃²
//! p(y) ≈ (1/n) Σ w_i
//! ```

use super::target::{self, LogTarget};
use super::{GaussianMixture, Points, hot};
use crate::random::Random;

/// Draws of a proposal with their un-normalised log weights.
#[derive(Clone, Debug)]
pub(crate) struct WeightedDraws {
    pub(crate) draws: Points,
    pub(crate) log_weights: Vec<f64>,
    /// Target values that were NaN or `+inf`.
    pub(crate) nonfinite: usize,
}

/// Weights that sum to one, and what they say.
#[derive(Clone, Debug)]
pub(crate) struct Normalised {
    pub(crate) weights: Vec<f64>,
    pub(crate) ess: f64,
    /// Log of the mean un-normalised weight.
    pub(crate) log_evidence: f64,
}

impl WeightedDraws {
    /// `n` draws of `proposal`, weighed against `target`.
    pub(crate) fn draw(
        target: &dyn LogTarget,
        proposal: &GaussianMixture,
        n: usize,
        random: &mut Random,
    ) -> Self {
        let draws = proposal.sample(n, random);
        let mut log_weights = vec![0.0; n];
        let mut nonfinite = target::evaluate(target, &draws, &mut log_weights);
        let mut log_proposal = vec![0.0; n];
        proposal.log_density(&draws, &mut log_proposal);
        log_weights.iter_mut().zip(&log_proposal).for_each(|(w, q)| *w -= q);
        // A draw whose own density underflows would weigh infinitely much.
        nonfinite += target::forbid_nonfinite(&mut log_weights);
        Self { draws, log_weights, nonfinite }
    }

    /// Normalised weights; `None` when every draw is impossible.
    pub(crate) fn normalised(&self) -> Option<Normalised> {
        let highest = self.log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if highest == f64::NEG_INFINITY {
            return None;
        }
        let mut weights: Vec<f64> =
            self.log_weights.iter().map(|w| hot::exp_nonpositive(w - highest)).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= sum);
        let ess = effective_size(&weights);
        Some(Normalised { ess, log_evidence: highest + (sum / weights.len() as f64).ln(), weights })
    }
}

/// Kish's effective sample size of weights that sum to one.
pub(crate) fn effective_size(weights: &[f64]) -> f64 {
    1.0 / weights.iter().map(|w| w * w).sum::<f64>()
}
