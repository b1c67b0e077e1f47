//! Base models: the dynamical systems that a code customises.
//!
//! A base model maps raw parameters θ and inputs to predicted outputs, many particles at once:
//!
//! ```text
//! x_t = f(x_{t−1}, u_t, θ)      ŷ_t = g(x_t, u_t, θ)      t = 1 … T      x_0 given or part of θ
//! ```
//! Everything is written once over [`Scalar`]: one lane per particle (or per particle and sequence).

#[cfg(test)]
mod checks;
pub mod custom;
pub mod emission;
mod erased;
pub mod kalman;
mod kinds;
pub mod lds;
mod likelihood;
mod names;
pub mod pd;
pub mod recurrent;

use serde::{Serialize, de::DeserializeOwned};

pub use emission::{Noise, NoiseForm};
pub use erased::Base;
pub use kalman::StochasticLds;
pub use kinds::Kinds;
pub use lds::{InputMap, Lds};
pub(crate) use likelihood::{GroupInputs, Likelihood, Subject};
pub use names::BaseName;
pub use pd::Pharmacodynamic;
pub use recurrent::{Gru, OrthogonalRnn, OutputForm, Rnn};

use crate::generator::BlockSpec;
use crate::kernel::Scalar;
use crate::{Error, Result};

/// The inputs of a rollout.
#[derive(Clone, Copy, Debug)]
pub struct RolloutInputs<'a, S> {
    /// `n_time × d_input`, row-major.
    pub inputs: &'a [S],
    /// Steps at which every input is zero in every lane, so that their product can be skipped.
    pub quiet: &'a [bool],
}

/// Refuses a base model without a state or outputs; `what` says which kind it is.
fn check_sizes<B: BaseModel>(base: &B, what: &str) -> Result<()> {
    match [("d_state", base.d_state()), ("d_obs", base.d_obs())].iter().find(|(_, size)| *size == 0) {
        Some((name, _)) => Err(Error::setting(*name, format!("found 0; {what} needs at least 1"))),
        None => Ok(()),
    }
}

/// The part of a gradient with respect to inputs that belongs to step `t`; empty where nobody asks for it.
#[inline(always)]
pub(crate) fn step_of<S>(d_inputs: &mut [S], t: usize, width: usize) -> &mut [S] {
    if d_inputs.is_empty() { d_inputs } else { &mut d_inputs[t * width..(t + 1) * width] }
}

/// A rollout of one pack, kept for the adjoint.
#[derive(Clone, Debug)]
pub struct Trace<S> {
    /// Number of steps.
    pub n_time: usize,
    /// x_0, then x_1 … x_T: `(n_time + 1) × d_state`.
    pub states: Vec<S>,
    /// ŷ_1 … ŷ_T: `n_time × d_obs`.
    pub outputs: Vec<S>,
    /// What the base model derives from θ once per rollout.
    pub system: Vec<S>,
}

impl<S: Scalar> Trace<S> {
    fn new(n_time: usize, d_state: usize, d_obs: usize, system_len: usize) -> Self {
        Self {
            n_time,
            states: vec![S::zero(); (n_time + 1) * d_state],
            outputs: vec![S::zero(); n_time * d_obs],
            system: vec![S::zero(); system_len],
        }
    }
}

/// Gradients of a scalar with respect to what a rollout produced and consumed.
#[derive(Debug)]
pub struct TraceGradient<'a, S> {
    /// With respect to the outputs: `n_time × d_obs`.
    pub outputs: &'a [S],
    /// With respect to θ; the adjoint adds to it.
    pub theta: &'a mut [S],
    /// With respect to x_0, whether it came from θ or from the caller; the adjoint overwrites it.
    pub start: &'a mut [S],
    /// With respect to the inputs, `n_time × d_input`, or empty where nobody asks; the adjoint adds to it.
    pub inputs: &'a mut [S],
}

/// A dynamical system with deterministic state and Gaussian emission.
///
/// Methods generic over `S` must be `#[inline(always)]` to be fast.
pub trait BaseModel: Clone + std::fmt::Debug + Send + Sync + Serialize + DeserializeOwned + 'static {
    /// The name under which models of this kind are stored.
    const KIND: &'static str;

    /// Width of the state.
    fn d_state(&self) -> usize;
    /// Width of the outputs.
    fn d_obs(&self) -> usize;
    /// Width of the inputs; 0 for none.
    fn d_input(&self) -> usize;
    /// The blocks of θ, in order.
    fn blocks(&self) -> Vec<BlockSpec>;
    /// The covariance of the emission, and where in θ its parameters lie.
    fn noise(&self) -> Noise;
    /// How many values [`Trace::system`] needs.
    fn system_len(&self) -> usize;

    /// Checks the sizes.
    ///
    /// # Errors
    /// A size that makes no model, e.g. no output.
    fn validate(&self) -> Result<()>;

    /// Rolls out `trace.n_time` steps, from `start` or else from the initial state in θ.
    fn rollout<S: Scalar>(
        &self,
        theta: &[S],
        start: Option<&[S]>,
        drive: RolloutInputs<'_, S>,
        trace: &mut Trace<S>,
    );

    /// The adjoint of [`BaseModel::rollout`].
    fn adjoint<S: Scalar>(
        &self,
        theta: &[S],
        drive: RolloutInputs<'_, S>,
        trace: &Trace<S>,
        gradient: TraceGradient<'_, S>,
    );

    /// The block of θ that holds the initial state.
    fn start_range(&self) -> std::ops::Range<usize>;

    /// The linear system with process noise that this one is, if its state is random given θ: likelihoods then come
    /// from a filter, and the rollout is that of the mean.
    fn stochastic(&self) -> Option<&StochasticLds> {
        None
    }

    /// Forgets the type: `Base::new(self)`. Written out in the crate that defines the base model, so that its rollouts are
    /// compiled there and nowhere else.
    fn erase(self) -> Base;

    /// Scratch for a rollout of `n_time` steps.
    fn trace<S: Scalar>(&self, n_time: usize) -> Trace<S> {
        Trace::new(n_time, self.d_state(), self.d_obs(), self.system_len())
    }
}
