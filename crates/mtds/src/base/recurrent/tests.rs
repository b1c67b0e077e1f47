use proptest::prelude::*;

use super::*;
use crate::base::checks::{self, outputs, place, theta_len, wave};

/// Rows of `matrix` (row-major, `x.len()` wide) times x.
fn times(matrix: &[f64], x: &[f64]) -> Vec<f64> {
    let width = x.len().max(1);
    matrix.chunks(width).map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
}

fn sum(parts: &[&[f64]]) -> Vec<f64> {
    let add = |mut total: Vec<f64>, part: &&[f64]| {
        total.iter_mut().zip(*part).for_each(|(t, p)| *t += p);
        total
    };
    parts.iter().fold(vec![0.0; parts.iter().map(|p| p.len()).max().unwrap_or(0)], add)
}

/// One rollout by the equations, with `step(block, x, u)` as the transition.
fn textbook<C: Cell>(
    net: &Recurrent<C>,
    theta: &[f64],
    (inputs, n_time): (&[f64], usize),
    step: impl Fn(&dyn Fn(&str) -> Vec<f64>, &[f64], &[f64]) -> Vec<f64>,
) -> Vec<f64> {
    let block = |name: &str| theta[place(net, name)].to_vec();
    let mut x = block("initial_state");
    let mut past = if net.output == OutputForm::Residual { block("initial_output") } else { vec![] };
    let mut y = vec![];
    for t in 0..n_time {
        let u = &inputs[t * net.d_input..(t + 1) * net.d_input];
        x = step(&block, &x, u);
        let mut now =
            sum(&[&times(&block("emission"), &x), &times(&block("feedthrough"), u), &block("offset")]);
        if net.output == OutputForm::Residual {
            now = sum(&[&now, &past]);
            past.clone_from(&now);
        }
        y.extend(now);
    }
    y
}

fn tanh_step(block: &dyn Fn(&str) -> Vec<f64>, x: &[f64], u: &[f64]) -> Vec<f64> {
    let total = sum(&[&times(&block("recurrent"), x), &times(&block("input"), u), &block("bias")]);
    total.into_iter().map(f64::tanh).collect()
}

fn gated_step(block: &dyn Fn(&str) -> Vec<f64>, x: &[f64], u: &[f64]) -> Vec<f64> {
    let gate = |name: &str| -> Vec<f64> {
        let part = |part: &str| block(&format!("{name}_{part}"));
        let total = sum(&[&times(&part("input"), u), &times(&part("recurrent"), x), &part("bias")]);
        total.into_iter().map(|a| 1.0 / (1.0 + (-a).exp())).collect()
    };
    let (r, z) = (gate("reset"), gate("update"));
    let driven = sum(&[&times(&block("candidate_input"), u), &block("candidate_bias")]);
    let past = sum(&[&times(&block("candidate_recurrent"), x), &block("candidate_recurrent_bias")]);
    (0..x.len())
        .map(|i| {
            let h = (driven[i] + r[i] * past[i]).tanh();
            (1.0 - z[i]) * h + z[i] * x[i]
        })
        .collect()
}

const SIZES: [(usize, usize, usize, usize); 6] =
    [(1, 1, 0, 1), (1, 2, 1, 4), (2, 1, 1, 6), (4, 2, 2, 7), (5, 1, 3, 5), (9, 2, 1, 5)];

#[test]
fn rollouts_are_those_of_the_equations() {
    let close = |got: Vec<f64>, want: Vec<f64>| {
        assert_eq!(got.len(), want.len());
        got.iter().zip(&want).for_each(|(g, w)| assert!((g - w).abs() < 1e-12, "{g} {w}"));
    };
    for (n, p, m, n_time) in SIZES {
        let inputs = wave(n_time * m, 1.0);
        let rnn = Rnn::new(n, p, m);
        let theta = wave(theta_len(&rnn), 0.4);
        let want = textbook(&rnn, &theta, (&inputs, n_time), tanh_step);
        close(outputs(&rnn, &theta, None, &inputs, n_time), want);
        for output in [OutputForm::Direct, OutputForm::Residual] {
            let gru = Gru::new(n, p, m).with_output(output);
            let theta = wave(theta_len(&gru), 0.4);
            let want = textbook(&gru, &theta, (&inputs, n_time), gated_step);
            close(outputs(&gru, &theta, None, &inputs, n_time), want);
        }
    }
}

