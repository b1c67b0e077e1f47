//! A graphics card against the processor: likelihoods and gradients, whole courses of learning, checkpoints that move between them, forecasts.
//! Skipped, in words, where there is no card.

use crate::common::{layered_fit, normals, styled as family};
use mtds::parts::{
    Activation, Codes, Front, InputSkip, OwnBatch, OwnPull, OwnResult, OwnWeights, Products, Rnn,
};
use mtds::parts::{
    CodeSearch, HardEnding, HardPhase, Interpolation, NoiseRule, Schedule, Trainer, TrainingPlan,
    Variational, VariationalObjective,
};
use mtds::random::stream;
use mtds::{Architecture, Control, Device, Fit, Model, Scaling, Sequence, System};

fn card() -> Option<Device> {
    match Device::cuda(0, Products::Exact, None) {
        Ok(device) => Some(device),
        Err(why) => {
            crate::skip::skip("learning on a card", &why.to_string());
            None
        }
    }
}

fn systems() -> Vec<System> {
    let front = |skip| Front { skip, ..Front::new(3, 21, 5) };
    let specs = [
        Architecture::new(Rnn::new(7, 3, 3), 2),
        Architecture::new(Rnn::new(30, 3, 5), 3).behind(front(InputSkip::None)).adapt("feedthrough"),
        Architecture::new(Rnn::new(12, 3, 8), 2)
            .behind(front(InputSkip::Inputs))
            .hidden(&[9, 4], Activation::Tanh),
    ];
    let scaling = |spec: &Architecture| Scaling::identity(3, spec.d_input());
    specs
        .into_iter()
        .map(|spec| System::initialise(spec.clone(), scaling(&spec), &mut stream(8, 0)).unwrap())
        .collect()
}

fn near(got: &[f32], want: &[f32], about: &str) {
    assert_eq!(got.len(), want.len(), "{about}");
    let norm = |x: &[f32]| x.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    let difference: Vec<f32> = got.iter().zip(want).map(|(a, b)| a - b).collect();
    assert!(
        norm(&difference) <= 2e-5 * (1.0 + norm(want)),
        "{about}: {} of {}",
        norm(&difference),
        norm(want)
    );
}

#[test]
fn gradients_of_systems_are_those_of_the_processor() {
    let Some(card) = card() else { return };
    for (which, system) in systems().into_iter().enumerate() {
        let batch = OwnBatch::new(&family(5, 23));
        for draws in [1, 3] {
            let random = &mut stream(3, draws as u64);
            let values = normals(5 * draws * system.d_code(), random);
            let codes = Codes::from_fn(5 * draws, system.d_code(), |i, d| values[i * system.d_code() + d]);
            let fixed: Vec<f64> = (0..5 * draws).map(|i| 0.1 * i as f64).collect();
            let on_card = system.clone().on(&card);
            for pull in [
                OwnPull::Nothing,
                OwnPull::Codes,
                OwnPull::Parameters(OwnWeights::Equal(0.3)),
                OwnPull::Both(OwnWeights::Fixed(&fixed)),
            ] {
                let about = format!("system {which}, {draws} draws, {pull:?}");
                let run = |system: &System| -> OwnResult {
                    system.own_gradient(system.parameters(), &codes, &batch, pull)
                };
                let (want, got) = (run(&system), run(&on_card));
                assert_eq!(got.log_likelihoods.len(), want.log_likelihoods.len(), "{about}");
                for (got, want) in got.log_likelihoods.iter().zip(&want.log_likelihoods) {
                    assert!(
                        (got - want).abs() < 2e-5 * (1.0 + want.abs()),
                        "{about}: {got}, expected {want}"
                    );
                }
                let single = |x: &[f64]| x.iter().map(|&x| x as f32).collect::<Vec<_>>();
                near(&single(&got.weights), &single(&want.weights), &about);
                near(&got.parameters, &want.parameters, &about);
                near(&got.codes, &want.codes, &about);
            }
        }
    }
    assert_eq!(card.trouble(), None);
}

/// A layered fit in minibatches of moved segments, with everything that a motion asks for.
fn fit(device: &Device) -> Fit {
    Fit { device: device.clone(), ..layered_fit() }
}

/// Losses step by step, and the model.
fn learned(device: &Device) -> (Vec<f64>, Model) {
    let mut losses = vec![];
    let model = fit(device)
        .run(&family(9, 90), &mut |progress| {
            losses.extend(progress.step.map(|step| step.loss));
            Control::Continue
        })
        .unwrap()
        .unwrap();
    (losses, model)
}

#[test]
fn loss_curves_are_those_of_the_processor_and_repeat_to_the_bit() {
    let Some(card) = card() else { return };
    let (want, _) = learned(&Device::cpu());
    let ((got, model), (again, same)) = (learned(&card), learned(&card));
    assert_eq!(got, again, "the same bits");
    assert_eq!(model.system.parameters(), same.system.parameters(), "the same bits");
    assert_eq!(got.len(), 200);
    let worst = |steps: std::ops::Range<usize>| {
        let pairs = got[steps.clone()].iter().zip(&want[steps]);
        pairs.map(|(a, b)| (a - b).abs() / (1.0 + b.abs())).fold(0.0, f64::max)
    };
    // Adam turns rounding of small gradients into steps of its own, so that two courses part slowly.
    let found = [worst(0..20), worst(20..100), worst(100..200)];
    println!("losses differ by at most {found:?} of their size in steps 1–20, 21–100, 101–200");
    assert!(found[0] < 1e-4 && found[1] < 1e-2 && found[2] < 5e-2, "{found:?}");
}

