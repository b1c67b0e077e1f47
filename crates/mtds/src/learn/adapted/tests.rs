use super::*;
use crate::base::Lds;
use crate::family::Scaling;
use crate::generator::{Activation, Skip};
use crate::learn::toy::family;
use crate::learn::{Checkpoint, Control, MonteCarlo, MonteCarloObjective, Schedule, Trainer, TrainingPlan};
use crate::system::Architecture;

fn model() -> System {
    let spec = Architecture::new(Lds::new(3, 2, 1), 2)
        .hidden(&[5], Activation::Tanh)
        .skip(Skip::Affine)
        .share("feedthrough")
        .adapt("initial_state");
    System::initialise(spec, Scaling::identity(2, 1), &mut stream(3, 0)).unwrap()
}

fn objective(own_inputs: bool, settings: Adapted) -> AdaptedObjective {
    AdaptedObjective::new(model(), &family(own_inputs), Some(&family(own_inputs)), settings).unwrap()
}

/// The bound of one step with these random numbers, from these proposals.
fn loss(objective: &mut AdaptedObjective, parameters: &[f32], proposals: &[Proposal]) -> (f64, Vec<f32>) {
    objective.proposals = proposals.to_vec();
    let mut gradient = vec![0.0; parameters.len()];
    let step = objective.step(parameters, &mut gradient, 5);
    (-step.log_evidence.iter().sum::<f64>() / 3.0, gradient)
}

#[test]
fn gradient_matches_central_differences_of_the_bound() {
    for own_inputs in [false, true] {
        let mut objective = objective(own_inputs, Adapted { particles: 20, ..Adapted::default() });
        let parameters = objective.model.parameters().to_vec();
        let proposals = objective.proposals.clone();
        let (_, gradient) = loss(&mut objective, &parameters, &proposals);
        let mut difference = |i: usize, h: f32| {
            let (mut up, mut down) = (parameters.clone(), parameters.clone());
            up[i] += h;
            down[i] -= h;
            let width = f64::from(up[i] - down[i]);
            (loss(&mut objective, &up, &proposals).0 - loss(&mut objective, &down, &proposals).0) / width
        };
        for i in (0..parameters.len()).step_by(3) {
            let numeric = (4.0 * difference(i, 2.5e-3) - difference(i, 5e-3)) / 3.0;
            let error = (numeric - f64::from(gradient[i])).abs();
            assert!(error < 2e-3 * (1.0 + numeric.abs()), "{i}: {numeric} {}", gradient[i]);
        }
    }
}

/// Adapted and prior draws estimate the same evidence; adapted ones with less spread.
#[test]
fn the_bound_agrees_with_the_prior_s() {
    let settings = Adapted { particles: 256, ..Adapted::default() };
    let mut adapted = objective(false, settings);
    let parameters = adapted.model.parameters().to_vec();
    let own = adapted.validate(&parameters).unwrap().unwrap();
    let many = MonteCarlo { validation_particles: 1 << 16, ..MonteCarlo::default() };
    let mut prior = MonteCarloObjective::new(model(), &family(false), Some(&family(false)), many).unwrap();
    let reference = prior.validate(&parameters).unwrap().unwrap();
    assert!((own - reference).abs() < 3e-3, "{own} {reference}");
}

#[test]
fn likelihoods_and_code_gradients_agree_with_central_differences() {
    let (model, batch) = (model(), OwnBatch::new(&family(true)));
    let at = |i: usize, m: usize, d: usize| (i as f64 - 1.0) * 0.3 + (m as f64 * 0.37 + d as f64).sin();
    let run = |shift: [f64; 2]| {
        let codes = Codes::from_fn(3 * 16, 2, |m, d| at(m / 16, m % 16, d) + shift[d]);
        model.own_gradient(model.parameters(), &codes, &batch, OwnPull::Codes)
    };
    let here = run([0.0, 0.0]);
    for d in 0..2 {
        let h = 0.01;
        let moved = |step: f64| {
            let mut shift = [0.0; 2];
            shift[d] = step;
            run(shift).log_likelihoods
        };
        let (up, down, up2, down2) = (moved(h), moved(-h), moved(2.0 * h), moved(-2.0 * h));
        for m in 0..48 {
            let near = (up[m] - down[m]) / (2.0 * h);
            let far = (up2[m] - down2[m]) / (4.0 * h);
            let numeric = (4.0 * near - far) / 3.0;
            let found = f64::from(here.codes[m * 2 + d]);
            assert!((numeric - found).abs() < 5e-3 * (1.0 + numeric.abs()), "{m} {d}: {numeric} {found}");
        }
    }
}

