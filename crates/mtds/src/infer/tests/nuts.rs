//! NUTS against targets whose answers are known, and where densities end.

use super::targets::{Function, MixtureTarget, gaussian, log_normal, squared};
use crate::infer::{
    GaussianMixture, LogTarget, Method, Nuts, Points, Posterior, SmoothTarget, Status, effective_draws, nuts,
    nuts_observed,
};
use crate::learn::Control;
use crate::random::stream;
use crate::{Error, Result};

fn start(point: &[f64]) -> Points {
    Points::from_points(point.len(), &[point.to_vec()]).unwrap()
}

fn four_chains() -> Nuts {
    Nuts { chains: 4, warmup: 500, draws: 1000, ..Nuts::default() }
}

/// Mean of `f(u_d)` and its standard error, from the effective draws of that very function.
fn expectation(posterior: &Posterior, d: usize, f: impl Fn(f64) -> f64) -> (f64, f64) {
    let values: Vec<f64> = posterior.draws().column(d).iter().map(|&x| f(x)).collect();
    let (n, chains) = (values.len(), posterior.diagnostics().chains.as_ref().unwrap().chains);
    let mean = values.iter().sum::<f64>() / n as f64;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
    let ess = effective_draws(&values.chunks(n / chains).collect::<Vec<_>>()).unwrap();
    (mean, (variance / ess.min(n as f64)).sqrt())
}

/// Up to five standard errors. With the 70 numbers compared in this file one seed in 20 000 would fail.
fn assert_near(what: &str, (found, error): (f64, f64), exact: f64) {
    assert!((found - exact).abs() < 5.0 * error, "{what}: found {found} ± {error}, exact {exact}");
}

fn check_moments(posterior: &Posterior, exact: &GaussianMixture) {
    let (mean, covariance, d) = (exact.mean(), exact.covariance(), exact.dim());
    for k in 0..d {
        assert_near(&format!("mean {k} of {d}"), expectation(posterior, k, |x| x), mean[k]);
        let variance = expectation(posterior, k, |x| (x - mean[k]).powi(2));
        assert_near(&format!("variance {k} of {d}"), variance, covariance[k * d + k]);
    }
}

#[test]
fn correlated_gaussians() {
    for dim in [1, 2, 5, 8] {
        let target = gaussian(dim);
        let posterior =
            nuts(&four_chains(), &target, &start(&vec![0.3; dim]), &mut stream(1, dim as u64)).unwrap();
        check_moments(&posterior, &target.mixture);
        let found = posterior.diagnostics();
        let report = found.chains.as_ref().unwrap();
        assert_eq!((found.status, found.method), (Status::Converged, Method::Nuts), "{found:?}");
        assert_eq!((report.chains, report.divergences, report.cut_short), (4, 0, 0));
        assert!(found.ess > 1000.0 && report.r_hat.unwrap() < 1.02, "{found:?}");
        assert!((0.6..1.0).contains(&report.acceptance), "{report:?}");
        assert_eq!((posterior.draws().len(), posterior.log_evidence()), (4000, None));
        // Dense scales: trajectories of a few steps, whatever the correlations.
        assert!(found.gradient_evaluations < 6000 * 12, "{found:?}");
    }
}

/// Standard deviations of 1e-3 and 1e3 with correlation 0.999: what a dense mass matrix is for.
#[test]
fn a_badly_scaled_gaussian() {
    let covariance = vec![1e-6, 0.999, 0.999, 1e6];
    let mixture = GaussianMixture::new(vec![1.0], vec![vec![5.0, -300.0]], vec![covariance]).unwrap();
    let target = MixtureTarget { mixture, log_evidence: 0.0 };
    let posterior = nuts(&four_chains(), &target, &start(&[5.001, 0.0]), &mut stream(2, 0)).unwrap();
    check_moments(&posterior, &target.mixture);
    let found = posterior.diagnostics();
    assert!(found.status == Status::Converged && found.ess > 1000.0, "{found:?}");
}

/// There the gradient is exactly zero and says nothing about scale.
#[test]
fn a_start_at_the_very_mode() {
    let mixture = GaussianMixture::standard_normal(3).unwrap();
    let target = MixtureTarget { mixture, log_evidence: 0.0 };
    let posterior = nuts(&four_chains(), &target, &start(&[0.0; 3]), &mut stream(3, 0)).unwrap();
    check_moments(&posterior, &target.mixture);
    assert_eq!(posterior.diagnostics().status, Status::Converged);
}

