//! Tests of the training loop on a toy objective.

use super::*;
use crate::learn::schedule::Schedule;
use crate::learn::stopping::StoppingRule;
use crate::learn::toy::{Fault, NoisySquare};
use crate::random::stream;

fn plan(steps: u64) -> TrainingPlan {
    let learning_rate = Schedule::constant(0.05).unwrap();
    let stopping = StoppingRule { every: 5, ..StoppingRule::default() };
    TrainingPlan { steps, learning_rate, stopping, history_capacity: 8, ..TrainingPlan::default() }
}

fn trainer(objective: NoisySquare, plan: TrainingPlan) -> Trainer<NoisySquare> {
    Trainer::new(objective, vec![0.0; 3], plan, stream(7, 0)).unwrap()
}

fn go_on(_: &Progress) -> Control {
    Control::Continue
}

#[test]
fn finds_the_minimum() {
    let objective = NoisySquare { held_out: None, ..NoisySquare::new() };
    let outcome = trainer(objective, plan(2000)).run(&mut go_on).unwrap();
    assert_eq!((outcome.status, outcome.step, outcome.best_validation), (RunEnd::Finished, 2000, None));
    // The penalty 0.01 on the last one pulls its minimum to 0.5 / 1.01.
    for (w, expected) in outcome.parameters.iter().zip([1.0, -2.0, 0.5 / 1.01]) {
        assert!((w - expected).abs() < 5e-3, "{w} {expected}");
    }
    assert!(outcome.history.steps().len() <= 8 && outcome.history.validations().is_empty());
}

#[test]
fn resumes_to_the_same_bits() {
    let mut whole = trainer(NoisySquare::new(), plan(40));
    let expected = whole.run(&mut go_on).unwrap();

    let mut first = trainer(NoisySquare::new(), plan(40));
    let stop_at_17 = &mut |progress: &Progress| match progress.step {
        17 => Control::Stop,
        _ => Control::Continue,
    };
    assert_eq!(first.run(stop_at_17).unwrap().status, RunEnd::Interrupted);
    let bytes = first.checkpoint().to_bytes().unwrap();
    drop(first);

    let checkpoint = Checkpoint::from_bytes(&bytes).unwrap();
    assert_eq!(checkpoint.step, 17);
    let mut second = Trainer::resume(NoisySquare::new(), checkpoint).unwrap();
    let resumed = second.run(&mut go_on).unwrap();
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(second.parameters()), bits(whole.parameters()));
    assert_eq!(bits(&resumed.parameters), bits(&expected.parameters));
    assert_eq!(resumed, expected);
    assert_eq!(second.checkpoint().to_bytes().unwrap(), whole.checkpoint().to_bytes().unwrap());
}

#[test]
fn an_interrupted_run_goes_on_when_called_again() {
    let mut trainer = trainer(NoisySquare::new(), plan(10));
    let mut steps = Vec::new();
    while trainer
        .run(&mut |progress| {
            steps.push(progress.step);
            Control::Stop
        })
        .unwrap()
        .status
        == RunEnd::Interrupted
    {}
    assert_eq!(steps, (1..=10).collect::<Vec<_>>());
    assert_eq!(trainer.run(&mut |_| panic!("there are no steps left")).unwrap().status, RunEnd::Finished);
}

#[test]
fn stops_early_with_the_best_parameters() {
    // The held-out optimum lies on the way to the training optimum, so the bound rises and then falls.
    let mut plan = plan(2000);
    plan.stopping.patience = Some(3);
    let mut trainer = trainer(NoisySquare::new(), plan);
    let outcome = trainer.run(&mut go_on).unwrap();
    assert_eq!(outcome.status, RunEnd::StoppedEarly);
    assert!(outcome.step < 500);
    let best = outcome.best_validation.unwrap();
    assert_eq!(NoisySquare::new().validate(&outcome.parameters).unwrap(), Some(best));
    assert!(NoisySquare::new().validate(trainer.parameters()).unwrap().unwrap() < best);
    assert_eq!(trainer.run(&mut go_on).unwrap(), outcome);
}

