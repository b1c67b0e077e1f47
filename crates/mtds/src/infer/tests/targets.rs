//! Targets with known normalisers, moments and quantiles.

use crate::infer::target::one_by_one;
use crate::infer::{Evaluator, GaussianMixture, LogTarget, Points, SmoothTarget};

/// `c + log q(u)` for a mixture q: evidence `e^c`, moments and modes known.
pub(super) struct MixtureTarget {
    pub(super) mixture: GaussianMixture,
    pub(super) log_evidence: f64,
}

impl LogTarget for MixtureTarget {
    fn dim(&self) -> usize {
        self.mixture.dim()
    }

    fn log_density(&self, points: &Points, out: &mut [f64]) {
        self.mixture.log_density(points, out);
        out.iter_mut().for_each(|x| *x += self.log_evidence);
    }
}

impl SmoothTarget for MixtureTarget {
    fn evaluator(&self) -> Evaluator<'_> {
        one_by_one(self)
    }

    fn log_density_and_gradient(&self, points: &Points, out: &mut [f64], gradient: &mut Points) {
        self.log_density(points, out);
        let (d, n, q) = (self.dim(), points.len(), &self.mixture);
        let mut joint = vec![0.0; q.len() * n];
        q.component_log_densities(points, &mut joint);
        for i in 0..n {
            let u = points.point(i);
            let mut slope = vec![0.0; d];
            for j in 0..q.len() {
                let share = (joint[j * n + i] - (out[i] - self.log_evidence)).exp();
                let apart: Vec<f64> = q.component_mean(j).iter().zip(&u).map(|(m, x)| m - x).collect();
                let precision = crate::algebra::invert_spd(q.component_covariance(j), d).unwrap();
                let pull = crate::algebra::times_vector(&precision, &apart);
                slope.iter_mut().zip(pull).for_each(|(s, p)| *s += share * p);
            }
            gradient.set_point(i, &slope);
        }
    }
}

/// Gaussian target with correlated coordinates, narrow and off centre.
pub(super) fn gaussian(dim: usize) -> MixtureTarget {
    let mean: Vec<f64> = (0..dim).map(|k| 0.8 - 0.3 * k as f64).collect();
    let mut covariance = vec![0.0; dim * dim];
    for a in 0..dim {
        for b in 0..dim {
            let correlation = 0.5_f64.powi((a as i32 - b as i32).abs());
            covariance[a * dim + b] = 0.15 * correlation * (1.0 + a as f64).sqrt() * (1.0 + b as f64).sqrt();
        }
    }
    MixtureTarget {
        mixture: GaussianMixture::new(vec![1.0], vec![mean], vec![covariance]).unwrap(),
        log_evidence: -3.25,
    }
}

/// Any target written as a function of one point.
pub(super) struct Function<F> {
    pub(super) dim: usize,
    pub(super) function: F,
}

impl<F: Fn(&[f64]) -> f64 + Sync> LogTarget for Function<F> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn log_density(&self, points: &Points, out: &mut [f64]) {
        out.iter_mut().enumerate().for_each(|(i, o)| *o = (self.function)(&points.point(i)));
    }
}

/// Gradient by central differences, for targets whose density is all that matters.
impl<F: Fn(&[f64]) -> f64 + Sync> SmoothTarget for Function<F> {
    fn evaluator(&self) -> Evaluator<'_> {
        one_by_one(self)
    }

    fn log_density_and_gradient(&self, points: &Points, out: &mut [f64], gradient: &mut Points) {
        self.log_density(points, out);
        for i in 0..points.len() {
            let u = points.point(i);
            let slope: Vec<f64> = (0..self.dim)
                .map(|k| {
                    let (mut up, mut down) = (u.clone(), u.clone());
                    up[k] += 1e-5;
                    down[k] -= 1e-5;
                    ((self.function)(&up) - (self.function)(&down)) / 2e-5
                })
                .collect();
            gradient.set_point(i, &slope);
        }
    }
}

/// `log N(x; 0, 1)`.
pub(super) fn log_normal(x: f64) -> f64 {
    -0.5 * (x * x + std::f64::consts::TAU.ln())
}

/// A prior N(0, I) and one observation of the square of the first coordinate: two modes.
pub(super) fn squared(u: &[f64]) -> f64 {
    let prior: f64 = u.iter().map(|&x| log_normal(x)).sum();
    let residual = (1.5 - u[0] * u[0] - 0.2 * u[0]) / 0.4;
    prior + log_normal(residual) - 0.4_f64.ln()
}

/// As `squared` in two coordinates, with a coupling that bends the modes.
pub(super) fn squared_and_coupled(u: &[f64]) -> f64 {
    let residual = (u[1] - 0.5 * u[0]) / 0.5;
    squared(u) + log_normal(residual) - 0.5_f64.ln()
}

/// A bent, banana-shaped posterior in four dimensions under the prior N(0, I).
pub(super) fn banana(u: &[f64]) -> f64 {
    let prior: f64 = u.iter().map(|&x| log_normal(x)).sum();
    let residual = (u[1] - u[0] * u[0] + 1.0) / 0.3;
    prior + log_normal(residual) - 0.3_f64.ln() + log_normal((u[2] + u[3] - 0.5) / 0.3) - 0.3_f64.ln()
}
