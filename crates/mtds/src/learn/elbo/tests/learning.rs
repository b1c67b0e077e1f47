//! Whole runs: phases, exact resume, trouble that is said.

use super::*;
use crate::base::StochasticLds;
use crate::base::emission::NoiseForm;
use crate::family::{Sequence, Signal};
use crate::front::Front;
use crate::learn::rules::log_noise_places;
use crate::learn::{Checkpoint, ScalingRule};
use crate::system::{Codes, OwnPull};

fn hard(steps: u64, ending: HardEnding) -> Option<HardPhase> {
    Some(HardPhase { steps, std_dev: 0.01, ending })
}

fn trainer(settings: Variational, plan: TrainingPlan) -> Trainer<VariationalObjective> {
    let held_out = family(false);
    let objective = VariationalObjective::new(model(), &family(false), Some(&held_out), settings).unwrap();
    let start = objective.first_parameters(&mut stream(8, 0));
    Trainer::new(objective, start, plan, stream(9, 0)).unwrap()
}

#[test]
fn learning_raises_the_bound_and_resumes_to_the_same_bits() {
    let doubly = Estimator::ImportanceWeighted(WeightedGradient::DoublyReparameterised);
    for (estimator, batch, draws) in
        [(Estimator::Elbo, None, 16), (doubly, Some(2), 16), (Estimator::Elbo, Some(2), 1)]
    {
        let settings = Variational {
            estimator,
            batch,
            draws,
            hard: hard(40, HardEnding::Rescaled),
            generator: GroupRule { rate: 1.0, l2: 0.1 },
            shared: GroupRule { rate: 0.3, l2: 0.1 },
            ..Variational::default()
        };
        let mut plan = plan(160, 1e-2);
        plan.stopping.every = 50;
        plan.clip_norm = Some(10.0);
        let mut whole = trainer(settings.clone(), plan.clone());
        let outcome = whole.run(&mut |p| go_on(p)).unwrap();
        let validations = outcome.history.validations();
        assert!(validations.last().unwrap().bound > validations[0].bound, "{validations:?}");
        for stop in [17, 40, 93] {
            let mut first = trainer(settings.clone(), plan.clone());
            first.run(&mut |p| if p.step == stop { Control::Stop } else { Control::Continue }).unwrap();
            let checkpoint = Checkpoint::from_bytes(&first.checkpoint().to_bytes().unwrap()).unwrap();
            let fresh = trainer(settings.clone(), plan.clone()).into_objective();
            let mut second = Trainer::resume(fresh, checkpoint).unwrap();
            second.run(&mut |p| go_on(p)).unwrap();
            assert_eq!(second.parameters(), whole.parameters());
        }
    }
}

#[test]
fn rescaling_keeps_every_likelihood_and_gives_codes_unit_spread() {
    let end = |ending: HardEnding| {
        let settings = Variational { hard: hard(60, ending), ..Variational::default() };
        let mut trainer = trainer(settings, plan(60, 1e-2));
        let outcome = trainer.run(&mut |p| go_on(p)).unwrap();
        let fitted = learned(trainer.into_objective(), outcome);
        let codes = Codes::from_fn(3 * 16, 2, |m, d| {
            let (j, s) = (m / 16, m % 16);
            fitted.codes.mean_of(j)[d] + (s as f64 - 8.0) * fitted.codes.log_std_dev_of(j)[d].exp()
        });
        let batch = OwnBatch::new(&family(false));
        let scored = fitted.model.own_gradient(fitted.model.parameters(), &codes, &batch, OwnPull::Nothing);
        (scored.log_likelihoods, fitted.codes)
    };
    let (before, unchanged) = end(HardEnding::Unchanged);
    let (after, rescaled) = end(HardEnding::Rescaled);
    assert!(unchanged.spread().iter().all(|s| (s - 1.0).abs() > 0.05), "{:?}", unchanged.spread());
    for s in rescaled.spread() {
        assert!((s - 1.0).abs() < 1e-5);
    }
    for (a, b) in before.iter().zip(&after) {
        assert!((a - b).abs() < 2e-3 * (1.0 + a.abs()), "{a} {b}");
    }
}

