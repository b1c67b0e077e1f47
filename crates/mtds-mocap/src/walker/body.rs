//! The body of the walker: rest positions of its 21 joints, rotations to positions, and the angles of a leg.
//!
//! ```text
//! p_j = p_parent + R_parent o_j                 o_j: offset in a T-pose that faces +Z, left along +X
//!
//! knee   in the plane of hip, ankle and the direction forward, on the front side:
//!        a = (l₁² − l₂² + d²) / 2d along the line from hip to ankle, √(l₁² − a²) in front of it
//! ```

use glam::{DMat3, DQuat, DVec3};

use crate::{Joint, N_JOINTS};

/// Length of the thigh, in metres.
pub(super) const THIGH: f64 = 0.43;
/// Length of the shin, in metres.
pub(super) const SHIN: f64 = 0.42;
/// From ankle to toe with the foot flat, in metres.
pub(super) const ANKLE_TO_TOE: DVec3 = DVec3::new(0.0, -0.06, 0.14);
/// Height of the ankle with the foot flat on the ground, in metres.
pub(super) const ANKLE_HEIGHT: f64 = 0.08;
/// From the middle of the hips to the left hip joint, in metres.
pub(super) const HIPS_TO_LEFT_HIP: DVec3 = DVec3::new(0.09, -0.06, 0.0);

/// Offset of each joint from its parent in a T-pose, in metres.
#[must_use]
pub fn rest_offset(joint: Joint) -> [f64; 3] {
    use Joint::*;
    let left = match joint {
        Hips => [0.0; 3],
        LeftHip | RightHip => HIPS_TO_LEFT_HIP.to_array(),
        LeftKnee | RightKnee => [0.0, -THIGH, 0.0],
        LeftAnkle | RightAnkle => [0.0, -SHIN, 0.0],
        LeftToe | RightToe => ANKLE_TO_TOE.to_array(),
        Spine => [0.0, 0.12, -0.01],
        Chest => [0.0, 0.16, 0.0],
        Neck => [0.0, 0.24, 0.01],
        Head => [0.0, 0.10, 0.02],
        LeftShoulder | RightShoulder => [0.18, 0.19, 0.0],
        LeftElbow | RightElbow => [0.29, 0.0, 0.0],
        LeftWrist | RightWrist => [0.26, 0.0, 0.0],
        LeftFingers | RightFingers => [0.09, 0.0, 0.0],
    };
    let is_right = matches!(
        joint,
        RightHip | RightKnee | RightAnkle | RightToe | RightShoulder | RightElbow | RightWrist | RightFingers
    );
    if is_right { [-left[0], left[1], left[2]] } else { left }
}

/// Positions of all joints from the place of the hips and the world rotation of every joint.
#[must_use]
pub(super) fn positions(hips: DVec3, rotations: &[DQuat; N_JOINTS]) -> [DVec3; N_JOINTS] {
    let mut positions = [hips; N_JOINTS];
    for joint in &Joint::ALL[1..] {
        let parent = joint.parent().map_or(0, Joint::index);
        positions[joint.index()] =
            positions[parent] + rotations[parent] * DVec3::from_array(rest_offset(*joint));
    }
    positions
}

/// World rotations of thigh and shin that put the ankle exactly there; none beyond the reach of the leg.
#[must_use]
pub(super) fn leg(hip: DVec3, ankle: DVec3, forward: DVec3) -> Option<[DQuat; 2]> {
    let line = ankle - hip;
    let distance = line.length();
    let down = line.try_normalize()?;
    let along = (THIGH * THIGH - SHIN * SHIN + distance * distance) / (2.0 * distance);
    let out = (THIGH * THIGH - along * along).sqrt();
    let front = (forward - down * forward.dot(down)).try_normalize()?;
    if out.is_nan() {
        return None;
    }
    let knee = hip + down * along + front * out;
    let sideways = down.cross(front);
    Some([bone(knee - hip, sideways), bone(ankle - knee, sideways)])
}

/// The rotation that takes −Y along `bone` and X along `sideways`, which is at right angles to it.
fn bone(bone: DVec3, sideways: DVec3) -> DQuat {
    let y = -bone.normalize();
    let x = sideways.normalize();
    DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn at_rest_the_body_stands_in_a_t_pose() {
        let body = positions(DVec3::Y, &[DQuat::IDENTITY; N_JOINTS]);
        let at = |joint: Joint| body[joint.index()];
        assert_eq!(at(Joint::LeftShoulder).y, at(Joint::LeftFingers).y);
        assert!(at(Joint::LeftFingers).x > 0.8 && at(Joint::RightFingers).x < -0.8);
        assert!(at(Joint::Head).y > 1.55 && at(Joint::RightToe).z > 0.1);
    }

    proptest! {
        #[test]
        fn legs_reach_their_ankle_with_bones_of_their_length(
            hip in prop::array::uniform3(-0.2..0.2f64), ankle in prop::array::uniform3(-0.3..0.3f64),
        ) {
            let (hip, ankle) = (DVec3::from_array(hip), DVec3::from_array(ankle) - 0.5 * DVec3::Y);
            let line = ankle - hip;
            prop_assume!(line.length() > 0.1 && line.length() < THIGH + SHIN && line.normalize().z.abs() < 0.95);
            let [thigh, shin] = leg(hip, ankle, DVec3::Z).unwrap();
            let knee = hip + thigh * DVec3::new(0.0, -THIGH, 0.0);
            prop_assert!((knee + shin * DVec3::new(0.0, -SHIN, 0.0)).distance(ankle) < 1e-9);
            let on_line = hip + line * (knee - hip).dot(line) / line.length_squared();
            prop_assert!((knee - on_line).z >= -1e-9, "knees bend forward");
        }
    }

    #[test]
    fn beyond_its_reach_there_is_no_leg() {
        assert!(leg(DVec3::ZERO, DVec3::new(0.0, -0.9, 0.0), DVec3::Z).is_none());
        assert!(leg(DVec3::ZERO, DVec3::ZERO, DVec3::Z).is_none());
    }
}
