//! What inference needs to know of a model: an un-normalised log density, perhaps with its gradient.

use super::Points;

/// An un-normalised log density `log p(y | u) + log p(u)` over `u ∈ R^dim`.
///
/// The prior must be normalised: then the mean importance weight estimates the evidence `p(y)`.
/// A value of `-inf` says "impossible". NaN and `+inf` are treated as impossible too, and counted in
/// [`Diagnostics::nonfinite`](super::Diagnostics::nonfinite).
pub trait LogTarget: Sync {
    /// Dimension of `u`.
    fn dim(&self) -> usize;

    /// Writes the log density of each point; `out` has one element per point.
    ///
    /// Must not depend on how points are grouped into calls.
    fn log_density(&self, points: &Points, out: &mut [f64]);
}

/// Evaluates one point after another: takes `dim` coordinates, writes the gradient, returns the log density.
pub type Evaluator<'a> = Box<dyn FnMut(&[f64], &mut [f64]) -> f64 + 'a>;

/// A target with a gradient.
pub trait SmoothTarget: LogTarget {
    /// Writes each point's log density into `out` and its gradient into `gradient` (same shape as `points`).
    fn log_density_and_gradient(&self, points: &Points, out: &mut [f64], gradient: &mut Points);

    /// The same for methods that need one point at a time; it may keep scratch between the calls.
    ///
    /// May differ from [`SmoothTarget::log_density_and_gradient`] by rounding.
    fn evaluator(&self) -> Evaluator<'_>;
}

/// An [`SmoothTarget::evaluator`] that asks for sets of one point.
pub fn one_by_one(target: &dyn SmoothTarget) -> Evaluator<'_> {
    let (mut at, mut slope) = (Points::zeros(target.dim(), 1), Points::zeros(target.dim(), 1));
    Box::new(move |point, gradient| {
        at.set_point(0, point);
        let mut out = [f64::NAN];
        target.log_density_and_gradient(&at, &mut out, &mut slope);
        gradient.copy_from_slice(slope.values());
        out[0]
    })
}

/// Evaluates the target; returns how many values were NaN or `+inf`, which become `-inf`.
pub(crate) fn evaluate(target: &dyn LogTarget, points: &Points, out: &mut [f64]) -> usize {
    if points.is_empty() {
        return 0;
    }
    target.log_density(points, out);
    forbid_nonfinite(out)
}

/// Evaluates target and gradient; a point with a value or a gradient that is no number becomes impossible.
pub(crate) fn evaluate_smooth(
    target: &dyn SmoothTarget,
    points: &Points,
    out: &mut [f64],
    gradient: &mut Points,
) -> usize {
    if points.is_empty() {
        return 0;
    }
    target.log_density_and_gradient(points, out, gradient);
    for d in 0..points.dim() {
        for (value, slope) in out.iter_mut().zip(gradient.column(d)) {
            if *value > f64::NEG_INFINITY && !slope.is_finite() {
                *value = f64::NAN;
            }
        }
    }
    forbid_nonfinite(out)
}

/// Turns NaN and `+inf` into `-inf` and counts them.
pub(crate) fn forbid_nonfinite(values: &mut [f64]) -> usize {
    let mut count = 0;
    for value in values {
        if value.is_nan() || *value == f64::INFINITY {
            *value = f64::NEG_INFINITY;
            count += 1;
        }
    }
    count
}
