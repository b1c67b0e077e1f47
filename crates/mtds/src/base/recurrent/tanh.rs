//! Cells with a hyperbolic tangent: any recurrent matrix, or one that never expands.
//!
//! ```text
//! x_t = tanh(W x_{t−1} + V u_t + b)          W: n × n, raw (rnn), or Σ Q (ornn);  V: n × m;  b: n
//! ā_t = λ_t ∘ (1 − x_t²)      W̄ += ā_t x_{t−1}ᵀ      V̄ += ā_t u_tᵀ      b̄ += ā_t      x̄_{t−1} = Wᵀ ā_t      ū_t += Vᵀ ā_t
//! ```
//! Σ = diag tanh υ and Q is the Cayley transform of a skew matrix, as in the linear system
//! (Bird & Williams 2020, supplement, "Parameterization of A").

use super::products::{add, multiply_add, outer_add, pull_back_add, split, split_mut, tanh_slope};
use super::{Cell, CellGradient, CellSizes, CellView, Recurrent};
use crate::base::Base;
use crate::base::lds::transition;
use crate::generator::{BlockSpec, Role};
use crate::kernel::Scalar;

/// Cell of [`Rnn`](super::Rnn). Blocks: `recurrent` (W), `input` (V), `bias` (b).
#[derive(Clone, Debug, PartialEq)]
pub enum Tanh {}

/// Cell of [`OrthogonalRnn`](super::OrthogonalRnn). Blocks: `decay` (υ), `rotation` (upper triangle of the skew matrix, by
/// rows), `input` (V), `bias` (b).
#[derive(Clone, Debug, PartialEq)]
pub enum OrthogonalTanh {}

/// W, V and b of a step.
type Weights<'a, S> = [&'a [S]; 3];
/// Their gradients.
type WeightGradients<'a, S> = [&'a mut [S]; 3];

#[inline(always)]
fn step<S: Scalar>([w, v, b]: Weights<'_, S>, past: &[S], inputs: Option<&[S]>, next: &mut [S]) {
    next.copy_from_slice(b);
    multiply_add(w, past, next);
    if let Some(inputs) = inputs {
        multiply_add(v, inputs, next);
    }
    for x in next {
        *x = x.tanh();
    }
}

/// `d_next` and `next` are λ_t and x_t; `d_sum` is scratch of n values for ā_t.
#[inline(always)]
fn step_adjoint<S: Scalar>(
    (w, v): (&[S], &[S]),
    (past, inputs): (&[S], Option<&[S]>),
    (next, d_next): (&[S], &[S]),
    d_sum: &mut [S],
    [d_w, d_v, d_b]: WeightGradients<'_, S>,
    (d_past, d_inputs): (&mut [S], &mut [S]),
) {
    for i in 0..next.len() {
        d_sum[i] = d_next[i] * tanh_slope(next[i]);
    }
    add(d_sum, d_b);
    outer_add(d_sum, past, d_w);
    pull_back_add(w, d_sum, d_past);
    pull_back_add(v, d_sum, d_inputs);
    if let Some(inputs) = inputs {
        outer_add(d_sum, inputs, d_v);
    }
}

/// V and b at the start of learning.
fn driven_blocks(CellSizes { state: n, input: m }: CellSizes) -> [BlockSpec; 2] {
    [
        BlockSpec::new("input", n * m, Role::Adapted).starting(0.0, 0.5),
        BlockSpec::new("bias", n, Role::Adapted).starting(0.0, 0.1).gain(0.5),
    ]
}

impl Tanh {
    #[inline(always)]
    fn lens(CellSizes { state: n, input: m }: CellSizes) -> [usize; 3] {
        [n * n, n * m, n]
    }
}

impl Cell for Tanh {
    const KIND: &'static str = "rnn";

    fn blocks(sizes: CellSizes) -> Vec<BlockSpec> {
        let n = sizes.state;
        // At 1/√n the matrix has a spectral radius of about 1: neither forgets at once nor saturates.
        let each = 1.0 / (n.max(1) as f64).sqrt();
        let mut blocks =
            vec![BlockSpec::new("recurrent", n * n, Role::Adapted).starting(0.0, each).gain(0.5 * each)];
        blocks.extend(driven_blocks(sizes));
        blocks
    }

