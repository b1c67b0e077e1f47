//! Iterated adaptive importance sampling: Algorithm 2 of Bird & Williams (2020).
//!
//! ```text
//! q⁰ = the start, tilted          pass n:  u_m ~ q̄ⁿ⁻¹,  w_m = p(y, u_m) / q̄ⁿ⁻¹(u_m)
//! qⁿ = weighted EM(u, w; qⁿ⁻¹)    until ESS ≥ fraction · M, or N_AIS passes
//! q̄  = (1 − δ) q + δ q_broad      then M_final draws of the last q̄
//! ```
//!
//! Differs from the paper: a share δ of every proposal but the first is one broad Gaussian with the start's
//! (tilted) moments, which bounds the weights where the fitted mixture is too narrow, and in an online update
//! half of that share is the prior; the last draws are independent of the fit that they are weighed by, so their mean weight is an unbiased evidence.

use serde::{Deserialize, Serialize};

use super::kmeans::{self, Clusters};
use super::memory::Memory;
use super::weighted::{Normalised, WeightedDraws};
use super::{Diagnostics, GaussianMixture, LogTarget, Method, Posterior, Status, em};
use crate::random::Random;
use crate::{Error, Result};

/// Each retry multiplies the start's covariance by this once more.
const RETRY_TILT: f64 = 1.3;

/// More draws than this, or more components of a mixture, are a slip: they would fill the memory before anything is said.
const MOST_DRAWS: usize = 1 << 24;
const MOST_COMPONENTS: usize = 1 << 10;
/// More rounds than this would not end.
const MOST_ROUNDS: usize = 1 << 14;

/// Settings of adaptive importance sampling; defaults from the paper's table of inference parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdaptiveImportance {
    /// Mixture components, J.
    pub components: usize,
    /// Most passes of adaptation, N_AIS.
    pub passes: usize,
    /// Draws per pass, M.
    pub samples: usize,
    /// Draws of the first pass, M_0.
    pub first_samples: usize,
    /// Draws of the posterior, M_final.
    pub final_samples: usize,
    /// Factor on the covariances of the previous posterior when it is the first proposal.
    pub tilt: f64,
    /// Adaptation stops once the effective sample size is this part of the pass's draws.
    pub stop_ess_fraction: f64,
    /// Smallest effective sample size of the posterior, M_ess; less means a retry.
    pub min_ess: f64,
    /// Most retries, each from a wider start and with more draws.
    pub retries: usize,
    /// EM iterations per pass.
    pub em_iterations: usize,
    /// Most k-means iterations when starting from a prior.
    pub kmeans_iterations: usize,
    /// Share δ of the broad Gaussian in every proposal after the first.
    pub defensive_share: f64,
}

impl Default for AdaptiveImportance {
    fn default() -> Self {
        Self {
            components: 3,
            passes: 7,
            samples: 1000,
            first_samples: 3000,
            final_samples: 3000,
            tilt: 2.0,
            stop_ess_fraction: 0.6,
            min_ess: 100.0,
            retries: 2,
            em_iterations: 3,
            kmeans_iterations: 100,
            defensive_share: 0.1,
        }
    }
}

impl AdaptiveImportance {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`Error::Setting`] naming the setting.
    pub fn validate(&self) -> Result<()> {
        let counts = [
            ("components", self.components, 1..=MOST_COMPONENTS),
            ("passes", self.passes, 1..=MOST_ROUNDS),
            ("samples", self.samples, 1..=MOST_DRAWS),
            ("first_samples", self.first_samples, 1..=MOST_DRAWS),
            ("final_samples", self.final_samples, 1..=MOST_DRAWS),
            ("retries", self.retries, 0..=MOST_ROUNDS),
            ("em_iterations", self.em_iterations, 0..=MOST_ROUNDS),
            ("kmeans_iterations", self.kmeans_iterations, 0..=MOST_ROUNDS),
        ];
        for (name, found, fine) in counts {
            let expected = format!("{} to {}", fine.start(), fine.end());
            check(fine.contains(&found), name, found as f64, &expected)?;
        }
        check(self.tilt.is_finite() && self.tilt >= 1.0, "tilt", self.tilt, "1 or more")?;
        let fraction = self.stop_ess_fraction;
        check(fraction > 0.0 && fraction <= 1.0, "stop_ess_fraction", fraction, "above 0, at most 1")?;
        check(self.min_ess.is_finite() && self.min_ess >= 0.0, "min_ess", self.min_ess, "0 or more")?;
        let share = self.defensive_share;
        check((0.0..1.0).contains(&share), "defensive_share", share, "0 or more, below 1")
    }
}

