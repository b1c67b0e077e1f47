//! The network in plain numbers, equation by equation, in double precision.

mod numbers;

use mtds_cuda::{Activation, Data, Front, Products, Shape, Source};
pub use numbers::Numbers;

/// A shape with blocks that are adapted, shared and fixed in turn.
#[must_use]
pub fn shape(sizes: [usize; 4], front: Option<Front>, hidden: &[(usize, Activation)], skip: bool) -> Shape {
    let [d_code, n, m, p] = sizes;
    let mut shape = Shape {
        front,
        d_code,
        hidden: hidden.to_vec(),
        skip,
        d_state: n,
        d_drive: m,
        d_obs: p,
        theta: vec![],
        unscored: 1,
        products: Products::Exact,
    };
    let (mut adapted, mut shared) = (0, 0);
    // W, V, b, C, D, d, log s, x0
    for (block, len) in [n * n, n * m, n, p * n, p * m, p, p, n].into_iter().enumerate() {
        for _ in 0..len {
            shape.theta.push(match block {
                2 | 6 => {
                    shared += 1;
                    Source::Shared(shared - 1)
                }
                7 => Source::Fixed(0.1),
                _ => {
                    adapted += 1;
                    Source::Adapted(adapted - 1)
                }
            });
        }
    }
    shape
}

/// Parameters of a sensible size for each part.
#[must_use]
pub fn parameters(shape: &Shape, numbers: &mut Numbers) -> Vec<f32> {
    let scale = 0.6 / (shape.d_state as f64).sqrt();
    let mut all = numbers.many(shape.n_parameters(), scale);
    if let Some(front) = shape.front {
        let n = all.len();
        let front_len = 3 * front.units * (front.d_input + front.units + 2) + front.bottleneck * front.units;
        all[n - front_len..].copy_from_slice(&numbers.many(front_len, 1.0 / (front.units as f64).sqrt()));
    }
    all
}

#[must_use]
pub fn data(shape: &Shape, steps: &[usize], numbers: &mut Numbers) -> Data {
    let rows: usize = steps.iter().sum();
    let mut outputs = numbers.many(rows * shape.d_obs, 1.0);
    outputs.iter_mut().skip(3).step_by(7).for_each(|y| *y = f32::NAN);
    Data { inputs: numbers.many(rows * shape.d_input(), 1.0), outputs }
}

fn activate(x: f64, form: Activation) -> f64 {
    match form {
        Activation::Identity => x,
        Activation::Tanh => x.tanh(),
        Activation::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        Activation::Relu => x.max(0.0),
        Activation::Softplus => x.exp().ln_1p(),
    }
}

fn row_times(matrix: &[f64], row: usize, x: &[f64]) -> f64 {
    matrix[row * x.len()..(row + 1) * x.len()].iter().zip(x).map(|(a, b)| a * b).sum()
}

/// θ of a code.
fn theta(shape: &Shape, parameters: &[f64], code: &[f64]) -> Vec<f64> {
    let (mut at, mut values) = (0, code.to_vec());
    let last = (shape.d_adapted(), Activation::Identity);
    for (width, form) in shape.hidden.iter().copied().chain([last]) {
        let n_in = values.len();
        let (w, b) =
            (&parameters[at..at + width * n_in], &parameters[at + width * n_in..at + width * (n_in + 1)]);
        values = (0..width).map(|u| activate(row_times(w, u, &values) + b[u], form)).collect();
        at += width * (n_in + 1);
    }
    if shape.skip {
        let w = &parameters[at..at + values.len() * code.len()];
        values = (0..values.len()).map(|u| values[u] + row_times(w, u, code)).collect();
        at += values.len() * code.len();
    }
    let value = |source: &Source| match *source {
        Source::Adapted(row) => values[row],
        Source::Shared(i) => parameters[at + i],
        Source::Fixed(x) => f64::from(x),
    };
    shape.theta.iter().map(value).collect()
}

/// What drives the tanh network, by step.
fn features(shape: &Shape, parameters: &[f64], inputs: &[f64], n_time: usize) -> Vec<Vec<f64>> {
    let rows = (0..n_time).map(|t| &inputs[t * shape.d_input()..(t + 1) * shape.d_input()]);
    let Some(front) = shape.front else { return rows.map(<[f64]>::to_vec).collect() };
    let (h, m) = (front.units, front.d_input);
    let mut at = parameters.len() - 3 * h * (m + h + 2) - front.bottleneck * h;
    let mut take = |len: usize| {
        at += len;
        &parameters[at - len..at]
    };
    let (v, w, b, c, narrow) =
        (take(3 * h * m), take(3 * h * h), take(3 * h), take(3 * h), take(front.bottleneck * h));
    let mut state = vec![0.0; h];
    rows.map(|u| {
        let from = |row: usize| (row_times(v, row, u) + b[row], row_times(w, row, &state) + c[row]);
        let next = |i: usize| {
            let sum = |row: usize| from(row).0 + from(row).1;
            let sigmoid = |x: f64| activate(x, Activation::Sigmoid);
            let (r, z) = (sigmoid(sum(i)), sigmoid(sum(h + i)));
            let (x, y) = from(2 * h + i);
            (1.0 - z) * (x + r * y).tanh() + z * state[i]
        };
        let next: Vec<f64> = (0..h).map(next).collect();
        state = next;
        let mut out: Vec<f64> = (0..front.bottleneck).map(|i| row_times(narrow, i, &state)).collect();
        out.extend(u.iter().filter(|_| front.skip));
        out
    })
    .collect()
}

/// log p of one sequence under one code, log s raised by a shift.
#[must_use]
pub fn log_likelihood(
    shape: &Shape,
    parameters: &[f64],
    (inputs, outputs): (&[f32], &[f32]),
    (code, shift): (&[f64], f64),
) -> f64 {
    let (n, m, p) = (shape.d_state, shape.d_drive, shape.d_obs);
    let theta = theta(shape, parameters, code);
    let mut at = 0;
    let mut take = |len: usize| {
        at += len;
        &theta[at - len..at]
    };
    let (w, v, b, c, d, offset, noise) =
        (take(n * n), take(n * m), take(n), take(p * n), take(p * m), take(p), take(p));
    let mut state = take(n).to_vec();
    let inputs: Vec<f64> = inputs.iter().map(|&x| f64::from(x)).collect();
    let mut total = 0.0;
    for (t, u) in features(shape, parameters, &inputs, outputs.len() / p).iter().enumerate() {
        state = (0..n).map(|i| (row_times(w, i, &state) + row_times(v, i, u) + b[i]).tanh()).collect();
        for i in 0..p {
            let y = f64::from(outputs[t * p + i]);
            if y.is_finite() && t >= shape.unscored {
                let error = (y - row_times(c, i, &state) - row_times(d, i, u) - offset[i])
                    * (-noise[i] - shift).exp();
                total -= 0.5 * error * error + noise[i] + shift + 0.918_938_533_204_672_8;
            }
        }
    }
    total
}
