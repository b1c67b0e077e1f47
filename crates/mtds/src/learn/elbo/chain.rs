//! Codes of one sequence's segments that stay alike: a walk through the prior in place of independent draws from it.
//!
//! ```text
//! z_1 ~ N(0, I)      z_{j+1} | z_j ~ N(ρ z_j, (1 − ρ²) I)      ρ = e^{−steps between the two / τ}; N(0, I) each by itself
//!
//! KL(q ‖ p) = Σ_j ½ a ((μ_j − ρ μ_{j−1})² + σ_j² + ρ² σ_{j−1}²) − ½ ln a − ½ − ln σ_j      a = 1 / (1 − ρ²)
//! ```
//! Beliefs stay independent of each other; the divergence ties a code to those before and after it. What a minibatch has of it is each of
//! its codes' own part, with the neighbours held where they are.

use super::Gaussians;
use super::beliefs::FreeBeliefs;
use super::bound::Evaluation;
use crate::family::Origin;

/// Strongest correlation of neighbours: closer ones are one code, whose divergence is no number.
const MOST: f64 = 0.9999;

/// Which code is next to which.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chain {
    /// By code: the one before it in its sequence, and their correlation ρ.
    before: Vec<Option<(usize, f64)>>,
    /// The same of the one after it.
    after: Vec<Option<(usize, f64)>>,
}

impl Chain {
    /// Of segments in the order of their sequences; `steps` is τ.
    pub(super) fn new(origins: &[Origin], steps: f64) -> Self {
        let pairs = origins.windows(2).map(|pair| {
            let apart = pair[1].start.saturating_sub(pair[0].start) as f64;
            (pair[0].sequence == pair[1].sequence).then(|| (-apart / steps).exp().min(MOST))
        });
        let correlations: Vec<Option<f64>> = pairs.collect();
        let of = |pair: Option<usize>, other: usize| Some((other, (*correlations.get(pair?)?)?));
        let n = origins.len();
        Self {
            before: (0..n).map(|j| of(j.checked_sub(1), j.wrapping_sub(1))).collect(),
            after: (0..n).map(|j| of(Some(j), j + 1)).collect(),
        }
    }

    /// Turns bounds with the divergence from N(0, I) into those with the divergence from the walk: `places` are the codes, `q` their
    /// beliefs, `all` the parameters of all beliefs and `weight` is β.
    pub(super) fn correct(
        &self,
        (beliefs, all): (FreeBeliefs, &[f32]),
        (places, q): (&[usize], &Gaussians),
        weight: f64,
        found: &mut Evaluation,
    ) {
        let k = beliefs.d_code;
        for (local, &j) in places.iter().enumerate() {
            let of = |place: usize| beliefs.gaussians(all, &[place]);
            let before = self.before[j].map(|(other, rho)| (of(other), rho));
            let after = self.after[j].map(|(other, rho)| (of(other), rho));
            let mut more = 0.0;
            for d in 0..k {
                let at = local * k + d;
                let (mean, variance) = (q.mean[at], (2.0 * q.log_std_dev[at]).exp());
                let (mut d_mean, mut d_log_std_dev) = (0.0, 0.0);
                if let Some((other, rho)) = &before {
                    let (a, step) = (1.0 / (1.0 - rho * rho), mean - rho * other.mean[d]);
                    let variance_before = (2.0 * other.log_std_dev[d]).exp();
                    let squares = step * step + variance + rho * rho * variance_before;
                    more += 0.5 * (a * squares - a.ln() - mean * mean - variance);
                    d_mean += a * step - mean;
                    d_log_std_dev += (a - 1.0) * variance;
                }
                if let Some((other, rho)) = &after {
                    let a = 1.0 / (1.0 - rho * rho);
                    d_mean -= a * rho * (other.mean[d] - rho * mean);
                    d_log_std_dev += a * rho * rho * variance;
                }
                found.beliefs.mean[at] -= weight * d_mean;
                found.beliefs.log_std_dev[at] -= weight * d_log_std_dev;
            }
            found.bounds[local] -= more;
            found.total -= weight * more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_those_of_the_same_sequence() {
        let at = |sequence, start| Origin { sequence, start };
        let chain = Chain::new(&[at(0, 0), at(0, 8), at(2, 0), at(2, 4)], 8.0);
        let near = (-0.5f64).exp();
        assert_eq!(chain.before, [None, Some((0, (-1.0f64).exp())), None, Some((2, near))]);
        assert_eq!(chain.after, [Some((1, (-1.0f64).exp())), None, Some((3, near)), None]);
    }

    /// The divergence of three beliefs from the walk, by its covariance matrix.
    #[test]
    fn the_divergence_is_that_from_the_joint_gaussian() {
        let chain = Chain::new(&[0, 3, 5].map(|start| Origin { sequence: 0, start }), 4.0);
        let (mean, log_std_dev) = ([0.7f32, -0.4, 0.2], [-0.9f32, -0.2, 0.1]);
        let beliefs = FreeBeliefs { n_codes: 3, d_code: 1 };
        let all = [mean, log_std_dev].concat();
        let q = beliefs.gaussians(&all, &[0, 1, 2]);
        let plain: Vec<f64> = (0..3).map(|j| -q.divergence_of(j)[0]).collect();
        let mut found = Evaluation {
            total: plain.iter().sum(),
            bounds: plain,
            ess: None,
            beliefs: Gaussians::zeros(3, 1),
        };
        chain.correct((beliefs, &all), (&[0, 1, 2], &q), 1.0, &mut found);
        // Precision of the walk: three diagonals.
        let (r1, r2) = ((-0.75f64).exp(), (-0.5f64).exp());
        let (a1, a2) = (1.0 / (1.0 - r1 * r1), 1.0 / (1.0 - r2 * r2));
        let diagonal = [a1, a1 + a2 - 1.0, a2];
        let beside = [-a1 * r1, -a2 * r2];
        let log_determinant = (a1 * a2).ln();
        let m = &q.mean;
        let mut want = -0.5 * log_determinant - 1.5;
        for j in 0..3 {
            let variance = (2.0 * q.log_std_dev[j]).exp();
            want += 0.5 * diagonal[j] * (m[j] * m[j] + variance) - q.log_std_dev[j];
        }
        want += beside[0] * m[0] * m[1] + beside[1] * m[1] * m[2];
        assert!((found.total + want).abs() < 1e-6, "{} {want}", -found.total);
        assert!((found.bounds.iter().sum::<f64>() - found.total).abs() < 1e-12);
    }
}