/// A search finds at least as much as its best point, never lowers what a belief has, and leaves deviations alone.
#[test]
fn a_search_jumps_to_the_best_point_and_only_upwards() {
    let search = CodeSearch { every: 3, until: 6, points: 200 };
    let mut objective = objective(true, Variational { search: Some(search), ..Variational::default() });
    let mut parameters = spread_parameters(&objective);
    let n_model = objective.model().n_parameters();
    parameters[n_model..n_model + 4].fill(6.0); // two codes far out, where the prior alone sends them back
    let value = |parameters: &[f32]| {
        let codes = Codes::from_fn(3 * 16, 2, |m, d| f64::from(parameters[n_model + 2 * (m / 16) + d]));
        let batch = OwnBatch::new(&family(true));
        let found = model().own_gradient(&parameters[..n_model], &codes, &batch, OwnPull::Nothing);
        let prior =
            |j: usize| (0..2).map(|d| f64::from(parameters[n_model + 2 * j + d]).powi(2)).sum::<f64>();
        [0, 1, 2].map(|j| found.log_likelihoods[16 * j] - 0.5 * prior(j))
    };
    for (step, jumps) in [(2, false), (3, true), (9, false)] {
        let mut after = parameters.clone();
        objective.finish_step(&mut after, step);
        assert_eq!(after != parameters, jumps, "{step}");
        assert_eq!(after[n_model + 6..], parameters[n_model + 6..]);
        for (a, b) in value(&after).into_iter().zip(value(&parameters)) {
            assert!(a >= b - 1e-4, "{step}: {a} {b}");
        }
        assert!(!jumps || after[n_model..n_model + 4].iter().all(|z| z.abs() < 5.0));
    }
}

/// Under wide noise the prior outweighs the likelihood of a belief far out, but not in the hard phase, nor where the temperature makes the
/// likelihood count for more.
#[test]
fn jumps_of_the_code_search_follow_temperature_and_hard_phase() {
    let after_search = |settings: Variational| {
        let spec =
            Architecture::new(Lds::new(1, 1, 0), 1).fix("emission", 0.0).share("decay").skip(Skip::Affine);
        let model = System::initialise(spec, Scaling::identity(1, 0), &mut stream(3, 0)).unwrap();
        // ŷ = z with s = 10 for sequences of 20 steps around 6 and −6: the posterior mean of the first is 1.
        let mut parameters = vec![0.0; model.n_parameters()];
        let weight = model.tensors().into_iter().find(|t| t.name == "generator.0.weight").unwrap();
        parameters[weight.start + model.layout().block("offset").unwrap().slot] = 1.0;
        parameters[log_noise_places(&model).start] = 10.0f32.ln();
        let model = model.with_parameters(parameters).unwrap();
        let search = Some(CodeSearch { every: 1, until: 10, points: 500 });
        let settings = Variational { search, ..settings };
        let mut objective = VariationalObjective::new(model, &levels(6.0), None, settings).unwrap();
        let mut parameters = objective.first_parameters(&mut stream(8, 0));
        let n_model = objective.model().n_parameters();
        parameters[n_model] = 6.0;
        objective.finish_step(&mut parameters, 1);
        parameters[n_model]
    };
    let plain = after_search(Variational::default());
    assert!((plain - 1.0).abs() < 0.2, "{plain}");
    let hard = hard(5, HardEnding::Unchanged);
    assert_eq!(after_search(Variational { hard, ..Variational::default() }), 6.0);
    assert_eq!(after_search(Variational { temperature: constant(100.0), ..Variational::default() }), 6.0);
}

/// Penalties of the groups whose name begins so.
fn penalties(objective: &VariationalObjective, start: &str) -> Vec<(String, f32)> {
    let groups = objective.groups().into_iter().filter(|group| group.name.starts_with(start));
    groups.map(|group| (group.name, group.l2)).collect()
}

