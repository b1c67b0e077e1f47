//! Products against lanes, and against central differences.

use super::head::HeadForm;
use super::points::{self, Questions};
use super::{density, own, products};
use crate::base::emission::NoiseForm;
use crate::base::{Base, Gru, OutputForm, Rnn};
use crate::engine::{Codes, Importance, Observed, OwnBatch, OwnPull, OwnResult, OwnWeights, Trial};
use crate::family::{Family, Scaling, Sequence, Signal};
use crate::front::{Front, FrontStart, InputSkip};
use crate::generator::{Activation, Skip};
use crate::kernel::Real;
use crate::random::stream;
use crate::system::{Architecture, System};

const D_CODE: usize = 2;
const N_SEQ: usize = 3;

fn wave(n: usize, phase: f64) -> Vec<f64> {
    (0..n).map(|i| (0.7 * i as f64 + phase).sin()).collect()
}

/// Three sequences of 9, 5 and 1 steps, two outputs with gaps, two inputs.
fn family() -> Family {
    let sequence = |(i, &n): (usize, &usize)| {
        let mut outputs = wave(2 * n, i as f64);
        outputs.iter_mut().skip(3).step_by(5).for_each(|y| *y = f64::NAN);
        let inputs = Signal::new(n, 2, wave(2 * n, 2.0 + i as f64)).unwrap();
        let outputs = Signal::new(n, 2, outputs).unwrap();
        Sequence::new(format!("{i}"), outputs).unwrap().with_inputs(inputs).unwrap()
    };
    Family::new([9, 5, 1].iter().enumerate().map(sequence).collect()).unwrap()
}

fn systems() -> Vec<System> {
    let front = |start| Front { skip: InputSkip::Inputs, start, ..Front::new(2, 6, 3) };
    let rnn: Base = Rnn::new(19, 2, 2).into();
    let full: Base = Gru::new(5, 2, 2).with_noise(NoiseForm::Full).with_output(OutputForm::Residual).into();
    let behind: Base = Rnn::new(4, 2, 5).with_output(OutputForm::Residual).into();
    let gated: Base = Gru::new(17, 2, 5).into();
    let specs = [
        Architecture::new(rnn, D_CODE).adapt("initial_state"),
        Architecture::new(full, D_CODE).share("feedthrough").adapt("initial_state").skip(Skip::Affine),
        Architecture::new(behind, D_CODE)
            .adapt("feedthrough")
            .hidden(&[3], Activation::Tanh)
            .behind(front(FrontStart::Learned)),
        Architecture::new(gated, D_CODE)
            .share("candidate_recurrent")
            .behind(front(FrontStart::Encoded { steps: 2, d_obs: 2 })),
    ];
    specs
        .into_iter()
        .map(|spec| System::initialise(spec, Scaling::identity(2, 2), &mut stream(8, 0)).unwrap())
        .collect()
}

fn codes(per_sequence: usize) -> Codes {
    let values = wave(N_SEQ * per_sequence * D_CODE, 0.4);
    Codes::from_fn(N_SEQ * per_sequence, D_CODE, |m, d| values[m * D_CODE + d])
}

fn both(system: &System, codes: &Codes, batch: &OwnBatch, pull: OwnPull<'_>) -> [OwnResult; 2] {
    let trial = Trial { system, parameters: system.parameters() };
    let network = HeadForm::of(system).unwrap();
    let (mut lanes, mut found) = <[OwnResult; 2]>::default().into();
    own::own(trial, codes, (batch, pull), &mut lanes);
    // Twice: the second pass uses the memory of the first.
    for _ in 0..2 {
        products::own(&network, trial, codes, (batch, pull), &mut found);
    }
    [lanes, found]
}

fn close(a: &[f32], b: &[f32], what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    let size = a.iter().fold(0f32, |most, x| most.max(x.abs()));
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() < 2e-4 * (1.0 + size), "{what} {i}: {a} {b} of {size}");
    }
}

