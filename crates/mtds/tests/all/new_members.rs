//! What is believed of new members: evidence and codes against exact Gaussian updates, and priors and process noise chosen
//! where the right choice is known.

use crate::common::with_offset_by_code;
use mtds::custom::NoiseForm;
use mtds::parts::{
    Calibration, Followed, GaussianMixture, NewMembers, Prior, PriorSearch, StochasticLds, Whole,
};
use mtds::random::{Random, Stream, stream};
use mtds::{Architecture, Control, Family, Online, PriorRule, Scaling, Sequence, Signal, System};
use rand::RngExt;
use rand_distr::StandardNormal;

const NOISE: f64 = 0.3;
const N_TIME: usize = 12;
/// Standard deviation of the normal prior.
const TAU: f64 = 1.3;

fn normal(random: &mut Random) -> f64 {
    random.sample(StandardNormal)
}

/// The code is the level.
fn levels() -> System {
    crate::common::levels(NOISE).with_prior(Prior::Normal { std_dev: TAU }).unwrap()
}

/// Members at these levels.
fn at(levels: &[f64], seed: u64) -> Family {
    let mut random = stream(seed, 0);
    let mut member = |(i, level): (usize, &f64)| {
        let outputs = (0..N_TIME).map(|_| level + NOISE * normal(&mut random)).collect();
        Sequence::new(i.to_string(), Signal::column(outputs)).unwrap()
    };
    Family::new(levels.iter().enumerate().map(&mut member).collect()).unwrap()
}

/// Levels of members that come in two kinds.
fn kinds(n: usize, seed: u64) -> Vec<f64> {
    let mut random = stream(seed, 1);
    let mut level = |i: usize| if i.is_multiple_of(2) { 1.5 } else { -1.5 } + 0.1 * normal(&mut random);
    (0..n).map(&mut level).collect()
}

/// Levels as learning assumes them.
fn anywhere(n: usize, seed: u64) -> Vec<f64> {
    let mut random = stream(seed, 2);
    (0..n).map(|_| TAU * normal(&mut random)).collect()
}

fn whole(model: &System, family: &Family) -> (Vec<f64>, mtds::parts::GaussianMixture) {
    let online = Online::default();
    let followed = Followed { model, online: &online, family, known: &[], random: (3, Stream::Item) };
    let all = family.observed();
    let mut told = vec![];
    let evidences = followed
        .log_evidences(&all, &mut |done| {
            told.push(done);
            Control::Continue
        })
        .unwrap();
    assert_eq!(told.last(), Some(&all.len()));
    (evidences, followed.codes(&all, &mut |_| Control::Continue).unwrap())
}

/// log p(y) = log N(y; 0, s² I + τ² 1 1ᵀ), and the posterior of the level, both in closed form.
#[test]
fn evidences_and_codes_are_those_of_gaussian_updates() {
    let family = at(&anywhere(20, 1), 1);
    let (evidences, codes) = whole(&levels(), &family);
    for (i, evidence) in evidences.iter().enumerate() {
        let y = family.sequence(i).outputs().values();
        let (n, sum) = (y.len() as f64, y.iter().sum::<f64>());
        let precision = 1.0 / (TAU * TAU) + n / (NOISE * NOISE);
        let mean = sum / (NOISE * NOISE) / precision;
        let squares = y.iter().map(|y| y * y).sum::<f64>() / (NOISE * NOISE) - mean * mean * precision;
        let log_det = n * (NOISE * NOISE).ln() + (TAU * TAU).ln() + precision.ln();
        let exact = -0.5 * (squares + log_det + n * std::f64::consts::TAU.ln());
        assert!((evidence - exact).abs() < 0.05, "{i}: {evidence} against {exact}");
        let (found, variance) = (codes.component_mean(i)[0], codes.component_covariance(i)[0]);
        assert!((found - mean).abs() < 0.2 / precision.sqrt(), "{i}: {found} against {mean}");
        assert!((variance * precision).ln().abs() < 0.2, "{i}: {variance} against {}", 1.0 / precision);
    }
}

