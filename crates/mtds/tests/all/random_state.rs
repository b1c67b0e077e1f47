//! Models whose state is random given the code: likelihoods, gradients, following and forecasting against plain filters.

use crate::common::{LOG_NOISE, model, normals, own_inputs, with_gaps};
use mtds::custom::NoiseForm;
use mtds::parts::{Batch, Codes, Lds, OwnBatch, OwnPull, OwnWeights, StochasticLds, Weights};
use mtds::random::{Random, stream};
use mtds::{Architecture, Family, Online, Scaling, Sequence, Signal, System};
use rand::RngExt;
use rand_distr::StandardNormal;

const D_CODE: usize = 2;

fn base(d_state: usize, d_obs: usize) -> StochasticLds {
    StochasticLds::new(d_state, d_obs, 1)
}

/// Random weights with process noise that matters.
fn noisy_model(base: StochasticLds) -> System {
    let drawn = model(Architecture::new(base, D_CODE), 1.0, LOG_NOISE, 31);
    let mut parameters = drawn.parameters().to_vec();
    let process = drawn.tensors().into_iter().find(|t| t.name == "shared.process_noise").unwrap();
    parameters[process.range()].fill(-1.0);
    drawn.with_parameters(parameters).unwrap()
}

/// Sequences with gaps and lengths of their own, all with the same inputs or each with its own.
fn family(n_seq: usize, d_obs: usize, share: bool) -> Family {
    let mut random = stream(32, 0);
    let sequence = |i: usize| {
        let n_time = 12 + i % 3;
        let outputs = Signal::new(n_time, d_obs, normals(n_time * d_obs, &mut random)).unwrap();
        let outputs = if i.is_multiple_of(2) { with_gaps(&outputs, 0.3, &mut random) } else { outputs };
        let sequence = Sequence::new(i.to_string(), outputs).unwrap();
        if share { sequence } else { sequence.with_inputs(own_inputs(n_time, &mut random)).unwrap() }
    };
    let family = Family::new((0..n_seq).map(sequence).collect()).unwrap();
    if share { family.with_common_inputs(own_inputs(20, &mut stream(33, 0))).unwrap() } else { family }
}

fn codes(n: usize) -> Codes {
    let values = normals(n * D_CODE, &mut stream(34, 0));
    Codes::from_fn(n, D_CODE, |i, d| values[i * D_CODE + d])
}

/// With process noise that is next to nothing the filter is a rollout.
#[test]
fn without_process_noise_likelihoods_are_those_of_the_rollout() {
    let plain = model(Architecture::new(Lds::new(3, 2, 1), D_CODE), 1.0, LOG_NOISE, 31);
    let spec = Architecture::new(base(3, 2), D_CODE).fix("process_noise", -20.0);
    let random = System::new(spec, Scaling::identity(2, 1), plain.parameters().to_vec()).unwrap();
    for share in [true, false] {
        let (batch, codes) = (Batch::new(&family(7, 2, share)), codes(20));
        let want = plain.log_likelihoods(plain.parameters(), &codes, &batch);
        let got = random.log_likelihoods(random.parameters(), &codes, &batch);
        for (m, i) in (0..20).flat_map(|m| (0..7).map(move |i| (m, i))) {
            let (got, want) = (got.get(m, i), want.get(m, i));
            assert!((got - want).abs() < 2e-4 * want.abs(), "{m} {i}: {got} {want}");
        }
    }
}

/// Differences of a weighted log likelihood with respect to some parameters, against the gradient.
fn check_gradient(model: &System, value: impl Fn(&[f32]) -> f64, gradient: &[f32]) {
    let scale = gradient.iter().fold(0f32, |m, g| m.max(g.abs()));
    for tensor in model.tensors() {
        let range = tensor.range();
        for at in [range.start, range.end - 1] {
            let moved = |by: f32| {
                let mut parameters = model.parameters().to_vec();
                parameters[at] += by;
                value(&parameters)
            };
            let h = 4e-3;
            let want = (moved(h) - moved(-h)) / (2.0 * f64::from(h));
            let got = f64::from(gradient[at]);
            // Differences of a sum of some hundred in f32 are good to about 1e-2.
            let allowed = 2e-2 * f64::from(scale) + 1e-2 * want.abs();
            assert!((got - want).abs() < allowed, "{} at {at}: {got} {want}", tensor.name);
        }
    }
}

