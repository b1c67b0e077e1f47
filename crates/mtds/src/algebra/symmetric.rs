//! Small dense algebra on row-major `n x n` slices: Cholesky, triangular inverse, symmetric eigenvalues.
//!
//! ```text
//! A = L Lᵀ      W = L⁻¹      A⁻¹ = Wᵀ W      log |A| = 2 Σ log L_ii
//! ```
//!
//! Sizes are those of a code (a dozen at most): clarity before blocking.

/// Lower Cholesky factor; `None` unless `a` is finite and positive definite. Reads the lower triangle.
pub(crate) fn cholesky(a: &[f64], n: usize) -> Option<Vec<f64>> {
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum();
            let rest = a[i * n + j] - dot;
            if i == j {
                if !(rest.is_finite() && rest > 0.0) {
                    return None;
                }
                l[i * n + i] = rest.sqrt();
            } else {
                l[i * n + j] = rest / l[j * n + j];
            }
        }
    }
    l.iter().all(|x| x.is_finite()).then_some(l)
}

/// Solves `L Lᵀ x = b`.
pub(crate) fn solve_factored(l: &[f64], mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for i in 0..n {
        b[i] = (b[i] - dot(&l[i * n..i * n + i], &b[..i])) / l[i * n + i];
    }
    for i in (0..n).rev() {
        let below: f64 = (i + 1..n).map(|k| l[k * n + i] * b[k]).sum();
        b[i] = (b[i] - below) / l[i * n + i];
    }
    b
}

/// Inverse of a lower triangular matrix with a non-zero diagonal.
pub(crate) fn invert_lower(l: &[f64], n: usize) -> Vec<f64> {
    let mut w = vec![0.0; n * n];
    for j in 0..n {
        w[j * n + j] = 1.0 / l[j * n + j];
        for i in j + 1..n {
            let dot: f64 = (j..i).map(|k| l[i * n + k] * w[k * n + j]).sum();
            w[i * n + j] = -dot / l[i * n + i];
        }
    }
    w
}

/// `Σ log L_ii`, half the log determinant of `L Lᵀ`.
pub(crate) fn log_diagonal_sum(l: &[f64], n: usize) -> f64 {
    (0..n).map(|i| l[i * n + i].ln()).sum()
}

/// `Wᵀ W`, the inverse of `L Lᵀ` where `W = L⁻¹`.
pub(crate) fn gram_of_lower(w: &[f64], n: usize) -> Vec<f64> {
    let mut a = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            a[i * n + j] = (i.max(j)..n).map(|k| w[k * n + i] * w[k * n + j]).sum();
        }
    }
    a
}

/// Inverse of a symmetric positive definite matrix; `None` if it is not one.
pub(crate) fn invert_spd(a: &[f64], n: usize) -> Option<Vec<f64>> {
    cholesky(a, n).map(|l| gram_of_lower(&invert_lower(&l, n), n))
}

/// Replaces `a` by `(a + aᵀ) / 2`.
pub(crate) fn symmetrise(a: &mut [f64], n: usize) {
    for i in 0..n {
        for j in 0..i {
            let mean = 0.5 * (a[i * n + j] + a[j * n + i]);
            a[i * n + j] = mean;
            a[j * n + i] = mean;
        }
    }
}

/// `A v`.
pub(crate) fn times_vector(a: &[f64], v: &[f64]) -> Vec<f64> {
    a.chunks_exact(v.len()).map(|row| dot(row, v)).collect()
}

/// `a · b`.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Eigenvalues and eigenvectors (columns) of a symmetric matrix, by cyclic Jacobi rotations.
pub(crate) fn symmetric_eigen(a: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut a = a.to_vec();
    let mut v = vec![0.0; n * n];
    (0..n).for_each(|i| v[i * n + i] = 1.0);
    let size = a.iter().map(|x| x * x).sum::<f64>();
    for _sweep in 0..50 {
        let off: f64 =
            (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i * n + j].powi(2)).sum();
        if off <= 1e-30 * size {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut a, &mut v, n, (p, q));
            }
        }
    }
    ((0..n).map(|i| a[i * n + i]).collect(), v)
}

