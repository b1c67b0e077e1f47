//! The layers of a classifier, forward and adjoint.

use super::settings::ClassifierSettings;
use crate::baseline::network::material::Piece;
use crate::kernel::{Panels, PanelsRef, Real};
use crate::layer::{Bias, Dense, DenseTape, DenseWeights, Gradient, Layer};
use crate::random::Random;
use crate::reader::{Direction, Pool, Reader, ReaderTape, ReaderWeights, extend_uniform, side_by_side};
use crate::{Error, Result};

/// The layers; parameters in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClassifierNetwork {
    reader: Reader,
    hidden: Dense,
    head: Dense,
}

/// Sequences side by side, rows t · n_seq + i of [ỹ_t, m_t], the shorter ones padded.
#[derive(Clone, Debug)]
pub(super) struct Reading<R> {
    lengths: Vec<usize>,
    inputs: Panels<R>,
}

/// Packed parameters, and what a forward pass leaves; reused, it keeps its memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Pass<R> {
    weights: (ReaderWeights<R>, DenseWeights<R>, DenseWeights<R>),
    tapes: (ReaderTape<R>, DenseTape<R>, DenseTape<R>),
    /// h_T, n_seq × units.
    last: Panels<R>,
    /// a, n_seq × hidden.
    active: Panels<R>,
}

impl<R: Real> Reading<R> {
    pub(super) fn new(d_obs: usize, pieces: &[&Piece]) -> Self {
        let lengths: Vec<usize> = pieces.iter().map(|piece| piece.n_time).collect();
        let inputs = side_by_side(&lengths, 2 * d_obs, Direction::Forward, |i, t, c| {
            let y = pieces[i].outputs[t * d_obs + c % d_obs];
            R::from_f64(match (y.is_nan(), c < d_obs) {
                (true, _) => 0.0,
                (false, true) => y,
                (false, false) => 1.0,
            })
        });
        Self { lengths, inputs }
    }
}

impl ClassifierNetwork {
    /// # Errors
    /// A width of 0.
    pub(super) fn new(d_obs: usize, settings: &ClassifierSettings, n_classes: usize) -> Result<Self> {
        Ok(Self {
            reader: Reader::new(2 * d_obs, &[settings.units])?,
            hidden: Dense::new(settings.units, settings.hidden, Bias::Learned)?,
            head: Dense::new(settings.hidden, n_classes, Bias::Learned)?,
        })
    }

    pub(super) fn d_obs(&self) -> usize {
        self.reader.d_in() / 2
    }

    /// Numbers of parameters of the three layers.
    pub(super) fn sizes(&self) -> [usize; 3] {
        [self.reader.n_parameters(), self.hidden.n_parameters(), self.head.n_parameters()]
    }

    pub(super) fn n_parameters(&self) -> usize {
        self.sizes().iter().sum()
    }

    /// Parameters to begin with: uniform in ±1/√(width read), or ±1/√units in the recurrent layer.
    pub(super) fn first(&self, random: &mut Random) -> Vec<f32> {
        let [_, hidden, head] = self.sizes();
        let mut parameters = Vec::with_capacity(self.n_parameters());
        self.reader.begin(&mut parameters, random);
        extend_uniform(&mut parameters, hidden, self.hidden.d_in(), random);
        extend_uniform(&mut parameters, head, self.head.d_in(), random);
        parameters
    }

    /// # Errors
    /// Parameters of another length.
    pub(super) fn arrange<R: Real>(&self, parameters: &[R], pass: &mut Pass<R>) -> Result<()> {
        if parameters.len() != self.n_parameters() {
            return Err(Error::shape("parameters of a classifier", self.n_parameters(), parameters.len()));
        }
        let [reader, hidden, _] = self.sizes();
        self.reader.arrange(&parameters[..reader], &mut pass.weights.0)?;
        self.hidden.arrange(&parameters[reader..reader + hidden], &mut pass.weights.1)?;
        self.head.arrange(&parameters[reader + hidden..], &mut pass.weights.2)
    }

