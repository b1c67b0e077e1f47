//! The spread of errors when nothing is known after the seed.

use super::batch::{Batch, Known, Seeded};
use super::pass::{Network, Tape};
use super::stack::StackWeights;
use crate::Result;
use crate::baseline::spread::Residuals;
use crate::kernel::Real;

impl Network {
    /// ŷ at every step of segments of which only the seeds are known, rows t · n_seq + i, p columns.
    ///
    /// # Errors
    /// Sizes that do not fit.
    pub(super) fn free_run<R: Real>(
        &self,
        weights: &StackWeights<R>,
        segments: &[Seeded<'_>],
    ) -> Result<Vec<f64>> {
        self.run(weights, &Batch::new(self.widths, Known::Seed, segments), &mut Tape::default())
    }

    /// Squared errors by steps after the seed, and how many steps there are; step 0 is the first one predicted.
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
