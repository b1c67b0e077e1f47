//! Products of a matrix that each particle has for itself, and slices of θ by length.
//!
//! ```text
//! multiply_add      y_i  += Σ_j M_ij x_j
//! pull_back_add     x̄_j  += Σ_i M_ij ȳ_i
//! outer_add         M̄_ij += ȳ_i x_j
//! ```
//! Four sums run side by side, so that none waits for the last addition of another.

use crate::kernel::Scalar;

const TILE: usize = 4;

/// `out += matrix · x`.
///
/// # Shapes
/// `matrix`: `out.len() × x.len()`, row-major.
#[inline(always)]
pub fn multiply_add<S: Scalar>(matrix: &[S], x: &[S], out: &mut [S]) {
    let mut row = 0;
    while row + TILE <= out.len() {
        multiply_tile::<S, TILE>(row, matrix, x, out);
        row += TILE;
    }
    while row < out.len() {
        multiply_tile::<S, 1>(row, matrix, x, out);
        row += 1;
    }
}

#[inline(always)]
fn multiply_tile<S: Scalar, const N: usize>(row: usize, matrix: &[S], x: &[S], out: &mut [S]) {
    let width = x.len();
    let tile = &matrix[row * width..(row + N) * width];
    let mut sum = [S::zero(); N];
    sum.copy_from_slice(&out[row..row + N]);
    for j in 0..width {
        for k in 0..N {
            sum[k] = tile[k * width + j].mul_add(x[j], sum[k]);
        }
    }
    out[row..row + N].copy_from_slice(&sum);
}

/// `d_x += matrixᵀ · d_out`.
#[inline(always)]
pub fn pull_back_add<S: Scalar>(matrix: &[S], d_out: &[S], d_x: &mut [S]) {
    let mut column = 0;
    while column + TILE <= d_x.len() {
        pull_back_tile::<S, TILE>(column, matrix, d_out, d_x);
        column += TILE;
    }
    while column < d_x.len() {
        pull_back_tile::<S, 1>(column, matrix, d_out, d_x);
        column += 1;
    }
}

#[inline(always)]
fn pull_back_tile<S: Scalar, const N: usize>(column: usize, matrix: &[S], d_out: &[S], d_x: &mut [S]) {
    let width = d_x.len();
    let mut sum = [S::zero(); N];
    sum.copy_from_slice(&d_x[column..column + N]);
    for i in 0..d_out.len() {
        let row = &matrix[i * width + column..i * width + column + N];
        for k in 0..N {
            sum[k] = row[k].mul_add(d_out[i], sum[k]);
        }
    }
    d_x[column..column + N].copy_from_slice(&sum);
}

/// `d_matrix += d_out · xᵀ`.
#[inline(always)]
pub fn outer_add<S: Scalar>(d_out: &[S], x: &[S], d_matrix: &mut [S]) {
    let width = x.len();
    for i in 0..d_out.len() {
        let row = &mut d_matrix[i * width..(i + 1) * width];
        for j in 0..width {
            row[j] = d_out[i].mul_add(x[j], row[j]);
        }
    }
}

/// `total += x`.
#[inline(always)]
pub fn add<S: Scalar>(x: &[S], total: &mut [S]) {
    for i in 0..x.len() {
        total[i] += x[i];
    }
}

/// 1 − t², the slope of tanh where its value is t.
#[inline(always)]
pub fn tanh_slope<S: Scalar>(t: S) -> S {
    (-t).mul_add(t, S::one())
}

/// g (1 − g), the slope of the sigmoid where its value is g.
#[inline(always)]
pub fn sigmoid_slope<S: Scalar>(g: S) -> S {
    (-g).mul_add(g, g)
}

/// Consecutive parts of these lengths; what is left over is ignored.
#[inline(always)]
pub fn split<S, const K: usize>(mut values: &[S], lens: [usize; K]) -> [&[S]; K] {
    lens.map(|len| {
        let (head, tail) = values.split_at(len);
        values = tail;
        head
    })
}

/// [`split`] of values that can be written.
#[inline(always)]
pub fn split_mut<S, const K: usize>(mut values: &mut [S], lens: [usize; K]) -> [&mut [S]; K] {
    lens.map(|len| {
        let (head, tail) = std::mem::take(&mut values).split_at_mut(len);
        values = tail;
        head
    })
}
