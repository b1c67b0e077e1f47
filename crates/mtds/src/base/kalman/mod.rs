//! The linear dynamical system with process noise, its state integrated out exactly by a Kalman filter.
//!
//! ```text
//! x_t = A x_{t−1} + B u_t + b + w_t      w_t ~ N(0, R)      x_0 ~ N(m_0, P_0), P_0 = 0 unless given
//! y_t = C x_t + D u_t + d + v_t          v_t ~ N(0, S)      A, B, C, D, b, d, S as in `base::lds`
//! ```
//! What does not depend on the outputs is computed once per θ and [`Pattern`] of observed outputs and serves every
//! sequence that shares them; only means are per sequence:
//!
//! ```text
//! θ ──→ Matrices ──→ Gains (a pattern) ──→ Means (a sequence) ──→ log p(y_{1:T} | θ)
//! θ̄ ←── SystemGradient ←── GainsGradient ←── pull, added up over sequences
//! ```
//! At each step the observed outputs o are whitened by a factor of S_oo, so that they are channels with independent
//! noise of variance 1, taken in one by one:
//!
//! ```text
//! f = 1 + hᵀ P h      k = P h / f      e = ỹ − hᵀ x      x ← x + k e      P ← P − f k kᵀ
//! log p = Σ −½ (e² / f + ln f + ln 2π) + Σ_t ln |W_o|        W_o S_oo W_oᵀ = I,  h = rows of W_o C_o
//! ```
//! P is kept as a factor F, P = F Fᵀ, so that it stays positive semidefinite in f32 (`root`). The adjoint is that of
//! the equations above, not of the factors (`adjoint`). References: Kalman (1960); Bierman (1977), *Factorization Methods for
//! Discrete Sequential Estimation*, for channels one by one and for factors.

mod adjoint;
mod channels;
mod factor;
mod forecast;
mod gains;
mod group;
mod means;
mod pattern;
mod root;
mod sum;
mod system;

use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use forecast::Belief;
pub use gains::Gains;
pub(crate) use group::GroupFilter;
pub use means::{GainsGradient, Means};
pub use pattern::Pattern;
pub use system::{Matrices, Pushes};

use super::erased::{pull_back_apart, roll_out_apart};
use super::{Base, BaseModel, Lds, Noise, NoiseForm, RolloutInputs, Trace, TraceGradient};
use crate::generator::{BlockSpec, Role};
use crate::kernel::Scalar;
use crate::{Error, Result};

/// Sizes and forms of a linear dynamical system with process noise.
///
/// θ is that of [`Lds`], then two blocks more: `process_noise` (logs of the diagonal of the Cholesky factor of R; for a diagonal R
/// these are log standard deviations) and, for a full R, `process_mixing` (its strict lower triangle by rows). Both are
/// shared by default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StochasticLds {
    /// The system without process noise.
    pub lds: Lds,
    /// Form of R.
    #[serde(default)]
    pub process_noise: NoiseForm,
}

impl StochasticLds {
    /// A system with diagonal R and S and sparse B.
    #[must_use]
    pub fn new(d_state: usize, d_obs: usize, d_input: usize) -> Self {
        Self { lds: Lds::new(d_state, d_obs, d_input), process_noise: NoiseForm::Diagonal }
    }

    /// Length of θ.
    #[must_use]
    pub fn theta_len(&self) -> usize {
        self.process_range().end
    }

    /// Where the raw values of R lie in θ.
    #[must_use]
    pub fn process_range(&self) -> Range<usize> {
        let start = self.lds.places().initial_state.end;
        start..start + self.process_noise.n_raw(self.lds.d_state)
    }
}

impl BaseModel for StochasticLds {
    const KIND: &'static str = "kalman";

    fn d_state(&self) -> usize {
        self.lds.d_state
    }
    fn d_obs(&self) -> usize {
        self.lds.d_obs
    }
    fn d_input(&self) -> usize {
        self.lds.d_input
    }

    fn blocks(&self) -> Vec<BlockSpec> {
        let n = self.lds.d_state;
        let mut blocks = self.lds.blocks();
        // Starts well below the noise of the outputs, whose log starts at 0: the system explains first what it can.
        blocks.push(BlockSpec { mean: -2.0, ..BlockSpec::new("process_noise", n, Role::Shared) });
        if self.process_noise == NoiseForm::Full {
            blocks.push(BlockSpec::new("process_mixing", self.process_range().len() - n, Role::Shared));
        }
        blocks
    }

    fn noise(&self) -> Noise {
        self.lds.noise()
    }
    fn system_len(&self) -> usize {
        self.lds.system_len()
    }
    fn validate(&self) -> Result<()> {
        self.lds.validate()
    }
    fn start_range(&self) -> Range<usize> {
        self.lds.start_range()
    }
    fn stochastic(&self) -> Option<&StochasticLds> {
        Some(self)
    }

    /// Of the mean: without process noise.
    #[inline(always)]
    fn rollout<S: Scalar>(
        &self,
        theta: &[S],
        start: Option<&[S]>,
        drive: RolloutInputs<'_, S>,
        trace: &mut Trace<S>,
    ) {
        let n = self.lds.d_state;
        roll_out_apart(&self.lds, theta, start.map(|start| &start[..n]), drive, trace);
    }

    #[inline(always)]
    fn adjoint<S: Scalar>(
        &self,
        theta: &[S],
        drive: RolloutInputs<'_, S>,
        trace: &Trace<S>,
        gradient: TraceGradient<'_, S>,
    ) {
        pull_back_apart(&self.lds, theta, drive, trace, gradient);
    }

    fn erase(self) -> Base {
        Base::new(self)
    }
}

/// Turns a factor of a covariance (n × n) into the lower triangular one with no negative diagonal.
pub(crate) fn lower_factor(factor: &mut [f64]) {
    let lower = root::lower(factor, factor.len().isqrt());
    factor.copy_from_slice(&lower);
}

/// Checks a length.
fn expect_len(what: &str, expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::shape(what, expected, found)) }
}

#[cfg(test)]
mod tests;
