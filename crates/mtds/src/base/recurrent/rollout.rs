//! Rollout of a recurrent network and its adjoint, for any cell.
//!
//! ```text
//! forward    x_t = f(x_{t−1}, u_t, θ)                      ŷ_t = C x_t + D u_t + d, and + ŷ_{t−1} where outputs are added up
//! adjoint    λ_t = Cᵀ ȳ_t + (∂x_{t+1}/∂x_t)ᵀ λ_{t+1}        θ̄ += (∂x_t/∂θ)ᵀ λ_t        ū_t += Dᵀ ȳ_t + (∂x_t/∂u_t)ᵀ λ_t
//! ```

use super::products::add;
use super::{Cell, CellGradient, CellView, Recurrent, readout};
use crate::base::{BaseModel, RolloutInputs, Trace, TraceGradient, step_of};
use crate::kernel::Scalar;

/// What both directions need: the network, θ and the inputs.
type NetworkRun<'a, C, S> = (&'a Recurrent<C>, &'a [S], RolloutInputs<'a, S>);

/// u_t, or nothing where all of it is zero.
#[inline(always)]
fn inputs_at<S>(drive: RolloutInputs<'_, S>, t: usize, width: usize) -> Option<&[S]> {
    let inputs = drive.inputs;
    if width == 0 || drive.quiet[t] { None } else { Some(&inputs[t * width..(t + 1) * width]) }
}

#[inline(always)]
pub(super) fn forward<C: Cell, S: Scalar>(
    (net, theta, drive): NetworkRun<'_, C, S>,
    start: Option<&[S]>,
    trace: &mut Trace<S>,
) {
    let (n, p, sizes, cell_len) = (net.d_state, net.d_obs, net.sizes(), net.cell_len());
    let (kept, width) = (net.kept_outputs(), BaseModel::d_state(net));
    let (cell, after) = theta.split_at(cell_len);
    let emission = &after[..readout::len(sizes, p)];
    C::prepare(sizes, cell, &mut trace.system);
    trace.states[..width].copy_from_slice(start.unwrap_or(&theta[net.start_range()]));
    let mut work = vec![S::zero(); C::work_len(sizes)];
    for t in 0..trace.n_time {
        let (past, next) = trace.states[t * width..(t + 2) * width].split_at_mut(width);
        let inputs = inputs_at(drive, t, net.d_input);
        let (past, past_output) = past.split_at(n);
        let (next, next_output) = next.split_at_mut(n);
        C::step(CellView { sizes, theta: cell, system: &trace.system, past, inputs }, &mut work, next);
        let y = &mut trace.outputs[t * p..(t + 1) * p];
        readout::emit(emission, next, inputs, y);
        add(past_output, y);
        next_output.copy_from_slice(&y[..kept]);
    }
}

#[inline(always)]
pub(super) fn adjoint<C: Cell, S: Scalar>(
    (net, theta, drive): NetworkRun<'_, C, S>,
    trace: &Trace<S>,
    gradient: TraceGradient<'_, S>,
) {
    let (n, p, sizes, cell_len) = (net.d_state, net.d_obs, net.sizes(), net.cell_len());
    let (kept, width) = (net.kept_outputs(), BaseModel::d_state(net));
    let (cell, after) = theta.split_at(cell_len);
    let emission_len = readout::len(sizes, p);
    let TraceGradient { outputs: d_outputs, theta: d_theta, start: lambda, inputs: d_inputs } = gradient;
    let (d_cell, d_after) = d_theta.split_at_mut(cell_len);
    let mut work = vec![S::zero(); C::work_len(sizes)];
    let mut d_system = vec![S::zero(); trace.system.len()];
    let (mut d_past, mut d_out) = (vec![S::zero(); n], vec![S::zero(); p]);
    lambda.fill(S::zero());
    // What later outputs pull on this one, where they are added up.
    let (lambda, carried) = lambda.split_at_mut(n);
    for t in (0..trace.n_time).rev() {
        let (past, next) = trace.states[t * width..(t + 2) * width].split_at(width);
        let (past, next) = (&past[..n], &next[..n]);
        let inputs = inputs_at(drive, t, net.d_input);
        let (emission, d_emission) = (&after[..emission_len], &mut d_after[..emission_len]);
        d_out.copy_from_slice(&d_outputs[t * p..(t + 1) * p]);
        add(carried, &mut d_out);
        carried.copy_from_slice(&d_out[..kept]);
        let d_u = step_of(d_inputs, t, net.d_input);
        readout::emit_adjoint(emission, (next, inputs), &d_out, d_emission, (&mut *lambda, &mut *d_u));
        d_past.fill(S::zero());
        let at = CellView { sizes, theta: cell, system: &trace.system, past, inputs };
        let d = CellGradient { theta: d_cell, system: &mut d_system, past: &mut d_past, inputs: d_u };
        C::step_adjoint(at, next, lambda, &mut work, d);
        lambda.copy_from_slice(&d_past);
    }
    let at = CellView { sizes, theta: cell, system: &trace.system, past: &[], inputs: None };
    C::prepare_adjoint(at, &d_system, &mut work, d_cell);
}
