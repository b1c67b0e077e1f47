//! Rollout of the linear system and its adjoint.
//!
//! ```text
//! forward    x_t = A x_{t−1} + B u_t + b            ŷ_t = C x_t + D u_t + d
//! adjoint    λ_t = Cᵀ ȳ_t + Aᵀ λ_{t+1}              Ā += λ_t x_{t−1}ᵀ    B̄ += λ_t u_tᵀ    b̄ += λ_t
//!                                                   C̄ += ȳ_t x_tᵀ       D̄ += ȳ_t u_tᵀ    d̄ += ȳ_t
//! ```
//! States of up to eight dimensions run with their size known to the compiler, so that A, x and λ stay in
//! registers; larger ones run the same loops over slices.

use super::transition;
use super::{InputMap, Lds, Places};
use crate::base::recurrent::pull_back_add;
use crate::base::{RolloutInputs, Trace, TraceGradient};
use crate::kernel::{Outlined, Scalar};

/// Calls a function generic over the state size, with `0` standing for "known at run time only".
macro_rules! by_state_size {
    ($n:expr, $call:ident ( $($arg:expr),* )) => {
        match if S::BY_SIZE { $n } else { 0 } {
            1 => $call::<S, 1>($($arg),*),
            2 => $call::<S, 2>($($arg),*),
            3 => $call::<S, 3>($($arg),*),
            4 => $call::<S, 4>($($arg),*),
            5 => $call::<S, 5>($($arg),*),
            6 => $call::<S, 6>($($arg),*),
            7 => $call::<S, 7>($($arg),*),
            8 => $call::<S, 8>($($arg),*),
            _ => $call::<S, 0>($($arg),*),
        }
    };
}

/// The matrices of one pack, and sizes.
struct Matrices<'a, S> {
    n: usize,
    p: usize,
    m: usize,
    a: &'a [S],
    b: &'a [S],
    state_bias: &'a [S],
    emission: &'a [S],
    feedthrough: &'a [S],
    offset: &'a [S],
}

impl<'a, S: Scalar> Matrices<'a, S> {
    #[inline(always)]
    fn new(lds: &Lds, places: &Places, theta: &'a [S], system: &'a [S]) -> Self {
        let n = lds.d_state;
        Self {
            n,
            p: lds.d_obs,
            m: lds.d_input,
            a: &system[..n * n],
            b: &system[2 * n * n..],
            state_bias: &theta[places.state_bias.clone()],
            emission: &theta[places.emission.clone()],
            feedthrough: &theta[places.feedthrough.clone()],
            offset: &theta[places.offset.clone()],
        }
    }
}

#[inline(always)]
pub(super) fn forward<S: Scalar>(
    lds: &Lds,
    theta: &[S],
    start: Option<&[S]>,
    drive: RolloutInputs<'_, S>,
    trace: &mut Trace<S>,
) {
    let (n, places) = (lds.d_state, lds.places());
    let (a, rest) = trace.system.split_at_mut(n * n);
    let (q, b) = rest.split_at_mut(n * n);
    transition::forward(&theta[places.decay.clone()], &theta[places.rotation.clone()], a, q);
    input_matrix(lds, theta, &places, b);
    trace.states[..n].copy_from_slice(start.unwrap_or(&theta[places.initial_state.clone()]));
    let system = Matrices::new(lds, &places, theta, &trace.system);
    by_state_size!(n, steps(&system, drive, &mut trace.states, &mut trace.outputs));
}

#[inline(always)]
fn input_matrix<S: Scalar>(lds: &Lds, theta: &[S], places: &Places, b: &mut [S]) {
    let raw = &theta[places.input.clone()];
    match lds.input_map {
        InputMap::Tanh => {
            for i in 0..b.len() {
                b[i] = raw[i].tanh();
            }
        }
        InputMap::Sparse => {
            let gate = &theta[places.input_gate.clone()];
            for i in 0..b.len() {
                b[i] = gate[i].sigmoid() * raw[i].tanh();
            }
        }
    }
}

/// `N` is the state size, or 0 where the compiler does not know it.
#[inline(always)]
fn steps<S: Scalar, const N: usize>(
    s: &Matrices<'_, S>,
    drive: RolloutInputs<'_, S>,
    states: &mut [S],
    outputs: &mut [S],
) {
    let n = if N == 0 { s.n } else { N };
    for (t, y) in outputs.chunks_exact_mut(s.p).enumerate() {
        let (past, future) = states[t * n..(t + 2) * n].split_at_mut(n);
        for i in 0..n {
            future[i] = s.state_bias[i];
            for j in 0..n {
                future[i] = s.a[i * n + j].mul_add(past[j], future[i]);
            }
        }
        let u = &drive.inputs[t * s.m..(t + 1) * s.m];
        let quiet = drive.quiet[t];
        if !quiet {
            for i in 0..n {
                for j in 0..s.m {
                    future[i] = s.b[i * s.m + j].mul_add(u[j], future[i]);
                }
            }
        }
        for (o, y) in y.iter_mut().enumerate() {
            *y = s.offset[o];
            for j in 0..n {
                *y = s.emission[o * n + j].mul_add(future[j], *y);
            }
            if !quiet {
                for j in 0..s.m {
                    *y = s.feedthrough[o * s.m + j].mul_add(u[j], *y);
                }
            }
        }
    }
}

/// Gradients with respect to the matrices of one pack.
struct SystemGradient<'a, S> {
    a: &'a mut [S],
    b: &'a mut [S],
    state_bias: &'a mut [S],
    emission: &'a mut [S],
    feedthrough: &'a mut [S],
    offset: &'a mut [S],
    /// With respect to the inputs, or empty.
    inputs: &'a mut [S],
}

