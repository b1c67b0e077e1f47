//! Layers over whole sequences: dense, tanh recurrent and gated recurrent, forward and adjoint, any size.
//!
//! ```text
//! inputs   rows t · n_seq + i, a column per input      start    n_seq × d_state
//! outputs  rows t · n_seq + i, a column per output     n_seq sequences of n_time steps each
//! ```
//! A call takes a whole set of sequences and never shows a step: another device fits behind the same calls.
//! Once per training step [`Layer::arrange`] packs the parameters; [`Layer::forward`] leaves in a tape what
//! [`Layer::adjoint`] needs. Sequences of unequal length are padded at their end: outputs do not depend on later
//! inputs, and a gradient of zero at the padding adds nothing.

mod dense;
mod gru;
mod gru_weights;
mod rnn;
#[cfg(test)]
mod tests;

use std::fmt::Debug;

pub use dense::{Bias, Dense, DenseTape, DenseWeights};
pub use gru::{Gru, GruTape};
pub use gru_weights::GruWeights;
pub use rnn::{Rnn, RnnTape, RnnWeights};

use crate::error::{Error, Result};
use crate::generator::Tensor;
use crate::kernel::{Panels, PanelsRef, Real};

/// Of states of `n_seq` sequences, their start first, those after every step.
fn after_start<R: Real>(states: &Panels<R>, n_seq: usize) -> PanelsRef<'_, R> {
    states.rows(n_seq, states.n_rows() - n_seq)
}

/// Of the same states those after the last step.
fn at_end<R: Real>(states: &Panels<R>, n_seq: usize) -> Panels<R> {
    states.rows(states.n_rows() - n_seq, n_seq).to_panels()
}

/// A layer that maps sequences to sequences, with what its adjoint needs.
pub trait Layer: Clone + Debug + Send + Sync {
    /// Parameters arranged for the hot loops.
    type Weights<R: Real>: Clone + Debug + Default + Send + Sync;
    /// What a forward pass leaves for the adjoint; reused, it keeps its memory.
    type Tape<R: Real>: Clone + Debug + Default + Send + Sync;

    /// Width of the inputs.
    fn d_in(&self) -> usize;
    /// Width of the outputs.
    fn d_out(&self) -> usize;
    /// Width of the state that is carried from step to step; 0 if there is none.
    fn d_state(&self) -> usize;
    /// The parameters, in the order of the flat vector; matrices are row-major, a row per output.
    fn tensors(&self) -> Vec<Tensor>;

    /// Length of the flat vector of parameters.
    fn n_parameters(&self) -> usize {
        self.tensors().last().map_or(0, |tensor| tensor.range().end)
    }

    /// Packs parameters.
    ///
    /// # Errors
    /// If `parameters` has not [`Layer::n_parameters`] numbers.
    fn arrange<R: Real>(&self, parameters: &[R], weights: &mut Self::Weights<R>) -> Result<()>;

    /// Runs all sequences; what comes out is [`Layer::outputs`] and [`Layer::end`] of the tape.
    ///
    /// `start` has a row per sequence and [`Layer::d_state`] columns. NaN in, NaN out: nothing hides it.
    ///
    /// # Errors
    /// If the sizes do not fit, or the weights were not arranged for this layer.
    fn forward<R: Real>(
        &self,
        weights: &Self::Weights<R>,
        inputs: PanelsRef<'_, R>,
        start: &Panels<R>,
        tape: &mut Self::Tape<R>,
    ) -> Result<()>;

    /// The outputs of the last forward pass, `(n_time · n_seq) × d_out`.
    fn outputs<'a, R: Real>(&self, tape: &'a Self::Tape<R>) -> PanelsRef<'a, R>;

    /// The states after the last step, `n_seq × d_state`: where a continuation starts.
    fn end<R: Real>(&self, tape: &Self::Tape<R>) -> Panels<R>;

    /// Pulls the gradient `d_outputs` of the outputs back to parameters, inputs and start.
    ///
    /// `inputs` are those of the forward pass. The tape is used up: the next adjoint needs a forward pass first.
    ///
    /// # Errors
    /// If the sizes do not fit, or the tape holds no forward pass of this layer.
    fn adjoint<R: Real>(
        &self,
        weights: &Self::Weights<R>,
        inputs: PanelsRef<'_, R>,
        d_outputs: PanelsRef<'_, R>,
        tape: &mut Self::Tape<R>,
        gradient: &mut Gradient<'_, R>,
    ) -> Result<()>;
}

