//! The prior over codes.

use serde::{Deserialize, Serialize};

use crate::infer::GaussianMixture;
use crate::{Error, Result};

/// What is believed about a code before any observation.
///
/// Learning always uses N(0, I). At test time the aggregate posterior of the training codes, q̄(z) =
/// (1/N) Σ_i q_i(z), can stand in for it where the learned codes do not fill the prior: where members come in kinds, say; and a
/// wider normal where few sequences taught the model, so that new members may lie further out than any of them.
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
    /// A mixture around the codes of the training sequences; see [`AroundMembers`].
    AggregatePosterior(GaussianMixture),
}

/// How what is known of the codes of members becomes a prior over the code of a new one.
///
/// ```text
/// p(z) = (1 − ε) 1/N Σ_i N(z; m_i, S_i + h² I) + ε N(z; 0, τ² I)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AroundMembers {
    /// Standard deviation h of a new code from one that is known.
    pub spread: f64,
    /// Share ε of new members that are like none that is known.
    pub strangers: f64,
    /// Standard deviation τ of the codes of those.
    pub std_dev: f64,
}

impl Prior {
    /// A prior around the codes of members.
    ///
    /// # Errors
    /// [`Error::Setting`] for numbers out of range.
    pub fn around(members: &GaussianMixture, rule: &AroundMembers) -> Result<Self> {
        if !(0.0..=1.0).contains(&rule.strangers) {
            return Err(Error::setting(
                "strangers",
                format!("found {}; expected a share of 0 to 1", rule.strangers),
            ));
        }
        let near = members.blurred(rule.spread)?;
        let anywhere = Self::Normal { std_dev: rule.std_dev }.mixture(members.dim())?;
        let parts = [(1.0 - rule.strangers, &near), (rule.strangers, &anywhere)];
        let parts: Vec<_> = parts.into_iter().filter(|(weight, _)| *weight > 0.0).collect();
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

    /// Two members in one dimension.
    fn members() -> GaussianMixture {
        let means = vec![vec![-1.0], vec![3.0]];
        GaussianMixture::new(vec![0.5, 0.5], means, vec![vec![0.5]; 2]).unwrap()
    }

    fn rule(spread: f64, strangers: f64) -> AroundMembers {
        AroundMembers { spread, strangers, std_dev: 2.0 }
    }

    #[test]
    fn a_prior_around_members_has_the_moments_of_its_formula() {
        let mixture = Prior::around(&members(), &rule(0.3, 0.2)).unwrap().mixture(1).unwrap();
        assert_eq!((mixture.dim(), mixture.len()), (1, 3));
        assert!((mixture.mean()[0] - 0.8).abs() < 1e-12); // of 1 and 0
        let second = 0.8 * (0.5 + 0.09 + 5.0) + 0.2 * 4.0; // members lie at −1 and 3: 5 on average squared
        assert!((mixture.covariance()[0] - (second - 0.64)).abs() < 1e-12);
    }

    #[test]
    fn without_strangers_there_are_members_alone_and_the_other_way_round() {
        let alone = Prior::around(&members(), &rule(0.0, 0.0)).unwrap().mixture(1).unwrap();
        assert_eq!(alone, members());
        let strangers = Prior::around(&members(), &rule(0.0, 1.0)).unwrap().mixture(1).unwrap();
        assert_eq!(strangers, Prior::Normal { std_dev: 2.0 }.mixture(1).unwrap());
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
    fn rules_out_of_range_and_other_lengths_are_refused() {
        for bad in [rule(-0.1, 0.1), rule(0.1, 1.1), rule(0.1, f64::NAN)] {
            assert!(Prior::around(&members(), &bad).unwrap_err().to_string().contains("expected"), "{bad:?}");
        }
        assert!(Prior::around(&members(), &AroundMembers { std_dev: 0.0, ..rule(0.1, 0.1) }).is_err());
        let prior = Prior::around(&members(), &rule(0.1, 0.1)).unwrap();
        assert!(prior.mixture(3).unwrap_err().to_string().contains("3 dimensions"));
    }
}
