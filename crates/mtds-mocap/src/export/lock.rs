//! Feet that stand are held where they stand; the legs follow by two-bone inverse kinematics.
//!
//! ```text
//! in a stance       d_t = d_{t−1} − slip_t, less its mean over the stance      shift of ankle and toe on the ground
//! between stances   d goes smoothly from the last value to the next
//! ```
//!
//! Hips stay. A leg that would have to grow reaches as far as it can, so some sliding may be left.

use glam::DVec3;

use super::sliding::{check_contacts, slip, stances};
use crate::gait::Foot;
use crate::skeleton::bent_leg;
use crate::{Joint, JointTrack, N_JOINTS, Result};

/// Share of its whole length that a leg may reach, so that knees never snap straight.
const MOST_REACH: f64 = 0.9995;

/// Metres that a knee is off its leg, below which it says no direction.
const STRAIGHT: f64 = 1e-6;

/// The clip with its feet held in place while they stand; `contacts` as in [`super::foot_sliding`].
///
/// # Errors
/// [`crate::Error::Shape`] for another number of flags than frames.
pub fn lock_feet(track: &JointTrack, contacts: &[Vec<bool>; 2]) -> Result<JointTrack> {
    check_contacts(track, contacts)?;
    let mut positions = track.positions().to_vec();
    for (foot, stands) in Foot::BOTH.into_iter().zip(contacts) {
        for (frame, shift) in shifts(track, foot, stands).into_iter().enumerate() {
            let own = &mut positions[frame * N_JOINTS..(frame + 1) * N_JOINTS];
            move_foot(own, foot, DVec3::new(shift[0], 0.0, shift[1]));
        }
    }
    JointTrack::new(track.fps, positions)
}

/// How far a foot is moved on the ground in every frame.
fn shifts(track: &JointTrack, foot: Foot, stands: &[bool]) -> Vec<[f64; 2]> {
    let mut shifts = vec![[0.0; 2]; track.n_frames()];
    // Frame and shift where the last stance ended.
    let mut last: Option<usize> = None;
    for stance in stances(stands) {
        for t in stance.start + 1..stance.end {
            let slip = slip(track, foot, t);
            shifts[t] = [0, 1].map(|axis| shifts[t - 1][axis] - slip[axis]);
        }
        let mean = [0, 1].map(|axis| {
            shifts[stance.clone()].iter().map(|shift| shift[axis]).sum::<f64>() / stance.len() as f64
        });
        for shift in &mut shifts[stance.clone()] {
            *shift = [shift[0] - mean[0], shift[1] - mean[1]];
        }
        blend(&mut shifts, last, Some(stance.start));
        last = Some(stance.end - 1);
    }
    blend(&mut shifts, last, None);
    shifts
}

/// Fills the frames between two stances; a missing one leaves the shift of the other as it is.
fn blend(shifts: &mut [[f64; 2]], before: Option<usize>, after: Option<usize>) {
    let from = before.map(|t| shifts[t]);
    let to = after.map(|t| shifts[t]);
    let (Some(from_or_to), Some(to_or_from)) = (from.or(to), to.or(from)) else { return };
    let first = before.map_or(0, |t| t + 1);
    let end = after.unwrap_or(shifts.len());
    for (place, shift) in shifts[first..end].iter_mut().enumerate() {
        let share = (place + 1) as f64 / (end - first + 1) as f64;
        let share = share * share * (3.0 - 2.0 * share);
        *shift = [0, 1].map(|axis| from_or_to[axis] + share * (to_or_from[axis] - from_or_to[axis]));
    }
}

/// Moves ankle and toe by as much of `shift` as the leg can reach, and bends the knee for it.
fn move_foot(frame: &mut [[f64; 3]], foot: Foot, shift: DVec3) {
    if shift == DVec3::ZERO {
        return;
    }
    let [hip, knee] = match foot {
        Foot::Left => [Joint::LeftHip, Joint::LeftKnee],
        Foot::Right => [Joint::RightHip, Joint::RightKnee],
    };
    let [ankle, toe] = foot.joints();
    let at = |joint: Joint| DVec3::from(frame[joint.index()]);
    let Some((new_knee, new_ankle)) = moved_leg([at(hip), at(knee), at(ankle)], at(ankle) + shift) else {
        return;
    };
    let new_toe = at(toe) + new_ankle - at(ankle);
    for (joint, place) in [(knee, new_knee), (ankle, new_ankle), (toe, new_toe)] {
        frame[joint.index()] = place.into();
    }
}

