//! Small row-major matrices in f64, for algebra that runs once per fit and should read like its equations.

use std::ops::{Index, IndexMut};

use super::svd::Svd;

/// A matrix, `rows × cols`, row by row; either size may be 0.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Matrix {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) values: Vec<f64>,
}

impl Matrix {
    pub(crate) fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, values: vec![0.0; rows * cols] }
    }

    pub(crate) fn from_fn(rows: usize, cols: usize, mut at: impl FnMut(usize, usize) -> f64) -> Self {
        let values = (0..rows * cols).map(|k| at(k / cols, k % cols)).collect();
        Self { rows, cols, values }
    }

    pub(crate) fn identity(n: usize) -> Self {
        Self::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 })
    }

    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.cols..(i + 1) * self.cols]
    }

    pub(crate) fn transposed(&self) -> Self {
        Self::from_fn(self.cols, self.rows, |i, j| self[(j, i)])
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        debug_assert_eq!(self.cols, other.rows);
        let mut product = Self::zeros(self.rows, other.cols);
        for i in 0..self.rows {
            for k in 0..self.cols {
                let factor = self[(i, k)];
                let row = &mut product.values[i * other.cols..(i + 1) * other.cols];
                row.iter_mut().zip(other.row(k)).for_each(|(sum, x)| *sum += factor * x);
            }
        }
        product
    }

    pub(crate) fn scaled(&self, factor: f64) -> Self {
        Self::from_fn(self.rows, self.cols, |i, j| factor * self[(i, j)])
    }

    /// The first `rows` rows and `cols` columns.
    pub(crate) fn leading(&self, rows: usize, cols: usize) -> Self {
        Self::from_fn(rows, cols, |i, j| self[(i, j)])
    }

    pub(crate) fn largest(&self) -> f64 {
        self.values.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()))
    }

    pub(crate) fn frobenius(&self) -> f64 {
        self.values.iter().map(|x| x * x).sum::<f64>().sqrt()
    }

    /// The X of least norm among those that minimise ‖self X − right‖.
    ///
    /// Singular values below `tolerance` times the largest count as 0.
    pub(crate) fn least_squares(&self, right: &Self, tolerance: f64) -> Self {
        let svd = Svd::of(self);
        let floor = tolerance * svd.values.first().copied().unwrap_or(0.0);
        let mut along = svd.left.transposed().times(right);
        for (k, &value) in svd.values.iter().enumerate() {
            let factor = if value > floor { 1.0 / value } else { 0.0 };
            (0..along.cols).for_each(|j| along[(k, j)] *= factor);
        }
        svd.right.times(&along)
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.values[i * self.cols + j]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.values[i * self.cols + j]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_least_squares_by_hand() {
        let a = Matrix { rows: 3, cols: 2, values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0] };
        let x = Matrix { rows: 2, cols: 1, values: vec![-1.0, 2.0] };
        let y = a.times(&x);
        assert_eq!(y.values, [3.0, 5.0, 7.0]);
        let found = a.least_squares(&y, 1e-12);
        assert!((found[(0, 0)] + 1.0).abs() < 1e-12 && (found[(1, 0)] - 2.0).abs() < 1e-12);
    }

    #[test]
    fn least_squares_takes_the_shortest_of_many_solutions() {
        let a = Matrix { rows: 1, cols: 2, values: vec![3.0, 4.0] };
        let found = a.least_squares(&Matrix { rows: 1, cols: 1, values: vec![25.0] }, 1e-12);
        assert!((found[(0, 0)] - 3.0).abs() < 1e-12 && (found[(1, 0)] - 4.0).abs() < 1e-12);
        let nothing = Matrix::zeros(2, 3).least_squares(&Matrix::zeros(2, 1), 1e-12);
        assert_eq!(nothing.values, [0.0; 3]);
    }
}
