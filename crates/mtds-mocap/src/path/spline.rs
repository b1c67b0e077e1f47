//! Uniform cubic B-splines, which round the corners of a path.
//!
//! ```text
//! s(t) = Σ_k B(t/h − k) c_k        B: the cubic B-spline on (−2, 2)        c_k: control points, h apart in time
//! ```
//!
//! Control points on a straight line at even distances give that line; elsewhere the spline averages control
//! points over 4h, twice continuously differentiable. De Boor, *A Practical Guide to Splines* (2001), chapter IX.

/// A cubic spline over an interval of times.
#[derive(Debug, Clone, PartialEq)]
pub struct Spline<const D: usize> {
    spacing: f64,
    /// Control point `k` stands at time `(k − 1) · spacing`.
    control: Vec<[f64; D]>,
}

impl<const D: usize> Spline<D> {
    /// The spline over `[0, end]` with control points taken from `path` at times `spacing > 0` apart.
    #[must_use]
    pub fn along(path: impl Fn(f64) -> [f64; D], spacing: f64, end: f64) -> Self {
        let n_control = (end / spacing).ceil().max(0.0) as usize + 4;
        let control = (0..n_control).map(|k| path((k as f64 - 1.0) * spacing)).collect();
        Self { spacing, control }
    }

    /// The value at time `t`, held at the ends of the control points.
    #[must_use]
    pub fn at(&self, t: f64) -> [f64; D] {
        let place = (t / self.spacing).clamp(0.0, (self.control.len() - 3) as f64);
        let first = (place.floor() as usize).min(self.control.len() - 4);
        let weights = basis(place - first as f64);
        std::array::from_fn(|d| (0..4).map(|i| weights[i] * self.control[first + i][d]).sum())
    }
}

/// Weights of the four control points around a place, a share `s` of the way between the middle two.
fn basis(s: f64) -> [f64; 4] {
    let r = 1.0 - s;
    let inner = |x: f64| (4.0 + x * x * (3.0 * x - 6.0)) / 6.0;
    [r * r * r / 6.0, inner(s), inner(r), s * s * s / 6.0]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn straight_lines_stay_and_corners_are_rounded() {
        let line = Spline::along(|t| [2.0 - 0.5 * t], 7.0, 100.0);
        let corner = Spline::along(|t| [(t - 50.0).abs()], 5.0, 100.0);
        for t in [0.0, 3.3, 50.0, 99.9, 100.0] {
            assert!((line.at(t)[0] - (2.0 - 0.5 * t)).abs() < 1e-12);
        }
        assert!((corner.at(20.0)[0] - 30.0).abs() < 1e-12 && (corner.at(90.0)[0] - 40.0).abs() < 1e-12);
        let bottom = corner.at(50.0)[0];
        assert!(bottom > 0.5 && bottom < 5.0);
        assert!((Spline::along(|_| [4.0], 3.0, 0.0).at(9.0)[0] - 4.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn weights_add_to_one_and_join_smoothly(s in 0.0..1.0f64) {
            let weights = basis(s);
            prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            prop_assert!(weights.iter().all(|&weight| weight >= 0.0));
        }

        #[test]
        fn slopes_are_continuous(values in prop::collection::vec(-1.0..1.0f64, 12)) {
            let spline = Spline::along(|t| [values[(t.max(0.0) as usize).min(11)]], 1.0, 9.0);
            for knot in 1..9 {
                let slope = |t: f64| (spline.at(t + 1e-5)[0] - spline.at(t - 1e-5)[0]) / 2e-5;
                prop_assert!((slope(knot as f64 - 2e-5) - slope(knot as f64 + 2e-5)).abs() < 1e-3);
            }
        }
    }
}
