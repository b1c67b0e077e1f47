//! The mesh of a bone: a double pyramid of length one along +Y, widest near its beginning, flat faces.

use glam::DVec3;

/// Where along the bone it is widest.
const WIDEST: f64 = 0.2;
/// Corners of the ring, in order around the bone.
const RING: [[f64; 2]; 4] = [[0.5, 0.5], [-0.5, 0.5], [-0.5, -0.5], [0.5, -0.5]];

/// Corners of the faces, three by three, counter-clockwise seen from outside, and a normal for each: `24 × 2`.
pub(super) fn bone_mesh() -> Vec<[DVec3; 2]> {
    let ring = RING.map(|[x, z]| DVec3::new(x, WIDEST, z));
    let mut corners = Vec::with_capacity(24);
    for side in 0..4 {
        let (one, next) = (ring[side], ring[(side + 1) % 4]);
        for face in [[DVec3::Y, next, one], [DVec3::ZERO, one, next]] {
            let normal = (face[1] - face[0]).cross(face[2] - face[0]).normalize();
            corners.extend(face.map(|corner| [corner, normal]));
        }
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_look_outwards() {
        let mesh = bone_mesh();
        assert_eq!(mesh.len(), 24);
        let centre = DVec3::new(0.0, 0.3, 0.0);
        for [corner, normal] in mesh {
            assert!((corner - centre).dot(normal) > 0.0, "{corner} {normal}");
        }
    }
}
