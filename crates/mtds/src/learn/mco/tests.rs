use super::*;
use crate::base::Lds;
use crate::family::Scaling;
use crate::generator::Activation;
use crate::generator::Role;
use crate::learn::rules::log_noise_places;
use crate::learn::toy::family;
use crate::learn::{Control, Trainer, TrainingPlan};
use crate::random::stream;
use crate::system::Architecture;

fn objective(own_inputs: bool, settings: MonteCarlo) -> MonteCarloObjective {
    let spec = Architecture::new(Lds::new(3, 2, 1), 2)
        .hidden(&[5], Activation::Tanh)
        .role("feedthrough", Role::Shared)
        .role("initial_state", Role::Adapted);
    let scaling = Scaling::identity(2, 1);
    let model = System::initialise(spec, scaling, &mut stream(3, 0)).unwrap();
    MonteCarloObjective::new(model, &family(own_inputs), Some(&family(own_inputs)), settings).unwrap()
}

#[test]
fn gradient_matches_central_differences_of_the_bound() {
    for own_inputs in [false, true] {
        let mut objective = objective(own_inputs, MonteCarlo::default());
        let parameters = objective.model().parameters().to_vec();
        let codes = ShiftedSobol::new(2).unwrap().shifted(37, &[0.2, 0.7]);
        let mut gradient = vec![0.0; parameters.len()];
        objective.gradient_at(&parameters, &codes, &[], &mut gradient);
        let mut loss = |p: &[f32]| {
            let step = objective.gradient_at(p, &codes, &[], &mut vec![0.0; p.len()]);
            -step.log_evidence.iter().sum::<f64>() / 3.0
        };
        let mut difference = |i: usize, h: f32| {
            let (mut up, mut down) = (parameters.clone(), parameters.clone());
            up[i] += h;
            down[i] -= h;
            (loss(&up) - loss(&down)) / f64::from(up[i] - down[i])
        };
        for i in (0..parameters.len()).step_by(3) {
            // Rounding in f32 asks for a large step; Richardson's combination takes the h² error out of it.
            let numeric = (4.0 * difference(i, 2.5e-3) - difference(i, 5e-3)) / 3.0;
            let got = f64::from(gradient[i]);
            assert!((numeric - got).abs() < 2e-3 * (1.0 + got.abs()), "{own_inputs} {i}: {numeric} {got}");
        }
    }
}

#[test]
fn resampled_gradients_average_to_the_weighted_one() {
    let mut weighted = objective(false, MonteCarlo::default());
    let mut resampled =
        objective(false, MonteCarlo { carriers: Carriers::Resampled(3), ..MonteCarlo::default() });
    let parameters = weighted.model().parameters().to_vec();
    let codes = ShiftedSobol::new(2).unwrap().shifted(50, &[0.2, 0.7]);
    let mut want = vec![0.0; parameters.len()];
    weighted.gradient_at(&parameters, &codes, &[], &mut want);
    let rounds = 400;
    let (mut mean, mut square) = (vec![0.0f64; want.len()], vec![0.0f64; want.len()]);
    for round in 0..rounds {
        use rand::RngExt;
        let mut random = stream(11, round);
        let uniforms: Vec<f64> = (0..9).map(|_| random.random()).collect();
        let mut gradient = vec![0.0; want.len()];
        resampled.gradient_at(&parameters, &codes, &uniforms, &mut gradient);
        for (i, g) in gradient.iter().enumerate() {
            mean[i] += f64::from(*g) / rounds as f64;
            square[i] += f64::from(*g).powi(2) / rounds as f64;
        }
    }
    // 5 standard errors over about 70 parameters: false alarm below 1e-4.
    for i in 0..want.len() {
        let error = ((square[i] - mean[i] * mean[i]).max(0.0) / rounds as f64).sqrt();
        let distance = (mean[i] - f64::from(want[i])).abs();
        assert!(distance < 5.0 * error + 1e-5, "{i}: {} {} ± {error}", mean[i], want[i]);
    }
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let settings = MonteCarlo {
                particles: Schedule::constant(1000.0).unwrap(),
                carriers: Carriers::Resampled(4),
                ..MonteCarlo::default()
            };
            let objective = objective(false, settings);
            let parameters = objective.model().parameters().to_vec();
            let plan = TrainingPlan { steps: 5, ..TrainingPlan::default() };
            let mut trainer = Trainer::new(objective, parameters, plan, stream(5, 0)).unwrap();
            trainer.run(&mut |_| Control::Continue).unwrap().parameters
        })
    };
    let bits = |v: Vec<f32>| v.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    assert_eq!(bits(run(1)), bits(run(2)));
}

