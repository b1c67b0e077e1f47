//! The sampler against quadrature on a grid, where walls, correlation and several modes make it hard.

use std::ops::Range;

use mtds::evaluate::Estimate;
use mtds::random::stream;
use mtds::{Error, Result};
use proptest::prelude::*;

use super::weights::{log_mean_exp, normalised, tempered_ess};
use super::*;

/// Terms that are given as functions of a point in the square.
struct Square<F>(usize, F);

impl<F: Fn(usize, &[f64; 2]) -> f64> Terms<2> for Square<F> {
    fn n_terms(&self) -> usize {
        self.0
    }

    fn terms(&self, points: &[[f64; 2]], range: Range<usize>) -> Vec<f64> {
        points.iter().flat_map(|u| range.clone().map(|k| (self.1)(k, u))).collect()
    }
}

const QUICK: Settings = Settings {
    prior_points: 1024,
    prior_ess: 256.0,
    chains: 128,
    ess_share: 0.5,
    accepted_moves: 5.0,
    min_sweeps: 5,
    max_sweeps: 60,
    max_stages: 500,
};

/// Evidence and mean of the first coordinate by the midpoint rule on 800 × 800 cells.
fn by_quadrature(likelihood: &impl Terms<2>, n_terms: usize) -> (f64, f64) {
    let at = |i: usize| (i as f64 + 0.5) / 800.0;
    let points: Vec<[f64; 2]> = (0..640_000).map(|m| [at(m / 800), at(m % 800)]).collect();
    let values = likelihood.log_likelihoods(&points, Reach { whole: n_terms, share: 0.0 });
    let weights = normalised(&values);
    (log_mean_exp(&values), points.iter().zip(weights).map(|(u, w)| w * u[0]).sum())
}

/// 24 runs: mean ratio to the exact evidence, and mean first coordinate, both with standard errors.
fn by_sampling(likelihood: &impl Terms<2>, n_terms: usize, exact: f64) -> Result<(Estimate, Estimate)> {
    let (mut ratios, mut means) = (vec![], vec![]);
    for seed in 0..24 {
        let stop = &run(likelihood, &[n_terms], &QUICK, &mut stream(seed, 0))?[0];
        ratios.push((stop.log_evidence - exact).exp());
        means.push(stop.points.iter().zip(&stop.weights).map(|(u, w)| w * u[0]).sum());
    }
    Ok((Estimate::of(&ratios).unwrap(), Estimate::of(&means).unwrap()))
}

/// With 23 degrees of freedom, 5 standard errors are exceeded by chance once in 20 000 comparisons; adaptation
/// leaves a bias of a per cent or so, which is allowed for.
fn assert_agrees(likelihood: &impl Terms<2>, n_terms: usize) {
    let (log_evidence, mean) = by_quadrature(likelihood, n_terms);
    let (ratio, sampled) = by_sampling(likelihood, n_terms, log_evidence).unwrap();
    assert!((ratio.mean - 1.0).abs() < 5.0 * ratio.std_error.unwrap() + 0.01, "{ratio:?}");
    let slack = 5.0 * sampled.std_error.unwrap() + 1e-3;
    assert!((sampled.mean - mean).abs() < slack, "{sampled:?} {mean}");
    assert!(ratio.std_error.unwrap() < 0.1 && sampled.std_error.unwrap() < 0.02, "{ratio:?} {sampled:?}");
}

/// A narrow ridge that runs into two walls: steps there must favour no direction.
#[test]
fn a_ridge_between_walls_is_sampled_without_bias() {
    let ridge = |_, u: &[f64; 2]| {
        let (along, across) = (u[0] + u[1] - 0.2, u[0] - 2.0 * u[1]);
        -0.5 * (along / 0.3).powi(2) - 0.5 * (across / 0.04).powi(2)
    };
    assert_agrees(&Square(6, ridge), 6);
}

#[test]
fn two_narrow_modes_keep_their_masses() {
    let mode =
        |u: &[f64; 2], c: f64| (-0.5 * ((u[0] - c).powi(2) + (u[1] - c).powi(2)) / 0.03f64.powi(2)).exp();
    let modes = |k: usize, u: &[f64; 2]| {
        if k == 0 { (0.3 * mode(u, 0.2) + 0.7 * mode(u, 0.75) + 1e-30).ln() } else { 0.1 * u[0] }
    };
    assert_agrees(&Square(3, modes), 3);
}

/// One observation that moves the posterior by tens of its deviations is taken in by parts.
#[test]
fn an_informative_term_is_tempered() {
    let sharp = |k: usize, u: &[f64; 2]| {
        if k == 0 { 0.0 } else { -0.5 * ((u[0] - 0.9) / 0.01).powi(2) - 0.5 * ((u[1] - 0.1) / 0.02).powi(2) }
    };
    let likelihood = Square(2, sharp);
    let stops = run(&likelihood, &[1, 2], &QUICK, &mut stream(3, 0)).unwrap();
    assert_eq!((stops[0].n_terms, stops[0].work.stages, stops[0].log_evidence), (1, 0, 0.0));
    assert!(stops[1].work.stages >= 3, "{:?}", stops[1].work);
    assert!(stops[1].ess >= 0.5 * stops[1].points.len() as f64);
    assert_agrees(&likelihood, 2);
}

