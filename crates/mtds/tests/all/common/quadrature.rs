//! Posteriors by brute force: the trapezoidal rule on a dense grid.
//!
//! ```text
//! p(y) ≈ h_1 … h_d Σ p(y, u_i)         F(x_i) ≈ Σ_{j<i} m_j + m_i / 2         m: marginal masses of a coordinate
//! ```
//! For a density that is smooth on the scale h the rule converges faster than any power of h: with steps of
//! half a standard deviation a Gaussian is integrated to 1e-16.

use rayon::prelude::*;

/// One coordinate: `n` points from `low` to `high`.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    pub low: f64,
    pub high: f64,
    pub n: usize,
}

impl Axis {
    pub fn step(self) -> f64 {
        (self.high - self.low) / (self.n - 1) as f64
    }

    fn at(self, i: usize) -> f64 {
        self.low + self.step() * i as f64
    }
}

/// What the grid says of a posterior.
pub struct Exact {
    pub axes: Vec<Axis>,
    pub log_evidence: f64,
    pub mean: Vec<f64>,
    pub std_dev: Vec<f64>,
    /// The grid point of highest density.
    pub mode: Vec<f64>,
    /// Probability of each grid value of each coordinate.
    marginals: Vec<Vec<f64>>,
}

/// Grid indices of the point number `i`, the first axis fastest.
fn indices(axes: &[Axis], i: usize) -> impl Iterator<Item = usize> {
    axes.iter().scan(i, |rest, axis| {
        let index = *rest % axis.n;
        *rest /= axis.n;
        Some(index)
    })
}

/// The axes shortened to where the density is at most `nats` below its highest on the grid.
///
/// With 60 nats a peak between two grid points is not lost as long as it is wider than a tenth of a step.
pub fn focus(axes: &[Axis], nats: f64, n: usize, log_joint: impl Fn(&[f64]) -> f64 + Sync) -> Vec<Axis> {
    let total: usize = axes.iter().map(|axis| axis.n).product();
    let point = |i: usize| -> Vec<f64> { indices(axes, i).zip(axes).map(|(at, axis)| axis.at(at)).collect() };
    let values: Vec<f64> = (0..total).into_par_iter().map(|i| log_joint(&point(i))).collect();
    let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let kept: Vec<Vec<f64>> = (0..total).filter(|&i| values[i] > best - nats).map(point).collect();
    let shorten = |(d, axis): (usize, &Axis)| {
        let low = kept.iter().map(|u| u[d]).fold(f64::INFINITY, f64::min) - axis.step();
        let high = kept.iter().map(|u| u[d]).fold(f64::NEG_INFINITY, f64::max) + axis.step();
        Axis { low, high, n }
    };
    axes.iter().enumerate().map(shorten).collect()
}

/// Sums e^{log_joint} over the grid.
pub fn integrate(axes: &[Axis], log_joint: impl Fn(&[f64]) -> f64 + Sync) -> Exact {
    let total: usize = axes.iter().map(|axis| axis.n).product();
    let point = |i: usize| -> Vec<f64> { indices(axes, i).zip(axes).map(|(at, axis)| axis.at(at)).collect() };
    let values: Vec<f64> = (0..total).into_par_iter().map(|i| log_joint(&point(i))).collect();
    let best = (0..total).max_by(|&i, &j| values[i].total_cmp(&values[j])).unwrap();
    let mass: Vec<f64> = values.iter().map(|value| (value - values[best]).exp()).collect();
    let sum: f64 = mass.iter().sum();
    let mut marginals: Vec<Vec<f64>> = axes.iter().map(|axis| vec![0.0; axis.n]).collect();
    for (i, m) in mass.iter().enumerate() {
        indices(axes, i).zip(&mut marginals).for_each(|(at, marginal)| marginal[at] += m / sum);
    }
    let volume: f64 = axes.iter().map(|axis| axis.step().ln()).sum();
    let mut exact = Exact {
        axes: axes.to_vec(),
        log_evidence: values[best] + sum.ln() + volume,
        mean: vec![],
        std_dev: vec![],
        mode: point(best),
        marginals,
    };
    for (d, axis) in axes.iter().enumerate() {
        let expect = |f: &dyn Fn(f64) -> f64| -> f64 {
            exact.marginals[d].iter().enumerate().map(|(i, m)| m * f(axis.at(i))).sum()
        };
        let mean = expect(&|x| x);
        let variance = expect(&|x| (x - mean).powi(2));
        exact.mean.push(mean);
        exact.std_dev.push(variance.sqrt());
    }
    exact
}

impl Exact {
    /// P(u_d ≤ x), linear between grid values.
    pub fn cdf(&self, d: usize, x: f64) -> f64 {
        let along = ((x - self.axes[d].low) / self.axes[d].step()).clamp(0.0, (self.axes[d].n - 1) as f64);
        let (at, share) = (along.floor() as usize, along.fract());
        let m = &self.marginals[d];
        let here = m[..at].iter().sum::<f64>() + 0.5 * m[at];
        here + share * 0.5 * (m[at] + m.get(at + 1).copied().unwrap_or(0.0))
    }

    /// Panics unless the grid is wide enough (mass at its ends) and fine enough (steps per deviation).
    pub fn check_grid(&self) {
        for (d, axis) in self.axes.iter().enumerate() {
            let (first, last) = (self.marginals[d][0], self.marginals[d][axis.n - 1]);
            assert!(first < 1e-7 && last < 1e-7, "axis {d} is too short: {first:e} {last:e} at its ends");
            let per_deviation = self.std_dev[d] / axis.step();
            assert!(per_deviation > 4.0, "axis {d} is too coarse: {per_deviation} steps per deviation");
        }
    }
}
