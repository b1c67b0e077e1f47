//! Codes of four dimensions: adaptive importance sampling at its defaults against a long importance run.
//!
//! ```text
//! u_i ~ ¼ prior + ¾ q tilted by 1.5      i = 1 … 200 000      q: 10 components, from 20 times the draws
//! ```
//! A share of the reference comes from the prior: it bounds the weights and finds modes that q has missed.

use crate::common::compare::{deviation, evidence_error, expectation};
use crate::common::{LOG_NOISE, draw_member, group, impulse, model, own_inputs, spec};
use mtds::parts::{
    AdaptiveImportance, CodeTarget, FirstMixture, GaussianMixture, LogTarget, adaptive_importance,
};
use mtds::random::stream;
use mtds::{Online, Points, Posterior, Signal, System};
use rayon::prelude::*;

const REFERENCE_DRAWS: usize = 200_000;
/// Standard errors allowed; 9 posteriors of 9 numbers each: one false alarm in 20 000 seeds, were they normal.
const MOST_ERRORS: f64 = 5.0;

/// Mean and deviation per coordinate with their errors, and the log evidence with its.
struct Reference {
    log_evidence: (f64, f64),
    mean: Vec<(f64, f64)>,
    std_dev: Vec<(f64, f64)>,
    ess: f64,
}

