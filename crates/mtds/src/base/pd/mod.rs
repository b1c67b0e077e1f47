//! The pharmacodynamic model: doses build up concentrations that wear off, and effects follow them monotonically.
//!
//! ```text
//! x_t  = k ∘ x_{t−1} + U u_t                              k = σ(β₁): n      U = softplus(β₂): n × m
//! ŷ_to = d_o + Σ_i e_oi (σ(g_oi x_ti − c_oi) − σ(−c_oi))  g = softplus(γ): p × n;  c, e: p × n;  d: p
//! y_t  ~ N(ŷ_t, S)                                        S diagonal, or full through a Cholesky factor
//! ```
//! Each output rises or falls with each concentration, never both, and is d where there is none. 0 < k < 1 and U > 0 for every
//! θ. The recursion is that of Bird, Williams & Hawthorne (2019) in discrete time; differs from theirs: one sigmoid for each
//! concentration and output stands for the curve of effects.

mod rollout;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::emission::{Noise, NoiseForm};
use super::{Base, BaseModel, RolloutInputs, Trace, TraceGradient, check_sizes};
use crate::Result;
use crate::generator::{BlockSpec, Role};
use crate::kernel::Scalar;

/// Sizes and noise of a pharmacodynamic model.
///
/// Blocks of θ, in order: `decay` (β₁), `uptake` (β₂), `slope` (γ), `threshold` (c), `effect` (e), `offset` (d), `noise`,
/// `initial_state` (x₀). By default z adapts all but `noise`, which is shared, and `initial_state`, which is zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pharmacodynamic {
    /// Number of concentrations n.
    pub d_state: usize,
    /// Output size p.
    pub d_obs: usize,
    /// Input size m: doses.
    pub d_input: usize,
    /// Form of the emission covariance.
    #[serde(default)]
    pub noise_form: NoiseForm,
}

impl Pharmacodynamic {
    /// A model with diagonal noise.
    #[must_use]
    pub fn new(d_state: usize, d_obs: usize, d_input: usize) -> Self {
        Self { d_state, d_obs, d_input, noise_form: NoiseForm::Diagonal }
    }

    /// Lengths of β₁, β₂, γ, c, e and d.
    #[inline(always)]
    fn lens(&self) -> [usize; 6] {
        let (n, p, m) = (self.d_state, self.d_obs, self.d_input);
        [n, n * m, p * n, p * n, p * n, p]
    }
}

impl BaseModel for Pharmacodynamic {
    const KIND: &'static str = "pd";

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
        let [decay, uptake, slope, threshold, effect, offset] = self.lens();
        let noise = self.noise_form.n_raw(self.d_obs);
        // A dose of 1 wears off within some ten steps, and repeated ones reach the bend of the sigmoid.
        vec![
            BlockSpec::new("decay", decay, Role::Adapted).starting(2.0, 0.5),
            BlockSpec::new("uptake", uptake, Role::Adapted).starting(-1.0, 0.5),
            BlockSpec::new("slope", slope, Role::Adapted).starting(0.5, 0.2).gain(0.5),
            BlockSpec::new("threshold", threshold, Role::Adapted).starting(1.0, 0.5),
            BlockSpec::new("effect", effect, Role::Adapted).starting(0.0, 1.0),
            BlockSpec::new("offset", offset, Role::Adapted).starting(0.0, 0.1),
            BlockSpec::new("noise", noise, Role::Shared),
            BlockSpec::new("initial_state", self.d_state, Role::Fixed(0.0)).starting(0.0, 0.1),
        ]
    }

    fn noise(&self) -> Noise {
        let start = self.lens().iter().sum();
        let range = start..start + self.noise_form.n_raw(self.d_obs);
        Noise { form: self.noise_form, d_obs: self.d_obs, range }
    }

    /// k, U, g and σ(−c).
    fn system_len(&self) -> usize {
        let [decay, uptake, slope, threshold, ..] = self.lens();
        decay + uptake + slope + threshold
    }

    fn validate(&self) -> Result<()> {
        check_sizes(self, "a pharmacodynamic model")
    }

    #[inline(always)]
    fn rollout<S: Scalar>(
        &self,
        theta: &[S],
        start: Option<&[S]>,
        drive: RolloutInputs<'_, S>,
        trace: &mut Trace<S>,
    ) {
        rollout::forward((self, theta, drive), start, trace);
    }

    #[inline(always)]
    fn adjoint<S: Scalar>(
        &self,
        theta: &[S],
        drive: RolloutInputs<'_, S>,
        trace: &Trace<S>,
        gradient: TraceGradient<'_, S>,
    ) {
        rollout::adjoint((self, theta, drive), trace, gradient);
    }

    fn start_range(&self) -> Range<usize> {
        let start = self.noise().range.end;
        start..start + self.d_state
    }

    fn erase(self) -> Base {
        Base::new(self)
    }
}

#[cfg(test)]
mod tests;