#[test]
fn learning_raises_the_bound_and_resumes_to_the_same_bits() {
    let noise = NoiseRule::Scheduled(Schedule::constant(-0.5).unwrap());
    let make = || objective(false, MonteCarlo { noise: noise.clone(), l2: 0.1, ..MonteCarlo::default() });
    let plan = TrainingPlan {
        steps: 60,
        learning_rate: Schedule::constant(5e-3).unwrap(),
        ..TrainingPlan::default()
    };
    let parameters = make().model().parameters().to_vec();
    let mut whole = Trainer::new(make(), parameters.clone(), plan.clone(), stream(9, 0)).unwrap();
    let outcome = whole.run(&mut |_| Control::Continue).unwrap();
    let steps = outcome.history.steps();
    assert!(steps[steps.len() - 1].bound > steps[0].bound + 0.1);
    let at = log_noise_places(make().model());
    assert_eq!(outcome.parameters[at.start], -0.5);

    let mut first = Trainer::new(make(), parameters, plan, stream(9, 0)).unwrap();
    first.run(&mut |p| if p.step == 23 { Control::Stop } else { Control::Continue }).unwrap();
    let bytes = first.checkpoint().to_bytes().unwrap();
    let checkpoint = crate::learn::Checkpoint::from_bytes(&bytes).unwrap();
    let mut second = Trainer::resume(make(), checkpoint).unwrap();
    let resumed = second.run(&mut |_| Control::Continue).unwrap();
    assert_eq!(resumed.parameters, outcome.parameters);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let model = || objective(false, MonteCarlo::default()).model().clone();
    let refused = |settings: MonteCarlo| {
        MonteCarloObjective::new(model(), &family(false), None, settings).unwrap_err().to_string()
    };
    let rates = vec![("emision".to_owned(), 0.1)];
    assert!(refused(MonteCarlo { rates, ..MonteCarlo::default() }).contains("no block `emision`"));
    let carriers = Carriers::Resampled(0);
    assert!(refused(MonteCarlo { carriers, ..MonteCarlo::default() }).contains("carriers"));
    assert!(refused(MonteCarlo { l2: -1.0, ..MonteCarlo::default() }).contains("l2"));
    let noise = NoiseRule::Prior { mean: Schedule::constant(0.0).unwrap(), std_dev: 0.0 };
    assert!(refused(MonteCarlo { noise, ..MonteCarlo::default() }).contains("standard deviation"));
    assert!(refused(MonteCarlo { validation_particles: 0, ..MonteCarlo::default() }).contains("particles"));
}

#[test]
fn the_prior_on_log_s_pulls_towards_its_mean() {
    let noise = NoiseRule::Prior { mean: Schedule::constant(-2.0).unwrap(), std_dev: 0.5 };
    let mut objective = objective(false, MonteCarlo { noise, ..MonteCarlo::default() });
    let parameters = objective.model().parameters().to_vec();
    let mut with = vec![0.0; parameters.len()];
    objective.gradient(&parameters, &mut with, 1, &mut stream(1, 0)).unwrap();
    objective.noise = NoiseSteps::new(objective.model(), &NoiseRule::Learned, &family(false));
    let mut without = vec![0.0; parameters.len()];
    objective.gradient(&parameters, &mut without, 1, &mut stream(1, 0)).unwrap();
    for at in log_noise_places(objective.model()) {
        let want = (f64::from(parameters[at]) + 2.0) / 0.25 / 3.0;
        assert!((f64::from(with[at] - without[at]) - want).abs() < 1e-4);
    }
}
