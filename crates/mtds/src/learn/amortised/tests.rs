//! Tests of the inference network.

use super::*;
use crate::base::Lds;
use crate::family::{Family, Scaling, Sequence, Signal};
use crate::generator::Activation;
use crate::infer::{Correction, Method, NoiseBelief, Proposed, Status};
use crate::learn::CodeUsage;
use crate::learn::elbo::{Gaussians, WeightedGradient};
use crate::learn::toy::family;
use crate::learn::{
    Checkpoint, Control, Estimator, HardEnding, HardPhase, Objective, Schedule, Trainer, TrainingPlan,
    Variational, VariationalObjective,
};
use crate::random::stream;
use crate::system::{Architecture, System};

fn model() -> System {
    let spec = Architecture::new(Lds::new(3, 2, 1), 2).hidden(&[5], Activation::Tanh);
    System::initialise(spec, Scaling::identity(2, 1), &mut stream(3, 0)).unwrap()
}

fn objective(settings: Variational) -> VariationalObjective {
    let network = InferenceNetwork::for_model(&model(), 6).unwrap();
    let family = family(true);
    VariationalObjective::amortised(model(), (&family, Some(&family)), settings, network).unwrap()
}

#[test]
fn gradients_match_central_differences_through_the_network() {
    for estimator in [Estimator::Elbo, Estimator::ImportanceWeighted(WeightedGradient::Plain)] {
        let mut objective = objective(Variational { estimator, ..Variational::default() });
        let n_model = objective.model().n_parameters();
        let mut parameters = objective.first_parameters(&mut stream(8, 0));
        for (at, w) in parameters[n_model..].iter_mut().enumerate() {
            *w += 0.2 * (at as f32 * 1.7).sin();
        }
        let mut loss = |p: &[f32]| {
            let mut gradient = vec![0.0; p.len()];
            let report = objective.gradient(p, &mut gradient, 1, &mut stream(5, 0)).unwrap();
            (report.loss, gradient)
        };
        let gradient = loss(&parameters).1;
        let mut at = |i: usize, h: f32| {
            let (mut up, mut down) = (parameters.clone(), parameters.clone());
            up[i] += h;
            down[i] -= h;
            (loss(&up).0 - loss(&down).0) / f64::from(up[i] - down[i])
        };
        for i in (0..n_model).step_by(29).chain((n_model..parameters.len()).step_by(7)) {
            // Two roundings to f32 lie between a weight and the loss, so steps are larger than elsewhere.
            let numeric = (4.0 * at(i, 1e-2) - at(i, 2e-2)) / 3.0;
            let found = f64::from(gradient[i]);
            assert!((numeric - found).abs() < 3e-3 * (1.0 + numeric.abs()), "{i}: {numeric} {found}");
        }
    }
}

#[test]
fn a_sequence_reads_the_same_alone_and_among_longer_ones() {
    let network = InferenceNetwork::for_model(&model(), 6).unwrap();
    let mut beliefs = NetworkBeliefs::new(network, &family(true)).unwrap();
    let parameters = network.first(0.3, &mut stream(1, 0));
    let all = beliefs.gaussians(&parameters, &[0, 1, 2]).unwrap();
    for j in 0..3 {
        let alone = beliefs.gaussians(&parameters, &[j]).unwrap();
        for (a, b) in alone.mean.iter().zip(all.mean_of(j)) {
            assert!((a - b).abs() < 1e-6, "{j}: {a} {b}");
        }
        assert!((alone.log_std_dev[0] - 0.3f64.ln()).abs() < 1e-5);
    }
    assert!(all.mean_of(0) != all.mean_of(2));
}

#[test]
fn order_in_time_and_missing_outputs_are_read() {
    let network = InferenceNetwork::for_model(&model(), 6).unwrap();
    let parameters = network.first(0.3, &mut stream(1, 0));
    let read = |values: Vec<f64>| -> Gaussians {
        let sequence = Sequence::new("a", Signal::new(3, 2, values).unwrap()).unwrap();
        let sequence = sequence.with_inputs(Signal::column(vec![0.5; 3])).unwrap();
        let family = Family::new(vec![sequence]).unwrap();
        NetworkBeliefs::new(network, &family).unwrap().gaussians(&parameters, &[0]).unwrap()
    };
    let here = read(vec![0.1, 0.2, 0.3, 0.4, 0.5, 0.0]);
    assert_ne!(here, read(vec![0.5, 0.0, 0.3, 0.4, 0.1, 0.2]));
    assert_ne!(here, read(vec![0.1, 0.2, 0.3, 0.4, 0.5, f64::NAN]));
}

#[test]
fn dividing_by_a_spread_divides_means_and_deviations() {
    let network = InferenceNetwork::for_model(&model(), 6).unwrap();
    let mut beliefs = NetworkBeliefs::new(network, &family(true)).unwrap();
    let mut parameters = network.first(0.01, &mut stream(1, 0));
    let before = beliefs.gaussians(&parameters, &[0, 1, 2]).unwrap();
    let spread = [0.2, 3.0];
    for (at, factor) in network.divide(&mut parameters, &spread) {
        parameters[at] *= factor;
    }
    let after = beliefs.gaussians(&parameters, &[0, 1, 2]).unwrap();
    for at in 0..6 {
        assert!((after.mean[at] - before.mean[at] / spread[at % 2]).abs() < 1e-5);
        assert!((after.log_std_dev[at] - before.log_std_dev[at] + spread[at % 2].ln()).abs() < 1e-4);
    }
}

