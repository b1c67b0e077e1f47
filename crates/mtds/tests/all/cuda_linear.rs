//! Linear systems on a graphics card against the processor: scores, gradients by all kinds of weights, codes of each sequence's own, a course of
//! learning. Skipped, in words, where there is no card.

use crate::common::normals;
use mtds::parts::{
    Activation, Carriers, CodeScores, Codes, FeatureMap, InputMap, Lds, MonteCarlo, MonteCarloObjective,
    OwnBatch, OwnPull, OwnWeights, Products, Schedule, Trainer, TrainingPlan, Weights,
};
use mtds::random::stream;
use mtds::{Architecture, Control, Device, Family, Scaling, Sequence, Signal, System};
use rand::RngExt;

fn card() -> Option<Device> {
    match Device::cuda(0, Products::Exact, None) {
        Ok(device) => Some(device),
        Err(why) => {
            crate::skip::skip("linear systems on a card", &why.to_string());
            None
        }
    }
}

/// Inputs of a family.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Inputs {
    None,
    Common,
    Own,
}

/// Decaying waves of two outputs, as long as each likes, with gaps.
fn family(n_seq: usize, inputs: Inputs) -> Family {
    let sequence = |i: usize| {
        let n_time = 30 - 3 * (i % 5);
        let noise = normals(2 * n_time, &mut stream(11, i as u64));
        let value = |at: usize| {
            let (t, d) = ((at / 2) as f64, at % 2);
            let wave = (-0.05 * t).exp() * ((0.3 + 0.05 * (i % 4) as f64) * t + d as f64).sin();
            if (at + i) % 13 == 5 { f64::NAN } else { wave + 0.1 * noise[at] }
        };
        let outputs = Signal::new(n_time, 2, (0..2 * n_time).map(value).collect()).unwrap();
        let sequence = Sequence::new(format!("s{i}"), outputs).unwrap();
        let u = |t: usize| (0.2 * (t * (i + 1)) as f64).sin();
        match inputs {
            Inputs::Own => sequence.with_inputs(Signal::column((0..n_time).map(u).collect())).unwrap(),
            _ => sequence,
        }
    };
    let family = Family::new((0..n_seq).map(sequence).collect()).unwrap();
    match inputs {
        Inputs::Common => {
            let impulse = (0..30).map(|t| f64::from(u8::from(t == 0))).collect();
            family.with_common_inputs(Signal::column(impulse)).unwrap()
        }
        _ => family,
    }
}

/// Systems, each with a family.
fn cases() -> Vec<(System, Family)> {
    let lds = |n, m, input_map| Lds { input_map, ..Lds::new(n, 2, m) };
    let specs = [
        (Architecture::new(lds(3, 0, InputMap::Sparse), 2), Inputs::None),
        (
            Architecture::new(lds(4, 1, InputMap::Sparse), 4)
                .features(FeatureMap::Trigonometric)
                .hidden(&[21], Activation::Sigmoid)
                .adapt("initial_state")
                .adapt("feedthrough"),
            Inputs::Common,
        ),
        (
            Architecture::new(lds(2, 1, InputMap::Tanh), 3)
                .hidden(&[6, 4], Activation::Tanh)
                .fix("offset", 0.1),
            Inputs::Own,
        ),
        (Architecture::new(lds(9, 1, InputMap::Sparse), 2).adapt("noise").share("emission"), Inputs::Own),
    ];
    let case = |(spec, inputs): (Architecture, Inputs)| {
        let scaling = Scaling::identity(2, spec.d_input());
        (System::initialise(spec, scaling, &mut stream(8, 0)).unwrap(), family(14, inputs))
    };
    specs.into_iter().map(case).collect()
}

fn codes(n: usize, k: usize) -> Codes {
    let values = normals(n * k, &mut stream(3, n as u64));
    Codes::from_fn(n, k, |i, d| values[i * k + d])
}

fn near(got: &[f32], want: &[f32], about: &str) {
    assert_eq!(got.len(), want.len(), "{about}");
    let norm = |x: &[f32]| x.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    let difference: Vec<f32> = got.iter().zip(want).map(|(a, b)| a - b).collect();
    let (found, of) = (norm(&difference), norm(want));
    assert!(found <= 5e-5 * (1.0 + of), "{about}: {found} of {of}");
}

