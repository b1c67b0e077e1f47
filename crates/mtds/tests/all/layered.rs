//! Layered models: a shared network before the base model, learned, followed, forecast and stored like any other.

use crate::common::{LOG_NOISE, normals, own_inputs, parameters_f64, with_gaps};
use mtds::custom::Base;
use mtds::parts::{AdaptiveImportance, Own, Phase, PriorWeight, Remainder, Tracker};
use mtds::parts::{
    Batch, CodeTarget, Codes, Course, CourseData, Front, FrontStart, GaussianMixture, Gru, InputSkip, Lds,
    Learner, LogTarget, OwnBatch, OwnPull, OwnWeights, Pharmacodynamic, RefineRule, Rnn, ScalingRule,
    Schedule, SmoothTarget, StartRule, StochasticLds, TrainingPlan, VariationalRefine, Weights,
};
use mtds::random::{Random, stream};
use mtds::{
    Architecture, Control, DataColumns, Family, Model, Online, Points, Provenance, Scaling, Sequence, Signal,
    System,
};
use rand::RngExt;
use rand_distr::StandardNormal;

const D_CODE: usize = 2;
const SEED: usize = 3;

/// Two inputs, six units, a bottleneck of two.
fn fronts() -> [Front; 3] {
    let encoded = FrontStart::Encoded { steps: SEED, d_obs: 1 };
    [
        Front::new(2, 6, 2),
        Front { skip: InputSkip::Inputs, start: FrontStart::Learned, ..Front::new(2, 6, 2) },
        Front { start: encoded, ..Front::new(2, 6, 2) },
    ]
}

fn layered(base: impl Into<Base>, front: Front) -> System {
    let spec = Architecture::new(base, D_CODE).behind(front).adapt("feedthrough");
    drawn(spec)
}

fn drawn(spec: Architecture) -> System {
    let scaling = Scaling::identity(spec.base.d_obs(), spec.d_input());
    let drawn = System::initialise(spec, scaling, &mut stream(81, 0)).unwrap();
    let mut parameters = drawn.parameters().to_vec();
    for tensor in drawn.tensors().iter().filter(|t| t.name == "shared.noise") {
        parameters[tensor.range()].fill(LOG_NOISE as f32);
    }
    drawn.with_parameters(parameters).unwrap()
}

/// Every front with a tanh network, and the first with every other kind of base model.
fn models() -> Vec<System> {
    let mut models: Vec<System> =
        fronts().map(|front| layered(Rnn::new(3, 1, front.d_out()), front)).into_iter().collect();
    let front = fronts()[0];
    models.push(layered(Gru::new(3, 1, 2), front));
    models.push(layered(Lds::new(3, 1, 2), front));
    models.push(layered(StochasticLds::new(2, 1, 2), front));
    models.push(drawn(Architecture::new(Pharmacodynamic::new(2, 1, 2), D_CODE).behind(front)));
    models
}

fn name(model: &System) -> String {
    format!("{} behind {:?}", model.base().kind(), model.spec().front)
}

fn two_inputs(n_time: usize, random: &mut Random) -> Signal {
    Signal::new(n_time, 2, normals(2 * n_time, random)).unwrap()
}

/// Sequences of lengths of their own, with gaps and inputs of their own.
fn family(n_seq: usize) -> Family {
    let mut random = stream(82, 0);
    let sequence = |i: usize| {
        let n_time = 7 + i % 3;
        let outputs = with_gaps(&own_inputs(n_time, &mut random), 0.2, &mut random);
        let inputs = two_inputs(n_time, &mut random);
        Sequence::new(i.to_string(), outputs).unwrap().with_inputs(inputs).unwrap()
    };
    Family::new((0..n_seq).map(sequence).collect()).unwrap()
}

/// Some entries of every tensor against differences of `value`.
fn check_gradient(model: &System, value: impl Fn(&[f32]) -> f64, gradient: &[f32]) {
    let scale = f64::from(gradient.iter().fold(0f32, |m, g| m.max(g.abs())));
    for tensor in model.tensors() {
        let range = tensor.range();
        for at in [range.start, (range.start + range.end) / 2, range.end - 1] {
            let moved = |by: f32| {
                let mut parameters = model.parameters().to_vec();
                parameters[at] += by;
                value(&parameters)
            };
            let (h, got) = (1e-2, f64::from(gradient[at]));
            let want = (moved(h) - moved(-h)) / (2.0 * f64::from(h));
            let allowed = 5e-3 * scale + 2e-2 * want.abs();
            assert!((got - want).abs() < allowed, "{} {} at {at}: {got} {want}", name(model), tensor.name);
        }
    }
}

