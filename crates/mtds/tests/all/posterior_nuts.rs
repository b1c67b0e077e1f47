//! NUTS over codes against dense quadrature (k = 1, 2) and against adaptive importance sampling (k = 4).

use crate::common::quadrature::{Axis, Exact, focus, integrate};
use crate::common::textbook::{Textbook, standard_normal_log_density};
use crate::common::{
    LOG_NOISE, draw_member, group, impulse, model, own_inputs, parameters_f64, spec, with_gaps,
};
use mtds::parts::{CodeTarget, MapLaplace, Nuts, effective_draws, map_laplace, nuts};
use mtds::random::stream;
use mtds::{Online, Points, Posterior, Signal, Status, System};

/// Most standard errors by which any number may be off. About 150 numbers are compared: were they normal, one
/// seed in 10 000 would fail.
const MOST_ERRORS: f64 = 5.0;
/// Levels at which distribution functions are compared.
const LEVELS: [f64; 3] = [0.1, 0.5, 0.9];

fn settings() -> Nuts {
    Nuts { chains: 4, warmup: 500, draws: 1000, ..Nuts::default() }
}

/// The posterior of a sequence by NUTS, from its highest mode.
fn sampled(model: &System, outputs: &Signal, inputs: &Signal, seed: u64) -> Posterior {
    let (k, parameters) = (model.d_code(), parameters_f64(model));
    let prior = model.prior().mixture(k).unwrap();
    let target = CodeTarget::new(model, &parameters, &prior, group::<f64>(outputs, inputs), None);
    let modes = map_laplace(&MapLaplace::default(), &target, &prior, &mut stream(seed, 4)).unwrap();
    let modes = modes.mixture().unwrap().clone();
    let best = (0..modes.len()).max_by(|&i, &j| modes.weights()[i].total_cmp(&modes.weights()[j])).unwrap();
    let starts = Points::from_points(k, &[modes.component_mean(best).to_vec()]).unwrap();
    let posterior = nuts(&settings(), &target, &starts, &mut stream(seed, 5)).unwrap();
    let found = posterior.diagnostics();
    println!("ess {:.0}, {:?}, {} gradients", found.ess, found.chains, found.gradient_evaluations);
    assert_eq!(found.status, Status::Converged, "{found:?}");
    posterior
}

/// Mean of f(u_d) and its standard error, from the effective draws of f.
fn expectation(posterior: &Posterior, d: usize, f: impl Fn(f64) -> f64) -> (f64, f64) {
    let values: Vec<f64> = posterior.draws().column(d).iter().map(|&x| f(x)).collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    let ess = effective_draws(&values.chunks(settings().draws).collect::<Vec<_>>()).unwrap().min(n);
    (mean, (variance / ess).sqrt())
}

fn check(label: &str, posterior: &Posterior, exact: &Exact) {
    let near = |what: String, (found, error): (f64, f64), wanted: f64| {
        let z = (found - wanted).abs() / error;
        assert!(z < MOST_ERRORS, "{label}, {what}: found {found} ± {error}, exact {wanted}");
    };
    for d in 0..posterior.dim() {
        near(format!("mean {d}"), expectation(posterior, d, |x| x), exact.mean[d]);
        let square = |x: f64| (x - exact.mean[d]).powi(2);
        near(format!("variance {d}"), expectation(posterior, d, square), exact.std_dev[d].powi(2));
        let quantiles = posterior.quantiles(d, &LEVELS).unwrap();
        for (level, at) in LEVELS.iter().zip(quantiles) {
            let below = expectation(posterior, d, |x| f64::from(u8::from(x <= at)));
            near(format!("P(u_{d} ≤ {at}), level {level}"), below, exact.cdf(d, at));
        }
    }
}

fn exact(model: &System, outputs: &Signal, inputs: &Signal) -> Exact {
    let twin = Textbook::new(model, outputs, inputs);
    let k = model.d_code();
    let log_joint = |u: &[f64]| standard_normal_log_density(u) + twin.log_likelihood(u, 0.0);
    let axes = vec![Axis { low: -6.5, high: 6.5, n: if k == 1 { 1001 } else { 131 } }; k];
    let (coarse, fine) = [(1001, 2001), (101, 401)][k - 1];
    let exact = integrate(&focus(&focus(&axes, 60.0, coarse, log_joint), 25.0, fine, log_joint), log_joint);
    exact.check_grid();
    exact
}

/// Rich inputs: what other modes there are weigh next to nothing, so chains from one start can be right.
#[test]
fn small_codes_agree_with_quadrature() {
    for k in [1, 2] {
        let model = model(spec(2, 2, k), 1.0, LOG_NOISE, 40 + k as u64);
        for i in 0..3 {
            let mut random = stream(100 + k as u64, i);
            let inputs = own_inputs(30, &mut random);
            let (_, outputs) = draw_member(&model, &inputs, if i == 2 { 20 } else { 30 }, &mut random);
            let outputs = if i == 1 { with_gaps(&outputs, 0.4, &mut random) } else { outputs };
            let posterior = sampled(&model, &outputs, &inputs, i);
            check(&format!("k = {k}, sequence {i}"), &posterior, &exact(&model, &outputs, &inputs));
        }
    }
}

/// Nothing observed: the posterior is the prior N(0, I).
#[test]
fn without_observations_the_prior_comes_back() {
    let model = model(spec(2, 1, 2), 1.0, LOG_NOISE, 42);
    let outputs = Signal::column(vec![f64::NAN; 12]);
    let posterior = sampled(&model, &outputs, &impulse(12), 7);
    check("prior", &posterior, &exact(&model, &outputs, &impulse(12)));
}

/// Two methods that share nothing but the density.
#[test]
fn four_dimensional_codes_agree_with_importance_sampling() {
    let model = model(spec(4, 2, 4), 1.0, LOG_NOISE, 4);
    for i in 0..3 {
        let mut random = stream(50, i);
        let inputs = own_inputs(40, &mut random);
        let (_, outputs) = draw_member(&model, &inputs, 40, &mut random);
        let tracker = model.track(&outputs, Some(&inputs), Online::default(), stream(3, 1)).unwrap();
        let weighted = tracker.posterior().unwrap();
        let posterior = sampled(&model, &outputs, &inputs, i);
        for d in 0..4 {
            let mean = weighted.mean()[d];
            for (what, f) in [("mean", 1), ("variance", 2)] {
                let power = |x: f64| if f == 1 { x } else { (x - mean).powi(2) };
                let (a, b) = (
                    crate::common::compare::expectation(weighted, d, power),
                    expectation(&posterior, d, power),
                );
                let z = (a.0 - b.0).abs() / a.1.hypot(b.1);
                assert!(z < MOST_ERRORS, "sequence {i}, {what} {d}: {a:?} and {b:?}");
            }
        }
    }
}
