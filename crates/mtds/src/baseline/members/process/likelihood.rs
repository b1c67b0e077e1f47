//! The marginal likelihood of a family under processes with a mean in common, and its gradient.
//!
//! ```text
//! y_i = S_i m + N(0, B_i)        m ~ N(0, K)        S_i picks the steps that member i shows
//! Q = Σ S_iᵀ B_i⁻¹ S_i        b = Σ S_iᵀ B_i⁻¹ y_i        C = (K⁻¹ + Q)⁻¹ = L (I + Lᵀ Q L)⁻¹ Lᵀ,  K = L Lᵀ        m̂ = C b
//! log p = −½ (Σ y_iᵀ B_i⁻¹ y_i − bᵀ m̂ + Σ log |B_i| + log |I + Lᵀ Q L| + n log 2π)
//! α_i = B_i⁻¹ (y_i − S_i m̂)        β = Σ S_iᵀ α_i = b − Q m̂        R = Q − Q C Q
//! ∂ log p = ½ (βᵀ ∂K β − tr R ∂K) + ½ Σ (α_iᵀ ∂B_i α_i − tr (B_i⁻¹ − B_i⁻¹ S_i C S_iᵀ B_i⁻¹) ∂B_i)
//! m(t) | family ~ N(w_tᵀ G⁻¹ Lᵀ b, k₀(t, u) − v_tᵀ v_u + w_tᵀ w_u)        v = L⁻¹ k₀(t),  G Gᵀ = I + Lᵀ Q L,  w = G⁻¹ v
//! ```
//! This is the dense Gaussian over all values, at the price of one matrix for each set of steps that members show, and one for the family. The
//! last line equals k₀(t, u) − k₀(t) R k₀(u)ᵀ, which cancels all digits where many members leave m hardly in doubt.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use crate::algebra::{Matrix, cholesky, dot, gram_of_lower, invert_lower, log_diagonal_sum, times_vector};
use crate::baseline::members::curves::Curves;
use crate::infer::{Evaluator, LogTarget, Points, SmoothTarget, one_by_one};

/// Most steps that members show; more are thinned.
const MOST_STEPS: usize = 100;
/// Most n³ summed over sets of steps.
const MOST_WORK: usize = 40_000_000;
/// Added to the diagonals, in squared units of the outputs: factors of smooth kernels need it.
const JITTER: f64 = 1e-6;
/// Variance of level and slope of m.
const LINEAR_VAR: f64 = 4.0;
/// Prior standard deviation of log v₀, …, around where learning begins.
const PRIOR_STD: f64 = 3.0;

/// v₀, l₀, v, l, c and s², with the steps that x is measured by.
#[derive(Clone, Debug)]
pub(super) struct Kernels {
    values: [f64; Self::COUNT],
    centre: f64,
    span: f64,
}

impl Kernels {
    pub(super) const COUNT: usize = 6;

    /// k₀.
    pub(super) fn common(&self, t: f64, u: f64) -> f64 {
        let x = |t: f64| (t - self.centre) / self.span;
        let [v, l, ..] = self.values;
        smooth(v, l, t - u) + LINEAR_VAR * (1.0 + x(t) * x(u))
    }

    /// k.
    pub(super) fn own(&self, t: f64, u: f64) -> f64 {
        let [_, _, v, l, c, _] = self.values;
        smooth(v, l, t - u) + c
    }

    /// s², with what numerics add to it.
    pub(super) fn noise(&self) -> f64 {
        self.values[5] + JITTER
    }
}

fn smooth(v: f64, l: f64, difference: f64) -> f64 {
    v * (-0.5 * (difference / l).powi(2)).exp()
}

/// What the family says of m.
#[derive(Clone, Debug)]
pub(super) struct MeanProcess {
    times: Vec<f64>,
    /// L⁻¹.
    prior: Matrix,
    /// G⁻¹.
    posterior: Matrix,
    /// G⁻¹ Lᵀ b.
    weights: Vec<f64>,
}

impl MeanProcess {
    /// m at these times: its mean, and its covariance.
    pub(super) fn at(&self, times: &[f64], kernels: &Kernels) -> (Vec<f64>, Matrix) {
        let across =
            Matrix::from_fn(self.times.len(), times.len(), |i, j| kernels.common(self.times[i], times[j]));
        let v = self.prior.times(&across);
        let w = self.posterior.times(&v).transposed();
        let v = v.transposed();
        let mean = (0..times.len()).map(|i| dot(w.row(i), &self.weights)).collect();
        let covariance = |i: usize, j: usize| {
            kernels.common(times[i], times[j]) - dot(v.row(i), v.row(j)) + dot(w.row(i), w.row(j))
        };
        (mean, Matrix::from_fn(times.len(), times.len(), covariance))
    }
}

