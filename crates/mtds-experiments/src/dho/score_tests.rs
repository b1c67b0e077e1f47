//! What a model gets to see, how it is scored, and the oracle scored like any other model.

use std::sync::Mutex;

use mtds::predict::DrawNoise;

use super::super::protocol::{Protocol, Scale};
use super::*;
use crate::smc;

const ORACLE: Oracle = Oracle {
    sampler: smc::Settings {
        prior_points: 4096,
        prior_ess: 512.0,
        chains: 64,
        ess_share: 0.5,
        accepted_moves: 5.0,
        min_sweeps: 10,
        max_sweeps: 60,
        max_stages: 500,
    },
    runs: 2,
    draws: 256,
    noise_std: 0.05,
};

/// Forecasts zero with a deviation of 0.4, and writes down what it was shown.
#[derive(Default)]
struct Zero {
    shown: Mutex<Vec<(usize, Vec<f64>)>>,
}

struct ZeroFollower<'a> {
    zero: &'a Zero,
    sequence: usize,
    n_seen: usize,
}

impl Predictor for Zero {
    fn follow(&self, sequence: usize) -> Result<Box<dyn Follower + '_>> {
        Ok(Box::new(ZeroFollower { zero: self, sequence, n_seen: 0 }))
    }

    fn log_evidences(&self, whole: &Family) -> Result<Option<Vec<f64>>> {
        Ok(Some((0..whole.n_seq()).map(|i| i as f64).collect()))
    }
}

impl Follower for ZeroFollower<'_> {
    fn observe(&mut self, outputs: &[f64]) -> Result<()> {
        self.n_seen += outputs.len();
        self.zero.shown.lock().unwrap().push((self.sequence, outputs.to_vec()));
        Ok(())
    }

    fn forecast(&mut self, n_time: usize) -> Result<Forecast> {
        Forecast::new(self.n_seen, 1, vec![1.0], vec![0.0; n_time], DrawNoise::Diagonal(vec![0.4]))
    }
}

/// Claims to forecast from the first step on, whatever it has seen.
struct Late;

impl Predictor for Late {
    fn follow(&self, _sequence: usize) -> Result<Box<dyn Follower + '_>> {
        Ok(Box::new(Self))
    }
}

impl Follower for Late {
    fn observe(&mut self, _outputs: &[f64]) -> Result<()> {
        Ok(())
    }

    fn forecast(&mut self, n_time: usize) -> Result<Forecast> {
        Forecast::new(0, 1, vec![1.0], vec![0.0; n_time], DrawNoise::Diagonal(vec![0.4]))
    }
}

fn test_set() -> TestSet {
    Protocol { n_test: 6, ..Protocol::new(Scale::Quick, 31) }.test(0).unwrap()
}

#[test]
fn a_model_is_shown_the_past_alone_and_once() {
    let (zero, test) = (Zero::default(), test_set());
    score_predictor(&zero, &test).unwrap();
    let shown = zero.shown.into_inner().unwrap();
    for i in 0..test.n_seq() {
        let of_sequence: Vec<&Vec<f64>> = shown.iter().filter(|(j, _)| *j == i).map(|(_, y)| y).collect();
        assert_eq!(of_sequence.iter().map(|y| y.len()).collect::<Vec<_>>(), [10, 10, 20]);
        assert_eq!(of_sequence.into_iter().flatten().copied().collect::<Vec<f64>>(), test.outputs(i)[..40]);
    }
}

#[test]
fn scores_are_those_of_the_formulas() {
    let test = test_set();
    let results = score_predictor(&Zero::default(), &test).unwrap();
    for (i, result) in results.iter().enumerate() {
        assert_eq!((result.log_evidence, result.log_evidence_mc_se), (Some(i as f64), None));
        for score in &result.scores {
            let future = &test.outputs(i)[score.t..];
            let square = future.iter().map(|y| y * y).sum::<f64>() / future.len() as f64;
            let nll = 0.5 * square / 0.16 + 0.4f64.ln() + 0.5 * (2.0 * std::f64::consts::PI).ln();
            assert!((score.rmse - square.sqrt()).abs() < 1e-12 && (score.nll - nll).abs() < 1e-12);
            // The central 80 % of N(0, 0.4²) ends at 1.2816 deviations.
            let inside = future.iter().filter(|y| y.abs() <= 0.4 * 1.281_551_565_5).count();
            assert!((score.cover80 - inside as f64 / future.len() as f64).abs() < 1e-12);
            assert!(score.cover50 <= score.cover80 && score.cover80 <= score.cover95);
            assert!(score.crps > 0.0 && score.rmse_mc_se.is_none());
        }
    }
}

#[test]
fn forecasts_of_other_steps_are_refused() {
    let error = score_predictor(&Late, &test_set()).unwrap_err();
    assert_eq!(error.to_string(), "first step of a forecast: expected 10, found 0");
    let forecast = ZeroFollower { zero: &Zero::default(), sequence: 0, n_seen: 10 }.forecast(4).unwrap();
    assert!(matches!(ForecastScore::of(10, &forecast, &[0.0; 5]), Err(Error::Shape { .. })));
    assert!(matches!(ForecastScore::of(10, &forecast, &[f64::NAN; 4]), Err(Error::Shape { .. })));
}

#[test]
fn the_oracle_improves_with_what_it_sees_and_tells_its_error() {
    let results = score_oracle(&ORACLE, &test_set(), 5).unwrap();
    let mean = |k: usize, of: fn(&ForecastScore) -> f64| {
        results.iter().map(|result| of(&result.scores[k])).sum::<f64>() / results.len() as f64
    };
    assert!(mean(0, |s| s.nll) > mean(1, |s| s.nll) && mean(1, |s| s.nll) > mean(2, |s| s.nll));
    assert!(mean(2, |s| s.rmse) < 0.08 && mean(2, |s| s.rmse) > 0.03);
    for result in &results {
        assert_eq!(result.scores.iter().map(|score| score.t).collect::<Vec<_>>(), [10, 20, 40]);
        assert!(result.scores.iter().all(|s| s.rmse_mc_se.unwrap() < 0.1 && s.nll_mc_se.unwrap() < 1.0));
        assert!((60.0..150.0).contains(&result.log_evidence.unwrap()));
        assert!(result.log_evidence_mc_se.unwrap() < 2.0);
    }
}

#[test]
fn threads_do_not_change_the_oracle() {
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| score_oracle(&ORACLE, &test_set(), 6).unwrap())
    };
    let one = on(1);
    assert_eq!(one, on(2));
    assert_ne!(one, score_oracle(&ORACLE, &test_set(), 7).unwrap());
}
