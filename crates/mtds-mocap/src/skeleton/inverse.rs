//! Inverse kinematics: from positions of the 21 joints to rotations on a skeleton whose bones keep their lengths.
//!
//! ```text
//! from the root outwards, with p_n where node n came to be, P the rotation of its parent,
//! v_c the offset of child c and x_c where it should be:
//!
//! no child to aim at     R = P · (its usual turn)
//! one                    R = (smallest turn from P' v_c to x_c − p_n) · P', P' = P · (its usual turn), then twisted about the bone until
//!                        the hinge lies across the plane of this bone and the next
//! several                R = argmin Σ |x_c − p_n − R v_c|²          twist from the plane of the children
//! ```
//!
//! Bones are aimed from where they came to be, so errors of length do not add up along a limb.

use glam::{DQuat, DVec3};

use super::body::Target;
use super::forward::{PositionChannels, local_rotation};
use super::matching::Source;
use crate::bvh::{Channel, Hierarchy, Motion};
use crate::rotation::{Axis, EulerOrder, Pair, aim, best_rotation, nearest_turn, twist_angle};
use crate::track::{Joint, JointTrack, N_JOINTS};
use crate::{Error, Result};

/// A posed skeleton, and how near it came.
#[derive(Debug, Clone, PartialEq)]
pub struct Posed {
    /// The skeleton's motion.
    pub motion: Motion,
    /// Where its joints came to be, in the world; those that it has not are where they should be.
    pub track: JointTrack,
    /// Mean distance of its joints from where they should be, over frames and joints that it has, in metres.
    pub mean_error_m: f64,
    /// The largest one, in metres.
    pub worst_error_m: f64,
}

/// Poses a skeleton like the track, frame by frame.
///
/// # Errors
/// A skeleton whose hips cannot be moved (no joint from root to hips has three position channels), or without hips.
pub fn pose(track: &JointTrack, target: &Target) -> Result<Posed> {
    let plan = Plan::new(target)?;
    let hierarchy = &target.hierarchy;
    let n_channels = hierarchy.n_channels();
    let mut values = vec![0.0; track.n_frames() * n_channels];
    let mut previous = vec![0.0; n_channels];
    let mut positions = track.positions().to_vec();
    let (mut sum, mut worst, mut count) = (0.0, 0.0f64, 0usize);
    for (i, values) in values.chunks_exact_mut(n_channels).enumerate() {
        let wanted: [DVec3; N_JOINTS] =
            std::array::from_fn(|joint| target.placement.to_file(DVec3::from(track.frame(i)[joint])));
        let reached = plan.pose_frame(&wanted, &previous, values);
        for (joint, position) in reached {
            let error = wanted[joint.index()].distance(position) * target.placement.metres_per_unit;
            (sum, worst, count) = (sum + error, worst.max(error), count + 1);
            positions[i * N_JOINTS + joint.index()] = target.placement.to_world(position).to_array();
        }
        previous.copy_from_slice(values);
    }
    let motion = Motion::new(hierarchy.clone(), 1.0 / track.fps, values)?;
    let track = JointTrack::new(track.fps, positions)?;
    Ok(Posed { motion, track, mean_error_m: sum / count.max(1) as f64, worst_error_m: worst })
}

/// A vector in a node's frame and the joint it should point at.
#[derive(Debug, Clone, Copy)]
struct Aim {
    from: DVec3,
    at: Joint,
}

/// What does not change from frame to frame.
struct Plan<'a> {
    target: &'a Target,
    /// For each node, what its rotation aims.
    aims: Vec<Vec<Aim>>,
    /// The node that carries the body: the last one down to the hips that can be moved.
    mover: usize,
    /// From the mover to the hips while nothing between them turns.
    mover_to_hips: DVec3,
}

impl<'a> Plan<'a> {
    fn new(target: &'a Target) -> Result<Self> {
        let hierarchy = &target.hierarchy;
        let Source::Node(hips) = target.sources[Joint::Hips.index()] else {
            return Err(Error::shape("hips of the skeleton", "a joint of their own", "none"));
        };
        let nodes = hierarchy.nodes();
        let path: Vec<usize> = std::iter::successors(Some(hips), |&node| nodes[node].parent).collect();
        let steps =
            path.iter().position(|&node| Axis::ALL.iter().all(|&axis| moves_along(hierarchy, node, axis)));
        let Some(steps) = steps else {
            let expected = "three position channels on the hips or above";
            return Err(Error::shape("channels of the skeleton", expected, "none"));
        };
        let mover_to_hips = path[..steps].iter().map(|&node| DVec3::from(nodes[node].offset)).sum();
        let mut aims = find_aims(target);
        for &above in &path[1..] {
            aims[above].clear();
        }
        Ok(Self { target, aims, mover: path[steps], mover_to_hips })
    }

