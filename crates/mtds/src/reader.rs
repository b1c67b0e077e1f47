//! Gated layers that read sequences of unequal length side by side: what inference networks, classifiers and recurrent rivals have in common.
//!
//! ```text
//! h_l = GRU_l(h_{l−1}),   h_0: rows t · n_seq + i of what is read, zeros behind the shorter sequences
//! pooled   h̄_i = mean over t ≤ T_i of h_{i,t},   or its last, h_{i,T_i}
//! ```
//! Outputs do not depend on later inputs, and padding gets a gradient of zero, so that it adds nothing.

use std::ops::Range;

use rand::RngExt;

use crate::kernel::{Panels, PanelsRef, Real};
use crate::layer::{Gradient, Gru, GruTape, GruWeights, Layer};
use crate::random::Random;
use crate::{Error, Result};

/// Gated layers one above the other; parameters in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reader {
    layers: Vec<Gru>,
}

/// Packed parameters.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReaderWeights<R>(Vec<GruWeights<R>>);

/// What a forward pass leaves; reused, it keeps its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReaderTape<R>(Vec<GruTape<R>>);

/// What passes between the adjoints of two stretches of time, the later one first.
#[derive(Clone, Debug)]
pub(crate) struct Onward<R> {
    /// By layer, n_seq × units: the gradient at the states after the last step, then at those before the first.
    pub(crate) states: Vec<Panels<R>>,
    /// The gradient at the inputs.
    pub(crate) inputs: Panels<R>,
}

impl Reader {
    /// # Errors
    /// No layer, or one without units.
    pub(crate) fn new(d_in: usize, units: &[usize]) -> Result<Self> {
        if units.is_empty() {
            return Err(Error::setting("units", "found none; expected a layer"));
        }
        let widths = std::iter::once(&d_in).chain(units);
        let layers = widths.zip(units).map(|(&below, &own)| Gru::new(below, own)).collect::<Result<_>>()?;
        Ok(Self { layers })
    }

    /// The layers, lowest first.
    pub(crate) fn layers(&self) -> &[Gru] {
        &self.layers
    }

    /// Width of what is read.
    pub(crate) fn d_in(&self) -> usize {
        self.layers[0].d_in()
    }

    /// Units of the last layer.
    pub(crate) fn d_state(&self) -> usize {
        self.top().d_state()
    }

    fn top(&self) -> &Gru {
        &self.layers[self.layers.len() - 1]
    }

    pub(crate) fn n_parameters(&self) -> usize {
        self.layers.iter().map(Gru::n_parameters).sum()
    }

    /// Where the parameters of each layer are.
    fn ranges(&self) -> Vec<Range<usize>> {
        let mut end = 0;
        let mut next = |n: usize| {
            end += n;
            end - n..end
        };
        self.layers.iter().map(|gru| next(gru.n_parameters())).collect()
    }

    /// Appends parameters to begin with: uniform in ±1/√units of the layer.
    pub(crate) fn begin(&self, parameters: &mut Vec<f32>, random: &mut Random) {
        for gru in &self.layers {
            extend_uniform(parameters, gru.n_parameters(), gru.d_state(), random);
        }
    }

    /// # Errors
    /// Parameters of another length.
    pub(crate) fn arrange<R: Real>(&self, parameters: &[R], weights: &mut ReaderWeights<R>) -> Result<()> {
        weights.0.resize_with(self.layers.len(), Default::default);
        for ((gru, range), weights) in self.layers.iter().zip(self.ranges()).zip(&mut weights.0) {
            gru.arrange(&parameters[range], weights)?;
        }
        Ok(())
    }

    /// The states before the first step.
    pub(crate) fn rest<R: Real>(&self, n_seq: usize) -> Vec<Panels<R>> {
        self.layers.iter().map(|gru| Panels::zeros(n_seq, gru.d_state())).collect()
    }

