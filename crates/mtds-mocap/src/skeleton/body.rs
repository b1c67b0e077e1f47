//! The skeleton that positions are put back on: the rig of a file, or a body measured from the track itself.

use glam::{DQuat, DVec3};

use super::forward::PositionChannels;
use super::habit::Habit;
use super::map::MapReport;
use super::matching::Source;
use super::placement::{Placement, Up};
use super::rest;
use crate::Result;
use crate::bvh::{Channel, Hierarchy, Motion, Node};
use crate::rotation::Axis;
use crate::track::{Joint, JointTrack, N_JOINTS};

/// A skeleton to pose.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Its joints; bone lengths are kept as they are.
    pub hierarchy: Hierarchy,
    /// Which of them is which of the 21; made-up joints are not aimed at.
    pub sources: [Source; N_JOINTS],
    /// How its coordinates lie in the world.
    pub placement: Placement,
    /// What its position channels mean.
    pub position_channels: PositionChannels,
    /// For each node, how it is turned against its parent where nothing says otherwise.
    pub turns: Vec<DQuat>,
    /// For each node, the axis about which the bone after the next bends, in the node's frame, where known.
    pub hinges: Vec<Option<DVec3>>,
}

/// One joint of the measured body.
type BodyPart = (&'static str, Option<Joint>, Option<usize>, [f64; 3]);

/// Joints of the measured body: name, which of the 21 it is, parent, direction of its bone in the rest pose (where
/// bones fork, only for bodies whose own cannot be measured).
///
/// Names and structure are those of the CMU rig, which many programs know. Where bones fork, each has a joint of
/// length zero at its foot, so that it can be aimed by itself.
const BODY: [BodyPart; 27] = [
    ("Hips", Some(Joint::Hips), None, [0.0, 0.0, 0.0]),
    ("LHipJoint", None, Some(0), [0.0, 0.0, 0.0]),
    ("LeftUpLeg", Some(Joint::LeftHip), Some(1), [1.0, -0.6, 0.0]),
    ("LeftLeg", Some(Joint::LeftKnee), Some(2), [0.0, -1.0, 0.0]),
    ("LeftFoot", Some(Joint::LeftAnkle), Some(3), [0.0, -1.0, 0.0]),
    ("LeftToeBase", Some(Joint::LeftToe), Some(4), [0.0, -0.4, 1.0]),
    ("RHipJoint", None, Some(0), [0.0, 0.0, 0.0]),
    ("RightUpLeg", Some(Joint::RightHip), Some(6), [-1.0, -0.6, 0.0]),
    ("RightLeg", Some(Joint::RightKnee), Some(7), [0.0, -1.0, 0.0]),
    ("RightFoot", Some(Joint::RightAnkle), Some(8), [0.0, -1.0, 0.0]),
    ("RightToeBase", Some(Joint::RightToe), Some(9), [0.0, -0.4, 1.0]),
    ("LowerBack", None, Some(0), [0.0, 0.0, 0.0]),
    ("Spine", Some(Joint::Spine), Some(11), [0.0, 1.0, 0.0]),
    ("Spine1", Some(Joint::Chest), Some(12), [0.0, 1.0, 0.0]),
    ("Neck", None, Some(13), [0.0, 0.0, 0.0]),
    ("Neck1", Some(Joint::Neck), Some(14), [0.0, 1.0, 0.0]),
    ("Head", Some(Joint::Head), Some(15), [0.0, 1.0, 0.0]),
    ("LeftShoulder", None, Some(13), [0.0, 0.0, 0.0]),
    ("LeftArm", Some(Joint::LeftShoulder), Some(17), [1.0, 0.4, 0.0]),
    ("LeftForeArm", Some(Joint::LeftElbow), Some(18), [1.0, 0.0, 0.0]),
    ("LeftHand", Some(Joint::LeftWrist), Some(19), [1.0, 0.0, 0.0]),
    ("LeftHandIndex1", Some(Joint::LeftFingers), Some(20), [1.0, 0.0, 0.0]),
    ("RightShoulder", None, Some(13), [0.0, 0.0, 0.0]),
    ("RightArm", Some(Joint::RightShoulder), Some(22), [-1.0, 0.4, 0.0]),
    ("RightForeArm", Some(Joint::RightElbow), Some(23), [-1.0, 0.0, 0.0]),
    ("RightHand", Some(Joint::RightWrist), Some(24), [-1.0, 0.0, 0.0]),
    ("RightHandIndex1", Some(Joint::RightFingers), Some(25), [-1.0, 0.0, 0.0]),
];

/// Last joints of the body and the rest of the bone that they carry: direction, and length relative to their own.
const ENDS: [(Joint, [f64; 3], f64); 5] = [
    (Joint::LeftToe, [0.0, 0.0, 1.0], 0.5),
    (Joint::RightToe, [0.0, 0.0, 1.0], 0.5),
    (Joint::Head, [0.0, 1.0, 0.0], 1.0),
    (Joint::LeftFingers, [1.0, 0.0, 0.0], 0.8),
    (Joint::RightFingers, [-1.0, 0.0, 0.0], 0.8),
];

/// Knees bend backwards and elbows forwards: thigh × shank and upper arm × forearm in the rest pose.
const HINGES: [(Joint, [f64; 3]); 4] = [
    (Joint::LeftHip, [1.0, 0.0, 0.0]),
    (Joint::RightHip, [1.0, 0.0, 0.0]),
    (Joint::LeftShoulder, [0.0, -1.0, 0.0]),
    (Joint::RightShoulder, [0.0, 1.0, 0.0]),
];

/// Exported bodies are in centimetres, as animation programs expect.
const CENTIMETRE: f64 = 0.01;

impl Target {
    /// The rig of a mapped motion; what positions leave open, such as how a limb is twisted, is as usual in that motion.
    pub fn rig_of(motion: &Motion, report: &MapReport) -> Self {
        let Habit { turns, hinges } = Habit::of(motion, &report.rig.sources, report.position_channels);
        Self {
            turns,
            hinges,
            hierarchy: motion.hierarchy().clone(),
            sources: report.rig.sources,
            placement: report.placement(),
            position_channels: report.position_channels,
        }
    }

    /// A body in T-pose with the bone lengths of the track (median over frames), in centimetres, Y up, facing +Z.
    ///
    /// # Errors
    /// None for a valid track; those of [`Hierarchy::new`] are passed on.
    pub fn measured(track: &JointTrack) -> Result<Self> {
        let lengths = rest::bone_lengths(track);
        let forks = rest::fork_directions(track);
        let along = |direction: DVec3, length_m: f64| {
            (direction.normalize_or_zero() * (length_m / CENTIMETRE)).into()
        };
        let mut sources = [Source::Node(0); N_JOINTS];
        let mut hinges = vec![None; BODY.len()];
        let mut nodes = Vec::with_capacity(BODY.len());
        for (place, &(name, joint, parent, direction)) in BODY.iter().enumerate() {
            let mut node = Node { name: name.into(), parent, channels: channels(parent), ..Node::default() };
            if let Some(joint) = joint {
                sources[joint.index()] = Source::Node(place);
                let direction = forks[joint.index()].unwrap_or(DVec3::from(direction));
                node.offset = along(direction, lengths[joint.index()]);
                let ends = ENDS.iter().filter(|(end, ..)| *end == joint);
                node.end_sites = ends
                    .map(|&(_, direction, share)| along(direction.into(), share * lengths[joint.index()]))
                    .collect();
                let hinge = HINGES.iter().find(|(hinge, _)| *hinge == joint);
                hinges[place] = hinge.map(|&(_, axis)| DVec3::from(axis));
            }
            nodes.push(node);
        }
        let placement = Placement { metres_per_unit: CENTIMETRE, up: Up::Y, mirrored: false };
        let position_channels = PositionChannels::Replace;
        let turns = vec![DQuat::IDENTITY; nodes.len()];
        Ok(Self { hierarchy: Hierarchy::new(nodes)?, sources, placement, position_channels, turns, hinges })
    }
}

/// Six channels for the root, three for the others; order Z Y X as in the CMU files.
fn channels(parent: Option<usize>) -> Vec<Channel> {
    let rotations = [Axis::Z, Axis::Y, Axis::X].map(Channel::Rotation);
    let positions = Axis::ALL.map(Channel::Position);
    match parent {
        None => positions.into_iter().chain(rotations).collect(),
        Some(_) => rotations.to_vec(),
    }
}