/// The values of one output.
#[derive(Debug)]
pub(super) struct Problem {
    times: Vec<f64>,
    patterns: Vec<Pattern>,
    centre: f64,
    span: f64,
}

/// Members that show the same steps.
#[derive(Debug)]
struct Pattern {
    /// Places in the times of the problem.
    at: Vec<usize>,
    values: Vec<Vec<f64>>,
}

/// log p, its gradient by the logs of the kernels' numbers, and what the family says of m.
pub(super) struct Evidence {
    pub(super) log_likelihood: f64,
    pub(super) gradient: [f64; Kernels::COUNT],
    pub(super) mean: MeanProcess,
}

/// What the family leaves open of m at its steps: C, L, G⁻¹ and ½ log |I + Lᵀ Q L|.
struct Doubt {
    covariance: Matrix,
    root: Matrix,
    posterior: Matrix,
    half_log_det: f64,
}

/// What a pattern adds: B⁻¹, and B⁻¹ y of each member.
struct Whitened {
    inverse: Matrix,
    values: Vec<Vec<f64>>,
    half_log_det: f64,
}

impl Problem {
    /// Output `c` of the members, thinned where it is too much.
    pub(super) fn of(curves: &Curves, c: usize) -> Self {
        let mut members: Vec<Vec<Shown>> =
            curves.members.iter().map(|values| shown(values, (c, curves.d_obs))).collect();
        let steps: BTreeSet<usize> = members.iter().flatten().map(|(step, _)| *step).collect();
        let all: Vec<usize> = steps.into_iter().collect();
        let stride = all.len().div_ceil(MOST_STEPS).max(1);
        let steps: Vec<usize> = all.iter().copied().step_by(stride).collect();
        if stride > 1 {
            members.iter_mut().for_each(|own| *own = nearest(own, &steps));
        }
        let mut patterns = patterns(&members, &steps);
        while members.len() > 2 && patterns.iter().map(|p| p.at.len().pow(3)).sum::<usize>() > MOST_WORK {
            members = members.into_iter().step_by(2).collect();
            patterns = self::patterns(&members, &steps);
        }
        let last = (curves.n_time - 1) as f64;
        let times = steps.into_iter().map(|t| t as f64).collect();
        Self { times, patterns, centre: 0.5 * last, span: last.max(1.0) }
    }

    /// Where learning begins, as logs.
    pub(super) fn start(&self) -> Vec<f64> {
        let length = (self.span / 5.0).max(1.0);
        [1.0, length, 0.3, length, 0.1, 0.02].map(f64::ln).to_vec()
    }

    pub(super) fn kernels(&self, logs: &[f64]) -> Kernels {
        Kernels { values: std::array::from_fn(|k| logs[k].exp()), centre: self.centre, span: self.span }
    }

    /// `None` where a covariance has no factor.
    pub(super) fn evidence(&self, kernels: &Kernels) -> Option<Evidence> {
        let n = self.times.len();
        let whitened: Vec<Whitened> =
            self.patterns.par_iter().map(|pattern| self.whiten(pattern, kernels)).collect::<Option<_>>()?;
        let (mut q, mut b) = (Matrix::zeros(n, n), vec![0.0; n]);
        let mut log_likelihood = 0.0;
        for (pattern, white) in self.patterns.iter().zip(&whitened) {
            let n_members = pattern.values.len() as f64;
            for (i, &row) in pattern.at.iter().enumerate() {
                for (j, &col) in pattern.at.iter().enumerate() {
                    q[(row, col)] += n_members * white.inverse[(i, j)];
                }
                b[row] += white.values.iter().map(|values| values[i]).sum::<f64>();
            }
            let squares: f64 = pattern.values.iter().zip(&white.values).map(|(y, w)| dot(y, w)).sum();
            let constant = 0.5 * (2.0 * std::f64::consts::PI).ln() * pattern.at.len() as f64;
            log_likelihood -= 0.5 * squares + n_members * (white.half_log_det + constant);
        }
        let Doubt { covariance: c, root, posterior, half_log_det } = self.doubt(kernels, &q)?;
        let m = times_vector(&c.values, &b);
        log_likelihood += 0.5 * dot(&b, &m) - half_log_det;
        let weights: Vec<f64> = b.iter().zip(times_vector(&q.values, &m)).map(|(b, qm)| b - qm).collect();
        let mut precision = q.times(&c).times(&q).scaled(-1.0);
        precision.values.iter_mut().zip(&q.values).for_each(|(r, q)| *r += q);
        let parts: Vec<[f64; 4]> = self
            .patterns
            .par_iter()
            .zip(&whitened)
            .map(|(pattern, white)| self.own_gradient(pattern, white, kernels, (&c, &m)))
            .collect();
        let mut gradient = [0.0; Kernels::COUNT];
        gradient[..2].copy_from_slice(&self.common_gradient(kernels, &weights, &precision));
        parts.iter().for_each(|part| (0..4).for_each(|k| gradient[2 + k] += part[k]));
        let prior = Matrix { rows: n, cols: n, values: invert_lower(&root.values, n) };
        let weights = times_vector(&posterior.values, &times_vector(&root.transposed().values, &b));
        let mean = MeanProcess { times: self.times.clone(), prior, posterior, weights };
        Some(Evidence { log_likelihood, gradient, mean })
    }

