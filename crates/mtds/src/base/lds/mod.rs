//! The linear dynamical system, any state, output and input size.
//!
//! ```text
//! x_t = A x_{t−1} + B u_t + b        A = Σ Q,  Σ = diag tanh υ,  Q = (I − S)(I + S)⁻¹,  S skew
//! ŷ_t = C x_t + D u_t + d            B = tanh B̃,  or sparse σ(B̃₁) ∘ tanh(B̃₂)
//! y_t ~ N(ŷ_t, S)                    S diagonal, or full through a Cholesky factor
//! ```
//! ‖A‖₂ ≤ 1 for every υ and every S (Bird & Williams 2020, supplement, "Parameterization of A").

mod rollout;
pub(super) mod transition;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::emission::{Noise, NoiseForm};
use super::{Base, BaseModel, RolloutInputs, Trace, TraceGradient, check_sizes};
use crate::Result;
use crate::generator::{BlockSpec, Role};
use crate::kernel::Scalar;

/// How the raw input matrix is bounded, which fixes the arbitrary scale of the state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputMap {
    /// B = tanh B̃.
    Tanh,
    /// B = σ(B̃₁) ∘ tanh(B̃₂): can switch an entry off.
    #[default]
    Sparse,
}

/// Sizes and forms of a linear dynamical system.
///
/// Blocks of θ, in order: `decay` (υ), `rotation` (upper triangle of S, by rows), `input_gate` (B̃₁, only
/// [`InputMap::Sparse`]), `input` (B̃), `state_bias` (b), `emission` (C), `feedthrough` (D), `offset` (d),
/// `noise`, `initial_state` (x₀). By default z adapts all but `feedthrough` and `initial_state`, which are
/// zero, and `noise`, which is shared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lds {
    /// State size n.
    pub d_state: usize,
    /// Output size p.
    pub d_obs: usize,
    /// Input size m.
    pub d_input: usize,
    /// Form of B.
    #[serde(default)]
    pub input_map: InputMap,
    /// Form of the emission covariance.
    #[serde(default)]
    pub noise_form: NoiseForm,
}

/// Where the blocks lie in θ.
pub(super) struct Places {
    pub decay: Range<usize>,
    pub rotation: Range<usize>,
    pub input_gate: Range<usize>,
    pub input: Range<usize>,
    pub state_bias: Range<usize>,
    pub emission: Range<usize>,
    pub feedthrough: Range<usize>,
    pub offset: Range<usize>,
    pub noise: Range<usize>,
    pub initial_state: Range<usize>,
}

impl Lds {
    /// A system with sparse B and diagonal noise.
    #[must_use]
    pub fn new(d_state: usize, d_obs: usize, d_input: usize) -> Self {
        Self { d_state, d_obs, d_input, input_map: InputMap::Sparse, noise_form: NoiseForm::Diagonal }
    }

    #[inline(always)]
    pub(super) fn places(&self) -> Places {
        let (n, p, m) = (self.d_state, self.d_obs, self.d_input);
        let mut end = 0;
        let mut next = |len: usize| {
            let start = end;
            end += len;
            start..end
        };
        Places {
            decay: next(n),
            rotation: next(n * n.saturating_sub(1) / 2),
            input_gate: next(if self.input_map == InputMap::Sparse { n * m } else { 0 }),
            input: next(n * m),
            state_bias: next(n),
            emission: next(p * n),
            feedthrough: next(p * m),
            offset: next(p),
            noise: next(self.noise_form.n_raw(p)),
            initial_state: next(n),
        }
    }
}

impl BaseModel for Lds {
    const KIND: &'static str = "lds";

    fn d_state(&self) -> usize {
        self.d_state
    }
    fn d_obs(&self) -> usize {
        self.d_obs
    }
    fn d_input(&self) -> usize {
        self.d_input
    }

    fn blocks(&self) -> Vec<BlockSpec> {
        let p = self.places();
        let block = |name, range: Range<usize>, role, (mean, spread), gain| BlockSpec {
            name,
            len: range.len(),
            role,
            mean,
            spread,
            gain,
        };
        // Starting values as measured on the oscillators: slow decay, gentle rotation, open input gates.
        let mut blocks = vec![
            block("decay", p.decay, Role::Adapted, (1.6, 0.2), 1.0),
            block("rotation", p.rotation, Role::Adapted, (0.0, 0.25), 0.5),
        ];
        if self.input_map == InputMap::Sparse {
            blocks.push(block("input_gate", p.input_gate, Role::Adapted, (1.0, 0.0), 1.0));
        }
        blocks.extend([
            block("input", p.input, Role::Adapted, (0.0, 0.5), 1.0),
            block("state_bias", p.state_bias, Role::Adapted, (0.0, 0.1), 1.0),
            block("emission", p.emission, Role::Adapted, (0.0, 0.5), 1.0),
            block("feedthrough", p.feedthrough, Role::Fixed(0.0), (0.0, 0.1), 1.0),
            block("offset", p.offset, Role::Adapted, (0.0, 0.1), 1.0),
            block("noise", p.noise, Role::Shared, (0.0, 0.0), 1.0),
            block("initial_state", p.initial_state, Role::Fixed(0.0), (0.0, 0.1), 1.0),
        ]);
        blocks
    }

    fn noise(&self) -> Noise {
        Noise { form: self.noise_form, d_obs: self.d_obs, range: self.places().noise }
    }

    fn system_len(&self) -> usize {
        2 * self.d_state * self.d_state + self.d_state * self.d_input
    }

    fn validate(&self) -> Result<()> {
        check_sizes(self, "a linear system")
    }

    #[inline(always)]
    fn rollout<S: Scalar>(
        &self,
        theta: &[S],
        start: Option<&[S]>,
        drive: RolloutInputs<'_, S>,
        trace: &mut Trace<S>,
    ) {
        rollout::forward(self, theta, start, drive, trace);
    }

    #[inline(always)]
    fn adjoint<S: Scalar>(
        &self,
        theta: &[S],
        drive: RolloutInputs<'_, S>,
        trace: &Trace<S>,
        gradient: TraceGradient<'_, S>,
    ) {
        rollout::adjoint(self, theta, drive, trace, gradient);
    }

    fn start_range(&self) -> Range<usize> {
        self.places().initial_state
    }

    fn erase(self) -> Base {
        Base::new(self)
    }
}

#[cfg(test)]
mod tests;