#[test]
fn products_find_what_lanes_find() {
    for (s, system) in systems().iter().enumerate() {
        for (per_sequence, window) in [(1, None), (3, Some(4)), (40, None)] {
            let batch = OwnBatch::for_model(system, &family(), window);
            let codes = codes(per_sequence);
            let ratios = wave(codes.len(), 1.0);
            let (each, shared): (Vec<usize>, Vec<usize>) = (vec![0, 1, 2], vec![0, 0, 1]);
            let rule = |n_sets: usize, code_of| {
                OwnWeights::Importance(Importance {
                    temperature: 0.7,
                    log_ratios: &ratios[..n_sets * per_sequence],
                    code_of,
                    log_negligible: -28.0,
                })
            };
            let fixed = OwnWeights::Fixed(&ratios);
            let pulls = [
                OwnPull::Nothing,
                OwnPull::Codes,
                OwnPull::Both(OwnWeights::Equal(0.3)),
                OwnPull::Parameters(fixed),
                OwnPull::Both(rule(3, &each)),
                OwnPull::Parameters(rule(2, &shared)),
            ];
            for pull in pulls {
                let what = format!("system {s}, {per_sequence} codes, {pull:?}");
                let [lanes, found] = both(system, &codes, &batch, pull);
                for (a, b) in lanes.log_likelihoods.iter().zip(&found.log_likelihoods) {
                    assert!((a - b).abs() < 1e-4 * (1.0 + a.abs()), "{what}: {a} {b}");
                }
                assert_eq!(lanes.weights.len(), found.weights.len(), "{what}");
                for (a, b) in lanes.weights.iter().zip(&found.weights) {
                    assert!((a - b).abs() < 1e-4, "{what}: {a} {b}");
                }
                close(&lanes.codes, &found.codes, &what);
                close(&lanes.parameters, &found.parameters, &what);
            }
        }
    }
}

#[test]
fn gradients_by_products_match_central_differences() {
    for (s, system) in systems().iter().enumerate() {
        let network = HeadForm::of(system).unwrap();
        let (batch, codes) = (OwnBatch::for_model(system, &family(), None), codes(1));
        let run = |parameters: &[f32], codes: &Codes, pull: OwnPull<'_>| {
            let mut found = OwnResult::default();
            products::own(&network, Trial { system, parameters }, codes, (&batch, pull), &mut found);
            found
        };
        let total = |parameters: &[f32], codes: &Codes| -> f64 {
            run(parameters, codes, OwnPull::Nothing).log_likelihoods.iter().sum()
        };
        let found = run(system.parameters(), &codes, OwnPull::Both(OwnWeights::Equal(1.0)));
        let agree = |numeric: f64, got: f32, what: String| {
            let got = f64::from(got);
            assert!((numeric - got).abs() < 5e-3 * (1.0 + numeric.abs()), "{what}: {numeric} {got}");
        };
        for at in (0..system.n_parameters()).step_by(7) {
            let moved = |by: f32| {
                let mut parameters = system.parameters().to_vec();
                parameters[at] += by;
                (total(&parameters, &codes), f64::from(parameters[at]))
            };
            let ((up, right), (down, left)) = (moved(4e-3), moved(-4e-3));
            agree((up - down) / (right - left), found.parameters[at], format!("system {s}, parameter {at}"));
        }
        for at in 0..codes.len() * D_CODE {
            let moved = |by: f64| {
                let here = |m: usize, d: usize| if m * D_CODE + d == at { by } else { 0.0 };
                let moved = Codes::from_fn(codes.len(), D_CODE, |m, d| codes.get(m, d) + here(m, d));
                total(system.parameters(), &moved)
            };
            agree((moved(4e-3) - moved(-4e-3)) / 8e-3, found.codes[at], format!("system {s}, code {at}"));
        }
    }
}

/// Densities and gradients of points: in lanes, by products. With carried states there is no gradient.
fn points_both<R: Real>(system: &System, points: &Codes, is_carried: bool) -> [(Vec<f64>, Vec<f64>); 2] {
    let sequence = family().sequence(0).clone();
    let group = system.group::<R>(sequence.outputs(), sequence.inputs()).unwrap();
    let parameters: Vec<R> = system.parameters_as();
    let of = Observed { trial: Trial { system, parameters: &parameters }, group: &group };
    let starts = wave(if is_carried { points.len() * system.base().d_belief() } else { 0 }, 0.9);
    let network = HeadForm::of(system).unwrap();
    let room = || (vec![0.5; points.len()], vec![0.25; points.len() * points.d_code()]);
    let (mut lanes, mut found) = (room(), room());
    let asked = Questions { network: &network, of, points, starts: &starts };
    if is_carried {
        density::densities(of, points, &starts, &mut lanes.0);
        points::evaluate(asked, &mut found.0, None);
    } else {
        density::slopes(of, points, &mut lanes.0, &mut lanes.1);
        points::evaluate(asked, &mut found.0, Some(&mut found.1));
    }
    [lanes, found]
}

