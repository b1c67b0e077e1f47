//! Segments that begin a little sooner or later each time they take part: a code then explains what is around its segment, not where
//! it was cut.
//!
//! ```text
//! steps [a + o, b + o)        o uniform over −J … J, within the sequence
//! ```

use std::ops::Range;

use rand::RngExt;

use crate::family::{Family, Origin};
use crate::random::Random;
use crate::system::{OwnBatch, System};
use crate::{Error, Result};

/// The sequences that segments were cut from, and where.
#[derive(Debug)]
pub(super) struct MovedSegments {
    /// In model units.
    whole: Family,
    /// Number of the sequence, and steps of it, by segment.
    pieces: Vec<(usize, Range<usize>)>,
    jitter: usize,
}

impl MovedSegments {
    /// For the segments of `batch`, which `origins` tell the beginnings of.
    ///
    /// # Errors
    /// Origins that are not those of the segments.
    pub(super) fn new(whole: Family, origins: &[Origin], batch: &OwnBatch, jitter: usize) -> Result<Self> {
        if origins.len() != batch.n_seq() {
            return Err(Error::shape("origins of segments", batch.n_seq(), origins.len()));
        }
        let piece = |(i, origin): (usize, &Origin)| {
            let n_time: usize = batch.windows(i).iter().map(|window| window.n_time).sum();
            let steps = origin.start..origin.start + n_time;
            match origin.sequence < whole.n_seq() && steps.end <= whole.sequence(origin.sequence).n_time() {
                true => Ok((origin.sequence, steps)),
                false => {
                    let found = format!("steps {steps:?} of sequence {}", origin.sequence);
                    Err(Error::shape("a segment", "steps of a sequence that there is", found))
                }
            }
        };
        let pieces = origins.iter().enumerate().map(piece).collect::<Result<_>>()?;
        Ok(Self { whole, pieces, jitter })
    }

    /// These segments, each moved anew.
    pub(super) fn batch(
        &self,
        model: &System,
        segments: &[usize],
        window: Option<usize>,
        random: &mut Random,
    ) -> OwnBatch {
        let pieces = segments.iter().map(|&i| self.draw(i, random)).collect();
        OwnBatch::of_pieces(model, &self.whole, pieces, window)
    }

    /// Where one segment comes to lie: number of the sequence, and its steps.
    pub(super) fn draw(&self, segment: usize, random: &mut Random) -> (usize, Range<usize>) {
        let (sequence, steps) = &self.pieces[segment];
        let last = self.whole.sequence(*sequence).n_time();
        (*sequence, moved(steps, last, random.random_range(0..=2 * self.jitter), self.jitter))
    }

    /// The sequences, in model units.
    pub(super) fn whole(&self) -> &Family {
        &self.whole
    }

    /// Steps of the longest segment.
    pub(super) fn longest(&self) -> usize {
        self.pieces.iter().map(|(_, steps)| steps.len()).max().unwrap_or(0)
    }
}

/// Steps moved by `by` − `jitter`, as far as a sequence of `n_time` steps lets them.
fn moved(steps: &Range<usize>, n_time: usize, by: usize, jitter: usize) -> Range<usize> {
    let start = (steps.start + by).saturating_sub(jitter).min(n_time - steps.len());
    start..start + steps.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_stay_within_their_sequence_and_keep_their_length() {
        assert_eq!(moved(&(10..20), 40, 0, 4), 6..16);
        assert_eq!(moved(&(10..20), 40, 8, 4), 14..24);
        assert_eq!(moved(&(2..12), 40, 0, 4), 0..10);
        assert_eq!(moved(&(30..40), 40, 8, 4), 30..40);
        assert_eq!(moved(&(0..5), 5, 3, 4), 0..5);
    }
}
