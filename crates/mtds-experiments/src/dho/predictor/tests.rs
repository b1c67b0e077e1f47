//! Predictors against the library's own operations.

use mtds::Control;
use mtds::baseline::{PooledLds, SingleTask, Spread};
use mtds::infer::{Candidate, Ensemble, Nuts, Online, Tracker};
use mtds::random::stream;

use super::*;
use crate::dho::fixtures::{tiny_protocol, tiny_settings};
use crate::dho::recipe::{Method, learn};
use crate::dho::score::Predictor;

fn members(n: u64) -> Vec<Candidate> {
    let training = tiny_protocol().training(0, 3).unwrap();
    let method = Method::Paper(Box::new(tiny_settings().paper));
    let learned = |seed| learn(&method, &training, seed, &mut |_| Control::Continue).unwrap().members;
    (0..n).flat_map(learned).collect()
}

#[test]
fn a_single_member_forecasts_as_its_tracker_does() {
    let members = members(1);
    let outputs = [0.1, 0.3, 0.2, -0.1, 0.0, 0.2, 0.1];
    let mtlds = Mtlds::new(members.clone(), 9).unwrap();
    let mut follower = mtlds.follow(3).unwrap();
    follower.observe(&outputs[..2]).unwrap();
    follower.observe(&outputs[2..]).unwrap();
    let found = follower.forecast(4).unwrap();
    let Candidate { model, online, .. } = &members[0];
    let mut tracker = Tracker::new(model, online.clone(), stream(9, 3 << 16)).unwrap();
    for (t, y) in outputs.iter().enumerate() {
        tracker.observe(&[*y], &[if t == 0 { 1.0 } else { 0.0 }]).unwrap();
    }
    let zeros = mtds::Signal::column(vec![0.0; 4]);
    assert_eq!(found, tracker.forecast(4, Some(&zeros)).unwrap());
}

#[test]
fn several_members_are_mixed() {
    let members = members(2);
    let mtlds = Mtlds::new(members.clone(), 9).unwrap();
    let mut follower = mtlds.follow(0).unwrap();
    follower.observe(&[0.1, 0.2, 0.1]).unwrap();
    let mixed = follower.forecast(5).unwrap();
    let ensemble = Ensemble::new(members).unwrap();
    let seen = mtds::Signal::column(vec![0.1, 0.2, 0.1]);
    let mut tracker = ensemble.track(&seen, Some(&impulse(0, 3)), stream(9, 0)).unwrap();
    assert_eq!(mixed, tracker.forecast(5, Some(&impulse(3, 5))).unwrap());
    let weights = tracker.weights();
    assert!(weights.len() == 2 && weights.iter().all(|weight| *weight > 0.01), "{weights:?}");
}

/// Before anything is known the evidence of one observation is its density under a forecast from nothing.
#[test]
fn evidences_agree_with_forecasts() {
    let whole = tiny_protocol().validation(0).unwrap().family().clone();
    let pooled_set = tiny_protocol().pooled(0).unwrap();
    let settings = tiny_settings();
    let lds =
        PooledLds::fit(pooled_set.family(), None, &settings.pooled, &mut |_| Control::Continue).unwrap();
    let pooled = Pooled::new(lds.clone(), Spread::ByStep);
    let evidences = pooled.log_evidences(&whole).unwrap().unwrap();
    let forecast = lds.forecast(Some(&impulse(0, 24)), 0, 24, Spread::ByStep).unwrap();
    let outputs = whole.sequence(1).outputs();
    let steps: f64 = outputs.rows().enumerate().map(|(t, y)| forecast.log_density(t, y).unwrap()).sum();
    assert!((evidences[1] - steps).abs() < 1e-9, "{} {steps}", evidences[1]);

    let mut members = members(1);
    members[0].online = Online { every: 1, ..members[0].online.clone() };
    let mtlds = Mtlds::new(members.clone(), 2).unwrap();
    let evidences = mtlds.log_evidences(&whole).unwrap().unwrap();
    // The chain rule, each factor from a forecast one step ahead: a Monte-Carlo estimate of the same number.
    let mut follower = mtlds.follow(1).unwrap();
    let mut tracker = Tracker::new(&members[0].model, members[0].online.clone(), stream(1, 1)).unwrap();
    let first = tracker.forecast(1, Some(&impulse(0, 1))).unwrap();
    let mut total = first.log_density(0, outputs.row(0)).unwrap();
    for t in 1..24 {
        follower.observe(outputs.row(t - 1)).unwrap();
        total += follower.forecast(1).unwrap().log_density(0, outputs.row(t)).unwrap();
    }
    // About 3 000 draws per factor: errors of 0.01 to 0.03 each, 24 of them; 0.5 is beyond four deviations.
    assert!((evidences[1] - total).abs() < 0.5, "{} {total}", evidences[1]);
}

#[test]
fn no_members_are_refused() {
    assert!(Mtlds::new(vec![], 1).is_err());
}

/// What a follower has seen is all that counts, not in how many parts it came or what was forecast before.
#[test]
fn a_single_task_forecast_is_the_librarys() {
    let sampler = Nuts { warmup: 40, draws: 30, ..Nuts::default() };
    let single = Single::new(2, sampler.clone(), 7).unwrap();
    let outputs = [0.1, 0.3, 0.2, -0.1, 0.0, 0.2, 0.1];
    let mut follower = single.follow(3).unwrap();
    follower.observe(&outputs[..2]).unwrap();
    follower.forecast(4).unwrap();
    follower.observe(&outputs[2..]).unwrap();
    let found = follower.forecast(4).unwrap();
    let model = SingleTask::oscillator().inference(2, sampler);
    let seen = mtds::Signal::column(outputs.to_vec());
    let random = &mut stream(7, (3 << 16) + 7);
    let (expected, _) = model.forecast(&seen, Some(&impulse(0, 11)), 4, random).unwrap();
    assert_eq!(found, expected);
    assert_eq!((found.first_step(), found.n_time(), found.n_draws()), (7, 4, 30));
    let mut other = single.follow(4).unwrap();
    other.observe(&outputs).unwrap();
    assert_ne!(other.forecast(4).unwrap(), expected, "another sequence draws from another stream");
    assert!(single.log_evidences(tiny_protocol().validation(0).unwrap().family()).unwrap().is_none());
}

#[test]
fn what_a_single_task_system_cannot_use_is_refused() {
    assert!(Single::new(0, Nuts::default(), 1).is_err());
    assert!(Single::new(1, Nuts { draws: 0, ..Nuts::default() }, 1).is_err());
    let single = Single::new(1, Nuts::default(), 1).unwrap();
    let mut follower = single.follow(0).unwrap();
    assert!(matches!(follower.observe(&[0.1, f64::INFINITY]), Err(Error::NotFinite { .. })));
}
