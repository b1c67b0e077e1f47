//! The Lagrangian frame: where the body stands and faces, and outputs `y` relative to it.
//!
//! ```text
//! placement of frame t       origin (x_t, z_t): the hips on the ground      facing ω_t: angle about the Y axis
//! forward  = (sin ω, 0, cos ω)              left = (cos ω, 0, −sin ω)
//! local_from_world(p) = R_Y(−ω) (p − origin)                       world_from_local(q) = R_Y(ω) q + origin
//! ```
//!
//! Y is up and the coordinates are right-handed: a body that faces +Z has its left along +X, and turning to
//! the left makes ω grow. Bird & Williams (2020), supplement, "Representation in observation space".

mod facing;
mod outputs;

pub(crate) use facing::wrapped;
pub use facing::{facing_of_frame, facing_rad, smooth};
pub use outputs::{D_OBS, Outputs, output_names};

/// Where a body stands on the ground and which way it faces.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Placement {
    /// Position along the world's X axis, in metres.
    pub x: f64,
    /// Position along the world's Z axis, in metres.
    pub z: f64,
    /// Angle ω about the Y axis from +Z to the direction that the body faces, in radians.
    pub facing_rad: f64,
}

impl Placement {
    /// Turns a ground vector from the axes of the body to those of the world.
    #[must_use]
    pub fn turned(&self, [x, z]: [f64; 2]) -> [f64; 2] {
        let (sin, cos) = self.facing_rad.sin_cos();
        [cos * x + sin * z, cos * z - sin * x]
    }

    /// Turns a ground vector from the axes of the world to those of the body.
    #[must_use]
    pub fn turned_back(&self, [x, z]: [f64; 2]) -> [f64; 2] {
        let (sin, cos) = self.facing_rad.sin_cos();
        [cos * x - sin * z, cos * z + sin * x]
    }

    /// A position in the world, from one in the frame of the body.
    #[must_use]
    pub fn world_from_local(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        let [x, z] = self.turned([x, z]);
        [x + self.x, y, z + self.z]
    }

    /// A position in the frame of the body, from one in the world.
    #[must_use]
    pub fn local_from_world(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        let [x, z] = self.turned_back([x - self.x, z - self.z]);
        [x, y, z]
    }

    /// The placement after a step in the axes of the body and a turn.
    #[must_use]
    pub fn moved(&self, step: [f64; 2], turn_rad: f64) -> Self {
        let [x, z] = self.turned(step);
        Self { x: self.x + x, z: self.z + z, facing_rad: self.facing_rad + turn_rad }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn turning_left_makes_the_angle_grow() {
        let body = Placement { x: 1.0, z: 2.0, facing_rad: 0.0 };
        assert_eq!(body.world_from_local([0.5, 1.0, 0.25]), [1.5, 1.0, 2.25]);
        let turned = body.moved([0.0, 0.0], std::f64::consts::FRAC_PI_2);
        let [x, _, z] = turned.world_from_local([0.0, 0.0, 1.0]);
        // Facing +Z, left is +X: after a quarter turn to the left, forward is +X.
        assert!((x - 2.0).abs() < 1e-15 && (z - 2.0).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn local_and_world_are_inverse(
            place in prop::array::uniform3(-50.0..50.0f64), facing in -20.0..20.0f64,
            point in prop::array::uniform3(-5.0..5.0f64),
        ) {
            let body = Placement { x: place[0], z: place[2], facing_rad: facing };
            let back = body.world_from_local(body.local_from_world(point));
            for axis in 0..3 {
                prop_assert!((back[axis] - point[axis]).abs() < 1e-12);
            }
        }
    }
}
