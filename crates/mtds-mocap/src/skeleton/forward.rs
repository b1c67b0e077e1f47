//! Forward kinematics: from channel values to where every joint is and how it is turned.
//!
//! ```text
//! world rotation   R_j = R_parent · R_1(a) R_2(b) R_3(c)      channels in the order of the file
//! world position   p_j = p_parent + R_parent · t_j            t_j: OFFSET, or the position channels
//! ```

use glam::{DQuat, DVec3};

use crate::bvh::{Channel, Motion, Node};

/// What position channels of a joint below the root mean; those of a root always replace its OFFSET.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PositionChannels {
    /// They replace the OFFSET: where the joint is in the frame of its parent.
    Replace,
    /// They are added to the OFFSET: a displacement.
    Add,
}

impl PositionChannels {
    /// What a motion means: displacements are nearer to zero than to the offsets. Without evidence, [`Self::Replace`].
    pub fn detect(motion: &Motion) -> Self {
        let nodes = motion.hierarchy().nodes();
        let (mut from_zero, mut from_offset) = (0.0, 0.0);
        for frame in sampled(motion.n_frames(), 50) {
            for (place, node) in nodes.iter().enumerate().filter(|(_, node)| node.parent.is_some()) {
                for (&channel, &value) in
                    node.channels.iter().zip(motion.hierarchy().values_of(place, motion.frame(frame)))
                {
                    if let Channel::Position(axis) = channel {
                        from_zero += value.abs();
                        from_offset += (value - node.offset[axis.index()]).abs();
                    }
                }
            }
        }
        if from_zero < from_offset { Self::Add } else { Self::Replace }
    }
}

/// At most about `most` frame numbers, evenly over a clip.
pub(super) fn sampled(n_frames: usize, most: usize) -> impl Iterator<Item = usize> {
    (0..n_frames).step_by(n_frames.div_ceil(most).max(1))
}

/// Positions, in the units of the file, and rotations of all nodes in all frames.
#[derive(Debug, Clone, PartialEq)]
pub struct World {
    n_nodes: usize,
    positions: Vec<DVec3>,
    rotations: Vec<DQuat>,
}

impl World {
    /// Number of frames.
    pub fn n_frames(&self) -> usize {
        self.positions.len() / self.n_nodes
    }

    /// Positions of all nodes in a frame.
    ///
    /// # Panics
    /// Where there is no such frame.
    pub fn positions(&self, frame: usize) -> &[DVec3] {
        &self.positions[frame * self.n_nodes..(frame + 1) * self.n_nodes]
    }

    /// World-from-local rotations of all nodes in a frame.
    ///
    /// # Panics
    /// Where there is no such frame.
    pub fn rotations(&self, frame: usize) -> &[DQuat] {
        &self.rotations[frame * self.n_nodes..(frame + 1) * self.n_nodes]
    }
}

/// Positions and rotations of all nodes over a whole motion.
pub fn forward(motion: &Motion, convention: PositionChannels) -> World {
    let hierarchy = motion.hierarchy();
    let n_nodes = hierarchy.nodes().len();
    let mut positions = vec![DVec3::ZERO; n_nodes * motion.n_frames()];
    let mut rotations = vec![DQuat::IDENTITY; n_nodes * motion.n_frames()];
    let poses = positions.chunks_exact_mut(n_nodes).zip(rotations.chunks_exact_mut(n_nodes));
    for (frame, (positions, rotations)) in poses.enumerate() {
        for (place, node) in hierarchy.nodes().iter().enumerate() {
            let values = hierarchy.values_of(place, motion.frame(frame));
            let translation = local_position(node, values, convention);
            let rotation = local_rotation(node, values);
            (positions[place], rotations[place]) = match node.parent {
                None => (translation, rotation),
                Some(parent) => (
                    positions[parent] + rotations[parent] * translation,
                    (rotations[parent] * rotation).normalize(),
                ),
            };
        }
    }
    World { n_nodes, positions, rotations }
}

/// Where a node is in the frame of its parent; axes without a channel keep the OFFSET.
fn local_position(node: &Node, values: &[f64], convention: PositionChannels) -> DVec3 {
    let mut position = DVec3::from(node.offset);
    let add = node.parent.is_some() && convention == PositionChannels::Add;
    for (&channel, &value) in node.channels.iter().zip(values) {
        if let Channel::Position(axis) = channel {
            let place = axis.index();
            position[place] = if add { node.offset[place] + value } else { value };
        }
    }
    position
}

/// How a node is turned against its parent.
pub(super) fn local_rotation(node: &Node, values: &[f64]) -> DQuat {
    let mut rotation = DQuat::IDENTITY;
    for (&channel, &value) in node.channels.iter().zip(values) {
        if let Channel::Rotation(axis) = channel {
            rotation *= axis.rotation(value.to_radians());
        }
    }
    rotation
}
