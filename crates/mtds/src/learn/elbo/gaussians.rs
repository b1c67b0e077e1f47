//! A Gaussian with independent dimensions for every code, and the gradient of a bound with respect to it.
//!
//! ```text
//! q_j(z) = Π_d N(z_d | μ_jd, σ_jd²)           ρ = log σ
//! KL_jd = ½ (μ² + σ² − 1) − ρ                 to the prior N(0, 1), in nats
//! ```

use serde::{Deserialize, Serialize};

use crate::infer::GaussianMixture;
use crate::{Error, Result};

/// q_j of N codes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gaussians {
    /// Length k of a code.
    pub d_code: usize,
    /// μ, N × k.
    pub mean: Vec<f64>,
    /// ρ = log σ, N × k.
    pub log_std_dev: Vec<f64>,
}

impl Gaussians {
    /// All zeros: N(0, I), and the gradient of a constant.
    pub(crate) fn zeros(n_codes: usize, d_code: usize) -> Self {
        Self { d_code, mean: vec![0.0; n_codes * d_code], log_std_dev: vec![0.0; n_codes * d_code] }
    }

    /// Number of codes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.mean.len().checked_div(self.d_code).unwrap_or(0)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.mean.is_empty()
    }

    /// μ_j, k values.
    #[must_use]
    pub fn mean_of(&self, j: usize) -> &[f64] {
        &self.mean[j * self.d_code..(j + 1) * self.d_code]
    }

    /// ρ_j, k values.
    #[must_use]
    pub fn log_std_dev_of(&self, j: usize) -> &[f64] {
        &self.log_std_dev[j * self.d_code..(j + 1) * self.d_code]
    }

    /// KL_jd of one code, k values.
    #[must_use]
    pub fn divergence_of(&self, j: usize) -> Vec<f64> {
        let pairs = self.mean_of(j).iter().zip(self.log_std_dev_of(j));
        pairs.map(|(mean, rho)| 0.5 * (mean * mean + (2.0 * rho).exp_m1()) - rho).collect()
    }

    /// q_j as a mixture of one component, what inference and priors take.
    ///
    /// # Errors
    /// A mean or a deviation that makes no density.
    pub fn mixture(&self, j: usize) -> Result<GaussianMixture> {
        if j >= self.len() {
            return Err(Error::setting("code", format!("found {j}; there are {}", self.len())));
        }
        let k = self.d_code;
        let mut covariance = vec![0.0; k * k];
        for (d, rho) in self.log_std_dev_of(j).iter().enumerate() {
            covariance[d * k + d] = (2.0 * rho).exp();
        }
        GaussianMixture::new(vec![1.0], vec![self.mean_of(j).to_vec()], vec![covariance])
    }

    /// Standard deviation of the means over codes, k values.
    pub(crate) fn spread(&self) -> Vec<f64> {
        self.variance_of_means().into_iter().map(f64::sqrt).collect()
    }

    /// Variance of the means over codes, k values.
    pub(crate) fn variance_of_means(&self) -> Vec<f64> {
        let n = self.len().max(1) as f64;
        let column = |d: usize| self.mean.iter().skip(d).step_by(self.d_code);
        let variance = |d: usize| {
            let mean = column(d).sum::<f64>() / n;
            column(d).map(|x| (x - mean) * (x - mean)).sum::<f64>() / n
        };
        (0..self.d_code).map(variance).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divergence_is_that_of_the_integral() {
        let q = Gaussians { d_code: 1, mean: vec![0.7], log_std_dev: vec![-0.9] };
        let sigma = (-0.9f64).exp();
        // Σ q (log q − log p) on a fine grid of ε.
        let h = 1e-3;
        let terms = (-8000..=8000).map(|i| {
            let e = f64::from(i) * h;
            let z = 0.7 + sigma * e;
            let density = (-0.5 * e * e).exp() / std::f64::consts::TAU.sqrt();
            density * h * (-0.5 * e * e + 0.9 + 0.5 * z * z)
        });
        assert!((terms.sum::<f64>() - q.divergence_of(0)[0]).abs() < 1e-9);
        assert_eq!(Gaussians::zeros(3, 2).divergence_of(2), [0.0, 0.0]);
    }

    #[test]
    fn spread_is_per_dimension_and_mixtures_have_the_moments() {
        let q = Gaussians { d_code: 2, mean: vec![1.0, 5.0, 3.0, 5.0], log_std_dev: vec![0.5; 4] };
        assert_eq!((q.spread(), q.len()), (vec![1.0, 0.0], 2));
        let mixture = q.mixture(1).unwrap();
        assert_eq!(mixture.component_mean(0), [3.0, 5.0]);
        assert!((mixture.covariance()[3] - 1f64.exp()).abs() < 1e-12);
        assert!(q.mixture(2).is_err());
    }
}