#[test]
fn the_front_is_penalised_where_the_generator_is_not() {
    let spec = Architecture::new(Lds::new(3, 2, 2), 2).behind(Front::new(1, 4, 2));
    let model = System::initialise(spec, Scaling::identity(2, 1), &mut stream(3, 0)).unwrap();
    let rule = GroupRule { rate: 1.0, l2: 0.6 };
    let settings = Variational { front: rule, ..Variational::default() };
    let objective = VariationalObjective::new(model, &family(true), None, settings).unwrap();
    let found = penalties(&objective, "front.");
    assert!(found.iter().any(|(_, l2)| (l2 - 0.2).abs() < 1e-6), "{found:?}");
    assert!(found.iter().all(|(name, l2)| name.contains("bias") == (*l2 == 0.0)), "{found:?}");
    assert!(penalties(&objective, "generator.").iter().all(|(_, l2)| *l2 == 0.0));
}

#[test]
fn the_penalty_on_shared_blocks_pulls_weights_and_no_log_deviation() {
    let base = StochasticLds { process_noise: NoiseForm::Full, ..StochasticLds::new(3, 2, 1) };
    let spec = ["emission", "feedthrough", "decay", "offset", "input"]
        .into_iter()
        .fold(Architecture::new(base, 2), Architecture::share);
    let model = System::initialise(spec, Scaling::identity(2, 1), &mut stream(3, 0)).unwrap();
    let settings = Variational { shared: GroupRule { rate: 1.0, l2: 0.6 }, ..Variational::default() };
    let objective = VariationalObjective::new(model, &family(true), None, settings).unwrap();
    let (pulled, free): (Vec<_>, Vec<_>) =
        penalties(&objective, "shared.").into_iter().partition(|(_, l2)| *l2 > 0.0);
    let names =
        |groups: Vec<(String, f32)>| -> Vec<String> { groups.into_iter().map(|(name, _)| name).collect() };
    assert_eq!(names(pulled), ["shared.input", "shared.emission", "shared.feedthrough"]);
    assert_eq!(
        names(free),
        ["shared.decay", "shared.offset", "shared.noise", "shared.process_noise", "shared.process_mixing"]
    );
}

#[test]
fn one_and_two_threads_give_the_same_bits() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let settings = Variational { draws: 40, window: Some(3), ..Variational::default() };
            let mut trainer = trainer(settings, plan(5, 1e-2));
            trainer.run(&mut |p| go_on(p)).unwrap().parameters
        })
    };
    let bits = |v: Vec<f32>| v.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    assert_eq!(bits(run(1)), bits(run(2)));
}

/// All steps of the usual objective, from the beginning.
fn learn_all(spec: Architecture, scaling: Scaling, family: &Family, plan: TrainingPlan) -> Learned {
    let mut random = stream(3, 0);
    let model = System::initialise(spec, scaling, &mut random).unwrap();
    let objective = VariationalObjective::new(model, family, None, Variational::default()).unwrap();
    let parameters = objective.first_parameters(&mut random);
    let mut trainer = Trainer::new(objective, parameters, plan, stream(3, 1)).unwrap();
    let outcome = trainer.run(&mut |p| go_on(p)).unwrap();
    learned(trainer.into_objective(), outcome)
}

/// Sequences around levels of their own, or all around one.
fn levels(own: f64) -> Family {
    let value = |i: usize, t: usize| {
        let level = if i.is_multiple_of(2) { own } else { -own };
        level + 0.3 * ((i * 31 + t * 17) as f64 * 1.3).sin()
    };
    let sequence = |i: usize| {
        let values = (0..20).map(|t| value(i, t)).collect();
        Sequence::new(format!("{i}"), Signal::column(values)).unwrap()
    };
    Family::new((0..12).map(sequence).collect()).unwrap()
}

