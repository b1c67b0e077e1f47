//! Maximum a posteriori with Laplace's approximation, and importance weights that keep it honest.
//!
//! ```text
//! climb from S starts  →  modes u*_j, Λ_j  →  q = Σ α_j N(u*_j, Λ_j⁻¹)
//! u_i ~ (1 − δ) q + δ N(prior mean, prior covariance),   w_i = p(y, u_i) / proposal(u_i)
//! ```
//!
//! The draws are weighed against the target, so effective sample size, Pareto k̂ and evidence say how far
//! Laplace's approximation can be trusted.

use serde::{Deserialize, Serialize};

use super::bfgs::{self, Climb, Limits, Outcome};
use super::importance::check;
use super::target::{self, SmoothTarget};
use super::weighted::WeightedDraws;
use super::{Diagnostics, GaussianMixture, Method, Points, Posterior, Status, laplace};
use crate::Control;
use crate::random::Random;
use crate::{Error, Result};

/// A mode may be this many times as wide as the prior, in variance.
const WIDEST: f64 = 4.0;

/// Settings of MAP with Laplace's approximation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MapLaplace {
    /// Climbs: from the means of the prior's components, then from draws of it.
    pub starts: usize,
    /// Most rounds; each evaluates every climb that is under way once.
    pub max_iterations: usize,
    /// A climb has converged when its next step would gain less log density than this.
    pub tolerance: f64,
    /// Weighted draws of the posterior.
    pub draws: usize,
    /// Smallest effective sample size that counts as converged.
    pub min_ess: f64,
    /// Share δ of the prior's Gaussian in the proposal.
    pub defensive_share: f64,
}

impl Default for MapLaplace {
    fn default() -> Self {
        Self {
            starts: 16,
            max_iterations: 200,
            tolerance: 1e-8,
            draws: 3000,
            min_ess: 100.0,
            defensive_share: 0.05,
        }
    }
}

impl MapLaplace {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`Error::Setting`] naming the setting.
    pub fn validate(&self) -> Result<()> {
        let counts =
            [("starts", self.starts), ("max_iterations", self.max_iterations), ("draws", self.draws)];
        if let Some((name, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return Err(Error::setting(*name, "found 0; expected 1 or more"));
        }
        check(self.tolerance.is_finite() && self.tolerance > 0.0, "tolerance", self.tolerance, "above 0")?;
        check(self.min_ess.is_finite() && self.min_ess >= 0.0, "min_ess", self.min_ess, "0 or more")?;
        let share = self.defensive_share;
        check((0.0..1.0).contains(&share), "defensive_share", share, "0 or more, below 1")
    }
}

/// The posterior of `target` from its modes; the means of its mixture are the modes.
///
/// `prior` gives starts and scale; the target has its own prior inside. Status: `IterationLimit` if no climb
/// came to rest, `LowEffectiveSampleSize` if Laplace's approximation does not fit, `NoSupport` if no
/// start has a finite density.
///
/// # Errors
/// [`Error::Setting`] for settings out of range, [`Error::Shape`] when target and prior differ in dimension.
pub fn map_laplace(
    settings: &MapLaplace,
    target: &dyn SmoothTarget,
    prior: &GaussianMixture,
    random: &mut Random,
) -> Result<Posterior> {
    settings.validate()?;
    let d = target.dim();
    if prior.dim() != d {
        return Err(Error::shape("prior", format!("{d} dimensions, like the target"), prior.dim()));
    }
    let mut diagnostics = Diagnostics::new(Method::MapLaplace);
    let climbs = climbs(settings, target, prior, &mut diagnostics, random)?;
    let modes = laplace::modes(target, &climbs, widest(prior), &mut diagnostics);
    let mixture = laplace::mixture(&modes, d);
    let proposal = proposal(settings, mixture.as_ref(), prior)?;
    let weighted = WeightedDraws::draw(target, &proposal, settings.draws, random);
    diagnostics.evaluations += settings.draws;
    diagnostics.nonfinite += weighted.nonfinite;
    let resting = climbs.iter().any(|c| matches!(c.outcome, Outcome::Converged | Outcome::Stalled));
    if !resting {
        diagnostics.status = Status::IterationLimit;
    } else if weighted.normalised().map_or(0.0, |found| found.ess) < settings.min_ess {
        diagnostics.status = Status::LowEffectiveSampleSize;
    }
    Ok(Posterior::from_weighted(weighted, mixture, diagnostics))
}

