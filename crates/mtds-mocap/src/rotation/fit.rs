//! The rotation that turns one set of vectors best into another.
//!
//! ```text
//! max over R of Σ w uᵀ R v  =  max over unit q of qᵀ K q          K: 4 × 4, symmetric
//! ```
//!
//! Reference: Davenport's q-method, in Wahba's problem; K as in Horn (1987), Closed-form solution of absolute
//! orientation using unit quaternions. The eigenvector is found by Jacobi rotations.

use glam::{DQuat, DVec3};

/// A vector, where it should point after the rotation, and how much that matters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// v, before the rotation.
    pub from: DVec3,
    /// u, after it.
    pub to: DVec3,
    /// w ≥ 0; the lengths of both vectors weigh as well.
    pub weight: f64,
}

/// The best rotation for the pairs, staying near `prior` in whatever they leave open.
///
/// Open are turns about a line that all pairs share, and everything where there are no pairs.
pub fn best_rotation(pairs: &[Pair], prior: DQuat) -> DQuat {
    let mass: f64 = pairs.iter().map(|pair| pair.weight * pair.from.length() * pair.to.length()).sum();
    if !(mass.is_finite() && mass > 0.0) {
        return prior;
    }
    let mut k = [[0.0; 4]; 4];
    for pair in pairs {
        add(&mut k, pair.from, pair.to, pair.weight / mass);
    }
    for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
        add(&mut k, axis, prior * axis, PRIOR_WEIGHT);
    }
    let [w, x, y, z] = top_eigenvector(k);
    let rotation = DQuat::from_xyzw(x, y, z, w).normalize();
    // Of the two quaternions of a rotation, the one that continues the prior.
    if rotation.dot(prior) < 0.0 { -rotation } else { rotation }
}

/// Weight of the prior's axes relative to all pairs: far below any accuracy asked of positions, far above rounding.
const PRIOR_WEIGHT: f64 = 1e-7;

/// Adds one pair to K.
fn add(k: &mut [[f64; 4]; 4], v: DVec3, u: DVec3, weight: f64) {
    let s = |row: usize, column: usize| weight * v[row] * u[column];
    let n = [
        [s(0, 0) + s(1, 1) + s(2, 2), s(1, 2) - s(2, 1), s(2, 0) - s(0, 2), s(0, 1) - s(1, 0)],
        [0.0, s(0, 0) - s(1, 1) - s(2, 2), s(0, 1) + s(1, 0), s(2, 0) + s(0, 2)],
        [0.0, 0.0, s(1, 1) - s(0, 0) - s(2, 2), s(1, 2) + s(2, 1)],
        [0.0, 0.0, 0.0, s(2, 2) - s(0, 0) - s(1, 1)],
    ];
    for row in 0..4 {
        for column in 0..4 {
            k[row][column] += n[row.min(column)][row.max(column)];
        }
    }
}

/// Eigenvector of the largest eigenvalue of a symmetric matrix.
fn top_eigenvector(mut k: [[f64; 4]; 4]) -> [f64; 4] {
    let mut vectors = [[0.0; 4]; 4];
    for place in 0..4 {
        vectors[place][place] = 1.0;
    }
    // Convergence is quadratic: five sweeps are usual, twelve are never needed.
    for _ in 0..12 {
        let off: f64 = (0..4).flat_map(|p| (p + 1..4).map(move |q| (p, q))).map(|(p, q)| k[p][q].abs()).sum();
        if off < 1e-300 {
            break;
        }
        for p in 0..4 {
            for q in p + 1..4 {
                rotate(&mut k, &mut vectors, p, q);
            }
        }
    }
    let best = (0..4).max_by(|&a, &b| k[a][a].total_cmp(&k[b][b])).unwrap_or(0);
    std::array::from_fn(|row| vectors[row][best])
}

/// One Jacobi rotation, which makes K_pq zero.
fn rotate(k: &mut [[f64; 4]; 4], vectors: &mut [[f64; 4]; 4], p: usize, q: usize) {
    if k[p][q] == 0.0 {
        return;
    }
    let theta = (k[q][q] - k[p][p]) / (2.0 * k[p][q]);
    let tan = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let cos = 1.0 / tan.hypot(1.0);
    let sin = tan * cos;
    for row in 0..4 {
        let (x, y) = (k[row][p], k[row][q]);
        (k[row][p], k[row][q]) = (cos * x - sin * y, sin * x + cos * y);
    }
    for column in 0..4 {
        let (x, y) = (k[p][column], k[q][column]);
        (k[p][column], k[q][column]) = (cos * x - sin * y, sin * x + cos * y);
    }
    for row in vectors {
        let (x, y) = (row[p], row[q]);
        (row[p], row[q]) = (cos * x - sin * y, sin * x + cos * y);
    }
}