#[test]
fn gradients_of_shared_codes_match_central_differences() {
    for process_noise in [NoiseForm::Diagonal, NoiseForm::Full] {
        let model = noisy_model(StochasticLds { process_noise, ..base(3, 2) });
        let (batch, codes) = (Batch::new(&family(5, 2, true)), codes(3));
        let sparse = vec![vec![(0, 0.4), (3, 1.2)], vec![], vec![(4, 0.8)]];
        let value = |parameters: &[f32]| {
            let table = model.log_likelihoods(parameters, &codes, &batch);
            let of = |m: usize| sparse[m].iter().map(move |&(i, w)| (m, i, w));
            (0..3).flat_map(of).map(|(m, i, w)| w * f64::from(table.get(m, i))).sum()
        };
        let found = model.gradient(model.parameters(), &codes, &batch, Weights::Pairs(&sparse));
        let total: f64 = value(model.parameters());
        assert!((found.weighted_log_likelihood - total).abs() < 1e-3 * total.abs());
        check_gradient(&model, value, &found.parameters);
    }
}

#[test]
fn gradients_of_own_codes_match_central_differences() {
    let model = noisy_model(base(2, 1));
    let batch = OwnBatch::new(&family(4, 1, false));
    let drawn = normals(4 * 16 * D_CODE, &mut stream(35, 0));
    let codes = Codes::from_fn(4 * 16, D_CODE, |m, d| drawn[m * D_CODE + d]);
    let even = OwnWeights::Equal(1.0 / 16.0);
    let value = |parameters: &[f32]| {
        let found = model.own_gradient(parameters, &codes, &batch, OwnPull::Nothing);
        found.log_likelihoods.iter().sum::<f64>() / 16.0
    };
    let found = model.own_gradient(model.parameters(), &codes, &batch, OwnPull::Parameters(even));
    check_gradient(&model, value, &found.parameters);
}

/// What is known of the state goes on from window to window, covariance and all.
#[test]
fn windows_of_time_change_no_likelihood() {
    let (model, family) = (noisy_model(base(3, 2)), family(5, 2, false));
    let drawn = normals(5 * 16 * D_CODE, &mut stream(36, 0));
    let codes = Codes::from_fn(5 * 16, D_CODE, |m, d| drawn[m * D_CODE + d]);
    let of = |batch: &OwnBatch| {
        model.own_gradient(model.parameters(), &codes, batch, OwnPull::Nothing).log_likelihoods
    };
    let whole = of(&OwnBatch::new(&family));
    for steps in [1, 5] {
        for (a, b) in of(&OwnBatch::windowed(&family, steps)).iter().zip(&whole) {
            assert!((a - b).abs() < 1e-4 * (1.0 + b.abs()), "{a} {b}");
        }
    }
}

/// A walk seen through noise: x_t = a x_{t−1} + w_t, y_t = x_t + v_t, a from member to member.
fn walk(n_time: usize, random: &mut Random) -> (f64, Vec<f64>) {
    let a = random.random_range(0.6..0.97);
    let mut x = 0.0;
    let mut step = || {
        x = a * x + 0.3 * random.sample::<f64, _>(StandardNormal);
        x + 0.1 * random.sample::<f64, _>(StandardNormal)
    };
    (a, (0..n_time).map(|_| step()).collect())
}

/// Mean and variance of the outputs `ahead` steps after the last, by a filter of numbers that knows a and both noises.
fn filter(a: f64, outputs: &[f64], ahead: usize) -> (f64, f64) {
    let (mut m, mut p) = (0.0, 0.0);
    for y in outputs {
        (m, p) = (a * m, a * a * p + 0.09);
        let k = p / (p + 0.01);
        (m, p) = (m + k * (y - m), (1.0 - k) * p);
    }
    (0..ahead).for_each(|_| (m, p) = (a * m, a * a * p + 0.09));
    (m, p + 0.01)
}

fn walks(n_seq: usize) -> Family {
    let mut random = stream(37, 0);
    let member = |i: usize| Sequence::new(i.to_string(), Signal::column(walk(60, &mut random).1)).unwrap();
    Family::new((0..n_seq).map(member).collect()).unwrap()
}

