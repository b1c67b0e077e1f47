//! Predictions with nothing known after the seed: in one call for an open loop, step by step for a closed one.

use super::batch::{Batch, Seeded, write_reading};
use super::pass::Network;
use super::settings::Loop;
use super::stack::{StackTape, StackWeights};
use crate::Result;
use crate::baseline::spread::Residuals;
use crate::kernel::{Panels, Real};

impl Network {
    /// ŷ at every step of segments of which only the seeds are known, rows t · n_seq + i, p columns.
    ///
    /// A closed loop reads its own predictions after the seed. Rows behind the end of a segment mean nothing.
    ///
    /// # Errors
    /// Sizes that do not fit.
    pub(super) fn free_run<R: Real>(
        &self,
        weights: &StackWeights<R>,
        segments: &[Seeded<'_>],
    ) -> Result<Vec<f64>> {
        let n_time = segments.iter().map(|(piece, _)| piece.n_time).max().unwrap_or(0);
        // A step reads the one before it, so the step after the shortest seed reads nothing but seeds, too.
        let common = match self.feedback {
            Loop::Open => n_time,
            Loop::Closed => segments.iter().map(|&(_, seed)| seed + 1).min().unwrap_or(0).min(n_time),
        };
        let mut tape = StackTape::default();
        let batch = Batch::new(self.widths, self.feedback, common, segments);
        let mut predictions = self.run(weights, &batch, &mut tape)?;
        let (n_seq, width) = (segments.len(), self.widths.reading());
        for t in common..n_time {
            let before = self.before(t, segments, &predictions);
            let mut readings = Panels::zeros(n_seq, width);
            for (i, before) in before.chunks(self.widths.d_obs).enumerate() {
                write_reading(&mut readings, i, self.inputs_at(t, segments[i]), before);
            }
            let start = self.stack.end(&tape);
            self.stack.forward(weights, readings.view(), &start, &mut tape)?;
            self.extend_step(self.stack.outputs(&tape), &before, &mut predictions);
        }
        Ok(predictions)
    }

    /// What a closed loop takes for y_{t−1}, n_seq × p: the seed, then its own predictions.
    fn before(&self, t: usize, segments: &[Seeded<'_>], predictions: &[f64]) -> Vec<f64> {
        let (p, n_seq) = (self.widths.d_obs, segments.len());
        let of = |i: usize| {
            let (piece, seed) = segments[i];
            let row = if t <= seed { t - 1 } else { (t - 1) * n_seq + i };
            let source = if t <= seed { &piece.outputs } else { predictions };
            &source[row * p..(row + 1) * p]
        };
        (0..n_seq).flat_map(of).copied().collect()
    }

    /// None behind the end of a segment.
    fn inputs_at<'a>(&self, t: usize, (piece, _): Seeded<'a>) -> &'a [f64] {
        let m = self.widths.d_input;
        if t < piece.n_time { &piece.inputs[t * m..(t + 1) * m] } else { &[] }
    }

    /// Squared errors by steps after the seed; step 0 is the first one predicted.
    ///
    /// # Errors
    /// Sizes that do not fit.
    pub(super) fn residuals<R: Real>(
        &self,
        weights: &StackWeights<R>,
        segments: &[Seeded<'_>],
        batch: usize,
    ) -> Result<(usize, Residuals)> {
        let longest = segments.iter().map(|(piece, seed)| piece.n_time - seed).max().unwrap_or(0);
        let (p, mut residuals) = (self.widths.d_obs, Residuals::new(longest, self.widths.d_obs));
        for segments in segments.chunks(batch) {
            let predictions = self.free_run(weights, segments)?;
            for (i, &(piece, seed)) in segments.iter().enumerate() {
                for (at, y) in piece.outputs.iter().enumerate().skip(seed * p).filter(|(_, y)| !y.is_nan()) {
                    let prediction = predictions[(at / p * segments.len() + i) * p + at % p];
                    residuals.add(at - seed * p, y - prediction);
                }
            }
        }
        Ok((longest, residuals))
    }
}