    fn system_len(_: CellSizes) -> usize {
        0
    }
    fn work_len(sizes: CellSizes) -> usize {
        sizes.state
    }
    #[inline(always)]
    fn prepare<S: Scalar>(_: CellSizes, _: &[S], _: &mut [S]) {}
    #[inline(always)]
    fn prepare_adjoint<S: Scalar>(_: CellView<'_, S>, _: &[S], _: &mut [S], _: &mut [S]) {}

    #[inline(always)]
    fn step<S: Scalar>(at: CellView<'_, S>, _: &mut [S], next: &mut [S]) {
        step(split(at.theta, Self::lens(at.sizes)), at.past, at.inputs, next);
    }

    #[inline(always)]
    fn step_adjoint<S: Scalar>(
        at: CellView<'_, S>,
        next: &[S],
        d_next: &[S],
        work: &mut [S],
        d: CellGradient<'_, S>,
    ) {
        let lens = Self::lens(at.sizes);
        let ([w, v, _], weights) = (split(at.theta, lens), split_mut(d.theta, lens));
        let given = (at.past, at.inputs);
        step_adjoint((w, v), given, (next, d_next), work, weights, (d.past, d.inputs));
    }

    fn erase(network: Recurrent<Self>) -> Base {
        Base::new(network)
    }
}

impl OrthogonalTanh {
    #[inline(always)]
    fn lens(CellSizes { state: n, input: m }: CellSizes) -> [usize; 4] {
        [n, n * n.saturating_sub(1) / 2, n * m, n]
    }
}

impl Cell for OrthogonalTanh {
    const KIND: &'static str = "ornn";

    fn blocks(sizes: CellSizes) -> Vec<BlockSpec> {
        let [decay, rotation, ..] = Self::lens(sizes);
        let mut blocks = vec![
            BlockSpec::new("decay", decay, Role::Adapted).starting(1.6, 0.2),
            BlockSpec::new("rotation", rotation, Role::Adapted).starting(0.0, 0.25).gain(0.5),
        ];
        blocks.extend(driven_blocks(sizes));
        blocks
    }

    /// A, then Q.
    fn system_len(sizes: CellSizes) -> usize {
        2 * sizes.state * sizes.state
    }

    fn work_len(sizes: CellSizes) -> usize {
        sizes.state.max(2 * sizes.state * sizes.state)
    }

    #[inline(always)]
    fn prepare<S: Scalar>(sizes: CellSizes, theta: &[S], system: &mut [S]) {
        let [decay, rotation, _, _] = split(theta, Self::lens(sizes));
        let (a, q) = system.split_at_mut(sizes.state * sizes.state);
        transition::forward(decay, rotation, a, q);
    }

    #[inline(always)]
    fn prepare_adjoint<S: Scalar>(at: CellView<'_, S>, d_system: &[S], work: &mut [S], d_theta: &mut [S]) {
        let square = at.sizes.state * at.sizes.state;
        let [decay, rotation, _, _] = split(at.theta, Self::lens(at.sizes));
        let [d_decay, d_rotation, _, _] = split_mut(d_theta, Self::lens(at.sizes));
        let (q, work) = (&at.system[square..], &mut work[..2 * square]);
        transition::adjoint((decay, rotation), q, &d_system[..square], work, d_decay, d_rotation);
    }

    #[inline(always)]
    fn step<S: Scalar>(at: CellView<'_, S>, _: &mut [S], next: &mut [S]) {
        let [_, _, v, b] = split(at.theta, Self::lens(at.sizes));
        let a = &at.system[..at.sizes.state * at.sizes.state];
        step([a, v, b], at.past, at.inputs, next);
    }

    #[inline(always)]
    fn step_adjoint<S: Scalar>(
        at: CellView<'_, S>,
        next: &[S],
        d_next: &[S],
        work: &mut [S],
        d: CellGradient<'_, S>,
    ) {
        let square = at.sizes.state * at.sizes.state;
        let [_, _, v, _] = split(at.theta, Self::lens(at.sizes));
        let [_, _, d_v, d_b] = split_mut(d.theta, Self::lens(at.sizes));
        let weights = [&mut d.system[..square], d_v, d_b];
        let (given, work) = ((at.past, at.inputs), &mut work[..at.sizes.state]);
        step_adjoint((&at.system[..square], v), given, (next, d_next), work, weights, (d.past, d.inputs));
    }

    fn erase(network: Recurrent<Self>) -> Base {
        Base::new(network)
    }
}