    /// Writes the channel values of one frame; returns where the joints came to be, in file coordinates.
    fn pose_frame(
        &self,
        wanted: &[DVec3; N_JOINTS],
        previous: &[f64],
        values: &mut [f64],
    ) -> Vec<(Joint, DVec3)> {
        let hierarchy = &self.target.hierarchy;
        let nodes = hierarchy.nodes();
        let mut positions = vec![DVec3::ZERO; nodes.len()];
        let mut rotations = vec![DQuat::IDENTITY; nodes.len()];
        for place in 0..nodes.len() {
            let parent = nodes[place].parent;
            let (origin, turned) = parent.map_or_else(Default::default, |p| (positions[p], rotations[p]));
            let local = if place == self.mover {
                turned.conjugate() * (wanted[Joint::Hips.index()] - origin) - self.mover_to_hips
            } else {
                DVec3::from(nodes[place].offset)
            };
            positions[place] = origin + turned * local;
            let rotation = self.rotation_of(place, turned, positions[place], wanted);
            let first = hierarchy.first_channel(place);
            let channels = first..first + nodes[place].channels.len();
            let own = &mut values[channels.clone()];
            self.write_position(place, local, own);
            write_rotation(hierarchy, place, turned.conjugate() * rotation, &previous[channels], own);
            // What the channels can say, which is less than asked for where a joint has few of them.
            rotations[place] = (turned * local_rotation(&nodes[place], own)).normalize();
        }
        self.reached(&positions, &rotations)
    }

    /// The rotation that a node should have.
    fn rotation_of(&self, place: usize, parent: DQuat, origin: DVec3, wanted: &[DVec3; N_JOINTS]) -> DQuat {
        let usual = parent * self.target.turns[place];
        match &self.aims[place][..] {
            [] => usual,
            [one] => {
                let to = wanted[one.at.index()] - origin;
                let aimed = aim(usual * one.from, to) * usual;
                match self.target.hinges[place].and_then(|hinge| Some((hinge, next_bone(one.at, wanted)?))) {
                    Some((hinge, next)) => twist_to_hinge(aimed, hinge, to, next),
                    None => aimed,
                }
            }
            several => {
                let pair =
                    |aim: &Aim| Pair { from: aim.from, to: wanted[aim.at.index()] - origin, weight: 1.0 };
                best_rotation(&several.iter().map(pair).collect::<Vec<_>>(), usual)
            }
        }
    }

    /// Position channels of a node.
    fn write_position(&self, place: usize, local: DVec3, own: &mut [f64]) {
        let node = &self.target.hierarchy.nodes()[place];
        let add = node.parent.is_some() && self.target.position_channels == PositionChannels::Add;
        for (value, &channel) in own.iter_mut().zip(&node.channels) {
            if let Channel::Position(axis) = channel {
                let offset = if add { node.offset[axis.index()] } else { 0.0 };
                *value = local[axis.index()] - offset;
            }
        }
    }

    fn reached(&self, positions: &[DVec3], rotations: &[DQuat]) -> Vec<(Joint, DVec3)> {
        let nodes = self.target.hierarchy.nodes();
        let place = |(joint, source): (Joint, &Source)| match *source {
            Source::Node(node) => Some((joint, positions[node])),
            Source::EndSite { node, site } => {
                Some((joint, positions[node] + rotations[node] * DVec3::from(nodes[node].end_sites[site])))
            }
            Source::Synthesised(_) => None,
        };
        Joint::ALL.into_iter().zip(&self.target.sources).filter_map(place).collect()
    }
}

fn moves_along(hierarchy: &Hierarchy, node: usize, axis: Axis) -> bool {
    hierarchy.nodes()[node].channels.contains(&Channel::Position(axis))
}

