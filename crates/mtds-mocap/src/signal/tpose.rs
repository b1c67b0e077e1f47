//! Finds a T-pose in the first frames: arms straight out to the sides, legs straight, not captured motion.
//!
//! A conversion that adds the pose leaves a jump behind it: joints move further from the last such frame to
//! the next than ever in the rest of the clip. A performer who holds the pose moves out of it smoothly.

use glam::DVec3;

use super::report::TPose;
use crate::{Joint, JointTrack, robust};

/// Largest angle between an arm and the line across the shoulders, in radians (25°).
const ARM_ANGLE_RAD: f64 = 0.436;
/// Shortest distance from shoulder to wrist, relative to the arm's bones: straight.
const ARM_STRETCH: f64 = 0.94;
/// How many times the usual motion of a frame makes a jump.
const JUMP_FACTOR: f64 = 6.0;
/// Shortest mean motion of the joints in a jump, in metres.
const JUMP_DISTANCE: f64 = 0.02;
/// How many times the joints of a frame may move in the pose, relative to the usual motion of a frame.
const STILL_FACTOR: f64 = 1.0;

/// The T-pose with which a clip begins.
#[must_use]
pub fn leading_t_pose(track: &JointTrack) -> TPose {
    let n_frames = (0..track.n_frames()).take_while(|&frame| is_t_pose(track, frame)).count();
    if n_frames == 0 || n_frames == track.n_frames() {
        return TPose::Absent;
    }
    let usual =
        robust::median((n_frames + 1..track.n_frames()).map(|frame| motion(track, frame))).unwrap_or(0.0);
    let is_jump = |frame: usize| motion(track, frame) > JUMP_DISTANCE.max(JUMP_FACTOR * usual);
    // The pose after the jump may by chance have the arms out too, so the first jump counts.
    match (1..=n_frames).find(|&frame| is_jump(frame)) {
        Some(n_frames) => TPose::Added { n_frames },
        None if (1..n_frames).all(|frame| motion(track, frame) <= STILL_FACTOR * usual) => {
            TPose::Held { n_frames }
        }
        None => TPose::Absent,
    }
}

/// Whether both arms are straight out to the sides.
fn is_t_pose(track: &JointTrack, frame: usize) -> bool {
    use Joint::{LeftElbow, LeftShoulder, LeftWrist, RightElbow, RightShoulder, RightWrist};
    let at = |joint| DVec3::from_array(track.at(frame, joint));
    let across = (at(LeftShoulder) - at(RightShoulder)).normalize_or_zero();
    let out = |shoulder, elbow, wrist, across: DVec3| {
        let arm = at(wrist) - at(shoulder);
        let bones = (at(elbow) - at(shoulder)).length() + (at(wrist) - at(elbow)).length();
        arm.length() > ARM_STRETCH * bones && arm.dot(across) > arm.length() * ARM_ANGLE_RAD.cos()
    };
    let horizontal = across.y.abs() < ARM_ANGLE_RAD.sin();
    horizontal
        && out(LeftShoulder, LeftElbow, LeftWrist, across)
        && out(RightShoulder, RightElbow, RightWrist, -across)
}

/// Mean distance that the joints move from the frame before.
pub(super) fn motion(track: &JointTrack, frame: usize) -> f64 {
    let pairs = track.frame(frame - 1).iter().zip(track.frame(frame));
    let total: f64 = pairs.map(|(&a, &b)| DVec3::from_array(a).distance(DVec3::from_array(b))).sum();
    total / crate::N_JOINTS as f64
}
