//! The front against a plain one, its adjoint against central differences, and that it can be run in parts.

use super::*;
use crate::engine::cpu::FrontPass;
use crate::random::stream;

const STARTS: [FrontStart; 3] =
    [FrontStart::Zero, FrontStart::Learned, FrontStart::Encoded { steps: 2, d_obs: 3 }];

fn fronts() -> Vec<Front> {
    let form = |start: FrontStart| {
        let forms = [(InputSkip::None, false), (InputSkip::Inputs, false), (InputSkip::Inputs, true)];
        forms.map(|(skip, lag)| Front { skip, start, lag, ..Front::new(2, 5, 3) })
    };
    STARTS.into_iter().flat_map(form).collect()
}

fn wave(n: usize, phase: f32) -> Vec<f32> {
    (0..n).map(|i| 0.8 * (1.3 * i as f32 + phase).sin()).collect()
}

/// Three sequences of 4, 6 and 1 steps.
fn inputs() -> Vec<Vec<f32>> {
    [4, 6, 1].iter().map(|&n| wave(2 * n, n as f32)).collect()
}

fn seeds() -> Vec<Vec<f32>> {
    (0..3).map(|i| wave(12, 0.7 * i as f32)).collect()
}

fn readings<'a>(inputs: &'a [Vec<f32>], seeds: &'a [Vec<f32>]) -> Vec<FrontReading<'a>> {
    inputs.iter().zip(seeds).map(|(inputs, seed)| FrontReading { inputs, seed }).collect()
}

/// Parameters with a start that is not zero.
fn parameters(front: &Front) -> Vec<f32> {
    let mut parameters = front.first(&mut stream(3, 0));
    let n = parameters.len();
    parameters[n - 5..].copy_from_slice(&wave(5, 0.1));
    parameters
}

/// One sequence in plain numbers, equation by equation.
fn plain(front: &Front, parameters: &[f32], reading: FrontReading<'_>) -> Vec<f64> {
    let tensor = |name: &str| {
        let tensor = front.tensors().into_iter().find(|t| t.name == name).unwrap();
        parameters[tensor.range()].iter().map(|&x| f64::from(x)).collect::<Vec<f64>>()
    };
    let [v, w, b, c] = ["input", "recurrent", "input_bias", "recurrent_bias"]
        .map(|name| tensor(&format!("front.gru.{name}")));
    let (h, m) = (front.d_hidden, front.d_input);
    let product = |matrix: &[f64], row: usize, x: &[f64]| -> f64 {
        matrix[row * x.len()..(row + 1) * x.len()].iter().zip(x).map(|(a, b)| a * b).sum()
    };
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let mut state: Vec<f64> = match front.start {
        FrontStart::Zero => vec![0.0; h],
        FrontStart::Learned => tensor("front.start"),
        FrontStart::Encoded { .. } => {
            let (e, bias) = (tensor("front.encoder.weight"), tensor("front.encoder.bias"));
            let seed: Vec<f64> = reading.seed.iter().map(|&x| f64::from(x)).collect();
            (0..h).map(|i| (product(&e, i, &seed) + bias[i]).tanh()).collect()
        }
    };
    let bottleneck = tensor("front.bottleneck.weight");
    let mut features = vec![];
    for u in reading.inputs.chunks_exact(m) {
        let u: Vec<f64> = u.iter().map(|&x| f64::from(x)).collect();
        let from_inputs = |row: usize| product(&v, row, &u) + b[row];
        let from_state = |row: usize| product(&w, row, &state) + c[row];
        let next = (0..h).map(|i| {
            let r = sigmoid(from_inputs(i) + from_state(i));
            let z = sigmoid(from_inputs(h + i) + from_state(h + i));
            let n = (from_inputs(2 * h + i) + r * from_state(2 * h + i)).tanh();
            (1.0 - z) * n + z * state[i]
        });
        let next: Vec<f64> = next.collect();
        let before = std::mem::replace(&mut state, next);
        let handed_on = if front.lag { &before } else { &state };
        features.extend((0..front.d_bottleneck).map(|i| product(&bottleneck, i, handed_on)));
        if front.skip == InputSkip::Inputs {
            features.extend(&u);
        }
    }
    features
}

