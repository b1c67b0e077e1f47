//! Laplace's approximation at the modes that several climbs found.
//!
//! ```text
//! Λ = −∇² log p(y, u*)          q(u) = N(u*, Λ⁻¹)          log p(y) ≈ log p(y, u*) + d/2 log 2π − ½ log |Λ|
//! Λ_ab ≈ −(g_a(u* + h_b e_b) − g_a(u* − h_b e_b)) / 2 h_b
//! ```
//!
//! Modes are one if they lie within [`SAME_MODE`] standard deviations of the better; different ones are
//! weighed by their Laplace evidence. Climbs that plainly ended at one point are one before that, so that it is differenced once.

use super::bfgs::Climb;
use super::target::{self, SmoothTarget};
use super::{Diagnostics, GaussianMixture, Points};
use crate::algebra::{self, dot, times_vector};

/// Distance in the better mode's standard deviations below which two climbs ended at one mode.
const SAME_MODE: f64 = 0.5;
/// The same in the optimiser's idea of the deviations, which may be ten times too large.
const SAME_POINT: f64 = 0.05;
/// Difference step in standard deviations: small for curvature, large for targets computed in single precision.
const DIFFERENCE: f64 = 1e-3;
/// Modes with less of the evidence than this are dropped.
const LIGHTEST_MODE: f64 = 1e-8;

/// A maximum with its precision matrix.
#[derive(Clone, Debug)]
pub(crate) struct Mode {
    pub(crate) point: Vec<f64>,
    pub(crate) value: f64,
    /// `Λ`, row-major, positive definite.
    pub(crate) precision: Vec<f64>,
}

/// The different modes among the climbs, the best first; adds to the work in `diagnostics`.
///
/// `widest` is the largest variance that any direction of a mode may have.
pub(crate) fn modes(
    target: &dyn SmoothTarget,
    climbs: &[Climb],
    widest: f64,
    diagnostics: &mut Diagnostics,
) -> Vec<Mode> {
    let d = target.dim();
    let deviation = |a: &[f64]| -> Vec<f64> { (0..d).map(|k| a[k * d + k].abs().sqrt()).collect() };
    let climbs = &apart(climbs);
    let mut scales: Vec<Vec<f64>> = climbs.iter().map(|c| deviation(&c.inverse_hessian)).collect();
    let mut found = Vec::new();
    // Twice: the optimiser's idea of the scale may be far off, the first differences' is not.
    for _ in 0..2 {
        let points: Vec<&[f64]> = climbs.iter().map(|c| c.point.as_slice()).collect();
        let hessians = negative_hessians(target, &points, &scales, diagnostics);
        let precisions = hessians.iter().map(|h| algebra::raise_eigenvalues(h, d, 1.0 / widest));
        found = climbs
            .iter()
            .zip(precisions)
            .map(|(c, precision)| Mode { point: c.point.clone(), value: c.value, precision })
            .collect();
        for (scale, mode) in scales.iter_mut().zip(&found) {
            if let Some(covariance) = algebra::invert_spd(&mode.precision, d) {
                *scale = deviation(&covariance);
            }
        }
    }
    different(found)
}

/// The climbs without those that ended where a better one did.
fn apart(climbs: &[Climb]) -> Vec<&Climb> {
    let mut sorted: Vec<&Climb> = climbs.iter().collect();
    sorted.sort_by(|a, b| b.value.total_cmp(&a.value));
    let mut kept: Vec<&Climb> = vec![];
    for climb in sorted {
        let is_at = |better: &&Climb| {
            let d = climb.point.len();
            let variance = |k: usize| better.inverse_hessian[k * d + k].abs();
            let squares = (0..d).map(|k| (climb.point[k] - better.point[k]).powi(2) / variance(k));
            squares.sum::<f64>() < SAME_POINT * SAME_POINT
        };
        if !kept.iter().any(is_at) {
            kept.push(climb);
        }
    }
    kept
}