#[test]
fn a_checkpoint_moves_between_card_and_processor() {
    let Some(card) = card() else { return };
    let (family, cpu) = (family(9, 90), Device::cpu());
    for (first, second) in [(&card, &cpu), (&cpu, &card), (&card, &card)] {
        let mut losses = vec![];
        let mut fitting = fit(first).begin(&family).unwrap();
        let stopped = fitting.run(&mut |progress| match progress.step {
            Some(step) if step.step == 80 => Control::Stop,
            _ => Control::Continue,
        });
        assert!(stopped.unwrap().is_none());
        let mut resumed = fit(second).resume(&family, &fitting.checkpoint().unwrap()).unwrap();
        let model = resumed.run(&mut |progress| {
            losses.extend(progress.step.map(|step| step.loss));
            Control::Continue
        });
        let whole = learned(second);
        assert_eq!(losses.len(), 120);
        let last = |losses: &[f64]| losses[losses.len() - 20..].iter().sum::<f64>();
        let (got, want) = (last(&losses), last(&whole.0));
        assert!((got - want).abs() < 0.05 * want.abs(), "{got}, expected {want}");
        if std::ptr::eq(first, second) {
            assert_eq!(losses, whole.0[80..], "the same bits");
            assert_eq!(
                model.unwrap().unwrap().system.parameters(),
                whole.1.system.parameters(),
                "the same bits"
            );
        }
    }
}

#[test]
fn forecasts_are_those_of_the_processor() {
    let Some(card) = card() else { return };
    let (_, model) = learned(&Device::cpu());
    let family = family(12, 60);
    let seen = family.sequence(11);
    let history = Sequence::new("new", seen.outputs().slice(0..40))
        .unwrap()
        .with_inputs(seen.inputs().unwrap().clone())
        .unwrap();
    let mean = |device: &Device| model.clone().on(device).forecast(&history, 20).unwrap().mean();
    let (got, want) = (mean(&card), mean(&Device::cpu()));
    for (got, want) in got.iter().zip(&want) {
        assert!((got - want).abs() < 0.1, "{got}, expected {want}");
    }
    assert_eq!(card.trouble(), None);
}

/// Losses, bounds and norms of 60 steps, and the parameters after them: a card takes such steps whole.
fn stepped(device: &Device, noise: NoiseRule) -> (Vec<[f64; 3]>, Vec<f32>) {
    let settings = Variational {
        draws: 2,
        batch: Some(4),
        hard: Some(HardPhase { steps: 20, std_dev: 0.01, ending: HardEnding::Rescaled }),
        search: Some(CodeSearch { every: 15, until: 30, points: 31 }),
        temperature: Schedule::constant(0.5).unwrap(),
        noise,
        ..Variational::default()
    };
    let plan = TrainingPlan {
        steps: 60,
        learning_rate: Schedule::constant(1e-3).unwrap(),
        clip_norm: Some(30.0),
        averaging: Some(0.9),
        ..TrainingPlan::default()
    };
    let system = systems().swap_remove(1).on(device);
    let objective = VariationalObjective::new(system, &family(9, 40), None, settings).unwrap();
    let first = objective.first_parameters(&mut stream(6, 0));
    let mut trainer = Trainer::new(objective, first, plan, stream(7, 0)).unwrap();
    let mut seen = vec![];
    let outcome = trainer.run(&mut |step| {
        seen.push([step.loss, step.bound, step.gradient_norm]);
        Control::Continue
    });
    (seen, outcome.unwrap().parameters)
}

#[test]
fn whole_steps_on_a_card_are_those_of_the_processor() {
    let Some(card) = card() else { return };
    let floor = Schedule::new(Interpolation::Linear, vec![(1, -1.0), (60, -3.0)]).unwrap();
    for noise in [NoiseRule::Learned, NoiseRule::Matched { damping: 0.2, floor }] {
        let run = |device: &Device| stepped(device, noise.clone());
        let ((want, parameters), (got, on_card)) = (run(&Device::cpu()), run(&card));
        assert_eq!(got.len(), want.len());
        for (step, (got, want)) in got.iter().zip(&want).enumerate() {
            for (got, want) in got.iter().zip(want) {
                let tolerance = if step < 20 { 1e-4 } else { 1e-2 };
                assert!(
                    (got - want).abs() < tolerance * (1.0 + want.abs()),
                    "{noise:?}, step {step}: {got}, expected {want}"
                );
            }
        }
        let worst = on_card.iter().zip(&parameters).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 2e-2, "{noise:?}: {worst}");
        assert_eq!(run(&card).1, on_card, "{noise:?}: the same bits");
    }
}