/// Growth towards a level of one's own; the code has to say the level.
fn levels(n: usize, seed: u64) -> Family {
    use rand::RngExt;
    let sequence = |i: usize| {
        let mut random = stream(seed, i as u64);
        let level: f64 = random.random_range(-1.0..1.0);
        let n_time = random.random_range(10..20);
        let values = (0..n_time).map(|_| level + random.random_range(-0.3..0.3)).collect();
        Sequence::new(format!("{i}"), Signal::column(values)).unwrap()
    };
    Family::new((0..n).map(sequence).collect()).unwrap()
}

#[test]
fn a_learned_network_is_a_posterior_for_new_sequences() {
    let spec = Architecture::new(Lds::new(1, 1, 0), 1).share("emission").share("decay");
    let model = System::initialise(spec, Scaling::identity(1, 0), &mut stream(2, 0)).unwrap();
    let network = InferenceNetwork::for_model(&model, 8).unwrap();
    let (training, held_out, new) = (levels(60, 1), levels(20, 2), levels(20, 3));
    let hard = HardPhase { steps: 100, std_dev: 0.01, ending: HardEnding::Rescaled };
    let settings = Variational { hard: Some(hard), batch: Some(20), ..Variational::default() };
    let make = || {
        let families = (&training, Some(&held_out));
        VariationalObjective::amortised(model.clone(), families, settings.clone(), network).unwrap()
    };
    let mut plan = TrainingPlan {
        steps: 800,
        learning_rate: Schedule::constant(1e-2).unwrap(),
        clip_norm: Some(5.0),
        ..TrainingPlan::default()
    };
    plan.stopping.every = 400;
    let start = make().first_parameters(&mut stream(8, 0));
    let mut whole = Trainer::new(make(), start.clone(), plan.clone(), stream(9, 0)).unwrap();
    let outcome = whole.run(&mut |_| Control::Continue).unwrap();

    let mut first = Trainer::new(make(), start, plan, stream(9, 0)).unwrap();
    first.run(&mut |p| if p.step == 130 { Control::Stop } else { Control::Continue }).unwrap();
    let checkpoint = Checkpoint::from_bytes(&first.checkpoint().to_bytes().unwrap()).unwrap();
    let mut second = Trainer::resume(make(), checkpoint).unwrap();
    assert_eq!(second.run(&mut |_| Control::Continue).unwrap().parameters, outcome.parameters);

    let weights = whole.objective().beliefs_at(&outcome.parameters).unwrap().to_vec();
    let learned = LearnedNetwork::new(network, weights).unwrap();
    let mut objective = whole.into_objective();
    let usage = CodeUsage::of(&objective.codes_at(&outcome.parameters).unwrap());
    assert!(usage.divergence[0] > 0.5, "{usage:?}");
    let model = objective.model_at(&outcome.parameters).unwrap();
    let settings = Proposed::default();
    let mut shares = 0.0;
    for sequence in new.sequences() {
        let data = (sequence.outputs(), None);
        let exact = NoiseBelief::Learned;
        let found = model.infer_amortised(&learned, data, exact, &settings, &mut stream(6, 0)).unwrap();
        assert_eq!(found.diagnostics().method, Method::Amortised);
        assert_eq!(found.diagnostics().status, Status::Converged);
        shares += found.diagnostics().ess / 1024.0 / 20.0;
        let quick = Proposed { correction: Correction::None, ..settings.clone() };
        let quick = model.infer_amortised(&learned, data, exact, &quick, &mut stream(6, 0)).unwrap();
        assert!((quick.mean()[0] - found.mean()[0]).abs() < 0.5);
    }
    assert!(shares > 0.5, "{shares}");
}

#[test]
fn networks_of_other_sizes_are_refused() {
    let network = InferenceNetwork::for_model(&model(), 6).unwrap();
    assert!(InferenceNetwork::for_model(&model(), 0).is_err());
    let family = levels(3, 1);
    let settings = Variational::default;
    assert!(VariationalObjective::amortised(model(), (&family, None), settings(), network).is_err());
    assert!(LearnedNetwork::new(network, vec![0.0; 3]).is_err());
    let mut weights = vec![0.0; network.n_parameters()];
    weights[0] = f32::NAN;
    assert!(LearnedNetwork::new(network, weights).is_err());
    let stored =
        serde_json::to_string(&LearnedNetwork::new(network, vec![0.1; network.n_parameters()]).unwrap());
    let stored = stored.unwrap();
    assert!(serde_json::from_str::<LearnedNetwork>(&stored).is_ok());
    assert!(
        serde_json::from_str::<LearnedNetwork>(&stored.replace("\"d_hidden\":6", "\"d_hidden\":5")).is_err()
    );
}