/// Two modes that chains can cross between: masses and places from the quadrature of one dimension.
#[test]
fn two_modes_within_reach() {
    let target = Function { dim: 1, function: |u: &[f64]| 0.35 * squared(u) };
    let posterior =
        nuts(&Nuts { draws: 4000, ..four_chains() }, &target, &start(&[1.0]), &mut stream(4, 0)).unwrap();
    let grid: Vec<f64> = (-6000..=6000).map(|i| 1e-3 * f64::from(i)).collect();
    let mass: Vec<f64> = grid.iter().map(|&x| (0.35 * squared(&[x])).exp()).collect();
    let exact = |f: &dyn Fn(f64) -> f64| {
        grid.iter().zip(&mass).map(|(&x, m)| m * f(x)).sum::<f64>() / mass.iter().sum::<f64>()
    };
    let right = |x: f64| f64::from(u8::from(x > 0.0));
    assert_near("mean", expectation(&posterior, 0, |x| x), exact(&|x| x));
    assert_near("mass on the right", expectation(&posterior, 0, right), exact(&right));
    assert_near("second moment", expectation(&posterior, 0, |x| x * x), exact(&|x| x * x));
}

/// A half normal: the density ends inside a trajectory. E x = √(2/π), E x² = 1.
fn half_normal(outside: f64) -> Posterior {
    let density = move |u: &[f64]| if u[0] > 0.0 { log_normal(u[0]) + log_normal(u[1]) } else { outside };
    let target = Function { dim: 2, function: density };
    nuts(&four_chains(), &target, &start(&[0.7, 0.1]), &mut stream(5, 0)).unwrap()
}

#[test]
fn densities_that_end_are_survived() {
    for outside in [f64::NEG_INFINITY, f64::NAN, f64::INFINITY] {
        let posterior = half_normal(outside);
        assert!(posterior.draws().column(0).iter().all(|&x| x > 0.0));
        assert_near("mean", expectation(&posterior, 0, |x| x), (2.0 / std::f64::consts::PI).sqrt());
        assert_near("second moment", expectation(&posterior, 0, |x| x * x), 1.0);
        assert_near("other mean", expectation(&posterior, 1, |x| x), 0.0);
        let found = posterior.diagnostics();
        assert_eq!(found.status, Status::Divergent, "{found:?}");
        assert!(found.chains.as_ref().unwrap().divergences > 40, "{found:?}");
        // The density's end is no number only where it says so, but for differences taken across it.
        let told = found.nonfinite > 100;
        assert_eq!(told, outside != f64::NEG_INFINITY, "{outside}: {found:?}");
    }
}

#[test]
fn no_possible_start_is_a_status() {
    let nowhere = Function { dim: 2, function: |_: &[f64]| f64::NEG_INFINITY };
    let posterior = nuts(&four_chains(), &nowhere, &start(&[1.0, 2.0]), &mut stream(6, 0)).unwrap();
    assert_eq!(posterior.diagnostics().status, Status::NoSupport);
    assert_eq!((posterior.draws().len(), posterior.mean()), (1, vec![1.0, 2.0]));
    // An impossible start beside a possible one is left out.
    let starts = Points::from_points(2, &[vec![f64::NAN, 0.0], vec![-1.0, 0.0], vec![1.0, 0.0]]).unwrap();
    let right = Function {
        dim: 2,
        function: |u: &[f64]| if u[0] > -0.5 { log_normal(u[0]) + log_normal(u[1]) } else { f64::NAN },
    };
    let posterior = nuts(&Nuts::default(), &right, &starts, &mut stream(6, 1)).unwrap();
    assert!(posterior.draws().column(0).iter().all(|&x| x > -0.5));
}

/// Chains at modes that no trajectory crosses between.
#[test]
fn chains_at_far_modes_disagree() {
    let modes =
        GaussianMixture::new(vec![0.5, 0.5], vec![vec![-50.0], vec![50.0]], vec![vec![1.0], vec![1.0]]);
    let target = MixtureTarget { mixture: modes.unwrap(), log_evidence: 0.0 };
    let starts = Points::from_points(1, &[vec![-50.5], vec![50.5]]).unwrap();
    let settings = Nuts { chains: 2, ..Nuts::default() };
    let posterior = nuts(&settings, &target, &starts, &mut stream(7, 0)).unwrap();
    assert_eq!(posterior.diagnostics().status, Status::ChainsDisagree);
    assert!(posterior.diagnostics().ess < 10.0);
}

