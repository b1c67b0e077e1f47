//! The posterior of a whole sequence from a belief that is already there: a few rounds of importance sampling, checked, and the full
//! search only where they were not enough.
//!
//! ```text
//! 512 draws of q, narrowed and widened → 256 of what they say, at most three times → the draws of the posterior
//! kept where ESS ≥ 50 and k̂ ≤ 0.7; else once more with twice as many; else adaptive importance sampling as set
//! ```
//! Learning leaves a belief about the code of every member, and a posterior under one prior, or one size of the process noise, is close to
//! that under another. Beliefs of learning have independent dimensions and are wider than the posterior, so that the first round is
//! for its shape alone.
//!
//! Behind a front sequences are long, and were cut: what is known is the average of beliefs about segments, and may be far from the much
//! narrower posterior of all steps. A few draws tell; then the modes that climbs from there reach, with Laplace's approximation, stand in.

use super::bfgs::{self, Limits};
use super::weighted::WeightedDraws;
use super::{
    AdaptiveImportance, CodeTarget, Diagnostics, FirstMixture, GaussianMixture, Method, Online, Points,
    Posterior, Status, adaptive_importance, laplace, map,
};
use crate::Result;
use crate::family::Signal;
use crate::random::Random;
use crate::system::System;

/// Draws of the first round, of each of the next ones, and of the posterior at least: a first attempt, and a second from what it found.
const ATTEMPTS: [[usize; 3]; 2] = [[512, 256, 0], [1000, 500, 1000]];
/// Rounds of an attempt, and the share of effective draws that ends them.
const ROUNDS: usize = 4;
const ENOUGH: f64 = 0.3;
/// Shares of a single Gaussian, and factors on its covariance: one that is too wide or too narrow is both at once, and two components
/// follow a posterior that is no Gaussian better than one.
const WIDTHS: [(f64, f64); 2] = [(0.6, 0.5), (0.4, 2.0)];
/// Factor on all covariances.
const WIDER: f64 = 1.2;
/// Effective draws, and shape of the tail of the weights, that are good enough.
const LEAST_ESS: f64 = 50.0;
const WORST_SHAPE: f64 = 0.7;

/// Draws that tell whether a belief is far from the posterior, and effective ones below which it is.
const PROBE: (usize, f64) = (64, 3.0);
/// A mode need not be known to more than a small part of its width.
const CLIMB: Limits = Limits { rounds: 30, tolerance: 0.02 };

/// What is known of the code of a sequence before it is inferred, and how many draws that gets.
#[derive(Clone, Copy, Debug)]
pub struct KnownCode<'a> {
    /// A belief about z, or about z and the noise δ behind it.
    pub belief: &'a GaussianMixture,
    /// Draws of it.
    pub draws: usize,
}

impl System {
    /// The posterior of a whole sequence (data units) from what is known of its code.
    ///
    /// # Errors
    /// Settings out of range; outputs or inputs of the wrong size.
    pub fn infer_known(
        &self,
        (outputs, inputs): (&Signal, Option<&Signal>),
        known: KnownCode<'_>,
        online: &Online,
        random: &mut Random,
    ) -> Result<Posterior> {
        let prior = online.noise.extend(&self.prior().mixture(self.d_code())?)?;
        let belief = match known.belief.dim() == prior.dim() {
            true => known.belief.clone(),
            false => online.noise.extend(known.belief)?,
        };
        let outputs = self.scaling().outputs_to_model(outputs)?;
        let inputs = inputs.map(|u| self.scaling().inputs_to_model(u)).transpose()?;
        let group = self.group(&outputs, inputs.as_ref())?;
        let target = CodeTarget::new(self, self.parameters(), &prior, group, None);
        let full = &online.importance;
        let guard = if prior.len() <= full.components { prior.clone() } else { prior.collapsed()? };
        let mut work = Diagnostics::new(Method::AdaptiveImportance);
        let nearer = match self.spec().front {
            Some(_) => nearer(&target, (&belief, &prior), &mut work, random)?,
            None => None,
        };
        let mut start = in_widths(nearer.unwrap_or(belief))?;
        for [first, next, least] in ATTEMPTS {
            let quick = AdaptiveImportance {
                passes: ROUNDS,
                first_samples: first,
                samples: next,
                final_samples: known.draws.max(least),
                tilt: WIDER,
                stop_ess_fraction: ENOUGH,
                min_ess: LEAST_ESS,
                retries: 0,
                ..full.clone()
            };
            let from = FirstMixture::Guarded { previous: &start, prior: &guard };
            let found = adaptive_importance(&quick, &target, from, random)?.after(&work);
            if is_good(&found) {
                return Ok(found);
            }
            work = found.diagnostics().clone();
            start = found.mixture().cloned().unwrap_or(start);
        }
        let from = FirstMixture::Guarded { previous: &start, prior: &guard };
        let full = &AdaptiveImportance { retries: full.retries.min(1), ..full.clone() };
        Ok(adaptive_importance(full, &target, from, random)?.after(&work))
    }
}

/// Laplace's approximation at the modes above a belief that is far from the posterior; nothing where it is near, or no climb comes to an end.
fn nearer(
    target: &CodeTarget<'_, f32>,
    (belief, prior): (&GaussianMixture, &GaussianMixture),
    work: &mut Diagnostics,
    random: &mut Random,
) -> Result<Option<GaussianMixture>> {
    let (draws, enough) = PROBE;
    let probe = WeightedDraws::draw(target, belief, draws, random);
    work.evaluations += draws;
    let Some(found) = probe.normalised() else { return Ok(None) };
    if found.ess >= enough {
        return Ok(None);
    }
    let best = (0..draws).max_by(|&i, &j| found.weights[i].total_cmp(&found.weights[j])).unwrap_or(0);
    let starts = Points::from_points(belief.dim(), &[belief.mean(), probe.draws.point(best)])?;
    let all = bfgs::climb(target, &starts, &belief.covariance(), CLIMB);
    work.gradient_evaluations += all.evaluations;
    work.nonfinite += all.nonfinite;
    let climbs: Vec<_> = all.climbs.into_iter().filter(|c| c.outcome != bfgs::Outcome::Impossible).collect();
    let modes = laplace::modes(target, &climbs, map::widest(prior), work);
    Ok(laplace::mixture(&modes, belief.dim()))
}

/// A single Gaussian in several widths; a mixture as it is.
fn in_widths(belief: GaussianMixture) -> Result<GaussianMixture> {
    if belief.len() > 1 {
        return Ok(belief);
    }
    let widths = WIDTHS.map(|(_, factor)| belief.tilted(factor));
    let [narrow, wide] = widths;
    GaussianMixture::average(&[(WIDTHS[0].0, &narrow?), (WIDTHS[1].0, &wide?)])
}

/// Whether weighed draws stand for the posterior.
fn is_good(found: &Posterior) -> bool {
    let diagnostics = found.diagnostics();
    diagnostics.status == Status::Converged && diagnostics.pareto_k.is_none_or(|k| k <= WORST_SHAPE)
}
