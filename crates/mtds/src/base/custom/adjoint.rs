//! Rollout of a system that a user wrote, and its adjoint from dual numbers.
//!
//! ```text
//! backward in time       λ_t = (∂ŷ_t/∂x_t)ᵀ ȳ_t + (∂x_{t+1}/∂x_t)ᵀ λ_{t+1}        n slopes, some at a time
//! for some of θ, all t   θ̄_k = Σ_t ȳ_tᵀ ∂ŷ_t/∂θ_k + λ_tᵀ ∂x_t/∂θ_k              and likewise for u_t, where asked for
//! ```
//! A gradient costs about (n + q) rollouts for n states and q entries of θ: fine for systems that are written by hand, which
//! have few; those with many should have an adjoint of their own. Only states are kept.

use super::{Custom, Dual, Step};
use crate::base::{BaseModel, RolloutInputs, Trace, TraceGradient};
use crate::kernel::Scalar;

/// Directions at a time: a value and four slopes of a pack are ten of AVX2's sixteen registers.
const WIDTH: usize = 4;

/// What both directions need: the system, θ and the inputs.
type SystemRun<'a, T, S> = (&'a Custom<T>, &'a [S], RolloutInputs<'a, S>);

#[inline(always)]
pub(super) fn forward<T: Step, S: Scalar>(
    (custom, theta, drive): SystemRun<'_, T, S>,
    start: Option<&[S]>,
    trace: &mut Trace<S>,
) {
    let (n, p, m) = (custom.d_state(), custom.d_obs(), custom.d_input());
    let own = &theta[..custom.own_len()];
    trace.states[..n].copy_from_slice(start.unwrap_or(&theta[custom.start_range()]));
    for t in 0..trace.n_time {
        let (past, next) = trace.states[t * n..(t + 2) * n].split_at_mut(n);
        let inputs = &drive.inputs[t * m..(t + 1) * m];
        custom.step.step(own, past, inputs, next);
        custom.step.emit(own, next, inputs, &mut trace.outputs[t * p..(t + 1) * p]);
    }
}

/// Duals of what a step takes and gives.
struct Duals<S> {
    theta: Vec<Dual<S, WIDTH>>,
    from: Vec<Dual<S, WIDTH>>,
    inputs: Vec<Dual<S, WIDTH>>,
    next: Vec<Dual<S, WIDTH>>,
    outputs: Vec<Dual<S, WIDTH>>,
}

impl<S: Scalar> Duals<S> {
    fn new<T: Step>(custom: &Custom<T>, own: &[S]) -> Self {
        let zeros = |len: usize| vec![Dual::flat(S::zero()); len];
        Self {
            theta: own.iter().map(|&x| Dual::flat(x)).collect(),
            from: zeros(custom.d_state()),
            inputs: zeros(custom.d_input()),
            next: zeros(custom.d_state()),
            outputs: zeros(custom.d_obs()),
        }
    }
}

/// Overwrites duals by numbers that depend on no direction.
#[inline(always)]
fn load<S: Scalar>(values: &[S], duals: &mut [Dual<S, WIDTH>]) {
    for i in 0..values.len() {
        duals[i] = Dual::flat(values[i]);
    }
}

/// Lets numbers from `first` on be the directions, or no longer.
#[inline(always)]
fn seed<S: Scalar>(duals: &mut [Dual<S, WIDTH>], first: usize, slope: S) {
    for k in 0..WIDTH.min(duals.len() - first) {
        duals[first + k].slopes[k] = slope;
    }
}

/// `total[k] += Σ_i weights_i · slope k of dual i`.
#[inline(always)]
fn pull<S: Scalar>(weights: &[S], duals: &[Dual<S, WIDTH>], total: &mut [S]) {
    for i in 0..weights.len() {
        for k in 0..total.len() {
            total[k] = weights[i].mul_add(duals[i].slopes[k], total[k]);
        }
    }
}

#[inline(always)]
pub(super) fn adjoint<T: Step, S: Scalar>(
    (custom, theta, drive): SystemRun<'_, T, S>,
    trace: &Trace<S>,
    gradient: TraceGradient<'_, S>,
) {
    let own_len = custom.own_len();
    let mut duals = Duals::new(custom, &theta[..own_len]);
    let TraceGradient { outputs: d_outputs, theta: d_theta, start: d_start, inputs: d_inputs } = gradient;
    let mut lambdas = vec![S::zero(); trace.n_time * custom.d_state()];
    states_adjoint((custom, drive, trace), d_outputs, &mut duals, &mut lambdas, d_start);
    let given = (d_outputs, &lambdas[..]);
    theta_adjoint((custom, drive, trace), given, &mut duals, &mut d_theta[..own_len]);
    if !d_inputs.is_empty() {
        inputs_adjoint((custom, drive, trace), given, &mut duals, d_inputs);
    }
}