/// Weighs draws with nothing of the library's own but densities; what they are drawn from may be any fit.
fn reference(target: &impl LogTarget, prior: &GaussianMixture, found: &GaussianMixture) -> Reference {
    let settings = AdaptiveImportance {
        components: 10,
        samples: 20_000,
        first_samples: 20_000,
        final_samples: 1_000,
        ..AdaptiveImportance::default()
    };
    let fitted =
        adaptive_importance(&settings, target, FirstMixture::Previous(found), &mut stream(7, 6)).unwrap();
    let wide = fitted.mixture().unwrap().tilted(1.5).unwrap();
    let proposal = GaussianMixture::average(&[(0.25, prior), (0.75, &wide)]).unwrap();
    let draws = proposal.sample(REFERENCE_DRAWS, &mut stream(7, 7));
    let (mut log_target, mut log_proposal) = (vec![0.0; draws.len()], vec![0.0; draws.len()]);
    target.log_density(&draws, &mut log_target);
    proposal.log_density(&draws, &mut log_proposal);
    let log_weights: Vec<f64> = log_target.iter().zip(&log_proposal).map(|(p, q)| p - q).collect();
    let highest = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = log_weights.iter().map(|w| (w - highest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let weights: Vec<f64> = weights.iter().map(|w| w / sum).collect();
    let ess = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
    let moments = |d: usize| moments(&draws, &weights, d);
    let n = draws.len() as f64;
    Reference {
        log_evidence: (highest + (sum / n).ln(), (1.0 / ess - 1.0 / n).sqrt()),
        mean: (0..draws.dim()).map(|d| moments(d).0).collect(),
        std_dev: (0..draws.dim()).map(|d| moments(d).1).collect(),
        ess,
    }
}

/// Mean and deviation of a coordinate, each with its standard error.
fn moments(draws: &Points, weights: &[f64], d: usize) -> ((f64, f64), (f64, f64)) {
    let pairs = || draws.column(d).iter().zip(weights);
    let mean: f64 = pairs().map(|(x, w)| w * x).sum();
    let variance: f64 = pairs().map(|(x, w)| w * (x - mean).powi(2)).sum();
    let error = pairs().map(|(x, w)| (w * (x - mean)).powi(2)).sum::<f64>().sqrt();
    let spread = pairs().map(|(x, w)| (w * ((x - mean).powi(2) - variance)).powi(2)).sum::<f64>().sqrt();
    ((mean, error), (variance.sqrt(), spread / (2.0 * variance.sqrt())))
}

fn check(label: &str, posterior: &Posterior, long: &Reference) {
    let mut worst: f64 = 0.0;
    let mut compare = |what: String, found: (f64, f64), wanted: (f64, f64)| {
        let z = (found.0 - wanted.0).abs() / found.1.hypot(wanted.1);
        assert!(z < MOST_ERRORS, "{label}, {what}: found {found:?}, the long run says {wanted:?}");
        worst = worst.max(z);
    };
    let evidence = (posterior.log_evidence().unwrap(), evidence_error(posterior));
    compare("log evidence".into(), evidence, long.log_evidence);
    for d in 0..posterior.dim() {
        compare(format!("mean {d}"), expectation(posterior, d, |x| x), long.mean[d]);
        compare(format!("deviation {d}"), deviation(posterior, d), long.std_dev[d]);
    }
    let found = posterior.diagnostics();
    println!(
        "{label}: at most {worst:.1} errors off, ess {:.0} of {}, k̂ {:.2?}, {} passes, {} retries; \
         reference ess {:.0}",
        found.ess,
        posterior.weights().len(),
        found.pareto_k,
        found.passes,
        found.retries,
        long.ess
    );
}

/// The tracked posterior and the long run after `n_time` steps.
fn both(model: &System, outputs: &Signal, inputs: &Signal, n_time: usize) -> (Posterior, Reference) {
    let prior = model.prior().mixture(model.d_code()).unwrap();
    let seen = outputs.slice(0..n_time);
    let tracker = model.track(&seen, Some(inputs), Online::default(), stream(3, 1)).unwrap();
    let target = CodeTarget::new(model, model.parameters(), &prior, group::<f32>(&seen, inputs), None);
    let posterior = tracker.posterior().unwrap().clone();
    let long = reference(&target, &prior, posterior.mixture().unwrap());
    (posterior, long)
}

/// Rich inputs and two outputs tell the codes apart.
#[test]
fn four_dimensional_codes_agree_with_a_long_run() {
    let model = model(spec(4, 2, 4), 1.0, LOG_NOISE, 4);
    for i in 0..3 {
        let mut random = stream(50, i);
        let inputs = own_inputs(40, &mut random);
        let (_, outputs) = draw_member(&model, &inputs, 40, &mut random);
        for n_time in [10, 20, 40] {
            let (posterior, long) = both(&model, &outputs, &inputs, n_time);
            let label = format!("sequence {i}, t = {n_time}");
            assert!(long.ess > 5.0 * posterior.weight_ess(), "{label}: reference ess {}", long.ess);
            check(&label, &posterior, &long);
        }
    }
}

/// log p(y, z) at the true code above its highest value among the posterior's draws.
///
/// Draws of the right posterior reach above the truth, which is itself like a draw of it.
fn shortfall(model: &System, i: u64, settings: Online) -> (f64, f64) {
    let inputs = impulse(40);
    let (code, outputs) = draw_member(model, &inputs, 40, &mut stream(50, i));
    let tracker = model.track(&outputs, Some(&inputs), settings, stream(3, i)).unwrap();
    let posterior = tracker.posterior().unwrap();
    let prior = model.prior().mixture(model.d_code()).unwrap();
    let target = CodeTarget::new(model, model.parameters(), &prior, group::<f32>(&outputs, &inputs), None);
    let mut found = vec![0.0; posterior.draws().len()];
    target.log_density(posterior.draws(), &mut found);
    let mut truth = [0.0];
    target.log_density(&Points::from_points(code.len(), &[code]).unwrap(), &mut truth);
    (truth[0] - found.into_iter().fold(f64::NEG_INFINITY, f64::max), posterior.weight_ess())
}

/// An impulse, one output and little noise: far and narrow modes, and early data that point to wrong ones.
///
/// From the last posterior alone many of them end at a wrong mode, most with enough effective draws.
#[test]
fn no_sequence_ends_at_a_wrong_mode() {
    let model = model(spec(4, 1, 4), 1.0, -2.5, 4);
    let run = |i: u64| shortfall(&model, i, Online::default());
    let found: Vec<(f64, f64)> = (0..24).into_par_iter().map(run).collect();
    let mean_ess = found.iter().map(|f| f.1).sum::<f64>() / 24.0;
    println!("mean ess {mean_ess:.0}");
    for (i, (shortfall, ess)) in found.iter().enumerate() {
        assert!(*shortfall < 3.0, "sequence {i}: the truth is {shortfall} nats better, ess {ess}");
    }
    assert!(mean_ess > 2000.0, "{mean_ess}");
}
