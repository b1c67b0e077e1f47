//! How far the training sequences spread around one system, in all and at each step.
//!
//! ```text
//! s² = Σ_it r_it² / n                        over all observed residuals r of an output
//! s_t² = (Σ_i r_it² + s²) / (n_t + 1)        over those at step t, and one pseudo-observation of s²
//! ```
//! The pseudo-observation keeps a step that few sequences reach from claiming certainty.

use serde::{Deserialize, Serialize};

use super::likelihood::LEAST_NOISE;

/// The noise of a pooled forecast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// S, as learned: the same at every step.
    #[default]
    Constant,
    /// The spread of the training residuals at each step, independent between outputs; beyond the longest
    /// training sequence, their spread over all steps.
    ByStep,
}

/// Sums of squared residuals of a family by step and output, in model units.
#[derive(Clone, Debug)]
pub(crate) struct Residuals {
    d_obs: usize,
    /// n_time × p.
    squares: Vec<f64>,
    /// n_time × p.
    counts: Vec<usize>,
}

impl Residuals {
    pub(crate) fn new(n_time: usize, d_obs: usize) -> Self {
        Self { d_obs, squares: vec![0.0; n_time * d_obs], counts: vec![0; n_time * d_obs] }
    }

    /// Adds a residual; `at` is step × p + output.
    pub(crate) fn add(&mut self, at: usize, residual: f64) {
        self.squares[at] += residual * residual;
        self.counts[at] += 1;
    }

    /// s of every output.
    pub(crate) fn overall_std(&self) -> Vec<f64> {
        let output = |d: usize| {
            let squares: f64 = self.squares.iter().skip(d).step_by(self.d_obs).sum();
            let n: usize = self.counts.iter().skip(d).step_by(self.d_obs).sum();
            (squares / n.max(1) as f64).sqrt().max(LEAST_NOISE)
        };
        (0..self.d_obs).map(output).collect()
    }

    /// s_t of every output at `n_time` steps from `first` (counted from 0) on: n_time × p.
    pub(crate) fn step_std(&self, first: usize, n_time: usize) -> Vec<f64> {
        let overall = self.overall_std();
        let each = |at: usize| {
            let squares = self.squares.get(at).copied().unwrap_or(0.0);
            let n = self.counts.get(at).copied().unwrap_or(0);
            ((squares + overall[at % self.d_obs].powi(2)) / (n + 1) as f64).sqrt()
        };
        (first * self.d_obs..(first + n_time) * self.d_obs).map(each).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let mut residuals = Residuals::new(2, 2);
        [(0, 3.0), (0, -1.0), (2, 2.0), (1, 0.5)].into_iter().for_each(|(at, r)| residuals.add(at, r));
        let s = [(14.0f64 / 3.0).sqrt(), 0.5];
        assert_eq!(residuals.overall_std(), s);
        let expected = [(10.0 + 14.0 / 3.0) / 3.0, 0.25, (4.0 + 14.0 / 3.0) / 2.0, 0.25, 14.0 / 3.0, 0.25];
        for (found, expected) in residuals.step_std(0, 3).iter().zip(expected) {
            assert!((found * found - expected).abs() < 1e-12, "{found} {expected}");
        }
        assert_eq!(residuals.step_std(1, 1), residuals.step_std(0, 3)[2..4]);
        assert_eq!(Residuals::new(1, 1).overall_std(), [LEAST_NOISE]);
    }
}