#[test]
fn the_seed_alone_decides_the_bits() {
    let on = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let run = || nuts(&four_chains(), &gaussian(3), &start(&[0.1; 3]), &mut stream(seed, 0)).unwrap();
        pool.install(run)
    };
    let one = on(1, 8);
    assert_eq!(one, on(3, 8));
    assert_ne!(one.draws(), on(1, 9).draws());
    let chains: Vec<&[f64]> = one.draws().column(0).chunks(1000).collect();
    assert!(chains[0] != chains[1], "every chain has a stream of its own");
}

#[test]
fn few_draws_and_no_warm_up() {
    for (warmup, draws) in [(0, 1), (0, 5), (1, 3), (7, 4), (30, 1)] {
        let settings = Nuts { warmup, draws, chains: 2, ..Nuts::default() };
        let posterior = nuts(&settings, &gaussian(2), &start(&[0.5, 0.5]), &mut stream(9, 0)).unwrap();
        assert_eq!(posterior.draws().len(), 2 * draws);
        assert!(posterior.diagnostics().ess <= 2.0 * draws as f64 * 10.0);
        assert_eq!(posterior.diagnostics().chains.as_ref().unwrap().r_hat.is_some(), draws >= 4);
    }
}

#[test]
fn settings_and_starts_are_checked() {
    let target = gaussian(2);
    let run = |settings: &Nuts, starts: &Points| nuts(settings, &target, starts, &mut stream(0, 0));
    let broken = [
        (Nuts { chains: 0, ..Nuts::default() }, "chains"),
        (Nuts { draws: 0, ..Nuts::default() }, "draws"),
        (Nuts { max_depth: 0, ..Nuts::default() }, "max_depth"),
        (Nuts { max_depth: 21, ..Nuts::default() }, "max_depth"),
        (Nuts { target_accept: 1.0, ..Nuts::default() }, "target_accept"),
        (Nuts { target_accept: f64::NAN, ..Nuts::default() }, "target_accept"),
        (Nuts { min_ess: -1.0, ..Nuts::default() }, "min_ess"),
        (Nuts { max_r_hat: 0.9, ..Nuts::default() }, "max_r_hat"),
        (Nuts { max_divergent_share: 1.5, ..Nuts::default() }, "max_divergent_share"),
    ];
    for (settings, name) in broken {
        let error = run(&settings, &start(&[0.0, 0.0])).unwrap_err().to_string();
        assert!(error.contains(&format!("setting `{name}`")), "{error}");
    }
    for starts in [Points::zeros(2, 0), Points::zeros(3, 1)] {
        let error = run(&Nuts::default(), &starts).unwrap_err().to_string();
        assert!(error.contains("2 dimensions"), "{error}");
    }
    let text = serde_json::to_string(&Nuts::default()).unwrap();
    assert_eq!(serde_json::from_str::<Nuts>(&text).unwrap(), Nuts::default());
    assert_eq!(serde_json::from_str::<Nuts>("{}").unwrap(), Nuts::default());
    assert!(serde_json::from_str::<Nuts>(r#"{"draw": 3}"#).is_err());
}

/// The evaluator of single points that every smooth target has.
#[test]
fn the_evaluator_of_a_target_is_the_target() {
    let target = gaussian(3);
    let points = start(&[0.4, -0.2, 1.3]);
    let (mut out, mut slopes, mut slope) = ([0.0], Points::zeros(3, 1), [0.0; 3]);
    target.log_density_and_gradient(&points, &mut out, &mut slopes);
    let value = target.evaluator()(points.values(), &mut slope);
    assert_eq!((value, &slope[..]), (out[0], slopes.values()));
    target.log_density(&points, &mut out);
    assert_eq!(value, out[0]);
}

/// An observer that has enough after so many gradients, and how many were asked about in all.
fn stopped_after(most: usize) -> (Result<Posterior>, usize) {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let observe = || match asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
        before if before < most => Control::Continue,
        _ => Control::Stop,
    };
    let (target, mut random) = (gaussian(2), stream(10, 0));
    let found = nuts_observed(&four_chains(), &target, &start(&[0.1, 0.2]), &mut random, &observe);
    (found, asked.into_inner())
}

#[test]
fn chains_end_when_nobody_wants_them() {
    for most in [0, 1, 5, 1000] {
        let (found, asked) = stopped_after(most);
        assert!(matches!(found, Err(Error::Stopped)), "{most}");
        // Each of four chains asks once more, and is answered no.
        assert!(asked <= most + 4, "{asked} of {most}");
    }
    let mut random = stream(10, 0);
    let whole = nuts(&four_chains(), &gaussian(2), &start(&[0.1, 0.2]), &mut random).unwrap();
    assert_eq!(stopped_after(usize::MAX).0.unwrap().draws().values(), whole.draws().values());
}