#[inline(always)]
pub(super) fn adjoint<S: Scalar>(
    lds: &Lds,
    theta: &[S],
    drive: RolloutInputs<'_, S>,
    trace: &Trace<S>,
    gradient: TraceGradient<'_, S>,
) {
    let (n, m, places) = (lds.d_state, lds.d_input, lds.places());
    let mut scratch = vec![S::zero(); 3 * n * n + n * m];
    let (d_a, rest) = scratch.split_at_mut(n * n);
    let (d_b, work) = rest.split_at_mut(n * m);
    let TraceGradient { outputs: d_outputs, theta: d_theta, start: d_start, inputs } = gradient;
    {
        let (_, tail) = d_theta.split_at_mut(places.state_bias.start);
        let (state_bias, tail) = tail.split_at_mut(places.state_bias.len());
        let (emission, tail) = tail.split_at_mut(places.emission.len());
        let (feedthrough, tail) = tail.split_at_mut(places.feedthrough.len());
        let offset = &mut tail[..places.offset.len()];
        let mut d = SystemGradient { a: d_a, b: d_b, state_bias, emission, feedthrough, offset, inputs };
        let system = Matrices::new(lds, &places, theta, &trace.system);
        by_state_size!(n, steps_adjoint(&system, drive, &trace.states, d_outputs, &mut d, d_start));
    }
    let (d_decay, rest) = d_theta.split_at_mut(places.rotation.start);
    let raw = (&theta[places.decay.clone()], &theta[places.rotation.clone()]);
    transition::adjoint(
        raw,
        &trace.system[n * n..2 * n * n],
        d_a,
        work,
        &mut d_decay[places.decay.clone()],
        &mut rest[..places.rotation.len()],
    );
    input_matrix_adjoint(lds, theta, &places, d_b, d_theta);
}

#[inline(always)]
fn steps_adjoint<S: Scalar, const N: usize>(
    s: &Matrices<'_, S>,
    drive: RolloutInputs<'_, S>,
    states: &[S],
    d_outputs: &[S],
    d: &mut SystemGradient<'_, S>,
    lambda: &mut [S],
) {
    let n = if N == 0 { s.n } else { N };
    lambda.fill(S::zero());
    // Small systems keep λ and its successor in an array; 8 covers every N of `by_state_size`.
    let (mut small, mut large) = ([S::zero(); 8], vec![S::zero(); if N == 0 { n } else { 0 }]);
    let next: &mut [S] = if N == 0 { &mut large } else { &mut small[..n] };
    for t in (0..d_outputs.len() / s.p).rev() {
        let (past, present) = states[t * n..(t + 2) * n].split_at(n);
        let (u, quiet) = (&drive.inputs[t * s.m..(t + 1) * s.m], drive.quiet[t]);
        for o in 0..s.p {
            let g = d_outputs[t * s.p + o];
            d.offset[o] += g;
            for i in 0..n {
                lambda[i] = g.mul_add(s.emission[o * n + i], lambda[i]);
                d.emission[o * n + i] = g.mul_add(present[i], d.emission[o * n + i]);
            }
            if !quiet {
                for j in 0..s.m {
                    d.feedthrough[o * s.m + j] = g.mul_add(u[j], d.feedthrough[o * s.m + j]);
                }
            }
        }
        for i in 0..n {
            d.state_bias[i] += lambda[i];
            for j in 0..n {
                d.a[i * n + j] = lambda[i].mul_add(past[j], d.a[i * n + j]);
            }
            if !quiet {
                for j in 0..s.m {
                    d.b[i * s.m + j] = lambda[i].mul_add(u[j], d.b[i * s.m + j]);
                }
            }
        }
        if !d.inputs.is_empty() {
            let d_u = &mut d.inputs[t * s.m..(t + 1) * s.m];
            S::outline::<PullInputs, _>((s.b, &lambda[..n], &mut *d_u));
            S::outline::<PullInputs, _>((s.feedthrough, &d_outputs[t * s.p..(t + 1) * s.p], d_u));
        }
        for j in 0..n {
            next[j] = S::zero();
            for i in 0..n {
                next[j] = s.a[i * n + j].mul_add(lambda[i], next[j]);
            }
        }
        lambda.copy_from_slice(&next[..n]);
    }
}

/// [`pull_back_add`], compiled once and not for every size of the state: few ask for it.
enum PullInputs {}

impl<'a, S: Scalar> Outlined<(&'a [S], &'a [S], &'a mut [S])> for PullInputs {
    type Output = ();

    #[inline(always)]
    fn run((matrix, d_out, d_u): (&'a [S], &'a [S], &'a mut [S])) {
        pull_back_add(matrix, d_out, d_u);
    }
}

#[inline(always)]
fn input_matrix_adjoint<S: Scalar>(lds: &Lds, theta: &[S], places: &Places, d_b: &[S], d_theta: &mut [S]) {
    let one_minus_square = |t: S| (-t).mul_add(t, S::one());
    for (i, &d) in d_b.iter().enumerate() {
        let t = theta[places.input.start + i].tanh();
        match lds.input_map {
            InputMap::Tanh => d_theta[places.input.start + i] += d * one_minus_square(t),
            InputMap::Sparse => {
                let g = theta[places.input_gate.start + i].sigmoid();
                d_theta[places.input.start + i] += d * g * one_minus_square(t);
                d_theta[places.input_gate.start + i] += d * t * (-g).mul_add(g, g);
            }
        }
    }
}