/// Negative Hessians by central differences of the gradient, all in one batched call.
///
/// A column whose probes do not both lie in the support stays 0, for the caller to raise.
fn negative_hessians(
    target: &dyn SmoothTarget,
    points: &[&[f64]],
    scales: &[Vec<f64>],
    diagnostics: &mut Diagnostics,
) -> Vec<Vec<f64>> {
    let d = target.dim();
    let mut probes = Points::zeros(d, points.len() * 2 * d);
    for (i, point) in points.iter().enumerate() {
        for k in 0..2 * d {
            let mut probe = point.to_vec();
            let h = DIFFERENCE * scales[i][k / 2];
            probe[k / 2] += if k % 2 == 0 { h } else { -h };
            probes.set_point(i * 2 * d + k, &probe);
        }
    }
    let mut values = vec![0.0; probes.len()];
    let mut gradients = Points::zeros(d, probes.len());
    diagnostics.nonfinite += target::evaluate_smooth(target, &probes, &mut values, &mut gradients);
    diagnostics.gradient_evaluations += probes.len();
    (0..points.len()).map(|i| difference_quotients(i * 2 * d, &probes, &values, &gradients)).collect()
}

/// The symmetrised negative Hessian from the `2 d` probes that begin at `first`: up, down per dimension.
fn difference_quotients(first: usize, probes: &Points, values: &[f64], gradients: &Points) -> Vec<f64> {
    let d = probes.dim();
    let mut hessian = vec![0.0; d * d];
    for b in 0..d {
        let (up, down) = (first + 2 * b, first + 2 * b + 1);
        let width = probes.column(b)[up] - probes.column(b)[down];
        if width > 0.0 && values[up].is_finite() && values[down].is_finite() {
            for a in 0..d {
                hessian[a * d + b] = (gradients.column(a)[down] - gradients.column(a)[up]) / width;
            }
        }
    }
    algebra::symmetrise(&mut hessian, d);
    hessian
}

/// The modes without repetitions, the best first.
fn different(mut found: Vec<Mode>) -> Vec<Mode> {
    found.sort_by(|a, b| b.value.total_cmp(&a.value));
    let mut kept: Vec<Mode> = Vec::new();
    for mode in found {
        let repeats = kept.iter().any(|better| {
            let apart: Vec<f64> = mode.point.iter().zip(&better.point).map(|(a, b)| a - b).collect();
            dot(&apart, &times_vector(&better.precision, &apart)) < SAME_MODE * SAME_MODE
        });
        if !repeats {
            kept.push(mode);
        }
    }
    kept
}

/// The mixture of Laplace approximations, weighed by their evidence; `None` without a usable mode.
pub(crate) fn mixture(modes: &[Mode], dim: usize) -> Option<GaussianMixture> {
    let usable = approximations(modes, dim);
    let best = usable.iter().map(|u| u.log_evidence).fold(f64::NEG_INFINITY, f64::max);
    let share = |u: &Approximation| (u.log_evidence - best).exp();
    let heavy: Vec<Approximation> = usable.into_iter().filter(|u| share(u) >= LIGHTEST_MODE).collect();
    let total: f64 = heavy.iter().map(share).sum();
    let weights = heavy.iter().map(|u| share(u) / total).collect();
    let means = heavy.iter().flat_map(|u| u.mode.point.clone()).collect();
    let covariances = heavy.iter().flat_map(|u| u.covariance.clone()).collect();
    (!heavy.is_empty()).then(|| GaussianMixture::from_flat(dim, weights, means, covariances).ok())?
}

/// The Gaussian at a mode.
struct Approximation<'a> {
    mode: &'a Mode,
    log_evidence: f64,
    covariance: Vec<f64>,
}

/// One Gaussian per mode whose precision has a Cholesky factor.
fn approximations(modes: &[Mode], dim: usize) -> Vec<Approximation<'_>> {
    let half_turns = 0.5 * dim as f64 * std::f64::consts::TAU.ln();
    let at = |mode: &'_ Mode| {
        let factor = algebra::cholesky(&mode.precision, dim)?;
        let covariance = algebra::gram_of_lower(&algebra::invert_lower(&factor, dim), dim);
        Some((mode.value + half_turns - algebra::log_diagonal_sum(&factor, dim), covariance))
    };
    let approximation =
        |mode| at(mode).map(|(log_evidence, covariance)| Approximation { mode, log_evidence, covariance });
    modes.iter().filter_map(approximation).collect()
}
