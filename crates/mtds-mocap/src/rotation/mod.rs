//! Rotations: Euler angles in any order, quaternions and matrices; between them, along them, and fitted to vectors.

mod euler;
mod fit;
mod quaternion;

pub use euler::{Axis, EulerOrder, nearest_turn};
pub use fit::{Pair, best_rotation};
pub use quaternion::{aim, angle_between, slerp, swing_twist, twist_angle};
