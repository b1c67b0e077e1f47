//! NUTS: Hamiltonian Monte Carlo with trajectories that stop before they turn back.
//!
//! ```text
//! H(u, p) = −log p(y, u) + ½ pᵀ Σ p        p ~ N(0, Σ⁻¹)        leapfrog steps, draw from the trajectory
//! ```
//! Warm-up fits the step size and the metric Σ, and is thrown away. The
//! chains are exact in the long run for any smooth density, also where it is bent and no mixture fits it, at
//! thousands of gradients per effective draw where importance sampling takes one density per draw.
//!
//! References: Hoffman & Gelman (2014), The No-U-Turn Sampler; Betancourt (2017), A Conceptual Introduction to
//! Hamiltonian Monte Carlo; Seyboldt, Carlson & Carpenter (2024), Preconditioning Hamiltonian Monte Carlo by
//! Minimizing Fisher Divergence (how Σ is fitted).

mod chain;
mod convergence;
mod metric;
mod trajectory;

use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::chain::{ChainRun, run_chain};
pub use self::convergence::{effective_draws, split_r_hat};
use super::importance::check;
use super::target::{self, SmoothTarget};
use super::{Diagnostics, Method, Points, Posterior, Status};
use crate::learn::Control;
use crate::random::{Random, stream};
use crate::{Error, Result};

/// Settings of NUTS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Nuts {
    /// Independent chains, run in parallel; more than one also checks that they agree.
    pub chains: usize,
    /// Draws per chain that fit step size and mass matrix, and are thrown away.
    pub warmup: usize,
    /// Draws per chain that are kept.
    pub draws: usize,
    /// Mean acceptance that the step size is fitted to, 0 to 1; higher is slower and diverges less.
    pub target_accept: f64,
    /// A trajectory has at most 2^max_depth steps.
    pub max_depth: usize,
    /// Smallest effective sample size that counts as converged.
    pub min_ess: f64,
    /// Largest split R̂ that counts as converged.
    pub max_r_hat: f64,
    /// Largest share of divergent draws that counts as converged.
    pub max_divergent_share: f64,
}

impl Default for Nuts {
    fn default() -> Self {
        Self {
            chains: 1,
            warmup: 1000,
            draws: 600,
            target_accept: 0.8,
            max_depth: 10,
            min_ess: 100.0,
            max_r_hat: 1.05,
            max_divergent_share: 0.01,
        }
    }
}

impl Nuts {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`Error::Setting`] naming the setting.
    pub fn validate(&self) -> Result<()> {
        if let Some((name, _)) =
            [("chains", self.chains), ("draws", self.draws)].iter().find(|(_, count)| *count == 0)
        {
            return Err(Error::setting(*name, "found 0; expected 1 or more"));
        }
        if !(1..=MOST_DOUBLINGS).contains(&self.max_depth) {
            let why = format!("found {}; expected 1 to {MOST_DOUBLINGS}", self.max_depth);
            return Err(Error::setting("max_depth", why));
        }
        let accept = self.target_accept;
        check(accept > 0.0 && accept < 1.0, "target_accept", accept, "above 0, below 1")?;
        check(self.min_ess.is_finite() && self.min_ess >= 0.0, "min_ess", self.min_ess, "0 or more")?;
        check(self.max_r_hat >= 1.0, "max_r_hat", self.max_r_hat, "1 or more")?;
        let share = self.max_divergent_share;
        check((0.0..=1.0).contains(&share), "max_divergent_share", share, "0 to 1")
    }
}

/// More would be a million steps and a memory of as many points.
const MOST_DOUBLINGS: usize = 20;

/// How Markov chains went.
///
/// Draws of a posterior from chains are ordered chain by chain, so that functions of them can be handed to
/// [`effective_draws`] and [`split_r_hat`] in equal parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChainReport {
    /// Number of chains.
    pub chains: usize,
    /// Kept draws whose trajectory diverged, over all chains.
    pub divergences: usize,
    /// Kept draws whose trajectory was cut at its greatest depth, over all chains.
    pub cut_short: usize,
    /// Mean acceptance of the kept draws.
    pub acceptance: f64,
    /// Largest split R̂ of any coordinate; `None` for fewer than four draws per chain, or draws that never moved.
    pub r_hat: Option<f64>,
}

/// The posterior of `target` by NUTS, from draws with equal weights.
///
/// Chain `c` starts at point `c` of `starts`, beginning again where there are fewer; points without a finite
/// density are left out. A start should be plausible, but need not be a mode. Status: `NoSupport` if no start
/// has a finite density (draws are the starts, and mean nothing), else `Divergent`, `ChainsDisagree`,
/// `LowEffectiveSampleSize`, whichever holds first. Coordinates that can be exchanged (hidden states) make
/// chains disagree where forecasts do not: look at [`split_r_hat`] of what is of interest.
///
/// The result is the same on any number of threads.
///
/// # Errors
/// [`Error::Setting`] for settings out of range, [`Error::Shape`] for no start or starts of another dimension.
pub fn nuts(
    settings: &Nuts,
    target: &dyn SmoothTarget,
    starts: &Points,
    random: &mut Random,
) -> Result<Posterior> {
    nuts_observed(settings, target, starts, random, &|| Control::Continue)
}

