//! Reads a BVH file from its bytes, leniently where the meaning is clear, and tells what it had to overlook.

use super::frames;
use super::hierarchy::{Channel, Hierarchy, Node, repeated_position};
use super::motion::Motion;
use super::scan::Scanner;
use crate::Result;

/// What a file says, and what is odd about the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Hierarchy and frames.
    pub motion: Motion,
    /// Oddities that did not stop the reader.
    pub remarks: Vec<Remark>,
}

/// Something odd in a file whose meaning is clear nevertheless.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Remark {
    /// The header announces another number of frames than there are; those that are there were kept.
    #[error("`Frames: {declared}`, but there are {found} frames; kept those that are there")]
    FrameCount {
        /// As announced.
        declared: usize,
        /// Whole frames in the file.
        found: usize,
    },
    /// The last frame is cut off; it was dropped.
    #[error("the last frame, in line {line}, has {found} of {expected} values; dropped it")]
    CutOff {
        /// Its line, from 1.
        line: usize,
        /// Values that are there.
        found: usize,
        /// Values that a frame has.
        expected: usize,
    },
    /// A name is not UTF-8; each byte was read as one Latin-1 character.
    #[error("the name of joint {node} is not UTF-8; read as Latin-1: `{name}`")]
    Name {
        /// Its place in the hierarchy.
        node: usize,
        /// As read.
        name: String,
    },
    /// More than one tree; all were kept.
    #[error("{0} ROOTs; kept them all")]
    Roots(usize),
}

/// Reads a file.
///
/// # Errors
/// [`crate::Error::Bvh`], with line and column, wherever the bytes are not BVH: see the module for the grammar.
/// Numbers that are not finite, frames in the middle of the file with too few or too many values, and hierarchies
/// without channels are refused.
pub fn read(bytes: &[u8]) -> Result<Reading> {
    let mut scanner = Scanner::new(bytes);
    let mut remarks = Vec::new();
    scanner.require("HIERARCHY", "is this a BVH file?")?;
    let nodes = read_nodes(&mut scanner, &mut remarks)?;
    let n_roots = nodes.iter().filter(|node| node.parent.is_none()).count();
    if n_roots > 1 {
        remarks.push(Remark::Roots(n_roots));
    }
    if nodes.iter().all(|node| node.channels.is_empty()) {
        return Err(scanner.error("a joint with CHANNELS before", "without channels nothing moves"));
    }
    let hierarchy = Hierarchy::new(nodes)?;
    let (frame_time, values) = frames::read(&mut scanner, hierarchy.n_channels(), &mut remarks)?;
    Ok(Reading { motion: Motion::new(hierarchy, frame_time, values)?, remarks })
}

/// All trees, depth first, up to the word MOTION. Without recursion: nesting may be as deep as a file is long.
fn read_nodes(scanner: &mut Scanner, remarks: &mut Vec<Remark>) -> Result<Vec<Node>> {
    let mut builder = Builder { nodes: Vec::new(), parts: Vec::new(), open: Vec::new() };
    scanner.skip_space();
    scanner.require("ROOT", "a hierarchy starts with its root")?;
    builder.open_node(scanner, remarks)?;
    loop {
        if !builder.open.is_empty() {
            builder.read_part(scanner, remarks)?;
        } else if scanner.take("ROOT") {
            builder.open_node(scanner, remarks)?;
        } else {
            return Ok(builder.nodes);
        }
    }
}

/// Nodes so far, and which of them are not closed yet.
struct Builder {
    nodes: Vec<Node>,
    parts: Vec<Parts>,
    open: Vec<usize>,
}

/// Which parts of a node have been seen; each comes once.
#[derive(Default)]
struct Parts {
    offset: bool,
    channels: bool,
}

