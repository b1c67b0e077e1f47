//! Writes a BVH file: what the reader gets from it equals what was written, to the last bit.

use std::fmt::Write;

use super::hierarchy::{Hierarchy, Node};
use super::motion::Motion;

/// The bytes of a file; numbers are the shortest decimals that read back as themselves.
pub fn write(motion: &Motion) -> Vec<u8> {
    let mut text = String::new();
    write_hierarchy(&mut text, motion.hierarchy());
    text.push_str("MOTION\n");
    let mut line = |label: &str, value: &dyn std::fmt::Display| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{label} {value}");
    };
    line("Frames:", &motion.n_frames());
    line("Frame Time:", &Shortest(motion.frame_time()));
    for frame in 0..motion.n_frames() {
        for (place, &value) in motion.frame(frame).iter().enumerate() {
            if place > 0 {
                text.push(' ');
            }
            let _ = write!(text, "{}", Shortest(value));
        }
        text.push('\n');
    }
    text.into_bytes()
}

/// Trees by depth: nodes stand depth first, so braces close whenever the depth does not grow.
fn write_hierarchy(text: &mut String, hierarchy: &Hierarchy) {
    text.push_str("HIERARCHY\n");
    let mut depths: Vec<usize> = Vec::new();
    let mut open = 0;
    for node in hierarchy.nodes() {
        let depth = node.parent.map_or(0, |parent| depths[parent] + 1);
        close(text, &mut open, depth);
        write_node(text, node, depth);
        depths.push(depth);
        open += 1;
    }
    close(text, &mut open, 0);
}

/// Closes braces until as many are open as `depth`.
fn close(text: &mut String, open: &mut usize, depth: usize) {
    while *open > depth {
        *open -= 1;
        indent(text, *open);
        text.push_str("}\n");
    }
}

/// A node up to its children; its brace stays open.
fn write_node(text: &mut String, node: &Node, depth: usize) {
    indent(text, depth);
    text.push_str(if node.parent.is_none() { "ROOT " } else { "JOINT " });
    text.push_str(&node.name);
    text.push('\n');
    indent(text, depth);
    text.push_str("{\n");
    write_offset(text, node.offset, depth + 1);
    if !node.channels.is_empty() {
        indent(text, depth + 1);
        let _ = write!(text, "CHANNELS {}", node.channels.len());
        for channel in &node.channels {
            text.push(' ');
            text.push_str(channel.name());
        }
        text.push('\n');
    }
    for &offset in &node.end_sites {
        indent(text, depth + 1);
        text.push_str("End Site\n");
        indent(text, depth + 1);
        text.push_str("{\n");
        write_offset(text, offset, depth + 2);
        indent(text, depth + 1);
        text.push_str("}\n");
    }
}

fn write_offset(text: &mut String, offset: [f64; 3], depth: usize) {
    indent(text, depth);
    let [x, y, z] = offset.map(Shortest);
    let _ = writeln!(text, "OFFSET {x} {y} {z}");
}

/// Deep trees would make indentation quadratic in their depth; beyond this it says nothing to a reader anyway.
const DEEPEST_INDENT: usize = 64;

fn indent(text: &mut String, depth: usize) {
    text.extend(std::iter::repeat_n("  ", depth.min(DEEPEST_INDENT)));
}

/// The shortest decimal that reads back as the number, with an exponent where zeros would fill the line.
struct Shortest(f64);

impl std::fmt::Display for Shortest {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let size = self.0.abs();
        if size != 0.0 && !(1e-5..1e16).contains(&size) {
            write!(out, "{:e}", self.0)
        } else {
            write!(out, "{}", self.0)
        }
    }
}
