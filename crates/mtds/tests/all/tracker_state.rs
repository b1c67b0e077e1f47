//! A tracker's state as JSON and back: it goes on to the same bits; a state that does not fit is refused.

use crate::common::{LOG_NOISE, draw_member, model, own_inputs, spec, with_gaps};
use mtds::parts::Tracker;
use mtds::parts::TrackerState;
use mtds::parts::{AdaptiveImportance, NoiseBelief};
use mtds::random::stream;
use mtds::{Error, Online, Signal, System};
use serde_json::{Value, json};

fn family() -> System {
    model(spec(2, 1, 2), 1.0, LOG_NOISE, 42)
}

fn settings(noise: NoiseBelief) -> Online {
    let importance =
        AdaptiveImportance { samples: 200, first_samples: 300, final_samples: 300, ..Default::default() };
    Online { importance, mode_starts: 4, noise, every: 3, history: Some(12), drift: Some(0.02) }
}

const UNCERTAIN: NoiseBelief = NoiseBelief::Uncertain { mean: 0.1, std_dev: 0.3 };

fn member(model: &System, n_time: usize) -> (Signal, Signal) {
    let mut random = stream(80, 0);
    let inputs = own_inputs(n_time, &mut random);
    let (_, outputs) = draw_member(model, &inputs, n_time, &mut random);
    (with_gaps(&outputs, 0.2, &mut random), inputs)
}

/// Takes steps, forecasts after each fourth, and gives all that can be seen, to the bit.
fn go_on(tracker: &mut Tracker, (outputs, inputs): &(Signal, Signal)) -> Vec<u64> {
    let mut seen = vec![];
    for t in tracker.n_observed_steps()..outputs.n_time() {
        tracker.observe(outputs.row(t), inputs.row(t)).unwrap();
        if t % 4 == 0 {
            seen.extend(tracker.forecast(3, Some(&Signal::column(vec![0.3; 3]))).unwrap().means().to_vec());
        }
        seen.extend(tracker.log_evidence());
        seen.extend(tracker.posterior().iter().flat_map(|p| p.draws().values().to_vec()));
    }
    seen.into_iter().map(f64::to_bits).collect()
}

fn through_json(state: &TrackerState) -> TrackerState {
    serde_json::from_str(&serde_json::to_string(state).unwrap()).unwrap()
}

fn interrupted_after(n: usize, noise: NoiseBelief) -> (Vec<u64>, Vec<u64>) {
    let model = family();
    let member = member(&model, 40);
    let mut whole = Tracker::new(&model, settings(noise), stream(81, 0)).unwrap();
    let first = (member.0.slice(0..n), member.1.slice(0..n));
    go_on(&mut whole, &first);
    let state = through_json(&whole.state());
    assert_eq!(state, whole.state(), "nothing is lost in JSON");
    assert_eq!(state.n_observed_steps(1), n);
    let mut restored = Tracker::restore(&model, state).unwrap();
    (go_on(&mut whole, &member), go_on(&mut restored, &member))
}

#[test]
fn a_restored_tracker_goes_on_to_the_same_bits() {
    // Before anything, between updates, at one, after observations were dropped.
    for n in [0, 1, 3, 7, 12, 13, 25, 38] {
        for noise in [NoiseBelief::Learned, UNCERTAIN] {
            let (whole, restored) = interrupted_after(n, noise);
            assert!(whole.len() > 300);
            assert_eq!(whole, restored, "{n} steps, {noise:?}");
        }
    }
}

