//! A motion as glTF 2.0 in one binary file: a node per joint, a mesh per bone, one animation.
//!
//! ```text
//! scene ─ root ─ … ─ joint ─┬─ joint …      translation and rotation, animated at the frames of the motion
//!                           └─ bone         the one mesh, turned along the offset of the child and stretched to it
//! ```
//!
//! Metres, Y up. Sides have colours. Khronos Group, "glTF 2.0 Specification".

use glam::{DQuat, DVec3};
use serde_json::{Value, json};

use super::bone_mesh::bone_mesh;
use super::glb_buffer::{ARRAY_BUFFER, Buffer, container};
use crate::bvh::{Motion, Node};
use crate::rotation::aim;
use crate::skeleton::{PositionChannels, World, forward};
use crate::{Error, Result};

/// Width of a bone relative to its length, and the most and the least in metres.
const WIDTH: f64 = 0.22;
const WIDTHS: [f64; 2] = [0.025, 0.07];
/// Name and colour (linear RGB) of the materials: left, right, middle.
const MATERIALS: [(&str, [f64; 3]); 3] =
    [("left", [0.05, 0.25, 0.65]), ("right", [0.80, 0.22, 0.05]), ("middle", [0.45, 0.45, 0.47])];

/// A motion with Y up and `metres_per_unit` as the bytes of a `.glb` file.
///
/// # Errors
/// [`Error::Setting`] for a unit that is not positive; [`Error::Shape`] for a motion without frames.
pub fn glb(motion: &Motion, metres_per_unit: f64) -> Result<Vec<u8>> {
    if !(metres_per_unit.is_finite() && metres_per_unit > 0.0) {
        let why = format!("found {metres_per_unit}; give metres above 0");
        return Err(Error::setting("metres_per_unit", why));
    }
    if motion.n_frames() == 0 {
        return Err(Error::shape("frames of the motion", "at least one", 0));
    }
    let nodes = motion.hierarchy().nodes();
    let mut buffer = Buffer::default();
    let meshes = meshes(&mut buffer);
    let (mut described, roots) = joints(nodes, metres_per_unit);
    add_bones(&mut described, nodes, metres_per_unit);
    let animation = animation(motion, metres_per_unit, &mut buffer);
    let document = json!({
        "asset": {"version": "2.0", "generator": concat!("mtds ", env!("CARGO_PKG_VERSION"))},
        "scene": 0,
        "scenes": [{"nodes": roots}],
        "nodes": described,
        "meshes": meshes,
        "materials": MATERIALS.map(|(name, [r, g, b])| json!({
            "name": name,
            "pbrMetallicRoughness": {"baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.8},
        })),
        "animations": [animation],
        "buffers": [{"byteLength": buffer.bytes.len().next_multiple_of(4)}],
        "bufferViews": buffer.views,
        "accessors": buffer.accessors,
    });
    Ok(container(&document, buffer.bytes))
}

/// One mesh in three colours.
fn meshes(buffer: &mut Buffer) -> Vec<Value> {
    let corners = bone_mesh();
    let columns = |which: usize| corners.iter().map(|pair| pair[which].to_array()).collect::<Vec<_>>();
    let position = buffer.push(&columns(0), Some(ARRAY_BUFFER));
    let normal = buffer.push(&columns(1), Some(ARRAY_BUFFER));
    let mesh = |material: usize| {
        json!({
            "name": format!("bone {}", MATERIALS[material].0),
            "primitives": [{"attributes": {"POSITION": position, "NORMAL": normal}, "material": material}],
        })
    };
    (0..MATERIALS.len()).map(mesh).collect()
}

/// A node per joint, in the order of the hierarchy, and which are roots.
fn joints(nodes: &[Node], unit: f64) -> (Vec<Value>, Vec<usize>) {
    let children = |place: usize| {
        let of = |(child, node): (usize, &Node)| (node.parent == Some(place)).then_some(child);
        nodes.iter().enumerate().filter_map(of).collect::<Vec<_>>()
    };
    let joint = |(place, node): (usize, &Node)| {
        let mut joint = json!({"name": node.name, "translation": node.offset.map(|value| value * unit)});
        set_children(&mut joint, children(place));
        joint
    };
    let roots = (0..nodes.len()).filter(|&place| nodes[place].parent.is_none()).collect();
    (nodes.iter().enumerate().map(joint).collect(), roots)
}

/// Appends a node with a mesh for every offset that has a length, and hangs it on its joint.
fn add_bones(described: &mut Vec<Value>, nodes: &[Node], unit: f64) {
    let to_child = nodes.iter().filter_map(|node| Some((node.parent?, node.offset, &node.name)));
    let to_end = nodes
        .iter()
        .enumerate()
        .flat_map(|(place, node)| node.end_sites.iter().map(move |&offset| (place, offset, &node.name)));
    for (joint, offset, name) in to_child.chain(to_end) {
        let offset = DVec3::from(offset) * unit;
        let length = offset.length();
        if length < 1e-6 {
            continue;
        }
        let width = (WIDTH * length).clamp(WIDTHS[0], WIDTHS[1]);
        described.push(json!({
            "name": format!("bone to {name}"),
            "mesh": material_of(name),
            "rotation": aim(DVec3::Y, offset).normalize().to_array(),
            "scale": [width, length, width],
        }));
        let bone = described.len() - 1;
        let mut children: Vec<usize> =
            serde_json::from_value(described[joint]["children"].clone()).unwrap_or_default();
        children.push(bone);
        set_children(&mut described[joint], children);
    }
}

/// The format knows no empty lists.
fn set_children(joint: &mut Value, children: Vec<usize>) {
    if !children.is_empty() {
        joint["children"] = json!(children);
    }
}

/// Place of the colour of a joint among [`MATERIALS`], by its name.
fn material_of(name: &str) -> usize {
    let lower = name.to_lowercase();
    let side = |word: &str, letter: &str| {
        lower.contains(word)
            || lower.ends_with(&format!("_{letter}"))
            || name.starts_with(&format!("{}Hip", letter.to_uppercase()))
    };
    if side("left", "l") {
        0
    } else if side("right", "r") {
        1
    } else {
        2
    }
}

/// Rotations of every joint and translations of those that move, over the frames.
fn animation(motion: &Motion, unit: f64, buffer: &mut Buffer) -> Value {
    let world = forward(motion, PositionChannels::detect(motion));
    let nodes = motion.hierarchy().nodes();
    let times: Vec<[f64; 1]> = (0..motion.n_frames()).map(|t| [t as f64 / motion.fps()]).collect();
    let input = buffer.push(&times, None);
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    let mut add = |place: usize, path: &str, output: usize| {
        channels.push(json!({"sampler": samplers.len(), "target": {"node": place, "path": path}}));
        samplers.push(json!({"input": input, "output": output, "interpolation": "LINEAR"}));
    };
    for (place, node) in nodes.iter().enumerate() {
        let rotations = local_rotations(&world, place, node.parent);
        add(place, "rotation", buffer.push(&rotations, None));
        if node.has_position() {
            let translations = local_translations(&world, place, node.parent, unit);
            add(place, "translation", buffer.push(&translations, None));
        }
    }
    json!({"name": "motion", "samplers": samplers, "channels": channels})
}

/// Quaternions relative to the parent, signs made continuous, as linear interpolation needs them.
fn local_rotations(world: &World, place: usize, parent: Option<usize>) -> Vec<[f64; 4]> {
    let mut last = DQuat::IDENTITY;
    let local = |t: usize| {
        let above = parent.map_or(DQuat::IDENTITY, |parent| world.rotations(t)[parent]);
        let rotation = (above.conjugate() * world.rotations(t)[place]).normalize();
        last = if rotation.dot(last) < 0.0 { -rotation } else { rotation };
        last.to_array()
    };
    (0..world.n_frames()).map(local).collect()
}

fn local_translations(world: &World, place: usize, parent: Option<usize>, unit: f64) -> Vec<[f64; 3]> {
    let local = |t: usize| {
        let position = world.positions(t)[place];
        let local = parent.map_or(position, |parent| {
            world.rotations(t)[parent].conjugate() * (position - world.positions(t)[parent])
        });
        (local * unit).to_array()
    };
    (0..world.n_frames()).map(local).collect()
}
