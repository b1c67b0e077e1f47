//! Adaptive importance sampling against exact answers, quadrature and long runs.
//!
//! Tolerances are five Monte-Carlo standard errors unless said otherwise: of a mean σ / √ESS, of the log
//! evidence √((n / ESS − 1) / n), of a variance σ² √(2 / ESS). One false alarm in 10⁵ per comparison if the
//! errors were normal; seeds are fixed.

use super::targets::{Function, MixtureTarget, banana, gaussian, log_normal, squared, squared_and_coupled};
use crate::infer::Online;
use crate::infer::{
    AdaptiveImportance, FirstMixture, GaussianMixture, Posterior, Status, adaptive_importance,
};
use crate::random::stream;

fn from_prior<T: crate::infer::LogTarget>(target: &T, seed: u64) -> Posterior {
    let prior = GaussianMixture::standard_normal(target.dim()).unwrap();
    let settings = AdaptiveImportance::default();
    adaptive_importance(&settings, target, FirstMixture::Prior(&prior), &mut stream(seed, 0)).unwrap()
}

fn evidence_error(posterior: &Posterior) -> f64 {
    let n = posterior.draws().len() as f64;
    ((n / posterior.diagnostics().ess - 1.0) / n).sqrt()
}

#[test]
fn gaussians_in_one_to_eight_dimensions() {
    for dim in 1..=8 {
        let target = gaussian(dim);
        let posterior = from_prior(&target, 20 + dim as u64);
        let diagnostics = posterior.diagnostics();
        assert_eq!(diagnostics.status, Status::Converged, "{dim} dimensions: {diagnostics:?}");
        let wrong = posterior.log_evidence().unwrap() - target.log_evidence;
        assert!(wrong.abs() < 5.0 * evidence_error(&posterior), "{dim} dimensions: evidence off by {wrong}");
        let (mean, covariance) = (target.mixture.mean(), target.mixture.covariance());
        let (found_mean, found_covariance) = (posterior.mean(), posterior.covariance());
        for a in 0..dim {
            let var = covariance[a * dim + a];
            assert!((found_mean[a] - mean[a]).abs() < 5.0 * (var / diagnostics.ess).sqrt());
            for b in 0..dim {
                let size = (var * covariance[b * dim + b]).sqrt();
                let wrong = found_covariance[a * dim + b] - covariance[a * dim + b];
                assert!(
                    wrong.abs() < 5.0 * size * (2.0 / diagnostics.ess).sqrt(),
                    "({a}, {b}) of {dim}: {wrong}"
                );
            }
        }
        let k = diagnostics.pareto_k.unwrap();
        assert!(k < 0.7, "{dim} dimensions: k = {k}");
    }
}

/// Integrals of a density on a grid: normaliser, mean, and the distribution function of the first coordinate.
struct Quadrature {
    log_evidence: f64,
    mean: f64,
    cdf: Vec<(f64, f64)>,
}

/// Midpoint rule on −6 … 6, smooth integrands that vanish at the ends: converges faster than any power.
fn quadrature(dim: usize, log_density: impl Fn(&[f64]) -> f64) -> Quadrature {
    let steps = 1200;
    let at = |i: usize| -6.0 + 12.0 * (i as f64 + 0.5) / f64::from(steps as u32);
    let width = 12.0 / f64::from(steps as u32);
    let slice = |x: f64| match dim {
        1 => log_density(&[x]).exp(),
        _ => (0..steps).map(|j| log_density(&[x, at(j)]).exp() * width).sum(),
    };
    let masses: Vec<f64> = (0..steps).map(|i| slice(at(i)) * width).collect();
    let total: f64 = masses.iter().sum();
    let mean = masses.iter().enumerate().map(|(i, m)| m * at(i)).sum::<f64>() / total;
    let mut below = 0.0;
    let cdf = masses.iter().enumerate().map(|(i, m)| {
        below += m / total;
        (at(i) + 0.5 * width, below)
    });
    Quadrature { log_evidence: total.ln(), mean, cdf: cdf.collect() }
}

impl Quadrature {
    /// Compares quantiles on the probability scale, where the error of the estimate is √(p (1 − p) / ESS).
    fn check(&self, posterior: &Posterior) {
        let ess = posterior.diagnostics().ess;
        let wrong = posterior.log_evidence().unwrap() - self.log_evidence;
        assert!(wrong.abs() < 5.0 * evidence_error(posterior), "evidence off by {wrong}");
        let error = posterior.std_dev()[0] / ess.sqrt();
        assert!(
            (posterior.mean()[0] - self.mean).abs() < 5.0 * error,
            "{} not {}",
            posterior.mean()[0],
            self.mean
        );
        let levels = [0.05, 0.25, 0.5, 0.75, 0.95];
        for (p, found) in levels.iter().zip(posterior.quantiles(0, &levels).unwrap()) {
            let at = self.cdf.partition_point(|(x, _)| *x < found).min(self.cdf.len() - 1);
            let tolerance = 5.0 * (p * (1.0 - p) / ess).sqrt() + 0.01; // the grid steps up to 0.01 at a time
            assert!((self.cdf[at].1 - p).abs() < tolerance, "quantile {p} lies at {}", self.cdf[at].1);
        }
    }
}

