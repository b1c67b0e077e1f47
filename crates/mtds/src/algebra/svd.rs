//! Singular values and vectors by one-sided Jacobi rotations.
//!
//! ```text
//! H = U diag(σ) Vᵀ        U: rows × r,   V: cols × r,   r = min(rows, cols),   σ₁ ≥ σ₂ ≥ … ≥ 0
//! ```
//! Rotations of pairs of columns make all columns of H V orthogonal; their lengths are σ. Small singular
//! values come out with the same relative accuracy as large ones, which a decomposition of HᵀH would lose.
//!
//! Hestenes (1958), *Inversion of matrices by biorthogonalization and related results*; Demmel & Veselić
//! (1992), *Jacobi's method is more accurate than QR*.

use super::matrix::Matrix;

/// Passes over all pairs; a dozen are enough in practice.
const MAX_SWEEPS: usize = 60;
/// Columns whose cosine is below this count as orthogonal.
const COSINE: f64 = 1e-15;
/// Singular values below this share of the largest are rounding, and set to 0.
const NEGLIGIBLE: f64 = 1e-14;

/// A thin singular value decomposition; both sets of vectors are orthonormal, also where σ = 0.
#[derive(Clone, Debug)]
pub(crate) struct Svd {
    /// U, one column per singular value.
    pub(crate) left: Matrix,
    /// σ, largest first.
    pub(crate) values: Vec<f64>,
    /// V, one column per singular value.
    pub(crate) right: Matrix,
}

impl Svd {
    /// Decomposes a matrix of finite numbers.
    pub(crate) fn of(matrix: &Matrix) -> Self {
        if matrix.rows < matrix.cols {
            let Self { left, values, right } = Self::of_tall(&matrix.transposed());
            return Self { left: right, values, right: left };
        }
        Self::of_tall(matrix)
    }

    fn of_tall(matrix: &Matrix) -> Self {
        // Columns lie in the rows of these, so that a rotation walks along memory.
        let (mut columns, mut rotation) = (matrix.transposed(), Matrix::identity(matrix.cols));
        let negligible = (NEGLIGIBLE * matrix.frobenius()).powi(2);
        for _ in 0..MAX_SWEEPS {
            let mut rotated = false;
            for i in 0..columns.rows {
                for j in i + 1..columns.rows {
                    rotated |= orthogonalise(&mut columns, &mut rotation, (i, j), negligible);
                }
            }
            if !rotated {
                break;
            }
        }
        sorted(&columns, &rotation)
    }
}

/// Rotates rows `i` and `j` of both, so that those of `columns` become orthogonal; false if they were.
fn orthogonalise(
    columns: &mut Matrix,
    rotation: &mut Matrix,
    (i, j): (usize, usize),
    negligible: f64,
) -> bool {
    let (a, b) = (columns.row(i), columns.row(j));
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let (aa, bb, ab) = (dot(a, a), dot(b, b), dot(a, b));
    if ab.abs() <= COSINE * (aa * bb).sqrt() || ab.abs() <= negligible * f64::EPSILON {
        return false;
    }
    let zeta = (bb - aa) / (2.0 * ab);
    let tangent = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
    for matrix in [columns, rotation] {
        let width = matrix.cols;
        let (upper, lower) = matrix.values.split_at_mut(j * width);
        for (x, y) in upper[i * width..(i + 1) * width].iter_mut().zip(&mut lower[..width]) {
            (*x, *y) = (cosine * (*x - tangent * *y), cosine * (tangent * *x + *y));
        }
    }
    true
}

/// The decomposition from orthogonal columns (in rows) and the rotation that made them.
fn sorted(columns: &Matrix, rotation: &Matrix) -> Svd {
    let n = columns.rows;
    let length = |i: usize| columns.row(i).iter().map(|x| x * x).sum::<f64>().sqrt();
    let mut order: Vec<(usize, f64)> = (0..n).map(|i| (i, length(i))).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    let floor = NEGLIGIBLE * order.first().map_or(0.0, |first| first.1);
    let values: Vec<f64> = order.iter().map(|&(_, s)| if s > floor { s } else { 0.0 }).collect();
    let mut left: Vec<Vec<f64>> = vec![];
    for (&(i, length), &value) in order.iter().zip(&values) {
        let direction = match value > 0.0 {
            true => columns.row(i).iter().map(|x| x / length).collect(),
            false => another_direction(&left, columns.cols),
        };
        left.push(direction);
    }
    Svd {
        left: Matrix::from_fn(columns.cols, n, |r, k| left[k][r]),
        right: Matrix::from_fn(n, n, |r, k| rotation[(order[k].0, r)]),
        values,
    }
}

/// A unit vector orthogonal to fewer than `dim` orthonormal ones.
fn another_direction(known: &[Vec<f64>], dim: usize) -> Vec<f64> {
    // The axis that the known ones cover least has a part outside them of at least 1/√dim.
    let covered = |axis: usize| known.iter().map(|v| v[axis] * v[axis]).sum::<f64>();
    let axis = (0..dim).min_by(|&a, &b| covered(a).total_cmp(&covered(b))).unwrap_or(0);
    let mut direction = vec![0.0; dim];
    direction[axis] = 1.0;
    for _ in 0..2 {
        for v in known {
            let along: f64 = v.iter().zip(&direction).map(|(a, b)| a * b).sum();
            direction.iter_mut().zip(v).for_each(|(d, v)| *d -= along * v);
        }
        let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
        direction.iter_mut().for_each(|x| *x /= length);
    }
    direction
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn close(a: &Matrix, b: &Matrix, tolerance: f64) -> bool {
        a.values.iter().zip(&b.values).all(|(a, b)| (a - b).abs() <= tolerance)
    }

    fn check(matrix: &Matrix) {
        let Svd { left, values, right } = Svd::of(matrix);
        let r = matrix.rows.min(matrix.cols);
        let tolerance = 1e-13 * (1.0 + matrix.frobenius()) * (r as f64);
        assert!(values.windows(2).all(|pair| pair[0] >= pair[1]) && values.iter().all(|s| *s >= 0.0));
        assert!(close(&left.transposed().times(&left), &Matrix::identity(r), 1e-12));
        assert!(close(&right.transposed().times(&right), &Matrix::identity(r), 1e-12));
        let scaled = Matrix::from_fn(left.rows, r, |i, k| left[(i, k)] * values[k]);
        assert!(close(&scaled.times(&right.transposed()), matrix, tolerance));
    }

    proptest! {
        #[test]
        fn decomposes_matrices_of_any_shape_and_rank(
            (rows, cols, rank) in (1..9usize, 1..9usize, 0..9usize),
            seed in prop::collection::vec(-1.0..1.0f64, 160),
        ) {
            let left = Matrix::from_fn(rows, rank, |i, j| seed[i * 9 + j]);
            let right = Matrix::from_fn(rank, cols, |i, j| seed[80 + i * 8 + j]);
            check(&left.times(&right));
        }
    }

    #[test]
    fn small_singular_values_keep_their_digits() {
        let graded = Matrix::from_fn(4, 4, |i, j| 10f64.powi(-3 * j as i32) / (1 + i + j) as f64);
        check(&graded);
        // For diagonal matrices the values are known.
        let diagonal = Matrix::from_fn(3, 3, |i, j| if i == j { 10f64.powi(-5 * i as i32) } else { 0.0 });
        let values = Svd::of(&diagonal).values;
        assert!(values.iter().zip([1.0, 1e-5, 1e-10]).all(|(found, s)| (found / s - 1.0).abs() < 1e-14));
    }
}
