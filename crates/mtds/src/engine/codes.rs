//! Codes as an engine takes them: a plain matrix, a row per code. How an engine arranges them is its own.

use rayon::prelude::*;

/// M codes of length k, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Codes {
    d_code: usize,
    n: usize,
    values: Vec<f64>,
}

impl Codes {
    /// `n` codes, `at(i, d)` being dimension `d` of code `i`; it is called from several threads.
    #[must_use]
    pub fn from_fn(n: usize, d_code: usize, at: impl Fn(usize, usize) -> f64 + Sync) -> Self {
        let places = (0..n * d_code).into_par_iter().with_min_len(1024);
        Self { d_code, n, values: places.map(|i| at(i / d_code, i % d_code)).collect() }
    }

    /// These codes, each of length `d_code`.
    pub(crate) fn from_rows(d_code: usize, rows: impl ExactSizeIterator<Item = Vec<f64>>) -> Self {
        let n = rows.len();
        let values: Vec<f64> = rows.flatten().collect();
        assert_eq!(values.len(), n * d_code, "codes of one length");
        Self { d_code, n, values }
    }

    /// Number of codes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Length of a code.
    #[must_use]
    pub fn d_code(&self) -> usize {
        self.d_code
    }

    /// Dimension `d` of code `i`.
    #[must_use]
    pub fn get(&self, i: usize, d: usize) -> f64 {
        self.row(i)[d]
    }

    /// Code `i`, k values.
    #[must_use]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.d_code..(i + 1) * self.d_code]
    }

    /// All values in single precision, row by row.
    pub(super) fn single(&self) -> Vec<f32> {
        self.values.iter().map(|&z| z as f32).collect()
    }

    /// The codes at these places.
    #[must_use]
    pub fn select(&self, places: &[usize]) -> Self {
        let values = places.iter().flat_map(|&i| self.row(i)).copied().collect();
        Self { d_code: self.d_code, n: places.len(), values }
    }
}
