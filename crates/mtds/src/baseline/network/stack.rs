//! Gated recurrent layers one above the other and a linear decoder, forward and adjoint.
//!
//! Parameters: those of each layer in turn, then C and d of the decoder.

use std::ops::Range;

use crate::kernel::{Panels, PanelsRef, Real};
use crate::layer::{Bias, Dense, DenseTape, DenseWeights, Gradient, Layer};
use crate::random::Random;
use crate::reader::{Onward, Reader, ReaderTape, ReaderWeights, extend_uniform};
use crate::{Error, Result};

/// The layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stack {
    reader: Reader,
    decoder: Dense,
}

/// Packed parameters.
#[derive(Clone, Debug, Default)]
pub(super) struct StackWeights<R> {
    reader: ReaderWeights<R>,
    decoder: DenseWeights<R>,
}

/// What a forward pass leaves; reused, it keeps its memory.
#[derive(Clone, Debug, Default)]
pub(super) struct StackTape<R> {
    reader: ReaderTape<R>,
    decoder: DenseTape<R>,
}

impl Stack {
    /// # Errors
    /// No layer, one without units, no outputs.
    pub(super) fn new(d_in: usize, units: &[usize], d_out: usize) -> Result<Self> {
        let reader = Reader::new(d_in, units)?;
        let decoder = Dense::new(reader.d_state(), d_out, Bias::Learned)?;
        Ok(Self { reader, decoder })
    }

    /// Names of the parts and where their parameters are, in order.
    pub(super) fn parts(&self) -> Vec<(String, Range<usize>)> {
        let mut end = 0;
        let mut part = |name: String, n: usize| {
            end += n;
            (name, end - n..end)
        };
        let mut parts: Vec<_> = self
            .reader
            .layers()
            .iter()
            .enumerate()
            .map(|(l, gru)| part(format!("layer {}", l + 1), gru.n_parameters()))
            .collect();
        parts.push(part("decoder".into(), self.decoder.n_parameters()));
        parts
    }

    pub(super) fn n_parameters(&self) -> usize {
        self.reader.n_parameters() + self.decoder.n_parameters()
    }

    /// Parameters to begin with: uniform in ±1/√units of the layer; the decoder's bias is 0.
    pub(super) fn first(&self, random: &mut Random) -> Vec<f32> {
        let mut parameters = Vec::with_capacity(self.n_parameters());
        self.reader.begin(&mut parameters, random);
        let (n_in, n_out) = (self.decoder.d_in(), self.decoder.d_out());
        extend_uniform(&mut parameters, n_in * n_out, n_in, random);
        parameters.resize(self.n_parameters(), 0.0);
        parameters
    }

    /// # Errors
    /// Parameters of another length.
    pub(super) fn arrange<R: Real>(&self, parameters: &[R], weights: &mut StackWeights<R>) -> Result<()> {
        if parameters.len() != self.n_parameters() {
            return Err(Error::shape("parameters of a network", self.n_parameters(), parameters.len()));
        }
        let (reader, decoder) = parameters.split_at(self.reader.n_parameters());
        self.reader.arrange(reader, &mut weights.reader)?;
        self.decoder.arrange(decoder, &mut weights.decoder)
    }

    /// The states before the first step.
    pub(super) fn rest<R: Real>(&self, n_seq: usize) -> Vec<Panels<R>> {
        self.reader.rest(n_seq)
    }

    /// Runs all sequences from the states `start`, one matrix per layer.
    ///
    /// # Errors
    /// Sizes that do not fit.
    pub(super) fn forward<R: Real>(
        &self,
        weights: &StackWeights<R>,
        inputs: PanelsRef<'_, R>,
        start: &[Panels<R>],
        tape: &mut StackTape<R>,
    ) -> Result<()> {
        self.reader.forward(&weights.reader, inputs, start, &mut tape.reader)?;
        let none = Panels::zeros(start[0].n_rows(), 0);
        self.decoder.forward(&weights.decoder, self.reader.states(&tape.reader), &none, &mut tape.decoder)
    }

    /// e, rows × p.
    pub(super) fn outputs<'a, R: Real>(&self, tape: &'a StackTape<R>) -> PanelsRef<'a, R> {
        self.decoder.outputs(&tape.decoder)
    }

    /// The states after the last step.
    pub(super) fn end<R: Real>(&self, tape: &StackTape<R>) -> Vec<Panels<R>> {
        self.reader.end(&tape.reader)
    }

    /// Adds the gradient that `d_outputs` gives to `gradient`; the tape is used up.
    ///
    /// Where other stretches of time precede or follow, `onward` takes gradients from one to the other.
    ///
    /// # Errors
    /// Sizes that do not fit the forward pass.
    pub(super) fn adjoint<R: Real>(
        &self,
        weights: &StackWeights<R>,
        (inputs, d_outputs): (PanelsRef<'_, R>, PanelsRef<'_, R>),
        tape: &mut StackTape<R>,
        gradient: &mut [R],
        onward: Option<&mut Onward<R>>,
    ) -> Result<()> {
        let (d_reader, d_decoder) = gradient.split_at_mut(self.reader.n_parameters());
        let (mut d_states, mut d_start) = (Panels::default(), Panels::default());
        let mut own = Gradient { parameters: d_decoder, inputs: Some(&mut d_states), start: &mut d_start };
        let states = self.reader.states(&tape.reader);
        self.decoder.adjoint(&weights.decoder, states, d_outputs, &mut tape.decoder, &mut own)?;
        self.reader.adjoint(&weights.reader, (inputs, d_states), &mut tape.reader, d_reader, onward)
    }
}