/// A system and its rollout.
type Rolled<'a, T, S> = (&'a Custom<T>, RolloutInputs<'a, S>, &'a Trace<S>);

/// Adds what step `t` gives along the directions that are seeded: ȳ_tᵀ ∂ŷ_t + λ_tᵀ ∂x_t.
#[inline(always)]
fn pull_step<T: Step, S: Scalar>(
    (custom, _, trace): Rolled<'_, T, S>,
    t: usize,
    (d_outputs, lambdas): (&[S], &[S]),
    duals: &mut Duals<S>,
    total: &mut [S],
) {
    let (n, p) = (custom.d_state(), custom.d_obs());
    let Duals { theta, from, inputs, next, outputs } = duals;
    load(&trace.states[t * n..(t + 1) * n], from);
    custom.step.step(theta, from, inputs, next);
    pull(&lambdas[t * n..(t + 1) * n], next, total);
    load(&trace.states[(t + 1) * n..(t + 2) * n], from);
    custom.step.emit(theta, from, inputs, outputs);
    pull(&d_outputs[t * p..(t + 1) * p], outputs, total);
}

/// Adds to the gradient with respect to the inputs.
#[inline(always)]
fn inputs_adjoint<T: Step, S: Scalar>(
    rolled: Rolled<'_, T, S>,
    given: (&[S], &[S]),
    duals: &mut Duals<S>,
    d_inputs: &mut [S],
) {
    let (custom, drive, trace) = rolled;
    let m = custom.d_input();
    for t in 0..trace.n_time {
        load(&drive.inputs[t * m..(t + 1) * m], &mut duals.inputs);
        for first in (0..m).step_by(WIDTH) {
            let total = &mut d_inputs[t * m + first..t * m + m.min(first + WIDTH)];
            seed(&mut duals.inputs, first, S::one());
            pull_step(rolled, t, given, duals, total);
            seed(&mut duals.inputs, first, S::zero());
        }
    }
}

/// Writes λ_1 … λ_T, and the gradient with respect to x_0.
#[inline(always)]
fn states_adjoint<T: Step, S: Scalar>(
    (custom, drive, trace): Rolled<'_, T, S>,
    d_outputs: &[S],
    duals: &mut Duals<S>,
    lambdas: &mut [S],
    carry: &mut [S],
) {
    let (n, p, m) = (custom.d_state(), custom.d_obs(), custom.d_input());
    let Duals { theta, from, inputs, next, outputs } = duals;
    carry.fill(S::zero());
    for t in (0..trace.n_time).rev() {
        let lambda = &mut lambdas[t * n..(t + 1) * n];
        lambda.copy_from_slice(carry);
        load(&drive.inputs[t * m..(t + 1) * m], inputs);
        load(&trace.states[(t + 1) * n..(t + 2) * n], from);
        for first in (0..n).step_by(WIDTH) {
            seed(from, first, S::one());
            custom.step.emit(theta, from, inputs, outputs);
            seed(from, first, S::zero());
            let last = n.min(first + WIDTH);
            pull(&d_outputs[t * p..(t + 1) * p], outputs, &mut lambda[first..last]);
        }
        load(&trace.states[t * n..(t + 1) * n], from);
        carry.fill(S::zero());
        for first in (0..n).step_by(WIDTH) {
            seed(from, first, S::one());
            custom.step.step(theta, from, inputs, next);
            seed(from, first, S::zero());
            pull(lambda, next, &mut carry[first..n.min(first + WIDTH)]);
        }
    }
}

/// Adds to the gradient with respect to θ.
#[inline(always)]
fn theta_adjoint<T: Step, S: Scalar>(
    rolled: Rolled<'_, T, S>,
    given: (&[S], &[S]),
    duals: &mut Duals<S>,
    d_theta: &mut [S],
) {
    let (custom, drive, trace) = rolled;
    let m = custom.d_input();
    for first in (0..d_theta.len()).step_by(WIDTH) {
        seed(&mut duals.theta, first, S::one());
        let last = d_theta.len().min(first + WIDTH);
        let total = &mut d_theta[first..last];
        for t in 0..trace.n_time {
            load(&drive.inputs[t * m..(t + 1) * m], &mut duals.inputs);
            pull_step(rolled, t, given, duals, total);
        }
        seed(&mut duals.theta, first, S::zero());
    }
}