#[test]
fn learning_raises_the_bound_matches_the_noise_and_resumes_to_the_same_bits() {
    let floor = Schedule::constant(-1.0).unwrap();
    let noise = NoiseRule::Matched { damping: 0.1, floor };
    let make = || objective(false, Adapted { noise: noise.clone(), l2: 0.1, ..Adapted::default() });
    let plan = TrainingPlan {
        steps: 200,
        learning_rate: Schedule::constant(1e-2).unwrap(),
        ..TrainingPlan::default()
    };
    let parameters = make().model.parameters().to_vec();
    let mut whole = Trainer::new(make(), parameters.clone(), plan.clone(), stream(9, 0)).unwrap();
    let outcome = whole.run(&mut |_| Control::Continue).unwrap();
    let steps = outcome.history.steps();
    assert!(steps[steps.len() - 1].bound > steps[0].bound + 0.1);
    let places = super::super::rules::log_noise_places(&make().model);
    assert!(outcome.parameters[places].iter().all(|&s| (-1.0..0.0).contains(&s)));

    let mut first = Trainer::new(make(), parameters, plan, stream(9, 0)).unwrap();
    first.run(&mut |p| if p.step == 23 { Control::Stop } else { Control::Continue }).unwrap();
    let checkpoint = Checkpoint::from_bytes(&first.checkpoint().to_bytes().unwrap()).unwrap();
    let mut second = Trainer::resume(make(), checkpoint).unwrap();
    let resumed = second.run(&mut |_| Control::Continue).unwrap();
    assert_eq!(resumed.parameters, outcome.parameters);
}

#[test]
fn one_and_two_threads_give_the_same_bits() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let objective = objective(true, Adapted::default());
            let parameters = objective.model.parameters().to_vec();
            let plan = TrainingPlan { steps: 5, ..TrainingPlan::default() };
            let mut trainer = Trainer::new(objective, parameters, plan, stream(5, 0)).unwrap();
            trainer.run(&mut |_| Control::Continue).unwrap().parameters
        })
    };
    let bits = |v: Vec<f32>| v.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    assert_eq!(bits(run(1)), bits(run(2)));
}

#[test]
fn settings_and_states_that_make_no_sense_are_refused() {
    let refused = |settings: Adapted| {
        AdaptedObjective::new(model(), &family(false), None, settings).unwrap_err().to_string()
    };
    assert!(refused(Adapted { l2: f64::NAN, ..Adapted::default() }).contains("l2"));
    assert!(refused(Adapted { first_particles: 0, ..Adapted::default() }).contains("first_particles"));
    let floor = Schedule::constant(-1.0).unwrap();
    let noise = NoiseRule::Matched { damping: 0.0, floor };
    assert!(refused(Adapted { noise, ..Adapted::default() }).contains("damping"));
    let one = vec![Proposal::prior(2)];
    let wrong = AdaptedObjective::from_proposals(model(), &family(false), None, Adapted::default(), one);
    assert!(wrong.is_err());
    let mut objective = objective(false, Adapted::default());
    assert!(objective.restore(&serde_json::Value::Null).is_err());
    let good = objective.state();
    let mut short = good.clone();
    short[1]["mean"] = serde_json::json!([0.0]);
    assert!(objective.restore(&short).is_err());
    assert!(objective.restore(&good).is_ok());
}
