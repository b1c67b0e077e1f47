//! How much of the code a model uses.
//!
//! A base model that explains every sequence without its code leaves q_j at the prior (posterior collapse). A dimension
//! counts as active where its divergence from the prior, averaged over codes, or the variance of its means over
//! codes is above [`LEAST`].

use serde::{Deserialize, Serialize};

use super::Gaussians;

/// Divergence in nats, or variance of means, above which a dimension is active.
pub const LEAST: f64 = 0.01;

/// Whether the code is used. A status, not an error: the model is what was learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageStatus {
    /// Every dimension is active.
    Used,
    /// Some are not: a shorter code would do.
    PartlyUsed,
    /// None is: every sequence is told by the same parameters. Begin with a hard phase, let the weight of the
    /// divergence grow more slowly, or learn shared parameters at a lower rate.
    Collapsed,
}

/// Use of the code over all codes that were learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CodeUsage {
    /// Mean divergence from the prior by dimension, in nats.
    pub divergence: Vec<f64>,
    /// Variance of the means over codes, by dimension.
    pub variance_of_means: Vec<f64>,
    /// Number of active dimensions.
    pub active: usize,
    /// Whether the code is used.
    pub status: UsageStatus,
}

impl CodeUsage {
    /// Of these codes.
    #[must_use]
    pub fn of(codes: &Gaussians) -> Self {
        let mut divergence = vec![0.0; codes.d_code];
        for j in 0..codes.len() {
            for (sum, kl) in divergence.iter_mut().zip(codes.divergence_of(j)) {
                *sum += kl / codes.len() as f64;
            }
        }
        let variance_of_means = codes.variance_of_means();
        let is_active = |(kl, variance): &(&f64, &f64)| **kl > LEAST || **variance > LEAST;
        let active = divergence.iter().zip(&variance_of_means).filter(is_active).count();
        let status = match active {
            0 => UsageStatus::Collapsed,
            n if n < codes.d_code => UsageStatus::PartlyUsed,
            _ => UsageStatus::Used,
        };
        Self { divergence, variance_of_means, active, status }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collapse_is_a_status_and_dimensions_are_counted() {
        let at_prior = Gaussians::zeros(4, 3);
        let usage = CodeUsage::of(&at_prior);
        assert_eq!((usage.active, usage.status), (0, UsageStatus::Collapsed));
        let mut narrow = at_prior.clone();
        (0..4).for_each(|j| narrow.log_std_dev[j * 3] = -1.0);
        let usage = CodeUsage::of(&narrow);
        assert_eq!((usage.active, usage.status), (1, UsageStatus::PartlyUsed));
        assert!((usage.divergence[0] - (0.5 * ((-2f64).exp() - 1.0) + 1.0)).abs() < 1e-12);
        let spread = Gaussians { d_code: 1, mean: vec![-0.11, 0.11], log_std_dev: vec![0.0; 2] };
        assert_eq!(CodeUsage::of(&spread).status, UsageStatus::Used);
        let barely = Gaussians { d_code: 1, mean: vec![-0.09, 0.09], log_std_dev: vec![0.0; 2] };
        assert_eq!(CodeUsage::of(&barely).status, UsageStatus::Collapsed);
    }
}
