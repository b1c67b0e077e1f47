//! What a clip loses on its way out: from features to the world, and from positions to rotations on a skeleton.

use serde::Serialize;

use super::posed;
use crate::clip::Clip;
use crate::{JointTrack, Result};

/// Distances from the clean clip, in millimetres.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Loss {
    /// The farthest joint in any frame, of positions that features lead back to.
    pub features_farthest_mm: f64,
    /// The mean over joints and frames, of positions that exported rotations lead to.
    pub rotations_mean_mm: f64,
}

impl Loss {
    /// What a clip loses.
    ///
    /// # Errors
    /// None for a clip as it was read.
    pub fn of(clip: &Clip) -> Result<Self> {
        let back = clip.features.outputs.to_track()?;
        Ok(Self {
            features_farthest_mm: 1000.0 * farthest(&back, &clip.track),
            rotations_mean_mm: 1000.0 * posed(&clip.track)?.mean_error_m,
        })
    }

    /// The largest of each.
    #[must_use]
    pub fn worst(losses: &[Self]) -> Self {
        losses.iter().fold(Self::default(), |worst, loss| Self {
            features_farthest_mm: worst.features_farthest_mm.max(loss.features_farthest_mm),
            rotations_mean_mm: worst.rotations_mean_mm.max(loss.rotations_mean_mm),
        })
    }
}

/// Largest distance of a joint, the last frames of both tracks being the same moment: features have no first frame.
fn farthest(back: &JointTrack, track: &JointTrack) -> f64 {
    let pairs = back.positions().iter().rev().zip(track.positions().iter().rev());
    let squared =
        |(a, b): (&[f64; 3], &[f64; 3])| (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>();
    pairs.map(squared).fold(0.0, f64::max).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::N_JOINTS;

    #[test]
    fn distances_are_taken_at_the_same_moments() {
        let frame = |t: usize| (0..N_JOINTS).map(move |j| [t as f64, j as f64, 0.0]);
        let track = JointTrack::new(30.0, (0..5).flat_map(frame).collect()).expect("whole frames");
        let mut later: Vec<[f64; 3]> = (1..5).flat_map(frame).collect();
        let back = |positions: &[[f64; 3]]| JointTrack::new(30.0, positions.to_vec()).expect("whole frames");
        assert_eq!(farthest(&back(&later), &track), 0.0);
        later[7][2] = -0.25;
        assert_eq!(farthest(&back(&later), &track), 0.25);
    }
}
