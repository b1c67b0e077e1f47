//! Rollout of the pharmacodynamic model and its adjoint.
//!
//! ```text
//! forward    x_t = k ∘ x_{t−1} + U u_t         ŷ_to = d_o + Σ_i e_oi (s_toi − σ(−c_oi)),  s_toi = σ(g_oi x_ti − c_oi)
//! adjoint    ā_toi = ȳ_to e_oi s (1 − s)       λ_ti = k_i λ_{t+1,i} + Σ_o ā_toi g_oi
//!            ē += ȳ_to (s − σ(−c))             ḡ += ā x_ti      c̄ −= ā      k̄ += λ_t ∘ x_{t−1}      Ū += λ_t u_tᵀ
//! ```

use super::Pharmacodynamic;
use crate::base::recurrent::{add, pull_back_add, sigmoid_slope, split, split_mut};
use crate::base::{BaseModel, RolloutInputs, Trace, TraceGradient, step_of};
use crate::kernel::Scalar;

/// What both directions need: the model, θ and the inputs.
type SystemRun<'a, S> = (&'a Pharmacodynamic, &'a [S], RolloutInputs<'a, S>);

/// k, U, g, c, σ(−c), e and d of one pack.
struct Matrices<'a, S> {
    keep: &'a [S],
    uptake: &'a [S],
    slope: &'a [S],
    threshold: &'a [S],
    rest: &'a [S],
    effect: &'a [S],
    offset: &'a [S],
}

impl<'a, S: Scalar> Matrices<'a, S> {
    #[inline(always)]
    fn new(pd: &Pharmacodynamic, theta: &'a [S], system: &'a [S]) -> Self {
        let lens = pd.lens();
        let [_, _, _, threshold, effect, offset] = split(theta, lens);
        let [keep, uptake, slope, rest] = split(system, [lens[0], lens[1], lens[2], lens[3]]);
        Self { keep, uptake, slope, threshold, rest, effect, offset }
    }
}

/// Writes k, U, g and σ(−c).
#[inline(always)]
fn prepare<S: Scalar>(pd: &Pharmacodynamic, theta: &[S], system: &mut [S]) {
    let [n_keep, n_uptake, n_slope, n_threshold, ..] = pd.lens();
    let positive = n_keep + n_uptake + n_slope;
    for i in 0..n_keep {
        system[i] = theta[i].sigmoid();
    }
    for i in n_keep..positive {
        system[i] = theta[i].softplus();
    }
    for i in positive..positive + n_threshold {
        system[i] = (-theta[i]).sigmoid();
    }
}

#[inline(always)]
pub(super) fn forward<S: Scalar>(
    (pd, theta, drive): SystemRun<'_, S>,
    start: Option<&[S]>,
    trace: &mut Trace<S>,
) {
    let (n, p, m) = (pd.d_state, pd.d_obs, pd.d_input);
    prepare(pd, theta, &mut trace.system);
    trace.states[..n].copy_from_slice(start.unwrap_or(&theta[pd.start_range()]));
    let s = Matrices::new(pd, theta, &trace.system);
    for t in 0..trace.n_time {
        let (past, x) = trace.states[t * n..(t + 2) * n].split_at_mut(n);
        let u = &drive.inputs[t * m..(t + 1) * m];
        for i in 0..n {
            let mut sum = s.keep[i] * past[i];
            if !drive.quiet[t] {
                for j in 0..m {
                    sum = s.uptake[i * m + j].mul_add(u[j], sum);
                }
            }
            x[i] = sum;
        }
        for o in 0..p {
            let mut sum = s.offset[o];
            for i in 0..n {
                let at = o * n + i;
                let response = s.slope[at].mul_add(x[i], -s.threshold[at]).sigmoid() - s.rest[at];
                sum = s.effect[at].mul_add(response, sum);
            }
            trace.outputs[t * p + o] = sum;
        }
    }
}

/// Gradients with respect to k, U, g and σ(−c), and to c, e and d.
struct SystemGradient<'a, S> {
    keep: &'a mut [S],
    uptake: &'a mut [S],
    slope: &'a mut [S],
    rest: &'a mut [S],
    threshold: &'a mut [S],
    effect: &'a mut [S],
    offset: &'a mut [S],
}