#[test]
fn gradients_of_shared_codes_match_central_differences() {
    for model in models() {
        let batch: Batch<f32> = model.batch(&family(4));
        let drawn = normals(3 * D_CODE, &mut stream(83, 0));
        let codes = Codes::from_fn(3, D_CODE, |i, d| drawn[i * D_CODE + d]);
        let sparse = vec![vec![(0, 0.4), (3, 1.2)], vec![(1, 0.7)], vec![(2, 0.8)]];
        let value = |parameters: &[f32]| {
            let table = model.log_likelihoods(parameters, &codes, &batch);
            let of = |m: usize| sparse[m].iter().map(move |&(i, w)| (m, i, w));
            (0..3).flat_map(of).map(|(m, i, w)| w * f64::from(table.get(m, i))).sum()
        };
        let found = model.gradient(model.parameters(), &codes, &batch, Weights::Pairs(&sparse));
        check_gradient(&model, value, &found.parameters);
    }
}

#[test]
fn gradients_of_own_codes_match_central_differences_and_windows_change_no_likelihood() {
    for model in models() {
        let family = family(3);
        let drawn = normals(3 * 16 * D_CODE, &mut stream(84, 0));
        let codes = Codes::from_fn(3 * 16, D_CODE, |m, d| drawn[m * D_CODE + d]);
        let batch = OwnBatch::for_model(&model, &family, None);
        let even = OwnWeights::Equal(1.0 / 16.0);
        let likelihoods = |parameters: &[f32], batch: &OwnBatch| {
            model.own_gradient(parameters, &codes, batch, OwnPull::Nothing).log_likelihoods
        };
        let value = |parameters: &[f32]| likelihoods(parameters, &batch).iter().sum::<f64>() / 16.0;
        let found = model.own_gradient(model.parameters(), &codes, &batch, OwnPull::Parameters(even));
        check_gradient(&model, value, &found.parameters);
        let whole = likelihoods(model.parameters(), &batch);
        let windowed = likelihoods(model.parameters(), &OwnBatch::for_model(&model, &family, Some(4)));
        for (a, b) in windowed.iter().zip(&whole) {
            assert!((a - b).abs() < 1e-4 * (1.0 + b.abs()), "{}: {a} {b}", name(&model));
        }
    }
}

#[test]
fn gradients_of_the_code_match_central_differences() {
    for model in models() {
        let (outputs, inputs) = (own_inputs(9, &mut stream(85, 0)), two_inputs(9, &mut stream(85, 1)));
        let prior = GaussianMixture::standard_normal(D_CODE).unwrap();
        let parameters = parameters_f64(&model);
        let group = model.group(&outputs, Some(&inputs)).unwrap();
        let target = CodeTarget::new(&model, &parameters, &prior, group, None);
        let points = Points::from_values(D_CODE, 5, normals(5 * D_CODE, &mut stream(86, 0))).unwrap();
        let (mut density, mut gradient) = (vec![0.0; 5], Points::zeros(D_CODE, 5));
        target.log_density_and_gradient(&points, &mut density, &mut gradient);
        for d in 0..D_CODE {
            let moved = |by: f64| {
                let (mut moved, mut out) = (points.clone(), vec![0.0; 5]);
                moved.column_mut(d).iter_mut().for_each(|x| *x += by);
                target.log_density(&moved, &mut out);
                out
            };
            let (up, down) = (moved(1e-5), moved(-1e-5));
            for i in 0..5 {
                let (got, want) = (gradient.column(d)[i], (up[i] - down[i]) / 2e-5);
                assert!((got - want).abs() < 1e-5 * (1.0 + want.abs()), "{}: {got} {want}", name(&model));
            }
        }
    }
}

