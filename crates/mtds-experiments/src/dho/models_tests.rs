//! The models against the library's own operations, and what they may know.

use mtds::evaluate::Origins;
use mtds::parts::Nuts;
use mtds::parts::Tracker;
use mtds::{Control, Signal};

use super::*;
use crate::dho::fixtures::{tiny_protocol, tiny_settings};
use crate::dho::recipe::{Method, learn};

fn learned(seeds: std::ops::Range<u64>) -> Learned {
    let training = tiny_protocol().training(0, 3).unwrap();
    let method = Method::Paper(Box::new(tiny_settings().paper));
    let members = |seed| learn(&method, &training, seed, &mut |_| Control::Continue).unwrap().members;
    Learned { members: seeds.flat_map(members).collect(), evidence_power: 1.0, bounds: vec![] }
}

fn pooled_lds() -> PooledLds {
    let training = tiny_protocol().pooled(0).unwrap();
    PooledLds::fit(training.family(), None, &tiny_settings().pooled, &mut |_| Control::Continue).unwrap()
}

fn whole() -> Family {
    tiny_protocol().validation(0).unwrap()
}

fn origins(family: &Family) -> Vec<Origin> {
    Origins::after(&[2, 7]).of(family.max_time()).into_iter().flatten().collect()
}

#[test]
fn a_single_member_forecasts_as_its_tracker_does() {
    let (learned, family) = (learned(0..1), whole());
    let Candidate { model, online, .. } = learned.members[0].clone();
    let found = mtlds(learned, 9).unwrap().forecasts(&family, 1, &origins(&family)).unwrap();
    let mut tracker = Tracker::new(&model, online, stream(9, 1 << 16)).unwrap();
    for (k, forecast) in found.iter().enumerate() {
        let range = [0..2, 2..7][k].clone();
        let n_time = family.max_time() - range.end;
        for t in range {
            let y = family.sequence(1).outputs().row(t);
            tracker.observe(y, &[if t == 0 { 1.0 } else { 0.0 }]).unwrap();
        }
        let zeros = Signal::column(vec![0.0; n_time]);
        assert_eq!(*forecast, tracker.forecast(n_time, Some(&zeros)).unwrap());
    }
}

#[test]
fn several_members_are_mixed() {
    let (learned, family) = (learned(0..2), whole());
    let mtlds = mtlds(learned, 9).unwrap();
    let mixed = mtlds.forecasts(&family, 0, &origins(&family)[..1]).unwrap().remove(0);
    let seen = family.sequence(0).outputs().slice(0..2);
    let inputs = family.inputs_of(0).unwrap();
    let mut tracker = mtlds.ensemble.track(&seen, Some(&inputs.slice(0..2)), stream(9, 0)).unwrap();
    assert_eq!(mixed, tracker.forecast(22, Some(&inputs.slice(2..24))).unwrap());
    let weights = tracker.weights();
    assert!(weights.len() == 2 && weights.iter().all(|weight| *weight > 0.01), "{weights:?}");
}

/// Outputs behind an origin change nothing in its forecast.
#[test]
fn no_model_looks_behind_an_origin() {
    let family = whole();
    let other_end = |sequence: &Sequence| {
        let mut outputs = sequence.outputs().values().to_vec();
        outputs[7..].iter_mut().for_each(|y| *y = 3.0 - *y);
        Sequence::new(sequence.id(), Signal::column(outputs)).unwrap()
    };
    let other = Family::new(family.sequences().iter().map(other_end).collect()).unwrap();
    let other = other.with_common_inputs(family.inputs_of(0).unwrap().clone()).unwrap();
    let sampler = Nuts { warmup: 40, draws: 30, ..Nuts::default() };
    let (lds, mtlds) = (pooled_lds(), mtlds(learned(0..2), 4).unwrap());
    let (pooled, single) =
        (pooled(&lds, Spread::ByStep), single(SingleTask::oscillator().inference(2, sampler), 7));
    for forecaster in [&pooled as &dyn Forecaster, &single, &mtlds] {
        let of = |family: &Family| forecaster.forecasts(family, 1, &origins(family)).unwrap();
        assert_eq!(of(&family), of(&other));
    }
}

/// Before anything is known the evidence of one observation is its density under a forecast from nothing.
#[test]
fn evidences_agree_with_forecasts() {
    let (family, lds) = (whole(), pooled_lds());
    let (outputs, inputs) = (family.sequence(1).outputs(), family.inputs_of(1).unwrap());
    let evidences = pooled_evidences(&lds, Spread::ByStep, &family).unwrap();
    let forecast = lds.forecast(Some(inputs), 0, 24, Spread::ByStep).unwrap();
    let steps: f64 = outputs.rows().enumerate().map(|(t, y)| forecast.log_density(t, y).unwrap()).sum();
    assert!((evidences[1] - steps).abs() < 1e-9, "{} {steps}", evidences[1]);

    let mut learned = learned(0..1);
    learned.members[0].online.every = 1;
    let Candidate { model, online, .. } = learned.members[0].clone();
    let mtlds = mtlds(learned, 2).unwrap();
    let evidences = mtlds_evidences(&mtlds, &family).unwrap();
    // The chain rule, each factor from a forecast one step ahead: a Monte-Carlo estimate of the same number.
    let mut tracker = Tracker::new(&model, online, stream(1, 1)).unwrap();
    let first = tracker.forecast(1, Some(inputs)).unwrap();
    let steps: Vec<Origin> = (1..24).map(|seen| Origin { seen, n_time: 1 }).collect();
    let later = mtlds.forecasts(&family, 1, &steps).unwrap();
    let each = std::iter::once(&first).chain(&later).enumerate();
    let total: f64 = each.map(|(t, forecast)| forecast.log_density(0, outputs.row(t)).unwrap()).sum();
    // About 3 000 draws per factor: errors of 0.01 to 0.03 each, 24 of them; 0.5 is beyond four deviations.
    assert!((evidences[1] - total).abs() < 0.5, "{} {total}", evidences[1]);
}

#[test]
fn no_members_are_refused() {
    assert!(mtlds(Learned { members: vec![], evidence_power: 1.0, bounds: vec![] }, 1).is_err());
}

/// What was seen is all that counts, not what else was forecast.
#[test]
fn a_single_task_forecast_is_the_librarys() {
    let (family, sampler) = (whole(), Nuts { warmup: 40, draws: 30, ..Nuts::default() });
    let model = SingleTask::oscillator().inference(2, sampler);
    let single = single(model.clone(), 7);
    let found = single.forecasts(&family, 1, &origins(&family)).unwrap().remove(1);
    let seen = family.sequence(1).outputs().slice(0..7);
    let random = &mut stream(7, (1 << 16) + 7);
    let (expected, _) = model.forecast(&seen, family.inputs_of(1), 17, random).unwrap();
    assert_eq!(found, expected);
    assert_eq!((found.first_step(), found.n_time(), found.n_draws()), (7, 17, 30));
    let twice = Family::new(vec![
        Sequence::new("a", family.sequence(1).outputs().clone()).unwrap(),
        Sequence::new("b", family.sequence(1).outputs().clone()).unwrap(),
    ]);
    let twice = twice.unwrap().with_common_inputs(family.inputs_of(1).unwrap().clone()).unwrap();
    let of = |i| single.forecasts(&twice, i, &origins(&twice)[1..]).unwrap();
    assert_eq!(of(1), [expected]);
    assert_ne!(of(0), of(1), "another sequence draws from another stream");
}