/// For two states Q is the rotation by 2 arctan s.
#[test]
fn the_orthogonal_network_is_a_tanh_network_with_its_matrix() {
    let (ornn, rnn) = (OrthogonalRnn::new(2, 1, 1), Rnn::new(2, 1, 1));
    let theta = wave(theta_len(&ornn), 0.8);
    let (decay, s) = (&theta[place(&ornn, "decay")], theta[place(&ornn, "rotation")][0]);
    let (sin, cos) = (2.0 * s.atan()).sin_cos();
    let a: Vec<f64> =
        [cos, -sin, sin, cos].iter().zip([0, 0, 1, 1]).map(|(q, i)| decay[i].tanh() * q).collect();
    let same: Vec<f64> = a.iter().chain(&theta[place(&ornn, "input").start..]).copied().collect();
    assert_eq!(same.len(), theta_len(&rnn));
    let inputs = wave(8, 0.1);
    let (got, want) = (outputs(&ornn, &theta, None, &inputs, 8), outputs(&rnn, &same, None, &inputs, 8));
    got.iter().zip(&want).for_each(|(g, w)| assert!((g - w).abs() < 1e-12, "{g} {w}"));
}

#[test]
fn adjoints_match_central_differences() {
    for (n, p, m, n_time) in SIZES {
        checks::adjoint_matches_differences(&Rnn::new(n, p, m), n_time);
        checks::adjoint_matches_differences(&OrthogonalRnn::new(n, p, m), n_time);
        checks::adjoint_matches_differences(&Gru::new(n, p, m), n_time);
        checks::adjoint_matches_differences(&Rnn::new(n, p, m).with_output(OutputForm::Residual), n_time);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn packs_equal_plain_numbers(
        (n, p, m, n_time) in (1usize..11, 1usize..4, 0usize..3, 1usize..12),
        phase in 0.0..6.0f64,
    ) {
        checks::packs_match_plain(&Rnn::new(n, p, m), n_time, phase);
        checks::packs_match_plain(&OrthogonalRnn::new(n, p, m), n_time, phase);
        checks::packs_match_plain(&Gru::new(n, p, m), n_time, phase);
        checks::packs_match_plain(&Gru::new(n, p, m).with_output(OutputForm::Residual), n_time, phase);
    }
}

fn everyday_checks<C: Cell>() {
    checks::quiet_steps_change_nothing(&Recurrent::<C>::new(3, 1, 2));
    let residual = Recurrent::<C>::new(2, 3, 1).with_noise(NoiseForm::Full).with_output(OutputForm::Residual);
    checks::stored_form_reads_back(&residual);
    assert_eq!(residual.start_range().len(), 5);
    for bad in [Recurrent::<C>::new(0, 1, 1), Recurrent::<C>::new(1, 0, 1)] {
        assert!(bad.validate().unwrap_err().to_string().contains("found 0"));
    }
    let net = Recurrent::<C>::new(2, 3, 1).with_noise(NoiseForm::Full);
    assert_eq!(net.noise().range, place(&net, "noise"));
    assert_eq!(net.start_range(), place(&net, "initial_state"));
}

#[test]
fn every_cell_is_stored_checked_and_laid_out() {
    everyday_checks::<Tanh>();
    everyday_checks::<OrthogonalTanh>();
    everyday_checks::<Gated>();
}

#[test]
fn ten_thousand_steps_stay_finite() {
    // Recurrent matrices of size 1/2 in four states neither explode in the gradient nor die at once.
    checks::long_sequences_stay_finite(&Rnn::new(4, 2, 1), 0.5);
    checks::long_sequences_stay_finite(&Gru::new(4, 2, 1), 0.5);
    // ‖A‖ ≤ 1 holds for every θ, so these may be wild.
    checks::long_sequences_stay_finite(&OrthogonalRnn::new(4, 2, 1), 1.0);
    checks::long_sequences_stay_finite(&OrthogonalRnn::new(4, 2, 1), 30.0);
}
