//! The filter against the dense joint Gaussian, its adjoint, long sequences, forecasts and draws.

mod dense;
mod filter;
mod forecast;
mod gradient;
mod long;

use super::*;
use crate::base::{InputMap, RolloutInputs};
use crate::kernel::Scalar;

/// Numbers that look random and are the same every time; as a matrix they have full rank.
fn wave(n: usize, phase: f64) -> Vec<f64> {
    (0..n).map(|i| 0.9 * ((i as f64) * (1.37 + 0.21 * i as f64) + phase).sin()).collect()
}

/// A model, sequences that share inputs and pattern, and a start.
#[derive(Clone, Debug)]
struct Case {
    model: StochasticLds,
    theta: Vec<f64>,
    start: Vec<f64>,
    /// Factor of P_0, n × n.
    start_factor: Vec<f64>,
    inputs: Vec<f64>,
    quiet: Vec<bool>,
    values: Vec<f64>,
    mask: Vec<bool>,
}

impl Case {
    /// `sizes`: n, p, m, T.
    fn new(sizes: [usize; 4], forms: (NoiseForm, NoiseForm), phase: f64) -> Self {
        let [n, p, m, n_time] = sizes;
        let mut model = StochasticLds { process_noise: forms.0, ..StochasticLds::new(n, p, m) };
        model.lds.noise_form = forms.1;
        if n % 2 == 0 {
            model.lds.input_map = InputMap::Tanh;
        }
        Self {
            theta: wave(model.theta_len(), phase),
            start: wave(n, phase + 0.5),
            start_factor: wave(n * n, phase + 0.7).iter().map(|x| 0.5 * x).collect(),
            inputs: wave(n_time * m, phase + 1.0),
            quiet: vec![false; n_time],
            values: wave(n_time * p, phase + 2.0).iter().map(|y| 2.0 * y).collect(),
            mask: vec![true; n_time * p],
            model,
        }
    }

    /// Every step and output missing where a hash of its place and `seed` says so; every third step misses all.
    fn with_gaps(mut self, seed: usize) -> Self {
        let p = self.model.lds.d_obs;
        for (at, observed) in self.mask.iter_mut().enumerate() {
            *observed = (at * 7 + seed * 3 + at * at) % 5 < 3 && !(at / p + seed).is_multiple_of(3);
        }
        for (y, observed) in self.values.iter_mut().zip(&self.mask) {
            if !observed {
                *y = f64::NAN; // must not be looked at
            }
        }
        self
    }

    fn pattern(&self) -> Pattern {
        Pattern::new(&self.mask, self.model.lds.d_obs).unwrap()
    }

    fn drive(&self) -> RolloutInputs<'_, f64> {
        RolloutInputs { inputs: &self.inputs, quiet: &self.quiet }
    }

    fn log_likelihood(&self) -> f64 {
        let pattern = self.pattern();
        let gains = Gains::new(&self.model, &self.theta, &pattern, Some(&self.start_factor)).unwrap();
        let pushes = gains.system().pushes(self.drive()).unwrap();
        let mut means = Means::new(&gains);
        gains.means(&pushes, Some(&self.start), &self.values, &mut means).unwrap()
    }
}

/// Log likelihood and gradients with respect to θ and m_0 of weighted sequences with the pattern and the inputs of one.
fn weighted_gradient<S: Scalar>(
    model: &StochasticLds,
    (theta, start, start_factor): (&[S], &[S], &[S]),
    pattern: &Pattern,
    drive: RolloutInputs<'_, S>,
    sequences: &[(S, Vec<S::Real>)],
) -> (S, Vec<S>, Vec<S>) {
    let gains = Gains::new(model, theta, pattern, Some(start_factor)).unwrap();
    let pushes = gains.system().pushes(drive).unwrap();
    let mut gradient = GainsGradient::new(&gains);
    let (mut d_theta, mut d_start) = (vec![S::zero(); theta.len()], vec![S::zero(); start.len()]);
    let (mut means, mut total) = (Means::new(&gains), S::zero());
    for (weight, values) in sequences {
        let log_likelihood = gains.means(&pushes, Some(start), values, &mut means).unwrap();
        total = weight.mul_add(log_likelihood, total);
        gains.pull(&pushes, &means, *weight, &mut gradient, &mut d_start).unwrap();
    }
    gains.add_to_theta(theta, drive, gradient, (&mut d_theta, &mut [])).unwrap();
    (total, d_theta, d_start)
}

const FORMS: [(NoiseForm, NoiseForm); 4] = [
    (NoiseForm::Diagonal, NoiseForm::Diagonal),
    (NoiseForm::Diagonal, NoiseForm::Full),
    (NoiseForm::Full, NoiseForm::Diagonal),
    (NoiseForm::Full, NoiseForm::Full),
];