#[test]
fn features_are_those_of_the_plain_equations() {
    let (inputs, seeds) = (inputs(), seeds());
    for front in fronts() {
        let parameters = parameters(&front);
        let mut pass = FrontPass::default();
        front.run(&parameters, &readings(&inputs, &seeds), &mut pass);
        for (i, features) in pass.features.iter().enumerate() {
            let want = plain(&front, &parameters, readings(&inputs, &seeds)[i]);
            assert_eq!(features.len(), want.len());
            for (got, want) in features.iter().zip(want) {
                assert!((f64::from(*got) - want).abs() < 1e-5, "{front:?}: {got} {want}");
            }
        }
    }
}

#[test]
fn the_adjoint_matches_central_differences_of_the_plain_equations() {
    let (inputs, seeds) = (inputs(), seeds());
    for front in fronts() {
        let parameters = parameters(&front);
        let mut pass = FrontPass::default();
        front.run(&parameters, &readings(&inputs, &seeds), &mut pass);
        let weights: Vec<Vec<f32>> = pass.features.iter().map(|f| wave(f.len(), 2.0)).collect();
        let mut gradient = vec![0.0; parameters.len()];
        front.adjoint(&weights, &mut pass, &mut gradient);
        let loss = |parameters: &[f32]| -> f64 {
            let of = |(i, weights): (usize, &Vec<f32>)| -> f64 {
                let features = plain(&front, parameters, readings(&inputs, &seeds)[i]);
                features.iter().zip(weights).map(|(f, &w)| f * f64::from(w)).sum()
            };
            weights.iter().enumerate().map(of).sum()
        };
        for at in 0..parameters.len() {
            let moved = |by: f32| {
                let mut parameters = parameters.clone();
                parameters[at] += by;
                (loss(&parameters), f64::from(parameters[at]))
            };
            let ((up, right), (down, left)) = (moved(1e-2), moved(-1e-2));
            let numeric = (up - down) / (right - left);
            let got = f64::from(gradient[at]);
            assert!((got - numeric).abs() < 2e-3 * (1.0 + numeric.abs()), "{front:?} {at}: {got} {numeric}");
        }
    }
}

#[test]
fn a_sequence_can_be_run_in_parts() {
    let (inputs, seeds) = (inputs(), seeds());
    for front in fronts() {
        let parameters = parameters(&front);
        let reading = |from: usize, to: usize| FrontReading { inputs: &inputs[1][from..to], seed: &seeds[1] };
        let (whole, end) = front.run_on(&parameters, reading(0, 12), None);
        let (first, state) = front.run_on(&parameters, reading(0, 4), None);
        let (none, same) = front.run_on(&parameters, reading(4, 4), Some(&state));
        let (second, last) = front.run_on(&parameters, reading(4, 12), Some(&state));
        assert_eq!((none.len(), same), (0, state));
        let error = |(a, b): (&f32, &f32)| (a - b).abs();
        let parts = [first, second].concat();
        assert!(whole.iter().zip(&parts).chain(end.iter().zip(&last)).map(error).all(|e| e < 1e-6));
    }
}

#[test]
fn sizes_that_make_no_front_are_refused() {
    for (front, said) in [
        (Front::new(0, 4, 2), "inputs of the front"),
        (Front::new(1, 0, 2), "units of the front"),
        (Front::new(1, 4, 0), "bottleneck"),
        (
            Front { start: FrontStart::Encoded { steps: 0, d_obs: 1 }, ..Front::new(1, 4, 2) },
            "start of the front",
        ),
    ] {
        assert!(front.validate().unwrap_err().to_string().contains(said), "{front:?}");
    }
    assert!(fronts().iter().all(|front| front.validate().is_ok()));
}
