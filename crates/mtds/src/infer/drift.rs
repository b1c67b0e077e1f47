//! Codes that drift: a random walk that stands still over stretches and moves between them.
//!
//! ```text
//! z_{j+1} = z_j + ε_j      ε_j ~ N(0, L σ² I)      stretches of L steps, L about half the history
//! ```
//! Over L steps the code moves as far as one that takes a step of N(0, σ² I) each time. Within the stored history the posterior is
//! that of a code that stands still; where the history begins, the belief about it is widened by what it may have moved since.
//! The state there belongs to the code of before: it is carried as a function of the code that the walk came to.

use rand_distr::{Distribution, StandardNormal};

use super::{GaussianMixture, Points};
use crate::random::Random;
use crate::{Error, Result};

/// How far a code may move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drift {
    /// σ, per step and dimension of the code.
    pub(crate) std_dev: f64,
    /// L.
    pub(crate) stretch: usize,
    pub(crate) d_code: usize,
}

/// Checks the settings of a drift.
pub(super) fn check(std_dev: Option<f64>, history: Option<usize>) -> Result<()> {
    match (std_dev, history) {
        (Some(found), _) if !(found.is_finite() && found > 0.0) => {
            Err(Error::setting("drift", format!("found {found}; expected above 0")))
        }
        (Some(_), None) => {
            let why =
                "found no history; a code that drifts is taken to stand still over half a history: set one";
            Err(Error::setting("history", why))
        }
        _ => Ok(()),
    }
}

impl Drift {
    fn variance(&self) -> f64 {
        self.std_dev * self.std_dev * self.stretch as f64
    }

    /// Codes after one move; dimensions behind the code stay.
    pub(crate) fn moved(&self, points: &Points, random: &mut Random) -> Points {
        let (mut moved, spread) = (points.clone(), self.variance().sqrt());
        for d in 0..self.d_code {
            for x in moved.column_mut(d) {
                let step: f64 = StandardNormal.sample(random);
                *x += spread * step;
            }
        }
        moved
    }

    /// The belief after one move.
    ///
    /// # Errors
    /// None for a mixture that is one.
    pub(crate) fn widened(&self, mixture: &GaussianMixture) -> Result<GaussianMixture> {
        let (n, dim) = (mixture.len(), mixture.dim());
        let wide = |j: usize| {
            let mut covariance = mixture.component_covariance(j).to_vec();
            (0..self.d_code).for_each(|d| covariance[d * dim + d] += self.variance());
            covariance
        };
        let means = (0..n).map(|j| mixture.component_mean(j).to_vec()).collect();
        GaussianMixture::new(mixture.weights().to_vec(), means, (0..n).map(wide).collect())
    }
}