/// Where an adjoint leaves its results.
#[derive(Debug)]
pub struct Gradient<'a, R> {
    /// With respect to the parameters; added to what is there.
    pub parameters: &'a mut [R],
    /// With respect to the inputs, if wanted; overwritten, and resized where needed.
    pub inputs: Option<&'a mut Panels<R>>,
    /// With respect to the start; overwritten, and resized where needed.
    pub start: &'a mut Panels<R>,
}

/// How many sequences, of how many steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Extent {
    n_time: usize,
    n_seq: usize,
}

impl Extent {
    /// The extent of inputs and start, if they fit the layer.
    fn of<L: Layer, R: Real>(layer: &L, inputs: PanelsRef<'_, R>, start: &Panels<R>) -> Result<Self> {
        let n_seq = start.n_rows();
        if n_seq == 0 || inputs.n_rows() == 0 || !inputs.n_rows().is_multiple_of(n_seq) {
            let expected = format!("a positive multiple of the {n_seq} sequences of the start");
            return Err(Error::shape("rows of the inputs of a layer", expected, inputs.n_rows()));
        }
        expect("columns of the inputs of a layer", layer.d_in(), inputs.n_columns())?;
        expect("columns of the start of a layer", layer.d_state(), start.n_columns())?;
        Ok(Self { n_time: inputs.n_rows() / n_seq, n_seq })
    }

    fn n_rows(self) -> usize {
        self.n_time * self.n_seq
    }

    /// Whether what an adjoint gets fits the forward pass of this extent.
    fn check_adjoint<L: Layer, R: Real>(
        self,
        layer: &L,
        (inputs, d_outputs): (PanelsRef<'_, R>, PanelsRef<'_, R>),
        gradient: &Gradient<'_, R>,
    ) -> Result<()> {
        if self.n_seq == 0 {
            return Err(Error::shape("tape of an adjoint", "that of a forward pass just before", "none"));
        }
        expect("rows of the inputs of an adjoint", self.n_rows(), inputs.n_rows())?;
        expect("columns of the inputs of an adjoint", layer.d_in(), inputs.n_columns())?;
        expect("rows of the output gradient", self.n_rows(), d_outputs.n_rows())?;
        expect("columns of the output gradient", layer.d_out(), d_outputs.n_columns())?;
        expect("parameter gradient of a layer", layer.n_parameters(), gradient.parameters.len())
    }
}

fn expect(what: &str, expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::shape(what, expected, found)) }
}

/// Whether weights were arranged for the layer that uses them.
fn arranged<L: Debug + PartialEq>(what: &str, layer: &L, weights: Option<&L>) -> Result<()> {
    if weights == Some(layer) {
        return Ok(());
    }
    let found = weights.map_or("none".to_string(), |other| format!("{other:?}"));
    Err(Error::shape(format!("arranged weights of a {what}"), format!("{layer:?}"), found))
}

/// Tensors one after the other.
fn stacked(tensors: &[(&str, &[usize])]) -> Vec<Tensor> {
    let mut start = 0;
    let tensor = |&(name, shape): &(&str, &[usize])| {
        let tensor = Tensor { name: name.to_string(), shape: shape.to_vec(), start };
        start = tensor.range().end;
        tensor
    };
    tensors.iter().map(tensor).collect()
}

/// A width that must be positive.
fn positive(name: &str, width: usize) -> Result<usize> {
    match width {
        0 => Err(Error::setting(name, "found 0; expected at least 1")),
        _ => Ok(width),
    }
}