#[test]
fn two_modes_against_quadrature() {
    let line = Function { dim: 1, function: squared };
    let plane = Function { dim: 2, function: squared_and_coupled };
    for seed in 0..5 {
        quadrature(1, squared).check(&from_prior(&line, 40 + seed));
        quadrature(2, squared_and_coupled).check(&from_prior(&plane, 50 + seed));
    }
}

/// The long run is plain importance sampling with 4 million draws of the prior; in two of the four
/// dimensions the target factorises, so its own error is below a tenth of the tolerance.
#[test]
fn banana_against_a_long_run() {
    let target = Function { dim: 4, function: banana };
    let posterior = from_prior(&target, 60);
    let mut random = stream(61, 0);
    let prior = GaussianMixture::standard_normal(4).unwrap();
    let long = crate::infer::weighted::WeightedDraws::draw(&target, &prior, 4_000_000, &mut random);
    let exact = long.normalised().unwrap();
    let wrong = posterior.log_evidence().unwrap() - exact.log_evidence;
    assert!(wrong.abs() < 5.0 * evidence_error(&posterior) + 0.01, "evidence off by {wrong}");
    let mean = long.draws.weighted_mean(&exact.weights);
    let (found, std_dev) = (posterior.mean(), posterior.std_dev());
    for k in 0..4 {
        let tolerance = 5.0 * std_dev[k] * (1.0 / posterior.diagnostics().ess + 1.0 / exact.ess).sqrt();
        assert!((found[k] - mean[k]).abs() < tolerance, "coordinate {k}: {} not {}", found[k], mean[k]);
    }
    assert_eq!(posterior.diagnostics().status, Status::Converged);
}

/// N(0, I) restricted to a half space: evidence ½, mean of the first coordinate √(2/π).
#[test]
fn impossible_half_space() {
    let half = |u: &[f64]| {
        if u[0] < 0.0 { f64::NEG_INFINITY } else { u.iter().map(|&x| log_normal(x)).sum() }
    };
    let target = Function { dim: 3, function: half };
    let posterior = from_prior(&target, 62);
    let ess = posterior.diagnostics().ess;
    assert_eq!(posterior.diagnostics().nonfinite, 0);
    let wrong = posterior.log_evidence().unwrap() - 0.5_f64.ln();
    assert!(wrong.abs() < 5.0 * evidence_error(&posterior), "evidence off by {wrong}");
    let mean = posterior.mean();
    assert!((mean[0] - std::f64::consts::FRAC_2_PI.sqrt()).abs() < 5.0 * 0.603 / ess.sqrt());
    assert!(posterior.quantiles(0, &[0.0]).unwrap()[0] >= 0.0);
}

/// The target narrows and moves as observations come; each posterior starts the next.
#[test]
fn online_updates_follow_a_moving_target() {
    let settings = AdaptiveImportance::default();
    let prior = GaussianMixture::standard_normal(3).unwrap();
    let mut random = stream(63, 0);
    let mut carried: Option<GaussianMixture> = None;
    for seen in 1..=8 {
        let precision = 1.0 + 4.0 * f64::from(seen);
        let mean = vec![1.5 * (1.0 - 1.0 / precision), -(1.0 - 1.0 / precision), 0.0];
        let diagonal: Vec<f64> = (0..9).map(|ij| if ij % 4 == 0 { 1.0 / precision } else { 0.0 }).collect();
        let mixture = GaussianMixture::new(vec![1.0], vec![mean.clone()], vec![diagonal]).unwrap();
        let target = MixtureTarget { mixture, log_evidence: -10.0 * f64::from(seen) };
        let start = carried.as_ref().map_or(FirstMixture::Prior(&prior), FirstMixture::Previous);
        let posterior = adaptive_importance(&settings, &target, start, &mut random).unwrap();
        let wrong = posterior.log_evidence().unwrap() - target.log_evidence;
        assert!(wrong.abs() < 5.0 * evidence_error(&posterior), "step {seen}: evidence off by {wrong}");
        let error = (1.0 / precision / posterior.diagnostics().ess).sqrt();
        (0..3).for_each(|k| assert!((posterior.mean()[k] - mean[k]).abs() < 5.0 * error));
        assert!(posterior.diagnostics().ess > 0.6 * 3000.0, "step {seen}: {:?}", posterior.diagnostics());
        carried = posterior.mixture().cloned();
    }
}

