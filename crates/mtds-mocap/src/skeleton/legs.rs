//! Leg lengths, bodies scaled to a common one, so that steps of tall and short people compare, and legs that bend.
//!
//! ```text
//! knee'  in the plane of hip, ankle' and the old knee; thigh and shin keep their lengths:
//!        a = (l₁² − l₂² + D²) / 2D along the line from hip to ankle', √(l₁² − a²) off it       D = |ankle' − hip|
//! ```

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

/// Knee and ankle of a leg of these lengths `[thigh, shin]` whose ankle goes to `target`, or towards it as far as `most` from
/// the hip; the knee stays on the side where it is. None for a leg without length.
pub(crate) fn bent_leg(
    [hip, knee]: [DVec3; 2],
    target: DVec3,
    [thigh, shin]: [f64; 2],
    most: f64,
) -> Option<(DVec3, DVec3)> {
    let line = target - hip;
    let down = line.try_normalize()?;
    let least = (thigh - shin).abs();
    let reach = line.length().clamp(least, most.max(least));
    let along = (thigh * thigh - shin * shin + reach * reach) / (2.0 * reach);
    let out = (thigh * thigh - along * along).max(0.0).sqrt();
    let off = knee - hip;
    let front = (off - down * off.dot(down)).try_normalize().unwrap_or_else(|| down.any_orthonormal_vector());
    (along.is_finite() && out.is_finite()).then(|| (hip + down * along + front * out, hip + down * reach))
}
