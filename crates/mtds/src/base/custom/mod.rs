//! A base model from one step that a user writes; gradients follow by themselves.
//!
//! ```text
//! x_t = step(θ, x_{t−1}, u_t)      ŷ_t = emit(θ, x_t, u_t)      y_t ~ N(ŷ_t, S)
//! ```
//! A [`Step`] is a few lines over [`Scalar`]; [`Custom`] makes it a [`BaseModel`], with noise and an initial state as further
//! blocks of θ. Derivatives come from [`Dual`] numbers. The page `docs/custom-base-model.md` builds one from start to end.

mod adjoint;
mod dual;

use std::fmt::Debug;
use std::ops::Range;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use dual::Dual;

use super::emission::{Noise, NoiseForm};
use super::{Base, BaseModel, RolloutInputs, Trace, TraceGradient, check_sizes};
use crate::generator::{BlockSpec, Role};
use crate::kernel::Scalar;
use crate::{Error, Result};

/// Sizes of a system that a user writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepSizes {
    /// Width of the state n.
    pub state: usize,
    /// Width of the outputs p.
    pub output: usize,
    /// Width of the inputs m; 0 for none.
    pub input: usize,
}

/// A dynamical system as its equations.
///
/// Both functions should be `#[inline(always)]`, and must not branch on values: a scalar may be sixteen particles at once.
/// They should give numbers for every θ, so bound what must be bounded, e.g. by [`Scalar::sigmoid`].
pub trait Step: Clone + Debug + Send + Sync + Serialize + DeserializeOwned + 'static {
    /// The name under which models of this kind are stored.
    const KIND: &'static str;

    /// Widths of state, outputs and inputs.
    fn sizes(&self) -> StepSizes;
    /// The blocks of θ that the equations use, in order; `noise` and `initial_state` come after them by themselves.
    fn blocks(&self) -> Vec<BlockSpec>;
    /// Overwrites `next` with x_t, given θ (the blocks above), x_{t−1} and u_t.
    fn step<S: Scalar>(&self, theta: &[S], past: &[S], inputs: &[S], next: &mut [S]);
    /// Overwrites `outputs` with ŷ_t, given θ, x_t and u_t.
    fn emit<S: Scalar>(&self, theta: &[S], state: &[S], inputs: &[S], outputs: &mut [S]);
}

/// The base model of a [`Step`]. By default its noise is shared and its initial state zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "T: Serialize", deserialize = "T: DeserializeOwned"))]
pub struct Custom<T> {
    /// The equations.
    pub step: T,
    /// Form of the emission covariance.
    #[serde(default)]
    pub noise_form: NoiseForm,
}

impl<T: Step> Custom<T> {
    /// A base model with diagonal noise.
    #[must_use]
    pub fn new(step: T) -> Self {
        Self { step, noise_form: NoiseForm::Diagonal }
    }

    /// Entries of θ that the equations use.
    fn own_len(&self) -> usize {
        self.step.blocks().iter().map(|block| block.len).sum()
    }
}

impl<T: Step> BaseModel for Custom<T> {
    const KIND: &'static str = T::KIND;

    fn d_state(&self) -> usize {
        self.step.sizes().state
    }
    fn d_obs(&self) -> usize {
        self.step.sizes().output
    }
    fn d_input(&self) -> usize {
        self.step.sizes().input
    }

    fn blocks(&self) -> Vec<BlockSpec> {
        let mut blocks = self.step.blocks();
        blocks.push(BlockSpec::new("noise", self.noise_form.n_raw(self.d_obs()), Role::Shared));
        let start = BlockSpec::new("initial_state", self.d_state(), Role::Fixed(0.0));
        blocks.push(start.starting(0.0, 0.1));
        blocks
    }

    fn noise(&self) -> Noise {
        let (start, d_obs) = (self.own_len(), self.d_obs());
        Noise { form: self.noise_form, d_obs, range: start..start + self.noise_form.n_raw(d_obs) }
    }

    fn system_len(&self) -> usize {
        0
    }

    fn validate(&self) -> Result<()> {
        check_sizes(self, "a dynamical system")?;
        let blocks = self.blocks();
        let is_twice = |i: usize| blocks[..i].iter().any(|before| before.name == blocks[i].name);
        match (0..blocks.len()).find(|&i| is_twice(i)) {
            Some(i) => {
                let why = format!("found `{}` twice; give each a name, other than `noise`", blocks[i].name);
                Err(Error::setting("blocks", why + " and `initial_state`"))
            }
            None => Ok(()),
        }
    }

    #[inline(always)]
    fn rollout<S: Scalar>(
        &self,
        theta: &[S],
        start: Option<&[S]>,
        drive: RolloutInputs<'_, S>,
        trace: &mut Trace<S>,
    ) {
        adjoint::forward((self, theta, drive), start, trace);
    }

    #[inline(always)]
    fn adjoint<S: Scalar>(
        &self,
        theta: &[S],
        drive: RolloutInputs<'_, S>,
        trace: &Trace<S>,
        gradient: TraceGradient<'_, S>,
    ) {
        adjoint::adjoint((self, theta, drive), trace, gradient);
    }

    fn start_range(&self) -> Range<usize> {
        let start = self.noise().range.end;
        start..start + self.d_state()
    }

    /// Compiled in the crate that uses the model: no other knows the equations.
    fn erase(self) -> Base {
        Base::new(self)
    }
}

/// The page is a test: what it shows compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../../../../docs/custom-base-model.md")]
struct Page;

#[cfg(test)]
mod tests;