#[test]
fn same_seed_same_bits() {
    let target = Function { dim: 2, function: squared_and_coupled };
    assert_eq!(from_prior(&target, 64), from_prior(&target, 64));
    assert_ne!(from_prior(&target, 64).mean(), from_prior(&target, 65).mean());
}

#[test]
fn more_components_than_draws() {
    let settings = AdaptiveImportance {
        components: 20,
        samples: 5,
        first_samples: 4,
        final_samples: 6,
        min_ess: 1.0,
        ..AdaptiveImportance::default()
    };
    let prior = GaussianMixture::standard_normal(2).unwrap();
    let target = gaussian(2);
    let posterior =
        adaptive_importance(&settings, &target, FirstMixture::Prior(&prior), &mut stream(66, 0)).unwrap();
    assert!(posterior.mean().iter().all(|x| x.is_finite()));
    assert!(posterior.mixture().unwrap().len() <= 4);
}

#[test]
fn a_target_that_is_never_a_number_is_a_status() {
    for (value, counted) in [(f64::NAN, true), (f64::INFINITY, true), (f64::NEG_INFINITY, false)] {
        let target = Function { dim: 2, function: move |_: &[f64]| value };
        let posterior = from_prior(&target, 67);
        let diagnostics = posterior.diagnostics();
        assert_eq!(diagnostics.status, Status::NoSupport);
        assert_eq!(diagnostics.nonfinite, if counted { diagnostics.evaluations } else { 0 });
        assert_eq!((diagnostics.ess, posterior.log_evidence(), diagnostics.retries), (0.0, None, 2));
        assert!(posterior.mixture().is_none());
        assert!(posterior.mean().iter().all(|x| x.is_finite()));
    }
}

#[test]
fn now_and_then_not_a_number_is_counted_and_harmless() {
    let broken = |u: &[f64]| if u[0] > 2.0 { f64::NAN } else { squared_and_coupled(u) };
    let posterior = from_prior(&Function { dim: 2, function: broken }, 68);
    assert!(posterior.diagnostics().nonfinite > 0);
    assert_eq!(posterior.diagnostics().status, Status::Converged);
}

/// A needle that the prior's draws never hit: the low effective size is reported, not hidden.
#[test]
fn a_needle_is_reported_as_low_effective_size() {
    let needle = |u: &[f64]| -0.5 * u.iter().map(|x| ((x - 1.0) / 1e-9).powi(2)).sum::<f64>();
    let settings = AdaptiveImportance { passes: 1, ..AdaptiveImportance::default() };
    let target = Function { dim: 6, function: needle };
    let prior = GaussianMixture::standard_normal(6).unwrap();
    let posterior =
        adaptive_importance(&settings, &target, FirstMixture::Prior(&prior), &mut stream(69, 0)).unwrap();
    let diagnostics = posterior.diagnostics();
    assert_eq!((diagnostics.status, diagnostics.retries), (Status::LowEffectiveSampleSize, 2));
    // Draws grow with each retry: (3000 + 3000) (1 + 2 + 3).
    assert_eq!((diagnostics.evaluations, diagnostics.passes), (36_000, 3));
    assert!(diagnostics.pareto_k.unwrap() > 0.7);
}

#[test]
fn bad_settings_are_errors() {
    let good = AdaptiveImportance::default();
    assert!(good.validate().is_ok());
    let bad = [
        AdaptiveImportance { components: 0, ..good.clone() },
        AdaptiveImportance { samples: 0, ..good.clone() },
        AdaptiveImportance { final_samples: 1_000_000_000_000_000, ..good.clone() },
        AdaptiveImportance { components: 1 << 30, ..good.clone() },
        AdaptiveImportance { retries: 1_000_000_000_000_000, ..good.clone() },
        AdaptiveImportance { em_iterations: 1_000_000_000_000_000, ..good.clone() },
        AdaptiveImportance { kmeans_iterations: 1_000_000_000_000_000, ..good.clone() },
        AdaptiveImportance { tilt: 0.5, ..good.clone() },
        AdaptiveImportance { tilt: f64::NAN, ..good.clone() },
        AdaptiveImportance { stop_ess_fraction: 0.0, ..good.clone() },
        AdaptiveImportance { min_ess: -1.0, ..good.clone() },
        AdaptiveImportance { defensive_share: 1.0, ..good.clone() },
    ];
    assert!(bad.iter().all(|settings| settings.validate().is_err()));
    assert!(Online { mode_starts: 1_000_000_000_000_000, ..Online::default() }.validate().is_err());
    let prior = GaussianMixture::standard_normal(3).unwrap();
    assert!(
        adaptive_importance(&good, &gaussian(2), FirstMixture::Prior(&prior), &mut stream(70, 0)).is_err()
    );
    assert!(serde_json::from_str::<AdaptiveImportance>(r#"{"sample": 3}"#).is_err());
}