/// Knee and ankle of a leg `[hip, knee, ankle]` whose ankle goes to `target`, or towards it as far as it can; none
/// for a leg without length. The knee bends to where it bent before: a leg that is nearly straight may have it behind the line to the target.
fn moved_leg([hip, knee, ankle]: [DVec3; 3], target: DVec3) -> Option<(DVec3, DVec3)> {
    let line = (ankle - hip).normalize_or_zero();
    let off = (knee - hip) - line * (knee - hip).dot(line);
    let side = if off.length() > STRAIGHT { hip + off } else { knee };
    let lengths = [hip.distance(knee), knee.distance(ankle)];
    // As straight as it was is never too straight.
    let most = (MOST_REACH * (lengths[0] + lengths[1])).max(hip.distance(ankle));
    bent_leg([hip, side], target, lengths, most)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::foot_sliding;
    use super::*;
    use crate::walker::{Style, Walker};

    /// A walk whose feet slide: every joint drifts to and fro.
    fn slippery() -> (JointTrack, [Vec<bool>; 2]) {
        let walker = Walker::new(Style::Childlike.parameters());
        let walk = walker.walk(240, &mut mtds::random::stream(9, 0)).unwrap();
        let drift = |(place, &[x, y, z]): (usize, &[f64; 3])| {
            let t = (place / N_JOINTS) as f64 / 30.0;
            [x + 0.03 * (5.0 * t).sin(), y, z + 0.02 * (7.0 * t).cos()]
        };
        let positions = walk.track.positions().iter().enumerate().map(drift).collect();
        (JointTrack::new(30.0, positions).unwrap(), walk.contacts)
    }

    #[test]
    fn locked_feet_slide_far_less_and_bones_keep_their_lengths() {
        let (track, contacts) = slippery();
        let locked = lock_feet(&track, &contacts).unwrap();
        let before = foot_sliding(&track, &contacts).unwrap();
        let after = foot_sliding(&locked, &contacts).unwrap();
        assert!(after.mean_speed < 0.2 * before.mean_speed, "{before:?} {after:?}");
        let length = |track: &JointTrack, t: usize, joint: Joint, parent: Joint| {
            DVec3::from(track.at(t, joint)).distance(DVec3::from(track.at(t, parent)))
        };
        for t in 0..track.n_frames() {
            for (joint, parent) in Joint::ALL.into_iter().filter_map(|j| Some((j, j.parent()?))) {
                let (old, new) = (length(&track, t, joint, parent), length(&locked, t, joint, parent));
                assert!((old - new).abs() < 1e-9, "{} in frame {t}: {old} {new}", joint.name());
            }
            // Nothing jumps: feet are moved by centimetres, upper bodies not at all.
            let moved = |joint| DVec3::from(track.at(t, joint)).distance(DVec3::from(locked.at(t, joint)));
            assert!(moved(Joint::LeftToe) < 0.08 && moved(Joint::Head) == 0.0);
        }
    }

    #[test]
    fn feet_that_stand_still_are_left_alone() {
        let walker = Walker::new(Style::Neutral.parameters());
        let walk = walker.walk(120, &mut mtds::random::stream(2, 0)).unwrap();
        let locked = lock_feet(&walk.track, &walk.contacts).unwrap();
        for (a, b) in walk.track.positions().iter().zip(locked.positions()) {
            assert!(DVec3::from(*a).distance(DVec3::from(*b)) < 1e-9);
        }
        let never = lock_feet(&walk.track, &[vec![false; 120], vec![false; 120]]).unwrap();
        assert_eq!(never, walk.track);
    }

    /// Knees of restyled walks went backwards by 10 cm for a frame or three.
    #[test]
    fn knees_of_nearly_straight_legs_stay_in_front_when_feet_are_moved_forward() {
        let leg = [DVec3::Y, DVec3::new(0.0, 0.5, 0.01), DVec3::ZERO];
        for shift in [-0.1, -0.01, 0.0, 0.01, 0.04, 0.1] {
            let (knee, ankle) = moved_leg(leg, DVec3::new(0.0, 0.02, shift)).unwrap();
            let line = ankle - leg[0];
            let on_line = leg[0] + line * ((knee - leg[0]).dot(line) / line.length_squared());
            assert!(knee.z > on_line.z, "{shift}: {knee} {on_line}");
        }
    }

    proptest! {
        #[test]
        fn legs_keep_their_lengths_and_reach_what_they_can(
            knee in prop::array::uniform3(-0.1..0.1f64), ankle in prop::array::uniform3(-0.2..0.2f64),
            shift in prop::array::uniform3(-0.6..0.6f64),
        ) {
            let leg = [DVec3::Y, DVec3::from(knee) + 0.5 * DVec3::Y, DVec3::from(ankle)];
            let target = leg[2] + DVec3::from(shift);
            let (knee, ankle) = moved_leg(leg, target).unwrap();
            prop_assert!((knee.distance(leg[0]) - leg[1].distance(leg[0])).abs() < 1e-9);
            prop_assert!((knee.distance(ankle) - leg[1].distance(leg[2])).abs() < 1e-9);
            let whole = leg[0].distance(leg[1]) + leg[1].distance(leg[2]);
            let within = target.distance(leg[0]) < MOST_REACH * whole
                && target.distance(leg[0]) > (leg[0].distance(leg[1]) - leg[1].distance(leg[2])).abs();
            prop_assert!(!within || ankle.distance(target) < 1e-9);
        }
    }
}
