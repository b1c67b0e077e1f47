//! The prior over codes.

use serde::{Deserialize, Serialize};

use crate::infer::{GaussianMixture, Posterior};
use crate::{Error, Result};

/// What is believed about a code before any observation.
///
/// Learning always uses N(0, I). At test time the aggregate posterior of the training codes, q̄(z) =
/// (1/N) Σ_i q_i(z), can stand in for it where the learned codes do not fill the prior; and a wider normal where few
/// sequences taught the model, so that new members may lie further out than any of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Prior {
    /// N(0, I).
    #[default]
    StandardNormal,
    /// N(0, τ² I).
    Normal {
        /// Standard deviation τ of every dimension, above 0.
        std_dev: f64,
    },
    /// A mixture fitted to the posteriors of the training sequences.
    AggregatePosterior(GaussianMixture),
}

impl Prior {
    /// The aggregate posterior (1/N) Σ_i q_i of these posteriors, as a prior over codes of length `d_code`.
    ///
    /// Dimensions beyond the code (an inferred noise) are left out. With more than `most` components in all,
    /// the mixtures of the posteriors are first collapsed to one Gaussian each.
    ///
    /// # Errors
    /// No posterior, or none that has a mixture.
    pub fn aggregate(posteriors: &[Posterior], d_code: usize, most: usize) -> Result<Self> {
        let dims: Vec<usize> = (0..d_code).collect();
        let mixtures = posteriors.iter().filter_map(Posterior::mixture);
        let codes = mixtures.map(|m| m.marginal(&dims)).collect::<Result<Vec<_>>>()?;
        let total: usize = codes.iter().map(GaussianMixture::len).sum();
        let codes = match total > most {
            true => codes.iter().map(GaussianMixture::collapsed).collect::<Result<Vec<_>>>()?,
            false => codes,
        };
        let parts: Vec<(f64, &GaussianMixture)> = codes.iter().map(|m| (1.0, m)).collect();
        GaussianMixture::average(&parts).map(Self::AggregatePosterior)
    }

    /// The density over codes of length `d_code`.
    ///
    /// # Errors
    /// As [`Prior::check`], and no dimension at all.
    pub fn mixture(&self, d_code: usize) -> Result<GaussianMixture> {
        self.check(d_code)?;
        match self {
            Self::StandardNormal => GaussianMixture::standard_normal(d_code),
            Self::Normal { std_dev } => {
                let mut covariance = vec![0.0; d_code * d_code];
                (0..d_code).for_each(|i| covariance[i * d_code + i] = std_dev * std_dev);
                GaussianMixture::new(vec![1.0], vec![vec![0.0; d_code]], vec![covariance])
            }
            Self::AggregatePosterior(mixture) => Ok(mixture.clone()),
        }
    }

    /// Whether it is a prior over codes of length `d_code`; a normal one fits any code, also none at all.
    ///
    /// # Errors
    /// [`Error::Setting`] for a standard deviation that is not above 0, or whose square is 0 or not finite;
    /// [`Error::Shape`] for a mixture of another dimension.
    pub fn check(&self, d_code: usize) -> Result<()> {
        match self {
            Self::Normal { std_dev } if !(*std_dev > 0.0 && (std_dev * std_dev).is_normal()) => {
                let why =
                    format!("found standard deviation {std_dev}; expected above 0 and finite, squared, too");
                Err(Error::setting("prior", why))
            }
            Self::AggregatePosterior(mixture) if mixture.dim() != d_code => {
                Err(Error::shape("aggregate posterior", format!("{d_code} dimensions"), mixture.dim()))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::{Diagnostics, Method, Points};

    fn posterior(mean: f64) -> Posterior {
        let mixture =
            GaussianMixture::new(vec![1.0], vec![vec![mean, 9.0]], vec![vec![0.5, 0.0, 0.0, 1.0]]).unwrap();
        let draws = Points::from_points(2, &[vec![mean, 9.0]]).unwrap();
        Posterior::from_equal_draws(draws, Some(mixture), Diagnostics::new(Method::AdaptiveImportance))
            .unwrap()
    }

    #[test]
    fn the_aggregate_has_the_moments_of_all_posteriors() {
        let prior = Prior::aggregate(&[posterior(-1.0), posterior(3.0)], 1, 10).unwrap();
        let mixture = prior.mixture(1).unwrap();
        assert_eq!((mixture.dim(), mixture.len()), (1, 2));
        assert!((mixture.mean()[0] - 1.0).abs() < 1e-12);
        assert!((mixture.covariance()[0] - (0.5 + 4.0)).abs() < 1e-12); // within and between
    }

    #[test]
    fn a_normal_prior_has_its_deviation_in_every_dimension() {
        let wide = Prior::Normal { std_dev: 1.5 }.mixture(2).unwrap();
        assert_eq!(
            (wide.component_mean(0), wide.covariance()),
            (&[0.0, 0.0][..], vec![2.25, 0.0, 0.0, 2.25])
        );
        let same = Prior::Normal { std_dev: 1.0 }.mixture(3).unwrap();
        assert_eq!(same, Prior::StandardNormal.mixture(3).unwrap());
    }

    #[test]
    fn a_deviation_that_makes_no_density_is_refused() {
        for std_dev in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e200, 1e-200] {
            let prior = Prior::Normal { std_dev };
            let why = prior.check(2).unwrap_err().to_string();
            assert!(why.contains("standard deviation"), "{why}");
            assert_eq!(prior.mixture(2).unwrap_err().to_string(), why);
        }
        assert!(Prior::Normal { std_dev: 2.0 }.check(0).is_ok());
    }

    #[test]
    fn nothing_to_aggregate_and_other_lengths_are_refused() {
        assert!(Prior::aggregate(&[], 1, 10).is_err());
        let prior = Prior::aggregate(&[posterior(0.0)], 2, 10).unwrap();
        assert!(prior.mixture(3).unwrap_err().to_string().contains("3 dimensions"));
    }
}
