//! The inference network: two gated recurrent layers, one in each direction, and a dense one behind their mean.

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use crate::generator::Tensor;
use crate::kernel::{Panels, PanelsRef};
use crate::layer::{Bias, Dense, DenseTape, DenseWeights, Gradient, Gru, GruTape, GruWeights, Layer};
use crate::learn::elbo::Gaussians;
use crate::random::Random;
use crate::system::System;
use crate::{Error, Result};

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
    weights: ([GruWeights<f32>; 2], DenseWeights<f32>),
    inputs: [Panels<f32>; 2],
    tapes: ([GruTape<f32>; 2], DenseTape<f32>),
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
        network.grus()?;
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
        let Ok((gru, head)) = self.layers() else { return vec![] };
        let parts = [("forward", gru.tensors()), ("backward", gru.tensors()), ("head", head.tensors())];
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

    fn grus(&self) -> Result<Gru> {
        Gru::new(self.d_reading(), self.d_hidden)
    }

    fn layers(&self) -> Result<(Gru, Dense)> {
        Ok((self.grus()?, Dense::new(2 * self.d_hidden, 2 * self.d_code, Bias::Learned)?))
    }

    /// Parameters at the start: μ small, σ the same for every sequence.
    pub(crate) fn first(&self, std_dev: f64, random: &mut Random) -> Vec<f32> {
        let (n, k, units) = (self.n_parameters(), self.d_code, 2 * self.d_hidden);
        let head = n - 2 * k * (units + 1);
        let scale = 1.0 / (self.d_hidden as f64).sqrt();
        let mut parameters: Vec<f32> = (0..head).map(|_| random.random_range(-scale..scale) as f32).collect();
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
        let (gru, head) = self.layers()?;
        if parameters.len() != self.n_parameters() {
            return Err(Error::shape("inference network", self.n_parameters(), parameters.len()));
        }
        pass.lengths = readings.iter().map(|reading| reading.n_time).collect();
        let start = Panels::zeros(readings.len(), self.d_hidden);
        for (g, part) in parameters.chunks(gru.n_parameters()).take(2).enumerate() {
            gru.arrange(part, &mut pass.weights.0[g])?;
            pass.inputs[g] = arrange(readings, self.d_reading(), g == 1);
            gru.forward(&pass.weights.0[g], pass.inputs[g].view(), &start, &mut pass.tapes.0[g])?;
        }
        let states = [gru.outputs(&pass.tapes.0[0]), gru.outputs(&pass.tapes.0[1])];
        pass.mean_states = mean_states(states, &pass.lengths, self.d_hidden);
        head.arrange(&parameters[2 * gru.n_parameters()..], &mut pass.weights.1)?;
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
        let (gru, head) = self.layers()?;
        let (k, h, n_seq) = (self.d_code, self.d_hidden, pass.lengths.len());
        if pulled.mean.len() != pass.bounded.len() {
            return Err(Error::shape("beliefs of an adjoint", pass.bounded.len(), pulled.mean.len()));
        }
        let d_raw = Panels::from_fn(n_seq, 2 * k, |i, c| {
            let at = i * k + c % k;
            let inside = 1.0 - pass.bounded[at] * pass.bounded[at];
            (if c < k { pulled.mean[at] } else { pulled.log_std_dev[at] * inside }) as f32
        });
        let (d_grus, d_head) = gradient.split_at_mut(2 * gru.n_parameters());
        let (mut d_mean, mut d_start) = (Panels::default(), Panels::default());
        let mut own = Gradient { parameters: d_head, inputs: Some(&mut d_mean), start: &mut d_start };
        head.adjoint(&pass.weights.1, pass.mean_states.view(), d_raw.view(), &mut pass.tapes.1, &mut own)?;
        for (g, d_gru) in d_grus.chunks_mut(gru.n_parameters()).enumerate() {
            let d_states = Panels::from_fn(pass.inputs[g].n_rows(), h, |row, c| {
                let n_time = pass.lengths[row % n_seq];
                if row / n_seq < n_time {
                    d_mean.view().get(row % n_seq, g * h + c) / n_time as f32
                } else {
                    0.0
                }
            });
            let mut own = Gradient { parameters: d_gru, inputs: None, start: &mut d_start };
            let inputs = pass.inputs[g].view();
            gru.adjoint(&pass.weights.0[g], inputs, d_states.view(), &mut pass.tapes.0[g], &mut own)?;
        }
        Ok(())
    }
}

/// The a at which log σ is `rho`.
fn unbounded(rho: f64) -> f64 {
    LIMIT * (rho / LIMIT).clamp(-0.999, 0.999).atanh()
}

/// Readings side by side, rows t · n_seq + i, each from its end if `backward`; zeros behind the shorter ones.
fn arrange(readings: &[&Reading], width: usize, backward: bool) -> Panels<f32> {
    let n_seq = readings.len();
    let n_time = readings.iter().map(|reading| reading.n_time).max().unwrap_or(0);
    Panels::from_fn(n_time * n_seq, width, |row, c| {
        let (t, reading) = (row / n_seq, readings[row % n_seq]);
        if t >= reading.n_time {
            return 0.0;
        }
        let t = if backward { reading.n_time - 1 - t } else { t };
        reading.rows[t * width + c]
    })
}

/// Mean over the steps of each sequence, the two directions side by side.
fn mean_states(states: [PanelsRef<'_, f32>; 2], lengths: &[usize], d_hidden: usize) -> Panels<f32> {
    let n_seq = lengths.len();
    Panels::from_fn(n_seq, 2 * d_hidden, |i, c| {
        let sum: f32 = (0..lengths[i]).map(|t| states[c / d_hidden].get(t * n_seq + i, c % d_hidden)).sum();
        sum / lengths[i].max(1) as f32
    })
}