/// One Jacobi rotation that makes `a[p, q]` zero.
fn rotate(a: &mut [f64], v: &mut [f64], n: usize, (p, q): (usize, usize)) {
    if a[p * n + q] == 0.0 {
        return;
    }
    let theta = 0.5 * (a[q * n + q] - a[p * n + p]) / a[p * n + q];
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for k in 0..n {
        let (x, y) = (a[k * n + p], a[k * n + q]);
        (a[k * n + p], a[k * n + q]) = (c * x - s * y, s * x + c * y);
        let (x, y) = (v[k * n + p], v[k * n + q]);
        (v[k * n + p], v[k * n + q]) = (c * x - s * y, s * x + c * y);
    }
    for k in 0..n {
        let (x, y) = (a[p * n + k], a[q * n + k]);
        (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
    }
}

/// The symmetric matrix with every eigenvalue raised to at least `floor`.
pub(crate) fn raise_eigenvalues(a: &[f64], n: usize, floor: f64) -> Vec<f64> {
    let (values, v) = symmetric_eigen(a, n);
    let mut out = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            out[i * n + j] = (0..n).map(|k| v[i * n + k] * values[k].max(floor) * v[j * n + k]).sum();
        }
    }
    symmetrise(&mut out, n);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `B Bᵀ + 0.1 I` from arbitrary `B`.
    fn spd(n: usize, b: &[f64]) -> Vec<f64> {
        let mut a = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                a[i * n + j] = (0..n).map(|k| b[i * n + k] * b[j * n + k]).sum::<f64>();
            }
            a[i * n + i] += 0.1;
        }
        a
    }

    fn product(a: &[f64], b: &[f64], n: usize) -> Vec<f64> {
        (0..n * n).map(|ij| (0..n).map(|k| a[ij / n * n + k] * b[k * n + ij % n]).sum()).collect()
    }

    proptest! {
        #[test]
        fn inverse_and_eigenvalues_agree_with_the_matrix(n in 1_usize..7, b in prop::collection::vec(-2.0..2.0, 36)) {
            let a = spd(n, &b);
            let l = cholesky(&a, n).unwrap();
            let unit = product(&a, &invert_spd(&a, n).unwrap(), n);
            for ij in 0..n * n {
                let expected = if ij / n == ij % n { 1.0 } else { 0.0 };
                prop_assert!((unit[ij] - expected).abs() < 1e-9);
            }
            let (values, v) = symmetric_eigen(&a, n);
            let log_det: f64 = values.iter().map(|x| x.ln()).sum();
            prop_assert!((log_det - 2.0 * log_diagonal_sum(&l, n)).abs() < 1e-9);
            for k in 0..n {
                let column: Vec<f64> = (0..n).map(|i| v[i * n + k]).collect();
                for (x, y) in times_vector(&a, &column).iter().zip(&column) {
                    prop_assert!((x - values[k] * y).abs() < 1e-10 * (1.0 + values[k]));
                }
            }
        }
    }

    #[test]
    fn what_is_not_positive_definite_has_no_factor() {
        assert!(cholesky(&[1.0, 2.0, 2.0, 1.0], 2).is_none());
        assert!(cholesky(&[f64::NAN], 1).is_none());
        assert!(cholesky(&[0.0], 1).is_none());
        let raised = raise_eigenvalues(&[1.0, 2.0, 2.0, 1.0], 2, 0.5);
        let (mut values, _) = symmetric_eigen(&raised, 2);
        values.sort_by(f64::total_cmp);
        assert!((values[0] - 0.5).abs() < 1e-12 && (values[1] - 3.0).abs() < 1e-12);
    }
}
