//! Calibration on data drawn from the model itself: posteriors by their ranks, forecasts by their coverage.
//!
//! ```text
//! z ~ N(0, I),  Y ~ p(Y | z),  z_1 … z_L ~ p(z | Y)    ⇒    #{l: z_ld < z_d} uniform on 0 … L
//! ```
//! Talts, Betancourt, Simpson, Vehtari, Gelman (2018), Validating Bayesian inference algorithms with
//! simulation-based calibration.

use crate::common::{LOG_NOISE, draw_member, group, impulse, model, parameters_f64, spec, with_noise_times};
use mtds::evaluate::{CENTRAL_LEVELS, score};
use mtds::parts::{
    CodeTarget, GroupRule, Gru, InferenceNetwork, KnownCode, LearnedNetwork, MapLaplace, NoiseBelief, Nuts,
    Schedule, Scores, Trainer, TrainingPlan, Variational, VariationalObjective, nuts,
};
use mtds::random::{Random, stream};
use mtds::{Architecture, Control, Family, Online, Posterior, Sequence, Signal, System};
use rand::RngExt;
use rayon::prelude::*;
use statrs::distribution::{ChiSquared, ContinuousCDF};

const REPLICATIONS: u64 = 400;
/// Posterior draws per rank: with L + 1 = 100 ranks, ten to a bin.
const DRAWS: usize = 99;
const BINS: usize = 10;
const D_CODE: usize = 2;
const N_TIME: usize = 20;
/// Of all dimensions together; Bonferroni's share of it for each.
const FALSE_ALARM_RATE: f64 = 1e-3;

fn family() -> System {
    model(spec(2, 1, D_CODE), 1.0, LOG_NOISE, 42)
}

fn gated() -> System {
    model(Architecture::new(Gru::new(3, 1, 1), D_CODE), 2.0, LOG_NOISE, 43)
}

/// One update at the end of the sequence.
fn settings() -> Online {
    Online { every: N_TIME, ..Online::default() }
}

/// Draws that are independent given the weighted ones.
fn rank(posterior: &Posterior, d: usize, truth: f64, random: &mut Random) -> usize {
    let column = posterior.draws().column(d);
    let draw = |random: &mut Random| {
        let mut rest: f64 = random.random();
        posterior.weights().iter().position(|w| {
            rest -= w;
            rest <= 0.0
        })
    };
    (0..DRAWS).filter(|_| column[draw(random).unwrap_or(column.len() - 1)] < truth).count()
}

/// Ranks of the true code, per dimension, when data come from `truth` and posteriors from `believed`.
fn ranks(truth: &System, believed: &System) -> Vec<Vec<usize>> {
    ranks_by(truth, &|outputs, inputs, random| {
        let tracker = believed.track(outputs, Some(inputs), settings(), random).unwrap();
        tracker.posterior().unwrap().clone()
    })
}

/// A way to infer the code of outputs and inputs.
type Inference<'a> = dyn Fn(&Signal, &Signal, Random) -> Posterior + Sync + 'a;

/// The same for any way to infer codes.
fn ranks_by(truth: &System, inference: &Inference<'_>) -> Vec<Vec<usize>> {
    let inputs = impulse(N_TIME);
    let replicate = |i: u64| -> Vec<usize> {
        let mut random = stream(2018, i);
        let (code, outputs) = draw_member(truth, &inputs, N_TIME, &mut random);
        let posterior = inference(&outputs, &inputs, stream(2019, i));
        (0..D_CODE).map(|d| rank(&posterior, d, code[d], &mut random)).collect()
    };
    (0..REPLICATIONS).into_par_iter().map(replicate).collect()
}

/// Whether ranks are uniform under a way to infer codes that believes in `family`, and are not under one that believes in half the noise.
fn is_calibrated(
    family: &System,
    inference: &(dyn Fn(&System, &Signal, &Signal, Random) -> Posterior + Sync),
) {
    let least = |believed: &System| {
        let ranks = ranks_by(family, &|outputs, inputs, random| inference(believed, outputs, inputs, random));
        (0..D_CODE).map(|d| uniformity(&ranks, d)).fold(1.0, f64::min)
    };
    let right = least(family);
    assert!(right > FALSE_ALARM_RATE / D_CODE as f64, "p = {right:e}");
    let wrong = least(&with_noise_times(family, 0.5));
    assert!(wrong < FALSE_ALARM_RATE / D_CODE as f64, "half the noise: p = {wrong:e}");
}

