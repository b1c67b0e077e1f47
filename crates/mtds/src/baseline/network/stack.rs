//! Gated recurrent layers one above the other and a linear decoder, forward and adjoint.
//!
//! Parameters: those of each layer in turn, then C and d of the decoder.

use std::ops::Range;

use rand::RngExt;

use crate::kernel::{Panels, PanelsRef, Real};
use crate::layer::{Bias, Dense, DenseTape, DenseWeights, Gradient, Gru, GruTape, GruWeights, Layer};
use crate::random::Random;
use crate::{Error, Result};

/// The layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stack {
    layers: Vec<Gru>,
    decoder: Dense,
}

/// Packed parameters.
#[derive(Clone, Debug, Default)]
pub(super) struct StackWeights<R> {
    layers: Vec<GruWeights<R>>,
    decoder: DenseWeights<R>,
}

/// What a forward pass leaves; reused, it keeps its memory.
#[derive(Clone, Debug, Default)]
pub(super) struct StackTape<R> {
    layers: Vec<GruTape<R>>,
    decoder: DenseTape<R>,
}

/// What passes between the adjoints of two stretches of time, the later one first.
#[derive(Clone, Debug)]
pub(super) struct Onward<R> {
    /// By layer, n_seq × units: the gradient at the states after the last step, then at those before the first.
    pub(super) states: Vec<Panels<R>>,
    /// The gradient at the inputs.
    pub(super) inputs: Panels<R>,
}

impl Stack {
    /// # Errors
    /// No layer, one without units, no outputs.
    pub(super) fn new(d_in: usize, units: &[usize], d_out: usize) -> Result<Self> {
        let widths = std::iter::once(&d_in).chain(units);
        let layers =
            widths.zip(units).map(|(&below, &own)| Gru::new(below, own)).collect::<Result<Vec<_>>>()?;
        let last = *units.last().ok_or_else(|| Error::setting("units", "found none; expected a layer"))?;
        Ok(Self { layers, decoder: Dense::new(last, d_out, Bias::Learned)? })
    }

    /// Names of the parts and where their parameters are, in order.
    pub(super) fn parts(&self) -> Vec<(String, Range<usize>)> {
        let mut end = 0;
        let mut part = |name: String, n: usize| {
            end += n;
            (name, end - n..end)
        };
        let mut parts: Vec<_> = self
            .layers
            .iter()
            .enumerate()
            .map(|(l, gru)| part(format!("layer {}", l + 1), gru.n_parameters()))
            .collect();
        parts.push(part("decoder".into(), self.decoder.n_parameters()));
        parts
    }

    pub(super) fn n_parameters(&self) -> usize {
        self.layers.iter().map(Gru::n_parameters).sum::<usize>() + self.decoder.n_parameters()
    }

    /// Parameters to begin with: uniform in ±1/√units of the layer; the decoder's bias is 0.
    pub(super) fn first(&self, random: &mut Random) -> Vec<f32> {
        let mut parameters = Vec::with_capacity(self.n_parameters());
        for gru in &self.layers {
            extend_uniform(&mut parameters, gru.n_parameters(), gru.d_state(), random);
        }
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
        weights.layers.resize_with(self.layers.len(), Default::default);
        let mut rest = parameters;
        for (gru, weights) in self.layers.iter().zip(&mut weights.layers) {
            let (own, after) = rest.split_at(gru.n_parameters());
            gru.arrange(own, weights)?;
            rest = after;
        }
        self.decoder.arrange(rest, &mut weights.decoder)
    }

    /// The states before the first step.
    pub(super) fn rest<R: Real>(&self, n_seq: usize) -> Vec<Panels<R>> {
        self.layers.iter().map(|gru| Panels::zeros(n_seq, gru.d_state())).collect()
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
        let StackTape { layers, decoder } = tape;
        layers.resize_with(self.layers.len(), Default::default);
        for (l, gru) in self.layers.iter().enumerate() {
            let (below, own) = layers.split_at_mut(l);
            let read = below.last().map_or(inputs, |tape| self.layers[l - 1].outputs(tape));
            gru.forward(&weights.layers[l], read, &start[l], &mut own[0])?;
        }
        let none = Panels::zeros(start[0].n_rows(), 0);
        self.decoder.forward(&weights.decoder, self.top(layers), &none, decoder)
    }

    /// e, rows × p.
    pub(super) fn outputs<'a, R: Real>(&self, tape: &'a StackTape<R>) -> PanelsRef<'a, R> {
        self.decoder.outputs(&tape.decoder)
    }

    /// The states after the last step.
    pub(super) fn end<R: Real>(&self, tape: &StackTape<R>) -> Vec<Panels<R>> {
        self.layers.iter().zip(&tape.layers).map(|(gru, tape)| gru.end(tape)).collect()
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
        mut onward: Option<&mut Onward<R>>,
    ) -> Result<()> {
        let StackTape { layers, decoder } = tape;
        let (mut rest, d_decoder) = gradient.split_at_mut(gradient.len() - self.decoder.n_parameters());
        let (mut pulled, mut d_start) = (Panels::default(), Panels::default());
        let mut own = Gradient { parameters: d_decoder, inputs: Some(&mut pulled), start: &mut d_start };
        self.decoder.adjoint(&weights.decoder, self.top(layers), d_outputs, decoder, &mut own)?;
        for (l, gru) in self.layers.iter().enumerate().rev() {
            let (before, parameters) = rest.split_at_mut(rest.len() - gru.n_parameters());
            rest = before;
            let (below, own) = layers.split_at_mut(l);
            let read = below.last().map_or(inputs, |tape| self.layers[l - 1].outputs(tape));
            let mut d_read = Panels::default();
            if let Some(onward) = &onward {
                add_at_end(&mut pulled, &onward.states[l]);
            }
            let wanted = (l > 0 || onward.is_some()).then_some(&mut d_read);
            let mut pull = Gradient { parameters, inputs: wanted, start: &mut d_start };
            gru.adjoint(&weights.layers[l], read, pulled.view(), &mut own[0], &mut pull)?;
            pulled = d_read;
            if let Some(onward) = &mut onward {
                std::mem::swap(&mut onward.states[l], &mut d_start);
            }
        }
        if let Some(onward) = onward {
            onward.inputs = pulled;
        }
        Ok(())
    }

    /// The states of the last layer.
    fn top<'a, R: Real>(&self, tapes: &'a [GruTape<R>]) -> PanelsRef<'a, R> {
        let l = self.layers.len() - 1;
        self.layers[l].outputs(&tapes[l])
    }
}

/// Adds `last` to the last rows of `all`.
fn add_at_end<R: Real>(all: &mut Panels<R>, last: &Panels<R>) {
    let first = all.n_rows() - last.n_rows();
    for row in 0..last.n_rows() {
        for column in 0..last.n_columns() {
            let sum = all.view().get(first + row, column) + last.view().get(row, column);
            all.set(first + row, column, sum);
        }
    }
}

/// `n` numbers uniform in ±1/√`fan_in`.
pub(super) fn extend_uniform(parameters: &mut Vec<f32>, n: usize, fan_in: usize, random: &mut Random) {
    let bound = 1.0 / (fan_in as f64).sqrt();
    parameters.extend((0..n).map(|_| random.random_range(-bound..bound) as f32));
}