/// Step by step, all at once, and after a restart a tracker knows the same; what it forecasts is what the model does.
#[test]
fn following_a_sequence_takes_the_front_along() {
    for model in models() {
        let (outputs, inputs) = (own_inputs(14, &mut stream(87, 0)), two_inputs(20, &mut stream(87, 1)));
        let online = Online { mode_starts: 2, ..Online::default() };
        let mut tracker = Tracker::new(&model, online.clone(), stream(88, 0)).unwrap();
        for t in 0..14 {
            tracker.observe(outputs.row(t), inputs.row(t)).unwrap();
            if t == 1 || t == 8 {
                let state = serde_json::to_string(&tracker.state()).unwrap();
                tracker = Tracker::restore(&model, serde_json::from_str(&state).unwrap()).unwrap();
            }
        }
        let posterior = tracker.update().unwrap().clone();
        let ahead = tracker.forecast(6, Some(&inputs.slice(14..20))).unwrap();
        let direct = model.forecast(&posterior, &outputs, Some(&inputs), 6, &mut stream(89, 0)).unwrap();
        let spread = ahead.variance();
        for (t, (a, b)) in ahead.mean().iter().zip(direct.mean()).enumerate() {
            // Both thin the draws, each with numbers of its own.
            assert!((a - b).abs() < 0.2 * spread[t].sqrt() + 1e-5, "{} {t}: {a} {b}", name(&model));
        }
        let whole = model.track(&outputs, Some(&inputs), online, stream(88, 0)).unwrap();
        let restored = tracker.log_evidence().unwrap();
        assert_eq!(whole.log_evidence().unwrap().to_bits(), restored.to_bits(), "{}", name(&model));
    }
}

/// Responses to two inputs that are filtered the same way for everyone and then answered by everyone in their own way.
fn answers(n_seq: usize, random: &mut Random) -> Family {
    let sequence = |i: usize| {
        let (gain, offset) = (random.random_range(-1.0..1.0), random.random_range(-1.0..1.0));
        let (mut memory, mut inputs, mut outputs) = (0.0, vec![], vec![]);
        for _ in 0..24 {
            let u: [f64; 2] = std::array::from_fn(|_| random.sample(StandardNormal));
            memory = 0.7 * memory + 0.8 * (u[0] * u[1]).tanh();
            inputs.extend(u);
            outputs.push(gain * memory + offset + 0.05 * random.sample::<f64, _>(StandardNormal));
        }
        let inputs = Signal::new(24, 2, inputs).unwrap();
        Sequence::new(i.to_string(), Signal::column(outputs)).unwrap().with_inputs(inputs).unwrap()
    };
    Family::new((0..n_seq).map(sequence).collect()).unwrap()
}

/// A shared filter of inputs is found by the front where a linear system alone cannot: what is left of the variance of new
/// members' futures is less than half of what a system without a front leaves.
#[test]
fn a_shared_filter_is_learned_by_the_front() {
    let family = answers(60, &mut stream(90, 0));
    let new = answers(20, &mut stream(90, 1));
    let error = |spec: Architecture| {
        let learning_rate = Schedule::constant(0.01).unwrap();
        let plan = TrainingPlan { steps: 900, learning_rate, ..TrainingPlan::default() };
        let refine = VariationalRefine { plan, ..VariationalRefine::default() };
        let course = Course {
            scaling: ScalingRule::Outputs,
            start: StartRule::None,
            refine: RefineRule::Variational(Box::new(refine)),
        };
        let data = CourseData {
            family: family.clone(),
            cut_from: None,
            held_out: None,
            seed: 4,
            device: mtds::Device::default(),
        };
        let learner = Learner::new(course, spec, data).unwrap();
        let model = learner.finish(&mut |_| Control::Continue).unwrap().model;
        let (mut squares, mut n) = (0.0, 0);
        for (i, member) in new.sequences().iter().enumerate() {
            let inputs = member.inputs().unwrap();
            let online = Online { mode_starts: 4, ..Online::default() };
            let seen = member.outputs().slice(0..12);
            let mut tracker = model.track(&seen, Some(inputs), online, stream(91, i as u64)).unwrap();
            let forecast = tracker.forecast(12, Some(&inputs.slice(12..24))).unwrap();
            for (t, mean) in forecast.mean().iter().enumerate() {
                squares += (mean - member.outputs().get(12 + t, 0)).powi(2);
                n += 1;
            }
        }
        squares / f64::from(n)
    };
    let with =
        error(Architecture::new(Lds::new(1, 1, 2), 2).behind(Front::new(2, 12, 2)).adapt("feedthrough"));
    let without = error(Architecture::new(Lds::new(2, 1, 2), 2).adapt("feedthrough"));
    println!("mean squared error {with:.4} with a front, {without:.4} without");
    assert!(with < 0.5 * without, "{with} {without}");
}

