//! The linear system in plain numbers, equation by equation, in double precision.

use mtds_cuda::{Activation, Features, LinearData, LinearShape, Source};

use crate::numbers::Numbers;

/// A shape with blocks that are adapted, shared and fixed in turn; sizes are those of code, state, input, output.
pub fn shape(sizes: [usize; 4], features: Features, hidden: &[(usize, Activation)]) -> LinearShape {
    let [d_code, n, m, p] = sizes;
    let is_gated = (n + m) % 2 == 0;
    let mut shape = LinearShape {
        d_code,
        features,
        hidden: hidden.to_vec(),
        skip: (n + p) % 2 == 1,
        d_state: n,
        d_input: m,
        d_obs: p,
        is_gated,
        theta: vec![],
    };
    let (mut adapted, mut shared) = (0, 0);
    for (block, len) in blocks(&shape).into_iter().enumerate() {
        for _ in 0..len {
            shape.theta.push(match block {
                4 | 8 => {
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

/// Lengths of υ, S, gates, B, b, C, D, d, log s, x₀.
fn blocks(shape: &LinearShape) -> [usize; 10] {
    let (n, m, p) = (shape.d_state, shape.d_input, shape.d_obs);
    let gates = if shape.is_gated { n * m } else { 0 };
    [n, n * (n - 1) / 2, gates, n * m, n, p * n, p * m, p, p, n]
}

/// Ranges of the tensors: weights, biases, skip weights, shared numbers.
pub fn parts(shape: &LinearShape) -> Vec<std::ops::Range<usize>> {
    let count = |of: fn(&Source) -> bool| shape.theta.iter().filter(|s| of(s)).count();
    let (adapted, shared) =
        (count(|s| matches!(s, Source::Adapted(_))), count(|s| matches!(s, Source::Shared(_))));
    let (mut lens, mut n_in) = (vec![], shape.n_features());
    for width in shape.hidden.iter().map(|(width, _)| *width).chain([adapted]) {
        lens.extend([width * n_in, width]);
        n_in = width;
    }
    lens.extend([if shape.skip { adapted * shape.d_code } else { 0 }, shared]);
    let mut at = 0;
    let ranges = lens.into_iter().map(|len| {
        at += len;
        at - len..at
    });
    ranges.filter(|range| !range.is_empty()).collect()
}

/// Sequences of these lengths, with gaps.
pub fn data(shape: &LinearShape, steps: &[usize], shares_inputs: bool, numbers: &mut Numbers) -> LinearData {
    let rows: usize = steps.iter().sum();
    let input_rows = if shares_inputs { steps.iter().copied().max().unwrap_or(0) } else { rows };
    let mut outputs = numbers.many(rows * shape.d_obs, 1.0);
    outputs.iter_mut().skip(3).step_by(7).for_each(|y| *y = f32::NAN);
    LinearData {
        inputs: numbers.many(input_rows * shape.d_input, 1.0),
        outputs,
        steps: steps.to_vec(),
        shares_inputs,
    }
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
fn theta(shape: &LinearShape, parameters: &[f64], code: &[f64]) -> Vec<f64> {
    let (mut at, mut values) = (0, code.to_vec());
    if shape.features == Features::Trigonometric {
        values.extend(code.iter().map(|z| z.sin()));
        values.extend(code.iter().map(|z| z.cos()));
        values.push(code.iter().map(|z| z * z).sum::<f64>().sqrt());
    }
    let adapted = shape.theta.iter().filter(|s| matches!(s, Source::Adapted(_))).count();
    for (width, form) in shape.hidden.iter().copied().chain([(adapted, Activation::Identity)]) {
        let n_in = values.len();
        let (w, b) =
            (&parameters[at..at + width * n_in], &parameters[at + width * n_in..at + width * (n_in + 1)]);
        values = (0..width).map(|u| activate(row_times(w, u, &values) + b[u], form)).collect();
        at += width * (n_in + 1);
    }
    if shape.skip {
        let w = &parameters[at..at + adapted * code.len()];
        values.iter_mut().enumerate().for_each(|(u, value)| *value += row_times(w, u, code));
        at += adapted * code.len();
    }
    let value = |source: &Source| match *source {
        Source::Adapted(row) => values[row],
        Source::Shared(i) => parameters[at + i],
        Source::Fixed(x) => f64::from(x),
    };
    shape.theta.iter().map(value).collect()
}

/// A = diag(tanh υ) (I − S)(I + S)⁻¹, one column of the inverse after the other by Gaussian elimination.
fn transition(decay: &[f64], skew: &[f64]) -> Vec<f64> {
    let n = decay.len();
    let mut s = vec![0.0; n * n];
    let mut k = 0;
    for i in 0..n {
        for j in i + 1..n {
            let size = skew[k].abs();
            let bounded = size.min(8.0) + 8.0 * ((size - 8.0).max(0.0) / 8.0).tanh();
            (s[i * n + j], s[j * n + i]) = (bounded * skew[k].signum(), -bounded * skew[k].signum());
            k += 1;
        }
    }
    let unit = |i: usize, j: usize| f64::from(u8::from(i == j));
    let mut a = vec![0.0; n * n];
    for column in 0..n {
        let mut rows: Vec<Vec<f64>> = (0..n)
            .map(|i| (0..n).map(|j| unit(i, j) + s[i * n + j]).chain([unit(i, column)]).collect())
            .collect();
        for c in 0..n {
            for r in (0..n).filter(|&r| r != c) {
                let factor = rows[r][c] / rows[c][c];
                for j in 0..=n {
                    rows[r][j] -= factor * rows[c][j];
                }
            }
        }
        let inverse: Vec<f64> = (0..n).map(|i| rows[i][n] / rows[i][i]).collect();
        for i in 0..n {
            let q: f64 = (0..n).map(|j| (unit(i, j) - s[i * n + j]) * inverse[j]).sum();
            a[i * n + column] = decay[i].tanh() * q;
        }
    }
    a
}

/// log p of sequence `i` under a code, log s raised by a shift.
pub fn log_likelihood(
    shape: &LinearShape,
    parameters: &[f64],
    (data, i): (&LinearData, usize),
    (code, shift): (&[f64], f64),
) -> f64 {
    let (n, m, p) = (shape.d_state, shape.d_input, shape.d_obs);
    let theta = theta(shape, parameters, code);
    let mut at = 0;
    let blocks = blocks(shape).map(|len| {
        at += len;
        &theta[at - len..at]
    });
    let [decay, skew, gates, raw, bias, emission, feedthrough, offset, noise, start] = blocks;
    let a = transition(decay, skew);
    let gate = |k: usize| gates.get(k).map_or(1.0, |g| 1.0 / (1.0 + (-g).exp()));
    let b: Vec<f64> = raw.iter().enumerate().map(|(k, x)| gate(k) * x.tanh()).collect();
    let first: usize = data.steps[..i].iter().sum();
    let first_input = if data.shares_inputs { 0 } else { first };
    let (mut state, mut total) = (start.to_vec(), 0.0);
    for t in 0..data.steps[i] {
        let inputs = &data.inputs[(first_input + t) * m..(first_input + t + 1) * m];
        let u: Vec<f64> = inputs.iter().map(|&x| f64::from(x)).collect();
        state = (0..n).map(|j| row_times(&a, j, &state) + row_times(&b, j, &u) + bias[j]).collect();
        for d in 0..p {
            let y = f64::from(data.outputs[(first + t) * p + d]);
            if !y.is_nan() {
                let predicted = row_times(emission, d, &state) + row_times(feedthrough, d, &u) + offset[d];
                let error = (y - predicted) * (-noise[d] - shift).exp();
                total -= 0.5 * error * error + noise[d] + shift + 0.918_938_533_204_672_8;
            }
        }
    }
    total
}
