//! Matrices cut into panels of sixteen columns: the one layout that every product of the layers reads and writes.
//!
//! ```text
//! panel p of an m × n matrix X      rows 0 … m−1, of each the columns 16 p … 16 p + 15
//! ```
//! Beyond the last column the panel holds zeros. A panel is contiguous, so that tasks own panels and no two
//! tasks write to one, without unsafe code; sixteen neighbours are one pack. Activations of a layer have one
//! row per step and sequence, step by step (row `t · n_seq + i`); packed weights have one row per input.

use super::LANES;
use super::scalar::Real;
use crate::error::{Error, Result};

/// Sixteen neighbouring numbers of a row, aligned so that no load crosses a cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub struct Sixteen<R>(pub [R; LANES]);

/// A matrix in panels of sixteen columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panels<R> {
    values: Vec<Sixteen<R>>,
    n_rows: usize,
    n_columns: usize,
}

/// Some consecutive rows of a matrix in panels.
#[derive(Clone, Copy, Debug)]
pub struct PanelsRef<'a, R> {
    values: &'a [Sixteen<R>],
    /// Rows of the whole matrix: from one panel to the next.
    stride: usize,
    first: usize,
    n_rows: usize,
    n_columns: usize,
}

impl<R: Real> Panels<R> {
    /// Zeros.
    #[must_use]
    pub fn zeros(n_rows: usize, n_columns: usize) -> Self {
        let mut panels = Self { values: Vec::new(), n_rows: 0, n_columns: 0 };
        panels.reset(n_rows, n_columns);
        panels
    }

    /// Becomes zeros of another size; memory that is there is used again.
    pub fn reset(&mut self, n_rows: usize, n_columns: usize) {
        self.values.clear();
        self.values.resize(n_rows * n_columns.div_ceil(LANES), Sixteen([R::default(); LANES]));
        (self.n_rows, self.n_columns) = (n_rows, n_columns);
    }

    /// Becomes another size; what it then holds is left open, and the caller overwrites all of it.
    pub(crate) fn resize(&mut self, n_rows: usize, n_columns: usize) {
        self.values.resize(n_rows * n_columns.div_ceil(LANES), Sixteen([R::default(); LANES]));
        (self.n_rows, self.n_columns) = (n_rows, n_columns);
    }

    /// One number per row and column.
    #[must_use]
    pub fn from_fn(n_rows: usize, n_columns: usize, mut value: impl FnMut(usize, usize) -> R) -> Self {
        let mut panels = Self::zeros(n_rows, n_columns);
        for row in 0..n_rows {
            for column in 0..n_columns {
                panels.set(row, column, value(row, column));
            }
        }
        panels
    }

    /// From a row-major matrix.
    ///
    /// # Errors
    /// If `values` has not `n_rows · n_columns` numbers.
    pub fn from_rows(values: &[R], n_rows: usize, n_columns: usize) -> Result<Self> {
        if values.len() != n_rows * n_columns {
            let expected = format!("{n_rows} rows of {n_columns}");
            return Err(Error::shape("row-major matrix", expected, format!("{} numbers", values.len())));
        }
        let mut panels = Self::zeros(n_rows, n_columns);
        if n_columns > 0 {
            for (i, row) in values.chunks_exact(n_columns).enumerate() {
                for (p, part) in row.chunks(LANES).enumerate() {
                    panels.values[p * n_rows + i].0[..part.len()].copy_from_slice(part);
                }
            }
        }
        Ok(panels)
    }

    /// As a row-major matrix.
    #[must_use]
    pub fn to_rows(&self) -> Vec<R> {
        self.view().to_rows()
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of columns.
    #[must_use]
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Overwrites one number.
    pub fn set(&mut self, row: usize, column: usize, value: R) {
        self.values[column / LANES * self.n_rows + row].0[column % LANES] = value;
    }

    /// All of it.
    #[must_use]
    pub fn view(&self) -> PanelsRef<'_, R> {
        self.rows(0, self.n_rows)
    }

