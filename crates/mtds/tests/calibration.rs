//! Calibration on data drawn from the model itself: posteriors by their ranks, forecasts by their coverage.
//!
//! ```text
//! z ~ N(0, I),  Y ~ p(Y | z),  z_1 … z_L ~ p(z | Y)    ⇒    #{l: z_ld < z_d} uniform on 0 … L
//! ```
//! Talts, Betancourt, Simpson, Vehtari, Gelman (2018), Validating Bayesian inference algorithms with
//! simulation-based calibration.

mod common;

use common::{LOG_NOISE, draw_member, impulse, model, spec, with_noise_times};
use mtds::evaluate::{CENTRAL_LEVELS, score};
use mtds::parts::{Gru, Scores};
use mtds::random::{Random, stream};
use mtds::{Architecture, Online, Posterior, System};
use rand::RngExt;
use rayon::prelude::*;
use statrs::distribution::{ChiSquared, ContinuousCDF};

const REPLICATIONS: u64 = 400;
/// Posterior draws per rank: with L + 1 = 100 ranks, ten to a bin.
const DRAWS: usize = 99;
const BINS: usize = 10;
const D_CODE: usize = 2;
const N_TIME: usize = 20;
/// Of all dimensions together; Bonferroni's share of it for each.
const FALSE_ALARM_RATE: f64 = 1e-3;

fn family() -> System {
    model(spec(2, 1, D_CODE), 1.0, LOG_NOISE, 42)
}

fn gated() -> System {
    model(Architecture::new(Gru::new(3, 1, 1), D_CODE), 2.0, LOG_NOISE, 43)
}

/// One update at the end of the sequence.
fn settings() -> Online {
    Online { every: N_TIME, ..Online::default() }
}

/// Draws that are independent given the weighted ones.
fn rank(posterior: &Posterior, d: usize, truth: f64, random: &mut Random) -> usize {
    let column = posterior.draws().column(d);
    let draw = |random: &mut Random| {
        let mut rest: f64 = random.random();
        posterior.weights().iter().position(|w| {
            rest -= w;
            rest <= 0.0
        })
    };
    (0..DRAWS).filter(|_| column[draw(random).unwrap_or(column.len() - 1)] < truth).count()
}

/// Ranks of the true code, per dimension, when data come from `truth` and posteriors from `believed`.
fn ranks(truth: &System, believed: &System) -> Vec<Vec<usize>> {
    let inputs = impulse(N_TIME);
    let replicate = |i: u64| -> Vec<usize> {
        let mut random = stream(2018, i);
        let (code, outputs) = draw_member(truth, &inputs, N_TIME, &mut random);
        let tracker = believed.track(&outputs, Some(&inputs), settings(), stream(2019, i)).unwrap();
        let posterior = tracker.posterior().unwrap();
        (0..D_CODE).map(|d| rank(posterior, d, code[d], &mut random)).collect()
    };
    (0..REPLICATIONS).into_par_iter().map(replicate).collect()
}

/// p value of Pearson's test that the ranks of dimension `d` are uniform.
fn uniformity(ranks: &[Vec<usize>], d: usize) -> f64 {
    let mut counts = [0.0; BINS];
    ranks.iter().for_each(|r| counts[r[d] * BINS / (DRAWS + 1)] += 1.0);
    let expected = ranks.len() as f64 / BINS as f64;
    let statistic: f64 = counts.iter().map(|c| (c - expected).powi(2) / expected).sum();
    println!("dimension {d}: {counts:?}, chi-square {statistic:.1}");
    1.0 - ChiSquared::new((BINS - 1) as f64).unwrap().cdf(statistic)
}

/// A false alarm in one of 1 000 seeds; the seed is fixed.
#[test]
fn ranks_of_the_true_code_are_uniform() {
    let ranks = ranks(&family(), &family());
    for d in 0..D_CODE {
        let p = uniformity(&ranks, d);
        assert!(p > FALSE_ALARM_RATE / D_CODE as f64, "dimension {d}: p = {p:e}");
    }
}

/// The same for a gated network, whose likelihood is not linear in anything.
#[test]
fn ranks_are_uniform_for_a_nonlinear_model() {
    let ranks = ranks(&gated(), &gated());
    for d in 0..D_CODE {
        let p = uniformity(&ranks, d);
        assert!(p > FALSE_ALARM_RATE / D_CODE as f64, "dimension {d}: p = {p:e}");
    }
    let overconfident = with_noise_times(&gated(), 0.5);
    let least = |ranks: &[Vec<usize>]| (0..D_CODE).map(|d| uniformity(ranks, d)).fold(1.0, f64::min);
    assert!(least(&self::ranks(&gated(), &overconfident)) < FALSE_ALARM_RATE / D_CODE as f64);
}

/// With half the noise the posterior is too narrow, and the same test must see it.
#[test]
fn the_same_test_finds_noise_that_was_halved() {
    let overconfident = with_noise_times(&family(), 0.5);
    let ranks = ranks(&family(), &overconfident);
    for d in 0..D_CODE {
        let p = uniformity(&ranks, d);
        assert!(p < FALSE_ALARM_RATE / D_CODE as f64, "dimension {d}: p = {p:e}");
    }
}

/// Steps of one sequence share a code and are not independent: the error is taken over sequences.
///
/// It must be below 1 point, so that 3 points are more than 3 errors: over three levels, one false alarm in
/// 100 seeds at worst; the seed is fixed.
#[test]
fn forecast_intervals_cover_what_they_say() {
    const HORIZON: usize = 20;
    let (model, inputs) = (family(), impulse(N_TIME + HORIZON));
    let replicate = |i: u64| {
        let (_, outputs) = draw_member(&model, &inputs, N_TIME + HORIZON, &mut stream(80, i));
        let seen = outputs.slice(0..N_TIME);
        let mut tracker = model.track(&seen, Some(&inputs), settings(), stream(81, i)).unwrap();
        let future = inputs.slice(N_TIME..N_TIME + HORIZON);
        let forecast = tracker.forecast(HORIZON, Some(&future)).unwrap();
        let truth = outputs.slice(N_TIME..N_TIME + HORIZON);
        score(&forecast, truth.values(), &CENTRAL_LEVELS).unwrap().unwrap()
    };
    let scores: Vec<_> = (0..400).into_par_iter().map(replicate).collect();
    for coverage in Scores::over(&scores).unwrap().coverage {
        let (level, share) = (coverage.level, coverage.share);
        println!("{level}: {:.3} ± {:.4}", share.mean, share.std_error.unwrap());
        assert!(share.std_error.unwrap() < 0.01, "{level}: too few replications, {share:?}");
        assert!((share.mean - level).abs() < 0.03, "{level}: {share:?}");
    }
}
