//! Degenerate data and settings: each gives a clear error or a sensible answer, never a panic or a NaN.

use crate::common::compare::{deviation, expectation};
use crate::common::{LOG_NOISE, draw_member, impulse, model, spec};
use mtds::parts::Tracker;
use mtds::parts::{
    AdaptiveImportance, CarriedState, Carriers, MonteCarlo, MonteCarloObjective, NoiseBelief, NoiseRule,
    Schedule, Trainer, TrainingPlan,
};
use mtds::random::stream;
use mtds::{Control, Family, Online, Points, Posterior, Result, Scaling, Sequence, Signal, Status, System};

fn family() -> System {
    model(spec(2, 1, 2), 1.0, LOG_NOISE, 42)
}

fn follow(model: &System, outputs: &Signal, settings: Online) -> Result<Tracker> {
    model.track(outputs, Some(&impulse(outputs.n_time())), settings, stream(20, 0))
}

/// The error's text must contain all of these.
fn says<T>(result: Result<T>, parts: &[&str]) {
    let text = result.err().expect("an error").to_string();
    assert!(parts.iter().all(|part| text.contains(part)), "`{text}` should say {parts:?}");
}

/// Mean 0 and deviation 1 in every dimension, within five Monte-Carlo errors.
fn is_standard_normal(posterior: &Posterior) {
    assert!(posterior.log_evidence().unwrap().abs() < 0.1, "{:?}", posterior.log_evidence());
    for d in 0..posterior.dim() {
        let (mean, error) = expectation(posterior, d, |x| x);
        assert!(mean.abs() < 5.0 * error, "mean {d}: {mean} ± {error}");
        let (std_dev, error) = deviation(posterior, d);
        assert!((std_dev - 1.0).abs() < 5.0 * error, "deviation {d}: {std_dev} ± {error}");
    }
}

#[test]
fn one_step_is_enough() {
    let model = family();
    let mut tracker = follow(&model, &Signal::column(vec![0.4]), Online::default()).unwrap();
    let posterior = tracker.posterior().unwrap();
    assert_eq!(posterior.diagnostics().status, Status::Converged);
    assert!(posterior.std_dev().iter().all(|s| *s > 0.0 && *s < 1.5));
    let forecast = tracker.forecast(3, Some(&Signal::column(vec![0.0; 3]))).unwrap();
    assert_eq!((forecast.first_step(), forecast.n_time()), (1, 3));
}

#[test]
fn no_observation_leaves_the_prior() {
    let model = family();
    is_standard_normal(
        follow(&model, &Signal::column(vec![f64::NAN; 30]), Online::default()).unwrap().posterior().unwrap(),
    );
    let mut fresh = Tracker::new(&model, Online::default(), stream(21, 0)).unwrap();
    assert!(fresh.posterior().is_none() && fresh.log_evidence().is_none());
    is_standard_normal(fresh.update().unwrap());
    let forecast = fresh.forecast(4, Some(&impulse(4))).unwrap();
    assert_eq!((forecast.first_step(), forecast.n_time()), (0, 4));
    assert!(forecast.variance().iter().all(|v| v.is_finite() && *v > 0.0));
}

/// All missing and δ uncertain: δ keeps its prior N(0.2, 0.3²) too.
#[test]
fn no_observation_leaves_the_prior_of_the_noise() {
    let model = family();
    let noise = NoiseBelief::Uncertain { mean: 0.2, std_dev: 0.3 };
    let settings = Online { noise, ..Online::default() };
    let tracker = follow(&model, &Signal::column(vec![f64::NAN; 12]), settings).unwrap();
    let posterior = tracker.posterior().unwrap();
    let (mean, error) = expectation(posterior, 2, |x| x);
    assert!((mean - 0.2).abs() < 5.0 * error, "{mean} ± {error}");
    let (std_dev, error) = deviation(posterior, 2);
    assert!((std_dev - 0.3).abs() < 5.0 * error, "{std_dev} ± {error}");
}

