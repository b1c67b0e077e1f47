//! The precisions in which densities of codes are computed, so that callers can be generic and the computation is not.
//!
//! A target is generic over its precision, and generic code is compiled again by every crate that calls it. What an engine
//! does is compiled once.

use super::{Codes, Observed, PointEvaluator, Starts};
use crate::kernel::Real;

/// f32 and f64.
pub trait Precision: Real {
    /// [`Engine::densities_single`](super::Engine::densities_single) or the like.
    #[doc(hidden)]
    fn densities(of: Observed<'_, Self>, points: &Codes, starts: Starts<'_>, out: &mut [f64]);
    /// [`Engine::slopes_single`](super::Engine::slopes_single) or the like.
    #[doc(hidden)]
    fn slopes(of: Observed<'_, Self>, points: &Codes, out: &mut [f64], gradient: &mut [f64]);
    /// [`Engine::point_by_point`](super::Engine::point_by_point); nothing where sets of one point do as well.
    #[doc(hidden)]
    fn point_by_point(of: Observed<'_, Self>) -> Option<PointEvaluator<'_>>;
}

impl Precision for f32 {
    fn densities(of: Observed<'_, f32>, points: &Codes, starts: Starts<'_>, out: &mut [f64]) {
        of.trial.system.engine().densities_single(of, points, starts, out);
    }

    fn slopes(of: Observed<'_, f32>, points: &Codes, out: &mut [f64], gradient: &mut [f64]) {
        of.trial.system.engine().slopes_single(of, points, out, gradient);
    }

    /// Samplers, which ask for single points, want double precision.
    fn point_by_point(_: Observed<'_, f32>) -> Option<PointEvaluator<'_>> {
        None
    }
}

impl Precision for f64 {
    fn densities(of: Observed<'_, f64>, points: &Codes, starts: Starts<'_>, out: &mut [f64]) {
        of.trial.system.engine().densities_double(of, points, starts, out);
    }

    fn slopes(of: Observed<'_, f64>, points: &Codes, out: &mut [f64], gradient: &mut [f64]) {
        of.trial.system.engine().slopes_double(of, points, out, gradient);
    }

    fn point_by_point(of: Observed<'_, f64>) -> Option<PointEvaluator<'_>> {
        Some(of.trial.system.engine().point_by_point(of))
    }
}
