//! The metric of a chain: how far the target reaches in each direction, and how that is learned.
//!
//! ```text
//! p ~ N(0, Σ⁻¹)      velocity = Σ p      K = ½ pᵀ Σ p                    Σ: d × d, about the posterior covariance
//! start       Σ = |H|⁻¹                     H: curvature of −log p at the start, by differences of gradients
//! a window    Σ = C # G⁻¹                   C, G: covariances of the draws and of their gradients
//! ```
//! `#` is the geometric mean of two positive matrices, C # B = C^½ (C^−½ B C^−½)^½ C^½. For a Gaussian both C and G⁻¹ tend to the
//! covariance; for other targets it is the metric under which the gradients of the transformed density are nearest to
//! those of a standard normal (Seyboldt, Carlson & Carpenter 2024).

use crate::algebra::{cholesky, dot, invert_lower, symmetric_eigen, symmetrise, times_vector};
use crate::random::Random;
use rand_distr::{Distribution, StandardNormal};

/// Weight, in draws, of the earlier metric in one learned from a window.
const EARLIER: f64 = 5.0;
/// Smallest curvature at the start, relative to the largest: below it a direction counts as this flat.
const FLATTEST: f64 = 1e-12;

/// Σ and what momenta are drawn by.
#[derive(Clone, Debug)]
pub(super) struct Metric {
    dim: usize,
    /// Σ, d × d.
    covariance: Vec<f64>,
    /// L⁻¹ of Σ = L Lᵀ, lower.
    inverse_factor: Vec<f64>,
}

impl Metric {
    /// From Σ; `None` unless it is positive definite.
    fn new(covariance: Vec<f64>, dim: usize) -> Option<Self> {
        let factor = cholesky(&covariance, dim)?;
        let inverse_factor = invert_lower(&factor, dim);
        let finite = covariance.iter().chain(&inverse_factor).all(|x| x.is_finite());
        finite.then_some(Self { dim, covariance, inverse_factor })
    }

    /// Σ = I.
    fn identity(dim: usize) -> Self {
        let identity: Vec<f64> = (0..dim * dim).map(|i| f64::from(u8::from(i % (dim + 1) == 0))).collect();
        Self { dim, covariance: identity.clone(), inverse_factor: identity }
    }

    /// From the curvature of −log p at a point; the identity where that tells nothing.
    ///
    /// `slope(u, g)` writes the gradient of log p and says whether it is finite.
    pub(super) fn at(point: &[f64], mut slope: impl FnMut(&[f64], &mut [f64]) -> bool) -> Self {
        let dim = point.len();
        let mut curvature = vec![0.0; dim * dim];
        let (mut ahead, mut behind) = (vec![0.0; dim], vec![0.0; dim]);
        let mut moved = point.to_vec();
        for d in 0..dim {
            let width = 1e-5 * point[d].abs().max(1.0);
            moved[d] = point[d] + width;
            let mut finite = slope(&moved, &mut ahead);
            moved[d] = point[d] - width;
            finite &= slope(&moved, &mut behind);
            moved[d] = point[d];
            if !finite {
                return Self::identity(dim);
            }
            for j in 0..dim {
                curvature[d * dim + j] = (behind[j] - ahead[j]) / (2.0 * width);
            }
        }
        symmetrise(&mut curvature, dim);
        let (values, _) = symmetric_eigen(&curvature, dim);
        let largest = values.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        if largest == 0.0 || !largest.is_finite() {
            return Self::identity(dim);
        }
        let floor = FLATTEST * largest;
        let covariance = spectral(&curvature, dim, |value| 1.0 / value.abs().max(floor));
        Self::new(covariance, dim).unwrap_or_else(|| Self::identity(dim))
    }

    /// Σ p.
    pub(super) fn velocity(&self, momentum: &[f64]) -> Vec<f64> {
        times_vector(&self.covariance, momentum)
    }

