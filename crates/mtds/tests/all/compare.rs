//! Structures that are compared: learned from several parts of a family, weighed, and one model from then on.

use mtds::evaluate::{Origins, evaluate};
use mtds::parts::{Clock, Lds, Tracker};
use mtds::random::stream;
use mtds::{
    Architecture, Control, Family, Fit, Fitting, Model, Online, Scaling, Sequence, Signal, System, Wishes,
};

/// Curves that begin together: a level, a slope and a bend of each member's own, and a little that looks like noise.
fn family() -> Family {
    let value = |i: usize, t: usize| {
        let (t, of) = (t as f64, |k: usize| ((k * i + k) % 11) as f64 / 11.0 - 0.5);
        10.0 + 4.0 * of(3)
            + (1.0 + of(5)) * t
            + 0.05 * of(7) * t * t
            + 0.1 * ((i * 7 + t as usize * 5) % 4) as f64
    };
    let member = |i: usize| {
        let values = (0..9).map(|t| value(i, t)).collect();
        Sequence::new(format!("curve {i}"), Signal::column(values)).unwrap()
    };
    Family::new((0..20).map(member).collect()).unwrap()
}

fn fit() -> Fit {
    Fit { wishes: Wishes { effort: Some(0.01), ..Wishes::default() }, seed: 3, ..Fit::default() }
}

fn whole() -> Model {
    fit().run(&family(), &mut |_| Control::Continue).unwrap().unwrap()
}

