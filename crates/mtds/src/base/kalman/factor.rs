//! Covariances from raw values: lower triangular factors, and back.
//!
//! ```text
//! covariance = L Lᵀ      L_ii = e^(raw_i), then, for a full one, the strict lower triangle by rows
//! L̄ = 2 V L on the entries that L has, V the symmetric gradient with respect to the covariance
//! ```

use crate::base::NoiseForm;
use crate::kernel::Scalar;

/// L, size × size, from raw values.
#[inline(always)]
pub(super) fn from_raw<S: Scalar>(form: NoiseForm, raw: &[S], size: usize) -> Vec<S> {
    let mut factor = vec![S::zero(); size * size];
    let mut strict = size;
    for i in 0..size {
        factor[i * size + i] = raw[i].exp();
        if form == NoiseForm::Full {
            for j in 0..i {
                factor[i * size + j] = raw[strict];
                strict += 1;
            }
        }
    }
    factor
}

/// Adds the gradient with respect to the raw values, given that with respect to the covariance.
#[inline(always)]
pub(super) fn add_to_raw<S: Scalar>(form: NoiseForm, factor: &[S], d_covariance: &[S], d_raw: &mut [S]) {
    let size = factor.len().isqrt();
    let mut strict = size;
    for i in 0..size {
        d_raw[i] += row_times_column(factor, d_covariance, (i, i)) * factor[i * size + i];
        if form == NoiseForm::Full {
            for j in 0..i {
                d_raw[strict] += row_times_column(factor, d_covariance, (i, j));
                strict += 1;
            }
        }
    }
}

/// (2 V L)_ij.
#[inline(always)]
fn row_times_column<S: Scalar>(factor: &[S], d_covariance: &[S], (i, j): (usize, usize)) -> S {
    let size = factor.len().isqrt();
    let mut dot = S::zero();
    for k in j..size {
        dot = d_covariance[i * size + k].mul_add(factor[k * size + j], dot);
    }
    dot + dot
}

/// F Fᵀ.
#[cfg(test)]
pub(super) fn square<S: Scalar>(factor: &[S], n_rows: usize) -> Vec<S> {
    let n_columns = factor.len() / n_rows;
    let mut product = vec![S::zero(); n_rows * n_rows];
    for i in 0..n_rows {
        for j in 0..=i {
            let mut dot = S::zero();
            for k in 0..n_columns {
                dot = factor[i * n_columns + k].mul_add(factor[j * n_columns + k], dot);
            }
            product[i * n_rows + j] = dot;
            product[j * n_rows + i] = dot;
        }
    }
    product
}
