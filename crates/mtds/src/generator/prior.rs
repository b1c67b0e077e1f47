//! The prior over codes.

use serde::{Deserialize, Serialize};

use crate::infer::GaussianMixture;
use crate::{Error, Result};

/// What is believed about a code before any observation.
///
/// Learning always uses N(0, I); at test time the aggregate posterior of the training codes, q̄(z) =
/// (1/N) Σ_i q_i(z), can stand in for it where the learned codes do not fill the prior.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Prior {
    /// N(0, I).
    #[default]
    StandardNormal,
    /// A mixture fitted to the posteriors of the training sequences.
    AggregatePosterior(GaussianMixture),
}

impl Prior {
    /// The density over codes of length `d_code`.
    ///
    /// # Errors
    /// A stored mixture of another dimension.
    pub fn mixture(&self, d_code: usize) -> Result<GaussianMixture> {
        match self {
            Self::StandardNormal => GaussianMixture::standard_normal(d_code),
            Self::AggregatePosterior(mixture) if mixture.dim() == d_code => Ok(mixture.clone()),
            Self::AggregatePosterior(mixture) => {
                Err(Error::shape("aggregate posterior", format!("{d_code} dimensions"), mixture.dim()))
            }
        }
    }
}