/// Modes with Gaussians around them, corrected by weights: a false alarm in one of 1 000 seeds, here as below; seeds are fixed.
#[test]
fn ranks_are_uniform_by_modes() {
    for family in [family(), gated()] {
        is_calibrated(&family, &|believed, outputs, inputs, mut random| {
            let settings = MapLaplace::default();
            believed.infer_modes(outputs, Some(inputs), NoiseBelief::Learned, &settings, &mut random).unwrap()
        });
    }
}

/// Hamiltonian Monte Carlo, from draws of the modes.
#[test]
fn ranks_are_uniform_by_nuts() {
    is_calibrated(&gated(), &|believed, outputs, inputs, mut random| {
        let modes = MapLaplace::default();
        let noise = NoiseBelief::Learned;
        let modes = believed.infer_modes(outputs, Some(inputs), noise, &modes, &mut random).unwrap();
        let (parameters, prior) = (parameters_f64(believed), believed.prior().mixture(D_CODE).unwrap());
        let target = CodeTarget::new(believed, &parameters, &prior, group::<f64>(outputs, inputs), None);
        let starts = modes.resample(2, &mut random);
        let settings = Nuts { chains: 2, warmup: 200, draws: 300, ..Nuts::default() };
        nuts(&settings, &target, &starts, &mut random).unwrap()
    });
}

/// What a network says that has learned to read sequences of the family, refined where its weights are bad.
///
/// Weighed draws of the network alone are no posterior after so little learning: most have few effective draws, and say so.
#[test]
fn ranks_are_uniform_from_what_a_network_says() {
    let (family, inputs, online) = (family(), impulse(N_TIME), settings());
    let member = |i: u64| {
        let (_, outputs) = draw_member(&family, &inputs, N_TIME, &mut stream(2020, i));
        Sequence::new(i.to_string(), outputs).unwrap()
    };
    let members = Family::new((0..200).map(member).collect()).unwrap();
    let members = members.with_common_inputs(inputs.clone()).unwrap();
    let network = learned_network(&family, &members);
    is_calibrated(&family, &|believed, outputs, inputs, mut random| {
        let belief = network.belief(believed, outputs, Some(inputs)).unwrap();
        let known = KnownCode { belief: &belief, draws: 1000 };
        believed.infer_known((outputs, Some(inputs)), known, &online, &mut random).unwrap()
    });
}

/// What is known already, such as a posterior under another prior, and made more precise.
#[test]
fn ranks_are_uniform_from_what_is_known() {
    let online = settings();
    is_calibrated(&gated(), &|believed, outputs, inputs, mut random| {
        let wide = believed.prior().mixture(D_CODE).unwrap();
        let known = KnownCode { belief: &wide, draws: 1000 };
        believed.infer_known((outputs, Some(inputs)), known, &online, &mut random).unwrap()
    });
}

/// A network after a few steps beside a model that stays as it is.
fn learned_network(model: &System, members: &Family) -> LearnedNetwork {
    let network = InferenceNetwork::for_model(model, 8).unwrap();
    let fixed = GroupRule { rate: 0.0, l2: 0.0 };
    let settings = Variational {
        generator: fixed,
        shared: fixed,
        draws: 4,
        first_std_dev: [0.5, 0.7],
        ..Variational::default()
    };
    let objective =
        VariationalObjective::amortised(model.clone(), (members, None), settings, network).unwrap();
    let parameters = objective.first_parameters(&mut stream(3, 0));
    let plan = TrainingPlan {
        steps: 1000,
        learning_rate: Schedule::constant(1e-2).unwrap(),
        ..TrainingPlan::default()
    };
    let mut trainer = Trainer::new(objective, parameters, plan, stream(4, 0)).unwrap();
    let outcome = trainer.run(&mut |_| Control::Continue).unwrap();
    assert_eq!(&outcome.parameters[..model.n_parameters()], model.parameters());
    let weights = trainer.objective().beliefs_at(&outcome.parameters).unwrap().to_vec();
    LearnedNetwork::new(network, weights).unwrap()
}

/// p value of Pearson's test that the ranks of dimension `d` are uniform.
fn uniformity(ranks: &[Vec<usize>], d: usize) -> f64 {
    let mut counts = [0.0; BINS];
    ranks.iter().for_each(|r| counts[r[d] * BINS / (DRAWS + 1)] += 1.0);
    let expected = ranks.len() as f64 / BINS as f64;
    let statistic: f64 = counts.iter().map(|c| (c - expected).powi(2) / expected).sum();
    println!("dimension {d}: {counts:?}, chi-square {statistic:.1}");
    1.0 - ChiSquared::new((BINS - 1) as f64).unwrap().cdf(statistic)
}