#[test]
fn a_constant_sequence_is_forecast_as_constant() {
    let model = family();
    let mut tracker = follow(&model, &Signal::column(vec![0.2; 60]), Online::default()).unwrap();
    let forecast = tracker.forecast(5, Some(&Signal::column(vec![0.0; 5]))).unwrap();
    for mean in forecast.mean() {
        assert!((mean - 0.2).abs() < 0.2, "{mean}, with noise of 0.3");
    }
    let family = Family::new(vec![Sequence::new("flat", Signal::column(vec![3.0; 5])).unwrap()]).unwrap();
    let scaling = Scaling::standard(&family).unwrap();
    assert_eq!((scaling.offset(0), scaling.scale(0)), (3.0, 1.0));
}

#[test]
fn infinities_are_named() {
    let model = family();
    says(
        follow(&model, &Signal::column(vec![0.0, f64::INFINITY]), Online::default()),
        &["step 2", "found inf", "NaN"],
    );
    says(Sequence::new("a", Signal::column(vec![f64::NEG_INFINITY])), &["`a`", "t = 1", "found -inf"]);
    let sequence = Sequence::new("a", Signal::column(vec![0.0, 0.0])).unwrap();
    says(
        sequence.with_inputs(Signal::column(vec![0.0, f64::NAN])),
        &["inputs of sequence `a`", "t = 2", "NaN"],
    );
    says(
        follow(&model, &Signal::column(vec![1e39]), Online::default()),
        &["step 1", "found 1000000", "single precision"],
    );
}

/// Finite, but so far out that every density underflows: a status, and an answer without NaN.
#[test]
fn an_impossible_observation_is_a_status() {
    let model = family();
    let mut tracker = follow(&model, &Signal::column(vec![1e30]), Online::default()).unwrap();
    let posterior = tracker.posterior().unwrap();
    assert_eq!(posterior.diagnostics().status, Status::NoSupport);
    assert_eq!((posterior.log_evidence(), posterior.diagnostics().ess), (None, 0.0));
    assert!(posterior.mean().iter().all(|x| x.is_finite()));
    assert!(tracker.forecast(2, Some(&impulse(2))).unwrap().mean().iter().all(|x| x.is_finite()));
}

#[test]
fn wrong_widths_are_named() {
    let model = family();
    let wide = Signal::new(3, 2, vec![0.0; 6]).unwrap();
    says(follow(&model, &wide, Online::default()), &["outputs at step 1", "expected 1", "found 2"]);
    let outputs = Signal::column(vec![0.0; 3]);
    let track = |inputs| model.track(&outputs, inputs, Online::default(), stream(0, 0)).map(|_| ());
    says(track(None), &["inputs", "1 columns", "0 columns"]);
    says(track(Some(&wide)), &["inputs", "1 columns", "2 columns"]);
    says(track(Some(&impulse(2))), &["inputs", "at least 3 steps", "2 steps"]);
    let other = Family::new(vec![Sequence::new("a", wide.clone()).unwrap()]).unwrap();
    says(MonteCarloObjective::new(family(), &other, None, MonteCarlo::default()), &["inputs", "expected"]);
}

#[test]
fn an_empty_family_is_refused() {
    says(Family::new(vec![]), &["family is empty", "at least one sequence"]);
    let gone = Sequence::new("gone", Signal::column(vec![f64::NAN; 3])).unwrap();
    says(Family::new(vec![gone]), &["family is empty", "missing"]);
    says(Sequence::new("none", Signal::new(0, 1, vec![]).unwrap()), &["`none`", "at least one time step"]);
}

#[test]
fn more_components_than_samples_still_work() {
    let model = family();
    let importance = AdaptiveImportance {
        components: 40,
        samples: 10,
        first_samples: 15,
        final_samples: 30,
        ..AdaptiveImportance::default()
    };
    let outputs = draw_member(&model, &impulse(20), 20, &mut stream(22, 0)).1;
    let settings = Online { importance, ..Online::default() };
    let tracker = follow(&model, &outputs, settings).unwrap();
    let posterior = tracker.posterior().unwrap();
    assert_eq!(posterior.diagnostics().status, Status::LowEffectiveSampleSize);
    assert!(posterior.mean().iter().chain(&posterior.std_dev()).all(|x| x.is_finite()));
}

#[test]
fn the_smallest_model_works() {
    let model = model(spec(1, 1, 1), 1.0, LOG_NOISE, 43);
    let outputs = draw_member(&model, &impulse(30), 30, &mut stream(23, 0)).1;
    let settings = Online { history: Some(10), ..Online::default() };
    let mut tracker = follow(&model, &outputs, settings).unwrap();
    assert!(tracker.posterior().unwrap().diagnostics().ess > 1000.0);
    let forecast = tracker.forecast(1, Some(&Signal::column(vec![0.0]))).unwrap();
    assert!(forecast.mean()[0].is_finite());
}

