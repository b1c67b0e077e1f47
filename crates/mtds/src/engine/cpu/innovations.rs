//! Standardised errors one step ahead, in double precision: from the filter, or from the rollout where the state is certain.

use super::packs::Buffers;
use crate::Result;
use crate::base::kalman::{Gains, Means, Pattern};
use crate::base::{RolloutInputs, StochasticLds};
use crate::engine::{ScoredSteps, Trial};
use crate::family::Signal;
use crate::system::System;

/// [`Engine::innovations`](crate::engine::Engine::innovations).
pub(super) fn innovations(system: &System, code: &[f64], steps: ScoredSteps<'_>) -> Result<Vec<f64>> {
    let parameters = system.parameters_as::<f64>();
    let mut buffers = Buffers::<f64>::new(system);
    buffers.generate(Trial { system, parameters: &parameters }, code);
    let quiet: Vec<bool> = (0..steps.outputs.n_time())
        .map(|t| steps.inputs.is_none_or(|inputs| inputs.row(t).iter().all(|&u| u == 0.0)))
        .collect();
    let driven = RolloutInputs { inputs: steps.inputs.map_or(&[][..], Signal::values), quiet: &quiet };
    match system.base().stochastic() {
        Some(lds) => filtered(lds, &buffers.theta, steps, driven),
        None => Ok(rolled_out(system, &buffers.theta, steps, driven)),
    }
}

/// From the filter: what is known of the state before each step, one step ahead.
fn filtered(
    lds: &StochasticLds,
    theta: &[f64],
    steps: ScoredSteps<'_>,
    driven: RolloutInputs<'_, f64>,
) -> Result<Vec<f64>> {
    let (n_time, p, m) = (steps.outputs.n_time(), steps.outputs.width(), lds.lds.d_input);
    let pattern = Pattern::new(steps.mask, p)?;
    let gains = Gains::new(lds, theta, &pattern, None)?;
    let mut means = Means::new(&gains);
    gains.means(&gains.system().pushes(driven)?, None, steps.outputs.values(), &mut means)?;
    let mut errors = Vec::with_capacity(n_time * p);
    for t in 0..n_time {
        let inputs = &driven.inputs[t * m..(t + 1) * m];
        let driven = RolloutInputs { inputs, quiet: &driven.quiet[t..=t] };
        let ahead = gains.system().outlook(&gains.belief(&means, t)?, driven)?;
        errors.extend(standardised(steps.outputs.row(t), &ahead.means, &ahead.factors));
    }
    Ok(errors)
}

/// From the rollout, which is certain of its state.
fn rolled_out(
    system: &System,
    theta: &[f64],
    steps: ScoredSteps<'_>,
    driven: RolloutInputs<'_, f64>,
) -> Vec<f64> {
    let (base, p) = (system.base(), steps.outputs.width());
    let mut trace = base.trace(steps.outputs.n_time());
    base.roll_out(theta, None, driven, &mut trace);
    let factor = base.noise().cholesky(theta, 0);
    let rows = steps.outputs.rows().zip(trace.outputs.chunks_exact(p.max(1)));
    rows.flat_map(|(row, predicted)| standardised(row, predicted, &factor)).collect()
}

/// (y − ŷ) / s of one step, s² the diagonal of F Fᵀ.
fn standardised(row: &[f64], predicted: &[f64], factor: &[f64]) -> Vec<f64> {
    let rows = factor.chunks_exact(row.len());
    let scales = rows.map(|f| f.iter().map(|x| x * x).sum::<f64>().sqrt());
    row.iter().zip(predicted).zip(scales).map(|((y, mean), s)| (y - mean) / s).collect()
}
