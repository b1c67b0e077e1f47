//! Many points of one space, stored dimension by dimension so that loops over points are contiguous.

use serde::{Deserialize, Serialize};

use crate::engine::Codes;
use crate::{Error, Result};

/// `n` points of `R^dim`; coordinate `d` of point `i` is `values[d * n + i]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts")]
pub struct Points {
    dim: usize,
    n: usize,
    values: Vec<f64>,
}

/// Stored form, checked on the way in.
#[derive(Deserialize)]
struct Parts {
    dim: usize,
    n: usize,
    values: Vec<f64>,
}

impl TryFrom<Parts> for Points {
    type Error = Error;

    fn try_from(parts: Parts) -> Result<Self> {
        Self::from_values(parts.dim, parts.n, parts.values)
    }
}

impl Points {
    /// `n` points at the origin of `R^dim`.
    #[must_use]
    pub fn zeros(dim: usize, n: usize) -> Self {
        Self { dim, n, values: vec![0.0; dim * n] }
    }

    /// Points from values laid out dimension by dimension.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there are `dim * n` values.
    pub fn from_values(dim: usize, n: usize, values: Vec<f64>) -> Result<Self> {
        if dim.checked_mul(n) != Some(values.len()) {
            return Err(Error::shape("points", format!("{dim} x {n} values"), values.len()));
        }
        Ok(Self { dim, n, values })
    }

    /// Points from one vector each.
    ///
    /// # Errors
    /// [`Error::Shape`] when a point does not have `dim` coordinates.
    pub fn from_points(dim: usize, points: &[Vec<f64>]) -> Result<Self> {
        let mut all = Self::zeros(dim, points.len());
        for (i, point) in points.iter().enumerate() {
            if point.len() != dim {
                return Err(Error::shape(format!("point {i}"), format!("{dim} coordinates"), point.len()));
            }
            all.set_point(i, point);
        }
        Ok(all)
    }

    /// Dimension of the space.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there is no point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Coordinate `d` of every point: `n` values. Panics if `d` is not a dimension.
    #[must_use]
    pub fn column(&self, d: usize) -> &[f64] {
        assert!(d < self.dim, "dimension {d} of points in {} dimensions", self.dim);
        &self.values[d * self.n..(d + 1) * self.n]
    }

    /// Coordinate `d` of every point, to be written. Panics if `d` is not a dimension.
    pub fn column_mut(&mut self, d: usize) -> &mut [f64] {
        assert!(d < self.dim, "dimension {d} of points in {} dimensions", self.dim);
        &mut self.values[d * self.n..(d + 1) * self.n]
    }

    /// All values, dimension by dimension.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All values, dimension by dimension, to be written.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Point `i`: `dim` values. Panics if there is no such point.
    #[must_use]
    pub fn point(&self, i: usize) -> Vec<f64> {
        assert!(i < self.n, "point {i} of {}", self.n);
        (0..self.dim).map(|d| self.values[d * self.n + i]).collect()
    }

    /// All points as rows.
    pub(crate) fn to_codes(&self) -> Codes {
        self.first_dims(self.dim)
    }

    /// The first `d_code` coordinates of all points as rows.
    pub(crate) fn first_dims(&self, d_code: usize) -> Codes {
        Codes::from_fn(self.n, d_code, |i, d| self.values[d * self.n + i])
    }

    /// Replaces point `i`. Panics if there is no such point or `point` has another dimension.
    pub fn set_point(&mut self, i: usize, point: &[f64]) {
        assert!(i < self.n && point.len() == self.dim, "point {i} of {} in {} dimensions", self.n, self.dim);
        for (d, &value) in point.iter().enumerate() {
            self.values[d * self.n + i] = value;
        }
    }

    /// The points with these indices, in this order; an index may repeat. Panics on an unknown index.
    #[must_use]
    pub fn select(&self, indices: &[usize]) -> Self {
        let mut values = Vec::with_capacity(self.dim * indices.len());
        for d in 0..self.dim {
            let column = self.column(d);
            values.extend(indices.iter().map(|&i| column[i]));
        }
        Self { dim: self.dim, n: indices.len(), values }
    }

    /// The points at these places of `self` followed by `more`.
    pub(crate) fn chosen_of_both(&self, more: &Self, places: impl Iterator<Item = usize> + Clone) -> Self {
        let n = self.len();
        let mut values = Vec::new();
        for d in 0..self.dim {
            let (first, second) = (self.column(d), more.column(d));
            values.extend(places.clone().map(|i| if i < n { first[i] } else { second[i - n] }));
        }
        let len = values.len() / self.dim.max(1);
        Self { dim: self.dim, n: len, values }
    }

    /// The mean of the points under weights that sum to one. Panics unless there is one weight per point.
    #[must_use]
    pub fn weighted_mean(&self, weights: &[f64]) -> Vec<f64> {
        assert_eq!(weights.len(), self.n, "one weight per point");
        (0..self.dim).map(|d| self.column(d).iter().zip(weights).map(|(x, w)| x * w).sum()).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wrong_sizes_are_errors() {
        assert!(Points::from_values(2, 3, vec![0.0; 5]).is_err());
        assert!(Points::from_values(usize::MAX, 2, vec![]).is_err());
        assert!(Points::from_points(2, &[vec![1.0, 2.0], vec![3.0]]).is_err());
        assert!(serde_json::from_str::<Points>(r#"{"dim":2,"n":2,"values":[1.0]}"#).is_err());
    }

    proptest! {
        #[test]
        fn points_survive_the_layout(dim in 1_usize..6, n in 0_usize..9, seed in any::<u64>()) {
            let rows: Vec<Vec<f64>> = (0..n)
                .map(|i| (0..dim).map(|d| (seed % 97) as f64 + (i * dim + d) as f64).collect())
                .collect();
            let points = Points::from_points(dim, &rows).unwrap();
            for (i, row) in rows.iter().enumerate() {
                prop_assert_eq!(&points.point(i), row);
            }
            let backwards: Vec<usize> = (0..n).rev().collect();
            let twice = points.select(&backwards).select(&backwards);
            prop_assert_eq!(twice, points);
        }
    }
}
