//! Ensembles: a tracker when alone, right odds, honest units, reproducible, safe to misuse.

use crate::common::{
    LOG_NOISE, draw_member, draw_outputs, impulse, model, on_threads, own_inputs, spec, with_gaps,
};
use mtds::evaluate::score;
use mtds::parts::EnsembleTracker;
use mtds::parts::Tracker;
use mtds::parts::{AdaptiveImportance, Candidate, Ensemble, Lds, NoiseBelief, Prior};
use mtds::random::{Random, stream};
use mtds::{Family, Forecast, Online, Result, Scaling, Sequence, Signal, Status, System};
use rand::SeedableRng;
use serde_json::json;

/// A family with two-dimensional codes; seeds make unlike ones.
fn family(seed: u64) -> System {
    model(spec(2, 1, 2), 1.0, LOG_NOISE, seed)
}

/// Few draws: what is tested here does not depend on their number.
fn light() -> Online {
    let importance =
        AdaptiveImportance { samples: 200, first_samples: 400, final_samples: 500, ..Default::default() };
    Online { importance, mode_starts: 4, every: 10, ..Online::default() }
}

fn ensemble(models: &[System]) -> Ensemble {
    Ensemble::new(models.iter().map(|model| Candidate::new(model.clone(), light())).collect()).unwrap()
}

/// The same model for outputs of another unit.
fn scaled(model: &System, offset: f64, scale: f64) -> System {
    let scaling: Scaling = serde_json::from_value(json!({
        "outputs": {"offset": [offset], "scale": [scale]},
        "inputs": {"offset": [0.0], "scale": [1.0]},
    }))
    .unwrap();
    System::new(model.spec().clone(), scaling, model.parameters().to_vec()).unwrap()
}

fn member(model: &System, n_time: usize, i: u64) -> (Signal, Signal) {
    let mut random = stream(70, i);
    let inputs = own_inputs(n_time, &mut random);
    let (_, outputs) = draw_member(model, &inputs, n_time, &mut random);
    (outputs, inputs)
}

fn future() -> Signal {
    Signal::column(vec![0.4, -0.2, 0.0, 1.0, 0.3])
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits()).collect()
}

fn forecast_bits(forecast: &Forecast) -> Vec<u64> {
    [bits(forecast.means()), bits(forecast.weights())].concat()
}

#[test]
fn an_ensemble_of_one_is_the_tracker_to_the_bit() {
    let model = family(42);
    let (outputs, inputs) = member(&model, 33, 0);
    for history in [None, Some(20)] {
        let online = Online { history, noise: NoiseBelief::Uncertain { mean: 0.0, std_dev: 0.2 }, ..light() };
        let alone = Ensemble::new(vec![Candidate::new(model.clone(), online.clone())]).unwrap();
        let mut ours = alone.track(&outputs, Some(&inputs), stream(71, 0)).unwrap();
        let mut tracker = model.track(&outputs, Some(&inputs), online, stream(71, 0)).unwrap();
        assert_eq!(ours.weights(), [1.0]);
        assert_eq!(ours.log_evidence(), tracker.log_evidence());
        assert_eq!(ours.n_observed_steps(), 33);
        assert_eq!(ours.trackers()[0].posterior(), tracker.posterior());
        let [a, b] =
            [ours.forecast(5, Some(&future())).unwrap(), tracker.forecast(5, Some(&future())).unwrap()];
        assert_eq!(forecast_bits(&a), forecast_bits(&b));
    }
}

