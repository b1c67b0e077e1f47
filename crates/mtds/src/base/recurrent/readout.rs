//! The linear emission ŷ_t = C x_t + D u_t + d of a recurrent network, its blocks and its adjoint.
//!
//! ```text
//! C̄ += ȳ_t x_tᵀ      D̄ += ȳ_t u_tᵀ      d̄ += ȳ_t      x̄_t += Cᵀ ȳ_t      ū_t += Dᵀ ȳ_t
//! ```

use super::CellSizes;
use super::products::{add, multiply_add, outer_add, pull_back_add, split, split_mut};
use crate::base::emission::NoiseForm;
use crate::generator::{BlockSpec, Role};
use crate::kernel::Scalar;

#[inline(always)]
fn lens(sizes: CellSizes, d_obs: usize) -> [usize; 3] {
    [d_obs * sizes.state, d_obs * sizes.input, d_obs]
}

/// Entries of C, D and d.
#[inline(always)]
pub(super) fn len(sizes: CellSizes, d_obs: usize) -> usize {
    lens(sizes, d_obs).iter().sum()
}

/// The blocks after those of the cell: C, D, d, noise, x_0.
pub(super) fn blocks(sizes: CellSizes, d_obs: usize, noise: NoiseForm) -> [BlockSpec; 5] {
    let [emission, feedthrough, offset] = lens(sizes, d_obs);
    // Outputs of order 1 from states of order 1, however many there are.
    let each = (1.0 / (sizes.state.max(1) as f64).sqrt()).min(0.5);
    [
        BlockSpec::new("emission", emission, Role::Adapted).starting(0.0, each).gain(2.0 * each),
        BlockSpec::new("feedthrough", feedthrough, Role::Fixed(0.0)).starting(0.0, 0.1),
        BlockSpec::new("offset", offset, Role::Adapted).starting(0.0, 0.1),
        BlockSpec::new("noise", noise.n_raw(d_obs), Role::Shared),
        BlockSpec::new("initial_state", sizes.state, Role::Fixed(0.0)).starting(0.0, 0.1),
    ]
}

/// Writes ŷ_t.
#[inline(always)]
pub(super) fn emit<S: Scalar>(theta: &[S], state: &[S], inputs: Option<&[S]>, out: &mut [S]) {
    let n_input = inputs.map_or(0, <[S]>::len);
    let d_obs = out.len();
    let [emission, rest] = split(theta, [d_obs * state.len(), theta.len() - d_obs * state.len()]);
    let (feedthrough, offset) = rest.split_at(rest.len() - d_obs);
    out.copy_from_slice(offset);
    multiply_add(emission, state, out);
    if let Some(inputs) = inputs {
        multiply_add(&feedthrough[..d_obs * n_input], inputs, out);
    }
}

/// Adds to the gradients with respect to C, D, d, x_t and, where it is not empty, u_t.
#[inline(always)]
pub(super) fn emit_adjoint<S: Scalar>(
    theta: &[S],
    (state, inputs): (&[S], Option<&[S]>),
    d_out: &[S],
    d_theta: &mut [S],
    (d_state, d_inputs): (&mut [S], &mut [S]),
) {
    let d_obs = d_out.len();
    let n_emission = d_obs * state.len();
    let n_feedthrough = d_theta.len() - n_emission - d_obs;
    let [d_emission, d_feedthrough, d_offset] = split_mut(d_theta, [n_emission, n_feedthrough, d_obs]);
    add(d_out, d_offset);
    outer_add(d_out, state, d_emission);
    pull_back_add(&theta[..n_emission], d_out, d_state);
    pull_back_add(&theta[n_emission..n_emission + n_feedthrough], d_out, d_inputs);
    if let Some(inputs) = inputs {
        outer_add(d_out, inputs, d_feedthrough);
    }
}