#[test]
fn collapse_is_a_status_and_so_is_use() {
    let fit = |family: &Family| {
        let spec = Architecture::new(Lds::new(1, 1, 0), 1).share("emission").share("decay");
        learn_all(spec, ScalingRule::Outputs.scaling(family).unwrap(), family, plan(600, 2e-2))
    };
    let collapsed = fit(&levels(0.0));
    assert_eq!(collapsed.usage.status, UsageStatus::Collapsed, "{:?}", collapsed.usage);
    let used = fit(&levels(1.0));
    assert_eq!((used.usage.status, used.usage.active), (UsageStatus::Used, 1), "{:?}", used.usage);
    assert!(used.usage.divergence[0] > 0.5);
}

#[test]
fn a_single_step_teaches_little_and_nothing_observed_teaches_nothing() {
    let sequence = |id: &str, values: Vec<f64>| Sequence::new(id, Signal::column(values)).unwrap();
    let sequences = vec![sequence("one", vec![0.7]), sequence("none", vec![f64::NAN; 3])];
    let family = Family::new(sequences).unwrap();
    let spec = Architecture::new(Lds::new(1, 1, 0), 1);
    let fitted = learn_all(spec, Scaling::identity(1, 0), &family, plan(800, 1e-2));
    assert!(fitted.codes.divergence_of(1)[0] < 1e-3, "{:?}", fitted.codes);
    assert!(fitted.outcome.history.steps().iter().all(|step| step.bound.is_finite()));
}

#[test]
fn a_loss_that_is_no_number_stops_with_step_block_and_last_good_state() {
    let mut trainer = trainer(Variational::default(), plan(30, 1e-2));
    trainer.run(&mut |p| if p.step == 6 { Control::Stop } else { Control::Continue }).unwrap();
    let mut checkpoint = trainer.checkpoint();
    let good = checkpoint.clone();
    // A rate that throws the parameters out of range within a step or two.
    checkpoint.plan.learning_rate = constant(1e30);
    let mut broken = Trainer::resume(trainer.into_objective(), checkpoint).unwrap();
    let error = broken.run(&mut |p| go_on(p)).unwrap_err();
    let text = error.to_string();
    let Error::Diverged { step, last_good, .. } = error else { panic!("{text}") };
    assert_eq!(last_good, Some(step - 1));
    assert!(
        text.contains(&format!("checkpoint of step {}", step - 1)) && text.contains("parameter group"),
        "{text}"
    );
    assert_eq!(broken.checkpoint().step, step - 1);
    assert!(broken.parameters().iter().all(|w| w.is_finite()));
    assert!(Trainer::resume(broken.into_objective(), good).is_ok());
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let refused = |settings: Variational| {
        VariationalObjective::new(model(), &family(false), None, settings).unwrap_err().to_string()
    };
    let good = Variational::default;
    let rule = GroupRule { rate: f64::NAN, l2: 0.0 };
    assert!(refused(Variational { beliefs: rule, ..good() }).contains("beliefs.rate"));
    assert!(refused(Variational { draws: 0, ..good() }).contains("draws"));
    assert!(refused(Variational { batch: Some(0), ..good() }).contains("batch"));
    assert!(refused(Variational { window: Some(0), ..good() }).contains("window"));
    assert!(refused(Variational { temperature: constant(-1.0), ..good() }).contains("temperature"));
    assert!(refused(Variational { first_std_dev: [0.1, 0.0], ..good() }).contains("std_dev"));
    let features = crate::generator::FeatureMap::Trigonometric;
    let spec = Architecture::new(Lds::new(3, 2, 1), 2).features(features);
    let curved = System::initialise(spec, Scaling::identity(2, 1), &mut stream(3, 0)).unwrap();
    let settings = Variational { hard: hard(5, HardEnding::Rescaled), ..good() };
    let error = VariationalObjective::new(curved, &family(false), None, settings).unwrap_err();
    assert!(error.to_string().contains("unchanged"), "{error}");
    let mut objective = objective(false, good());
    assert!(objective.codes_at(&[0.0; 3]).is_err());
    assert!(objective.parameters_at(&[Proposal::prior(2)]).is_err());
    let at = objective.parameters_at(&vec![Proposal::prior(2); 3]).unwrap();
    assert_eq!(CodeUsage::of(&objective.codes_at(&at).unwrap()).status, UsageStatus::Collapsed);
}
