//! Tests of checkpoints: round trips, and one for every way in which bytes can be wrong.

use super::*;
use crate::learn::toy::NoisySquare;
use crate::learn::{Control, StoppingRule, Trainer};
use crate::random::stream;

fn checkpoint() -> Checkpoint {
    let stopping = StoppingRule { every: 2, ..StoppingRule::default() };
    let plan = TrainingPlan { steps: 9, stopping, ..TrainingPlan::default() };
    let mut trainer = Trainer::new(NoisySquare::new(), vec![0.1, 0.2, 0.3], plan, stream(3, 0)).unwrap();
    let stop_at_5 = &mut |progress: &crate::learn::Progress| match progress.step {
        5 => Control::Stop,
        _ => Control::Continue,
    };
    trainer.run(stop_at_5).unwrap();
    trainer.checkpoint()
}

/// An archive of the given arrays and metadata text, right or wrong.
fn archive(arrays: &[(&str, Vec<f32>)], key: &str, text: String) -> Vec<u8> {
    let bytes: Vec<Vec<u8>> = arrays.iter().map(|(_, values)| to_le_bytes(values)).collect();
    let views = arrays.iter().zip(&bytes).map(|((name, values), bytes)| {
        (*name, TensorView::new(Dtype::F32, vec![values.len()], bytes).unwrap())
    });
    serialize(views, Some(HashMap::from([(key.to_string(), text)]))).unwrap()
}

fn arrays(checkpoint: &Checkpoint) -> Vec<(&'static str, Vec<f32>)> {
    vec![
        (PARAMETERS, checkpoint.state.parameters.clone()),
        (FIRST_MOMENT, checkpoint.state.first_moment.clone()),
        (SECOND_MOMENT, checkpoint.state.second_moment.clone()),
        (BEST_PARAMETERS, checkpoint.best().unwrap().parameters.clone()),
    ]
}

fn text(checkpoint: &Checkpoint) -> String {
    serde_json::to_string(&checkpoint.record()).unwrap()
}

#[track_caller]
fn assert_refused(bytes: &[u8], reason: &str) {
    match Checkpoint::from_bytes(bytes) {
        Err(Error::Store { why, .. }) => assert!(why.contains(reason), "{why}"),
        other => panic!("{reason}: {other:?}"),
    }
}

#[test]
fn round_trips_exactly_and_repeatably() {
    let checkpoint = checkpoint();
    let bytes = checkpoint.to_bytes().unwrap();
    assert_eq!(Checkpoint::from_bytes(&bytes).unwrap(), checkpoint);
    assert_eq!(checkpoint.to_bytes().unwrap(), bytes);
    assert_eq!(archive(&arrays(&checkpoint), METADATA_KEY, text(&checkpoint)), bytes);
}

#[test]
fn round_trips_without_a_best_and_without_steps() {
    let objective = NoisySquare { held_out: None, ..NoisySquare::new() };
    let fresh =
        Trainer::new(objective, vec![0.0; 3], TrainingPlan::default(), stream(1, 0)).unwrap().checkpoint();
    assert_eq!(Checkpoint::from_bytes(&fresh.to_bytes().unwrap()).unwrap(), fresh);
}

#[test]
fn every_truncation_is_refused() {
    let bytes = checkpoint().to_bytes().unwrap();
    for length in 0..bytes.len() {
        assert_refused(&bytes[..length], "not a checkpoint, or cut short");
    }
}

#[test]
fn trailing_bytes_and_noise_are_refused() {
    let mut bytes = checkpoint().to_bytes().unwrap();
    bytes.push(0);
    assert_refused(&bytes, "not a checkpoint");
    assert_refused(&[0x5a; 64], "not a checkpoint");
}

#[test]
fn other_versions_are_refused_by_number() {
    let checkpoint = checkpoint();
    let newer = text(&checkpoint).replacen("\"version\":1", "\"version\":2", 1);
    assert_refused(&archive(&arrays(&checkpoint), METADATA_KEY, newer), "written as version 2");
    // A later version may have quite other fields.
    assert_refused(&archive(&[], METADATA_KEY, r#"{"version":3,"x":[]}"#.into()), "written as version 3");
}

#[test]
fn missing_or_broken_metadata_is_refused() {
    let checkpoint = checkpoint();
    let arrays = arrays(&checkpoint);
    assert_refused(&archive(&arrays, "other", text(&checkpoint)), "another kind of file");
    assert_refused(&archive(&arrays, METADATA_KEY, "{".into()), "metadata `mtds-checkpoint`");
    assert_refused(&archive(&arrays, METADATA_KEY, r#"{"version":1}"#.into()), "missing field");
    let bad_product = text(&checkpoint).replacen("\"beta2_product\":0.", "\"beta2_product\":7.", 1);
    assert_refused(&archive(&arrays, METADATA_KEY, bad_product), "beta2_product");
    let bad_plan = text(&checkpoint).replacen("\"beta2\":0.999", "\"beta2\":1.5", 1);
    assert_refused(&archive(&arrays, METADATA_KEY, bad_plan), "setting `beta2`");
}

#[test]
fn missing_short_or_impossible_arrays_are_refused() {
    let checkpoint = checkpoint();
    let text = text(&checkpoint);
    for i in 0..4 {
        let good = arrays(&checkpoint);
        let name = good[i].0;
        let mut missing = good.clone();
        missing.remove(i);
        assert_refused(&archive(&missing, METADATA_KEY, text.clone()), name);
        for bad in [f32::NAN, f32::INFINITY] {
            let mut broken = good.clone();
            broken[i].1[1] = bad;
            assert_refused(&archive(&broken, METADATA_KEY, text.clone()), &format!("`{name}`: found"));
        }
        let mut short = good.clone();
        short[i].1.pop();
        assert_refused(&archive(&short, METADATA_KEY, text.clone()), "expected");
    }
    let mut negative = arrays(&checkpoint);
    negative[2].1[0] = -1.0;
    assert_refused(&archive(&negative, METADATA_KEY, text), "negative");
}

#[test]
fn other_groups_cannot_resume() {
    let mut checkpoint = checkpoint();
    checkpoint.groups[1].name = "generator".into();
    let error = Trainer::resume(NoisySquare::new(), checkpoint).err();
    assert!(matches!(error, Some(Error::Store { why, .. }) if why.contains("`generator` 2..3")));
}
