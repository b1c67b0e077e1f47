//! Segments side by side: what the network reads at each step, and which outputs are scored.
//!
//! ```text
//! row t · n_seq + i of inputs      [u_t, ỹ_{t−1}, m_{t−1}] of segment i        m + 2p columns
//! ```

use super::material::Piece;
use crate::kernel::{Panels, Real};

/// A segment, and the length τ of its seed.
pub(super) type Seeded<'a> = (&'a Piece, usize);

/// Numbers of outputs and inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Widths {
    pub(super) d_obs: usize,
    pub(super) d_input: usize,
}

impl Widths {
    /// Width of what is read at a step.
    pub(super) fn reading(self) -> usize {
        self.d_input + 2 * self.d_obs
    }
}

/// Which outputs are known when the step after them is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Those of the seed; steps after it are scored.
    Seed,
    /// All of them (teacher forcing); all steps but the first are scored.
    Past,
}

/// Segments as the network reads them.
#[derive(Clone, Debug)]
pub(super) struct Batch<R> {
    pub(super) known: Known,
    pub(super) seeds: Vec<usize>,
    pub(super) n_time: usize,
    pub(super) n_seq: usize,
    /// Rows × (m + 2p).
    pub(super) inputs: Panels<R>,
    /// Rows × p: y_{t−1}, NaN where it is unknown when step t is predicted.
    pub(super) before: Vec<f64>,
    /// Rows × p: y_t where it is scored, NaN elsewhere.
    pub(super) targets: Vec<f64>,
}

impl<R: Real> Batch<R> {
    /// Segments, the shorter ones padded.
    pub(super) fn new(widths: Widths, known: Known, segments: &[Seeded<'_>]) -> Self {
        let (n_seq, p) = (segments.len(), widths.d_obs);
        let n_time = segments.iter().map(|(piece, _)| piece.n_time).max().unwrap_or(0);
        let mut batch = Self {
            known,
            seeds: segments.iter().map(|&(_, seed)| seed).collect(),
            n_time,
            n_seq,
            inputs: Panels::zeros(n_time * n_seq, widths.reading()),
            before: vec![f64::NAN; n_time * n_seq * p],
            targets: vec![f64::NAN; n_time * n_seq * p],
        };
        for (i, (piece, _)) in segments.iter().enumerate() {
            (0..piece.n_time).for_each(|t| batch.fill(widths, (t, i), piece));
        }
        batch
    }

    fn fill(&mut self, widths: Widths, (t, i): (usize, usize), piece: &Piece) {
        let (p, m, row) = (widths.d_obs, widths.d_input, t * self.n_seq + i);
        let outputs = |t: usize| &piece.outputs[t * p..(t + 1) * p];
        let own = row * p..(row + 1) * p;
        if t > 0 && (self.known == Known::Past || t <= self.seeds[i]) {
            self.before[own.clone()].copy_from_slice(outputs(t - 1));
        }
        let first_scored = if self.known == Known::Past { 1 } else { self.seeds[i] };
        if t >= first_scored {
            self.targets[own.clone()].copy_from_slice(outputs(t));
        }
        let inputs = &piece.inputs[t * m..(t + 1) * m];
        inputs.iter().enumerate().for_each(|(c, &u)| self.inputs.set(row, c, R::from_f64(u)));
        write_known(&mut self.inputs, row, &self.before[own]);
    }

    /// Whether segment `i` is beyond its seed when step `t` is predicted.
    pub(super) fn is_beyond(&self, t: usize, i: usize) -> bool {
        t > self.seeds[i]
    }
}

/// What a row of readings says of the outputs of the step before, NaN where unknown: values, then flags, its last columns.
pub(super) fn write_known<R: Real>(readings: &mut Panels<R>, row: usize, before: &[f64]) {
    let p = before.len();
    let first = readings.n_columns() - 2 * p;
    for (d, &y) in before.iter().enumerate() {
        let (value, flag) = if y.is_nan() { (0.0, 0.0) } else { (y, 1.0) };
        readings.set(row, first + d, R::from_f64(value));
        readings.set(row, first + p + d, R::from_f64(flag));
    }
}
