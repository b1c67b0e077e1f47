//! The oracle: mean and covariance of all outputs at once, and what conditioning on some of them leaves.

use super::Case;
use crate::base::lds::transition;
use crate::base::{InputMap, NoiseForm};

/// The joint Gaussian of all outputs, observed or not: (T p) numbers and (T p) × (T p).
pub(super) struct Joint {
    pub mean: Vec<f64>,
    pub covariance: Vec<f64>,
}

/// X Y for row-major X (… × k) and Y (k × columns).
pub(super) fn product(x: &[f64], y: &[f64], k: usize) -> Vec<f64> {
    let columns = y.len() / k;
    let row = |row: &[f64]| -> Vec<f64> {
        (0..columns).map(|j| (0..k).map(|i| row[i] * y[i * columns + j]).sum()).collect()
    };
    x.chunks_exact(k).flat_map(row).collect()
}

pub(super) fn transpose(x: &[f64], columns: usize) -> Vec<f64> {
    let rows = x.len() / columns;
    (0..x.len()).map(|at| x[at % rows * columns + at / rows]).collect()
}

fn sum(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| x + y).collect()
}

/// L Lᵀ from raw values.
fn covariance(form: NoiseForm, raw: &[f64], size: usize) -> Vec<f64> {
    let entry = |i: usize, j: usize| match (i == j, form) {
        (true, _) => raw[i].exp(),
        (false, NoiseForm::Full) if j < i => raw[size + i * (i - 1) / 2 + j],
        _ => 0.0,
    };
    let factor: Vec<f64> = (0..size * size).map(|at| entry(at / size, at % size)).collect();
    product(&factor, &transpose(&factor, size), size)
}

fn input_matrix(case: &Case) -> Vec<f64> {
    let (lds, places) = (&case.model.lds, case.model.lds.places());
    let entry = |i: usize| {
        let bounded = case.theta[places.input.start + i].tanh();
        match lds.input_map {
            InputMap::Tanh => bounded,
            InputMap::Sparse => bounded / (1.0 + (-case.theta[places.input_gate.start + i]).exp()),
        }
    };
    (0..lds.d_state * lds.d_input).map(entry).collect()
}

impl Joint {
    pub(super) fn new(case: &Case) -> Self {
        let (lds, theta, places) = (&case.model.lds, &case.theta, case.model.lds.places());
        let (n, p, m, n_time) = (lds.d_state, lds.d_obs, lds.d_input, case.quiet.len());
        let (mut a, mut q) = (vec![0.0; n * n], vec![0.0; n * n]);
        transition::forward(&theta[places.decay], &theta[places.rotation], &mut a, &mut q);
        let r = covariance(case.model.process_noise, &theta[case.model.process_range()], n);
        let s = covariance(lds.noise_form, &theta[places.noise], p);
        let (b, c, d) = (input_matrix(case), &theta[places.emission], &theta[places.feedthrough]);
        let (mut x, mut own) =
            (case.start.clone(), product(&case.start_factor, &transpose(&case.start_factor, n), n));
        let size = n_time * p;
        let mut joint = Self { mean: vec![], covariance: vec![0.0; size * size] };
        // Covariances of x_t with each x_τ, τ ≤ t: A Cov(x_{t−1}, x_τ).
        let mut with_past: Vec<Vec<f64>> = vec![];
        for t in 0..n_time {
            let u = &case.inputs[t * m..(t + 1) * m];
            let driven = if m == 0 { vec![0.0; n] } else { product(&b, u, m) };
            let through = if m == 0 { vec![0.0; p] } else { product(d, u, m) };
            x = sum(&sum(&product(&a, &x, n), &driven), &theta[places.state_bias.clone()]);
            own = sum(&product(&product(&a, &own, n), &transpose(&a, n), n), &r);
            with_past.iter_mut().for_each(|past| *past = product(&a, past, n));
            with_past.push(own.clone());
            joint.mean.extend(sum(&sum(&product(c, &x, n), &through), &theta[places.offset.clone()]));
            for (tau, cross) in with_past.iter().enumerate() {
                let mut block = product(&product(c, cross, n), &transpose(c, n), n);
                if tau == t {
                    block = sum(&block, &s);
                }
                joint.set_block(p, (t, tau), &block);
            }
        }
        joint
    }

    fn set_block(&mut self, p: usize, (t, tau): (usize, usize), block: &[f64]) {
        let size = self.covariance.len().isqrt();
        for i in 0..p {
            for j in 0..p {
                self.covariance[(t * p + i) * size + tau * p + j] = block[i * p + j];
                self.covariance[(tau * p + j) * size + t * p + i] = block[i * p + j];
            }
        }
    }

    fn block(&self, rows: &[usize], columns: &[usize]) -> Vec<f64> {
        let size = self.mean.len();
        rows.iter().flat_map(|&i| columns.iter().map(move |&j| self.covariance[i * size + j])).collect()
    }

    /// log density of the observed values.
    pub(super) fn log_density(&self, mask: &[bool], values: &[f64]) -> f64 {
        let observed: Vec<usize> = (0..mask.len()).filter(|&i| mask[i]).collect();
        let k = observed.len();
        let factor = cholesky(&self.block(&observed, &observed), k);
        let residual: Vec<f64> = observed.iter().map(|&i| values[i] - self.mean[i]).collect();
        let white = solve_lower(&factor, &residual, k);
        let log_det: f64 = (0..k).map(|i| factor[i * k + i].ln()).sum();
        let ln_2pi = (2.0 * std::f64::consts::PI).ln();
        -0.5 * white.iter().map(|x| x * x).sum::<f64>() - log_det - 0.5 * k as f64 * ln_2pi
    }

    /// Mean and covariance of the wanted values given the observed ones.
    pub(super) fn given(&self, mask: &[bool], values: &[f64], wanted: &[usize]) -> (Vec<f64>, Vec<f64>) {
        let observed: Vec<usize> = (0..mask.len()).filter(|&i| mask[i]).collect();
        let (k, w) = (observed.len(), wanted.len());
        let prior_mean: Vec<f64> = wanted.iter().map(|&i| self.mean[i]).collect();
        let prior = self.block(wanted, wanted);
        if k == 0 {
            return (prior_mean, prior);
        }
        let factor = cholesky(&self.block(&observed, &observed), k);
        let residual: Vec<f64> = observed.iter().map(|&i| values[i] - self.mean[i]).collect();
        let white = solve_lower(&factor, &residual, k);
        let cross: Vec<f64> =
            wanted.iter().flat_map(|&i| solve_lower(&factor, &self.block(&observed, &[i]), k)).collect();
        let mean = sum(&prior_mean, &product(&cross, &white, k));
        let explained = product(&cross, &transpose(&cross, k), k);
        assert_eq!(explained.len(), w * w);
        (mean, prior.iter().zip(&explained).map(|(p, e)| p - e).collect())
    }
}

pub(super) fn cholesky(a: &[f64], k: usize) -> Vec<f64> {
    let mut l = vec![0.0; k * k];
    for i in 0..k {
        for j in 0..=i {
            let rest = a[i * k + j] - (0..j).map(|c| l[i * k + c] * l[j * k + c]).sum::<f64>();
            l[i * k + j] = if i == j { rest.sqrt() } else { rest / l[j * k + j] };
        }
    }
    l
}

fn solve_lower(l: &[f64], v: &[f64], k: usize) -> Vec<f64> {
    let mut x = vec![0.0; k];
    for i in 0..k {
        x[i] = (v[i] - (0..i).map(|j| l[i * k + j] * x[j]).sum::<f64>()) / l[i * k + i];
    }
    x
}
