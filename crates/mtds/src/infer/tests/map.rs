//! MAP with Laplace's approximation against exact answers.

use super::targets::{Function, MixtureTarget, gaussian, log_normal, squared};
use crate::infer::{GaussianMixture, MapLaplace, Points, Posterior, SmoothTarget, Status, map_laplace};
use crate::random::stream;

fn from_prior<T: SmoothTarget>(target: &T, seed: u64) -> Posterior {
    let prior = GaussianMixture::standard_normal(target.dim()).unwrap();
    map_laplace(&MapLaplace::default(), target, &prior, &mut stream(seed, 0)).unwrap()
}

/// All climbs meet in one mode; precision and evidence are exact up to rounding in the differences.
#[test]
fn laplace_is_exact_for_gaussians() {
    for dim in 1..=8 {
        let target = gaussian(dim);
        let posterior = from_prior(&target, 80 + dim as u64);
        let mixture = posterior.mixture().unwrap();
        assert_eq!(mixture.len(), 1, "{dim} dimensions");
        for (found, exact) in mixture.mean().iter().zip(target.mixture.mean()) {
            assert!((found - exact).abs() < 1e-3, "{found} not {exact}");
        }
        for (found, exact) in mixture.covariance().iter().zip(target.mixture.covariance()) {
            assert!((found - exact).abs() < 1e-6 * (1.0 + exact.abs()), "{found} not {exact}");
        }
        let diagnostics = posterior.diagnostics();
        assert_eq!(diagnostics.status, Status::Converged);
        // All but the defensive 5 % of the draws are exact.
        assert!(diagnostics.ess > 0.9 * 3000.0, "{diagnostics:?}");
        let n = posterior.draws().len() as f64;
        let error = ((n / diagnostics.ess - 1.0) / n).sqrt();
        assert!((posterior.log_evidence().unwrap() - target.log_evidence).abs() < 5.0 * error);
    }
}

/// Work on a Gaussian: few rounds per start, then two Hessians of 2 d gradients at the one mode. A change of the
/// optimiser that costs evaluations shows here.
#[test]
fn work_on_a_gaussian_stays_small() {
    let diagnostics = from_prior(&gaussian(5), 90).diagnostics().clone();
    let per_start = (diagnostics.gradient_evaluations - 20) / 16;
    assert!((3..=25).contains(&per_start), "{per_start} gradients per start");
}

#[test]
fn both_modes_with_their_evidence() {
    let mixture = GaussianMixture::new(
        vec![0.3, 0.7],
        vec![vec![-1.5, 0.0], vec![1.5, 0.5]],
        vec![vec![0.04, 0.01, 0.01, 0.04], vec![0.02, 0.0, 0.0, 0.09]],
    );
    let target = MixtureTarget { mixture: mixture.unwrap(), log_evidence: 7.0 };
    let posterior = from_prior(&target, 91);
    let found = posterior.mixture().unwrap();
    assert_eq!(found.len(), 2);
    let left = (0..2).find(|&j| found.component_mean(j)[0] < 0.0).unwrap();
    assert!((found.weights()[left] - 0.3).abs() < 1e-3);
    assert!((found.component_mean(left)[0] + 1.5).abs() < 1e-3);
    assert!((found.component_covariance(left)[1] - 0.01).abs() < 1e-4);
    let error = (1.0 / posterior.diagnostics().ess).sqrt();
    assert!((posterior.log_evidence().unwrap() - 7.0).abs() < 5.0 * error);
}

#[test]
fn modes_of_a_target_that_is_no_mixture() {
    let posterior = from_prior(&Function { dim: 1, function: squared }, 92);
    let found = posterior.mixture().unwrap();
    assert_eq!(found.len(), 2);
    for j in 0..2 {
        let at = found.component_mean(j)[0];
        let slope = (squared(&[at + 1e-4]) - squared(&[at - 1e-4])) / 2e-4;
        assert!(slope.abs() < 1e-3, "slope {slope} at {at}");
    }
}

/// Rosenbrock's valley as a log density: curved, badly scaled, one mode at (1, 1).
#[test]
fn a_curved_valley_is_climbed() {
    let valley = |u: &[f64]| -(1.0 - u[0]).powi(2) - 100.0 * (u[1] - u[0] * u[0]).powi(2);
    let posterior = from_prior(&Function { dim: 2, function: valley }, 93);
    let found = posterior.mixture().unwrap();
    assert!(
        (found.component_mean(0)[0] - 1.0).abs() < 1e-3 && (found.component_mean(0)[1] - 1.0).abs() < 1e-3
    );
}

#[test]
fn no_support_and_too_few_rounds_are_statuses() {
    let nowhere = Function { dim: 2, function: |_: &[f64]| f64::NAN };
    let posterior = from_prior(&nowhere, 94);
    assert_eq!(posterior.diagnostics().status, Status::NoSupport);
    assert!(posterior.diagnostics().nonfinite >= 16);
    let settings = MapLaplace { max_iterations: 1, ..MapLaplace::default() };
    let prior = GaussianMixture::standard_normal(4).unwrap();
    let hurried = map_laplace(&settings, &gaussian(4), &prior, &mut stream(95, 0)).unwrap();
    assert_eq!(hurried.diagnostics().status, Status::IterationLimit);
}

/// A kink at the mode and an edge beside it: no panic, finite answers.
#[test]
fn kinks_and_edges() {
    let kink = |u: &[f64]| if u[0] < 0.0 { f64::NEG_INFINITY } else { log_normal(u[0]) - 3.0 * u[0] };
    let posterior = from_prior(&Function { dim: 1, function: kink }, 96);
    assert!(posterior.mean()[0].is_finite() && posterior.log_evidence().unwrap().is_finite());
}

#[test]
fn many_prior_components_are_screened() {
    let target = gaussian(2);
    let means: Vec<Vec<f64>> = (0..40).map(|i| vec![0.1 * f64::from(i) - 2.0, 0.3]).collect();
    let unit = vec![1.0, 0.0, 0.0, 1.0];
    let prior = GaussianMixture::new(vec![1.0 / 40.0; 40], means, vec![unit; 40]).unwrap();
    let posterior = map_laplace(&MapLaplace::default(), &target, &prior, &mut stream(97, 0)).unwrap();
    assert_eq!(posterior.diagnostics().evaluations, 40 + 3000);
    assert_eq!(posterior.mixture().unwrap().len(), 1);
}

/// The oracle's own gradient, by central differences.
#[test]
fn mixture_target_gradient() {
    let target = gaussian(3);
    let points = target.mixture.sample(5, &mut stream(98, 0));
    let (mut values, mut gradient) = (vec![0.0; 5], Points::zeros(3, 5));
    target.log_density_and_gradient(&points, &mut values, &mut gradient);
    for k in 0..3 {
        let mut moved = points.clone();
        moved.column_mut(k).iter_mut().for_each(|x| *x += 1e-6);
        let mut up = vec![0.0; 5];
        crate::infer::LogTarget::log_density(&target, &moved, &mut up);
        for i in 0..5 {
            let slope = (up[i] - values[i]) / 1e-6;
            assert!((slope - gradient.column(k)[i]).abs() < 1e-4 * (1.0 + slope.abs()));
        }
    }
}