#[test]
fn points_by_products_are_those_in_lanes() {
    for (s, system) in systems().iter().enumerate() {
        for (n, dim, is_carried) in
            [(1, D_CODE, false), (70, D_CODE, false), (17, D_CODE + 1, false), (5, D_CODE, true)]
        {
            let values = wave(n * dim, 0.4);
            let points = Codes::from_fn(n, dim, |m, d| values[m * dim + d]);
            let near = |[lanes, found]: [(Vec<f64>, Vec<f64>); 2], tolerance: f64| {
                let pairs = lanes.0.iter().zip(&found.0).chain(lanes.1.iter().zip(&found.1));
                let worst = pairs.map(|(a, b)| (a - b).abs() / (1.0 + a.abs())).fold(0.0, f64::max);
                assert!(worst < tolerance, "system {s}, {n} points of {dim}, carried {is_carried}: {worst}");
            };
            near(points_both::<f64>(system, &points, is_carried), 1e-6);
            near(points_both::<f32>(system, &points, is_carried), 2e-3);
        }
    }
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    let system = &systems()[2];
    let batch = OwnBatch::for_model(system, &family(), None);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let pull = OwnPull::Both(OwnWeights::Equal(0.3));
        pool.install(|| both(system, &codes(40), &batch, pull)[1].parameters.clone())
    };
    let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    assert_eq!(bits(run(1)), bits(run(2)));
}

/// Milliseconds of a pass there and back, the least of some: in lanes, by products.
fn milliseconds(base: Base, d_input: usize, per_sequence: usize) -> [f64; 2] {
    let (n_seq, n_time, d_obs) = (16, 64, 8);
    let spec = Architecture::new(base, 4);
    let system = System::initialise(spec, Scaling::identity(d_obs, d_input), &mut stream(8, 0)).unwrap();
    let sequence = |i: usize| {
        let signal = |width: usize| Signal::new(n_time, width, wave(n_time * width, i as f64)).unwrap();
        Sequence::new(format!("{i}"), signal(d_obs)).unwrap().with_inputs(signal(d_input)).unwrap()
    };
    let batch = OwnBatch::new(&Family::new((0..n_seq).map(sequence).collect()).unwrap());
    let values = wave(n_seq * per_sequence * 4, 0.4);
    let codes = Codes::from_fn(n_seq * per_sequence, 4, |m, d| values[m * 4 + d]);
    let network = HeadForm::of(&system).unwrap();
    let trial = Trial { system: &system, parameters: system.parameters() };
    let pull = OwnPull::Both(OwnWeights::Equal(1.0));
    let mut least = [f64::INFINITY; 2];
    let mut results = <[OwnResult; 2]>::default();
    for _ in 0..15 {
        for (way, result) in results.iter_mut().enumerate() {
            let clock = std::time::Instant::now();
            match way {
                0 => own::own(trial, &codes, (&batch, pull), result),
                _ => products::own(&network, trial, &codes, (&batch, pull), result),
            }
            least[way] = least[way].min(clock.elapsed().as_secs_f64() * 1e3);
        }
    }
    least
}

/// Which way is quicker, by kind, size of the state and number of codes; prints the table from which the choice was made.
#[test]
#[ignore = "measures time; run it alone: cargo test -p mtds --lib which_way_is_quicker -- --ignored --nocapture"]
fn which_way_is_quicker() {
    let mut slower = vec![];
    for is_gated in [false, true] {
        for n in [4, 8, 16, 24, 32, 64, 128] {
            let base = || if is_gated { Gru::new(n, 8, 8).into() } else { Base::from(Rnn::new(n, 8, 8)) };
            let network = {
                let spec = Architecture::new(base(), 4);
                let system = System::initialise(spec, Scaling::identity(8, 8), &mut stream(8, 0)).unwrap();
                HeadForm::of(&system).unwrap()
            };
            for per_sequence in [1, 4, 16] {
                let [lanes, products] = milliseconds(base(), 8, per_sequence);
                let chosen = super::prefers_products(&network, per_sequence);
                println!(
                    "gated {is_gated}, n {n}, K {per_sequence}: lanes {lanes:.2} ms, products {products:.2} ms, products chosen: {chosen}"
                );
                let (ours, other) = if chosen { (products, lanes) } else { (lanes, products) };
                if ours > 2.0 * other {
                    slower.push((is_gated, n, per_sequence));
                }
            }
        }
    }
    assert!(slower.is_empty(), "the other way is more than twice as quick: {slower:?}");
}
