//! A Gaussian per sequence that its codes are drawn from, and that learns where they weigh most.
//!
//! ```text
//! z ~ r = a N(μ, Σ) + b N(μ, 4Σ) + c N(0, I)        a, b, c = shares of K: 55 %, 30 %, 15 %
//! m = Σ_k w_k z_k,   S = Σ_k w_k z_k z_kᵀ           e = 0.2 (ESS − 1) / (ESS + 5)
//! μ ← μ + e (m − μ),   Σ + μμᵀ ← (1 − e)(Σ + μμᵀ) + e S,   Σ ← Σ + 2e-5 I
//! ```
//! The wide Gaussian and the prior bound the weights; the step e is small where few draws count.

use serde::{Deserialize, Serialize};

use crate::algebra::{cholesky, invert_lower, log_diagonal_sum};
use crate::infer::GaussianMixture;
use crate::kernel::normal;

/// Shares of the wide Gaussian and of the prior among the draws.
const SHARES: [f64; 2] = [0.3, 0.15];
/// Standard deviations of the wide Gaussian relative to the narrow one.
const WIDE: f64 = 2.0;
/// Largest step of the moments.
const RATE: f64 = 0.2;
/// Added to every variance; codes have prior variance one.
const RIDGE: f64 = 2e-5;

/// N(μ_i, Σ_i) of one sequence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// μ, k values.
    pub mean: Vec<f64>,
    /// Σ, row-major k × k.
    pub covariance: Vec<f64>,
}

/// Draws of one sequence's proposal.
#[derive(Clone, Debug)]
pub(crate) struct Draws {
    /// Codes, n × k.
    pub(crate) codes: Vec<f64>,
    /// log p(z) − log r(z) per draw.
    pub(crate) log_ratios: Vec<f64>,
}

impl Proposal {
    /// The prior, N(0, I).
    #[must_use]
    pub fn prior(dim: usize) -> Self {
        let mut covariance = vec![0.0; dim * dim];
        (0..dim).for_each(|d| covariance[d * dim + d] = 1.0);
        Self { mean: vec![0.0; dim], covariance }
    }

    /// The same as a mixture of one component; `None` where its covariance is none.
    pub(crate) fn mixture(&self) -> Option<GaussianMixture> {
        GaussianMixture::new(vec![1.0], vec![self.mean.clone()], vec![self.covariance.clone()]).ok()
    }

    fn dim(&self) -> usize {
        self.mean.len()
    }

    /// Draws made of `uniforms`, n × k values in (0, 1): the narrow ones first, those of the prior last.
    pub(crate) fn draw(&self, uniforms: &[f64]) -> Draws {
        let dim = self.dim();
        let n = uniforms.len() / dim;
        let [n_wide, n_prior] = SHARES.map(|share| (share * n as f64) as usize);
        let n_narrow = n - n_wide - n_prior;
        let factor = cholesky(&self.covariance, dim).unwrap_or_else(|| Self::prior(dim).covariance);
        let inverse = invert_lower(&factor, dim);
        let log_volume = log_diagonal_sum(&factor, dim);
        let log_share = |count: usize| (count as f64 / n as f64).ln();
        let density = Density {
            log_narrow: log_share(n_narrow) - log_volume,
            log_wide: log_share(n_wide) - log_volume - dim as f64 * WIDE.ln(),
            log_prior: log_share(n_prior),
        };
        let mut draws = Draws { codes: Vec::with_capacity(n * dim), log_ratios: Vec::with_capacity(n) };
        let mut e = vec![0.0; dim];
        for (k, u) in uniforms.chunks_exact(dim).enumerate() {
            e.iter_mut().zip(u).for_each(|(e, &u)| *e = normal::quantile(u));
            let code = if k < n_narrow + n_wide {
                let scale = if k < n_narrow { 1.0 } else { WIDE };
                self.move_to(&factor, &e, scale)
            } else {
                e.clone()
            };
            draws.log_ratios.push(density.log_ratio(&code, &self.mean, &inverse));
            draws.codes.extend(code);
        }
        draws
    }

    /// μ + scale · L e.
    fn move_to(&self, factor: &[f64], e: &[f64], scale: f64) -> Vec<f64> {
        let dim = self.dim();
        (0..dim)
            .map(|a| self.mean[a] + scale * (0..=a).map(|b| factor[a * dim + b] * e[b]).sum::<f64>())
            .collect()
    }

