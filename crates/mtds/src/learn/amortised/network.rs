//! The inference network: two gated recurrent layers, one in each direction, and a dense one behind their mean.

use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use crate::generator::Tensor;
use crate::kernel::{Panels, PanelsRef};
use crate::layer::{Bias, Dense, DenseTape, DenseWeights, Gradient, Layer};
use crate::learn::elbo::Gaussians;
use crate::random::Random;
use crate::reader::{Direction, Pool, Reader, ReaderTape, ReaderWeights, extend_uniform, side_by_side};
use crate::system::System;
use crate::{Error, Result};

/// In the order of their parameters.
const DIRECTIONS: [Direction; 2] = [Direction::Forward, Direction::Backward];
/// Largest |log σ|.
const LIMIT: f64 = 8.0;

/// The architecture of an inference network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InferenceNetwork {
    d_obs: usize,
    d_input: usize,
    d_hidden: usize,
    d_code: usize,
}

/// Sequences as the network reads them.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) n_time: usize,
    /// n_time × (2p + m).
    pub(crate) rows: Vec<f32>,
}

/// What a pass over some sequences leaves for its adjoint; reused, it keeps its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pass {
    lengths: Vec<usize>,
    weights: ([ReaderWeights<f32>; 2], DenseWeights<f32>),
    inputs: [Panels<f32>; 2],
    tapes: ([ReaderTape<f32>; 2], DenseTape<f32>),
    /// h̄, n_seq × 2 d_hidden.
    mean_states: Panels<f32>,
    /// tanh(a / 8), n_seq × k.
    bounded: Vec<f64>,
}

impl InferenceNetwork {
    /// A network with `d_hidden` units in each direction, for sequences and codes of `model`.
    ///
    /// # Errors
    /// No units, or a model without a code.
    pub fn for_model(model: &System, d_hidden: usize) -> Result<Self> {
        let network =
            Self { d_obs: model.base().d_obs(), d_input: model.d_input(), d_hidden, d_code: model.d_code() };
        network.check_code(model.d_code())?;
        network.reader()?;
        Ok(network)
    }

    /// Length k of a code.
    #[must_use]
    pub fn d_code(&self) -> usize {
        self.d_code
    }

    /// Number of weights.
    #[must_use]
    pub fn n_parameters(&self) -> usize {
        self.tensors().last().map_or(0, |tensor| tensor.range().end)
    }

    /// The weights, in the order of the flat vector: forward, backward, head (rows of μ, then of a).
    #[must_use]
    pub fn tensors(&self) -> Vec<Tensor> {
        let Ok((reader, head)) = self.layers() else { return vec![] };
        let read = || reader.layers()[0].tensors();
        let parts = [("forward", read()), ("backward", read()), ("head", head.tensors())];
        let (mut start, mut all) = (0, vec![]);
        for (part, tensors) in parts {
            let end = tensors.last().map_or(0, |tensor| tensor.range().end);
            let named = |t: Tensor| Tensor {
                name: format!("inference.{part}.{}", t.name),
                start: start + t.start,
                ..t
            };
            all.extend(tensors.into_iter().map(named));
            start += end;
        }
        all
    }

    pub(crate) fn check_code(&self, d_code: usize) -> Result<()> {
        if self.d_code == d_code && d_code > 0 {
            return Ok(());
        }
        Err(Error::shape("inference network", format!("codes of length {d_code}, at least 1"), self.d_code))
    }

    /// Width of what is read at a step.
    pub(crate) fn d_reading(&self) -> usize {
        2 * self.d_obs + self.d_input
    }

