//! How far a sequence lies outside of what a family does: errors that no code of the family explains.
//!
//! ```text
//! Q(z) = Σ_t Σ_d e_td(z)² − 2 log p(z) / max_j p(m_j)        e: standardised errors one step ahead; m_j: modes of the prior
//! q    = min_z Q(z) / n                                      over draws of the posterior; n values observed
//! ```
//! Where outputs are linear in a code with a normal prior, y ~ N(m, S + H Hᵀ) and min_z Q = (y − m)ᵀ (S + H Hᵀ)⁻¹ (y − m):
//! chi-squared with n degrees of freedom, so that q has mean 1. Neither errors alone would do, as a code far outside explains
//! much, nor the code alone, as one that explains nothing stays where the prior is.
//!
//! No model is quite right: members that it was learned from have a q of their own, whose 95 % quantile, at least 1, is the unit
//! here. A sequence is called far outside when q is [`MARGIN`] times as large as n right values would give with a
//! probability of one in a million.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::Result;
use crate::family::Signal;
use crate::infer::{Points, Posterior};
use crate::model::Model;
use crate::system::System;

/// How much more than chance explains must be seen: members differ from each other by more than the model knows.
const MARGIN: f64 = 3.0;
/// Probability of a false alarm about values that the model is right about.
const ONE_IN_A_MILLION: f64 = 1e-6;
/// Sum of squares that stands for all that is larger.
const HUGE: f64 = 1e12;
/// Draws of the posterior that are tried besides its mean, the heaviest ones.
const TRIED: usize = 8;
/// The share of members that lie at or below the unit.
const USUAL: f64 = 0.95;

/// Squared standardised errors of what was seen, against those of members; nothing seen by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Misfit {
    /// Sum of squares, in units of those of members.
    squares: f64,
    /// Values that entered.
    n: f64,
}

impl Misfit {
    /// This, of which only the share `kept` still counts, and one more step: the sum of the squared standardised errors of the `n` values
    /// observed of it, in units of those that are `usual`.
    #[must_use]
    pub fn then(self, kept: f64, (squares, n): (f64, usize), usual: f64) -> Self {
        if n == 0 {
            return self;
        }
        // What has no end could not be stored, and would never fade.
        let squares = if squares.is_nan() { HUGE } else { (squares / usual).min(HUGE) };
        Self { squares: kept * self.squares + squares, n: kept * self.n + n as f64 }
    }

    /// Root mean square of the errors, 1 where a sequence is like members; `None` where nothing was observed.
    #[must_use]
    pub fn size(&self) -> Option<f64> {
        (self.n > 0.0).then(|| (self.squares / self.n).sqrt())
    }

    /// Whether nothing that the family does explains what was seen.
    #[must_use]
    pub fn is_far_outside(&self) -> bool {
        let found = self.squares / self.n;
        // NaN, as from numbers that overflow, is far outside, too.
        self.n > 0.0 && (found.is_nan() || found > MARGIN * quantile(self.n))
    }
}

/// The quantile of χ²_n / n that one in a million exceeds; infinite where nothing was seen.
fn quantile(n: f64) -> f64 {
    ChiSquared::new(n).map_or(f64::INFINITY, |squares| squares.inverse_cdf(1.0 - ONE_IN_A_MILLION) / n)
}

impl System {
    /// min Q over some codes, and the number of values that entered.
    fn unexplained(
        &self,
        codes: &Points,
        (outputs, inputs): (&Signal, Option<&Signal>),
    ) -> Result<(f64, usize)> {
        let k = self.d_code();
        let prior = self.prior().mixture(k)?;
        let log_density = |points: &Points| {
            let mut out = vec![0.0; points.len()];
            prior.log_density(points, &mut out);
            out
        };
        let modes: Vec<Vec<f64>> = (0..prior.len()).map(|j| prior.component_mean(j).to_vec()).collect();
        let highest =
            log_density(&Points::from_points(k, &modes)?).into_iter().fold(f64::NEG_INFINITY, f64::max);
        let (mut least, mut n) = (f64::INFINITY, 0);
        for (i, of_code) in log_density(codes).into_iter().enumerate() {
            let errors = self.innovations(&codes.point(i), outputs, inputs)?;
            let seen = || errors.values().iter().filter(|e| !e.is_nan());
            let squares: f64 = seen().map(|e| e * e).sum();
            n = seen().count();
            least = least.min(squares + 2.0 * (highest - of_code).max(0.0));
        }
        Ok((least, n))
    }
}

