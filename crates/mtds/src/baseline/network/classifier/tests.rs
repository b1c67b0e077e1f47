//! The classifier's gradient, learning, storage and errors.

use super::objective::cross_entropy;
use super::*;
use crate::baseline::network::HeldOut;
use crate::baseline::network::tests::noise;
use crate::learn::{Schedule, StoppingRule, TrainingPlan};

fn small() -> ClassifierSettings {
    let stopping = StoppingRule { every: 20, patience: Some(10), min_gain: 1e-3 };
    let learning_rate = Schedule::constant(1e-2).unwrap();
    ClassifierSettings {
        units: 24,
        hidden: 12,
        plan: TrainingPlan {
            steps: 400,
            learning_rate,
            clip_norm: Some(1.0),
            stopping,
            ..TrainingPlan::default()
        },
        ..ClassifierSettings::default()
    }
}

fn onward(_: &Progress) -> Control {
    Control::Continue
}

/// Sines, squares and saws of many periods, phases and lengths, with noise and a few gaps.
fn kinds(n_seq: usize, seed: usize) -> (Family, Vec<&'static str>) {
    let draws = noise(3 * n_seq, seed);
    let classes: Vec<_> = (0..n_seq).map(|i| ["sine", "square", "saw"][i % 3]).collect();
    let sequence = |i: usize| {
        let (period, phase) = (12.0 + 3.0 * draws[3 * i], draws[3 * i + 1]);
        let n_time = (36.0 + 10.0 * draws[3 * i + 2]) as usize;
        let extra = noise(n_time, seed + 31 * i);
        let value = |t: usize| {
            let cycle = (t as f64 / period + phase).rem_euclid(1.0);
            let level = match classes[i] {
                "sine" => (2.0 * std::f64::consts::PI * cycle).sin(),
                "square" => {
                    if cycle < 0.5 {
                        1.0
                    } else {
                        -1.0
                    }
                }
                _ => 2.0 * cycle - 1.0,
            };
            if t % 17 == 5 { f64::NAN } else { 10.0 + level + 0.1 * extra[t] }
        };
        Sequence::new(format!("{i}"), Signal::column((0..n_time).map(value).collect())).unwrap()
    };
    (Family::new((0..n_seq).map(sequence).collect()).unwrap(), classes)
}

#[test]
fn three_kinds_of_waves_are_told_apart() {
    let (family, classes) = kinds(120, 1);
    let classifier = SequenceClassifier::fit(&family, &classes, &small(), 3, &mut onward).unwrap().network;
    assert_eq!(classifier.classes(), ["saw", "sine", "square"]);
    let (test, truth) = kinds(90, 2);
    let outputs: Vec<&Signal> = test.sequences().iter().map(Sequence::outputs).collect();
    let found = classifier.predict(&outputs).unwrap();
    let mut right = 0;
    for (probabilities, truth) in found.iter().zip(&truth) {
        assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let best = (0..3).max_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b])).unwrap();
        right += usize::from(classifier.classes()[best] == *truth);
    }
    assert!(right > 85, "{right} of 90");
    // One at a time or all at once, whatever the lengths of the others.
    let single = classifier.predict(&outputs[5..6]).unwrap();
    assert!(single[0].iter().zip(&found[5]).all(|(a, b)| (a - b).abs() < 1e-5));
}

#[test]
fn the_gradient_is_that_of_central_differences() {
    for (p, units, hidden, n_classes) in [(1, 1, 1, 2), (2, 5, 3, 3), (3, 18, 17, 4)] {
        let settings = ClassifierSettings { units, hidden, ..small() };
        let reader = ClassifierNetwork::new(p, &settings, n_classes).unwrap();
        let piece = |n_time: usize, seed: usize| {
            let mut outputs = noise(n_time * p, seed);
            outputs[1] = f64::NAN;
            Piece { sequence: 0, n_time, outputs, inputs: vec![] }
        };
        let pieces = [piece(5, 1), piece(2, 2), piece(7, 3)];
        let reading: Reading<f64> = Reading::new(p, &pieces.iter().collect::<Vec<_>>());
        let classes = [0, 1, n_classes - 1];
        let parameters: Vec<f64> = noise(reader.n_parameters(), 4).iter().map(|w| 0.7 * w).collect();
        let mut pass = Pass::default();
        let loss = |parameters: &[f64], pass: &mut Pass<f64>| {
            reader.arrange(parameters, pass).unwrap();
            cross_entropy(&reader, &reading, &classes, pass).unwrap()
        };
        let (_, d_logits) = loss(&parameters, &mut pass);
        let mut gradient = vec![0.0; parameters.len()];
        reader.adjoint(&reading, &d_logits, &mut pass, &mut gradient).unwrap();
        for at in (0..parameters.len()).step_by(5).chain([parameters.len() - 1]) {
            let mut mean = |shift: f64| {
                let mut moved = parameters.clone();
                moved[at] += shift;
                loss(&moved, &mut pass).0
            };
            let expected = (mean(1e-5) - mean(-1e-5)) / 2e-5;
            assert!(
                (gradient[at] - expected).abs() < 1e-8 * (1.0 + expected.abs()),
                "{at} {} {expected}",
                gradient[at]
            );
        }
    }
}