/// An error for setting `name` unless it is `fine`.
pub(super) fn check(fine: bool, name: &str, found: f64, expected: &str) -> Result<()> {
    if fine { Ok(()) } else { Err(Error::setting(name, format!("found {found}; expected {expected}"))) }
}

/// Where adaptation begins.
#[derive(Clone, Copy, Debug)]
pub enum FirstMixture<'a> {
    /// The prior: drawn from as it is; k-means on its weighted draws gives the first mixture.
    Prior(&'a GaussianMixture),
    /// The mixture of an earlier posterior, of fewer observations: tilted, then adapted.
    Previous(&'a GaussianMixture),
    /// The same, and part of every proposal's defence is the prior: what lies apart is found while it is light.
    Guarded {
        /// The mixture of the earlier posterior.
        previous: &'a GaussianMixture,
        /// The prior, or one Gaussian in its place.
        prior: &'a GaussianMixture,
    },
}

impl FirstMixture<'_> {
    fn mixture(&self) -> &GaussianMixture {
        match self {
            Self::Prior(mixture) | Self::Previous(mixture) | Self::Guarded { previous: mixture, .. } => {
                mixture
            }
        }
    }

    /// The first proposal of this retry.
    fn proposal(&self, settings: &AdaptiveImportance, retry: usize) -> Result<GaussianMixture> {
        let wider = RETRY_TILT.powi(i32::try_from(retry).unwrap_or(i32::MAX));
        match self {
            Self::Prior(prior) if retry == 0 => Ok((*prior).clone()),
            Self::Prior(prior) => prior.tilted(wider),
            Self::Previous(mixture) | Self::Guarded { previous: mixture, .. } => {
                mixture.tilted(settings.tilt * wider)
            }
        }
    }

    /// What shares every proposal with the fit, of this start and its first proposal.
    fn defence(&self, broad: &GaussianMixture) -> Result<GaussianMixture> {
        match self {
            Self::Prior(_) | Self::Previous(_) => broad.collapsed(),
            Self::Guarded { prior, .. } => {
                GaussianMixture::average(&[(0.5, &broad.collapsed()?), (0.5, prior)])
            }
        }
    }
}

/// The posterior of `target`, adapted from `start`.
///
/// Its mixture is the last fit, to start the next update from. Fewer effective draws than `min_ess` is a
/// status of the result; of several retries the one with most effective draws is returned.
///
/// # Errors
/// [`Error::Setting`] for settings out of range, [`Error::Shape`] when target and start differ in dimension.
pub fn adaptive_importance(
    settings: &AdaptiveImportance,
    target: &dyn LogTarget,
    start: FirstMixture<'_>,
    random: &mut Random,
) -> Result<Posterior> {
    settings.validate()?;
    if start.mixture().dim() != target.dim() {
        let expected = format!("{} dimensions, like the target", target.dim());
        return Err(Error::shape("start of the inference", expected, start.mixture().dim()));
    }
    let mut diagnostics = Diagnostics::new(Method::AdaptiveImportance);
    let mut best: Option<Attempt> = None;
    for retry in 0..=settings.retries {
        diagnostics.retries = retry;
        let mut adaptation = Adaptation { settings, target, start, retry, diagnostics: &mut diagnostics };
        let attempt = adaptation.run(random)?;
        let enough = attempt.ess >= settings.min_ess;
        if best.as_ref().is_none_or(|best| attempt.ess > best.ess) {
            best = Some(attempt);
        }
        if enough {
            break;
        }
    }
    let Some(best) = best else { return Err(Error::setting("retries", "no attempt was made")) };
    if best.ess < settings.min_ess {
        diagnostics.status = Status::LowEffectiveSampleSize;
    }
    Ok(Posterior::from_weighted(best.weighted, best.mixture, diagnostics))
}

