//! From a clip as it was captured to a clean one at 30 frames per second that stands on the floor.
//!
//! ```text
//! T-pose dropped ─→ glitches mended ─→ rate checked ─→ low-passed and resampled ─→ floor at height 0
//! ```
//!
//! Every step says what it found in a [`SignalReport`]; the rate is only checked, never changed by itself.

mod floor;
mod glitch;
mod rate;
mod report;
mod resample;
mod tpose;

pub use floor::{TOE_HEIGHT, find_floor, lower};
pub use glitch::mend;
pub use rate::{RateCheck, RateVerdict, check_rate};
pub use report::{Floor, Glitch, GlitchKind, Repair, SignalReport, TPose};
pub use resample::{nominal_fps, resample, resample_rotations};
pub use tpose::leading_t_pose;

use crate::{JointTrack, N_JOINTS, Result};

/// Frames per second of a prepared clip, as in the paper.
pub const FPS: f64 = 30.0;

/// The clip without its T-pose and glitches, at `fps` frames per second, on the floor; and what was found.
///
/// # Errors
/// [`crate::Error::Setting`] if `fps` is not positive.
///
/// ```
/// use mtds_mocap::signal::{FPS, prepare};
/// use mtds_mocap::walker::{Style, Walker};
///
/// # fn main() -> mtds_mocap::Result<()> {
/// let walk = Walker { fps: 120.0, ..Walker::new(Style::Old.parameters()) }.walk(600, &mut mtds::random::stream(1, 0))?;
/// let (clip, report) = prepare(&walk.track, FPS)?;
/// assert_eq!((clip.fps, clip.n_frames()), (30.0, 150));
/// assert!(report.is_clean());
/// # Ok(())
/// # }
/// ```
pub fn prepare(track: &JointTrack, fps: f64) -> Result<(JointTrack, SignalReport)> {
    let t_pose = leading_t_pose(track);
    let n_dropped = t_pose.n_frames();
    let captured =
        JointTrack::new(nominal_fps(track.fps), track.positions()[n_dropped * N_JOINTS..].to_vec())?;
    let (mended, mut glitches) = mend(&captured)?;
    for glitch in &mut glitches {
        glitch.frames = glitch.frames.start + n_dropped..glitch.frames.end + n_dropped;
    }
    let rate = check_rate(&mended);
    let clip = resample(&mended, fps)?;
    let floor = find_floor(&clip);
    let clip = lower(&clip, floor.height)?;
    let report = SignalReport {
        n_frames_in: track.n_frames(),
        n_frames_out: clip.n_frames(),
        fps_in: track.fps,
        fps_out: clip.fps,
        t_pose,
        glitches,
        rate,
        floor,
    };
    Ok((clip, report))
}
