//! Euler angles in any of the twelve orders, to and from quaternions.
//!
//! ```text
//! R = R_i(a) R_j(b) R_k(c)          intrinsic: the order in which BVH channels stand
//!
//! e = +1 where i → j → third is X → Y → Z → X, else −1;  R_mn: row m, column n
//! three axes (k is the third):   a = atan2(−e R_jk, R_kk)    b = atan2(e R_ik, hypot(R_ii, R_ij))
//! k = i, third axis t:           a = atan2(R_ji, −e R_ti)    b = atan2(hypot(R_ij, R_it), R_ii)
//! then M = R_i(−a) R = R_j(b) R_k(c), and c comes from the row M_j, which b leaves alone
//! ```
//!
//! Taking c from M makes the product right to rounding everywhere, gimbal lock included, where a is chosen freely.

use glam::{DMat3, DQuat, DVec3};

/// A coordinate axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[allow(missing_docs)] // the names say it all
pub enum Axis {
    X,
    Y,
    Z,
}

impl Axis {
    /// All three, in their order.
    pub const ALL: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

    /// The vector of length one along it.
    pub const fn unit(self) -> DVec3 {
        match self {
            Axis::X => DVec3::X,
            Axis::Y => DVec3::Y,
            Axis::Z => DVec3::Z,
        }
    }

    /// Its place in a vector.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Rotation about it by an angle in radians.
    pub fn rotation(self, angle_rad: f64) -> DQuat {
        let (sin, cos) = (0.5 * angle_rad).sin_cos();
        match self {
            Axis::X => DQuat::from_xyzw(sin, 0.0, 0.0, cos),
            Axis::Y => DQuat::from_xyzw(0.0, sin, 0.0, cos),
            Axis::Z => DQuat::from_xyzw(0.0, 0.0, sin, cos),
        }
    }

    /// The axis that is neither of two different ones.
    fn third(self, other: Axis) -> Axis {
        Axis::ALL[3 - self.index() - other.index()]
    }
}

/// Which axes three Euler angles turn about, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EulerOrder([Axis; 3]);

impl EulerOrder {
    /// The order; none where neighbours are the same axis, for then two angles are one.
    pub fn new(axes: [Axis; 3]) -> Option<Self> {
        (axes[0] != axes[1] && axes[1] != axes[2]).then_some(Self(axes))
    }

    /// All twelve orders.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..27).filter_map(|code| Self::new([code / 9, code / 3 % 3, code % 3].map(|place| Axis::ALL[place])))
    }

    /// The axes.
    pub fn axes(self) -> [Axis; 3] {
        self.0
    }

    /// The rotation with these angles, in radians.
    pub fn quaternion(self, angles_rad: [f64; 3]) -> DQuat {
        let [first, second, third] = self.0;
        first.rotation(angles_rad[0]) * second.rotation(angles_rad[1]) * third.rotation(angles_rad[2])
    }

    /// Angles of a rotation, in radians: the outer two in (−π, π], the middle one in [−π/2, π/2] for three axes and
    /// in [0, π] for two.
    pub fn angles(self, rotation: DQuat) -> [f64; 3] {
        let matrix = DMat3::from_quat(rotation.normalize());
        let r = |row: Axis, column: Axis| matrix.col(column.index())[row.index()];
        let [i, j, k] = self.0;
        let t = i.third(j);
        let e = if (j.index() + 3 - i.index()) % 3 == 1 { 1.0 } else { -1.0 };
        let (a, b) = if k == t {
            ((-e * r(j, k)).atan2(r(k, k)), (e * r(i, k)).atan2(r(i, i).hypot(r(i, j))))
        } else {
            (r(j, i).atan2(-e * r(t, i)), r(i, j).hypot(r(i, t)).atan2(r(i, i)))
        };
        let (sin, cos) = a.sin_cos();
        let m_j = |column: Axis| cos * r(j, column) + e * sin * r(t, column);
        let c = if k == t { (e * m_j(i)).atan2(m_j(j)) } else { (-e * m_j(t)).atan2(m_j(j)) };
        [a, b, c]
    }

    /// The angles of a rotation that lie nearest to `previous`: of the two sets that mean the same rotation, and of
    /// all whole turns. Keeps curves of angles free of jumps.
    pub fn angles_near(self, rotation: DQuat, previous: [f64; 3]) -> [f64; 3] {
        use std::f64::consts::PI;
        let [a, b, c] = self.angles(rotation);
        let flipped = if self.0[0] == self.0[2] { [a + PI, -b, c + PI] } else { [a + PI, PI - b, c + PI] };
        let near = |angles: [f64; 3]| std::array::from_fn(|n| nearest_turn(angles[n], previous[n]));
        let far = |angles: &[f64; 3]| angles.iter().zip(previous).map(|(x, y)| (x - y).abs()).sum::<f64>();
        let (plain, flipped): ([f64; 3], [f64; 3]) = (near([a, b, c]), near(flipped));
        if far(&flipped) < far(&plain) { flipped } else { plain }
    }
}

/// The angle that differs from `angle_rad` by whole turns and lies nearest to `previous_rad`.
pub fn nearest_turn(angle_rad: f64, previous_rad: f64) -> f64 {
    use std::f64::consts::TAU;
    angle_rad + TAU * ((previous_rad - angle_rad) / TAU).round()
}