/// The outcome of one retry.
struct Attempt {
    weighted: WeightedDraws,
    mixture: Option<GaussianMixture>,
    ess: f64,
}

/// One retry under way.
struct Adaptation<'a> {
    settings: &'a AdaptiveImportance,
    target: &'a dyn LogTarget,
    start: FirstMixture<'a>,
    retry: usize,
    diagnostics: &'a mut Diagnostics,
}

impl Adaptation<'_> {
    /// Adapts, then draws the posterior.
    fn run(&mut self, random: &mut Random) -> Result<Attempt> {
        let settings = self.settings;
        let broad = self.start.proposal(settings, self.retry)?;
        let defence = self.start.defence(&broad)?;
        let mut adapted: Option<GaussianMixture> = None;
        let mut memory = Memory::new(self.target.dim(), settings.samples);
        for pass in 0..settings.passes {
            let n = if pass == 0 { settings.first_samples } else { settings.samples };
            let (weighted, found) = self.draw(&self.proposal(adapted.as_ref(), &broad, &defence)?, n, random);
            self.diagnostics.passes += 1;
            let Some(found) = found else { continue };
            let before = match adapted {
                Some(mixture) => mixture,
                None => self.first_mixture(&weighted, &found, &broad, random)?,
            };
            memory.add(&weighted.draws, &found, random);
            adapted = Some(em::fit(&before, memory.draws(), memory.weights(), settings.em_iterations));
            if found.ess >= settings.stop_ess_fraction * weighted.draws.len() as f64 {
                break;
            }
        }
        let proposal = self.proposal(adapted.as_ref(), &broad, &defence)?;
        let (weighted, found) = self.draw(&proposal, settings.final_samples, random);
        Ok(Attempt { weighted, mixture: adapted, ess: found.map_or(0.0, |f| f.ess) })
    }

    /// What the next draws come from: the start until there is a fit, then the fit with its defence.
    fn proposal(
        &self,
        adapted: Option<&GaussianMixture>,
        broad: &GaussianMixture,
        defence: &GaussianMixture,
    ) -> Result<GaussianMixture> {
        let share = self.settings.defensive_share;
        match adapted {
            None if matches!(self.start, FirstMixture::Prior(_) | FirstMixture::Previous(_)) => {
                Ok(broad.clone())
            }
            None => GaussianMixture::average(&[(1.0 - share, broad), (share, defence)]),
            Some(mixture) if share == 0.0 => Ok(mixture.clone()),
            Some(mixture) => GaussianMixture::average(&[(1.0 - share, mixture), (share, defence)]),
        }
    }

    /// Draws and weighs, more draws in later retries, and keeps the books.
    fn draw(
        &mut self,
        proposal: &GaussianMixture,
        n: usize,
        random: &mut Random,
    ) -> (WeightedDraws, Option<Normalised>) {
        let n = n * (1 + self.retry);
        let weighted = WeightedDraws::draw(self.target, proposal, n, random);
        self.diagnostics.evaluations += n;
        self.diagnostics.nonfinite += weighted.nonfinite;
        let found = weighted.normalised();
        (weighted, found)
    }

    /// The mixture that the first EM fit starts from.
    fn first_mixture(
        &self,
        weighted: &WeightedDraws,
        found: &Normalised,
        broad: &GaussianMixture,
        random: &mut Random,
    ) -> Result<GaussianMixture> {
        match self.start {
            FirstMixture::Previous(_) | FirstMixture::Guarded { .. } => Ok(broad.clone()),
            FirstMixture::Prior(_) => {
                let settings = self.settings;
                let clusters =
                    Clusters { count: settings.components, iterations: settings.kmeans_iterations };
                kmeans::start(&weighted.draws, &found.weights, clusters, broad, random)
            }
        }
    }
}
