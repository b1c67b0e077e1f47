//! The whole body at a phase of the gait: hips over the route, legs to the feet, trunk and arms against them.
//!
//! ```text
//! middle of the left stance: φ_m = π duty
//! hips     sway · cos(φ − φ_m) to the left, bounce · cos 2(φ − φ_m) up; twist −cos φ, drop on the side that swings
//! height   the largest for which both legs reach their ankles in every frame, less 0.3 %
//! arms     each swings with the other leg
//! ```

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::{DQuat, DVec3};

use super::body::{HIPS_TO_LEFT_HIP, SHIN, THIGH, leg};
use super::feet::{FootPose, foot_pose};
use super::route::Route;
use super::style::GaitParameters;
use crate::gait::Foot;
use crate::{Joint, N_JOINTS};

/// Longest distance from hip to ankle, relative to a straight leg: knees never lock.
const LONGEST_LEG: f64 = 0.997;
/// Part of the lean that the hips take; the spine takes the rest.
const HIP_LEAN: f64 = 0.3;

/// Hips and feet at a phase, before the height of the hips is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stance {
    /// The hips, their height only the bounce.
    pub hips: DVec3,
    /// World rotation of the hips.
    pub rotation: DQuat,
    /// Heading of the route, in radians.
    pub heading_rad: f64,
    /// Both feet, left first.
    pub feet: [FootPose; 2],
}

/// Hips and feet at phase `phase_rad`.
pub(super) fn stance(phase_rad: f64, gait: &GaitParameters, route: &Route) -> Stance {
    let place = route.at(gait.stride_length() * phase_rad / TAU);
    let from_middle = phase_rad - PI * gait.duty;
    let side = gait.sway * from_middle.cos();
    let up = gait.bounce * (2.0 * from_middle).cos();
    let heading = place.facing_rad;
    let rotation = DQuat::from_rotation_y(heading - gait.hip_twist_rad * phase_rad.cos())
        * DQuat::from_rotation_z(gait.hip_drop_rad * from_middle.cos())
        * DQuat::from_rotation_x(HIP_LEAN * gait.lean_rad);
    Stance {
        hips: DVec3::from_array(place.world_from_local([side, up, 0.0])),
        rotation,
        heading_rad: heading,
        feet: Foot::BOTH.map(|foot| foot_pose(foot, phase_rad, gait, route)),
    }
}

/// The hip joint of a foot, relative to the hips.
fn hip_offset(foot: usize) -> DVec3 {
    let side = if foot == 0 { 1.0 } else { -1.0 };
    HIPS_TO_LEFT_HIP * DVec3::new(side, 1.0, 1.0)
}

/// The largest height at which every leg reaches its ankle; none if a foot is too far to the side or ahead.
pub(super) fn hip_height(stances: &[Stance]) -> Option<f64> {
    let mut height = f64::INFINITY;
    for stance in stances {
        for foot in 0..2 {
            let hip = stance.hips + stance.rotation * hip_offset(foot);
            let ankle = stance.feet[foot].ankle;
            let across = (hip.x - ankle.x).hypot(hip.z - ankle.z);
            let rise = ((LONGEST_LEG * (THIGH + SHIN)).powi(2) - across * across).sqrt();
            if rise.is_nan() {
                return None;
            }
            height = height.min(ankle.y + rise - hip.y);
        }
    }
    Some(height)
}

/// World rotations of all joints with the hips at `hips`; none where a leg does not reach.
pub(super) fn rotations(
    stance: &Stance,
    hips: DVec3,
    phase_rad: f64,
    gait: &GaitParameters,
) -> Option<[DQuat; N_JOINTS]> {
    let mut all = upper_body(stance, phase_rad, gait);
    for (foot, pose) in stance.feet.iter().enumerate() {
        let hip = hips + stance.rotation * hip_offset(foot);
        let [thigh, shin] = leg(hip, pose.ankle, pose.rotation * DVec3::Z)?;
        for (joint, turn) in LEGS[foot].into_iter().zip([thigh, shin, pose.rotation, pose.rotation]) {
            all[joint.index()] = turn;
        }
    }
    Some(all)
}

/// World rotations of hips, trunk, head and arms; those of the legs are the hips'.
fn upper_body(stance: &Stance, phase_rad: f64, gait: &GaitParameters) -> [DQuat; N_JOINTS] {
    let mut all = [stance.rotation; N_JOINTS];
    let heading = stance.heading_rad;
    let trunk = DQuat::from_rotation_y(heading + gait.shoulder_twist_rad * phase_rad.cos())
        * DQuat::from_rotation_x(gait.lean_rad);
    let head = DQuat::from_rotation_y(heading) * DQuat::from_rotation_x(gait.lean_rad + gait.head_rad);
    all[Joint::Spine.index()] = stance.rotation.slerp(trunk, 0.5);
    all[Joint::Chest.index()] = trunk;
    all[Joint::Neck.index()] = trunk.slerp(head, 0.5);
    all[Joint::Head.index()] = head;
    for (joints, sign) in ARMS.into_iter().zip([1.0, -1.0]) {
        let [upper, lower] = arm(trunk, sign, phase_rad, gait);
        for (joint, turn) in joints.into_iter().zip([upper, lower, lower, lower]) {
            all[joint.index()] = turn;
        }
    }
    all
}

/// Joints of both legs from the hip down, left first.
const LEGS: [[Joint; 4]; 2] = [
    [Joint::LeftHip, Joint::LeftKnee, Joint::LeftAnkle, Joint::LeftToe],
    [Joint::RightHip, Joint::RightKnee, Joint::RightAnkle, Joint::RightToe],
];
/// Joints of both arms from the shoulder down, left first.
const ARMS: [[Joint; 4]; 2] = [
    [Joint::LeftShoulder, Joint::LeftElbow, Joint::LeftWrist, Joint::LeftFingers],
    [Joint::RightShoulder, Joint::RightElbow, Joint::RightWrist, Joint::RightFingers],
];

/// World rotations of upper and lower arm; `sign` is 1 for the left and −1 for the right.
fn arm(trunk: DQuat, sign: f64, phase_rad: f64, gait: &GaitParameters) -> [DQuat; 2] {
    // The left arm is back when the left foot lands, at phase 0.
    let forward = -sign * gait.arm_swing_rad * phase_rad.cos();
    let upper = trunk
        * DQuat::from_rotation_x(-forward - gait.lean_rad)
        * DQuat::from_rotation_z(-sign * (FRAC_PI_2 - gait.arm_out_rad));
    [upper, upper * DQuat::from_rotation_y(-sign * gait.elbow_rad)]
}