/// For every node, the vectors that its rotation aims.
///
/// A child with a length counts by its offset: aimed at itself where it is one of the 21 joints, else at the first
/// of them that hangs on it. Through children of length zero the search goes on.
fn find_aims(target: &Target) -> Vec<Vec<Aim>> {
    let nodes = target.hierarchy.nodes();
    let mut aims: Vec<Vec<Aim>> = vec![Vec::new(); nodes.len()];
    for (joint, source) in Joint::ALL.into_iter().zip(&target.sources) {
        if let Source::EndSite { node, site } = *source {
            let from = DVec3::from(nodes[node].end_sites[site]);
            aims[node].push(Aim { from, at: joint });
        }
    }
    let below = first_joints(target);
    for (place, node) in nodes.iter().enumerate() {
        let (true, Some(at)) = (node.length() > 0.0, below[place]) else { continue };
        let mut above = node.parent;
        while let Some(ancestor) = above {
            aims[ancestor].push(Aim { from: DVec3::from(node.offset), at });
            above = if nodes[ancestor].length() > 0.0 { None } else { nodes[ancestor].parent };
        }
    }
    aims
}

/// For every node, which of the 21 joints it is, or else the first that hangs on it.
fn first_joints(target: &Target) -> Vec<Option<Joint>> {
    let nodes = target.hierarchy.nodes();
    let mut joint_of: Vec<Option<Joint>> = vec![None; nodes.len()];
    for (joint, source) in Joint::ALL.into_iter().zip(&target.sources) {
        if let Source::Node(node) = *source {
            joint_of[node] = joint_of[node].or(Some(joint));
        }
    }
    let mut below = joint_of.clone();
    // Backwards, because children stand after their parents; of several children the first is the last to write.
    for place in (0..nodes.len()).rev() {
        if let (Some(parent), Some(joint)) = (nodes[place].parent, below[place]) {
            below[parent] = joint_of[parent].or(Some(joint));
        }
    }
    below
}

/// The bone from a joint to the next one down the limb.
fn next_bone(joint: Joint, wanted: &[DVec3; N_JOINTS]) -> Option<DVec3> {
    let next = Joint::ALL.into_iter().find(|next| next.parent() == Some(joint))?;
    Some(wanted[next.index()] - wanted[joint.index()])
}

/// Weight of no twist against that of a limb bent by a right angle: straight limbs have no plane to follow.
const UNTWISTED_WEIGHT: f64 = 0.02;

/// Twists a rotation about its bone until the hinge, in the node's frame, lies along `bone × next`.
fn twist_to_hinge(rotation: DQuat, hinge: DVec3, bone: DVec3, next: DVec3) -> DQuat {
    let (Some(bone), Some(next)) = (bone.try_normalize(), next.try_normalize()) else { return rotation };
    let normal = bone.cross(next);
    let now = rotation * hinge;
    let across = now - bone * now.dot(bone);
    // Both lie across the bone; the length of the normal, the sine of the bend, is its weight once more.
    let weight = normal.length();
    let sin = weight * bone.dot(across.cross(normal));
    let cos = weight * across.dot(normal) + UNTWISTED_WEIGHT;
    DQuat::from_axis_angle(bone, sin.atan2(cos)) * rotation
}

/// Rotation channels of a node, near those of the frame before so that curves do not jump.
fn write_rotation(hierarchy: &Hierarchy, place: usize, local: DQuat, previous: &[f64], own: &mut [f64]) {
    let node = &hierarchy.nodes()[place];
    let axes: Vec<Axis> = node.rotation_axes().collect();
    let places =
        node.channels.iter().enumerate().filter(|(_, channel)| matches!(channel, Channel::Rotation(_)));
    let places: Vec<usize> = places.map(|(place, _)| place).collect();
    let before = |n: usize| places.get(n).map_or(0.0, |&place| previous[place].to_radians());
    let angles = match axes[..] {
        [axis] => [nearest_turn(twist_angle(local, axis.unit()), before(0)), 0.0, 0.0],
        // The third angle, about the axis that has no channel, is lost.
        [first, second] if first != second => {
            let third = Axis::ALL[3 - first.index() - second.index()];
            let order = EulerOrder::new([first, second, third]);
            order.map_or([0.0; 3], |order| order.angles_near(local, [before(0), before(1), 0.0]))
        }
        [first, second, third] => {
            let order = EulerOrder::new([first, second, third]);
            order.map_or([0.0; 3], |order| order.angles_near(local, [before(0), before(1), before(2)]))
        }
        _ => [0.0; 3],
    };
    for (&place, angle) in places.iter().zip(angles) {
        own[place] = angle.to_degrees();
    }
}
