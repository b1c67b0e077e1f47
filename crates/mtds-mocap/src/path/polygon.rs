//! Polygons over time, fitted to a trajectory by least squares.
//!
//! ```text
//! s(t) = Σ_i H_i(t) v_i        H_i: 1 at corner i, 0 at the others, linear between
//! v    = argmin Σ_t ‖p_t − s(t)‖²
//! ```
//!
//! The points at corners themselves would stand at the outermost places of a swaying trajectory; fitted corners
//! stand in its middle. The normal equations are tridiagonal.

/// A path of straight parts with even motion on each.
#[derive(Debug, Clone, PartialEq)]
pub struct Polygon<const D: usize> {
    times: Vec<f64>,
    corners: Vec<[f64; D]>,
}

impl<const D: usize> Polygon<D> {
    /// The polygon with corners at the given places, rising from the first point to the last, that is nearest to
    /// points at times 0, 1, 2, …; none without points or with places that are not so.
    #[must_use]
    pub fn fit(points: &[[f64; D]], places: &[usize]) -> Option<Self> {
        let rises = places.windows(2).all(|pair| pair[0] < pair[1]);
        let spans = places.first() == Some(&0) && places.last() == points.len().checked_sub(1).as_ref();
        if !rises || !spans {
            return None;
        }
        let mut fitted =
            Self { times: places.iter().map(|&t| t as f64).collect(), corners: vec![[0.0; D]; places.len()] };
        let (mut diagonal, mut beside) = (vec![0.0; places.len()], vec![0.0; places.len()]);
        for (t, point) in points.iter().enumerate() {
            let (i, share) = fitted.segment(t as f64);
            for (corner, weight) in
                [(i, 1.0 - share), (i + 1, share)].into_iter().filter(|(_, weight)| *weight != 0.0)
            {
                diagonal[corner] += weight * weight;
                (0..D).for_each(|d| fitted.corners[corner][d] += weight * point[d]);
            }
            beside[i] += share * (1.0 - share);
        }
        solve_tridiagonal(diagonal, &beside, &mut fitted.corners);
        Some(fitted)
    }

    /// The value at time `t`; beyond the ends straight on.
    #[must_use]
    pub fn at(&self, t: f64) -> [f64; D] {
        let (i, share) = self.segment(t);
        let (from, to) = (self.corners[i], self.corners[(i + 1).min(self.corners.len() - 1)]);
        std::array::from_fn(|d| from[d] + share * (to[d] - from[d]))
    }

    /// Number of corners, ends included.
    #[must_use]
    pub fn n_corners(&self) -> usize {
        self.corners.len()
    }

    /// The segment of time `t` and the share of it that has passed, beyond [0, 1] outside the polygon.
    fn segment(&self, t: f64) -> (usize, f64) {
        let Some(last) = self.times.len().checked_sub(2) else { return (0, 0.0) };
        let i = self.times[1..=last].partition_point(|&corner| corner <= t);
        (i, (t - self.times[i]) / (self.times[i + 1] - self.times[i]))
    }
}

/// Replaces right-hand sides by solutions of a symmetric system with `beside[i]` between `i` and `i + 1`.
fn solve_tridiagonal<const D: usize>(mut diagonal: Vec<f64>, beside: &[f64], right: &mut [[f64; D]]) {
    for i in 1..diagonal.len() {
        let factor = beside[i - 1] / diagonal[i - 1];
        diagonal[i] -= factor * beside[i - 1];
        (0..D).for_each(|d| right[i][d] -= factor * right[i - 1][d]);
    }
    for i in (0..diagonal.len()).rev() {
        for d in 0..D {
            let after = right.get(i + 1).map_or(0.0, |next| beside[i] * next[d]);
            right[i][d] = (right[i][d] - after) / diagonal[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_polygon_is_fitted_exactly() {
        let l = |t: usize| [t.min(10) as f64, t.saturating_sub(10) as f64];
        let points: Vec<[f64; 2]> = (0..31).map(l).collect();
        let polygon = Polygon::fit(&points, &[0, 10, 30]).unwrap();
        for t in 0..31 {
            assert!((0..2).all(|d| (polygon.at(t as f64)[d] - points[t][d]).abs() < 1e-12));
        }
        assert!((polygon.at(35.0)[1] - 25.0).abs() < 1e-9 && (polygon.at(-2.0)[0] + 2.0).abs() < 1e-9);
        assert_eq!(polygon.n_corners(), 3);
    }

    #[test]
    fn degenerate_sizes() {
        assert!(Polygon::<1>::fit(&[], &[]).is_none());
        assert!(Polygon::fit(&[[1.0]; 9], &[0, 4, 4, 8]).is_none());
        assert!(Polygon::fit(&[[1.0]; 9], &[0, 4]).is_none());
        assert_eq!(Polygon::fit(&[[7.0]], &[0]).unwrap().at(3.0), [7.0]);
        assert!((Polygon::fit(&[[7.0], [8.0]], &[0, 1]).unwrap().at(3.0)[0] - 10.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn no_other_polygon_is_nearer(
            points in prop::collection::vec(prop::array::uniform1(-3.0..3.0f64), 12..40),
            corner in 1usize..3, shift in -0.5..0.5f64,
        ) {
            let last = points.len() - 1;
            let polygon = Polygon::fit(&points, &[0, last / 3, 2 * last / 3, last]).unwrap();
            let mut other = polygon.clone();
            other.corners[corner][0] += shift;
            let error = |p: &Polygon<1>| (0..=last).map(|t| (p.at(t as f64)[0] - points[t][0]).powi(2)).sum::<f64>();
            prop_assert!(error(&polygon) <= error(&other) + 1e-12);
        }
    }
}