#[test]
fn forecasts_need_steps_and_inputs() {
    let model = family();
    let mut tracker = follow(&model, &Signal::column(vec![0.1; 6]), Online::default()).unwrap();
    says(tracker.forecast(0, Some(&impulse(1))), &["horizon", "found 0"]);
    says(tracker.forecast(3, None), &["inputs", "1 columns"]);
    says(tracker.forecast(3, Some(&impulse(2))), &["inputs", "at least 3 steps"]);
    let gap = Signal::column(vec![0.0, f64::NAN, 0.0]);
    says(tracker.forecast(3, Some(&gap)), &["future inputs", "step 8", "NaN"]);
    assert_eq!(tracker.forecast(1, Some(&gap)).unwrap().n_time(), 1);
}

#[test]
fn settings_out_of_range_are_named() {
    let model = family();
    let start = |settings: Online| Tracker::new(&model, settings, stream(0, 0)).map(|_| ());
    for history in [0, 1, 9] {
        says(start(Online { history: Some(history), ..Online::default() }), &["history", "10 steps"]);
    }
    says(start(Online { every: 0, ..Online::default() }), &["every", "found 0"]);
    for std_dev in [0.0, -1.0, f64::NAN] {
        let noise = NoiseBelief::Uncertain { mean: 0.0, std_dev };
        says(start(Online { noise, ..Online::default() }), &["noise", "standard deviation"]);
    }
    let noise = NoiseBelief::Uncertain { mean: f64::NAN, std_dev: 1.0 };
    says(start(Online { noise, ..Online::default() }), &["NaN"]);
    let importance = AdaptiveImportance { samples: 0, ..AdaptiveImportance::default() };
    says(start(Online { importance, ..Online::default() }), &["samples", "found 0"]);
}

#[test]
fn a_carried_state_of_no_points_is_empty() {
    let model = family();
    let outputs = draw_member(&model, &impulse(10), 10, &mut stream(24, 0)).1;
    let tracker = follow(&model, &outputs, Online::default()).unwrap();
    let posterior = tracker.posterior().unwrap();
    let states = vec![0.5; 3 * posterior.draws().len()];
    let carried =
        CarriedState::fit((posterior.draws(), posterior.weights()), posterior.mixture().unwrap(), 2, &states)
            .unwrap();
    assert_eq!(carried.states(&Points::zeros(2, 0)), Vec::<f64>::new());
    let constant = carried.states(posterior.draws());
    assert!(constant.iter().all(|x| (x - 0.5).abs() < 1e-9));
}

/// One member without a single output, one of length 1: learning goes on, by either kind of gradient.
#[test]
fn a_member_without_outputs_is_learned_around() {
    let model = family();
    for carriers in [Carriers::Weighted, Carriers::Resampled(3)] {
        let outputs = draw_member(&model, &impulse(20), 20, &mut stream(25, 0)).1;
        let sequences = vec![
            Sequence::new("full", outputs).unwrap(),
            Sequence::new("gone", Signal::column(vec![f64::NAN; 15])).unwrap(),
            Sequence::new("short", Signal::column(vec![0.3])).unwrap(),
        ];
        let family = Family::new(sequences).unwrap().with_common_inputs(impulse(20)).unwrap();
        let settings = MonteCarlo {
            particles: Schedule::constant(100.0).unwrap(),
            carriers,
            noise: NoiseRule::Learned,
            validation_particles: 64,
            ..MonteCarlo::default()
        };
        let objective = MonteCarloObjective::new(model.clone(), &family, Some(&family), settings).unwrap();
        let plan = TrainingPlan { steps: 8, ..TrainingPlan::default() };
        let mut trainer = Trainer::new(objective, model.parameters().to_vec(), plan, stream(26, 0)).unwrap();
        let outcome = trainer.run(&mut |_| Control::Continue).unwrap();
        assert!(outcome.parameters.iter().all(|x| x.is_finite()));
        assert_ne!(outcome.parameters, model.parameters());
        assert!(outcome.history.steps().iter().all(|s| s.loss.is_finite() && s.bound.is_finite()));
    }
}