    /// Moves the moments towards those of weighted draws, as far as their number of effective draws allows.
    pub(crate) fn follow(&mut self, codes: &[f64], weights: &[f64], rate: f64) {
        let dim = self.dim();
        let ess = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
        let step = rate * (ess - 1.0) / (ess + 5.0);
        if !step.is_finite() {
            return;
        }
        let (mut mean, mut square) = (vec![0.0; dim], vec![0.0; dim * dim]);
        for (code, &w) in codes.chunks_exact(dim).zip(weights) {
            for a in 0..dim {
                mean[a] += w * code[a];
                for b in 0..dim {
                    square[a * dim + b] += w * code[a] * code[b];
                }
            }
        }
        let old = self.mean.clone();
        for a in 0..dim {
            self.mean[a] += step * (mean[a] - old[a]);
        }
        for a in 0..dim {
            for b in 0..dim {
                let before = self.covariance[a * dim + b] + old[a] * old[b];
                let moment = before + step * (square[a * dim + b] - before);
                let ridge = if a == b { RIDGE } else { 0.0 };
                self.covariance[a * dim + b] = moment - self.mean[a] * self.mean[b] + ridge;
            }
        }
    }

    /// [`Proposal::follow`] at the rate of learning.
    pub(crate) fn follow_slowly(&mut self, codes: &[f64], weights: &[f64]) {
        self.follow(codes, weights, RATE);
    }
}

/// log r, up to the constant that it shares with log p.
struct Density {
    log_narrow: f64,
    log_wide: f64,
    log_prior: f64,
}

impl Density {
    /// log p(z) − log r(z).
    fn log_ratio(&self, code: &[f64], mean: &[f64], inverse: &[f64]) -> f64 {
        let dim = code.len();
        let log_p = -0.5 * code.iter().map(|z| z * z).sum::<f64>();
        let mut square = 0.0;
        for a in 0..dim {
            let y: f64 = (0..=a).map(|b| inverse[a * dim + b] * (code[b] - mean[b])).sum();
            square += y * y;
        }
        let parts = [
            self.log_narrow - 0.5 * square,
            self.log_wide - 0.5 * square / (WIDE * WIDE),
            self.log_prior + log_p,
        ];
        let largest = parts.into_iter().fold(f64::NEG_INFINITY, f64::max);
        log_p - largest - parts.iter().map(|p| (p - largest).exp()).sum::<f64>().ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;
    use rand::RngExt;

    fn uniforms(n: usize, seed: u64) -> Vec<f64> {
        let mut random = stream(seed, 0);
        (0..n).map(|_| random.random_range(1e-9..1.0)).collect()
    }

    fn proposal() -> Proposal {
        Proposal { mean: vec![0.5, -0.8], covariance: vec![0.3, 0.1, 0.1, 0.2] }
    }

    /// E_r[p / r] = 1 and E_r[p / r · z²] = 1, to five standard errors of 40 000 draws.
    #[test]
    fn weighted_draws_have_the_prior_s_moments() {
        let draws = proposal().draw(&uniforms(80_000, 1));
        let ratios: Vec<f64> = draws.log_ratios.iter().map(|r| r.exp()).collect();
        let check = |values: Vec<f64>, wanted: f64| {
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
            assert!((mean - wanted).abs() < 5.0 * (variance / n).sqrt(), "{mean}, expected {wanted}");
        };
        check(ratios.clone(), 1.0);
        for d in 0..2 {
            let squares = draws.codes.chunks(2).zip(&ratios).map(|(z, r)| r * z[d] * z[d]);
            check(squares.collect(), 1.0);
        }
    }

    #[test]
    fn moments_follow_draws_of_another_gaussian() {
        let target = proposal();
        let mut found = Proposal::prior(2);
        for step in 0..300 {
            let draws = found.draw(&uniforms(256, step));
            let inverse = invert_lower(&cholesky(&target.covariance, 2).unwrap(), 2);
            // target / r = (p / r) / (p / target), with a density that has the target's part only.
            let only = Density { log_narrow: 0.0, log_wide: f64::NEG_INFINITY, log_prior: f64::NEG_INFINITY };
            let log_weight = |(z, ratio): (&[f64], &f64)| ratio - only.log_ratio(z, &target.mean, &inverse);
            let weights: Vec<f64> =
                draws.codes.chunks(2).zip(&draws.log_ratios).map(|pair| log_weight(pair).exp()).collect();
            let total: f64 = weights.iter().sum();
            let weights: Vec<f64> = weights.iter().map(|w| w / total).collect();
            found.follow_slowly(&draws.codes, &weights);
        }
        for (found, wanted) in found.mean.iter().zip(&target.mean) {
            assert!((found - wanted).abs() < 0.1, "{found} {wanted}");
        }
        for (found, wanted) in found.covariance.iter().zip(&target.covariance) {
            assert!((found - wanted).abs() < 0.1, "{found} {wanted}");
        }
    }

    #[test]
    fn one_heavy_draw_moves_nothing() {
        let mut found = proposal();
        found.follow_slowly(&[9.0, 9.0, 0.0, 0.0], &[1.0, 0.0]);
        assert_eq!(found.mean, proposal().mean);
    }
}
