//! What a track tells about the rest pose of its body: lengths of bones, and how they fork at hips and chest.
//!
//! ```text
//! body frame at a fork   X: right → left, Y: up the trunk across X, Z = X × Y: forward
//! direction of a bone    mean over frames of (child − fork) in that frame
//! ```

use glam::{DMat3, DVec3};

use crate::track::{Joint, JointTrack, N_JOINTS};

/// Forks of the skeleton: where, and the left, right and upper bone that start there.
const FORKS: [(Joint, [Joint; 3]); 2] = [
    (Joint::Hips, [Joint::LeftHip, Joint::RightHip, Joint::Spine]),
    (Joint::Chest, [Joint::LeftShoulder, Joint::RightShoulder, Joint::Neck]),
];

/// Median over frames of the distance of each joint from its parent, in metres; zero for the hips.
pub(super) fn bone_lengths(track: &JointTrack) -> [f64; N_JOINTS] {
    Joint::ALL.map(|joint| {
        let Some(parent) = joint.parent() else { return 0.0 };
        let mut lengths: Vec<f64> = (0..track.n_frames())
            .map(|i| DVec3::from(track.at(i, joint)).distance(DVec3::from(track.at(i, parent))))
            .collect();
        lengths.sort_by(f64::total_cmp);
        lengths[lengths.len() / 2]
    })
}

/// Mean direction of the bones at forks in the body frame; none for other joints, and where frames have no width.
pub(super) fn fork_directions(track: &JointTrack) -> [Option<DVec3>; N_JOINTS] {
    let mut directions = [None; N_JOINTS];
    for (fork, bones) in FORKS {
        let mut sums = [DVec3::ZERO; 3];
        for i in 0..track.n_frames() {
            let arms = bones.map(|bone| DVec3::from(track.at(i, bone)) - DVec3::from(track.at(i, fork)));
            if let Some(world_from_body) = body_frame(arms) {
                let body_from_world = world_from_body.transpose();
                for (sum, arm) in sums.iter_mut().zip(arms) {
                    *sum += body_from_world * arm;
                }
            }
        }
        for (bone, sum) in bones.into_iter().zip(sums) {
            directions[bone.index()] = sum.try_normalize();
        }
    }
    directions
}

/// Axes of the body from its left, right and upper bone.
fn body_frame([left, right, up]: [DVec3; 3]) -> Option<DMat3> {
    let x = (left - right).try_normalize()?;
    let y = (up - x * up.dot(x)).try_normalize()?;
    Some(DMat3::from_cols(x, y, x.cross(y)))
}