#[test]
fn layered_models_are_stored() {
    for model in models() {
        let provenance = Provenance {
            seed: 3,
            fingerprint: "ac432cbee7e9ceb6".into(),
            program_version: "0.1.0".into(),
            notes: serde_json::Value::Null,
        };
        let columns = DataColumns::named(vec!["y".into()], vec!["a".into(), "b".into()]);
        let bundle = Model::by_hand(model, columns, provenance);
        let back = Model::from_files(&bundle.to_files().unwrap()).unwrap();
        assert_eq!(back.system.spec(), bundle.system.spec());
        assert_eq!(back.system.parameters(), bundle.system.parameters());
    }
}

#[test]
fn fronts_that_do_not_fit_are_refused() {
    let spec =
        |base: Rnn, front: Front| Architecture::new(base, 1).behind(front).layout().unwrap_err().to_string();
    assert!(spec(Rnn::new(2, 1, 3), Front::new(2, 4, 2)).contains("expected 2, found 3"));
    let encoded = Front { start: FrontStart::Encoded { steps: 2, d_obs: 4 }, ..Front::new(2, 4, 2) };
    assert!(spec(Rnn::new(2, 1, 2), encoded).contains("outputs that the front encodes"));
    assert!(spec(Rnn::new(2, 1, 2), Front::new(0, 4, 2)).contains("inputs of the front"));
}

/// The paper's size: a gated network of 1024 units, a bottleneck of 24, a tanh network of 128, 64 outputs. Run by
/// `cargo test --release -p mtds --test all layered:: -- --ignored --nocapture`.
#[test]
#[ignore = "means something only with full optimisation"]
fn a_model_of_the_papers_size_generates_500_frames_per_second_on_one_core() {
    let front = Front::new(32, 1024, 24);
    let model = drawn(Architecture::new(Rnn::new(128, 64, 24), 3).behind(front).adapt("feedthrough"));
    let inputs = Signal::new(1000, 32, normals(32_000, &mut stream(92, 0))).unwrap();
    let seconds = |_| {
        let begin = std::time::Instant::now();
        let frames =
            crate::common::on_threads(1, || model.generate(&[0.3, -0.2, 0.5], Some(&inputs), 1000).unwrap());
        assert!(frames.values().iter().all(|y| y.is_finite()));
        begin.elapsed().as_secs_f64()
    };
    let mut all: Vec<f64> = (0..7).map(seconds).collect();
    all.sort_by(f64::total_cmp);
    println!("{:.0} frames per second", 1000.0 / all[3]);
    assert!(1000.0 / all[3] >= 500.0, "{:.0} frames per second", 1000.0 / all[3]);
}