    fn whiten(&self, pattern: &Pattern, kernels: &Kernels) -> Option<Whitened> {
        let n = pattern.at.len();
        let time = |i: usize| self.times[pattern.at[i]];
        let noise = |i: usize, j: usize| if i == j { kernels.noise() } else { 0.0 };
        let b = Matrix::from_fn(n, n, |i, j| kernels.own(time(i), time(j)) + noise(i, j));
        let chol = cholesky(&b.values, n)?;
        let inverse = Matrix { rows: n, cols: n, values: gram_of_lower(&invert_lower(&chol, n), n) };
        let values = pattern.values.iter().map(|y| times_vector(&inverse.values, y)).collect();
        Some(Whitened { inverse, values, half_log_det: log_diagonal_sum(&chol, n) })
    }

    fn doubt(&self, kernels: &Kernels, q: &Matrix) -> Option<Doubt> {
        let n = self.times.len();
        let jitter = |i: usize, j: usize| if i == j { JITTER } else { 0.0 };
        let k = Matrix::from_fn(n, n, |i, j| kernels.common(self.times[i], self.times[j]) + jitter(i, j));
        let root = Matrix { rows: n, cols: n, values: cholesky(&k.values, n)? };
        let mut inner = root.transposed().times(q).times(&root);
        (0..n).for_each(|i| inner[(i, i)] += 1.0);
        let chol = cholesky(&inner.values, n)?;
        let posterior = Matrix { rows: n, cols: n, values: invert_lower(&chol, n) };
        // C = (G⁻¹ Lᵀ)ᵀ G⁻¹ Lᵀ.
        let half = posterior.times(&root.transposed());
        let (covariance, half_log_det) = (half.transposed().times(&half), log_diagonal_sum(&chol, n));
        Some(Doubt { covariance, root, posterior, half_log_det })
    }

    /// By log v₀ and log l₀.
    fn common_gradient(&self, kernels: &Kernels, weights: &[f64], precision: &Matrix) -> [f64; 2] {
        let [v, l, ..] = kernels.values;
        let mut gradient = [0.0; 2];
        for (i, t) in self.times.iter().enumerate() {
            for (j, u) in self.times.iter().enumerate() {
                let pull = 0.5 * (weights[i] * weights[j] - precision[(i, j)]) * smooth(v, l, t - u);
                gradient[0] += pull;
                gradient[1] += pull * ((t - u) / l).powi(2);
            }
        }
        gradient
    }

    /// By log v, log l, log c and log s².
    fn own_gradient(
        &self,
        pattern: &Pattern,
        white: &Whitened,
        kernels: &Kernels,
        (c, m): (&Matrix, &[f64]),
    ) -> [f64; 4] {
        let (n, n_members) = (pattern.at.len(), pattern.values.len() as f64);
        let near = Matrix::from_fn(n, n, |i, j| c[(pattern.at[i], pattern.at[j])]);
        // n_i (B⁻¹ − B⁻¹ S C Sᵀ B⁻¹) − Σ α αᵀ
        let mut pulls = white.inverse.times(&near).times(&white.inverse);
        pulls.values.iter_mut().zip(&white.inverse.values).for_each(|(x, b)| *x = n_members * (b - *x));
        let expected: Vec<f64> = pattern.at.iter().map(|&k| m[k]).collect();
        let expected = times_vector(&white.inverse.values, &expected);
        for values in &white.values {
            let alpha: Vec<f64> = values.iter().zip(&expected).map(|(y, m)| y - m).collect();
            for i in 0..n {
                (0..n).for_each(|j| pulls[(i, j)] -= alpha[i] * alpha[j]);
            }
        }
        let [_, _, v, l, offset, s2] = kernels.values;
        let mut gradient = [0.0; 4];
        for i in 0..n {
            for j in 0..n {
                let difference = self.times[pattern.at[i]] - self.times[pattern.at[j]];
                let (pull, smooth) = (-0.5 * pulls[(i, j)], smooth(v, l, difference));
                gradient[0] += pull * smooth;
                gradient[1] += pull * smooth * (difference / l).powi(2);
                gradient[2] += pull * offset;
            }
            gradient[3] -= 0.5 * pulls[(i, i)] * s2;
        }
        gradient
    }

