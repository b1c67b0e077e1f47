//! The gated recurrent unit with every matrix and bias in θ.
//!
//! ```text
//! r = σ(V_r u + W_r x + b_r)                 reset          V: n × m,  W: n × n,  b, c: n
//! z = σ(V_z u + W_z x + b_z)                 update         x = x_{t−1}
//! h = tanh(V_h u + b_h + r ∘ (W_h x + c))    candidate
//! x_t = h + z ∘ (x − h)
//! ```
//! The form in which the reset gate multiplies the product, as in [`layer::Gru`](crate::layer::Gru); Cho et al. (2014).
//! The adjoint computes the gates again from x_{t−1}, so that a rollout keeps states alone.

use super::products::{
    add, multiply_add, outer_add, pull_back_add, sigmoid_slope, split, split_mut, tanh_slope,
};
use super::{Cell, CellGradient, CellSizes, CellView, Recurrent};
use crate::base::Base;
use crate::generator::{BlockSpec, Role};
use crate::kernel::Scalar;

/// Cell of [`Gru`](super::Gru). Blocks: `reset_input`, `update_input`, `candidate_input` (V), `reset_recurrent`,
/// `update_recurrent`, `candidate_recurrent` (W), `reset_bias`, `update_bias`, `candidate_bias` (b),
/// `candidate_recurrent_bias` (c).
#[derive(Clone, Debug, PartialEq)]
pub enum Gated {}

impl Gated {
    /// The three V, the three W, the three b, and c, each stacked in the order reset, update, candidate.
    #[inline(always)]
    fn lens(CellSizes { state: n, input: m }: CellSizes) -> [usize; 4] {
        [3 * n * m, 3 * n * n, 3 * n, n]
    }
}

/// Overwrites `gates` (4n) with r, z, h and W_h x + c.
#[inline(always)]
fn gates<S: Scalar>(at: CellView<'_, S>, gates: &mut [S]) {
    let n = at.sizes.state;
    let [v, w, b, c] = split(at.theta, Gated::lens(at.sizes));
    let (driven, product) = gates.split_at_mut(3 * n);
    driven.copy_from_slice(b);
    if let Some(inputs) = at.inputs {
        multiply_add(v, inputs, driven);
    }
    let [w_gates, w_candidate] = split(w, [2 * n * n, n * n]);
    multiply_add(w_gates, at.past, &mut driven[..2 * n]);
    product.copy_from_slice(c);
    multiply_add(w_candidate, at.past, product);
    let (open, candidate) = driven.split_at_mut(2 * n);
    for i in 0..2 * n {
        open[i] = open[i].sigmoid();
    }
    for i in 0..n {
        candidate[i] = open[i].mul_add(product[i], candidate[i]).tanh();
    }
}

impl Cell for Gated {
    const KIND: &'static str = "gru";

    fn blocks(CellSizes { state: n, input: m }: CellSizes) -> Vec<BlockSpec> {
        let each = 1.0 / (n.max(1) as f64).sqrt();
        let input = |name| BlockSpec::new(name, n * m, Role::Adapted).starting(0.0, 0.5);
        let recurrent =
            |name| BlockSpec::new(name, n * n, Role::Adapted).starting(0.0, each).gain(0.5 * each);
        let bias = |name, mean| BlockSpec::new(name, n, Role::Adapted).starting(mean, 0.1).gain(0.5);
        vec![
            input("reset_input"),
            input("update_input"),
            input("candidate_input"),
            recurrent("reset_recurrent"),
            recurrent("update_recurrent"),
            recurrent("candidate_recurrent"),
            bias("reset_bias", 0.0),
            // Keeps three quarters of the state at first, so that gradients reach the past.
            bias("update_bias", 1.0),
            bias("candidate_bias", 0.0),
            bias("candidate_recurrent_bias", 0.0),
        ]
    }

    fn system_len(_: CellSizes) -> usize {
        0
    }
    /// Gates, and gradients of their sums.
    fn work_len(sizes: CellSizes) -> usize {
        8 * sizes.state
    }
    #[inline(always)]
    fn prepare<S: Scalar>(_: CellSizes, _: &[S], _: &mut [S]) {}
    #[inline(always)]
    fn prepare_adjoint<S: Scalar>(_: CellView<'_, S>, _: &[S], _: &mut [S], _: &mut [S]) {}

    #[inline(always)]
    fn step<S: Scalar>(at: CellView<'_, S>, work: &mut [S], next: &mut [S]) {
        let n = at.sizes.state;
        gates(at, &mut work[..4 * n]);
        let [_, update, candidate] = split(work, [n, n, n]);
        for i in 0..n {
            next[i] = update[i].mul_add(at.past[i] - candidate[i], candidate[i]);
        }
    }

    #[inline(always)]
    fn step_adjoint<S: Scalar>(
        at: CellView<'_, S>,
        _: &[S],
        d_next: &[S],
        work: &mut [S],
        d: CellGradient<'_, S>,
    ) {
        let n = at.sizes.state;
        let (values, sums) = work.split_at_mut(4 * n);
        gates(at, values);
        let [reset, update, candidate, product] = split(values, [n; 4]);
        // Gradients of the three sums inside the functions, and of W_h x + c.
        let [d_reset, d_update, d_candidate, d_product] = split_mut(sums, [n; 4]);
        for i in 0..n {
            let (r, z, h) = (reset[i], update[i], candidate[i]);
            let d_h = d_next[i] * (S::one() - z) * tanh_slope(h);
            d_candidate[i] = d_h;
            d_update[i] = d_next[i] * (at.past[i] - h) * sigmoid_slope(z);
            d_reset[i] = d_h * product[i] * sigmoid_slope(r);
            d_product[i] = d_h * r;
            d.past[i] = d_next[i].mul_add(z, d.past[i]);
        }
        let [d_v, d_w, d_b, d_c] = split_mut(d.theta, Self::lens(at.sizes));
        add(&sums[..3 * n], d_b);
        add(&sums[3 * n..], d_c);
        if let Some(inputs) = at.inputs {
            outer_add(&sums[..3 * n], inputs, d_v);
        }
        let [v, w] = split(at.theta, [3 * n * at.sizes.input, 3 * n * n]);
        pull_back_add(v, &sums[..3 * n], d.inputs);
        let (d_gates, d_product) = (&sums[..2 * n], &sums[3 * n..]);
        outer_add(d_gates, at.past, &mut d_w[..2 * n * n]);
        outer_add(d_product, at.past, &mut d_w[2 * n * n..]);
        pull_back_add(&w[..2 * n * n], d_gates, d.past);
        pull_back_add(&w[2 * n * n..], d_product, d.past);
    }

    fn erase(network: Recurrent<Self>) -> Base {
        Base::new(network)
    }
}
