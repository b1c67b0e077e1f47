//! Cubic B-splines over time, fitted to a trajectory by least squares.
//!
//! ```text
//! s(t) = Σ_i B_i(t) c_i        B_i cubic on the knots, each end knot four times
//! c    = argmin Σ_t ‖p_t − s(t)‖² + λ Σ_i ‖c_i − 2 c_{i+1} + c_{i+2}‖²            λ = 1e-6
//! ```
//!
//! The second term only settles what too few points leave open. The normal equations have bandwidth 3 and are
//! solved by a banded Cholesky factor. De Boor, *A Practical Guide to Splines* (2001), chapters IX and XIV.

/// Degree of the splines.
const DEGREE: usize = 3;
/// Weight λ of the second differences of the control points.
const SMOOTHNESS: f64 = 1e-6;

/// A cubic spline from an interval of times to `R^D`, twice continuously differentiable.
#[derive(Debug, Clone, PartialEq)]
pub struct Spline<const D: usize> {
    knots: Vec<f64>,
    control: Vec<[f64; D]>,
}

impl<const D: usize> Spline<D> {
    /// The spline with the given inner knots, strictly inside the interval and rising, nearest to points at times
    /// 0, 1, 2, …; none without points or with knots that are not so.
    #[must_use]
    pub fn fit(points: &[[f64; D]], inner_knots: &[f64]) -> Option<Self> {
        let end = points.len().checked_sub(1)? as f64;
        let end = end.max(1.0);
        let mut knots = vec![0.0; DEGREE + 1];
        knots.extend(inner_knots);
        knots.extend([end; DEGREE + 1]);
        if !knots[DEGREE..knots.len() - DEGREE].windows(2).all(|pair| pair[0] < pair[1]) {
            return None;
        }
        let n_control = inner_knots.len() + DEGREE + 1;
        let mut spline = Self { knots, control: vec![[0.0; D]; n_control] };
        let mut normal = Banded::new(n_control);
        for (t, point) in points.iter().enumerate() {
            let (first, basis) = spline.basis(t as f64);
            for (i, weight) in basis.iter().enumerate() {
                (0..=i).for_each(|j| normal.add(first + i, first + j, weight * basis[j]));
                (0..D).for_each(|d| spline.control[first + i][d] += weight * point[d]);
            }
        }
        normal.add_second_differences(SMOOTHNESS);
        normal.solve(&mut spline.control);
        Some(spline)
    }

    /// The value at time `t`, held within the interval.
    #[must_use]
    pub fn at(&self, t: f64) -> [f64; D] {
        let (first, basis) = self.basis(t);
        std::array::from_fn(|d| basis.iter().enumerate().map(|(i, weight)| weight * self.control[first + i][d]).sum())
    }

    /// Number of control points.
    #[must_use]
    pub fn n_control(&self) -> usize {
        self.control.len()
    }

    /// The four basis functions that are not zero at `t`, and the place of the first of them.
    fn basis(&self, t: f64) -> (usize, [f64; DEGREE + 1]) {
        let knots = &self.knots;
        let t = t.clamp(knots[0], knots[knots.len() - 1]);
        let inner = &knots[DEGREE + 1..knots.len() - DEGREE - 1];
        let span = DEGREE + inner.partition_point(|&knot| knot <= t);
        let mut basis = [1.0, 0.0, 0.0, 0.0];
        for degree in 1..=DEGREE {
            let mut carried = 0.0;
            for i in 0..degree {
                let (left, right) = (knots[span + 1 + i - degree], knots[span + 1 + i]);
                let share = basis[i] / (right - left);
                basis[i] = carried + (right - t) * share;
                carried = (t - left) * share;
            }
            basis[degree] = carried;
        }
        (span - DEGREE, basis)
    }
}

/// A symmetric positive definite matrix with `DEGREE` diagonals below the main one: `rows[i][k]` = A(i, i − k).
struct Banded {
    rows: Vec<[f64; DEGREE + 1]>,
}

impl Banded {
    fn new(size: usize) -> Self {
        Self { rows: vec![[0.0; DEGREE + 1]; size] }
    }

    /// Adds to entry (i, j), `j ≤ i ≤ j + DEGREE`.
    fn add(&mut self, i: usize, j: usize, value: f64) {
        self.rows[i][i - j] += value;
    }