    /// p of every sequence, n_seq × classes.
    ///
    /// # Errors
    /// Parameters that were not arranged.
    pub(super) fn probabilities<R: Real>(
        &self,
        reading: &Reading<R>,
        pass: &mut Pass<R>,
    ) -> Result<Vec<f64>> {
        let n_seq = reading.lengths.len();
        let none = Panels::zeros(n_seq, 0);
        let start = self.reader.rest(n_seq);
        self.reader.forward(&pass.weights.0, reading.inputs.view(), &start, &mut pass.tapes.0)?;
        pass.last = Pool::Last.of(self.reader.states(&pass.tapes.0), &reading.lengths);
        self.hidden.forward(&pass.weights.1, pass.last.view(), &none, &mut pass.tapes.1)?;
        let inner = self.hidden.outputs(&pass.tapes.1);
        pass.active = Panels::from_fn(n_seq, inner.n_columns(), |i, c| sigmoid(inner.get(i, c)));
        self.head.forward(&pass.weights.2, pass.active.view(), &none, &mut pass.tapes.2)?;
        Ok(softmax(self.head.outputs(&pass.tapes.2)))
    }

    /// Adds to `gradient` what `d_logits` (n_seq × classes), at W a + c of the last pass, gives.
    ///
    /// # Errors
    /// No pass over this reading before.
    pub(super) fn adjoint<R: Real>(
        &self,
        reading: &Reading<R>,
        d_logits: &[f64],
        pass: &mut Pass<R>,
        gradient: &mut [R],
    ) -> Result<()> {
        let (n_seq, n_classes, [of_reader, hidden, _]) =
            (reading.lengths.len(), self.head.d_out(), self.sizes());
        let (d_reader, rest) = gradient.split_at_mut(of_reader);
        let (d_hidden, d_head) = rest.split_at_mut(hidden);
        let mut d_start = Panels::default();
        let d_logits = Panels::from_fn(n_seq, n_classes, |i, c| R::from_f64(d_logits[i * n_classes + c]));
        let mut pulled = Panels::default();
        let mut own = Gradient { parameters: d_head, inputs: Some(&mut pulled), start: &mut d_start };
        self.head.adjoint(
            &pass.weights.2,
            pass.active.view(),
            d_logits.view(),
            &mut pass.tapes.2,
            &mut own,
        )?;
        let d_inner = Panels::from_fn(n_seq, self.hidden.d_out(), |i, c| {
            let a = pass.active.view().get(i, c).to_f64();
            R::from_f64(pulled.view().get(i, c).to_f64() * a * (1.0 - a))
        });
        let mut d_last = Panels::default();
        let mut own = Gradient { parameters: d_hidden, inputs: Some(&mut d_last), start: &mut d_start };
        self.hidden.adjoint(
            &pass.weights.1,
            pass.last.view(),
            d_inner.view(),
            &mut pass.tapes.1,
            &mut own,
        )?;
        let d_states = Pool::Last.adjoint(d_last.view(), &reading.lengths);
        let inputs = reading.inputs.view();
        self.reader.adjoint(&pass.weights.0, (inputs, d_states), &mut pass.tapes.0, d_reader, None)
    }
}

fn sigmoid<R: Real>(x: R) -> R {
    R::from_f64(1.0 / (1.0 + (-x.to_f64()).exp()))
}

/// Each row to probabilities.
fn softmax<R: Real>(logits: PanelsRef<'_, R>) -> Vec<f64> {
    let mut all = Vec::with_capacity(logits.n_rows() * logits.n_columns());
    for i in 0..logits.n_rows() {
        let row: Vec<f64> = (0..logits.n_columns()).map(|c| logits.get(i, c).to_f64()).collect();
        let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = row.iter().map(|x| (x - top).exp()).sum();
        all.extend(row.iter().map(|x| (x - top).exp() / total));
    }
    all
}