/// By Markov's inequality the wrong one beats the right one by 99 to 1 in at most 1 of 99 sequences; that the right one
/// wins clearly within 60 steps is true of these seeds.
#[test]
fn the_model_that_generated_a_sequence_wins() {
    let models = [family(42), family(43)];
    let ensemble = ensemble(&models);
    for (truth, model) in models.iter().enumerate() {
        let (outputs, inputs) = member(model, 60, 1);
        let mut tracker = EnsembleTracker::new(&ensemble, stream(72, 0)).unwrap();
        let mut last = 0.0;
        for t in 0..60 {
            let updated = tracker.observe(outputs.row(t), inputs.row(t)).unwrap();
            assert_eq!(updated, (t + 1) % 10 == 0);
            last = tracker.weights()[truth];
        }
        assert!(last > 0.999, "{truth}: {:?}", tracker.weights());
        let evidences = tracker.log_evidences();
        let odds = (evidences[1 - truth] - evidences[truth]).exp();
        assert!((last - 1.0 / (1.0 + odds)).abs() < 1e-12);
        // The loser is not simulated.
        let n_draws = |k: usize| tracker.trackers()[k].posterior().unwrap().weights().len();
        let (winner, both) = (n_draws(truth), n_draws(0) + n_draws(1));
        let found = tracker.forecast(5, Some(&future())).unwrap().n_draws();
        assert!(found <= winner && found < both, "{found} of {both}");
    }
}

/// Outputs look small in too wide a unit, so their density in that unit is high; data units see through it.
#[test]
fn a_wide_unit_does_not_win_by_itself() {
    let right = family(42);
    let ensemble = ensemble(&[scaled(&right, 0.0, 4.0), right.clone()]);
    let (outputs, inputs) = member(&right, 40, 2);
    let outputs = with_gaps(&outputs, 0.2, &mut stream(73, 0));
    let tracker = ensemble.track(&outputs, Some(&inputs), stream(73, 1)).unwrap();
    let in_model_units = |k: usize| tracker.trackers()[k].log_evidence().unwrap();
    assert!(in_model_units(0) > in_model_units(1) + 3.0, "the unit matters");
    assert!(tracker.weights()[1] > 0.999, "{:?}", tracker.weights());
    let n = outputs.values().iter().filter(|y| !y.is_nan()).count() as f64;
    let expected = [in_model_units(0) - n * 4.0_f64.ln(), in_model_units(1)];
    for (found, expected) in tracker.log_evidences().iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
}

/// Two candidates that both count, after few observations.
#[test]
fn forecasts_are_those_of_the_candidates_mixed_by_hand() {
    let models = [family(42), scaled(&family(43), 0.1, 1.3)];
    let ensemble = ensemble(&models);
    let (outputs, inputs) = member(&models[0], 10, 3);
    let (outputs, ahead) = (outputs.slice(0..3), inputs.slice(3..8));
    let mut ours = ensemble.track(&outputs, Some(&inputs), stream(74, 0)).unwrap();
    let mixed = ours.forecast(5, Some(&ahead)).unwrap();
    let weights = ours.weights().to_vec();
    assert!(weights.iter().all(|w| *w > 0.01), "{weights:?}");
    let mut first = stream(74, 0);
    let second = Random::from_rng(&mut first);
    let parts: Vec<Forecast> = models
        .iter()
        .zip([first, second])
        .map(|(m, random)| m.track(&outputs, Some(&inputs), light(), random)?.forecast(5, Some(&ahead)))
        .collect::<Result<_>>()
        .unwrap();
    for t in 0..5 {
        let by_hand: f64 = (0..2).map(|k| weights[k] * parts[k].mean()[t]).sum();
        assert!((mixed.mean()[t] - by_hand).abs() < 1e-12);
        for y in [-1.0, 0.0, 0.7] {
            let density = |f: &Forecast| f.log_density(t, &[y]).unwrap().exp();
            let by_hand: f64 = (0..2).map(|k| weights[k] * density(&parts[k])).sum();
            assert!((density(&mixed) - by_hand).abs() < 1e-12 * (1.0 + by_hand));
        }
    }
    let found = score(&mixed, &[0.1, f64::NAN, -0.2, 0.4, 0.0], &[0.9]).unwrap().unwrap();
    assert!(found.nll.is_finite() && found.crps.is_finite() && found.rmse.is_finite());
}

