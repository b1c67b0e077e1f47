//! Recurrent networks as base models: any cell, then the same linear emission.
//!
//! ```text
//! x_t = f(x_{t−1}, u_t, θ)           f: tanh (rnn), tanh after A = Σ Q (ornn), gated (gru)
//! ŷ_t = C x_t + D u_t + d            C: p × n,  D: p × m,  d: p
//! y_t ~ N(ŷ_t, S)                    S diagonal, or full through a Cholesky factor
//! ```
//! All of θ may differ between particles, so every product is with a matrix of the particle's own. States are bounded by 1
//! as soon as the initial one is.

mod gated;
mod products;
mod readout;
mod rollout;
mod tanh;

use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use gated::Gated;
pub use tanh::{OrthogonalTanh, Tanh};

pub(super) use products::{add, pull_back_add, sigmoid_slope, split, split_mut};

use super::emission::{Noise, NoiseForm};
use super::{Base, BaseModel, RolloutInputs, Trace, TraceGradient, check_sizes};
use crate::Result;
use crate::generator::{BlockSpec, Role};
use crate::kernel::Scalar;

/// x_t = tanh(W x_{t−1} + V u_t + b).
pub type Rnn = Recurrent<Tanh>;
/// x_t = tanh(A x_{t−1} + V u_t + b) with A = Σ Q, ‖A‖₂ ≤ 1 for every θ.
pub type OrthogonalRnn = Recurrent<OrthogonalTanh>;
/// The gated recurrent unit; every matrix and bias of every gate is a block.
pub type Gru = Recurrent<Gated>;

/// Sizes and noise of a recurrent network with cell `C`.
///
/// Blocks of θ, in order: those of the cell, then `emission` (C), `feedthrough` (D), `offset` (d), `noise`, `initial_state`
/// (x₀); with [`OutputForm::Residual`] `initial_output` (ŷ₀), which is shared. By default z adapts all but `feedthrough` and `initial_state`, which are zero, and `noise`, which is shared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Recurrent<C> {
    /// State size n.
    pub d_state: usize,
    /// Output size p.
    pub d_obs: usize,
    /// Input size m.
    pub d_input: usize,
    /// Form of the emission covariance.
    #[serde(default)]
    pub noise_form: NoiseForm,
    /// Whether outputs are emitted as they are, or added up.
    #[serde(default)]
    pub output: OutputForm,
    #[serde(skip)]
    cell: PhantomData<C>,
}

/// What the emission gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputForm {
    /// ŷ_t = C x_t + D u_t + d.
    #[default]
    Direct,
    /// ŷ_t = ŷ_{t−1} + C x_t + D u_t + d: the network tells changes (Martinez, Black & Romero 2017). ŷ goes with the state, and ŷ_0
    /// is the block `initial_output`.
    Residual,
}

/// State size n and input size m of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellSizes {
    /// n.
    pub state: usize,
    /// m.
    pub input: usize,
}

/// What a step of a cell sees.
#[derive(Clone, Copy, Debug)]
pub struct CellView<'a, S> {
    /// Sizes of the cell.
    pub sizes: CellSizes,
    /// The blocks of the cell.
    pub theta: &'a [S],
    /// What [`Cell::prepare`] made of them.
    pub system: &'a [S],
    /// x_{t−1}.
    pub past: &'a [S],
    /// u_t, or nothing where all of it is zero.
    pub inputs: Option<&'a [S]>,
}

/// Gradients to which a step of a cell adds.
#[derive(Debug)]
pub struct CellGradient<'a, S> {
    /// With respect to the blocks of the cell.
    pub theta: &'a mut [S],
    /// With respect to what [`Cell::prepare`] made of them.
    pub system: &'a mut [S],
    /// With respect to x_{t−1}.
    pub past: &'a mut [S],
    /// With respect to u_t, or empty where nobody asks.
    pub inputs: &'a mut [S],
}

