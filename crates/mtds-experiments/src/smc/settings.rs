//! How many particles the sampler carries and how far it moves them.

use mtds::{Error, Result};
use serde::{Deserialize, Serialize};

/// Settings of [`super::run`]; the defaults suit a posterior in four dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Sobol points of the prior to begin with; 32 768, at most 65 536.
    pub prior_points: usize,
    /// Effective sample size below which the points of the prior are left; 2 048.
    pub prior_ess: f64,
    /// Chains of a stage; 256.
    pub chains: usize,
    /// Share of the particles that must stay effective before the next stage; 0.5.
    pub ess_share: f64,
    /// Accepted proposals per chain at which the chains of a stage end; 5.
    pub accepted_moves: f64,
    /// Fewest sweeps of a stage; 10.
    pub min_sweeps: usize,
    /// Most sweeps of a stage; 60.
    pub max_sweeps: usize,
    /// Most stages; beyond them terms are taken in whole, and the effective sample size tells; 500.
    pub max_stages: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            prior_points: 1 << 15,
            prior_ess: 2048.0,
            chains: 256,
            ess_share: 0.5,
            accepted_moves: 5.0,
            min_sweeps: 10,
            max_sweeps: 60,
            max_stages: 500,
        }
    }
}

impl Settings {
    /// # Errors
    /// [`Error::Setting`] for the first setting outside its range.
    pub(super) fn check(&self) -> Result<()> {
        let points = self.prior_points;
        let checks = [
            ("prior_points", (2..=1 << 16).contains(&points), "2 to 65536", points as f64),
            (
                "prior_ess",
                (1.0..points as f64).contains(&self.prior_ess),
                "1 to prior_points",
                self.prior_ess,
            ),
            ("chains", self.chains >= 2, "at least 2", self.chains as f64),
            ("ess_share", self.ess_share > 0.0 && self.ess_share < 1.0, "between 0 and 1", self.ess_share),
            ("accepted_moves", self.accepted_moves >= 0.0, "at least 0", self.accepted_moves),
            ("min_sweeps", self.min_sweeps >= 1, "at least 1", self.min_sweeps as f64),
            ("max_sweeps", self.max_sweeps >= self.min_sweeps, "at least min_sweeps", self.max_sweeps as f64),
        ];
        match checks.iter().find(|check| !check.1) {
            Some((name, _, expected, found)) => {
                let why = format!("found {found}; expected {expected}");
                Err(Error::Setting { name: (*name).into(), why })
            }
            None => Ok(()),
        }
    }
}
