//! The model of one or two states written out plainly: a twin for the packed kernels.
//!
//! ```text
//! θ = W z + b           A = diag(tanh υ) Q,   Q = (I − S)(I + S)⁻¹ = 1/(1+s²) [1−s², −2s; 2s, 1−s²]
//! x_t = A x_{t−1} + (σ(B̃₁) ∘ tanh B̃₂) u_t + b        y_t ~ N(C x_t + D u_t + d, diag s²)
//! ```

use mtds::custom::Role;
use mtds::{Signal, System};

/// Blocks of θ, in the order in which [`Textbook::log_likelihood`] takes them.
const BLOCKS: [&str; 10] = [
    "decay",
    "rotation",
    "input_gate",
    "input",
    "state_bias",
    "emission",
    "feedthrough",
    "offset",
    "noise",
    "initial_state",
];

/// One entry of θ as an affine function of the code: bias, then one slope per dimension.
type Entry = Vec<f64>;

/// A model and a sequence.
pub struct Textbook<'a> {
    blocks: [Vec<Entry>; 10],
    outputs: &'a Signal,
    inputs: &'a Signal,
}

impl<'a> Textbook<'a> {
    /// For an affine generator, at most two states, one input and diagonal noise.
    pub fn new(model: &System, outputs: &'a Signal, inputs: &'a Signal) -> Self {
        assert!(model.base().d_state() <= 2 && model.base().d_input() == 1);
        assert!(model.spec().network.hidden.is_empty());
        Self { blocks: BLOCKS.map(|name| entries(model, name)), outputs, inputs }
    }

    /// log p(Y | z) with every standard deviation multiplied by e^δ; missing outputs are skipped.
    pub fn log_likelihood(&self, code: &[f64], delta: f64) -> f64 {
        let value = |entry: &Entry| entry[0] + code.iter().zip(&entry[1..]).map(|(z, w)| z * w).sum::<f64>();
        let theta = self.blocks.each_ref().map(|block| block.iter().map(value).collect::<Vec<f64>>());
        let [decay, rotation, gate, raw, bias, c, feedthrough, offset, noise, x0] = &theta;
        let n = decay.len();
        let a = transition(decay, rotation.first().copied().unwrap_or(0.0));
        let b: Vec<f64> = gate.iter().zip(raw).map(|(g, r)| r.tanh() / (1.0 + (-g).exp())).collect();
        let mut x = [x0[0], x0.get(1).copied().unwrap_or(0.0)];
        let mut sum = 0.0;
        for (t, y) in self.outputs.rows().enumerate() {
            let u = self.inputs.get(t, 0);
            let mut next = [0.0; 2];
            for i in 0..n {
                next[i] = a[2 * i] * x[0] + a[2 * i + 1] * x[1] + b[i] * u + bias[i];
            }
            x = next;
            for (i, &y) in y.iter().enumerate().filter(|(_, y)| !y.is_nan()) {
                let state: f64 = (0..n).map(|j| c[i * n + j] * x[j]).sum();
                sum += normal_log_density(y, state + feedthrough[i] * u + offset[i], noise[i] + delta);
            }
        }
        sum
    }
}

/// The entries of a block of θ.
fn entries(model: &System, name: &str) -> Vec<Entry> {
    let (block, k) = (model.layout().block(name).unwrap(), model.d_code());
    if block.role != Role::Adapted {
        let constant = |x: f64| [vec![x], vec![0.0; k]].concat();
        return model.block_values(name).unwrap().into_iter().map(constant).collect();
    }
    let (tensors, parameters) = (model.tensors(), model.parameters());
    let (weight, bias) = (&parameters[tensors[0].range()], &parameters[tensors[1].range()]);
    let row = |i: usize| [&bias[i..=i], &weight[i * k..(i + 1) * k]].concat();
    block.slots().map(|i| row(i).into_iter().map(f64::from).collect()).collect()
}

/// A, row-major, as 2 × 2 whatever the state.
fn transition(decay: &[f64], s: f64) -> [f64; 4] {
    let q = [1.0 - s * s, -2.0 * s, 2.0 * s, 1.0 - s * s].map(|x| x / (1.0 + s * s));
    let (first, second) = (decay[0].tanh(), decay.get(1).map_or(0.0, |v| v.tanh()));
    [first * q[0], first * q[1], second * q[2], second * q[3]]
}

/// log N(x | mean, e^{2 log_std}).
pub fn normal_log_density(x: f64, mean: f64, log_std: f64) -> f64 {
    let error = (x - mean) * (-log_std).exp();
    -0.5 * (error * error + std::f64::consts::TAU.ln()) - log_std
}

/// log N(z | 0, I).
pub fn standard_normal_log_density(code: &[f64]) -> f64 {
    code.iter().map(|&z| normal_log_density(z, 0.0, 0.0)).sum()
}