/// A false alarm in one of 1 000 seeds; the seed is fixed.
#[test]
fn ranks_of_the_true_code_are_uniform() {
    let ranks = ranks(&family(), &family());
    for d in 0..D_CODE {
        let p = uniformity(&ranks, d);
        assert!(p > FALSE_ALARM_RATE / D_CODE as f64, "dimension {d}: p = {p:e}");
    }
}

/// The same for a gated network, whose likelihood is not linear in anything.
#[test]
fn ranks_are_uniform_for_a_nonlinear_model() {
    let ranks = ranks(&gated(), &gated());
    for d in 0..D_CODE {
        let p = uniformity(&ranks, d);
        assert!(p > FALSE_ALARM_RATE / D_CODE as f64, "dimension {d}: p = {p:e}");
    }
    let overconfident = with_noise_times(&gated(), 0.5);
    let least = |ranks: &[Vec<usize>]| (0..D_CODE).map(|d| uniformity(ranks, d)).fold(1.0, f64::min);
    assert!(least(&self::ranks(&gated(), &overconfident)) < FALSE_ALARM_RATE / D_CODE as f64);
}

/// With half the noise the posterior is too narrow, and the same test must see it.
#[test]
fn the_same_test_finds_noise_that_was_halved() {
    let overconfident = with_noise_times(&family(), 0.5);
    let ranks = ranks(&family(), &overconfident);
    for d in 0..D_CODE {
        let p = uniformity(&ranks, d);
        assert!(p < FALSE_ALARM_RATE / D_CODE as f64, "dimension {d}: p = {p:e}");
    }
}

/// Steps of one sequence share a code and are not independent: the error is taken over sequences.
///
/// It must be below 1 point, so that 3 points are more than 3 errors: over three levels, one false alarm in
/// 100 seeds at worst; the seed is fixed.
/// Posterior means of two seeds differ as much as their effective draws say: quotients are those of a standard normal, for which
/// nine of ten are below 1.64. Bounds leave ten of the standard errors that 800 quotients have.
#[test]
fn means_of_two_seeds_are_as_far_apart_as_effective_draws_promise() {
    let inputs = impulse(N_TIME);
    for family in [family(), gated()] {
        let quotients = |i: u64| -> Vec<f64> {
            let (_, outputs) = draw_member(&family, &inputs, N_TIME, &mut stream(2018, i));
            let of = |seed| {
                let tracker = family.track(&outputs, Some(&inputs), settings(), stream(seed, i)).unwrap();
                tracker.posterior().unwrap().clone()
            };
            let (a, b) = (of(1), of(2));
            let error = |of: &Posterior, d: usize| of.std_dev()[d].powi(2) / of.diagnostics().ess;
            let apart = |d: usize| (a.mean()[d] - b.mean()[d]).abs() / (error(&a, d) + error(&b, d)).sqrt();
            (0..D_CODE).map(apart).collect()
        };
        let found: Vec<Vec<f64>> = (0..REPLICATIONS).into_par_iter().map(quotients).collect();
        let mut found = found.concat();
        found.sort_by(f64::total_cmp);
        let (half, most) = (found[found.len() / 2], found[found.len() * 9 / 10]);
        assert!((0.40..0.95).contains(&half) && (1.1..2.2).contains(&most), "{half:.2} {most:.2}");
    }
}

#[test]
fn forecast_intervals_cover_what_they_say() {
    const HORIZON: usize = 20;
    let (model, inputs) = (family(), impulse(N_TIME + HORIZON));
    let replicate = |i: u64| {
        let (_, outputs) = draw_member(&model, &inputs, N_TIME + HORIZON, &mut stream(80, i));
        let seen = outputs.slice(0..N_TIME);
        let mut tracker = model.track(&seen, Some(&inputs), settings(), stream(81, i)).unwrap();
        let future = inputs.slice(N_TIME..N_TIME + HORIZON);
        let forecast = tracker.forecast(HORIZON, Some(&future)).unwrap();
        let truth = outputs.slice(N_TIME..N_TIME + HORIZON);
        score(&forecast, truth.values(), &CENTRAL_LEVELS).unwrap().unwrap()
    };
    let scores: Vec<_> = (0..400).into_par_iter().map(replicate).collect();
    for coverage in Scores::over(&scores).unwrap().coverage {
        let (level, share) = (coverage.level, coverage.share);
        println!("{level}: {:.3} ± {:.4}", share.mean, share.std_error.unwrap());
        assert!(share.std_error.unwrap() < 0.01, "{level}: too few replications, {share:?}");
        assert!((share.mean - level).abs() < 0.03, "{level}: {share:?}");
    }
}
