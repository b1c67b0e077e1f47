//! The oracle against two kinds of brute force, its calibration, and what it costs.

use mtds::predict::{CENTRAL_LEVELS, Estimate, Scores, score};
use mtds::random::stream;
use mtds_data::oscillators::{OscillatorFamily, Oscillators};
use rand_distr::StandardNormal;

use super::*;
use crate::smc::{Reach, Terms};

const QUICK: Oracle = Oracle {
    sampler: smc::Settings {
        prior_points: 1 << 14,
        prior_ess: 1024.0,
        chains: 128,
        ess_share: 0.5,
        accepted_moves: 5.0,
        min_sweeps: 10,
        max_sweeps: 60,
        max_stages: 500,
    },
    runs: 2,
    draws: 512,
    noise_std: 0.05,
};

fn family(n_seq: usize, seed: u64) -> OscillatorFamily {
    Oscillators::default().draw(n_seq, seed).unwrap()
}

fn outputs(drawn: &OscillatorFamily, i: usize) -> &[f64] {
    drawn.family.sequence(i).outputs().values()
}

/// Evidence, effective sample size and weights of points that were drawn with log densities `log_q`.
fn importance(y: &[f64], points: &[Point], log_q: &[f64]) -> (f64, f64, Vec<f64>) {
    let reach = Reach { whole: y.len(), share: 0.0 };
    let log_p = Truth::new(y, 0.05).unwrap().log_likelihoods(points, reach);
    let inside = |u: &Point| u.iter().all(|x| (0.0..=1.0).contains(x));
    let log_weight = |i: usize| if inside(&points[i]) { log_p[i] - log_q[i] } else { f64::NEG_INFINITY };
    let log_weights: Vec<f64> = (0..points.len()).map(log_weight).collect();
    let largest = log_weights.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
    let weights: Vec<f64> = log_weights.iter().map(|x| (x - largest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let squares: f64 = weights.iter().map(|w| w * w).sum();
    let normalised = weights.iter().map(|w| w / sum).collect();
    (largest + (sum / points.len() as f64).ln(), sum * sum / squares, normalised)
}

/// Points of a Student t distribution with 4 degrees of freedom around `draws`, and their log densities.
fn student_points(draws: &[Point], n: usize, random: &mut Random) -> (Vec<Point>, Vec<f64>) {
    let count = draws.len() as f64;
    let mean: Point = std::array::from_fn(|d| draws.iter().map(|u| u[d]).sum::<f64>() / count);
    let mut chol = [[0.0f64; 4]; 4];
    for a in 0..4 {
        for b in 0..=a {
            let moment: f64 = draws.iter().map(|u| (u[a] - mean[a]) * (u[b] - mean[b])).sum();
            let left = 1.5 * moment / count - (0..b).map(|k| chol[a][k] * chol[b][k]).sum::<f64>();
            chol[a][b] = if a == b { left.sqrt() } else { left / chol[b][b] };
        }
    }
    let log_det: f64 = (0..4).map(|a| chol[a][a].ln()).sum();
    let (mut points, mut log_q) = (vec![], vec![]);
    for _ in 0..n {
        let chi_square: f64 = (0..4).map(|_| random.sample::<f64, _>(StandardNormal).powi(2)).sum();
        let z: Point =
            std::array::from_fn(|_| (4.0 / chi_square).sqrt() * random.sample::<f64, _>(StandardNormal));
        points.push(std::array::from_fn(|a| mean[a] + (0..=a).map(|b| chol[a][b] * z[b]).sum::<f64>()));
        // Γ(4) / (Γ(2) (4π)²) · (1 + |z|²/4)⁻⁴ / det
        let square: f64 = z.iter().map(|x| x * x).sum();
        let constant = 6.0 / (4.0 * std::f64::consts::PI).powi(2);
        log_q.push(constant.ln() - 4.0 * (1.0 + 0.25 * square).ln() - log_det);
    }
    (points, log_q)
}

/// A million draws of the prior: after 3 or 6 observations more than a thousand of them are effective, so that
/// the evidence is known to 0.03 and means to 0.01. The oracle's own errors are 0.05 and 0.01; at 5 deviations
/// of both together a false alarm comes about once in 10⁴ seeds.
#[test]
fn evidence_and_mean_are_those_of_a_million_draws_of_the_prior() {
    let drawn = family(3, 21);
    let mut random = stream(21, 1);
    let points: Vec<Point> = (0..1_000_000).map(|_| std::array::from_fn(|_| random.random())).collect();
    for i in 0..3 {
        let y = outputs(&drawn, i);
        let posteriors = QUICK.infer(y, &[3, 6], &mut stream(21, 2)).unwrap();
        for posterior in posteriors {
            let n_seen = posterior.n_seen();
            let (log_evidence, ess, weights) = importance(&y[..n_seen], &points, &vec![0.0; points.len()]);
            assert!(ess > 1000.0, "{ess}");
            let gap = posterior.log_evidence() - log_evidence;
            assert!(gap.abs() < 5.0 * 0.06, "{i} {n_seen}: {gap}");
            let mean = posterior.forecast(30).unwrap().mean();
            let paths = mean_paths(&points, n_seen..n_seen + 30);
            for t in [0, 4, 12, 29] {
                let expected: f64 = weights.iter().enumerate().map(|(m, w)| w * paths[m * 30 + t]).sum();
                assert!((mean[t] - expected).abs() < 5.0 * 0.015, "{i} {n_seen} {t}: {} {expected}", mean[t]);
            }
        }
    }
}

/// Once everything has been seen the posterior is close to a Gaussian, and importance sampling around it knows the
/// evidence to 0.01. Runs scatter by about 0.35: their ratios to it, 48 in all, have a mean of 1 within 5
/// standard errors but for one in 10⁵ seeds, bias of the adaptation allowed for.
#[test]
fn evidence_of_whole_sequences_is_that_of_importance_sampling() {
    let drawn = family(12, 22);
    let oracle = Oracle { runs: 4, ..QUICK };
    let mut ratios = vec![];
    for i in 0..12 {
        let y = outputs(&drawn, i);
        let posterior = oracle.infer(y, &[80], &mut stream(22, i as u64)).unwrap().remove(0);
        let (points, log_q) = student_points(&posterior.runs[0].draws, 50_000, &mut stream(23, i as u64));
        let (log_evidence, ess, _) = importance(y, &points, &log_q);
        assert!(ess > 5000.0, "sequence {i}: {ess}");
        ratios.extend(posterior.runs().iter().map(|run| (run.log_evidence - log_evidence).exp()));
        assert!((posterior.log_evidence() - log_evidence).abs() < 1.2, "sequence {i}");
    }
    let ratio = Estimate::of(&ratios).unwrap();
    let std_error = ratio.std_error.unwrap();
    assert!(std_error < 0.1 && (ratio.mean - 1.0).abs() < 5.0 * std_error + 0.02, "{ratio:?}");
}

/// Shares of 80 sequences, whose standard errors are taken from themselves; six comparisons at 4.5 of them,
/// false alarm below 1e-4.
#[test]
fn intervals_cover_as_often_as_they_say() {
    let drawn = family(80, 24);
    let mut scores = [vec![], vec![]];
    for i in 0..80 {
        let y = outputs(&drawn, i);
        let posteriors = QUICK.infer(y, &[10, 20], &mut stream(24, i as u64)).unwrap();
        for (posterior, scores) in posteriors.iter().zip(&mut scores) {
            let future = &y[posterior.n_seen()..];
            let forecast = posterior.forecast(future.len()).unwrap();
            scores.push(score(&forecast, future, &CENTRAL_LEVELS).unwrap().unwrap());
        }
    }
    for scores in &scores {
        for coverage in Scores::over(scores).unwrap().coverage {
            let (share, level) = (coverage.share, coverage.level);
            assert!((share.mean - level).abs() < 4.5 * share.std_error.unwrap(), "{level}: {share:?}");
        }
    }
}

#[test]
fn missing_outputs_tell_nothing() {
    let drawn = family(1, 25);
    let mut y = outputs(&drawn, 0)[..12].to_vec();
    y[5..].fill(f64::NAN);
    let posteriors = QUICK.infer(&y, &[5, 12], &mut stream(25, 0)).unwrap();
    assert_eq!(posteriors[0].log_evidence(), posteriors[1].log_evidence());
    assert_eq!(posteriors[0].forecast(20).unwrap().means()[7], posteriors[1].forecast(1).unwrap().means()[0]);
}

#[test]
fn before_anything_is_seen_the_oracle_is_the_prior() {
    let posterior = QUICK.infer(&[], &[0], &mut stream(26, 0)).unwrap().remove(0);
    assert_eq!((posterior.log_evidence(), posterior.log_evidence_se()), (0.0, Some(0.0)));
    let parameters: Vec<OscillatorParameters> = posterior.runs()[0].parameters().collect();
    let mean = parameters.iter().map(|theta| theta.half_life[0]).sum::<f64>() / 512.0;
    // 512 even draws of U[4, 80]; independent ones would give 42 ± 0.97.
    assert!((mean - 42.0).abs() < 3.0, "{mean}");
    assert_eq!(posterior.forecast(3).unwrap().n_time(), 3);
}

#[test]
fn what_cannot_be_used_is_refused() {
    let mut random = stream(27, 0);
    let y = [0.1, 0.2];
    assert!(matches!(QUICK.infer(&y, &[3], &mut random), Err(Error::Shape { .. })));
    assert!(matches!(QUICK.infer(&[f64::INFINITY], &[1], &mut random), Err(Error::NotFinite { .. })));
    for bad in
        [Oracle { runs: 0, ..QUICK }, Oracle { draws: 0, ..QUICK }, Oracle { noise_std: -1.0, ..QUICK }]
    {
        assert!(matches!(bad.infer(&y, &[1], &mut random), Err(Error::Setting { .. })), "{bad:?}");
    }
    let posterior = QUICK.infer(&y, &[2], &mut random).unwrap().remove(0);
    assert!(matches!(posterior.forecast(0), Err(Error::Shape { .. })));
}

/// Mean over sequences of the variance between runs, as a standard deviation of one run.
fn spread(errors: &[f64], runs: usize) -> f64 {
    (errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64 * runs as f64).sqrt()
}

#[test]
#[ignore = "a measurement: prints cost, scores and Monte-Carlo error of the defaults over 80 sequences"]
fn cost_and_error() {
    let (drawn, oracle, seen) = (family(80, 77), Oracle::default(), [10, 20, 40, 80]);
    let (mut scores, mut errors) = (vec![vec![]; 3], vec![vec![]; 4]);
    let (mut evidences, mut work) = (vec![], vec![]);
    let started = std::time::Instant::now();
    for i in 0..80 {
        let posteriors = oracle.infer(outputs(&drawn, i), &seen, &mut stream(5, i as u64)).unwrap();
        evidences.push(posteriors[3].log_evidence());
        work.push(posteriors[3].runs()[0].work);
        for (k, posterior) in posteriors.iter().enumerate() {
            errors[k].push(posterior.log_evidence_se().unwrap());
        }
        for (k, posterior) in posteriors[..3].iter().enumerate() {
            let future = &outputs(&drawn, i)[seen[k]..];
            let forecast = posterior.forecast(future.len()).unwrap();
            scores[k].push(score(&forecast, future, &CENTRAL_LEVELS).unwrap().unwrap());
        }
    }
    println!("per sequence, scores included: {:.3} s", started.elapsed().as_secs_f64() / 80.0);
    println!("work of the first run of sequence 0: {:?}", work[0]);
    println!("slow stages: {}", work.iter().map(|work| work.slow_stages).sum::<usize>());
    println!("log evidence at 80: {:?}", Estimate::of(&evidences).unwrap());
    for k in 0..4 {
        println!("log evidence of one run at {}: ± {:.3}", seen[k], spread(&errors[k], oracle.runs));
    }
    for (k, scores) in scores.iter().enumerate() {
        let scores = Scores::over(scores).unwrap();
        let shares: Vec<f64> = scores.coverage.iter().map(|coverage| coverage.share.mean).collect();
        println!("t = {}: rmse {:?} nll {:?} coverage {shares:.3?}", seen[k], scores.rmse, scores.nll);
    }
}
