//! Tests of forecasts: densities against the dense formula, draws, missing outputs, degenerate sizes.

use proptest::prelude::*;

use super::*;
use crate::random;

const NAN: f64 = f64::NAN;

/// Two draws, two steps, three correlated outputs.
fn correlated() -> Forecast {
    let factor = |a: f64| vec![0.5 * a, 0.0, 0.0, 0.3, 0.4, 0.0, -0.2, 0.6 * a, 0.1];
    let noise = DrawNoise::Full([factor(1.0), factor(2.0)].concat());
    let means = (0..12).map(|k| f64::from(k) * 0.1).collect();
    Forecast::new(5, 3, vec![1.0, 3.0], means, noise).unwrap()
}

/// log N(r | 0, Σ) with Σ inverted by Gauss–Jordan elimination.
fn dense_log_density(mut sigma: Vec<Vec<f64>>, r: &[f64]) -> f64 {
    let n = r.len();
    let mut solved = r.to_vec();
    let mut log_det = 0.0;
    for k in 0..n {
        let pivot = sigma[k][k];
        log_det += pivot.ln();
        for i in (0..n).filter(|&i| i != k) {
            let factor = sigma[i][k] / pivot;
            for j in 0..n {
                sigma[i][j] -= factor * sigma[k][j];
            }
            solved[i] -= factor * solved[k];
        }
    }
    let square: f64 = (0..n).map(|k| r[k] * solved[k] / sigma[k][k]).sum();
    -0.5 * (square + log_det + n as f64 * (2.0 * std::f64::consts::PI).ln())
}

/// The mixture density by the textbook: covariances formed, rows and columns of missing outputs struck out.
fn textbook_log_density(forecast: &Forecast, t: usize, y: &[f64]) -> f64 {
    let (d, n_time) = (forecast.d_obs(), forecast.n_time());
    let DrawNoise::Full(factors) = forecast.noise() else { panic!("the oracle is for full noise") };
    let observed: Vec<usize> = (0..d).filter(|&c| !y[c].is_nan()).collect();
    let draws = forecast.weights().iter().enumerate().map(|(i, w)| {
        let l = |a: usize, b: usize| factors[(i * d + a) * d + b];
        let covariance = |a: usize, b: usize| (0..d).map(|k| l(a, k) * l(b, k)).sum::<f64>();
        let sigma = observed.iter().map(|&a| observed.iter().map(|&b| covariance(a, b)).collect()).collect();
        let mean = &forecast.means()[(i * n_time + t) * d..][..d];
        let residual: Vec<f64> = observed.iter().map(|&c| y[c] - mean[c]).collect();
        w * dense_log_density(sigma, &residual).exp()
    });
    draws.sum::<f64>().ln()
}