#[test]
fn beliefs_multiply_the_odds() {
    let models = [family(42), family(43)];
    let (outputs, inputs) = member(&models[0], 4, 4);
    let odds = |first: f64| {
        let mut candidates = ensemble(&models).candidates().to_vec();
        (candidates[0].weight, candidates[1].weight) = (first, 0.5);
        let ensemble = Ensemble::new(candidates).unwrap();
        let before = EnsembleTracker::new(&ensemble, stream(75, 0)).unwrap();
        assert_eq!((before.log_evidence(), before.weights()), (None, &ensemble.prior_weights()[..]));
        let tracker = ensemble.track(&outputs, Some(&inputs), stream(75, 0)).unwrap();
        let evidence = tracker.log_evidence().unwrap();
        let mean: f64 =
            ensemble.prior_weights().iter().zip(tracker.log_evidences()).map(|(w, e)| w * e.exp()).sum();
        assert!((evidence - mean.ln()).abs() < 1e-9);
        tracker.weights()[0] / tracker.weights()[1]
    };
    assert!((odds(1.5) / odds(0.5) - 3.0).abs() < 1e-9);
}

/// A member three deviations out is more likely under a wider prior.
/// With power α the log odds of two candidates are α times those of their evidences; the evidence itself stays.
#[test]
fn a_tempered_ensemble_has_milder_odds() {
    let both = ensemble(&[family(42), family(43)]);
    let (outputs, inputs) = member(&family(42), 10, 0);
    let track = |power: f64| {
        let tempered = both.clone().tempered(power).unwrap();
        let tracker = tempered.track(&outputs, Some(&inputs), stream(1, 0)).unwrap();
        (tracker.weights().to_vec(), tracker.log_evidences().to_vec(), tracker.log_evidence())
    };
    let (sharp, evidences, whole) = track(1.0);
    let odds = |weights: &[f64]| (weights[0] / weights[1]).ln();
    assert!((odds(&sharp) - (evidences[0] - evidences[1])).abs() < 1e-9 * (1.0 + odds(&sharp).abs()));
    let (mild, _, same) = track(0.25);
    assert!((odds(&mild) - 0.25 * (evidences[0] - evidences[1])).abs() < 1e-9 * (1.0 + odds(&sharp).abs()));
    assert_eq!(whole, same);
    assert_eq!(track(0.0).0, vec![0.5; 2]);
    assert!(both.tempered(1.5).is_err());
}

#[test]
fn a_wide_prior_wins_where_members_lie_far_out() {
    let narrow = family(42);
    let wide = narrow.clone().with_prior(Prior::Normal { std_dev: 3.0 }).unwrap();
    let ensemble = ensemble(&[narrow.clone(), wide]);
    let weight_of_wide = |code: [f64; 2]| {
        let inputs = impulse(60);
        let outputs = draw_outputs(&narrow, &code, &inputs, 60, &mut stream(76, 0));
        ensemble.track(&outputs, Some(&inputs), stream(76, 1)).unwrap().weights()[1]
    };
    let (far, near) = (weight_of_wide([3.0, -3.0]), weight_of_wide([0.1, 0.2]));
    assert!(far > 0.5 && near < 0.5, "{far} {near}");
}

