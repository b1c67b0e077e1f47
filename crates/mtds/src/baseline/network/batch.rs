//! Segments side by side: what the network reads at each step, and which outputs are scored.
//!
//! ```text
//! row t · n_seq + i of inputs      [u_t, ỹ_{t−1}, m_{t−1}] of segment i        m + 2p columns
//! ```

use super::material::Piece;
use super::settings::Loop;
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

/// Segments as the network reads them.
#[derive(Clone, Debug)]
pub(super) struct Batch<R> {
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
    /// The first `n_time` steps of segments, the shorter ones padded.
    pub(super) fn new(widths: Widths, feedback: Loop, n_time: usize, segments: &[Seeded<'_>]) -> Self {
        let (n_seq, p) = (segments.len(), widths.d_obs);
        let mut batch = Self {
            n_time,
            n_seq,
            inputs: Panels::zeros(n_time * n_seq, widths.reading()),
            before: vec![f64::NAN; n_time * n_seq * p],
            targets: vec![f64::NAN; n_time * n_seq * p],
        };
        for (i, &(piece, seed)) in segments.iter().enumerate() {
            for t in 0..n_time.min(piece.n_time) {
                batch.fill(widths, feedback, (t, i), (piece, seed));
            }
        }
        batch
    }

    fn fill(&mut self, widths: Widths, feedback: Loop, (t, i): (usize, usize), (piece, seed): Seeded<'_>) {
        let (p, m, row) = (widths.d_obs, widths.d_input, t * self.n_seq + i);
        let outputs = |t: usize| &piece.outputs[t * p..(t + 1) * p];
        let own = row * p..(row + 1) * p;
        if t > 0 && (feedback == Loop::Closed || t <= seed) {
            self.before[own.clone()].copy_from_slice(outputs(t - 1));
        }
        let first_scored = if feedback == Loop::Closed { 1 } else { seed };
        if t >= first_scored {
            self.targets[own.clone()].copy_from_slice(outputs(t));
        }
        write_reading(&mut self.inputs, row, &piece.inputs[t * m..(t + 1) * m], &self.before[own]);
    }
}

/// A row of readings: inputs, or none behind the end of a segment; known outputs of the step before; flags. Unknown outputs
/// are NaN.
pub(super) fn write_reading<R: Real>(readings: &mut Panels<R>, row: usize, inputs: &[f64], before: &[f64]) {
    let p = before.len();
    let m = readings.n_columns() - 2 * p;
    for (c, &u) in inputs.iter().enumerate() {
        readings.set(row, c, R::from_f64(u));
    }
    for (d, &y) in before.iter().enumerate() {
        let (value, flag) = if y.is_nan() { (0.0, 0.0) } else { (y, 1.0) };
        readings.set(row, m + d, R::from_f64(value));
        readings.set(row, m + p + d, R::from_f64(flag));
    }
}
