//! Finds the height of the floor from feet at rest, and puts it at 0.
//!
//! ```text
//! resting   toes slower than 0.15 m/s and not higher than 15 cm above the lowest toe of the clip
//! floor     the median height of resting toes, less the thickness of a foot
//! ```
//!
//! A minimum would follow every dip of a noisy joint; feet at rest agree.

use super::report::Floor;
use crate::{Joint, JointTrack, Result, robust};

/// Speed under which a toe rests, in metres per second.
const RESTING_SPEED: f64 = 0.15;
/// Resting toes are at most this much above the lowest, in metres: a raised foot may pause too.
const RESTING_HEIGHT: f64 = 0.15;
/// Height of the toe joint of a foot at rest above the ground, in metres.
pub const TOE_HEIGHT: f64 = 0.02;
/// Share of toe heights under which the lowest is sought, so that one bad frame does not set it.
const LOWEST_SHARE: f64 = 0.01;

/// The floor under a clip; the lowest toes make it where none rests.
#[must_use]
pub fn find_floor(track: &JointTrack) -> Floor {
    let toes = [Joint::LeftToe, Joint::RightToe];
    let heights = |joint| (0..track.n_frames()).map(move |frame| track.at(frame, joint)[1]);
    let lowest = robust::quantile(toes.into_iter().flat_map(heights), LOWEST_SHARE).unwrap_or(0.0);
    let rests = |&(frame, joint): &(usize, Joint)| {
        speed(track, frame, joint) < RESTING_SPEED && track.at(frame, joint)[1] < lowest + RESTING_HEIGHT
    };
    let all = (1..track.n_frames()).flat_map(|frame| toes.map(|joint| (frame, joint)));
    let resting: Vec<f64> = all.filter(rests).map(|(frame, joint)| track.at(frame, joint)[1]).collect();
    let toe = robust::median(resting.iter().copied()).unwrap_or(lowest);
    let spread = robust::median(resting.iter().map(|height| (height - toe).abs())).unwrap_or(0.0);
    Floor { height: toe - TOE_HEIGHT, spread, n_resting: resting.len() }
}

/// The clip moved down by `height`.
///
/// # Errors
/// [`crate::Error::NotFinite`] if `height` is not finite.
pub fn lower(track: &JointTrack, height: f64) -> Result<JointTrack> {
    let positions = track.positions().iter().map(|&[x, y, z]| [x, y - height, z]).collect();
    JointTrack::new(track.fps, positions)
}

/// Speed of a joint on the way from the frame before, in metres per second.
fn speed(track: &JointTrack, frame: usize, joint: Joint) -> f64 {
    let (now, before) = (track.at(frame, joint), track.at(frame - 1, joint));
    (0..3).map(|axis| (now[axis] - before[axis]).powi(2)).sum::<f64>().sqrt() * track.fps
}