/// The largest variance that any direction of a mode may have.
pub(super) fn widest(prior: &GaussianMixture) -> f64 {
    let (d, covariance) = (prior.dim(), prior.covariance());
    WIDEST * (0..d).map(|k| covariance[k * d + k]).fold(0.0, f64::max)
}

/// The points that climbs from `starts` reach, with their log densities, the best first; none where no start
/// has a finite density. `observer` is told the number of rounds, and may end it.
pub(crate) fn best_climbs(
    target: &dyn SmoothTarget,
    starts: &Points,
    rounds: usize,
    observer: &mut dyn FnMut(usize) -> Control,
) -> Vec<(Vec<f64>, f64)> {
    let d = starts.dim();
    let mut unit = vec![0.0; d * d];
    (0..d).for_each(|i| unit[i * d + i] = 1.0);
    let limits = Limits { rounds, tolerance: MapLaplace::default().tolerance };
    let mut found = bfgs::climb_observed(target, (starts, &unit), limits, observer).climbs;
    found.retain(|c| c.outcome != Outcome::Impossible);
    found.sort_by(|a, b| b.value.total_cmp(&a.value));
    found.into_iter().map(|c| (c.point, c.value)).collect()
}

/// The climbs from all starts with a finite density.
fn climbs(
    settings: &MapLaplace,
    target: &dyn SmoothTarget,
    prior: &GaussianMixture,
    diagnostics: &mut Diagnostics,
    random: &mut Random,
) -> Result<Vec<Climb>> {
    let starts = starts(settings, target, prior, diagnostics, random)?;
    let limits = Limits { rounds: settings.max_iterations, tolerance: settings.tolerance };
    let all = bfgs::climb(target, &starts, &prior.covariance(), limits);
    diagnostics.gradient_evaluations += all.evaluations;
    diagnostics.nonfinite += all.nonfinite;
    Ok(all.climbs.into_iter().filter(|c| c.outcome != Outcome::Impossible).collect())
}

/// The Laplace mixture with its defence; the prior where there is no mode.
fn proposal(
    settings: &MapLaplace,
    mixture: Option<&GaussianMixture>,
    prior: &GaussianMixture,
) -> Result<GaussianMixture> {
    let share = settings.defensive_share;
    match mixture {
        Some(mixture) if share == 0.0 => Ok(mixture.clone()),
        Some(mixture) => GaussianMixture::average(&[(1.0 - share, mixture), (share, &prior.collapsed()?)]),
        None => Ok(prior.clone()),
    }
}

/// The points to climb from: component means, the best of them if there are more than starts, then draws.
pub(super) fn starts(
    settings: &MapLaplace,
    target: &dyn SmoothTarget,
    prior: &GaussianMixture,
    diagnostics: &mut Diagnostics,
    random: &mut Random,
) -> Result<Points> {
    let mut points: Vec<Vec<f64>> = (0..prior.len()).map(|j| prior.component_mean(j).to_vec()).collect();
    if points.len() > settings.starts {
        let candidates = Points::from_points(prior.dim(), &points)?;
        let mut values = vec![0.0; points.len()];
        diagnostics.nonfinite += target::evaluate(target, &candidates, &mut values);
        diagnostics.evaluations += points.len();
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|&i, &j| values[j].total_cmp(&values[i]));
        return Ok(candidates.select(&order[..settings.starts]));
    }
    let draws = prior.sample(settings.starts - points.len(), random);
    points.extend((0..draws.len()).map(|i| draws.point(i)));
    Points::from_points(prior.dim(), &points)
}