/// The same from beliefs that are too wide, too narrow, or elsewhere: the posterior is that of Gaussian updates, and found with less work
/// where the belief is of use.
#[test]
fn codes_of_which_something_is_known_are_found_there() {
    let family = at(&anywhere(20, 1), 1);
    let (online, model) = (Online::default(), levels());
    let n = N_TIME as f64;
    let precision = 1.0 / (TAU * TAU) + n / (NOISE * NOISE);
    let exact: Vec<f64> = (0..20)
        .map(|i| family.sequence(i).outputs().values().iter().sum::<f64>() / (NOISE * NOISE) / precision)
        .collect();
    let evaluations = |known: &[Option<GaussianMixture>]| -> Vec<usize> {
        let random = (3, Stream::Item as fn(u64) -> Stream);
        let followed = Followed { model: &model, online: &online, family: &family, known, random };
        let keep = |i: usize, whole: Whole| {
            let (mean, std_dev) = (whole.posterior.mean()[0], whole.posterior.std_dev()[0]);
            // Fifty effective draws at least: four standard errors.
            let error = (mean - exact[i]) * precision.sqrt();
            assert!(error.abs() < 4.0 / 50f64.sqrt(), "{i}: {error} deviations");
            assert!((std_dev * precision.sqrt()).ln().abs() < 0.4, "{i}: {std_dev}");
            Ok(whole.posterior.diagnostics().evaluations)
        };
        followed.each(&family.observed(), &keep, &mut |_| Control::Continue).unwrap()
    };
    let believed = |shift: f64, times: f64| -> Vec<Option<GaussianMixture>> {
        let one = |mean: &f64| {
            let variance = times * times / precision;
            GaussianMixture::new(vec![1.0], vec![vec![mean + shift / precision.sqrt()]], vec![vec![variance]])
        };
        exact.iter().map(|mean| one(mean).ok()).collect()
    };
    let from_nothing: usize = evaluations(&[]).iter().sum();
    for (shift, times) in [(0.0, 1.0), (0.5, 4.0), (-1.0, 0.7)] {
        let known: usize = evaluations(&believed(shift, times)).iter().sum();
        assert!(4 * known < from_nothing, "{shift} {times}: {known} against {from_nothing}");
    }
    // Thirty deviations away: looked for as if nothing were known, and found.
    evaluations(&believed(30.0, 1.0));
}

/// Evidence is of outputs in data units, whatever the units of the model.
#[test]
fn evidence_does_not_depend_on_units() {
    let scaled = |factor: f64| {
        let family = at(&kinds(6, 2), 2);
        let times = |sequence: &Sequence| {
            let outputs = sequence.outputs().values().iter().map(|y| factor * y).collect();
            Sequence::new(sequence.id(), Signal::column(outputs)).unwrap()
        };
        let family = Family::new(family.sequences().iter().map(times).collect()).unwrap();
        let scaling = Scaling::standard_outputs(&family).unwrap();
        let model = System::new(levels().spec().clone(), scaling, levels().parameters().to_vec()).unwrap();
        whole(&model, &family).0
    };
    for (plain, tenfold) in scaled(1.0).iter().zip(scaled(10.0)) {
        let expected = plain - N_TIME as f64 * 10f64.ln();
        assert!((tenfold - expected).abs() < 1e-3, "{tenfold} against {expected}");
    }
}

fn new_members<'a>(
    model: &'a System,
    online: &'a Online,
    training: &'a Family,
    held_out: Option<&'a Family>,
) -> NewMembers<'a> {
    NewMembers { model, online, training, held_out, known: [&[], &[]], std_dev: TAU, seed: 5 }
}

#[test]
fn members_that_come_in_kinds_get_a_prior_around_them() {
    let (model, online) = (levels(), Online::default());
    let (training, held_out) = (at(&kinds(40, 3), 3), at(&kinds(12, 4), 4));
    let asked = new_members(&model, &online, &training, Some(&held_out));
    let mut told = vec![];
    let chosen = asked
        .prior(PriorRule::Auto, &mut PriorSearch::default(), &mut |done, all| {
            told.push((done, all));
            Control::Continue
        })
        .unwrap();
    assert_eq!(told.last(), Some(&(40 + 4 * 12, 40 + 4 * 12)));
    assert!(chosen.spread.is_some_and(|spread| spread < 0.5), "{:?}", chosen.trials);
    let density = |at: f64| {
        let mixture = chosen.prior.mixture(1).unwrap();
        mixture.log_density_with_gradient(&[at], &mut [0.0])
    };
    assert!(density(1.5) > density(0.0) + 1.0 && density(-1.5) > density(0.0) + 1.0);
    // One that is like none of them is recognised all the same.
    let model = model.clone().with_prior(chosen.prior).unwrap();
    let (_, codes) = whole(&model, &at(&[0.1, 3.0], 6));
    assert!((codes.component_mean(0)[0] - 0.1).abs() < 0.35, "{codes:?}");
    assert!((codes.component_mean(1)[0] - 3.0).abs() < 0.35, "{codes:?}");
}

#[test]
fn members_anywhere_keep_the_normal_prior() {
    let (model, online) = (levels(), Online::default());
    let (training, held_out) = (at(&anywhere(40, 7), 7), at(&anywhere(20, 8), 8));
    let asked = new_members(&model, &online, &training, Some(&held_out));
    let chosen =
        asked.prior(PriorRule::Auto, &mut PriorSearch::default(), &mut |_, _| Control::Continue).unwrap();
    assert_eq!((chosen.spread, chosen.prior), (None, Prior::Normal { std_dev: TAU }), "{:?}", chosen.trials);
    assert_eq!(chosen.trials.len(), 3);
}