    /// Reads all sequences from the states `start`, one matrix per layer.
    ///
    /// # Errors
    /// Sizes that do not fit.
    pub(crate) fn forward<R: Real>(
        &self,
        weights: &ReaderWeights<R>,
        inputs: PanelsRef<'_, R>,
        start: &[Panels<R>],
        tape: &mut ReaderTape<R>,
    ) -> Result<()> {
        tape.0.resize_with(self.layers.len(), Default::default);
        for (l, gru) in self.layers.iter().enumerate() {
            let (below, own) = tape.0.split_at_mut(l);
            let read = below.last().map_or(inputs, |tape| self.layers[l - 1].outputs(tape));
            gru.forward(&weights.0[l], read, &start[l], &mut own[0])?;
        }
        Ok(())
    }

    /// The states of the last layer at every step.
    pub(crate) fn states<'a, R: Real>(&self, tape: &'a ReaderTape<R>) -> PanelsRef<'a, R> {
        self.top().outputs(&tape.0[self.layers.len() - 1])
    }

    /// The states of every layer after the last step.
    pub(crate) fn end<R: Real>(&self, tape: &ReaderTape<R>) -> Vec<Panels<R>> {
        self.layers.iter().zip(&tape.0).map(|(gru, tape)| gru.end(tape)).collect()
    }

    /// Adds the gradient that `d_states`, at the states of the last layer, gives to `gradient`; the tape is used up.
    ///
    /// Where other stretches of time precede or follow, `onward` takes gradients from one to the other.
    ///
    /// # Errors
    /// Sizes that do not fit the forward pass.
    pub(crate) fn adjoint<R: Real>(
        &self,
        weights: &ReaderWeights<R>,
        (inputs, d_states): (PanelsRef<'_, R>, Panels<R>),
        tape: &mut ReaderTape<R>,
        gradient: &mut [R],
        mut onward: Option<&mut Onward<R>>,
    ) -> Result<()> {
        let (mut pulled, mut d_start) = (d_states, Panels::default());
        for ((l, gru), range) in self.layers.iter().enumerate().zip(self.ranges()).rev() {
            let (below, own) = tape.0.split_at_mut(l);
            let read = below.last().map_or(inputs, |tape| self.layers[l - 1].outputs(tape));
            let mut d_read = Panels::default();
            if let Some(onward) = &onward {
                add_at_end(&mut pulled, &onward.states[l]);
            }
            let wanted = (l > 0 || onward.is_some()).then_some(&mut d_read);
            let mut pull = Gradient { parameters: &mut gradient[range], inputs: wanted, start: &mut d_start };
            gru.adjoint(&weights.0[l], read, pulled.view(), &mut own[0], &mut pull)?;
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
}

/// From which end sequences are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Forward,
    Backward,
}

/// Sequences of these lengths as rows t · n_seq + i, `at(i, t, c)` in column c; zeros behind the shorter ones.
pub(crate) fn side_by_side<R: Real>(
    lengths: &[usize],
    width: usize,
    direction: Direction,
    at: impl Fn(usize, usize, usize) -> R,
) -> Panels<R> {
    let (n_seq, n_time) = (lengths.len(), lengths.iter().copied().max().unwrap_or(0));
    Panels::from_fn(n_time * n_seq, width, |row, c| {
        let (t, i) = (row / n_seq, row % n_seq);
        match direction {
            _ if t >= lengths[i] => R::from_f64(0.0),
            Direction::Forward => at(i, t, c),
            Direction::Backward => at(i, lengths[i] - 1 - t, c),
        }
    })
}

/// What is kept of the states of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pool {
    /// Their mean.
    Mean,
    /// The one after its last step.
    Last,
}

impl Pool {
    /// n_seq × units from rows t · n_seq + i.
    pub(crate) fn of<R: Real>(self, states: PanelsRef<'_, R>, lengths: &[usize]) -> Panels<R> {
        let n_seq = lengths.len();
        Panels::from_fn(n_seq, states.n_columns(), |i, c| match self {
            Self::Mean => {
                let zero = R::from_f64(0.0);
                let sum = (0..lengths[i]).fold(zero, |sum, t| sum + states.get(t * n_seq + i, c));
                sum / R::from_f64(lengths[i].max(1) as f64)
            }
            Self::Last => states.get((lengths[i] - 1) * n_seq + i, c),
        })
    }

