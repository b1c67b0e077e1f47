//! The gradient of the whole loss against central differences, in f64.

use super::super::batch::Widths;
use super::super::objective::Learner;
use super::super::pass::Network;
use super::*;
use crate::baseline::network::Criterion;

/// Parameters of all kinds are tried: every `STRIDE`-th one, with a stride that divides no width.
const STRIDE: usize = 7;

fn check(units: &[usize], (p, m): (usize, usize), settings: &GruSettings) {
    let settings = GruSettings { units: units.to_vec(), ..settings.clone() };
    let network = Network::new(&settings, Widths { d_obs: p, d_input: m }).unwrap();
    let mut learner: Learner<f64> = Learner::new(network, settings.criterion);
    let pieces = [piece(7, (p, m), 4, 1), piece(4, (p, m), 3, 2), piece(9, (p, m), 1000, 3)];
    let segments: Vec<_> = pieces.iter().zip([3, 1, 2]).collect();
    let batch = learner.batch(&segments);
    assert!(batch.targets.iter().any(|y| !y.is_nan()) && batch.before.iter().any(|y| y.is_nan()));
    let scale = 1.0 / (units[0] as f64).sqrt();
    let parameters: Vec<f64> = noise(learner.n_parameters(), 5).iter().map(|w| w * scale).collect();
    let mut gradient = vec![0.0; parameters.len()];
    learner.gradient(&parameters, &batch, &mut gradient).unwrap();
    let last = parameters.len() - 1;
    for at in (0..parameters.len()).step_by(STRIDE).chain([last]) {
        let mut mean = |shift: f64| {
            let mut moved = parameters.clone();
            moved[at] += shift;
            learner.loss(&moved, &batch).unwrap().mean()
        };
        let step = 1e-5;
        let expected = (mean(step) - mean(-step)) / (2.0 * step);
        // The error of the difference is O(step²) and rounding over step, both near 1e-10.
        let error = (gradient[at] - expected).abs();
        assert!(error < 1e-8 * (1.0 + expected.abs()), "{at}: {} {expected} {settings:?}", gradient[at]);
    }
}

#[test]
fn gradients_are_those_of_central_differences() {
    for training in [Loop::Open, Loop::Fed, Loop::Closed] {
        for output in [OutputForm::Direct, OutputForm::Residual] {
            for criterion in [Criterion::SquaredError, Criterion::Gaussian] {
                let settings = GruSettings { criterion, ..small(training, output) };
                check(&[1], (1, 0), &settings);
                check(&[5], (2, 3), &settings);
                check(&[17, 4], (3, 1), &settings);
                check(&[3, 2, 4], (1, 2), &settings);
            }
        }
    }
}

/// A batch gives the mean over all scored values of its segments, whatever stands beside them.
#[test]
fn padding_and_neighbours_change_nothing() {
    let settings = small(Loop::Open, OutputForm::Residual);
    let network = Network::new(&settings, Widths { d_obs: 2, d_input: 1 }).unwrap();
    let mut learner: Learner<f64> = Learner::new(network, settings.criterion);
    let parameters: Vec<f64> = noise(learner.n_parameters(), 5).iter().map(|w| w * 0.3).collect();
    let (short, long) = (piece(5, (2, 1), 4, 1), piece(11, (2, 1), 5, 2));
    let mut loss = |segments: &[(&Piece, usize)]| {
        let batch = learner.batch(segments);
        learner.loss(&parameters, &batch).unwrap()
    };
    let (alone, other, both) = (loss(&[(&short, 2)]), loss(&[(&long, 4)]), loss(&[(&short, 2), (&long, 4)]));
    assert_eq!(both.n, alone.n + other.n);
    assert!((both.sum - alone.sum - other.sum).abs() < 1e-12 * both.sum);
}
