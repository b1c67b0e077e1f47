//! Truncated back-propagation: the same likelihoods, gradients that stop where windows begin.

use super::*;
use crate::base::RolloutInputs;
use crate::system::{Codes, OwnPull, OwnResult, OwnWeights};

const WINDOW: usize = 3;

fn run(model: &System, batch: &OwnBatch) -> OwnResult {
    let value = |i: usize, s: usize, d: usize| 0.3 * (i + d) as f64 + (s as f64 * 0.2).sin() - 0.4;
    let codes = Codes::from_fn(3 * 16, 2, |m, d| value(m / 16, m % 16, d));
    let first: Vec<f64> = (0..3 * 16).map(|m| f64::from(u8::from(m % 16 == 0))).collect();
    model.own_gradient(model.parameters(), &codes, batch, OwnPull::Both(OwnWeights::Fixed(&first)))
}

#[test]
fn likelihoods_do_not_change_and_long_windows_change_nothing() {
    let model = model();
    let whole = run(&model, &OwnBatch::new(&family(true)));
    let long = run(&model, &OwnBatch::windowed(&family(true), 7));
    assert_eq!((&whole.parameters, &whole.codes), (&long.parameters, &long.codes));
    for window in [1, 2, WINDOW] {
        let found = run(&model, &OwnBatch::windowed(&family(true), window));
        for (a, b) in whole.log_likelihoods.iter().zip(&found.log_likelihoods) {
            assert!((a - b).abs() < 1e-4 * (1.0 + a.abs()), "{window}: {a} {b}");
        }
        assert_ne!(whole.parameters, found.parameters);
    }
}

/// log p of the three sequences under the first code of each, with the states at which windows begin held at `starts`;
/// plain f64. Writes the states that it meets there into `starts` when that comes empty.
fn twin(model: &System, phi: &[f64], starts: &mut Vec<Vec<f64>>) -> f64 {
    let (network, base, family) = (&model.spec().network, model.base(), family(true));
    let (phi, shared) = phi.split_at(network.n_parameters());
    let record = starts.is_empty();
    let (mut total, mut place) = (0.0, 0);
    for i in 0..3 {
        let code = [0.3 * i as f64 - 0.4, 0.3 * (i + 1) as f64 - 0.4];
        let mut adapted = vec![0.0; network.d_out];
        network.forward(phi, &code, (&mut network.tape(1), 0), &mut adapted);
        let mut theta = vec![0.0; model.layout().d_theta()];
        model.layout().assemble(&adapted, shared, &mut theta);
        let (outputs, inputs) = (family.sequence(i).outputs(), family.inputs_of(i).unwrap());
        for from in (0..outputs.n_time()).step_by(WINDOW) {
            let range = from..outputs.n_time().min(from + WINDOW);
            let drive_inputs = inputs.slice(range.clone());
            let quiet = vec![false; range.len()];
            let mut trace = base.trace::<f64>(range.len());
            let start = (from > 0).then(|| starts[place].clone());
            let drive = RolloutInputs { inputs: drive_inputs.values(), quiet: &quiet };
            base.roll_out(&theta, start.as_deref(), drive, &mut trace);
            place += usize::from(from > 0);
            if record {
                starts.push(trace.states[range.len() * 3..].to_vec());
            }
            for (at, mean) in trace.outputs.iter().enumerate() {
                let y = outputs.slice(range.clone()).values()[at];
                let rho = theta[base.noise().range.start + at % 2];
                let e = (y - mean) / rho.exp();
                total -= if y.is_nan() { 0.0 } else { 0.5 * e * e + rho + 0.5 * std::f64::consts::TAU.ln() };
            }
        }
        if record {
            starts.pop(); // where a sequence ends no window begins
        }
    }
    total
}

#[test]
fn truncated_gradients_hold_the_states_at_which_windows_begin() {
    let model = model();
    let found = run(&model, &OwnBatch::windowed(&family(true), WINDOW));
    let phi: Vec<f64> = model.parameters().iter().map(|&w| f64::from(w)).collect();
    let mut starts = vec![];
    let here = twin(&model, &phi, &mut starts);
    let scored: f64 = found.log_likelihoods.iter().step_by(16).sum();
    assert!((here - scored).abs() < 1e-4 * (1.0 + here.abs()), "{here} {scored}");
    for i in 0..phi.len() {
        let mut at = |h: f64| {
            let mut moved = phi.clone();
            moved[i] += h;
            twin(&model, &moved, &mut starts)
        };
        let numeric = (at(1e-5) - at(-1e-5)) / 2e-5;
        let error = (numeric - f64::from(found.parameters[i])).abs();
        assert!(error < 1e-3 * (1.0 + numeric.abs()), "{i}: {numeric} {}", found.parameters[i]);
    }
}