    /// The gradient at all states, given that at what was kept.
    pub(crate) fn adjoint<R: Real>(self, d_kept: PanelsRef<'_, R>, lengths: &[usize]) -> Panels<R> {
        let (n_seq, n_time) = (lengths.len(), lengths.iter().copied().max().unwrap_or(0));
        Panels::from_fn(n_time * n_seq, d_kept.n_columns(), |row, c| {
            let (t, i) = (row / n_seq, row % n_seq);
            match self {
                Self::Mean if t < lengths[i] => d_kept.get(i, c) / R::from_f64(lengths[i] as f64),
                Self::Last if t + 1 == lengths[i] => d_kept.get(i, c),
                Self::Mean | Self::Last => R::from_f64(0.0),
            }
        })
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
pub(crate) fn extend_uniform(parameters: &mut Vec<f32>, n: usize, fan_in: usize, random: &mut Random) {
    let bound = 1.0 / (fan_in as f64).sqrt();
    parameters.extend((0..n).map(|_| random.random_range(-bound..bound) as f32));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    const LENGTHS: [usize; 3] = [4, 1, 3];

    fn value(i: usize, t: usize, c: usize) -> f64 {
        ((7 * i + 3 * t + c) as f64).sin()
    }

    #[test]
    fn sequences_stand_side_by_side_and_turn_round() {
        let there = side_by_side(&LENGTHS, 2, Direction::Forward, value);
        let back = side_by_side(&LENGTHS, 2, Direction::Backward, value);
        for (i, &n_time) in LENGTHS.iter().enumerate() {
            for (t, c) in (0..4).flat_map(|t| [(t, 0), (t, 1)]) {
                let expected = |t: usize| if t < n_time { value(i, t, c) } else { 0.0 };
                assert_eq!(there.view().get(3 * t + i, c), expected(t));
                let turned = if t < n_time { expected(n_time - 1 - t) } else { 0.0 };
                assert_eq!(back.view().get(3 * t + i, c), turned);
            }
        }
    }

    /// Two layers over ragged sequences: the gradient of a weighted sum of what is kept, against central differences.
    #[test]
    fn gradients_of_both_pools_match_central_differences() {
        let reader = Reader::new(2, &[3, 2]).unwrap();
        let inputs = side_by_side(&LENGTHS, 2, Direction::Forward, value);
        let mut first = vec![];
        reader.begin(&mut first, &mut stream(4, 0));
        assert_eq!(first.len(), reader.n_parameters());
        let first: Vec<f64> = first.into_iter().map(f64::from).collect();
        let weight = |i: usize, c: usize| 1.0 + 0.3 * i as f64 - 0.7 * c as f64;
        for pool in [Pool::Mean, Pool::Last] {
            let (mut weights, mut tape) = (ReaderWeights::default(), ReaderTape::default());
            let mut loss = |parameters: &[f64], tape: &mut ReaderTape<f64>| {
                reader.arrange(parameters, &mut weights).unwrap();
                reader.forward(&weights, inputs.view(), &reader.rest(3), tape).unwrap();
                let kept = pool.of(reader.states(tape), &LENGTHS);
                let terms = (0..6).map(|at| weight(at / 2, at % 2) * kept.view().get(at / 2, at % 2));
                terms.sum::<f64>()
            };
            let difference = |loss: &mut dyn FnMut(&[f64]) -> f64, at: usize| {
                let mut moved = |h: f64| {
                    let mut parameters = first.clone();
                    parameters[at] += h;
                    loss(&parameters)
                };
                (moved(1e-6) - moved(-1e-6)) / 2e-6
            };
            let expected: Vec<f64> = (0..first.len())
                .map(|at| difference(&mut |parameters| loss(parameters, &mut ReaderTape::default()), at))
                .collect();
            loss(&first, &mut tape);
            let d_kept = Panels::from_fn(3, 2, weight);
            let d_states = pool.adjoint(d_kept.view(), &LENGTHS);
            let mut gradient = vec![0.0; first.len()];
            reader.adjoint(&weights, (inputs.view(), d_states), &mut tape, &mut gradient, None).unwrap();
            for (found, expected) in gradient.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-7, "{pool:?}: {found} {expected}");
            }
        }
    }
}