/// Draws made a state of 125 kB of one of a tenth of that.
#[test]
fn without_its_draws_a_tracker_that_updates_at_every_step_goes_on_to_the_same_bits() {
    let model = family();
    let member = member(&model, 30);
    for n in [1, 7, 12, 20] {
        let every_step = Online { every: 1, ..settings(UNCERTAIN) };
        let mut whole = Tracker::new(&model, every_step, stream(84, 0)).unwrap();
        go_on(&mut whole, &(member.0.slice(0..n), member.1.slice(0..n)));
        let (state, small) = (whole.state(), whole.state().without_draws());
        let size = |state: &TrackerState| serde_json::to_string(state).unwrap().len();
        assert!(size(&small) < size(&state) / 2, "{} of {}", size(&small), size(&state));
        let mut restored = Tracker::restore(&model, through_json(&small)).unwrap();
        let mean = |tracker: &Tracker| tracker.posterior().map(|posterior| posterior.mean());
        assert_eq!(mean(&restored), mean(&whole));
        assert_eq!(go_on(&mut whole, &member), go_on(&mut restored, &member), "{n} steps");
    }
}

#[test]
fn observations_that_nothing_fits_survive_storing() {
    let model = family();
    let mut tracker = Tracker::new(&model, settings(NoiseBelief::Learned), stream(82, 0)).unwrap();
    let run = |tracker: &mut Tracker, from: usize, to: usize| {
        for t in from..to {
            tracker.observe(&[if t == 3 { 1e30 } else { 0.1 }], &[0.0]).unwrap();
        }
        tracker.update().unwrap().draws().values().to_vec()
    };
    run(&mut tracker, 0, 14);
    let mut restored = Tracker::restore(&model, through_json(&tracker.state())).unwrap();
    assert_eq!(run(&mut tracker, 14, 30), run(&mut restored, 14, 30));
}

/// The state after 25 steps with one value changed.
fn changed(pointer: &str, value: Value) -> Result<(), String> {
    let model = family();
    let (outputs, inputs) = member(&model, 25);
    let mut tracker = Tracker::new(&model, settings(UNCERTAIN), stream(83, 0)).unwrap();
    for (y, u) in outputs.rows().zip(inputs.rows()) {
        tracker.observe(y, u).unwrap();
    }
    let mut state = serde_json::to_value(tracker.state()).unwrap();
    *state.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = value;
    let state: TrackerState = serde_json::from_value(state).map_err(|error| error.to_string())?;
    Tracker::restore(&model, state).map(drop).map_err(|error| error.to_string())
}

#[test]
fn a_state_that_contradicts_itself_is_refused() {
    changed("/settings/every", json!(3)).expect("as it was");
    for (pointer, value) in [
        ("/settings/every", json!(0)),
        ("/settings/noise", json!("learned")),
        ("/inputs", json!([0.0])),
        ("/inputs/0", json!(null)),
        ("/outputs", json!([])),
        ("/known", json!(1000)),
        ("/posterior", json!(null)),
        ("/posterior/weights/0", json!(2.0)),
        ("/posterior/draws/dim", json!(7)),
        ("/posterior/mixture/means/0", json!([0.0])),
        ("/anchor/step", json!(0)),
        ("/anchor/state", json!(null)),
        ("/anchor/state/d_state", json!(9)),
        ("/anchor/state/maps", json!([])),
        ("/anchor/state/maps/0/slope", json!([1.0])),
        ("/anchor/prior/covariances/0/0", json!(-1.0)),
        ("/random", json!({})),
    ] {
        assert!(changed(pointer, value).is_err(), "{pointer}");
    }
}

#[test]
fn a_state_of_another_model_is_refused() {
    let ours = family();
    let state = Tracker::new(&ours, settings(UNCERTAIN), stream(84, 0)).unwrap().state();
    for other in [spec(2, 1, 3), spec(2, 2, 2)] {
        let mut tracker_state = state.clone();
        let other = model(other, 1.0, LOG_NOISE, 42);
        if other.d_code() == 2 {
            let mut tracker = Tracker::restore(&ours, tracker_state).unwrap();
            tracker.observe(&[0.1], &[0.0]).unwrap();
            tracker_state = tracker.state();
        }
        let refused = Tracker::restore(&other, tracker_state).map(drop);
        assert!(matches!(refused, Err(Error::Shape { .. })), "{refused:?}");
    }
}
