//! Codes that drift: the tracker against exact Gaussian updates, and against trackers that think codes stand still.

use crate::common::levels;
use mtds::parts::Tracker;
use mtds::random::{Random, stream};
use mtds::{Online, System};
use rand::RngExt;
use rand_distr::StandardNormal;

const NOISE: f64 = 0.3;
const SIGMA: f64 = 0.08;

fn settings(history: usize, drift: Option<f64>) -> Online {
    Online { every: 5, history: Some(history), drift, ..Online::default() }
}

/// A level that walks, and what is seen of it.
fn walk(n_time: usize, random: &mut Random) -> Vec<f64> {
    let mut z: f64 = random.sample(StandardNormal);
    let mut step = |_| {
        z += SIGMA * random.sample::<f64, _>(StandardNormal);
        z + NOISE * random.sample::<f64, _>(StandardNormal)
    };
    (0..n_time).map(&mut step).collect()
}

/// Mean and variance of the level after every fifth observation, by Gaussian updates from the anchors that a tracker with a
/// history of 20 has: every 10 steps, each from the one before and widened by 10 σ², the older of two until 20 steps would be stored.
fn exact(outputs: &[f64]) -> Vec<(f64, f64)> {
    let (mut anchor, mut next, mut found) = ((0, 0.0, 1.0), None, vec![]);
    for t in 1..=outputs.len() {
        if t - anchor.0 >= 20 {
            anchor = next.take().unwrap();
        }
        if t % 5 > 0 {
            continue;
        }
        let (step, mean, variance) = anchor;
        let n = (t - step) as f64;
        let sum: f64 = outputs[step..t].iter().sum();
        let precision = 1.0 / variance + n / (NOISE * NOISE);
        let posterior = ((mean / variance + sum / (NOISE * NOISE)) / precision, 1.0 / precision);
        if t % 10 == 0 {
            next = Some((t, posterior.0, posterior.1 + 10.0 * SIGMA * SIGMA));
        }
        found.push(posterior);
    }
    found
}

#[test]
fn levels_that_walk_are_followed_as_gaussian_updates_do() {
    let (model, outputs) = (levels(NOISE), walk(120, &mut stream(2, 0)));
    let mut tracker = Tracker::new(&model, settings(20, Some(SIGMA)), stream(3, 0)).unwrap();
    let wanted = exact(&outputs);
    for (t, y) in outputs.iter().enumerate() {
        if !tracker.observe(&[*y], &[]).unwrap() {
            continue;
        }
        let (mean, variance) = wanted[t / 5];
        let posterior = tracker.posterior().unwrap();
        let (found, spread) = (posterior.mean()[0], posterior.covariance()[0]);
        // A few thousand weighted draws, errors of mixtures carried on: a fifth of a standard deviation.
        assert!((found - mean).abs() < 0.2 * variance.sqrt(), "{t}: {found} {mean}");
        assert!((spread / variance - 1.0).abs() < 0.3, "{t}: {spread} {variance}");
    }
}

/// Mean negative log likelihood of the fifth step ahead, after each update beyond the fortieth step.
fn surprise(model: &System, outputs: &[f64], settings: Online) -> f64 {
    let mut tracker = Tracker::new(model, settings, stream(4, 0)).unwrap();
    let (mut total, mut n) = (0.0, 0);
    for (t, y) in outputs.iter().enumerate() {
        let updated = tracker.observe(&[*y], &[]).unwrap();
        if updated && t >= 40 && t + 5 < outputs.len() {
            total -= tracker.forecast(5, None).unwrap().log_density(4, &[outputs[t + 5]]).unwrap();
            n += 1;
        }
    }
    total / f64::from(n)
}

/// The same of the exact filter for the walk.
fn best_surprise(outputs: &[f64]) -> f64 {
    let (mut mean, mut variance, mut total, mut n) = (0.0, 1.0, 0.0, 0);
    for (t, y) in outputs.iter().enumerate() {
        variance += SIGMA * SIGMA;
        let gain = variance / (variance + NOISE * NOISE);
        (mean, variance) = (mean + gain * (y - mean), (1.0 - gain) * variance);
        if (t + 1) % 5 == 0 && t >= 40 && t + 5 < outputs.len() {
            let ahead = variance + 5.0 * SIGMA * SIGMA + NOISE * NOISE;
            let error = outputs[t + 5] - mean;
            total += 0.5 * (error * error / ahead + (std::f64::consts::TAU * ahead).ln());
            n += 1;
        }
    }
    total / f64::from(n)
}

/// On ten walks of 240 steps the drifting tracker is within 0.1 nats of the exact filter, and better than one that thinks the
/// level stands still.
#[test]
fn forecasts_of_drifting_codes_beat_those_of_codes_that_stand_still() {
    let model = levels(NOISE);
    let (mut ours, mut still, mut best) = (0.0, 0.0, 0.0);
    for i in 0..10 {
        let outputs = walk(240, &mut stream(5, i));
        ours += surprise(&model, &outputs, settings(10, Some(SIGMA))) / 10.0;
        still += surprise(&model, &outputs, settings(10, None)) / 10.0;
        best += best_surprise(&outputs) / 10.0;
    }
    println!(
        "negative log likelihood five steps ahead: {ours:.3}, standing still {still:.3}, exact filter {best:.3}"
    );
    assert!(ours < best + 0.1 && ours + 0.2 < still, "{ours} {still} {best}");
}

#[test]
fn settings_that_make_no_walk_are_refused() {
    let model = levels(NOISE);
    let said = |online: Online| Tracker::new(&model, online, stream(1, 0)).unwrap_err().to_string();
    assert!(said(Online { drift: Some(0.1), ..Online::default() }).contains("history"));
    for bad in [0.0, -1.0, f64::NAN] {
        assert!(said(settings(20, Some(bad))).contains("drift"));
    }
}
