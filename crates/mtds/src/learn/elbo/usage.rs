//! How much of the code a model uses.
//!
//! A base model that explains every sequence without its code leaves q_j at the prior, or moves all of them alike (posterior collapse). A
//! dimension counts as active where the variance of its means over codes is above [`LEAST`], as in Burda, Grosse & Salakhutdinov (2016),
//! *Importance Weighted Autoencoders*, section 5.2. Its divergence from the prior does not count: it may be large where all members have the same.

use serde::{Deserialize, Serialize};

use super::Gaussians;

/// Variance of means above which a dimension is active.
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
        let active = variance_of_means.iter().filter(|variance| **variance > LEAST).count();
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
        // Beliefs that are all the same tell no member from another, however sure they are.
        let mut alike = at_prior.clone();
        (0..4).for_each(|j| (alike.mean[j * 3], alike.log_std_dev[j * 3]) = (0.5, -1.0));
        let usage = CodeUsage::of(&alike);
        assert_eq!((usage.active, usage.status), (0, UsageStatus::Collapsed));
        assert!((usage.divergence[0] - (0.5 * ((-2f64).exp() + 0.25 - 1.0) + 1.0)).abs() < 1e-12);
        let mut spread = alike.clone();
        (0..4).for_each(|j| spread.mean[j * 3] = j as f64);
        assert_eq!(
            (CodeUsage::of(&spread).active, CodeUsage::of(&spread).status),
            (1, UsageStatus::PartlyUsed)
        );
        let spread = Gaussians { d_code: 1, mean: vec![-0.11, 0.11], log_std_dev: vec![0.0; 2] };
        assert_eq!(CodeUsage::of(&spread).status, UsageStatus::Used);
        let barely = Gaussians { d_code: 1, mean: vec![-0.09, 0.09], log_std_dev: vec![0.0; 2] };
        assert_eq!(CodeUsage::of(&barely).status, UsageStatus::Collapsed);
    }
}