#[test]
fn a_diverged_step_leaves_no_trace() {
    let cases = [
        (Fault::NanLoss, "the loss"),
        (Fault::InfiniteGradient, "parameter group `codes`"),
        (Fault::HugeGradient, "parameter group `shared`"),
        (Fault::NanParameter, "parameter group `shared`"),
        (Fault::NanValidation, "the held-out bound"),
    ];
    for (fault, expected) in cases {
        let mut reference = trainer(NoisySquare::new(), plan(9));
        reference.run(&mut go_on).unwrap();
        let mut plan = plan(20);
        plan.stopping.every = 10;
        let mut trainer = trainer(NoisySquare::failing(10, fault), plan);
        match trainer.run(&mut go_on) {
            Err(Error::Diverged { step: 10, what, last_good: Some(9) }) => assert_eq!(what, expected),
            other => panic!("{expected}: {other:?}"),
        }
        assert_eq!(trainer.parameters(), reference.parameters());
        let (kept, wanted) = (trainer.checkpoint(), reference.checkpoint());
        assert_eq!((kept.step, kept.state, kept.random), (wanted.step, wanted.state, wanted.random));
    }
}

#[test]
fn clipping_rescues_a_huge_gradient() {
    let mut plan = plan(20);
    plan.clip_norm = Some(1.0);
    let mut longest = 0.0_f64;
    let observer = &mut |progress: &Progress| {
        longest = longest.max(progress.gradient_norm);
        Control::Continue
    };
    let outcome = trainer(NoisySquare::failing(10, Fault::HugeGradient), plan).run(observer).unwrap();
    assert_eq!(outcome.status, RunEnd::Finished);
    assert!(longest > 1e24);
}

#[test]
fn zero_steps_return_the_start() {
    let outcome = trainer(NoisySquare::new(), plan(0)).run(&mut go_on).unwrap();
    assert_eq!((outcome.status, outcome.parameters), (RunEnd::Finished, vec![0.0; 3]));
}

#[test]
fn unusable_starts_are_refused() {
    let start =
        |parameters: Vec<f32>, plan| Trainer::new(NoisySquare::new(), parameters, plan, stream(1, 0)).err();
    assert!(matches!(start(vec![0.0; 4], plan(1)), Some(Error::Shape { .. })));
    assert!(matches!(start(vec![0.0, f32::NAN, 0.0], plan(1)), Some(Error::NotFinite { .. })));
    let bad = TrainingPlan { beta2: 1.0, ..plan(1) };
    assert!(matches!(start(vec![0.0; 3], bad), Some(Error::Setting { .. })));
}

/// w̄ ← a w̄ + (1 − a) w with a that grows to its height, over the parameters of the same run without averages.
#[test]
fn averages_are_those_of_the_parameters() {
    let mut plain = Trainer::new(
        NoisySquare { held_out: None, ..NoisySquare::new() },
        vec![0.0; 3],
        plan(60),
        stream(7, 0),
    )
    .unwrap();
    let averaging = TrainingPlan { averaging: Some(0.9), ..plan(60) };
    let mut averaged = Trainer::new(
        NoisySquare { held_out: None, ..NoisySquare::new() },
        vec![0.0; 3],
        averaging,
        stream(7, 0),
    )
    .unwrap();
    let mut expected = [0.0f64; 3];
    for step in 1..=60 {
        let one = &mut |_: &Progress| Control::Stop;
        plain.run(one).unwrap();
        let outcome = averaged.run(one).unwrap();
        assert_eq!(averaged.parameters(), plain.parameters());
        let kept = 0.9f64.min(f64::from(step) / (f64::from(step) + 9.0));
        for (d, e) in expected.iter_mut().enumerate() {
            *e = kept * *e + (1.0 - kept) * f64::from(plain.parameters()[d]);
            assert!((f64::from(outcome.parameters[d]) - *e).abs() < 1e-5, "{step} {d}");
        }
    }
}

#[test]
fn a_run_that_averages_resumes_to_the_same_bits_and_judges_averages() {
    let averaging = || TrainingPlan { averaging: Some(0.8), ..plan(40) };
    let mut whole = trainer(NoisySquare::new(), averaging());
    let expected = whole.run(&mut go_on).unwrap();
    let mut first = trainer(NoisySquare::new(), averaging());
    let stop_at_17 = &mut |progress: &Progress| match progress.step {
        17 => Control::Stop,
        _ => Control::Continue,
    };
    first.run(stop_at_17).unwrap();
    let bytes = first.checkpoint().to_bytes().unwrap();
    let checkpoint = Checkpoint::from_bytes(&bytes).unwrap();
    assert_eq!(checkpoint.to_bytes().unwrap(), bytes);
    let mut second = Trainer::resume(NoisySquare::new(), checkpoint).unwrap();
    assert_eq!(second.run(&mut go_on).unwrap(), expected);
    assert_eq!(second.checkpoint().to_bytes().unwrap(), whole.checkpoint().to_bytes().unwrap());
    let plain = trainer(NoisySquare::new(), plan(40)).run(&mut go_on).unwrap();
    assert_ne!(plain.best_validation, expected.best_validation);
}
