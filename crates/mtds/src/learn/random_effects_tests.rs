//! The random-effects start: gradients, axes, order, reproducibility, misuse.

use super::*;
use crate::algebra::dot;
use crate::base::Lds;
use crate::family::{Sequence, Signal};
use crate::generator::Activation;

/// Three damped oscillations of different speed, answering an impulse.
fn family() -> Family {
    let one = |i: usize| {
        let speed = 0.3 + 0.1 * i as f64;
        let y = (1..=30).map(|t| 0.95_f64.powi(t) * (speed * f64::from(t)).sin()).collect();
        Sequence::new(format!("s{i}"), Signal::column(y)).unwrap()
    };
    let impulse = Signal::column((0..30).map(|t| f64::from(u8::from(t == 0))).collect());
    Family::new((0..3).map(one).collect()).unwrap().with_common_inputs(impulse).unwrap()
}

fn spec() -> Architecture {
    Architecture::new(Lds::new(2, 1, 1), 2)
        .hidden(&[8], Activation::Tanh)
        .skip(Skip::Affine)
        .fix("state_bias", 0.0)
        .fix("offset", 0.0)
}

fn effects() -> RandomEffects {
    RandomEffects { restarts: 32, steps: 600, ..RandomEffects::default() }
}

/// The axes reproduce parameters that lie in a plane, and codes have unit variance.
#[test]
fn axes_of_a_plane_lose_nothing() {
    let plane = |i: usize| {
        let (a, b) = ((i as f64).sin(), (1.7 * i as f64).cos());
        vec![1.0 + a, 2.0 - b, a + b, 0.5]
    };
    let parameters: Vec<Vec<f64>> = (0..6).map(plane).collect();
    let axes = Axes::of(&parameters, 2);
    for (code, wanted) in axes.codes.iter().zip(&parameters) {
        for d in 0..4 {
            let found = axes.mean[d] + dot(&axes.loadings[d * 2..d * 2 + 2], code);
            assert!((found - wanted[d]).abs() < 1e-9);
        }
    }
    for j in 0..2 {
        let square = axes.codes.iter().map(|z| z[j] * z[j]).sum::<f64>() / 6.0;
        assert!((square - 1.0).abs() < 1e-9);
    }
}

#[test]
fn one_sequence_has_no_axes() {
    let axes = Axes::of(&[vec![1.0, 2.0]], 3);
    assert_eq!((axes.codes, axes.mean), (vec![vec![0.0; 3]], vec![1.0, 2.0]));
    assert!(axes.loadings.iter().all(|&l| l == 0.0));
}

#[test]
fn gradients_of_mean_and_effects_match_central_differences() {
    let direct = direct_model(&spec(), &Scaling::identity(1, 1), &mut stream(1, 0)).unwrap();
    let batch = OwnBatch::new(&family());
    let mut fit = Fit::new(&direct, 3, 16, &mut stream(1, 1));
    let prior = MeanPrior::new(&direct);
    let mut parameters = direct.parameters().to_vec();
    parameters[log_noise_places(&direct)].fill(-0.5);
    let gradient = fit.gradient(&direct, &parameters, &batch, 0.3, &prior);
    let dim = direct.d_code();
    let total = |fit: &mut Fit| {
        fit.gradient(&direct, &parameters, &batch, 0.3, &prior);
        let (mean, _) = fit.parts(2, 0);
        let penalty = |d: usize| 0.5 * ((mean[d] - prior.mean[d]) / (LOOSE * prior.spread[d])).powi(2);
        fit.objective[2] * 3.0 + (0..dim).map(penalty).sum::<f64>()
    };
    for at in (0..4 * dim).step_by(3) {
        let place = 2 * 4 * dim + at;
        let mut moved = |h: f64| {
            fit.values[place] += h;
            let value = total(&mut fit);
            fit.values[place] -= h;
            value
        };
        let h = 4e-3;
        let near = (moved(h) - moved(-h)) / (2.0 * h);
        let far = (moved(2.0 * h) - moved(-2.0 * h)) / (4.0 * h);
        let numeric = (4.0 * near - far) / 3.0;
        assert!(
            (numeric - gradient[place]).abs() < 1e-2 * (1.0 + numeric.abs()),
            "{at}: {numeric} {}",
            gradient[place]
        );
    }
}

/// A started model at its proposals' means fits the sequences it was started from.
#[test]
fn started_models_fit_and_come_in_order() {
    let scaling = Scaling::identity(1, 1);
    let found = effects().run(&spec(), &scaling, &family(), 3, 4).unwrap();
    assert_eq!(found.len(), 3);
    assert!(found.windows(2).all(|w| w[0].objective <= w[1].objective));
    let best = &found[0];
    let batch = OwnBatch::new(&family());
    let codes = Codes::from_fn(3 * 16, 2, |m, d| best.proposals[m / 16].mean[d]);
    let fitted = best.model.own_gradient(best.model.parameters(), &codes, &batch, OwnPull::Nothing);
    let s = best.model.block_values("noise").unwrap()[0];
    assert!((s + 1.5).abs() < 1e-6);
    // Perfect would be −log s − ½ log 2π = 0.58 per step; the family's own spread alone is below 0.
    for i in 0..3 {
        let per_step = fitted.log_likelihoods[i * 16] / 30.0;
        assert!(per_step > 0.4, "{i}: {per_step}");
    }
}

#[test]
fn the_same_seed_gives_the_same_start_on_one_and_two_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let few = RandomEffects { steps: 40, ..effects() };
        let found = pool.install(|| few.run(&spec(), &Scaling::identity(1, 1), &family(), 1, 4).unwrap());
        found[0].model.parameters().to_vec()
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn architectures_and_settings_that_do_not_fit_are_refused() {
    let run = |spec: Architecture, settings: RandomEffects| {
        settings.run(&spec, &Scaling::identity(1, 1), &family(), 1, 4).unwrap_err().to_string()
    };
    assert!(run(spec().skip(Skip::None), effects()).contains("skip"));
    assert!(run(spec().fix("noise", -1.0), effects()).contains("noise"));
    assert!(run(spec(), RandomEffects { spread: 0.0, ..effects() }).contains("spread"));
    assert!(run(spec(), RandomEffects { restarts: 0, ..effects() }).contains("restarts"));
}
