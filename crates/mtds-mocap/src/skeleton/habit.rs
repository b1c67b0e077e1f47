//! How the joints of a rig are usually turned in a motion on it: what positions leave open, a character does as it did.
//!
//! ```text
//! usual turn of a node    mean over frames of its rotation against its parent
//! hinge of a limb         Σ R⁻¹ (bone × next bone), in the frame of the node: about it knee and elbow bend
//! ```

use glam::{DQuat, DVec3};

use super::forward::{PositionChannels, World, forward, local_rotation, sampled};
use super::matching::Source;
use crate::bvh::Motion;
use crate::track::{Joint, N_JOINTS};

/// Frames that are looked at.
const MOST_FRAMES: usize = 200;
/// Limbs that bend about a hinge: where each begins, its middle and its end.
const LIMBS: [[Joint; 3]; 4] = [
    [Joint::LeftHip, Joint::LeftKnee, Joint::LeftAnkle],
    [Joint::RightHip, Joint::RightKnee, Joint::RightAnkle],
    [Joint::LeftShoulder, Joint::LeftElbow, Joint::LeftWrist],
    [Joint::RightShoulder, Joint::RightElbow, Joint::RightWrist],
];
/// Least mean sine of the bend of a limb whose hinge can be told.
const LEAST_BEND: f64 = 0.05;

/// How the joints of a rig are usually turned.
pub(super) struct Habit {
    /// For each node, its usual rotation against its parent.
    pub turns: Vec<DQuat>,
    /// For each node that carries a limb, the axis about which the limb bends, in its frame, where it can be told.
    pub hinges: Vec<Option<DVec3>>,
}

impl Habit {
    /// Those of a motion on the rig.
    pub fn of(motion: &Motion, sources: &[Source; N_JOINTS], convention: PositionChannels) -> Self {
        let nodes = motion.hierarchy().nodes();
        let world = forward(motion, convention);
        let frames: Vec<usize> = sampled(motion.n_frames(), MOST_FRAMES).collect();
        let mut sums = vec![DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0); nodes.len()];
        for &frame in &frames {
            for (place, node) in nodes.iter().enumerate() {
                let values = motion.hierarchy().values_of(place, motion.frame(frame));
                let turn = local_rotation(node, values);
                // A rotation and its negative are the same; only one of them adds up.
                let sign = if sums[place].dot(turn) < 0.0 { -1.0 } else { 1.0 };
                sums[place] += turn * sign;
            }
        }
        let turn = |sum: DQuat| if sum.length() > 1e-6 { sum.normalize() } else { DQuat::IDENTITY };
        let mut hinges = vec![None; nodes.len()];
        for limb in LIMBS {
            let [Source::Node(first), Source::Node(middle), Source::Node(last)] =
                limb.map(|joint| sources[joint.index()])
            else {
                continue;
            };
            hinges[first] = hinge(&world, &frames, [first, middle, last]);
        }
        Self { turns: sums.into_iter().map(turn).collect(), hinges }
    }
}

/// The axis about which a limb bends, in the frame of its first node.
fn hinge(world: &World, frames: &[usize], [first, middle, last]: [usize; 3]) -> Option<DVec3> {
    let across = |&frame: &usize| {
        let at = world.positions(frame);
        let bone = (at[middle] - at[first]).normalize_or_zero();
        let next = (at[last] - at[middle]).normalize_or_zero();
        world.rotations(frame)[first].conjugate() * bone.cross(next)
    };
    let sum: DVec3 = frames.iter().map(across).sum();
    (sum.length() > LEAST_BEND * frames.len() as f64).then(|| sum.normalize())
}