#[test]
fn a_rule_is_kept_and_without_held_out_sequences_nothing_is_tried() {
    let (model, online) = (levels(), Online::default());
    let training = at(&kinds(40, 9), 9);
    for held_out in [None, Some(at(&kinds(4, 10), 10))] {
        let asked = new_members(&model, &online, &training, held_out.as_ref());
        let prior =
            |rule| asked.prior(rule, &mut PriorSearch::default(), &mut |_, _| Control::Continue).unwrap();
        assert_eq!(prior(PriorRule::Auto).spread, None);
        assert_eq!(prior(PriorRule::Aggregate).spread, Some(0.3));
        assert!(prior(PriorRule::Aggregate).trials.is_empty());
    }
    let held_out = at(&kinds(12, 10), 10);
    let asked = new_members(&model, &online, &training, Some(&held_out));
    let kept =
        asked.prior(PriorRule::Normal, &mut PriorSearch::default(), &mut |_, _| Control::Continue).unwrap();
    assert_eq!((kept.spread, kept.trials.len()), (None, 0));
}

/// A state with memory a = tanh 1.5 and process noise, beside the level: y_t = x_t + z + v_t.
fn walks(log_process: f64) -> System {
    let spec = Architecture::new(StochasticLds::new(1, 1, 0), 1)
        .fix("decay", 1.5)
        .fix("rotation", 0.0)
        .fix("state_bias", 0.0)
        .fix("initial_state", 0.0)
        .fix("emission", 1.0);
    with_offset_by_code(spec, NOISE, log_process)
}

/// Drawn from [`walks`].
fn walkers(n: usize, log_process: f64, seed: u64) -> Family {
    let mut random = stream(seed, 3);
    let mut member = |i: usize| {
        let (mut x, z) = (0.0, normal(&mut random));
        let mut step = |_| {
            x = 1.5f64.tanh() * x + log_process.exp() * normal(&mut random);
            x + z + NOISE * normal(&mut random)
        };
        Sequence::new(i.to_string(), Signal::column((0..40).map(&mut step).collect())).unwrap()
    };
    Family::new((0..n).map(&mut member).collect()).unwrap()
}

#[test]
fn process_noise_gets_the_size_that_forecasts_best() {
    let (online, truth) = (Online::default(), -0.5f64);
    let held_out = walkers(30, truth, 11);
    let calibration = Calibration { online: &online, held_out: &held_out, seed: 5 };
    for (believed, expected) in [(truth, 0.75..=1.35), (truth - 0.8, 1.8..=2.5), (truth + 0.6, 0.75..=0.75)] {
        let found = calibration.of(walks(believed), &mut |_, _| Control::Continue).unwrap();
        assert!(expected.contains(&found.factor), "{believed}: {:?}", found.trials);
        assert!((3..=5).contains(&found.trials.len()), "{:?}", found.trials);
        let log = found.model.block_values("process_noise").unwrap()[0];
        assert!((log - (believed + found.factor.ln())).abs() < 1e-6, "{log}");
    }
}

#[test]
fn models_and_families_that_cannot_be_calibrated_stay_as_they_are() {
    let online = Online::default();
    let (few, many) = (walkers(4, -0.5, 12), at(&kinds(8, 13), 13));
    for (model, held_out) in [(walks(-2.0), &few), (levels(), &many)] {
        let found = Calibration { online: &online, held_out, seed: 5 }
            .of(model.clone(), &mut |_, _| Control::Continue)
            .unwrap();
        assert_eq!((found.factor, found.trials.len()), (1.0, 0));
        assert_eq!(found.model.parameters(), model.parameters());
    }
}

#[test]
fn a_factor_scales_every_deviation_of_a_full_process_noise() {
    let base = StochasticLds { process_noise: NoiseForm::Full, ..StochasticLds::new(2, 1, 0) };
    let model =
        System::initialise(Architecture::new(base, 1), Scaling::identity(1, 0), &mut stream(2, 0)).unwrap();
    let mut parameters = model.parameters().to_vec();
    let mixing = model.tensors().into_iter().find(|t| t.name == "shared.process_mixing").unwrap();
    parameters[mixing.range()].fill(0.25);
    let model = model.with_parameters(parameters).unwrap();
    let scaled = model.clone().with_process_noise(2.0).unwrap().unwrap();
    let of = |model: &System, name: &str| model.block_values(name).unwrap();
    assert_eq!(of(&scaled, "process_mixing"), [0.5]);
    for (after, before) in of(&scaled, "process_noise").iter().zip(of(&model, "process_noise")) {
        assert!((after - before - 2f64.ln()).abs() < 1e-6);
    }
    assert_eq!(of(&scaled, "noise"), of(&model, "noise"));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(model.clone().with_process_noise(bad).is_err(), "{bad}");
    }
    assert!(levels().with_process_noise(2.0).unwrap().is_none());
}