#[test]
fn flat_and_empty_likelihoods_leave_the_prior() {
    let none = run(&Square(0, |_, _: &[f64; 2]| 0.0), &[0], &QUICK, &mut stream(1, 0)).unwrap();
    let flat = run(&Square(9, |_, _: &[f64; 2]| -2.0), &[9], &QUICK, &mut stream(1, 0)).unwrap();
    assert!((none[0].log_evidence, none[0].ess, none[0].work) == (0.0, 1024.0, Work::default()));
    assert!((flat[0].log_evidence + 18.0).abs() < 1e-12 && flat[0].points == none[0].points);
    let mean = none[0].points.iter().map(|u| u[1]).sum::<f64>() / 1024.0;
    assert!((mean - 0.5).abs() < 2e-3, "even points are far closer than independent ones: {mean}");
}

#[test]
fn the_seed_alone_decides() {
    let likelihood = Square(4, |k, u: &[f64; 2]| -30.0 * (u[0] - 0.1 * k as f64).powi(2));
    let stops = |seed| run(&likelihood, &[2, 4], &QUICK, &mut stream(seed, 0)).unwrap();
    assert_eq!(stops(1), stops(1));
    assert_ne!(stops(1), stops(2));
}

/// Without stages nothing is resampled, and the effective sample size says what came of it.
#[test]
fn too_few_stages_show_in_the_effective_sample_size() {
    let likelihood = Square(1, |_, u: &[f64; 2]| -0.5 * ((u[0] - 0.5) / 1e-3).powi(2));
    let settings = Settings { max_stages: 0, ..QUICK };
    let stop = &run(&likelihood, &[1], &settings, &mut stream(1, 0)).unwrap()[0];
    assert!(stop.work.stages == 0 && stop.ess < 10.0 && stop.log_evidence.is_finite(), "{}", stop.ess);
}

#[test]
fn what_cannot_be_used_is_refused() {
    let flat = Square(3, |_, _: &[f64; 2]| 0.0);
    let attempt = |wanted: &[usize], settings| run(&flat, wanted, &settings, &mut stream(1, 0)).map(|_| ());
    assert!(matches!(attempt(&[2, 2], QUICK), Err(Error::Setting { .. })));
    assert!(matches!(attempt(&[4], QUICK), Err(Error::Shape { .. })));
    for bad in [
        Settings { prior_points: 1 << 17, ..QUICK },
        Settings { prior_ess: f64::NAN, ..QUICK },
        Settings { chains: 1, ..QUICK },
        Settings { ess_share: 1.0, ..QUICK },
        Settings { accepted_moves: f64::NAN, ..QUICK },
        Settings { min_sweeps: 0, ..QUICK },
        Settings { max_sweeps: 4, ..QUICK },
    ] {
        assert!(matches!(attempt(&[1], bad), Err(Error::Setting { .. })), "{bad:?}");
    }
    let broken = Square(2, |k, _: &[f64; 2]| if k == 1 { f64::NAN } else { 0.0 });
    let error = run(&broken, &[2], &QUICK, &mut stream(1, 0)).unwrap_err();
    assert!(error.to_string().starts_with("log likelihood term 1: found NaN"), "{error}");
}

proptest! {
    #[test]
    fn systematic_draws_are_the_expected_numbers(
        raw in prop::collection::vec(0.0..1.0f64, 1..40),
        n in 1usize..200,
        offset in 0.0..1.0f64,
    ) {
        let total: f64 = raw.iter().sum();
        prop_assume!(total > 1e-3);
        let weights: Vec<f64> = raw.iter().map(|w| w / total).collect();
        let chosen = systematic(&weights, n, offset);
        prop_assert!(chosen.len() == n && chosen.is_sorted());
        for (i, w) in weights.iter().enumerate() {
            let count = chosen.iter().filter(|&&j| j == i).count() as f64;
            prop_assert!((count - n as f64 * w).abs() < 1.0 + 1e-9);
        }
    }

    #[test]
    fn effective_sample_size_is_that_of_the_weights(x in prop::collection::vec(-700.0..700.0f64, 1..30)) {
        let ess = tempered_ess(&vec![0.0; x.len()], &x, 0.5);
        let weights = normalised(&x.iter().map(|v| 0.5 * v).collect::<Vec<_>>());
        let expected = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
        prop_assert!((ess - expected).abs() < 1e-9 * expected && ess >= 1.0 - 1e-12);
    }
}