/// Whoever may want chains to end; all threads ask it before every gradient, so it should be quick.
pub type Observer<'a> = dyn Fn() -> Control + Sync + 'a;

/// [`nuts`] that ends when `observe` says so.
///
/// # Errors
/// As [`nuts`]; [`Error::Stopped`].
pub fn nuts_observed(
    settings: &Nuts,
    target: &dyn SmoothTarget,
    starts: &Points,
    random: &mut Random,
    observe: &Observer<'_>,
) -> Result<Posterior> {
    settings.validate()?;
    if starts.dim() != target.dim() || starts.is_empty() {
        let expected = format!("one or more in {} dimensions, like the target", target.dim());
        return Err(Error::shape("starts", expected, format!("{} in {}", starts.len(), starts.dim())));
    }
    let mut diagnostics = Diagnostics::new(Method::Nuts);
    let possible = possible_starts(target, starts, &mut diagnostics);
    if possible.is_empty() {
        return no_support(starts, diagnostics);
    }
    let seed = random.random();
    let run = |chain: usize| {
        let start = starts.point(possible[chain % possible.len()]);
        run_chain(settings, (target, observe), &start, stream(seed, chain as u64))
    };
    let runs: Vec<ChainRun> = (0..settings.chains).into_par_iter().map(run).collect::<Result<_>>()?;
    summarise(settings, &runs, target.dim(), diagnostics)
}

/// Indices of the starts with a finite density and gradient.
fn possible_starts(target: &dyn SmoothTarget, starts: &Points, diagnostics: &mut Diagnostics) -> Vec<usize> {
    let mut values = vec![0.0; starts.len()];
    let mut gradients = Points::zeros(starts.dim(), starts.len());
    diagnostics.nonfinite += target::evaluate_smooth(target, starts, &mut values, &mut gradients);
    diagnostics.gradient_evaluations += starts.len();
    let finite = |i: &usize| starts.point(*i).iter().all(|u| u.is_finite());
    (0..starts.len()).filter(|&i| values[i] > f64::NEG_INFINITY).filter(finite).collect()
}

/// The starts themselves, marked as meaningless.
fn no_support(starts: &Points, mut diagnostics: Diagnostics) -> Result<Posterior> {
    diagnostics.status = Status::NoSupport;
    let mut draws = starts.clone();
    draws.values_mut().iter_mut().filter(|u| !u.is_finite()).for_each(|u| *u = 0.0);
    Posterior::from_equal_draws(draws, None, diagnostics)
}

/// Draws of all chains, chain by chain, with their quality.
fn summarise(
    settings: &Nuts,
    runs: &[ChainRun],
    dim: usize,
    mut diagnostics: Diagnostics,
) -> Result<Posterior> {
    let points: Vec<Vec<f64>> = runs.iter().flat_map(|run| run.draws.iter().cloned()).collect();
    let draws = Points::from_points(dim, &points)?;
    let chains_of = |d: usize| draws.column(d).chunks_exact(settings.draws).collect::<Vec<_>>();
    let worst = |of: fn(&[&[f64]]) -> Option<f64>, pick: fn(f64, f64) -> f64| {
        let each = (0..dim).map(|d| of(&chains_of(d))).collect::<Option<Vec<f64>>>();
        each.and_then(|values| values.into_iter().reduce(pick))
    };
    let total = |of: fn(&ChainRun) -> usize| runs.iter().map(of).sum::<usize>();
    let report = ChainReport {
        chains: runs.len(),
        divergences: total(|r| r.divergences),
        cut_short: total(|r| r.cut_short),
        acceptance: runs.iter().map(|r| r.acceptance).sum::<f64>() / runs.len() as f64,
        r_hat: worst(split_r_hat, f64::max),
    };
    // Chains that are too short to tell, or never moved, are worth one draw each.
    diagnostics.ess = worst(effective_draws, f64::min).unwrap_or(runs.len() as f64);
    diagnostics.gradient_evaluations += total(|r| r.gradient_evaluations);
    diagnostics.nonfinite += total(|r| r.nonfinite);
    diagnostics.passes = settings.warmup;
    diagnostics.status = status(settings, &report, diagnostics.ess, draws.len());
    diagnostics.chains = Some(report);
    Posterior::from_equal_draws(draws, None, diagnostics)
}

fn status(settings: &Nuts, report: &ChainReport, ess: f64, n_draws: usize) -> Status {
    if report.divergences as f64 > settings.max_divergent_share * n_draws as f64 {
        Status::Divergent
    } else if report.r_hat.is_some_and(|r_hat| r_hat > settings.max_r_hat) {
        Status::ChainsDisagree
    } else if ess < settings.min_ess {
        Status::LowEffectiveSampleSize
    } else {
        Status::Converged
    }
}
