//! One chain of `nuts-rs` over a target of this library.

use std::cell::Cell;
use std::collections::HashMap;

use nuts_rs::{Chain, CpuLogpFunc, CpuMath, CpuMathError, HasDims, LogpError, LowRankNutsSettings, Settings};

use super::Nuts;
use crate::infer::{Evaluator, SmoothTarget};
use crate::random::Random;
use crate::{Error, Result};

/// Stands in for a slope of exactly zero, for which the sampler has no first scale. Leapfrog steps with any
/// field of slopes are reversible, so draws stay exact.
const LEAST_SLOPE: f64 = 1e-8;

/// What one chain gave.
pub(super) struct ChainRun {
    /// Kept draws, one point each.
    pub draws: Vec<Vec<f64>>,
    pub divergences: usize,
    pub cut_short: usize,
    /// Mean over the kept draws.
    pub acceptance: f64,
    pub gradient_evaluations: usize,
    pub nonfinite: usize,
}

/// Warms up and draws, from a start with a finite density.
pub(super) fn run_chain(
    settings: &Nuts,
    target: &dyn SmoothTarget,
    start: &[f64],
    mut random: Random,
) -> Result<ChainRun> {
    let work = Work::default();
    let density = Density { dim: target.dim(), evaluate: target.evaluator(), work: &work };
    let sampler = sampler_settings(settings).new_chain(0, CpuMath::new(density), &mut random);
    let mut chain = sampler.map_err(failed)?;
    chain.set_position(start).map_err(failed)?;
    for _ in 0..settings.warmup {
        chain.draw().map_err(failed)?;
    }
    let mut run = ChainRun {
        draws: Vec::with_capacity(settings.draws),
        divergences: 0,
        cut_short: 0,
        acceptance: 0.0,
        gradient_evaluations: 0,
        nonfinite: 0,
    };
    for _ in 0..settings.draws {
        let (point, _, stats, progress) = chain.expanded_draw().map_err(failed)?;
        run.draws.push(point.into_vec());
        run.divergences += usize::from(progress.diverging);
        run.cut_short += usize::from(stats.maxdepth_reached);
        run.acceptance += stats.adapt.step_size.mean_tree_accept / settings.draws as f64;
    }
    (run.gradient_evaluations, run.nonfinite) = (work.evaluations.get(), work.nonfinite.get());
    Ok(run)
}

fn sampler_settings(settings: &Nuts) -> LowRankNutsSettings {
    let mut sampler = LowRankNutsSettings {
        num_tune: settings.warmup as u64,
        num_draws: settings.draws as u64,
        maxdepth: settings.max_depth as u64,
        ..LowRankNutsSettings::default()
    };
    sampler.adapt_options.step_size_settings.target_accept = settings.target_accept;
    sampler
}

/// The sampler fails only where it cannot begin: settings and start are checked before.
fn failed(error: impl std::fmt::Display) -> Error {
    Error::setting("nuts", format!("the sampler stopped: {error}; try another start"))
}

/// What the evaluations cost.
#[derive(Default)]
struct Work {
    evaluations: Cell<usize>,
    nonfinite: Cell<usize>,
}

/// A target as `nuts-rs` wants it.
struct Density<'a> {
    dim: usize,
    evaluate: Evaluator<'a>,
    work: &'a Work,
}

/// A point without density; the trajectory ends there and counts as divergent.
#[derive(Debug, thiserror::Error)]
#[error("the log density or its gradient is not finite")]
struct Impossible;

impl LogpError for Impossible {
    fn is_recoverable(&self) -> bool {
        true
    }
}

impl HasDims for Density<'_> {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        HashMap::from([("unconstrained_parameter".to_owned(), self.dim as u64)])
    }
}

impl CpuLogpFunc for Density<'_> {
    type LogpError = Impossible;
    type FlowParameters = ();
    type ExpandedVector = ();

    fn dim(&self) -> usize {
        self.dim
    }

    fn logp(&mut self, position: &[f64], gradient: &mut [f64]) -> std::result::Result<f64, Impossible> {
        let value = (self.evaluate)(position, gradient);
        self.work.evaluations.update(|n| n + 1);
        let usable = value.is_finite() && gradient.iter().all(|g| g.is_finite());
        if !usable {
            self.work.nonfinite.update(|n| n + usize::from(value != f64::NEG_INFINITY));
            return Err(Impossible);
        }
        gradient.iter_mut().filter(|g| **g == 0.0).for_each(|g| *g = LEAST_SLOPE);
        Ok(value)
    }

    fn expand_vector<R: rand::Rng + ?Sized>(
        &mut self,
        _: &mut R,
        _: &[f64],
    ) -> std::result::Result<(), CpuMathError> {
        Ok(())
    }
}
