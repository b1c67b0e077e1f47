//! Mixtures of forecasts against mixtures of their densities and moments.

use super::*;
use crate::predict::{DrawNoise, score};

const N_TIME: usize = 3;
const D_OBS: usize = 2;

/// Two draws that differ from those of other seeds.
fn forecast(seed: f64, noise: DrawNoise) -> Forecast {
    let means = (0..2 * N_TIME * D_OBS).map(|i| (seed + 1.7 * i as f64).sin()).collect();
    Forecast::new(4, D_OBS, vec![0.3, 0.9], means, noise).unwrap()
}

fn diagonal() -> DrawNoise {
    DrawNoise::Diagonal(vec![0.4, 0.7, 0.5, 1.1])
}

fn by_step() -> DrawNoise {
    DrawNoise::DiagonalByStep((0..2 * N_TIME * D_OBS).map(|i| 0.3 + 0.1 * i as f64).collect())
}

fn full() -> DrawNoise {
    DrawNoise::Full(vec![0.5, 0.0, -0.3, 0.6, 0.8, 0.0, 0.4, 0.9])
}

fn full_by_step() -> DrawNoise {
    let factor = |i: usize| [0.3 + 0.1 * i as f64, 0.0, 0.2 - 0.1 * i as f64, 0.5];
    DrawNoise::FullByStep((0..2 * N_TIME).flat_map(factor).collect())
}

#[test]
fn densities_and_means_are_mixed_by_weight() {
    for (first, second) in [
        (diagonal(), diagonal()),
        (diagonal(), by_step()),
        (by_step(), diagonal()),
        (full(), full()),
        (diagonal(), full()),
        (full(), diagonal()),
        (by_step(), full()),
        (full(), full_by_step()),
        (full_by_step(), by_step()),
        (diagonal(), full_by_step()),
    ] {
        let (a, b) = (forecast(0.0, first), forecast(5.0, second));
        let mixed = Forecast::mixed(vec![(1.0, a.clone()), (3.0, b.clone())]).unwrap();
        assert_eq!((mixed.first_step(), mixed.n_time(), mixed.n_draws()), (4, N_TIME, 4));
        for t in 0..N_TIME {
            for y in [[0.2, -0.4], [f64::NAN, 0.8], [1.0, f64::NAN]] {
                let p = |f: &Forecast| f.log_density(t, &y).unwrap().exp();
                let by_hand = 0.25 * p(&a) + 0.75 * p(&b);
                assert!((p(&mixed) - by_hand).abs() < 1e-14, "{t} {y:?}: {} {by_hand}", p(&mixed));
            }
        }
        for ((m, x), y) in mixed.mean().iter().zip(a.mean()).zip(b.mean()) {
            assert!((m - (0.25 * x + 0.75 * y)).abs() < 1e-15);
        }
    }
}

#[test]
fn a_mixed_forecast_can_be_scored() {
    let parts = vec![(0.5, forecast(0.0, diagonal())), (0.5, forecast(2.0, full()))];
    let mixed = Forecast::mixed(parts).unwrap();
    let truth = [0.1, 0.2, f64::NAN, 0.3, -0.5, 0.4];
    let found = score(&mixed, &truth, &[0.5, 0.9]).unwrap().unwrap();
    assert!(found.nll.is_finite() && found.rmse.is_finite() && found.crps.is_finite());
}

#[test]
fn one_part_stays_as_it_is() {
    let alone = forecast(1.0, diagonal());
    assert_eq!(Forecast::mixed(vec![(0.2, alone.clone())]).unwrap(), alone);
}

#[test]
fn what_cannot_be_mixed_is_refused() {
    let longer = Forecast::new(4, D_OBS, vec![1.0], vec![0.0; 8], DrawNoise::Diagonal(vec![1.0; 2])).unwrap();
    let later = Forecast::new(5, D_OBS, vec![1.0], vec![0.0; 6], DrawNoise::Diagonal(vec![1.0; 2])).unwrap();
    let usual = || forecast(0.0, diagonal());
    for (parts, message) in [
        (vec![], "at least one"),
        (vec![(1.0, usual()), (1.0, longer)], "4 steps from step 4"),
        (vec![(1.0, usual()), (1.0, later)], "3 steps from step 5"),
        (vec![(1.0, usual()), (f64::NAN, usual())], "found NaN at 1"),
        (vec![(0.0, usual()), (0.0, usual())], "sum to 0"),
    ] {
        let error = Forecast::mixed(parts).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}
