//! How far feet slide while they stand.
//!
//! ```text
//! s_t = min over ankle and toe of ‖(x, z)_t − (x, z)_{t−1}‖        t and t − 1 in one stance
//! ```
//!
//! A foot rolls: the heel rests first, then the toe. Whichever moves less carries the foot, so it alone counts.

use crate::gait::Foot;
use crate::{Error, Joint, JointTrack, Result, robust};

/// What feet do while they stand.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Sliding {
    /// Mean speed over the ground, in metres per second; 0 where no foot ever stands.
    pub mean_speed: f64,
    /// Longest way of one stance, in metres.
    pub longest_m: f64,
    /// Number of stances.
    pub n_stances: usize,
}

/// Sliding of both feet; `contacts` has a flag per foot, left first, and frame: see [`crate::gait::contacts`].
///
/// # Errors
/// [`Error::Shape`] for another number of flags than frames.
pub fn foot_sliding(track: &JointTrack, contacts: &[Vec<bool>; 2]) -> Result<Sliding> {
    check_contacts(track, contacts)?;
    let (mut way, mut longest, mut n_steps, mut n_stances) = (0.0, 0.0f64, 0usize, 0usize);
    for (foot, stands) in Foot::BOTH.into_iter().zip(contacts) {
        for stance in stances(stands) {
            let steps = (stance.start + 1..stance.end).map(|t| length(slip(track, foot, t)));
            let own: f64 = steps.sum();
            (way, longest) = (way + own, longest.max(own));
            (n_steps, n_stances) = (n_steps + stance.len() - 1, n_stances + 1);
        }
    }
    Ok(Sliding { mean_speed: way * track.fps / n_steps.max(1) as f64, longest_m: longest, n_stances })
}

/// Ranges of frames in which a foot stands.
pub(super) fn stances(stands: &[bool]) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    robust::runs(stands).into_iter().filter(|run| stands[run.start])
}

/// The step on the ground, from frame `t − 1` to `t`, of that joint of the foot which moves less.
pub(super) fn slip(track: &JointTrack, foot: Foot, t: usize) -> [f64; 2] {
    let [ankle, toe] = foot.joints().map(|joint| step(track, joint, t));
    if length(ankle) < length(toe) { ankle } else { toe }
}

fn step(track: &JointTrack, joint: Joint, t: usize) -> [f64; 2] {
    let ([x, _, z], [x_before, _, z_before]) = (track.at(t, joint), track.at(t - 1, joint));
    [x - x_before, z - z_before]
}

fn length([x, z]: [f64; 2]) -> f64 {
    x.hypot(z)
}

/// A flag per foot and frame.
pub(super) fn check_contacts(track: &JointTrack, contacts: &[Vec<bool>; 2]) -> Result<()> {
    match contacts.iter().find(|stands| stands.len() != track.n_frames()) {
        Some(stands) => Err(Error::shape("contacts of a foot", track.n_frames(), stands.len())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walker::{Style, Walker};

    #[test]
    fn planted_feet_do_not_slide_and_dragged_bodies_do() {
        let walk = Walker::new(Style::Neutral.parameters());
        let walk = walk.walk(200, &mut mtds::random::stream(4, 0)).unwrap();
        let still = foot_sliding(&walk.track, &walk.contacts).unwrap();
        assert!(still.mean_speed < 1e-9 && still.n_stances > 5, "{still:?}");
        // Everything drifts sideways at half a metre per second.
        let drag = |(place, &[x, y, z]): (usize, &[f64; 3])| {
            [x + 0.5 / 30.0 * (place / crate::N_JOINTS) as f64, y, z]
        };
        let dragged = walk.track.positions().iter().enumerate().map(drag).collect();
        let dragged = JointTrack::new(30.0, dragged).unwrap();
        let slid = foot_sliding(&dragged, &walk.contacts).unwrap();
        // The ankle of a rolling foot may move less than the drag for some frames.
        assert!((0.4..0.51).contains(&slid.mean_speed), "{slid:?}");
    }

    #[test]
    fn flags_must_fit_and_may_all_be_off() {
        let track = JointTrack::new(30.0, vec![[0.0; 3]; 3 * crate::N_JOINTS]).unwrap();
        assert!(foot_sliding(&track, &[vec![true; 3], vec![true; 2]]).is_err());
        let none = foot_sliding(&track, &[vec![false; 3], vec![false; 3]]).unwrap();
        assert_eq!((none.mean_speed, none.n_stances), (0.0, 0));
    }
}
