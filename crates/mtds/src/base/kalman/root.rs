//! Factors of covariances, stepped without ever forming the covariance: P = F Fᵀ.
//!
//! ```text
//! predict    [A F, L_R] Θ = [F', 0], Θ orthogonal                   F' F'ᵀ = A F Fᵀ Aᵀ + R
//! take in    φ = Fᵀ h,  f = 1 + φᵀ φ,  k = F φ / f,  F' = F − F φ φᵀ / (f + √f)
//! ```
//! Householder reflections from the right (Kaminski, Bryson & Schmidt 1971, "Discrete square root filtering"), and Potter's
//! update for one channel of unit noise. A product F Fᵀ cannot be indefinite, and F has half the range of P in digits.

use super::Matrices;
use crate::kernel::Scalar;

/// Added to each pivot so that a row of zeros has a reflection, too; no state is known to 18 digits.
const NEARLY_ZERO: f64 = 1e-18;

/// Makes the first columns of a matrix with `n_columns` lower triangular and its others zero, by reflections from the
/// right.
///
/// Row i is zero from column `first_width + i` on; the width of a full matrix is `n_columns`. The entries to the right of the
/// diagonal are left as they fall: they count as zero.
#[inline(always)]
pub(super) fn triangularise<S: Scalar>(matrix: &mut [S], n_columns: usize, first_width: usize) {
    let n_rows = matrix.len() / n_columns;
    for i in 0..n_rows {
        let end = n_columns.min(first_width + i);
        let (head, below) = matrix.split_at_mut((i + 1) * n_columns);
        let row = &mut head[i * n_columns..];
        let pivot = row[i] + S::constant(NEARLY_ZERO);
        let mut squares = pivot * pivot;
        for k in i + 1..end {
            squares = row[k].mul_add(row[k], squares);
        }
        let norm = squares.sqrt();
        let sign = pivot / pivot.abs().max(S::constant(1e-30));
        // v = (1, row / first): no entry beyond 1, so nothing overflows; the reflection is I − scale v vᵀ.
        let first = sign * (pivot.abs() + norm);
        let (scale, inverse) = ((pivot.abs() + norm) / norm, S::one() / first);
        row[i] = -sign * norm;
        for k in i + 1..end {
            row[k] = row[k] * inverse;
        }
        for other in below.chunks_exact_mut(n_columns) {
            reflect(&row[i + 1..end], scale, &mut other[i..end]);
        }
    }
}

/// row − scale (row · v) v, where v = (1, tail).
#[inline(always)]
fn reflect<S: Scalar>(tail: &[S], scale: S, row: &mut [S]) {
    let mut dot = row[0];
    for k in 0..tail.len() {
        dot = row[k + 1].mul_add(tail[k], dot);
    }
    let step = -(scale * dot);
    row[0] += step;
    for k in 0..tail.len() {
        row[k + 1] = step.mul_add(tail[k], row[k + 1]);
    }
}

/// The lower triangular L, `n_rows` × `n_rows` with no negative diagonal, for which L Lᵀ = M Mᵀ; M has at least as many
/// columns.
#[inline(always)]
pub(super) fn lower<S: Scalar>(matrix: &[S], n_rows: usize) -> Vec<S> {
    let n_columns = matrix.len() / n_rows.max(1);
    let mut turned = matrix.to_vec();
    triangularise(&mut turned, n_columns, n_columns);
    let mut factor = vec![S::zero(); n_rows * n_rows];
    for j in 0..n_rows {
        let pivot = turned[j * n_columns + j];
        let sign = pivot / pivot.abs().max(S::constant(1e-30));
        for i in j..n_rows {
            factor[i * n_rows + j] = sign * turned[i * n_columns + j];
        }
    }
    factor
}

/// Replaces the factor after one step's outputs by the one before the next step's; `work` has n × 2n.
#[inline(always)]
pub(super) fn predict<S: Scalar>(system: &Matrices<S>, factor: &mut [S], work: &mut [S]) {
    let n = system.d_state;
    for i in 0..n {
        let row = &mut work[i * 2 * n..(i + 1) * 2 * n];
        row[..n].fill(S::zero());
        for k in 0..n {
            let a = system.transition[i * n + k];
            for j in 0..n {
                row[j] = a.mul_add(factor[k * n + j], row[j]);
            }
        }
        row[n..].copy_from_slice(&system.process_factor[i * n..(i + 1) * n]);
    }
    triangularise(work, 2 * n, n + 1);
    for i in 0..n {
        for j in 0..n {
            factor[i * n + j] = if j <= i { work[i * 2 * n + j] } else { S::zero() };
        }
    }
}

/// Takes in one channel h: updates the factor, writes k (n), returns 1 / f and √f; `phi` has n.
#[inline(always)]
pub(super) fn take_in<S: Scalar>(h: &[S], factor: &mut [S], gain: &mut [S], phi: &mut [S]) -> (S, S) {
    let n = h.len();
    phi.fill(S::zero());
    for i in 0..n {
        for j in 0..n {
            phi[j] = factor[i * n + j].mul_add(h[i], phi[j]);
        }
    }
    let mut f = S::one();
    for j in 0..n {
        f = phi[j].mul_add(phi[j], f);
    }
    let root = f.sqrt();
    let (inverse, shrink) = (S::one() / f, S::one() / (f + root));
    times_columns(factor, phi, gain);
    for i in 0..n {
        let (row, step) = (&mut factor[i * n..(i + 1) * n], -(gain[i] * shrink));
        gain[i] = gain[i] * inverse;
        for j in 0..n {
            row[j] = step.mul_add(phi[j], row[j]);
        }
    }
    (inverse, root)
}

/// F Fᵀ v into `out`; `work` has n.
#[inline(always)]
pub(super) fn times<S: Scalar>(factor: &[S], v: &[S], work: &mut [S], out: &mut [S]) {
    let n = v.len();
    work.fill(S::zero());
    for i in 0..n {
        for j in 0..n {
            work[j] = factor[i * n + j].mul_add(v[i], work[j]);
        }
    }
    times_columns(factor, work, out);
}

/// M v by columns: the sums of all rows grow side by side, so that none waits for its last addition.
#[inline(always)]
fn times_columns<S: Scalar>(matrix: &[S], v: &[S], out: &mut [S]) {
    let n = v.len();
    out.fill(S::zero());
    for j in 0..n {
        for i in 0..n {
            out[i] = matrix[i * n + j].mul_add(v[j], out[i]);
        }
    }
}