impl Builder {
    /// After ROOT or JOINT: the name and the opening brace.
    fn open_node(&mut self, scanner: &mut Scanner, remarks: &mut Vec<Remark>) -> Result<()> {
        let before = *scanner;
        let bytes = scanner.name();
        if bytes.is_empty() {
            return Err(
                before.error("the name of the joint", "give every joint a name on the line of its keyword")
            );
        }
        let place = self.nodes.len();
        let name = match std::str::from_utf8(bytes) {
            Ok(name) => name.to_string(),
            Err(_) => {
                let name: String = bytes.iter().map(|&byte| char::from(byte)).collect();
                remarks.push(Remark::Name { node: place, name: name.clone() });
                name
            }
        };
        scanner.require("{", "the body of a joint stands in braces")?;
        self.nodes.push(Node { name, parent: self.open.last().copied(), ..Node::default() });
        self.parts.push(Parts::default());
        self.open.push(place);
        Ok(())
    }

    /// One part of the innermost open node, or its closing brace.
    fn read_part(&mut self, scanner: &mut Scanner, remarks: &mut Vec<Remark>) -> Result<()> {
        let Some(&place) = self.open.last() else { return Ok(()) };
        let before = *scanner;
        if scanner.take("OFFSET") {
            if std::mem::replace(&mut self.parts[place].offset, true) {
                return Err(before.error("one OFFSET per joint", "delete one of them"));
            }
            self.nodes[place].offset = read_offset(scanner)?;
        } else if scanner.take("CHANNELS") {
            if std::mem::replace(&mut self.parts[place].channels, true) {
                return Err(before.error("one CHANNELS per joint", "delete one of them"));
            }
            self.nodes[place].channels = read_channels(scanner)?;
        } else if scanner.take("JOINT") {
            self.open_node(scanner, remarks)?;
        } else if scanner.take("End") {
            let offset = read_end_site(scanner)?;
            self.nodes[place].end_sites.push(offset);
        } else if scanner.take("}") {
            if !self.parts[place].offset {
                return Err(before.error("OFFSET before the end of the joint", "every joint has one"));
            }
            self.open.pop();
        } else {
            let expected = "`OFFSET`, `CHANNELS`, `JOINT`, `End Site` or `}`";
            return Err(scanner.error(expected, "check the braces above"));
        }
        Ok(())
    }
}

fn read_offset(scanner: &mut Scanner) -> Result<[f64; 3]> {
    Ok([scanner.number()?, scanner.number()?, scanner.number()?])
}

/// After `End`: usually `Site`, which carries nothing, then an offset in braces.
fn read_end_site(scanner: &mut Scanner) -> Result<[f64; 3]> {
    scanner.name();
    scanner.require("{", "an end site stands in braces")?;
    scanner.require("OFFSET", "an end site has an offset and nothing else")?;
    let offset = read_offset(scanner)?;
    // Some exporters give end sites an empty list of channels.
    if scanner.take("CHANNELS") {
        scanner.require("0", "an end site cannot move")?;
    }
    scanner.require("}", "an end site has an offset and nothing else")?;
    Ok(offset)
}

fn read_channels(scanner: &mut Scanner) -> Result<Vec<Channel>> {
    let before = *scanner;
    let count = scanner.word();
    let count = std::str::from_utf8(count).ok().and_then(|text| text.parse::<usize>().ok());
    let Some(count) = count else {
        return Err(before.error("the number of channels", "e.g. `CHANNELS 3 Zrotation Xrotation Yrotation`"));
    };
    let mut channels = Vec::new();
    for _ in 0..count {
        let before = *scanner;
        match Channel::from_name(scanner.word()) {
            Some(channel) => channels.push(channel),
            None => {
                let expected =
                    format!("{count} channels, each Xposition … Zposition or Xrotation … Zrotation");
                return Err(before.error(expected, "check the number after CHANNELS"));
            }
        }
    }
    match repeated_position(&channels) {
        None => Ok(channels),
        Some(channel) => {
            let expected = format!("{} once", channel.name());
            Err(before.error(expected, "a joint has one position per axis"))
        }
    }
}
