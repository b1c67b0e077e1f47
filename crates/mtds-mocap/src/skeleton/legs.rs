//! Leg lengths, and bodies scaled to a common one, so that steps of tall and short people compare.

use glam::DVec3;

use super::measure::leg_of_frame;
use crate::track::{JointTrack, N_JOINTS};
use crate::{Error, Result};

/// Median over frames of the mean length of both legs, thigh and shank, in metres.
pub fn leg_length(track: &JointTrack) -> f64 {
    let mut lengths: Vec<f64> = (0..track.n_frames())
        .map(|i| {
            let frame: [DVec3; N_JOINTS] = std::array::from_fn(|joint| DVec3::from(track.frame(i)[joint]));
            leg_of_frame(&frame)
        })
        .collect();
    lengths.sort_by(f64::total_cmp);
    lengths[lengths.len() / 2]
}

/// The track scaled about the origin so that legs have `leg_m` metres, and the factor that did it.
///
/// Everything scales: bones, root height and the way travelled, so that feet still stand where they stood.
///
/// # Errors
/// A length that is not positive and finite, or a track without legs.
pub fn normalise_legs(track: &JointTrack, leg_m: f64) -> Result<(JointTrack, f64)> {
    if !(leg_m.is_finite() && leg_m > 0.0) {
        return Err(Error::setting("leg length", format!("found {leg_m}; give metres above 0")));
    }
    let factor = leg_m / leg_length(track);
    if !factor.is_finite() {
        return Err(Error::shape("legs of the track", "a length above 0", "0"));
    }
    let positions = track.positions().iter().map(|position| position.map(|value| value * factor)).collect();
    Ok((JointTrack::new(track.fps, positions)?, factor))
}