    /// p ~ N(0, Σ⁻¹): L⁻ᵀ of standard normals.
    pub(super) fn momentum(&self, random: &mut Random) -> Vec<f64> {
        let normals: Vec<f64> = (0..self.dim).map(|_| StandardNormal.sample(random)).collect();
        let column =
            |j: usize| (j..self.dim).map(|i| self.inverse_factor[i * self.dim + j] * normals[i]).sum();
        (0..self.dim).map(column).collect()
    }

    /// Σ⁻¹ = L⁻ᵀ L⁻¹.
    fn precision(&self) -> Vec<f64> {
        let (d, l) = (self.dim, &self.inverse_factor);
        let entry = |i: usize, j: usize| (i.max(j)..d).map(|k| l[k * d + i] * l[k * d + j]).sum();
        (0..d * d).map(|at| entry(at / d, at % d)).collect()
    }
}

/// Running means and covariances of draws and their gradients.
#[derive(Clone, Debug)]
pub(super) struct Window {
    n: usize,
    draws: Moments,
    gradients: Moments,
}

impl Window {
    pub(super) fn new(dim: usize) -> Self {
        Self { n: 0, draws: Moments::new(dim), gradients: Moments::new(dim) }
    }

    pub(super) fn add(&mut self, draw: &[f64], gradient: &[f64]) {
        self.n += 1;
        self.draws.add(draw, self.n);
        self.gradients.add(gradient, self.n);
    }

    /// The metric of these draws, drawn a little towards the earlier one; the earlier one itself where that fails.
    pub(super) fn metric(&self, earlier: &Metric) -> Metric {
        let d = earlier.dim;
        let total = self.n as f64 + EARLIER;
        let mixed = |squares: &[f64], old: &[f64]| -> Vec<f64> {
            squares.iter().zip(old).map(|(s, o)| (s + EARLIER * o) / total).collect()
        };
        let draws = mixed(&self.draws.squares, &earlier.covariance);
        let gradients = mixed(&self.gradients.squares, &earlier.precision());
        let mean = geometric_mean(&draws, &gradients, d);
        mean.and_then(|covariance| Metric::new(covariance, d)).unwrap_or_else(|| earlier.clone())
    }
}

/// Mean, and sum of the outer products of the differences from it.
#[derive(Clone, Debug)]
struct Moments {
    mean: Vec<f64>,
    squares: Vec<f64>,
}

impl Moments {
    fn new(dim: usize) -> Self {
        Self { mean: vec![0.0; dim], squares: vec![0.0; dim * dim] }
    }

    /// Adds the `n`-th value (Welford).
    fn add(&mut self, value: &[f64], n: usize) {
        let before: Vec<f64> = value.iter().zip(&self.mean).map(|(x, m)| x - m).collect();
        self.mean.iter_mut().zip(&before).for_each(|(m, b)| *m += b / n as f64);
        let after: Vec<f64> = value.iter().zip(&self.mean).map(|(x, m)| x - m).collect();
        for (row, b) in self.squares.chunks_exact_mut(value.len()).zip(&before) {
            row.iter_mut().zip(&after).for_each(|(s, a)| *s += b * a);
        }
    }
}

/// C # G⁻¹ by way of L with C = L Lᵀ: L (Lᵀ G L)^−½ Lᵀ; `None` where C is not positive definite.
fn geometric_mean(c: &[f64], g: &[f64], d: usize) -> Option<Vec<f64>> {
    let mut c = c.to_vec();
    symmetrise(&mut c, d);
    let l = cholesky(&c, d)?;
    let transposed: Vec<f64> = (0..d * d).map(|at| l[at % d * d + at / d]).collect();
    let mut inner = product(&product(&transposed, g, d), &l, d);
    symmetrise(&mut inner, d);
    let root = spectral(&inner, d, |value| 1.0 / value.max(f64::MIN_POSITIVE).sqrt());
    let mut mean = product(&product(&l, &root, d), &transposed, d);
    symmetrise(&mut mean, d);
    Some(mean)
}