#[test]
fn structures_are_weighed_and_forecast_together_as_one_model() {
    let model = whole();
    let record = model.fit.as_ref().unwrap();
    let names: Vec<&str> = record.structures.iter().map(|row| row.structure.as_str()).collect();
    assert_eq!(names, ["plain", "clock", "curves", "nearest", "ridge", "fpca", "gp"]);
    assert!((record.structures.iter().map(|row| row.weight).sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(record.structures.iter().all(|row| row.n_seq == 12), "three parts hold out four members each");
    // Components of curves are found without steps; other systems have hardly begun.
    let best = record.structures[..3].iter().max_by(|a, b| a.weight.total_cmp(&b.weight)).unwrap();
    assert_eq!(best.structure, "curves");
    assert!(model.companions.len() >= 2 && model.system.spec().clock.is_some());
    let remembered = model.blend.remembered.as_ref().unwrap();
    assert_eq!(remembered.members.n_seq(), 20, "all members, also those that a part held out");
    let shares: f64 = remembered.ways.iter().map(|(_, weight)| weight).sum();
    assert!(shares > 0.3 && shares < 1.0, "{shares}");
    // Written down and read, it is the same model.
    let files = model.to_files().unwrap();
    let read = Model::from_files(&files).unwrap();
    assert!(read.to_files().unwrap() == files);
    let history = Sequence::new("new", family().sequence(4).outputs().slice(0..5)).unwrap();
    let (ours, theirs) = (model.forecast(&history, 4).unwrap(), read.forecast(&history, 4).unwrap());
    assert_eq!(ours, theirs);
    assert!(ours.n_draws() > 1000, "draws of several systems");
    let truth = family().sequence(4).outputs().slice(5..9);
    for (t, mean) in ours.mean().iter().enumerate() {
        assert!((mean - truth.get(t, 0)).abs() < 2.5, "{t}: {mean} {}", truth.get(t, 0));
    }
    // Its settings are what was asked for, so that they make it again.
    assert_eq!(record.settings.effort, Some(0.01));
    assert_eq!((record.settings.compare, record.settings.code), (Some(true), None));
    let again = Fit { wishes: record.settings.clone(), ..fit() };
    let again = again.run(&family(), &mut |_| Control::Continue).unwrap().unwrap();
    assert!(again.to_files().unwrap() == files);
    assert!(record.best_rival.is_some() && record.judged.len() == 7);
}

/// The page of a fit forecasts members that were held out. Systems of other parts had learned from them, and what they did was remembered.
#[test]
fn members_that_were_held_out_are_judged_by_what_has_not_seen_them() {
    let (model, family) = (whole(), family());
    let (members, part) = model.unseen(&family).unwrap().unwrap();
    assert_eq!(members.len(), 4, "a part holds out a fifth of twenty");
    let held_out = &model.fit.as_ref().unwrap().held_out_ids;
    assert!(members.iter().all(|&i| held_out.iter().any(|id| id == family.sequence(i).id())));
    let left = &part.companions;
    assert!(left.len() < model.companions.len(), "systems of two of three parts are gone");
    assert!(left.iter().all(|companion| companion.held_out_ids == *held_out));
    let remembered = part.blend.remembered.as_ref().unwrap();
    assert_eq!(remembered.members.n_seq(), 16);
    // Who had learned from the whole family would forecast them far too well.
    let score = |model: &Model| {
        let following = model.following(1).unwrap();
        let scored = (&family, members.as_slice());
        let found = evaluate(("", &following), scored, &Origins::half(), &mut |_| Control::Continue).unwrap();
        found[0].row.crps
    };
    assert!(score(&model) < 0.8 * score(&part), "{} {}", score(&model), score(&part));
    // Written down and read, the same; and nothing where nobody was held out.
    let read = Model::from_files(&model.to_files().unwrap()).unwrap();
    assert_eq!(read.unseen(&family).unwrap().unwrap().1.companions.len(), left.len());
    let strangers = Family::new(vec![Sequence::new("new", Signal::column(vec![1.0; 9])).unwrap()]).unwrap();
    assert!(model.unseen(&strangers).unwrap().is_none());
}

#[test]
fn a_comparison_that_is_cut_and_resumed_ends_in_the_same_bits() {
    let (family, wanted) = (family(), whole().to_files().unwrap());
    let (mut checkpoint, mut heard, mut cuts): (Option<Vec<u8>>, u64, u64) = (None, 0, 0);
    let model = loop {
        let mut fitting: Fitting = match &checkpoint {
            None => fit().begin(&family).unwrap(),
            Some(bytes) => fit().resume(&family, bytes).unwrap(),
        };
        // Longer and longer pieces, so that it ends.
        let last = heard + 40 + 60 * cuts;
        let found = fitting.run(&mut |_| {
            heard += 1;
            if heard >= last { Control::Stop } else { Control::Continue }
        });
        match found.unwrap() {
            Some(model) => break model,
            None => (checkpoint, cuts) = (Some(fitting.checkpoint().unwrap()), cuts + 1),
        }
    };
    assert!(cuts >= 3, "{cuts}");
    assert!(model.to_files().unwrap() == wanted);
}

#[test]
fn a_tracker_of_several_systems_is_stored_and_goes_on() {
    let model = whole();
    let outputs = family().sequence(2).outputs().clone();
    let mut tracker = model.track(0).unwrap();
    (0..6).for_each(|t| assert!(tracker.observe(outputs.row(t), &[]).is_ok()));
    let follower = model.follower(&model.online).unwrap();
    let mut restored = follower.restore(tracker.state()).unwrap();
    for one in [&mut tracker, &mut restored] {
        one.observe(outputs.row(6), &[]).unwrap();
    }
    assert_eq!(tracker.forecast(2, None).unwrap(), restored.forecast(2, None).unwrap());
    assert_eq!(tracker.log_evidence(), restored.log_evidence());
    let (mut fewer, mut shorter) = (tracker.state(), tracker.state());
    fewer.trackers.pop();
    shorter.past.pop();
    let refused = follower.restore(fewer).unwrap_err().to_string();
    assert!(refused.contains("trackers of the state"), "{refused}");
    let refused = follower.restore(shorter).unwrap_err().to_string();
    assert!(refused.contains("outputs of the past"), "{refused}");
}

/// d + D κ(t) and nothing else, whatever the code.
fn clocked() -> System {
    let clock = Clock { steps: 12, functions: 2 };
    let spec = Architecture::new(Lds::new(1, 1, 2), 1).clocked(clock).share("feedthrough");
    let spec =
        ["input", "input_gate", "emission", "initial_state"].into_iter().fold(spec, |s, b| s.fix(b, 0.0));
    let system = System::initialise(spec, Scaling::identity(1, 0), &mut stream(1, 0)).unwrap();
    let mut parameters = vec![0.0; system.n_parameters()];
    let start = system.spec().network.n_parameters();
    let slot = |name: &str| system.layout().block(name).unwrap().slot;
    (parameters[start + slot("feedthrough")], parameters[start + slot("feedthrough") + 1]) = (2.0, -1.0);
    parameters[start + slot("noise")] = -3.0;
    system.with_parameters(parameters).unwrap()
}

#[test]
fn a_clock_tells_the_same_time_to_every_question() {
    let system = clocked();
    assert_eq!(system.d_input(), 0, "the clock is not an input that anybody gives");
    let at = |t: usize| {
        let x = 2.0 * (t.min(11) as f64 + 0.5) / 12.0 - 1.0;
        2.0 * 3f64.sqrt() * x - 5f64.sqrt() * (1.5 * x * x - 0.5)
    };
    let close = |found: &[f64], first: usize| {
        for (k, y) in found.iter().enumerate() {
            assert!((y - at(first + k)).abs() < 1e-5, "step {}: {y} {}", first + k, at(first + k));
        }
    };
    let generated = system.generate(&[0.3], None, 15).unwrap();
    close(generated.values(), 0);
    // A tracker, with all of its history and with a part of it, and a forecast of a whole sequence.
    for history in [None, Some(4)] {
        let online = Online { every: 2, history, ..Online::default() };
        let mut tracker = Tracker::new(&system, online, stream(2, 0)).unwrap();
        (0..9).for_each(|t| assert!(tracker.observe(&[at(t)], &[]).is_ok()));
        close(&tracker.forecast(5, None).unwrap().mean(), 9);
    }
    let seen = generated.slice(0..7);
    let mut tracker = system.track(&seen, None, Online::default(), stream(3, 0)).unwrap();
    let posterior = tracker.update().unwrap().clone();
    let forecast = system.forecast(&posterior, &seen, None, 6, &mut stream(3, 1)).unwrap();
    close(&forecast.mean(), 7);
    let left = system.innovations(&[0.3], &generated, None).unwrap();
    assert!(left.values().iter().all(|e| e.abs() < 1e-3), "{left:?}");
}