#[test]
fn threads_change_nothing() {
    let models = [family(42), family(43), family(44)];
    let ensemble = ensemble(&models);
    let (outputs, inputs) = member(&models[1], 7, 5);
    let sequences = (0..3).map(|i| Sequence::new(i.to_string(), member(&models[0], 6, 50 + i).0));
    let family = Family::new(sequences.collect::<Result<_>>().unwrap()).unwrap();
    let family = family.with_common_inputs(impulse(6)).unwrap();
    let run = |threads| {
        on_threads(threads, || {
            let mut tracker = ensemble.track(&outputs, Some(&inputs), stream(77, 0)).unwrap();
            let forecast = tracker.forecast(5, Some(&future())).unwrap();
            let evidence = ensemble.evidence_per_sequence(&family, stream(77, 1)).unwrap();
            [forecast_bits(&forecast), bits(tracker.weights()), bits(&evidence)].concat()
        })
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn candidates_far_below_the_best_are_dropped() {
    let models = [family(42), family(43), family(44)];
    let kept = |nats, evidence: &[f64]| {
        let seed = |c: &Candidate| models.iter().position(|m| m.parameters() == c.model.parameters());
        let kept = ensemble(&models).keep_within(nats, evidence)?;
        Ok::<_, mtds::Error>(kept.candidates().iter().map(|c| seed(c).unwrap()).collect::<Vec<_>>())
    };
    assert_eq!(kept(10.0, &[-50.0, -39.5, -49.5]).unwrap(), [1, 2]);
    assert_eq!(kept(0.0, &[-50.0, -39.5, -49.5]).unwrap(), [1]);
    assert_eq!(kept(f64::INFINITY, &[f64::NEG_INFINITY, 3.0, 1.0]).unwrap(), [0, 1, 2]);
    assert_eq!(kept(1e300, &[f64::NEG_INFINITY, 3.0, 1.0]).unwrap(), [1, 2]);
    for (nats, evidence, message) in [
        (10.0, &[1.0, 2.0][..], "3, one per candidate"),
        (-1.0, &[1.0, 2.0, 3.0], "0 or more"),
        (f64::NAN, &[1.0, 2.0, 3.0], "0 or more"),
        (10.0, &[1.0, f64::NAN, 3.0], "found NaN"),
        (10.0, &[1.0, f64::INFINITY, 3.0], "expected a finite number"),
        (10.0, &[f64::NEG_INFINITY; 3], "found -inf"),
    ] {
        let error = kept(nats, evidence).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn what_makes_no_ensemble_is_refused() {
    let usual = || Candidate::new(family(42), light());
    let other = |change: fn(&mut Candidate)| {
        let mut candidate = usual();
        change(&mut candidate);
        vec![usual(), candidate]
    };
    let two_outputs = Candidate::new(model(spec(2, 2, 2), 1.0, LOG_NOISE, 42), light());
    let no_inputs = mtds::Architecture::new(Lds::new(2, 1, 0), 2);
    let no_inputs = System::initialise(no_inputs, Scaling::identity(1, 0), &mut stream(1, 0)).unwrap();
    for (candidates, message) in [
        (vec![], "at least one"),
        (vec![usual(), two_outputs], "outputs of candidate 1: expected 1, as candidate 0 has, found 2"),
        (vec![usual(), Candidate::new(no_inputs, light())], "inputs of candidate 1"),
        (other(|c| c.online.every = 5), "found 5 in candidate 1; expected 10"),
        (other(|c| c.online.importance.samples = 0), "setting"),
        (other(|c| c.weight = 0.0), "found 0 in candidate 1"),
        (other(|c| c.weight = f64::NAN), "found NaN in candidate 1"),
    ] {
        let error = Ensemble::new(candidates).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

/// 1e30 is a number of single precision in data units, and none in units of 1e-10: the first candidate must not keep it.
#[test]
fn a_refused_observation_leaves_all_candidates_as_they_were() {
    let ensemble = ensemble(&[family(42), scaled(&family(42), 0.0, 1e-10)]);
    let mut tracker = EnsembleTracker::new(&ensemble, stream(78, 0)).unwrap();
    for (y, u, message) in [
        (vec![1e30], vec![0.0], "single precision"),
        (vec![0.0, 1.0], vec![0.0], "outputs at step"),
        (vec![0.0], vec![f64::NAN], "found NaN"),
    ] {
        let error = tracker.observe(&y, &u).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        assert!(tracker.trackers().iter().all(|t: &Tracker| t.n_observed_steps() == 0));
    }
}

#[test]
fn where_nothing_fits_the_beliefs_stay_and_the_status_says_so() {
    let mut candidates = ensemble(&[family(42), family(43)]).candidates().to_vec();
    candidates[1].weight = 3.0;
    let ensemble = Ensemble::new(candidates).unwrap();
    let outputs = Signal::column(vec![0.1, 1e30, 0.2]);
    let mut tracker = ensemble.track(&outputs, Some(&impulse(3)), stream(79, 0)).unwrap();
    assert_eq!((tracker.log_evidence(), tracker.weights()), (None, &[0.25, 0.75][..]));
    assert_eq!(tracker.log_evidences(), [f64::NEG_INFINITY; 2]);
    assert_eq!(tracker.trackers()[1].posterior().unwrap().diagnostics().status, Status::NoSupport);
    assert!(tracker.forecast(5, Some(&future())).unwrap().mean().iter().all(|y| y.is_finite()));
}
