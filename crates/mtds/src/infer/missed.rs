//! Modes that a sampler has missed, found by climbing from the prior.
//!
//! ```text
//! u*_j: maxima of p(u, y)           suspect when   p(u*_j, y) / q(u*_j) > 20 p(y)
//! g = Σ_j α_j N(u*_j, Λ_j⁻¹)        missed when    E_g[p / (g + q)] > p(y) / 10
//! q⁰ = ½ q + ½ g                    where to sample again, if any was missed
//! ```
//! Early observations may leave a posterior at a mode that later ones rule out, and its own draws cannot tell:
//! they never went elsewhere. The weight at a mode says what a draw there would have weighed, and a few draws
//! around it tell a mode from a bump on a ridge. The search costs a few climbs where nothing was missed, and a
//! second run only where something was.

use super::bfgs::{self, Climb, Limits};
use super::map::{self, MapLaplace};
use super::target::{self, SmoothTarget};
use super::{Diagnostics, GaussianMixture, Method, Points, Posterior, laplace};
use crate::Result;
use crate::random::Random;

/// Log of how many times the mean weight a draw at a mode may weigh before the mode counts as missed.
const LOG_HEAVY: f64 = 3.0;
/// A share of the evidence below which what was missed does not matter.
const LIGHT: f64 = 0.1;
/// The highest suspects are looked at; several may have climbed the same mode.
const MOST_SUSPECTS: usize = 6;
/// Draws that measure the share.
const DRAWS: usize = 256;
/// A mode need not be known to more than a small part of its width.
const CLIMB: Limits = Limits { rounds: 30, tolerance: 0.02 };

/// What a search for missed modes found.
pub(super) struct Search {
    /// The start of a second run; `None` when nothing was missed.
    pub(super) start: Option<GaussianMixture>,
    /// The work that it cost.
    pub(super) work: Diagnostics,
}

/// Climbs from `starts` points of the prior, and compares the ends with what `posterior` covers; a second run
/// starts from at most `components` of what is known, and as many modes.
pub(super) fn search(
    (starts, components): (usize, usize),
    target: &dyn SmoothTarget,
    prior: &GaussianMixture,
    posterior: &Posterior,
    random: &mut Random,
) -> Result<Search> {
    let mut work = Diagnostics::new(Method::MapLaplace);
    let settings = MapLaplace { starts, ..MapLaplace::default() };
    let points = map::starts(&settings, target, prior, &mut work, random)?;
    let all = bfgs::climb(target, &points, &prior.covariance(), CLIMB);
    work.gradient_evaluations += all.evaluations;
    work.nonfinite += all.nonfinite;
    let suspects = suspects(all.climbs, posterior)?;
    let modes = laplace::modes(target, &suspects, map::widest(prior), &mut work);
    let Some(found) = laplace::mixture(&modes, target.dim()) else { return Ok(Search { start: None, work }) };
    let found = found.heaviest(components)?;
    let start = match posterior.mixture() {
        None => Some(found),
        Some(known) => {
            work.evaluations += DRAWS;
            let both = GaussianMixture::average(&[(0.5, &known.heaviest(components)?), (0.5, &found)])?;
            (missing_share(target, &found, known, posterior, random) > LIGHT).then_some(both)
        }
    };
    Ok(Search { start, work })
}

/// Estimates E_g[p / (g + q)] / p(y): how much of the evidence lies where the modes are and `known` is not.
fn missing_share(
    target: &dyn SmoothTarget,
    modes: &GaussianMixture,
    known: &GaussianMixture,
    posterior: &Posterior,
    random: &mut Random,
) -> f64 {
    let draws = modes.sample(DRAWS, random);
    let density = |of: &GaussianMixture| {
        let mut log_density = vec![0.0; DRAWS];
        of.log_density(&draws, &mut log_density);
        log_density
    };
    let (g, q) = (density(modes), density(known));
    let mut p = vec![0.0; DRAWS];
    target::evaluate(target, &draws, &mut p);
    let evidence = posterior.log_evidence().unwrap_or(f64::NEG_INFINITY);
    let share = |i: usize| (p[i] - evidence - g[i].max(q[i])).exp() / (1.0 + (-(g[i] - q[i]).abs()).exp());
    (0..DRAWS).map(share).sum::<f64>() / DRAWS as f64
}

/// The climbs that ended where a draw would have weighed too much.
fn suspects(climbs: Vec<Climb>, posterior: &Posterior) -> Result<Vec<Climb>> {
    let possible: Vec<Climb> = climbs.into_iter().filter(|c| c.value > f64::NEG_INFINITY).collect();
    let (Some(known), Some(evidence)) = (posterior.mixture(), posterior.log_evidence()) else {
        return Ok(possible);
    };
    let ends: Vec<Vec<f64>> = possible.iter().map(|c| c.point.clone()).collect();
    let mut covered = vec![0.0; ends.len()];
    known.log_density(&Points::from_points(known.dim(), &ends)?, &mut covered);
    let heavy = |(climb, q): (Climb, f64)| (climb.value - q > evidence + LOG_HEAVY).then_some(climb);
    let mut heavy: Vec<Climb> = possible.into_iter().zip(covered).filter_map(heavy).collect();
    heavy.sort_by(|a, b| b.value.total_cmp(&a.value));
    heavy.truncate(MOST_SUSPECTS);
    Ok(heavy)
}
