//! A global search for codes: a belief jumps to the best of many points of the prior where that beats its mean.
//!
//! ```text
//! μ_j ← argmax over z ∈ {μ_j, z_1 … z_M} of τ log p(Y_j | z) + β log p(z),      z_m: shifted Sobol points of N(0, I)
//! ```
//! with temperature τ and weight β of the step, as in the bound: in the hard phase β = 0, and the prior has no say.
//! Where the likelihood has many modes (a frequency that is off by half a turn), gradients keep a belief at the one it
//! started in. Deviations stay as they are. The points are those of the step, so that a resumed run finds the same.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::{Beliefs, FIXED, VariationalObjective};
use crate::kernel::normal;
use crate::random::stream;
use crate::system::{Codes, OwnPull};

/// Points of a search come in blocks, which some engines work on together.
const BLOCK: usize = 16;

/// When to search, and among how many points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeSearch {
    /// Steps from one search to the next.
    pub every: u64,
    /// The last step at which to search.
    pub until: u64,
    /// Points M, rounded up so that they and the mean are a multiple of sixteen.
    pub points: usize,
}

impl CodeSearch {
    pub(super) fn is_due(&self, step: u64) -> bool {
        step <= self.until && step.is_multiple_of(self.every.max(1))
    }
}

impl VariationalObjective {
    /// Lets free beliefs jump, if a search is due.
    pub(super) fn search(&mut self, parameters: &mut [f32], step: u64) {
        let (Some(search), &Beliefs::Free(free)) = (self.settings.search, &self.beliefs) else { return };
        if !search.is_due(step) {
            return;
        }
        let k = free.d_code;
        let n_points = (search.points + 1).next_multiple_of(BLOCK);
        let points = self.search_points(n_points, step);
        let (model, beliefs) = parameters.split_at_mut(self.model.n_parameters());
        let candidate = |j: usize, m: usize, d: usize| match m {
            0 => f64::from(beliefs[j * k + d]),
            _ => points[m * k + d],
        };
        let code_of = &self.data.code_of;
        let at = |m: usize, d: usize| candidate(code_of[m / n_points], m % n_points, d);
        let codes = Codes::from_fn(code_of.len() * n_points, k, at);
        let found = self.model.own_gradient(model, &codes, &self.data.batch, OwnPull::Nothing);
        let terms = self.terms(step);
        let value = |j: usize, m: usize| {
            let likelihoods = self.members[j].iter().map(|i| found.log_likelihoods[i * n_points + m]);
            let log_prior = -0.5 * (0..k).map(|d| candidate(j, m, d).powi(2)).sum::<f64>();
            terms.temperature * likelihoods.sum::<f64>() + terms.divergence_weight * log_prior
        };
        let best: Vec<usize> =
            (0..self.members.len()).map(|j| best_point(n_points, |m| value(j, m))).collect();
        for (j, &m) in best.iter().enumerate().filter(|(_, m)| **m > 0) {
            (0..k).for_each(|d| beliefs[j * k + d] = points[m * k + d] as f32);
        }
    }

    /// Points of the prior, n × k, under the shift of this step.
    fn search_points(&mut self, n: usize, step: u64) -> Vec<f64> {
        let mut random = stream(FIXED, step);
        let shift: Vec<f64> = (0..self.model.d_code()).map(|_| random.random()).collect();
        let moved = |(at, u): (usize, &f32)| {
            let u = f64::from(*u) + shift[at % shift.len()];
            normal::quantile((u - u.floor()).clamp(3e-8, 1.0 - 3e-8))
        };
        self.sobol.unit_points(n).iter().enumerate().map(moved).collect()
    }
}

/// The place of the best point; 0, the mean, unless another is better.
fn best_point(n_points: usize, value: impl Fn(usize) -> f64) -> usize {
    // A value that is no number is never better.
    (1..n_points).fold(0, |best, m| if value(m) > value(best) { m } else { best })
}