/// Learned from 64 walks, forecasts of new ones come close to those of a filter that knows each walk's own a: the mean
/// of their negative log likelihoods differs by less than 0.1 nats per value, and 90 % intervals hold 85 % to 95 %
/// (1200 values in 100 sequences; the standard error is about 1 %).
#[test]
fn a_family_of_walks_is_learned_followed_and_forecast() {
    let spec = Architecture::new(StochasticLds::new(1, 1, 0), 1);
    let model = crate::common::learn_from_prior(spec, &walks(64), (500, 0.02, 128), 3);
    let (mut random, mut excess, mut inside, mut n) = (stream(38, 0), 0.0, 0, 0);
    for i in 0..100 {
        let (a, truth) = walk(52, &mut random);
        let seen = Signal::column(truth[..40].to_vec());
        let online = Online { history: (i % 2 == 1).then_some(20), ..Online::default() };
        let mut tracker = model.track(&seen, None, online, stream(39, i)).unwrap();
        let forecast = tracker.forecast(12, None).unwrap();
        let (low, high) = (forecast.quantile(0.05).unwrap(), forecast.quantile(0.95).unwrap());
        for h in 0..12 {
            let (mean, variance) = filter(a, &truth[..40], h + 1);
            let y = truth[40 + h];
            let best = 0.5 * ((y - mean).powi(2) / variance + (std::f64::consts::TAU * variance).ln());
            excess += -forecast.log_density(h, &[y]).unwrap() - best;
            inside += usize::from((low[h]..high[h]).contains(&y));
            n += 1;
        }
    }
    let (excess, inside) = (excess / f64::from(n), inside as f64 / f64::from(n));
    println!("excess {excess:.3} nats, coverage {inside:.3}");
    assert!(excess < 0.1 && (0.85..0.95).contains(&inside), "{excess} {inside}");
}

/// Futures of one draw hang together: neighbouring steps of a slow walk are alike, which single steps do not tell.
#[test]
fn drawn_futures_hang_together() {
    let model = noisy_model(base(2, 1));
    let seen = Signal::column(normals(15, &mut stream(40, 0)));
    let inputs = own_inputs(15, &mut stream(40, 1));
    let mut tracker = model.track(&seen, Some(&inputs), Online::default(), stream(41, 0)).unwrap();
    let forecast = tracker.forecast(6, Some(&own_inputs(6, &mut stream(40, 2)))).unwrap();
    let draws = forecast.draws(20_000, &mut stream(42, 0));
    let (mean, variance) = (forecast.mean(), forecast.variance());
    for t in 0..6 {
        let column: Vec<f64> = draws.iter().skip(t).step_by(6).copied().collect();
        let n = column.len() as f64;
        let drawn_mean = column.iter().sum::<f64>() / n;
        let drawn_variance = column.iter().map(|y| (y - drawn_mean).powi(2)).sum::<f64>() / n;
        // About a thousand different paths: five standard errors, for a false alarm below 1 in 10 000.
        assert!((drawn_mean - mean[t]).abs() < 5.0 * (variance[t] / 1000.0).sqrt(), "{t}");
        assert!((drawn_variance / variance[t] - 1.0).abs() < 5.0 * (2.0 / 1000f64).sqrt(), "{t}");
    }
}

/// A history that is kept to half a sequence forecasts nearly as the whole one does.
#[test]
fn what_is_known_of_a_state_is_carried_forward() {
    let model = noisy_model(base(2, 1));
    let (seen, inputs) = (normals(80, &mut stream(43, 0)), own_inputs(90, &mut stream(43, 1)));
    let seen = Signal::column(seen);
    let future = inputs.slice(80..90);
    let forecast = |history: Option<usize>| {
        let online = Online { history, ..Online::default() };
        let mut tracker = model.track(&seen, Some(&inputs), online, stream(44, 0)).unwrap();
        let forecast = tracker.forecast(10, Some(&future)).unwrap();
        (forecast.mean(), forecast.variance())
    };
    let (whole, bounded) = (forecast(None), forecast(Some(40)));
    for t in 0..10 {
        let error = (whole.0[t] - bounded.0[t]).abs() / whole.1[t].sqrt();
        assert!(error < 0.15, "{t}: {error}");
        assert!((bounded.1[t] / whole.1[t] - 1.0).abs() < 0.2, "{t}: {} {}", bounded.1[t], whole.1[t]);
    }
}
