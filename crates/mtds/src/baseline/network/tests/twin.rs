//! Free runs against a loop written out from the equations, one sequence and one number at a time.

use super::super::batch::{Batch, Known, Widths};
use super::super::pass::Network;
use super::super::stack::StackWeights;
use super::*;

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// W x + b for a row-major W.
fn affine(w: &[f64], b: &[f64], x: &[f64]) -> Vec<f64> {
    let row =
        |i: usize| b[i] + w[i * x.len()..(i + 1) * x.len()].iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
    (0..b.len()).map(row).collect()
}

/// Takes the next `n` parameters.
fn take<'a>(rest: &mut &'a [f64], n: usize) -> &'a [f64] {
    let (own, after) = rest.split_at(n);
    *rest = after;
    own
}

/// One step of a layer; returns the new state.
fn gru_step(rest: &mut &[f64], x: &[f64], h: &[f64]) -> Vec<f64> {
    let n = h.len();
    let (v, w) = (take(rest, 3 * n * x.len()), take(rest, 3 * n * n));
    let (b, b_state) = (take(rest, 3 * n), take(rest, 3 * n));
    let (from_x, from_h) = (affine(v, b, x), affine(w, b_state, h));
    let unit = |i: usize| {
        let r = sigmoid(from_x[i] + from_h[i]);
        let z = sigmoid(from_x[n + i] + from_h[n + i]);
        (1.0 - z) * (from_x[2 * n + i] + r * from_h[2 * n + i]).tanh() + z * h[i]
    };
    (0..n).map(unit).collect()
}

/// The definition of the module, literally.
fn by_hand(settings: &GruSettings, p: usize, parameters: &[f64], (piece, seed): (&Piece, usize)) -> Vec<f64> {
    let m = piece.inputs.len() / piece.n_time;
    let mut states: Vec<Vec<f64>> = settings.units.iter().map(|&n| vec![0.0; n]).collect();
    let (mut taken, mut predicted, mut all) = (vec![f64::NAN; p], vec![0.0; p], vec![]);
    for t in 0..piece.n_time {
        let mut x = piece.inputs[t * m..(t + 1) * m].to_vec();
        x.extend(taken.iter().map(|y| if y.is_nan() { 0.0 } else { *y }));
        x.extend(taken.iter().map(|y| if y.is_nan() { 0.0 } else { 1.0 }));
        let mut rest = parameters;
        for state in &mut states {
            *state = gru_step(&mut rest, &x, state);
            x.clone_from(state);
        }
        let c = take(&mut rest, p * x.len());
        let decoded = affine(c, take(&mut rest, p), &x);
        let base = |d: usize| match settings.output {
            OutputForm::Direct => 0.0,
            OutputForm::Residual if taken[d].is_nan() => predicted[d],
            OutputForm::Residual => taken[d],
        };
        predicted = (0..p).map(|d| decoded[d] + base(d)).collect();
        all.extend(&predicted);
        taken = match (t < seed, settings.training) {
            (true, _) => piece.outputs[t * p..(t + 1) * p].to_vec(),
            (false, Loop::Open) => vec![f64::NAN; p],
            (false, Loop::Fed | Loop::Closed) => predicted.clone(),
        };
    }
    all
}

#[test]
fn free_runs_are_the_hand_written_loop() {
    let (p, m) = (2, 3);
    let pieces = [piece(9, (p, m), 4, 1), piece(6, (p, m), 3, 2), piece(12, (p, m), 1000, 3)];
    let seeds = [3, 5, 1];
    for training in [Loop::Open, Loop::Fed, Loop::Closed] {
        for output in [OutputForm::Direct, OutputForm::Residual] {
            for units in [vec![4], vec![18, 5]] {
                let settings = GruSettings { units, ..small(training, output) };
                let network = Network::new(&settings, Widths { d_obs: p, d_input: m }).unwrap();
                let parameters: Vec<f64> =
                    noise(network.stack.n_parameters(), 7).iter().map(|w| 0.5 * w).collect();
                let mut weights = StackWeights::default();
                network.stack.arrange(&parameters, &mut weights).unwrap();
                let segments: Vec<_> = pieces.iter().zip(seeds).collect();
                let found = network.free_run(&weights, &segments).unwrap();
                for (i, &segment) in segments.iter().enumerate() {
                    for (at, expected) in by_hand(&settings, p, &parameters, segment).into_iter().enumerate()
                    {
                        let found = found[(at / p * pieces.len() + i) * p + at % p];
                        assert!(
                            (found - expected).abs() < 1e-12,
                            "{i} {at}: {found} {expected} {settings:?}"
                        );
                    }
                }
            }
        }
    }
}

/// Under teacher forcing the first prediction after the seed knows exactly what a free run knows.
#[test]
fn learning_and_forecasts_see_the_same_seed() {
    let settings = small(Loop::Closed, OutputForm::Residual);
    let network = Network::new(&settings, Widths { d_obs: 1, d_input: 0 }).unwrap();
    let mut weights = StackWeights::default();
    network.stack.arrange(&noise(network.stack.n_parameters(), 7), &mut weights).unwrap();
    let own = piece(8, (1, 0), 3, 4);
    let batch = Batch::new(network.widths, Known::Past, &[(&own, 5)]);
    let taught = network.run(&weights, &batch, &mut Default::default()).unwrap();
    let free = network.free_run(&weights, &[(&own, 5)]).unwrap();
    assert_eq!(taught[..6], free[..6]);
    assert_ne!(taught[6..], free[6..]);
}
