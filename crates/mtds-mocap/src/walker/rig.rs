//! A walk as BVH: the walker's skeleton in centimetres, with the joint names of the CMU database.

use crate::bvh::{Channel, Hierarchy, Motion, Node};
use crate::rotation::{Axis, EulerOrder};
use crate::walker::{Walk, rest_offset};
use crate::{Joint, N_JOINTS, Result};

/// Units of the file per metre: centimetres.
const UNITS_PER_METRE: f64 = 100.0;
/// Order of the rotation channels.
const AXES: [Axis; 3] = [Axis::Z, Axis::Y, Axis::X];
/// Names of the joints in files, in the order of [`Joint::ALL`].
const NAMES: [&str; N_JOINTS] = [
    "Hips",
    "LeftUpLeg",
    "LeftLeg",
    "LeftFoot",
    "LeftToeBase",
    "RightUpLeg",
    "RightLeg",
    "RightFoot",
    "RightToeBase",
    "Spine",
    "Spine1",
    "Neck1",
    "Head",
    "LeftArm",
    "LeftForeArm",
    "LeftHand",
    "LeftHandIndex1",
    "RightArm",
    "RightForeArm",
    "RightHand",
    "RightHandIndex1",
];

impl Walk {
    /// The walk as a BVH motion: hips with position and rotation, other joints with rotations.
    ///
    /// # Errors
    /// None for a walk as it was made.
    pub fn to_bvh(&self) -> Result<Motion> {
        let nodes = Joint::ALL.map(node).to_vec();
        let order = EulerOrder::new(AXES).expect("three different axes");
        let mut values = Vec::with_capacity(self.rotations.len() * (3 + 3 * N_JOINTS));
        let mut last = [[0.0; 3]; N_JOINTS];
        for (frame, rotations) in self.rotations.iter().enumerate() {
            values.extend(self.track.at(frame, Joint::Hips).map(|metres| metres * UNITS_PER_METRE));
            for joint in Joint::ALL {
                let world = rotations[joint.index()];
                let local =
                    joint.parent().map_or(world, |parent| rotations[parent.index()].inverse() * world);
                last[joint.index()] = order.angles_near(local, last[joint.index()]);
                values.extend(last[joint.index()].map(f64::to_degrees));
            }
        }
        Motion::new(Hierarchy::new(nodes)?, 1.0 / self.track.fps, values)
    }
}

/// A joint of the file.
fn node(joint: Joint) -> Node {
    let positions = Axis::ALL.map(Channel::Position);
    let rotations = AXES.map(Channel::Rotation);
    let channels = match joint.parent() {
        None => [positions, rotations].concat(),
        Some(_) => rotations.to_vec(),
    };
    let has_child = Joint::ALL.iter().any(|child| child.parent() == Some(joint));
    let tip = rest_offset(joint).map(|metres| 0.5 * metres * UNITS_PER_METRE);
    Node {
        name: NAMES[joint.index()].into(),
        parent: joint.parent().map(Joint::index),
        offset: rest_offset(joint).map(|metres| metres * UNITS_PER_METRE),
        channels,
        end_sites: if has_child { Vec::new() } else { vec![tip] },
    }
}
