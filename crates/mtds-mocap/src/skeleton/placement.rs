//! How the coordinates of a file lie in the world: unit, direction of up, handedness.
//!
//! ```text
//! world = mirror · R_up · file · metres_per_unit        R_up turns the file's up into +Y, keeping handedness
//! ```

use glam::DVec3;

use crate::rotation::Axis;

/// A direction along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Up {
    /// The axis.
    pub axis: Axis,
    /// Whether up is its negative end.
    pub negative: bool,
}

impl Up {
    /// Y up, as most files have it.
    pub const Y: Up = Up { axis: Axis::Y, negative: false };
    /// Z up.
    pub const Z: Up = Up { axis: Axis::Z, negative: false };

    /// The vector of length one.
    pub fn unit(self) -> DVec3 {
        if self.negative { -self.axis.unit() } else { self.axis.unit() }
    }

    /// Turns a vector so that this direction becomes +Y; a proper rotation, exact to the bit.
    fn turn_to_y(self, v: DVec3) -> DVec3 {
        match (self.axis, self.negative) {
            (Axis::Y, false) => v,
            (Axis::Y, true) => DVec3::new(-v.x, -v.y, v.z),
            (Axis::Z, false) => DVec3::new(v.x, v.z, -v.y),
            (Axis::Z, true) => DVec3::new(v.x, -v.z, v.y),
            (Axis::X, false) => DVec3::new(-v.y, v.x, v.z),
            (Axis::X, true) => DVec3::new(v.y, -v.x, v.z),
        }
    }

    /// The inverse of [`Self::turn_to_y`].
    fn turn_back(self, v: DVec3) -> DVec3 {
        match (self.axis, self.negative) {
            (Axis::Y, false) => v,
            (Axis::Y, true) => DVec3::new(-v.x, -v.y, v.z),
            (Axis::Z, false) => DVec3::new(v.x, -v.z, v.y),
            (Axis::Z, true) => DVec3::new(v.x, v.z, -v.y),
            (Axis::X, false) => DVec3::new(v.y, -v.x, v.z),
            (Axis::X, true) => DVec3::new(-v.y, v.x, v.z),
        }
    }
}

impl std::fmt::Display for Up {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}{:?}", if self.negative { '-' } else { '+' }, self.axis)
    }
}

/// How file coordinates become metres, Y up, right-handed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// Metres in one unit of the file.
    pub metres_per_unit: f64,
    /// What is up in the file.
    pub up: Up,
    /// Whether X changes its sign, because the file is left-handed.
    pub mirrored: bool,
}

impl Placement {
    /// From the file to the world.
    pub fn to_world(&self, file: DVec3) -> DVec3 {
        let turned = self.up.turn_to_y(file) * self.metres_per_unit;
        if self.mirrored { DVec3::new(-turned.x, turned.y, turned.z) } else { turned }
    }

    /// From the world to the file.
    pub fn to_file(&self, world: DVec3) -> DVec3 {
        let turned = if self.mirrored { DVec3::new(-world.x, world.y, world.z) } else { world };
        self.up.turn_back(turned) / self.metres_per_unit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_up_becomes_y_by_a_rotation_and_comes_back() {
        for axis in Axis::ALL {
            for negative in [false, true] {
                let up = Up { axis, negative };
                assert_eq!(up.turn_to_y(up.unit()), DVec3::Y);
                let turned = Axis::ALL.map(|axis| up.turn_to_y(axis.unit()));
                assert_eq!(turned[0].cross(turned[1]), turned[2], "{up} keeps handedness");
                for mirrored in [false, true] {
                    let placement = Placement { metres_per_unit: 0.25, up, mirrored };
                    let v = DVec3::new(1.0, -2.0, 3.0);
                    assert_eq!(placement.to_file(placement.to_world(v)), v);
                }
            }
        }
    }
}