    /// log p with the priors, and its gradient, by the logs.
    fn log_posterior(&self, logs: &[f64], gradient: &mut [f64]) -> f64 {
        let Some(found) = self.evidence(&self.kernels(logs)) else { return f64::NEG_INFINITY };
        let mut total = found.log_likelihood;
        for (k, start) in self.start().into_iter().enumerate() {
            let deviation = (logs[k] - start) / PRIOR_STD;
            total -= 0.5 * deviation * deviation;
            gradient[k] = found.gradient[k] - deviation / PRIOR_STD;
        }
        total
    }
}

/// A step, and the value there.
type Shown = (usize, f64);

/// What a member shows of output `c` of `d`.
fn shown(values: &[f64], (c, d): (usize, usize)) -> Vec<Shown> {
    let own = values.iter().skip(c).step_by(d).copied().enumerate();
    own.filter(|(_, y)| !y.is_nan()).collect()
}

/// By step, the value that a member shows nearest to it, of those that are nearest to no other of the steps: nothing that is seen now
/// and then is lost between them.
fn nearest(own: &[Shown], steps: &[usize]) -> Vec<Shown> {
    let mut found: BTreeMap<usize, (usize, f64)> = BTreeMap::new();
    for &(t, y) in own {
        let after = steps.partition_point(|&step| step < t);
        let near = steps[after.saturating_sub(1)..steps.len().min(after + 1)].iter();
        let Some(&step) = near.min_by_key(|step| step.abs_diff(t)) else { continue };
        let nearer = found.get(&step).is_none_or(|(distance, _)| step.abs_diff(t) < *distance);
        if nearer {
            found.insert(step, (step.abs_diff(t), y));
        }
    }
    found.into_iter().map(|(step, (_, y))| (step, y)).collect()
}

/// Members that show the same of these steps, together.
fn patterns(members: &[Vec<Shown>], steps: &[usize]) -> Vec<Pattern> {
    let mut found: BTreeMap<Vec<usize>, Vec<Vec<f64>>> = BTreeMap::new();
    for own in members {
        let places = own.iter().filter_map(|(t, _)| steps.binary_search(t).ok()).collect();
        found.entry(places).or_default().push(own.iter().map(|(_, y)| *y).collect());
    }
    found.remove(&vec![]);
    found.into_iter().map(|(at, values)| Pattern { at, values }).collect()
}

impl LogTarget for Problem {
    fn dim(&self) -> usize {
        Kernels::COUNT
    }

    fn log_density(&self, points: &Points, out: &mut [f64]) {
        let mut gradient = [0.0; Kernels::COUNT];
        for (i, value) in out.iter_mut().enumerate() {
            *value = self.log_posterior(&points.point(i), &mut gradient);
        }
    }
}

impl SmoothTarget for Problem {
    fn log_density_and_gradient(&self, points: &Points, out: &mut [f64], gradient: &mut Points) {
        let mut slope = [0.0; Kernels::COUNT];
        for (i, value) in out.iter_mut().enumerate() {
            *value = self.log_posterior(&points.point(i), &mut slope);
            gradient.set_point(i, &slope);
        }
    }

    fn evaluator(&self) -> Evaluator<'_> {
        one_by_one(self)
    }
}

#[cfg(test)]
impl Problem {
    /// Steps, and n³ summed over sets of them.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.times.len(), self.patterns.iter().map(|pattern| pattern.at.len().pow(3)).sum())
    }

    /// Steps and values of all members.
    pub(super) fn values(&self) -> Vec<(f64, f64)> {
        let mut found = vec![];
        for pattern in &self.patterns {
            for own in &pattern.values {
                found.extend(pattern.at.iter().map(|&k| self.times[k]).zip(own.iter().copied()));
            }
        }
        found
    }
}