#[test]
fn scores_and_gradients_are_those_of_the_processor() {
    let Some(card) = card() else { return };
    for (which, (system, family)) in cases().into_iter().enumerate() {
        let (on_card, batch) = (system.clone().on(&card), system.batch::<f32>(&family));
        let mut reused = CodeScores::default();
        for n in [1, 40, 517] {
            let about = format!("system {which}, {n} codes");
            let (codes, parameters) = (codes(n, system.d_code()), system.parameters());
            let mut want = system.log_likelihoods(parameters, &codes, &batch);
            on_card.log_likelihoods_into(parameters, &codes, &batch, &mut reused);
            assert_eq!((reused.n_codes(), reused.n_seq()), (n, 14));
            let close = |got: f64, want: f64, tolerance: f64| {
                assert!(
                    (got - want).abs() < tolerance * (1.0 + want.abs()),
                    "{about}: {got}, expected {want}"
                );
            };
            for i in 0..14 {
                for m in 0..n {
                    close(f64::from(reused.get(m, i)), f64::from(want.get(m, i)), 2e-5);
                }
                close(reused.log_evidence()[i], want.log_evidence()[i], 1e-4);
                close(reused.ess()[i], want.ess()[i], 2e-3);
            }
            let random = &mut stream(5, n as u64);
            let uniforms: Vec<f64> = (0..2 * 14).map(|_| random.random()).collect();
            let pairs: Vec<Vec<(usize, f64)>> =
                (0..n).map(|m| (0..m % 3).map(|j| ((m + 5 * j) % 14, 0.1 + j as f64)).collect()).collect();
            let check = |got: mtds::parts::Gradient, want: mtds::parts::Gradient, how: &str| {
                near(&got.parameters, &want.parameters, &format!("{about}, {how}"));
                close(got.weighted_log_likelihood, want.weighted_log_likelihood, 2e-5);
            };
            fn resampled<'a>(scores: &'a CodeScores, uniforms: &'a [f64]) -> Weights<'a> {
                Weights::Resampled { scores, per_sequence: 2, uniforms }
            }
            let of =
                |system: &System, weights: Weights<'_>| system.gradient(parameters, &codes, &batch, weights);
            let expected = of(&system, resampled(&want, &uniforms));
            check(of(&on_card, resampled(&reused, &uniforms)), expected.clone(), "resampled");
            check(of(&system, resampled(&reused, &uniforms)), expected, "scored there, pulled here");
            check(of(&on_card, Weights::Pairs(&pairs)), of(&system, Weights::Pairs(&pairs)), "pairs");
            let expected = of(&system, Weights::Normalised(&mut want));
            check(of(&on_card, Weights::Normalised(&mut reused)), expected, "weighted");
        }
    }
    assert_eq!(card.trouble(), None);
}

#[test]
fn codes_of_their_own_are_those_of_the_processor() {
    let Some(card) = card() else { return };
    for (which, (system, family)) in cases().into_iter().enumerate() {
        let (on_card, batch) = (system.clone().on(&card), OwnBatch::new(&family));
        for draws in [1, 9] {
            let codes = codes(14 * draws, system.d_code());
            let fixed: Vec<f64> = (0..14 * draws).map(|i| 0.01 * i as f64).collect();
            for pull in [OwnPull::Nothing, OwnPull::Codes, OwnPull::Both(OwnWeights::Fixed(&fixed))] {
                let about = format!("system {which}, {draws} draws, {pull:?}");
                let run = |system: &System| system.own_gradient(system.parameters(), &codes, &batch, pull);
                let (got, want) = (run(&on_card), run(&system));
                for (got, want) in got.log_likelihoods.iter().zip(&want.log_likelihoods) {
                    assert!(
                        (got - want).abs() < 2e-5 * (1.0 + want.abs()),
                        "{about}: {got}, expected {want}"
                    );
                }
                near(&got.parameters, &want.parameters, &about);
                near(&got.codes, &want.codes, &about);
            }
        }
    }
    assert_eq!(card.trouble(), None);
}

/// Losses of 60 steps by the Monte-Carlo objective, and the parameters after them.
fn learned(device: &Device, (system, family): &(System, Family), carriers: Carriers) -> (Vec<f64>, Vec<f32>) {
    let settings = MonteCarlo {
        particles: Schedule::constant(300.0).unwrap(),
        carriers,
        validation_particles: 64,
        ..MonteCarlo::default()
    };
    let plan = TrainingPlan {
        steps: 60,
        learning_rate: Schedule::constant(3e-3).unwrap(),
        ..TrainingPlan::default()
    };
    let (system, parameters) = (system.clone().on(device), system.parameters().to_vec());
    let objective = MonteCarloObjective::new(system, family, Some(family), settings).unwrap();
    let mut losses = vec![];
    let outcome = Trainer::new(objective, parameters, plan, stream(7, 0)).unwrap().run(&mut |step| {
        losses.push(step.loss);
        Control::Continue
    });
    (losses, outcome.unwrap().parameters)
}

#[test]
fn learning_goes_as_on_the_processor_and_repeats_to_the_bit() {
    let Some(card) = card() else { return };
    for (which, case) in cases().iter().enumerate() {
        for carriers in [Carriers::Weighted, Carriers::Resampled(5)] {
            let (want, _) = learned(&Device::cpu(), case, carriers);
            let (got, parameters) = learned(&card, case, carriers);
            assert_eq!(learned(&card, case, carriers), (got.clone(), parameters), "the same bits");
            let worst = |steps: std::ops::Range<usize>| {
                let pairs = got[steps.clone()].iter().zip(&want[steps]);
                pairs.map(|(a, b)| (a - b).abs() / (1.0 + b.abs())).fold(0.0, f64::max)
            };
            let found = [worst(0..10), worst(10..60)];
            println!(
                "system {which}, {carriers:?}: losses differ by {found:?} of their size in steps 1–10, 11–60"
            );
            // Adam turns rounding of small gradients into steps of its own, and a code at the border of two uniforms may be another one.
            assert!(found[0] < 1e-2 && found[1] < 5e-2, "system {which}, {carriers:?}: {found:?}");
        }
    }
    assert_eq!(card.trouble(), None);
}
