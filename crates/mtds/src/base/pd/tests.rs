use super::*;
use crate::base::checks::{self, outputs, place, theta_len, wave};

/// One rollout by the equations of the module.
fn textbook(pd: &Pharmacodynamic, theta: &[f64], inputs: &[f64], n_time: usize) -> Vec<f64> {
    let (n, p, m) = (pd.d_state, pd.d_obs, pd.d_input);
    let block = |name: &str| &theta[place(pd, name)];
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let softplus = |x: f64| x.exp().ln_1p();
    let mut x = block("initial_state").to_vec();
    let mut y = vec![];
    for t in 0..n_time {
        for i in 0..n {
            let dose: f64 = (0..m).map(|j| softplus(block("uptake")[i * m + j]) * inputs[t * m + j]).sum();
            x[i] = sigmoid(block("decay")[i]) * x[i] + dose;
        }
        for o in 0..p {
            let effect = |i: usize| {
                let (slope, c) = (softplus(block("slope")[o * n + i]), block("threshold")[o * n + i]);
                block("effect")[o * n + i] * (sigmoid(slope * x[i] - c) - sigmoid(-c))
            };
            y.push(block("offset")[o] + (0..n).map(effect).sum::<f64>());
        }
    }
    y
}

#[test]
fn the_rollout_is_that_of_the_equations() {
    for (n, p, m, n_time) in [(1, 1, 1, 1), (1, 2, 0, 5), (3, 1, 2, 7), (2, 3, 1, 9)] {
        let pd = Pharmacodynamic::new(n, p, m);
        let (theta, inputs) = (wave(theta_len(&pd), 0.4), wave(n_time * m, 1.0));
        let want = textbook(&pd, &theta, &inputs, n_time);
        for (got, want) in outputs(&pd, &theta, None, &inputs, n_time).iter().zip(&want) {
            assert!((got - want).abs() < 1e-12, "{pd:?}: {got} {want}");
        }
    }
}

#[test]
fn adjoint_matches_central_differences() {
    for (n, p, m, n_time) in [(1, 1, 0, 1), (1, 1, 1, 5), (2, 1, 1, 6), (3, 2, 2, 7), (9, 2, 1, 5)] {
        checks::adjoint_matches_differences(&Pharmacodynamic::new(n, p, m), n_time);
    }
}

#[test]
fn packs_equal_plain_numbers() {
    for (n, p, m, n_time) in [(1, 1, 0, 1), (1, 1, 1, 5), (3, 2, 2, 11)] {
        checks::packs_match_plain(&Pharmacodynamic::new(n, p, m), n_time, 0.7 * n as f64);
    }
}

#[test]
fn outputs_follow_doses_monotonically() {
    let pd = Pharmacodynamic::new(2, 2, 1);
    for phase in 0..20 {
        let mut theta = wave(theta_len(&pd), f64::from(phase));
        // The first output rises with every concentration, the second falls.
        let effect = place(&pd, "effect");
        theta[effect.clone()].copy_from_slice(&[1.0, 0.3, -0.2, -2.0]);
        let doses: Vec<f64> = (0..12).map(|t| f64::from(t % 3)).collect();
        let more: Vec<f64> = doses.iter().map(|u| 1.5 * u).collect();
        let (low, high) = (outputs(&pd, &theta, None, &doses, 12), outputs(&pd, &theta, None, &more, 12));
        for (low, high) in low.chunks(2).zip(high.chunks(2)) {
            assert!(high[0] >= low[0] && high[1] <= low[1], "{low:?} {high:?}");
        }
    }
}

#[test]
fn nothing_happens_without_doses() {
    let pd = Pharmacodynamic::new(2, 1, 1);
    let mut theta = wave(theta_len(&pd), 0.3);
    theta[pd.start_range()].fill(0.0);
    let offset = theta[place(&pd, "offset")][0];
    assert!(outputs(&pd, &theta, None, &[0.0; 6], 6).iter().all(|y| (y - offset).abs() < 1e-15));
}

#[test]
fn degenerate_and_long_cases() {
    checks::quiet_steps_change_nothing(&Pharmacodynamic::new(2, 1, 2));
    for size in [1.0, 30.0] {
        checks::long_sequences_stay_finite(&Pharmacodynamic::new(3, 2, 1), size);
    }
    checks::stored_form_reads_back(&Pharmacodynamic {
        noise_form: NoiseForm::Full,
        ..Pharmacodynamic::new(2, 3, 1)
    });
    for pd in [Pharmacodynamic::new(0, 1, 1), Pharmacodynamic::new(1, 0, 1)] {
        assert!(pd.validate().unwrap_err().to_string().contains("found 0"));
    }
}