#[test]
fn equal_seeds_give_equal_bits_and_files_keep_them() {
    let (family, classes) = kinds(15, 1);
    let mut settings = small();
    settings.plan.steps = 4;
    let fit = |n_threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| SequenceClassifier::fit(&family, &classes, &settings, seed, &mut onward))
            .unwrap()
            .network
    };
    let (one, other) = (fit(1, 2), fit(3, 2));
    assert_eq!(one.parameters(), other.parameters());
    assert_ne!(one.parameters(), fit(1, 3).parameters());
    let text = serde_json::to_string(&one).unwrap();
    let read: SequenceClassifier = serde_json::from_str(&text).unwrap();
    let outputs = [family.sequence(0).outputs()];
    assert_eq!(read.predict(&outputs).unwrap(), one.predict(&outputs).unwrap());
    assert_eq!((read.classes(), read.settings()), (one.classes(), one.settings()));
    let mut broken: serde_json::Value = serde_json::from_str(&text).unwrap();
    broken["classes"] = serde_json::json!(["a", "b"]);
    assert!(serde_json::from_value::<SequenceClassifier>(broken).is_err());
}

/// Classes are an argument; labels that say something else change nothing.
#[test]
fn labels_are_not_looked_at() {
    let (family, classes) = kinds(15, 1);
    let mut settings = small();
    settings.plan.steps = 2;
    let fit = |family: &Family| {
        SequenceClassifier::fit(family, &classes, &settings, 2, &mut onward).unwrap().network
    };
    let mislabelled = family.sequences().iter().map(|s| s.clone().with_label("x")).collect();
    assert_eq!(fit(&family).parameters(), fit(&Family::new(mislabelled).unwrap()).parameters());
}

#[test]
fn smallest_sizes_and_clear_errors() {
    let single = |i: usize| Sequence::new(format!("{i}"), Signal::column(vec![i as f64])).unwrap();
    let family = Family::new((0..4).map(single).collect()).unwrap();
    let tiny = ClassifierSettings { units: 1, hidden: 1, held_out: HeldOut::Nothing, batch: 1, ..small() };
    let classes = ["a", "a", "b", "b"];
    let classifier = SequenceClassifier::fit(&family, &classes, &tiny, 1, &mut onward).unwrap().network;
    let missing = Signal::column(vec![f64::NAN]);
    assert!(classifier.predict(&[&missing]).unwrap()[0].iter().all(|p| *p > 0.0 && *p < 1.0));
    assert!(classifier.predict(&[]).unwrap().is_empty());
    assert!(matches!(classifier.predict(&[&missing.slice(0..0)]), Err(Error::Shape { .. })));
    let infinite = Signal::column(vec![f64::INFINITY]);
    assert!(matches!(classifier.predict(&[&infinite]), Err(Error::NotFinite { .. })));
    let fails = |classes: &[&str], settings: &ClassifierSettings| {
        SequenceClassifier::fit(&family, classes, settings, 1, &mut onward).unwrap_err().to_string()
    };
    assert!(fails(&classes[1..], &tiny).contains("one per sequence"));
    assert!(fails(&["a"; 4], &tiny).contains("at least 2"));
    assert!(fails(&classes, &ClassifierSettings { hidden: 0, ..small() }).contains("hidden"));
    assert!(fails(&classes, &ClassifierSettings { batch: 0, ..small() }).contains("batch"));
    let lonely = ClassifierSettings { held_out: HeldOut::Sequences(0.7), ..tiny };
    assert!(fails(&["a", "b", "c", "d"], &lonely).contains("keeps no sequence"));
}