    /// Adds `weight` times the squares of second differences.
    fn add_second_differences(&mut self, weight: f64) {
        const DIFFERENCE: [f64; 3] = [1.0, -2.0, 1.0];
        for start in 0..self.rows.len().saturating_sub(2) {
            for i in 0..3 {
                (0..=i).for_each(|j| self.add(start + i, start + j, weight * DIFFERENCE[i] * DIFFERENCE[j]));
            }
        }
    }

    /// Replaces right-hand sides by solutions, through the Cholesky factor A = L Lᵀ.
    fn solve<const D: usize>(mut self, right: &mut [[f64; D]]) {
        self.factorise();
        let size = self.rows.len();
        for i in 0..size {
            for d in 0..D {
                let done: f64 = (1..=DEGREE.min(i)).map(|k| self.rows[i][k] * right[i - k][d]).sum();
                right[i][d] = (right[i][d] - done) / self.rows[i][0];
            }
        }
        for i in (0..size).rev() {
            for d in 0..D {
                let done: f64 = (1..=DEGREE.min(size - 1 - i)).map(|k| self.rows[i + k][k] * right[i + k][d]).sum();
                right[i][d] = (right[i][d] - done) / self.rows[i][0];
            }
        }
    }

    fn factorise(&mut self) {
        for i in 0..self.rows.len() {
            for k in (0..=DEGREE.min(i)).rev() {
                let j = i - k;
                let done: f64 = (1..=(DEGREE - k).min(j)).map(|m| self.rows[i][k + m] * self.rows[j][m]).sum();
                let rest = self.rows[i][k] - done;
                self.rows[i][k] = if k == 0 { rest.max(f64::MIN_POSITIVE).sqrt() } else { rest / self.rows[j][0] };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cubic_is_fitted_exactly() {
        let cubic = |t: f64| [1.0 - t + 0.01 * t * t * t, 3.0 * t];
        let points: Vec<_> = (0..40).map(|t| cubic(f64::from(t))).collect();
        let spline = Spline::fit(&points, &[10.0, 25.0]).unwrap();
        assert_eq!(spline.n_control(), 6);
        for t in [0.0, 3.3, 10.0, 17.5, 38.9, 39.0] {
            // The smoothness term moves values by about λ times the size of the data.
            assert!((spline.at(t)[0] - cubic(t)[0]).abs() < 1e-3 && (spline.at(t)[1] - cubic(t)[1]).abs() < 1e-3);
        }
        assert_eq!(spline.at(-5.0), spline.at(0.0));
    }

    #[test]
    fn residuals_are_at_right_angles_to_the_basis() {
        let points: Vec<[f64; 1]> = (0..60).map(|t| [(f64::from(t) * 0.7).sin() + 0.1 * f64::from(t)]).collect();
        let spline = Spline::fit(&points, &[12.0, 20.0, 44.0]).unwrap();
        let mut products = vec![0.0; spline.n_control()];
        for (t, point) in points.iter().enumerate() {
            let (first, basis) = spline.basis(t as f64);
            (0..=DEGREE).for_each(|i| products[first + i] += basis[i] * (point[0] - spline.at(t as f64)[0]));
        }
        assert!(products.iter().all(|product| product.abs() < 1e-4), "{products:?}");
    }

    #[test]
    fn degenerate_sizes() {
        assert!(Spline::<1>::fit(&[], &[]).is_none());
        assert!(Spline::fit(&[[1.0]; 9], &[4.0, 4.0]).is_none());
        assert!(Spline::fit(&[[1.0]; 9], &[8.0]).is_none());
        for n in 1..6 {
            let spline = Spline::fit(&vec![[7.0]; n], &[]).unwrap();
            assert!((spline.at(0.5)[0] - 7.0).abs() < 1e-4, "{n} points: {:?}", spline.at(0.5));
        }
    }

    proptest! {
        #[test]
        fn basis_functions_add_to_one(t in 0.0..30.0f64, knots in prop::collection::btree_set(1u32..30, 0..8)) {
            let knots: Vec<f64> = knots.into_iter().map(f64::from).collect();
            let spline = Spline::fit(&vec![[0.0]; 31], &knots).unwrap();
            let (_, basis) = spline.basis(t);
            prop_assert!((basis.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            prop_assert!(basis.iter().all(|&weight| weight >= -1e-12));
        }
    }
}