/// The transition of a recurrent network: a step and its adjoint.
///
/// Methods generic over `S` must be `#[inline(always)]` to be fast; see [`crate::kernel`].
pub trait Cell: Clone + Debug + PartialEq + Send + Sync + 'static {
    /// The name under which models with this cell are stored.
    const KIND: &'static str;

    /// The blocks of θ that the cell has, in order.
    fn blocks(sizes: CellSizes) -> Vec<BlockSpec>;
    /// How many values [`Cell::prepare`] writes.
    fn system_len(sizes: CellSizes) -> usize;
    /// How many values of scratch a step, its adjoint and [`Cell::prepare_adjoint`] need.
    fn work_len(sizes: CellSizes) -> usize;
    /// What follows from θ alone, once per rollout.
    fn prepare<S: Scalar>(sizes: CellSizes, theta: &[S], system: &mut [S]);
    /// Adds to the gradient with respect to θ, given that with respect to what [`Cell::prepare`] wrote.
    fn prepare_adjoint<S: Scalar>(at: CellView<'_, S>, d_system: &[S], work: &mut [S], d_theta: &mut [S]);
    /// Overwrites `next` with x_t.
    fn step<S: Scalar>(at: CellView<'_, S>, work: &mut [S], next: &mut [S]);
    /// Adds to the gradients of a step that led to `next`, given that with respect to it.
    fn step_adjoint<S: Scalar>(
        at: CellView<'_, S>,
        next: &[S],
        d_next: &[S],
        work: &mut [S],
        d: CellGradient<'_, S>,
    );
    /// As [`BaseModel::erase`], for the network with this cell.
    fn erase(network: Recurrent<Self>) -> Base;
}

impl<C: Cell> Recurrent<C> {
    /// A network with diagonal noise.
    #[must_use]
    pub fn new(d_state: usize, d_obs: usize, d_input: usize) -> Self {
        let (noise_form, output) = (NoiseForm::Diagonal, OutputForm::Direct);
        Self { d_state, d_obs, d_input, noise_form, output, cell: PhantomData }
    }

    /// The same network with another form of the emission covariance.
    #[must_use]
    pub fn with_noise(self, noise_form: NoiseForm) -> Self {
        Self { noise_form, ..self }
    }

    /// The same network with outputs that are added up, or not.
    #[must_use]
    pub fn with_output(self, output: OutputForm) -> Self {
        Self { output, ..self }
    }

    /// Outputs that go with the state.
    #[inline(always)]
    fn kept_outputs(&self) -> usize {
        if self.output == OutputForm::Residual { self.d_obs } else { 0 }
    }

    #[inline(always)]
    fn sizes(&self) -> CellSizes {
        CellSizes { state: self.d_state, input: self.d_input }
    }

    /// Where the blocks of the cell end and those of the emission begin.
    fn cell_len(&self) -> usize {
        C::blocks(self.sizes()).iter().map(|block| block.len).sum()
    }
}

impl<C: Cell> BaseModel for Recurrent<C> {
    const KIND: &'static str = C::KIND;

    fn d_state(&self) -> usize {
        self.d_state + self.kept_outputs()
    }
    fn d_obs(&self) -> usize {
        self.d_obs
    }
    fn d_input(&self) -> usize {
        self.d_input
    }

    fn blocks(&self) -> Vec<BlockSpec> {
        let mut blocks = C::blocks(self.sizes());
        blocks.extend(readout::blocks(self.sizes(), self.d_obs, self.noise_form));
        if self.output == OutputForm::Residual {
            blocks.push(BlockSpec::new("initial_output", self.d_obs, Role::Shared).starting(0.0, 0.0));
        }
        blocks
    }

    fn noise(&self) -> Noise {
        let start = self.cell_len() + readout::len(self.sizes(), self.d_obs);
        let range = start..start + self.noise_form.n_raw(self.d_obs);
        Noise { form: self.noise_form, d_obs: self.d_obs, range }
    }

    fn system_len(&self) -> usize {
        C::system_len(self.sizes())
    }

    fn validate(&self) -> Result<()> {
        check_sizes(self, "a recurrent network")
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
        start..start + BaseModel::d_state(self)
    }

    fn erase(self) -> Base {
        C::erase(self)
    }
}

#[cfg(test)]
mod tests;