/// V f(λ) Vᵀ of a symmetric matrix.
fn spectral(a: &[f64], d: usize, f: impl Fn(f64) -> f64) -> Vec<f64> {
    let (values, vectors) = symmetric_eigen(a, d);
    let scaled: Vec<f64> = (0..d * d).map(|at| vectors[at] * f(values[at % d])).collect();
    let entry =
        |at: usize| dot(&scaled[at / d * d..(at / d + 1) * d], &vectors[at % d * d..(at % d + 1) * d]);
    (0..d * d).map(entry).collect()
}

fn product(a: &[f64], b: &[f64], d: usize) -> Vec<f64> {
    let entry = |i: usize, j: usize| (0..d).map(|k| a[i * d + k] * b[k * d + j]).sum();
    (0..d * d).map(|at| entry(at / d, at % d)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    /// Precision of a Gaussian with standard deviations of 0.01 and 10 and correlation 0.9.
    fn precision() -> [f64; 4] {
        let (a, b, r) = (0.01_f64, 10.0_f64, 0.9_f64);
        let k = 1.0 / (1.0 - r * r);
        [k / (a * a), -r * k / (a * b), -r * k / (a * b), k / (b * b)]
    }

    fn slope(u: &[f64], g: &mut [f64]) -> bool {
        let p = precision();
        (g[0], g[1]) = (-(p[0] * u[0] + p[1] * u[1]), -(p[2] * u[0] + p[3] * u[1]));
        true
    }

    #[track_caller]
    fn assert_is_the_covariance(metric: &Metric, tolerance: f64) {
        let exact = [1e-4, 0.09, 0.09, 100.0];
        for (found, exact) in metric.covariance.iter().zip(exact) {
            assert!((found / exact - 1.0).abs() < tolerance, "{found} {exact}");
        }
    }

    #[test]
    fn the_curvature_of_a_gaussian_is_its_covariance() {
        assert_is_the_covariance(&Metric::at(&[0.02, 3.0], slope), 1e-4);
    }

    #[test]
    fn nothing_is_believed_of_a_place_without_slopes() {
        let metric = Metric::at(&[1.0, 2.0], |_, _| false);
        assert_eq!(metric.covariance, [1.0, 0.0, 0.0, 1.0]);
    }

    /// Draws and gradients of a Gaussian give its covariance exactly once they span the space, however few they are.
    #[test]
    fn a_window_of_few_draws_finds_a_gaussian() {
        let mut window = Window::new(2);
        let mut random = stream(1, 0);
        for _ in 0..400 {
            let u = [0.01, 10.0].map(|s| {
                let n: f64 = StandardNormal.sample(&mut random);
                s * n
            });
            let mut g = [0.0; 2];
            slope(&u, &mut g);
            window.add(&u, &g);
        }
        // 400 draws against 5 of the identity.
        assert_is_the_covariance(&window.metric(&Metric::at(&[0.0, 0.0], slope)), 1e-4);
    }

    /// Momenta have covariance Σ⁻¹: 20 000 draws, five standard errors.
    #[test]
    fn momenta_are_drawn_by_the_inverse() {
        let metric = Metric::new(vec![4.0, 1.0, 1.0, 2.0], 2).unwrap();
        let mut random = stream(2, 0);
        let n = 20_000;
        let mut sums = [0.0; 3];
        for _ in 0..n {
            let p = metric.momentum(&mut random);
            sums = [sums[0] + p[0] * p[0], sums[1] + p[0] * p[1], sums[2] + p[1] * p[1]];
        }
        let exact = [2.0 / 7.0, -1.0 / 7.0, 4.0 / 7.0];
        assert_eq!(
            metric.precision().iter().map(|x| (x * 7.0).round()).collect::<Vec<_>>(),
            [2.0, -1.0, -1.0, 4.0]
        );
        for (sum, exact) in sums.iter().zip(exact) {
            assert!((sum / f64::from(n) - exact).abs() < 0.03, "{sum} {exact}");
        }
    }
}