    /// `n_rows` rows from `first` on.
    #[must_use]
    pub fn rows(&self, first: usize, n_rows: usize) -> PanelsRef<'_, R> {
        assert!(first + n_rows <= self.n_rows, "rows {first}..{} of {}", first + n_rows, self.n_rows);
        PanelsRef { values: &self.values, stride: self.n_rows, first, n_rows, n_columns: self.n_columns }
    }

    /// Panel after panel; the numbers beyond the last column must stay zero.
    #[must_use]
    pub fn values(&self) -> &[Sixteen<R>] {
        &self.values
    }

    /// Panel after panel, to be written; the numbers beyond the last column must stay zero.
    pub fn values_mut(&mut self) -> &mut [Sixteen<R>] {
        &mut self.values
    }
}

impl<'a, R: Real> PanelsRef<'a, R> {
    /// A matrix over given panels, `n_rows` rows each.
    pub(crate) fn new(values: &'a [Sixteen<R>], n_rows: usize, n_columns: usize) -> Self {
        assert_eq!(values.len(), n_rows * n_columns.div_ceil(LANES));
        Self { values, stride: n_rows, first: 0, n_rows, n_columns }
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(self) -> usize {
        self.n_rows
    }

    /// Number of columns.
    #[must_use]
    pub fn n_columns(self) -> usize {
        self.n_columns
    }

    /// Number of panels.
    #[must_use]
    pub fn n_panels(self) -> usize {
        self.n_columns.div_ceil(LANES)
    }

    /// The rows of one panel.
    #[inline(always)]
    #[must_use]
    pub fn panel(self, p: usize) -> &'a [Sixteen<R>] {
        let start = p * self.stride + self.first;
        &self.values[start..start + self.n_rows]
    }

    /// One number.
    #[must_use]
    pub fn get(self, row: usize, column: usize) -> R {
        self.panel(column / LANES)[row].0[column % LANES]
    }

    /// `n_rows` of these rows from `first` on.
    #[inline(always)]
    #[must_use]
    pub fn rows(self, first: usize, n_rows: usize) -> Self {
        assert!(first + n_rows <= self.n_rows);
        Self { first: self.first + first, n_rows, ..self }
    }

    /// A copy.
    #[must_use]
    pub fn to_panels(self) -> Panels<R> {
        let values = (0..self.n_panels()).flat_map(|p| self.panel(p)).copied().collect();
        Panels { values, n_rows: self.n_rows, n_columns: self.n_columns }
    }

    /// As a row-major matrix.
    #[must_use]
    pub fn to_rows(self) -> Vec<R> {
        let mut rows = vec![R::default(); self.n_rows * self.n_columns];
        if self.n_columns > 0 {
            for (i, row) in rows.chunks_exact_mut(self.n_columns).enumerate() {
                for (p, part) in row.chunks_mut(LANES).enumerate() {
                    part.copy_from_slice(&self.panel(p)[i].0[..part.len()]);
                }
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn panels_hold_the_matrix_and_zeros(n_rows in 1usize..6, n_columns in 0usize..40) {
            let rows: Vec<f64> = (0..n_rows * n_columns).map(|i| 1.0 + i as f64).collect();
            let panels = Panels::from_rows(&rows, n_rows, n_columns).unwrap();
            prop_assert_eq!(&panels.to_rows(), &rows);
            prop_assert_eq!(&panels, &Panels::from_fn(n_rows, n_columns, |i, j| rows[i * n_columns + j]));
            let padding = n_rows * (n_columns.div_ceil(LANES) * LANES - n_columns);
            let zeros = panels.values().iter().flat_map(|s| s.0).filter(|&v| v == 0.0).count();
            prop_assert_eq!(zeros, padding);
            let last = panels.rows(n_rows - 1, 1).to_rows();
            prop_assert_eq!(&last[..], &rows[(n_rows - 1) * n_columns..]);
        }
    }

    #[test]
    fn a_matrix_of_the_wrong_size_is_refused() {
        let error = Panels::from_rows(&[0.0f32; 5], 2, 3).unwrap_err().to_string();
        assert!(error.contains("expected 2 rows of 3, found 5 numbers"), "{error}");
    }
}