    /// All sizes by name: outputs, inputs, units, code.
    pub(crate) fn sizes(&self) -> [(&'static str, usize); 4] {
        [
            ("d_obs", self.d_obs),
            ("d_input", self.d_input),
            ("d_hidden", self.d_hidden),
            ("d_code", self.d_code),
        ]
    }

    pub(crate) fn widths(&self) -> (usize, usize) {
        (self.d_obs, self.d_input)
    }

    /// Of either direction.
    fn reader(&self) -> Result<Reader> {
        Reader::new(self.d_reading(), &[self.d_hidden])
    }

    fn layers(&self) -> Result<(Reader, Dense)> {
        Ok((self.reader()?, Dense::new(2 * self.d_hidden, 2 * self.d_code, Bias::Learned)?))
    }

    /// Parameters at the start: μ small, σ the same for every sequence.
    pub(crate) fn first(&self, std_dev: f64, random: &mut Random) -> Vec<f32> {
        let (n, k, units) = (self.n_parameters(), self.d_code, 2 * self.d_hidden);
        let head = n - 2 * k * (units + 1);
        let mut parameters = Vec::with_capacity(n);
        extend_uniform(&mut parameters, head, self.d_hidden, random);
        let normal = |random: &mut Random| -> f64 { StandardNormal.sample(random) };
        parameters.extend((0..k * units).map(|_| (normal(random) / (units as f64).sqrt()) as f32));
        parameters.resize(n - k, 0.0);
        parameters.resize(n, unbounded(std_dev.ln()) as f32);
        parameters
    }

    /// Divides means and deviations by `spread`; see [`Beliefs::divide`](crate::learn::elbo).
    pub(crate) fn divide(&self, parameters: &mut [f32], spread: &[f64]) -> Vec<(usize, f32)> {
        let (n, k, units) = (self.n_parameters(), self.d_code, 2 * self.d_hidden);
        for (bias, s) in parameters[n - k..].iter_mut().zip(spread) {
            *bias = unbounded(LIMIT * (f64::from(*bias) / LIMIT).tanh() - s.ln()) as f32;
        }
        let (weights, biases) = (n - 2 * k * (units + 1), n - 2 * k);
        let factor = |d: usize| (1.0 / spread[d]) as f32;
        let rows = (0..k * units).map(|at| (weights + at, factor(at / units)));
        rows.chain((0..k).map(|d| (biases + d, factor(d)))).collect()
    }

    /// Beliefs about the codes of these sequences.
    ///
    /// # Errors
    /// Parameters of another length, no sequence.
    pub(crate) fn forward(
        &self,
        parameters: &[f32],
        readings: &[&Reading],
        pass: &mut Pass,
    ) -> Result<Gaussians> {
        let (reader, head) = self.layers()?;
        if parameters.len() != self.n_parameters() {
            return Err(Error::shape("inference network", self.n_parameters(), parameters.len()));
        }
        pass.lengths = readings.iter().map(|reading| reading.n_time).collect();
        let (start, width) = (reader.rest(readings.len()), self.d_reading());
        for (g, direction) in DIRECTIONS.into_iter().enumerate() {
            let at = |i: usize, t: usize, c: usize| readings[i].rows[t * width + c];
            pass.inputs[g] = side_by_side(&pass.lengths, width, direction, at);
            let n = reader.n_parameters();
            reader.arrange(&parameters[g * n..(g + 1) * n], &mut pass.weights.0[g])?;
            reader.forward(&pass.weights.0[g], pass.inputs[g].view(), &start, &mut pass.tapes.0[g])?;
        }
        let means = [0, 1].map(|g| Pool::Mean.of(reader.states(&pass.tapes.0[g]), &pass.lengths));
        let h = self.d_hidden;
        pass.mean_states = Panels::from_fn(readings.len(), 2 * h, |i, c| means[c / h].view().get(i, c % h));
        head.arrange(&parameters[2 * reader.n_parameters()..], &mut pass.weights.1)?;
        let none = Panels::zeros(readings.len(), 0);
        head.forward(&pass.weights.1, pass.mean_states.view(), &none, &mut pass.tapes.1)?;
        Ok(self.read_off(head.outputs(&pass.tapes.1), &mut pass.bounded))
    }

    fn read_off(&self, raw: PanelsRef<'_, f32>, bounded: &mut Vec<f64>) -> Gaussians {
        let k = self.d_code;
        let pick =
            |offset: usize| (0..raw.n_rows() * k).map(move |at| f64::from(raw.get(at / k, offset + at % k)));
        *bounded = pick(k).map(|a| (a / LIMIT).tanh()).collect();
        let log_std_dev = bounded.iter().map(|b| LIMIT * b).collect();
        Gaussians { d_code: k, mean: pick(0).collect(), log_std_dev }
    }

    /// Adds to `gradient` what `pulled`, at the beliefs of the last pass, gives.
    ///
    /// # Errors
    /// No pass before it, or one over other sequences.
    pub(crate) fn adjoint(&self, pulled: &Gaussians, pass: &mut Pass, gradient: &mut [f32]) -> Result<()> {
        let (reader, head) = self.layers()?;
        let (k, h, n_seq) = (self.d_code, self.d_hidden, pass.lengths.len());
        if pulled.mean.len() != pass.bounded.len() {
            return Err(Error::shape("beliefs of an adjoint", pass.bounded.len(), pulled.mean.len()));
        }
        let d_raw = Panels::from_fn(n_seq, 2 * k, |i, c| {
            let at = i * k + c % k;
            let inside = 1.0 - pass.bounded[at] * pass.bounded[at];
            (if c < k { pulled.mean[at] } else { pulled.log_std_dev[at] * inside }) as f32
        });
        let (d_readers, d_head) = gradient.split_at_mut(2 * reader.n_parameters());
        let (mut d_mean, mut d_start) = (Panels::default(), Panels::default());
        let mut own = Gradient { parameters: d_head, inputs: Some(&mut d_mean), start: &mut d_start };
        head.adjoint(&pass.weights.1, pass.mean_states.view(), d_raw.view(), &mut pass.tapes.1, &mut own)?;
        for (g, d_reader) in d_readers.chunks_mut(reader.n_parameters()).enumerate() {
            let d_own = Panels::from_fn(n_seq, h, |i, c| d_mean.view().get(i, g * h + c));
            let d_states = Pool::Mean.adjoint(d_own.view(), &pass.lengths);
            let inputs = pass.inputs[g].view();
            reader.adjoint(&pass.weights.0[g], (inputs, d_states), &mut pass.tapes.0[g], d_reader, None)?;
        }
        Ok(())
    }
}

/// The a at which log σ is `rho`.
fn unbounded(rho: f64) -> f64 {
    LIMIT * (rho / LIMIT).clamp(-0.999, 0.999).atanh()
}