/// The 95 % quantile of q over members, at least 1; codes as they are known after all of each.
///
/// # Errors
/// Sequences that the system cannot take.
pub(crate) fn usual_misfit(system: &System, members: &[(&[f64], &Signal, Option<&Signal>)]) -> Result<f64> {
    let one = |&(code, outputs, inputs): &(&[f64], &Signal, Option<&Signal>)| {
        let codes = Points::from_points(code.len(), &[code.to_vec()])?;
        let (squares, n) = system.unexplained(&codes, (outputs, inputs))?;
        Ok((n > 0).then(|| squares / n as f64).filter(|q| q.is_finite()))
    };
    let found: Vec<Option<f64>> = members.par_iter().map(one).collect::<Result<_>>()?;
    let mut found: Vec<f64> = found.into_iter().flatten().collect();
    found.sort_by(f64::total_cmp);
    let at = (found.len() as f64 * USUAL) as usize;
    Ok(found.get(at.min(found.len().saturating_sub(1))).map_or(1.0, |q| q.max(1.0)))
}

impl Model {
    /// How far a sequence lies outside of what the family does, given what is known of its code.
    ///
    /// # Shapes
    /// `outputs`: n_time × d_obs; `inputs`: at least n_time × d_input; data units.
    ///
    /// # Errors
    /// Outputs or inputs that do not fit the model.
    pub fn misfit(
        &self,
        (outputs, inputs): (&Signal, Option<&Signal>),
        posterior: &Posterior,
    ) -> Result<Misfit> {
        let k = self.system.d_code();
        let weights = posterior.weights();
        let mut heaviest: Vec<usize> = (0..weights.len()).collect();
        heaviest.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
        let draws = heaviest.into_iter().take(TRIED).map(|i| posterior.draws().point(i)[..k].to_vec());
        let tried: Vec<Vec<f64>> = std::iter::once(posterior.mean()[..k].to_vec()).chain(draws).collect();
        let (squares, n) = self.system.unexplained(&Points::from_points(k, &tried)?, (outputs, inputs))?;
        Ok(Misfit { squares: squares / self.usual_misfit, n: n as f64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles of χ²_n by SciPy: `chi2.isf(1e-6, n) / n`.
    #[test]
    fn the_limit_is_that_of_chi_squared() {
        for (n, expected) in
            [(1.0, 23.928_13), (2.0, 13.815_51), (5.0, 7.177_64), (20.0, 3.271_03), (100.0, 1.821_27)]
        {
            assert!((quantile(n) / expected - 1.0).abs() < 1e-4, "{n}: {}", quantile(n));
        }
    }

    #[test]
    fn errors_add_up_old_ones_fade_and_missing_ones_do_not_count() {
        let nothing = Misfit::default().then(1.0, (0.0, 0), 1.0);
        assert_eq!((nothing.size(), nothing.is_far_outside()), (None, false));
        let two = nothing.then(1.0, (9.0, 1), 1.0).then(0.5, (2.0, 2), 1.0);
        assert_eq!((two.squares, two.n), (6.5, 2.5));
        assert_eq!(Misfit::default().then(1.0, (16.0, 1), 4.0).size(), Some(2.0));
        let steady = (0..50).fold(Misfit::default(), |all, _| all.then(0.95, (2.25, 1), 1.0));
        assert!(!steady.is_far_outside() && steady.then(0.95, (1e4, 1), 1.0).is_far_outside());
        for endless in [f64::INFINITY, f64::NAN] {
            let found = steady.then(0.95, (endless, 1), 1.0);
            assert!(found.is_far_outside() && found.squares.is_finite());
        }
    }
}
