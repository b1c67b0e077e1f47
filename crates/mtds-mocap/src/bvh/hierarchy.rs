//! The tree of joints in a BVH file: names, offsets and channels, in the order of the file.

use crate::rotation::Axis;
use crate::{Error, Result};

/// One number per frame that moves a joint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// Translation along an axis, in the units of the file.
    Position(Axis),
    /// Rotation about an axis, in degrees.
    Rotation(Axis),
}

impl Channel {
    /// All six, positions first.
    pub const ALL: [Channel; 6] = [
        Channel::Position(Axis::X),
        Channel::Position(Axis::Y),
        Channel::Position(Axis::Z),
        Channel::Rotation(Axis::X),
        Channel::Rotation(Axis::Y),
        Channel::Rotation(Axis::Z),
    ];

    /// Its name in files, e.g. `Xposition`.
    pub const fn name(self) -> &'static str {
        match self {
            Channel::Position(Axis::X) => "Xposition",
            Channel::Position(Axis::Y) => "Yposition",
            Channel::Position(Axis::Z) => "Zposition",
            Channel::Rotation(Axis::X) => "Xrotation",
            Channel::Rotation(Axis::Y) => "Yrotation",
            Channel::Rotation(Axis::Z) => "Zrotation",
        }
    }

    /// The channel with this name, upper and lower case alike.
    pub fn from_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|channel| channel.name().as_bytes().eq_ignore_ascii_case(name))
    }
}

/// One joint of the tree.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Node {
    /// Its name, without blanks at the ends; may hold blanks, colons and anything else but braces and line ends.
    pub name: String,
    /// Place of its parent in [`Hierarchy::nodes`], before its own; none for a root.
    pub parent: Option<usize>,
    /// Where it is in the frame of its parent, in the units of the file.
    pub offset: [f64; 3],
    /// What moves it, in the order of the file.
    pub channels: Vec<Channel>,
    /// Offsets of the end sites it carries; usually one on the last joint of a limb, and often of length zero.
    pub end_sites: Vec<[f64; 3]>,
}

impl Node {
    /// Axes of its rotation channels, in order.
    pub fn rotation_axes(&self) -> impl Iterator<Item = Axis> + '_ {
        self.channels.iter().filter_map(|channel| match channel {
            Channel::Rotation(axis) => Some(*axis),
            Channel::Position(_) => None,
        })
    }

    /// Whether it has a channel that translates it.
    pub fn has_position(&self) -> bool {
        self.channels.iter().any(|channel| matches!(channel, Channel::Position(_)))
    }

    /// Length of its offset.
    pub fn length(&self) -> f64 {
        self.offset.iter().map(|value| value * value).sum::<f64>().sqrt()
    }
}

/// Joints in the order of the file: depth first, a parent before its children.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Hierarchy {
    nodes: Vec<Node>,
    first_channel: Vec<usize>,
    n_channels: usize,
}

impl Hierarchy {
    /// A tree from nodes in depth-first order; several roots are allowed.
    ///
    /// # Errors
    /// A parent that does not stand on the way from the root to the node before (the order is not depth first), a
    /// name that a file cannot hold, an offset that is not finite, a position channel given twice in one node.
    pub fn new(nodes: Vec<Node>) -> Result<Self> {
        let mut open: Vec<usize> = Vec::new();
        for (place, node) in nodes.iter().enumerate() {
            check_node(node)?;
            while open.last().copied() != node.parent {
                if open.pop().is_none() {
                    let found = format!("parent {:?} of `{}` at place {place}", node.parent, node.name);
                    return Err(Error::shape("hierarchy", "parents before children, depth first", found));
                }
            }
            open.push(place);
        }
        let mut first_channel = Vec::with_capacity(nodes.len());
        let mut n_channels = 0;
        for node in &nodes {
            first_channel.push(n_channels);
            n_channels += node.channels.len();
        }
        Ok(Self { nodes, first_channel, n_channels })
    }

    /// The joints.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Number of values in a frame.
    pub fn n_channels(&self) -> usize {
        self.n_channels
    }

    /// Values of one node within a frame.
    ///
    /// # Panics
    /// Where there is no such node or the frame is too short.
    pub fn values_of<'a>(&self, node: usize, frame: &'a [f64]) -> &'a [f64] {
        let first = self.first_channel[node];
        &frame[first..first + self.nodes[node].channels.len()]
    }

    /// Where the values of a node start within a frame.
    pub(crate) fn first_channel(&self, node: usize) -> usize {
        self.first_channel[node]
    }
}

/// Whether a node can be written and read again.
fn check_node(node: &Node) -> Result<()> {
    let name = &node.name;
    let unfit = |c: char| matches!(c, '{' | '}' | '\n' | '\r');
    if name.is_empty() || name.trim_matches([' ', '\t', '\x0b', '\x0c']) != name || name.contains(unfit) {
        let why = format!("found {name:?}; give a name without braces, line ends, or blanks at its ends");
        return Err(Error::setting("joint name", why));
    }
    for &value in node.offset.iter().chain(node.end_sites.iter().flatten()) {
        if !value.is_finite() {
            return Err(Error::NotFinite { what: format!("offset of `{name}`"), value });
        }
    }
    match repeated_position(&node.channels) {
        Some(channel) => {
            let why = format!("`{name}` has {} twice; give each position once", channel.name());
            Err(Error::setting("channels", why))
        }
        None => Ok(()),
    }
}

/// A position channel that stands twice: which of the two would count is anybody's guess.
pub(super) fn repeated_position(channels: &[Channel]) -> Option<Channel> {
    channels.iter().enumerate().find_map(|(place, &channel)| {
        let position = matches!(channel, Channel::Position(_));
        (position && channels[..place].contains(&channel)).then_some(channel)
    })
}