#[inline(always)]
pub(super) fn adjoint<S: Scalar>(
    (pd, theta, drive): SystemRun<'_, S>,
    trace: &Trace<S>,
    gradient: TraceGradient<'_, S>,
) {
    let (n, p, lens) = (pd.d_state, pd.d_obs, pd.lens());
    let TraceGradient { outputs: d_outputs, theta: d_theta, start: lambda, inputs: d_inputs } = gradient;
    let mut d_system = vec![S::zero(); trace.system.len()];
    let s = Matrices::new(pd, theta, &trace.system);
    {
        let [_, _, _, threshold, effect, offset] = split_mut(d_theta, lens);
        let [keep, uptake, slope, rest] = split_mut(&mut d_system, [lens[0], lens[1], lens[2], lens[3]]);
        let mut d = SystemGradient { keep, uptake, slope, rest, threshold, effect, offset };
        lambda.fill(S::zero());
        for t in (0..trace.n_time).rev() {
            let (past, x) = trace.states[t * n..(t + 2) * n].split_at(n);
            emission_adjoint(&s, x, &d_outputs[t * p..(t + 1) * p], &mut d, lambda);
            let (m, quiet) = (pd.d_input, drive.quiet[t]);
            pull_back_add(s.uptake, lambda, step_of(d_inputs, t, m));
            transition_adjoint(&s, past, (&drive.inputs[t * m..(t + 1) * m], quiet), &mut d, lambda);
        }
    }
    prepare_adjoint(pd, theta, &trace.system, &d_system, d_theta);
}

#[inline(always)]
fn emission_adjoint<S: Scalar>(
    s: &Matrices<'_, S>,
    x: &[S],
    d_out: &[S],
    d: &mut SystemGradient<'_, S>,
    lambda: &mut [S],
) {
    add(d_out, d.offset);
    let n = x.len();
    for o in 0..d_out.len() {
        for i in 0..n {
            let at = o * n + i;
            let response = s.slope[at].mul_add(x[i], -s.threshold[at]).sigmoid();
            let d_response = d_out[o] * s.effect[at];
            let d_sum = d_response * sigmoid_slope(response);
            d.effect[at] = d_out[o].mul_add(response - s.rest[at], d.effect[at]);
            d.slope[at] = d_sum.mul_add(x[i], d.slope[at]);
            d.threshold[at] -= d_sum;
            d.rest[at] -= d_response;
            lambda[i] = d_sum.mul_add(s.slope[at], lambda[i]);
        }
    }
}

/// Leaves the gradient with respect to x_{t−1} in `lambda`.
#[inline(always)]
fn transition_adjoint<S: Scalar>(
    s: &Matrices<'_, S>,
    past: &[S],
    (u, quiet): (&[S], bool),
    d: &mut SystemGradient<'_, S>,
    lambda: &mut [S],
) {
    let m = u.len();
    for i in 0..past.len() {
        d.keep[i] = lambda[i].mul_add(past[i], d.keep[i]);
        if !quiet {
            for j in 0..m {
                d.uptake[i * m + j] = lambda[i].mul_add(u[j], d.uptake[i * m + j]);
            }
        }
        lambda[i] = s.keep[i] * lambda[i];
    }
}

/// From k, U, g and σ(−c) to raw values.
#[inline(always)]
fn prepare_adjoint<S: Scalar>(
    pd: &Pharmacodynamic,
    theta: &[S],
    system: &[S],
    d_system: &[S],
    d_theta: &mut [S],
) {
    let [n_keep, n_uptake, n_slope, n_threshold, ..] = pd.lens();
    let positive = n_keep + n_uptake + n_slope;
    for i in 0..n_keep {
        d_theta[i] += d_system[i] * sigmoid_slope(system[i]);
    }
    for i in n_keep..positive {
        d_theta[i] += d_system[i] * theta[i].sigmoid();
    }
    for i in positive..positive + n_threshold {
        d_theta[i] -= d_system[i] * sigmoid_slope(system[i]);
    }
}