proptest! {
    #[test]
    fn full_noise_density_is_the_dense_formula(
        y in prop::collection::vec(-1.0..2.0_f64, 3),
        seen in prop::collection::vec(any::<bool>(), 3),
        t in 0_usize..2,
    ) {
        let y: Vec<f64> = y.iter().zip(&seen).map(|(&y, &seen)| if seen { y } else { NAN }).collect();
        prop_assume!(seen.contains(&true));
        let forecast = correlated();
        let (found, expected) = (forecast.log_density(t, &y).unwrap(), textbook_log_density(&forecast, t, &y));
        prop_assume!(expected > -600.0);
        prop_assert!((found - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{} {}", found, expected);
    }

    #[test]
    fn one_observed_output_has_its_marginals_density(c in 0_usize..3, value in -1.0..2.0_f64) {
        let forecast = correlated();
        let mut y = [NAN; 3];
        y[c] = value;
        let expected = forecast.marginal(1, c).unwrap().log_density(value);
        prop_assert!((forecast.log_density(1, &y).unwrap() - expected).abs() < 1e-10 * (1.0 + expected.abs()));
    }

    #[test]
    fn rescaling_is_a_change_of_variables(y in prop::collection::vec(0.0..1.0_f64, 3), missing in 0_usize..4) {
        let (offset, scale) = ([1.0, -2.0, 0.0], [2.0, 0.5, 10.0]);
        let (model, data) = (correlated(), correlated().rescaled(&offset, &scale).unwrap());
        let mut y = y;
        if missing < 3 {
            y[missing] = NAN;
        }
        let moved: Vec<f64> = (0..3).map(|c| offset[c] + scale[c] * y[c]).collect();
        let volume: f64 = (0..3).filter(|&c| c != missing).map(|c| scale[c].ln()).sum();
        let expected = model.log_density(0, &y).unwrap() - volume;
        prop_assert!((data.log_density(0, &moved).unwrap() - expected).abs() < 1e-8 * (1.0 + expected.abs()));
        let (before, after) = (model.quantile(0.3).unwrap(), data.quantile(0.3).unwrap());
        for k in 0..6 {
            prop_assert!((after[k] - offset[k % 3] - scale[k % 3] * before[k]).abs() < 1e-10);
        }
    }

    #[test]
    fn sizes_of_the_parts_are_those_of_the_forecast(n_draws in 1_usize..4, n_time in 1_usize..4, d in 1_usize..4) {
        let means = vec![0.5; n_draws * n_time * d];
        let by_step = DrawNoise::DiagonalByStep(vec![1.0; means.len()]);
        let forecast = Forecast::new(0, d, vec![1.0; n_draws], means, by_step).unwrap();
        prop_assert_eq!((forecast.n_draws(), forecast.n_time(), forecast.d_obs()), (n_draws, n_time, d));
        prop_assert_eq!(forecast.mean().len(), n_time * d);
        prop_assert_eq!(forecast.quantiles(&[0.1, 0.9]).unwrap()[1].len(), n_time * d);
        prop_assert_eq!(forecast.draws(5, &mut random::stream(1, 0)).len(), 5 * n_time * d);
    }
}

#[test]
fn diagonal_noise_is_full_noise_without_correlation() {
    let means = vec![0.0, 1.0, 2.0, 3.0];
    let diagonal = DrawNoise::Diagonal(vec![0.5, 2.0, 0.1, 1.0]);
    let full = DrawNoise::Full(vec![0.5, 0.0, 0.0, 2.0, 0.1, 0.0, 0.0, 1.0]);
    let diagonal = Forecast::new(0, 2, vec![0.2, 0.8], means.clone(), diagonal).unwrap();
    let full = Forecast::new(0, 2, vec![0.2, 0.8], means, full).unwrap();
    for y in [[0.3, 0.9], [NAN, 1.1], [0.2, NAN]] {
        let (a, b) = (diagonal.log_density(0, &y).unwrap(), full.log_density(0, &y).unwrap());
        assert!((a - b).abs() < 1e-12 && a.is_finite());
    }
    assert_eq!(diagonal.variance(), full.variance());
    assert_eq!(diagonal.draws(3, &mut random::stream(2, 0)), full.draws(3, &mut random::stream(2, 0)));
}

#[test]
fn all_missing_says_nothing() {
    assert_eq!(correlated().log_density(0, &[NAN; 3]).unwrap(), 0.0);
}

#[test]
fn draws_of_no_weight_change_nothing() {
    let noise = |n| DrawNoise::Diagonal(vec![0.3; n]);
    let one = Forecast::new(0, 1, vec![2.0], vec![1.0, 2.0], noise(1)).unwrap();
    let padded =
        Forecast::new(0, 1, vec![0.0, 5.0, 0.0], vec![9.0, 9.0, 1.0, 2.0, -9.0, 1e300], noise(3)).unwrap();
    assert_eq!(one.mean(), padded.mean());
    assert_eq!(one.variance(), padded.variance());
    assert_eq!(one.quantile(0.9).unwrap(), padded.quantile(0.9).unwrap());
    assert_eq!(one.log_density(1, &[2.2]).unwrap(), padded.log_density(1, &[2.2]).unwrap());
    assert_eq!(one.draws(20, &mut random::stream(3, 0)), padded.draws(20, &mut random::stream(3, 0)));
}

#[test]
fn sampled_futures_follow_one_draw_throughout() {
    let means = vec![-1.0, -1.0, -1.0, 1.0, 1.0, 1.0];
    let forecast = Forecast::new(0, 1, vec![1.0, 1.0], means, DrawNoise::Diagonal(vec![1e-3; 2])).unwrap();
    let paths = forecast.draws(400, &mut random::stream(4, 0));
    let up = paths.chunks_exact(3).filter(|path| path[0] > 0.0).count();
    assert!(paths.chunks_exact(3).all(|path| path.iter().all(|y| (y - path[0]).abs() < 0.1)));
    // Binomial(400, ½) within 5 standard deviations of 10: false alarm 6e-7.
    assert!((150..=250).contains(&up), "{up}");
}

#[test]
fn sampled_noise_has_the_covariance_of_its_factor() {
    let factor = vec![1.0, 0.0, 0.8, 0.6];
    let forecast = Forecast::new(0, 2, vec![1.0], vec![3.0, -3.0], DrawNoise::Full(factor)).unwrap();
    let n = 40_000;
    let paths = forecast.draws(n, &mut random::stream(6, 0));
    let moment = |a: usize, b: usize| {
        let centre = [3.0, -3.0];
        paths.chunks_exact(2).map(|y| (y[a] - centre[a]) * (y[b] - centre[b])).sum::<f64>() / n as f64
    };
    // Products of unit normals have a standard deviation of √(1 + ρ²) ≤ √2; 5 of their errors, three looks:
    // false alarm below 2e-6.
    let slack = 5.0 * (2.0 / n as f64).sqrt();
    for (a, b, expected) in [(0, 0, 1.0), (1, 1, 1.0), (0, 1, 0.8)] {
        assert!((moment(a, b) - expected).abs() < slack, "{a} {b} {}", moment(a, b));
    }
}

#[test]
fn unusable_parts_are_refused() {
    let new = |weights: &[f64], means: &[f64], noise| {
        Forecast::new(0, 2, weights.to_vec(), means.to_vec(), noise).err()
    };
    let diagonal = |std: f64| DrawNoise::Diagonal(vec![1.0, std]);
    let full = |upper: f64, low: f64| DrawNoise::Full(vec![1.0, upper, 0.5, low]);
    assert!(
        new(&[1.0], &[0.0; 4], diagonal(1.0)).is_none() && new(&[1.0], &[0.0; 4], full(0.0, 1.0)).is_none()
    );
    assert!(matches!(new(&[], &[], diagonal(1.0)), Some(Error::Shape { .. })));
    assert!(matches!(new(&[1.0], &[], diagonal(1.0)), Some(Error::Shape { .. })));
    assert!(matches!(new(&[1.0], &[0.0; 3], diagonal(1.0)), Some(Error::Shape { .. })));
    assert!(matches!(new(&[1.0, 1.0], &[0.0; 4], diagonal(1.0)), Some(Error::Shape { .. })));
    assert!(matches!(new(&[0.0], &[0.0; 4], diagonal(1.0)), Some(Error::Setting { .. })));
    assert!(matches!(new(&[1.0], &[0.0, 0.0, NAN, 0.0], diagonal(1.0)), Some(Error::NotFinite { .. })));
    for bad in [0.0, -1.0, NAN, f64::INFINITY] {
        assert!(matches!(new(&[1.0], &[0.0; 4], diagonal(bad)), Some(Error::Setting { .. })));
        assert!(new(&[1.0], &[0.0; 4], full(0.0, bad)).is_some());
    }
    assert!(matches!(new(&[1.0], &[0.0; 4], full(0.1, 1.0)), Some(Error::Setting { .. })));
}

#[test]
fn questions_outside_the_forecast_are_refused() {
    let forecast = correlated();
    assert!(matches!(forecast.marginal(2, 0), Err(Error::Shape { .. })));
    assert!(matches!(forecast.marginal(0, 3), Err(Error::Shape { .. })));
    assert!(matches!(forecast.log_density(2, &[0.0; 3]), Err(Error::Shape { .. })));
    assert!(matches!(forecast.log_density(0, &[0.0; 2]), Err(Error::Shape { .. })));
    assert!(matches!(forecast.log_density(0, &[0.0, f64::INFINITY, 0.0]), Err(Error::NotFinite { .. })));
    assert!(matches!(forecast.quantile(1.0), Err(Error::Setting { .. })));
    assert!(matches!(forecast.rescaled(&[0.0; 2], &[1.0; 3]), Err(Error::Shape { .. })));
    assert!(matches!(forecast.rescaled(&[0.0; 3], &[1.0, 0.0, 1.0]), Err(Error::Setting { .. })));
}
