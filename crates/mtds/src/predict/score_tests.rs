//! Tests of scores: hand-worked values, calibration of a forecast's own draws, missing outputs.

use super::*;
use crate::predict::noise::DrawNoise;
use crate::random;

const NAN: f64 = f64::NAN;

fn gaussian(means: Vec<f64>, d_obs: usize, std_dev: f64) -> Forecast {
    Forecast::new(0, d_obs, vec![1.0], means, DrawNoise::Diagonal(vec![std_dev; d_obs])).unwrap()
}

#[test]
fn hand_worked_scores_of_one_gaussian() {
    let forecast = gaussian(vec![0.0, 1.0], 1, 2.0);
    let score = score(&forecast, &[2.0, -5.0], &CENTRAL_LEVELS).unwrap().unwrap();
    assert!((score.rmse - 20.0_f64.sqrt()).abs() < 1e-14);
    // −log N at z = 1 and z = −3.
    let nll = 0.5 * (2.0 * std::f64::consts::PI).ln() + 2.0_f64.ln() + 0.5 * (1.0 + 9.0) / 2.0;
    assert!((score.nll - nll).abs() < 1e-14);
    assert!((score.pit[0] - 0.841_344_746_068_542_9).abs() < 1e-9);
    assert!((score.pit[1] - 0.001_349_898_031_630_095_7).abs() < 1e-11);
    let shares: Vec<f64> = score.coverage.iter().map(|c| c.share).collect();
    assert_eq!(shares, [0.0, 0.5, 0.5]);
    let crps = [forecast.marginal(0, 0).unwrap().crps(2.0), forecast.marginal(1, 0).unwrap().crps(-5.0)];
    assert!((score.crps - 0.5 * (crps[0] + crps[1])).abs() < 1e-15);
}

#[test]
fn missing_values_do_not_count() {
    let forecast = gaussian(vec![0.0, 1.0, 2.0, 3.0], 2, 0.5);
    let whole = score(&gaussian(vec![0.0, 3.0], 1, 0.5), &[0.4, 2.5], &[0.5]).unwrap().unwrap();
    let gaps = score(&forecast, &[0.4, NAN, NAN, 2.5], &[0.5]).unwrap().unwrap();
    assert_eq!(gaps, whole);
    assert_eq!(gaps.n_observed, 2);
    assert_eq!(score(&forecast, &[NAN; 4], &[0.5]).unwrap(), None);
}

#[test]
fn the_joint_density_enters_the_log_score() {
    // Two outputs that agree perfectly well are less surprising under a correlated noise that says so.
    let correlated = DrawNoise::Full(vec![1.0, 0.0, 0.99, 0.141_067]);
    let correlated = Forecast::new(0, 2, vec![1.0], vec![0.0; 2], correlated).unwrap();
    let nll = |forecast: &Forecast| score(forecast, &[1.0, 1.0], &[]).unwrap().unwrap().nll;
    assert!(nll(&correlated) < nll(&gaussian(vec![0.0; 2], 2, 1.0)) - 0.5);
}

/// The future of a forecast drawn from itself is covered as promised.
#[test]
fn a_forecasts_own_draws_are_covered_as_promised() {
    let n_draws = 60;
    let means: Vec<f64> = (0..n_draws * 2).map(|k| (k as f64 * 0.7).sin()).collect();
    let weights: Vec<f64> = (0..n_draws).map(|i| (i % 7) as f64).collect();
    let std_devs: Vec<f64> = (0..n_draws).map(|i| 0.05 + 0.01 * (i % 5) as f64).collect();
    let forecast = Forecast::new(0, 1, weights, means, DrawNoise::Diagonal(std_devs)).unwrap();
    let n = 4000;
    let futures = forecast.draws(n, &mut random::stream(21, 0));
    let levels = [0.5, 0.8, 0.95, 0.1];
    let of_first_row = |future: &[f64]| score(&forecast, &[future[0], NAN], &levels).unwrap().unwrap();
    let scores: Vec<SequenceScore> = futures.chunks_exact(2).map(of_first_row).collect();
    for coverage in Scores::over(&scores).unwrap().coverage {
        // Binomial with n = 4000, five standard deviations, four levels: false alarm 2.4e-6.
        let slack = 5.0 * (coverage.level * (1.0 - coverage.level) / n as f64).sqrt();
        assert!((coverage.share.mean - coverage.level).abs() < slack, "{coverage:?}");
    }
    let mut pit: Vec<f64> = scores.iter().map(|score| score.pit[0]).collect();
    pit.sort_by(f64::total_cmp);
    let distance =
        pit.iter().enumerate().map(|(i, p)| (p - (i as f64 + 0.5) / n as f64).abs()).fold(0.0, f64::max);
    // Kolmogorov–Smirnov at a false-alarm rate of 1e-6.
    assert!(distance < ((2.0_f64 / 1e-6).ln() / (2.0 * n as f64)).sqrt(), "{distance}");
}

#[test]
fn central_intervals_by_pit_are_those_by_quantiles() {
    let means = vec![0.0, 0.3, 2.0];
    let forecast = Forecast::new(0, 1, vec![1.0; 3], means, DrawNoise::Diagonal(vec![0.2; 3])).unwrap();
    let interval = forecast.quantiles(&[0.1, 0.9]).unwrap();
    for (y, expected) in [
        (interval[0][0] - 1e-9, 0.0),
        (interval[0][0] + 1e-9, 1.0),
        (interval[1][0] - 1e-9, 1.0),
        (interval[1][0] + 1e-9, 0.0),
    ] {
        assert_eq!(score(&forecast, &[y], &[0.8]).unwrap().unwrap().coverage[0].share, expected);
    }
}

#[test]
fn estimates_are_means_with_standard_errors() {
    let estimate = Estimate::of(&[1.0, 2.0, 3.0, 6.0]).unwrap();
    assert_eq!((estimate.mean, estimate.n), (3.0, 4));
    assert!((estimate.std_error.unwrap() - (14.0_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
    assert_eq!(Estimate::of(&[5.0]), Some(Estimate { mean: 5.0, std_error: None, n: 1 }));
    assert_eq!(Estimate::of(&[]), None);
}

#[test]
fn tables_need_sequences_with_equal_levels() {
    let one = |levels: &[f64]| score(&gaussian(vec![0.0], 1, 1.0), &[0.5], levels).unwrap().unwrap();
    assert!(matches!(Scores::over(&[]), Err(Error::EmptyFamily(_))));
    assert!(matches!(Scores::over(&[one(&[0.5]), one(&[0.8])]), Err(Error::Shape { .. })));
    let scores = Scores::over(&[one(&[0.5]), one(&[0.5])]).unwrap();
    assert_eq!(
        (scores.rmse.mean, scores.rmse.std_error, scores.coverage[0].share.mean),
        (0.5, Some(0.0), 1.0)
    );
    let text = serde_json::to_string(&scores).unwrap();
    assert_eq!(serde_json::from_str::<Scores>(&text).unwrap(), scores);
}

#[test]
fn a_truth_that_does_not_fit_is_refused() {
    let forecast = gaussian(vec![0.0, 1.0], 1, 1.0);
    assert!(matches!(score(&forecast, &[0.0], &[]), Err(Error::Shape { .. })));
    assert!(matches!(score(&forecast, &[0.0, f64::INFINITY], &[]), Err(Error::NotFinite { .. })));
    assert!(matches!(score(&forecast, &[0.0, 0.0], &[1.0]), Err(Error::Setting { .. })));
}