/// Steps in which a front finds its state count as missing ones do: in learning, in inference, and where a sequence is followed.
#[test]
fn first_steps_that_are_not_scored_are_as_good_as_missing() {
    let front = fronts()[0];
    let (plain, waiting) =
        (layered(Rnn::new(3, 1, 2), front), layered(Rnn::new(3, 1, 2), Front { unscored: SEED, ..front }));
    assert_eq!(plain.parameters(), waiting.parameters());
    let family = family(3);
    let blank = |i: usize| {
        let sequence = family.sequence(i);
        let mut values = sequence.outputs().values().to_vec();
        values[..SEED].fill(f64::NAN);
        let outputs = Signal::new(sequence.n_time(), 1, values).unwrap();
        let inputs = sequence.inputs().unwrap().clone();
        Sequence::new(i.to_string(), outputs).unwrap().with_inputs(inputs).unwrap()
    };
    let blanked = Family::new((0..3).map(blank).collect()).unwrap();
    let drawn = normals(3 * 16 * D_CODE, &mut stream(84, 0));
    let codes = Codes::from_fn(3 * 16, D_CODE, |m, d| drawn[m * D_CODE + d]);
    let likelihoods = |model: &System, family: &Family| {
        let batch = OwnBatch::for_model(model, family, None);
        model.own_gradient(model.parameters(), &codes, &batch, OwnPull::Nothing).log_likelihoods
    };
    let (found, expected) = (likelihoods(&waiting, &family), likelihoods(&plain, &blanked));
    for (a, b) in found.iter().zip(&expected) {
        assert!((a - b).abs() < 1e-4 * (1.0 + b.abs()), "{a} {b}");
    }
    let mean = |model: &System, family: &Family| {
        let mut tracker = Tracker::new(model, Online::default(), stream(5, 0)).unwrap();
        let (outputs, inputs) = (family.sequence(1).outputs(), family.sequence(1).inputs().unwrap());
        for t in 0..outputs.n_time() {
            tracker.observe(outputs.row(t), inputs.row(t)).unwrap();
        }
        tracker.update().unwrap().mean()
    };
    for (a, b) in mean(&waiting, &family).iter().zip(mean(&plain, &blanked)) {
        assert!((a - b).abs() < 0.05, "{a} {b}");
    }
}

/// What codes leave over goes on alike from a tracker, from a stored one and from a whole sequence, and brings the forecast to where the
/// sequence was seen last.
#[test]
fn what_codes_leave_over_goes_on_in_forecasts() {
    let front = fronts()[0];
    let plain = layered(Rnn::new(3, 1, 2), Front { unscored: 2, ..front });
    let phase = Phase::of(&["phase_cos".to_owned(), "phase_sin".to_owned()]);
    let slow = Remainder { weight: PriorWeight::Steps(1e9), fading: 1e9, phase };
    let (outputs, inputs) = {
        let mut random = stream(91, 0);
        (own_inputs(16, &mut random), two_inputs(21, &mut random))
    };
    let importance = AdaptiveImportance { final_samples: 400, ..AdaptiveImportance::default() };
    let own = Remainder { weight: PriorWeight::Found(Own::Own), fading: 3.0, phase };
    for (remainder, history) in [(slow, None), (own, Some(12))] {
        let model = plain.clone().with_remainder(Some(remainder)).unwrap();
        let online = Online { importance: importance.clone(), every: 3, history, ..Online::default() };
        let mut tracker = Tracker::new(&model, online, stream(5, 0)).unwrap();
        for t in 0..16 {
            tracker.observe(outputs.row(t), inputs.row(t)).unwrap();
        }
        let posterior = tracker.update().unwrap().clone();
        let mut again = Tracker::restore(&model, tracker.state()).unwrap();
        let future = inputs.slice(16..21);
        let followed = tracker.forecast(5, Some(&future)).unwrap();
        assert_eq!(again.forecast(5, Some(&future)).unwrap(), followed);
        if history.is_some() {
            continue; // a whole sequence knows more than a bounded history
        }
        let whole = |model: &System| {
            let forecast = model.forecast(&posterior, &outputs, Some(&inputs), 5, &mut stream(6, 0)).unwrap();
            forecast.mean()
        };
        for (a, b) in followed.mean().iter().zip(whole(&model)) {
            assert!((a - b).abs() < 1e-5 * (1.0 + b.abs()), "{a} {b}");
        }
        // Nothing lasts and nothing fades: the forecast is moved by what the last step left over, all of it by the same.
        let moved: Vec<f64> = whole(&model).iter().zip(whole(&plain)).map(|(a, b)| a - b).collect();
        assert!(moved.iter().all(|by| (by - moved[0]).abs() < 1e-5) && moved[0].abs() > 1e-3, "{moved:?}");
    }
    let wrong = Remainder { phase: None, weight: PriorWeight::Steps(-1.0), fading: 1.0 };
    assert!(plain.with_remainder(Some(wrong)).is_err());
    let random_state = layered(StochasticLds::new(2, 1, 2), front);
    assert!(random_state.with_remainder(Some(slow)).unwrap_err().to_string().contains("random state"));
}
