//! What is written is read back: every family, in every format.

use mtds::{Family, Sequence, Signal};
use mtds_data::{Columns, Step, Time, TimeAxis, TimeKind, read_family, write_family};
use proptest::prelude::*;

/// Every ending that families can be written under.
const ENDINGS: [&str; 7] = ["csv", "tsv", "csv.gz", "jsonl", "ndjson.gz", "parquet", "npz"];

/// A finite number of any size, or a missing one.
fn output() -> impl Strategy<Value = f64> {
    prop_oneof![4 => any::<f64>().prop_filter("finite", |v| v.is_finite()), 1 => Just(f64::NAN), 2 => -10.0..10.0]
}

fn finite() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>().prop_filter("finite", |v| v.is_finite()), (-3i32..3).prop_map(f64::from)]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z0-9]{1,5}", "[ -~äß“,;\"\n\t]{1,8}"]
        .prop_filter("not empty", |text| !text.trim().is_empty())
}

/// Label, rows of outputs and rows of inputs.
type Part = (Option<String>, Vec<Vec<f64>>, Vec<Vec<f64>>);

/// One sequence, its last row observed: rows without outputs at the end would be the future.
fn sequence(d_obs: usize, d_input: usize) -> impl Strategy<Value = Part> {
    let rows = prop::collection::vec(prop::collection::vec(output(), d_obs), 0..6);
    let last = prop::collection::vec(finite(), d_obs);
    (prop::option::of(text()), rows, last, 0usize..3).prop_flat_map(move |(label, mut rows, last, ahead)| {
        rows.push(last);
        let n_inputs = rows.len() + ahead;
        let inputs = prop::collection::vec(prop::collection::vec(finite(), d_input), n_inputs);
        inputs.prop_map(move |inputs| (label.clone(), rows.clone(), inputs))
    })
}

fn family() -> impl Strategy<Value = Family> {
    (1usize..4, 0usize..3, prop::collection::btree_set(text(), 1..5)).prop_flat_map(
        |(d_obs, d_input, ids)| {
            prop::collection::vec(sequence(d_obs, d_input), ids.len()).prop_map(move |parts| {
                let make = |(id, (label, rows, inputs)): (&String, Part)| {
                    let mut made = Sequence::new(id, Signal::from_rows(rows).unwrap()).unwrap();
                    if d_input > 0 {
                        made = made.with_inputs(Signal::from_rows(inputs).unwrap()).unwrap();
                    }
                    label.into_iter().fold(made, Sequence::with_label)
                };
                Family::new(ids.iter().zip(parts).map(make).collect()).unwrap()
            })
        },
    )
}

fn axis(n_seq: usize) -> impl Strategy<Value = TimeAxis> {
    let day = 86_400_000_000;
    let kinds = prop_oneof![
        (1i64..100).prop_map(|step| (TimeKind::Integer, Step::Integer(step))),
        (1i64..5000).prop_map(|step| (TimeKind::Number, Step::Number(step as f64 / 64.0))),
        (1i64..50).prop_map(move |step| (TimeKind::Date, Step::Micros(step * day))),
        (1i64..1_000_000_000).prop_map(|step| (TimeKind::DateTime, Step::Micros(step))),
        (1i64..1_000_000_000).prop_map(|step| (TimeKind::UtcDateTime, Step::Micros(step))),
        (1i64..20).prop_map(|step| (TimeKind::Date, Step::Months(step))),
    ];
    (kinds, prop::collection::vec(-10_000i64..10_000, n_seq)).prop_map(move |((kind, step), starts)| {
        let start = |start: i64| match kind {
            TimeKind::Integer => Time::Integer(start),
            TimeKind::Number => Time::Number(start as f64 / 4.0),
            _ => Time::Micros(start * day),
        };
        TimeAxis { kind, step, starts: starts.into_iter().map(start).collect() }
    })
}

/// The same sequences with the same inputs, wherever these are kept.
fn assert_same(read: &Family, written: &Family) {
    assert_eq!(read.n_seq(), written.n_seq());
    assert_eq!((read.output_names(), read.input_names()), (written.output_names(), written.input_names()));
    for i in 0..read.n_seq() {
        let (a, b) = (read.sequence(i), written.sequence(i));
        assert_eq!((a.id(), a.label(), a.outputs()), (b.id(), b.label(), b.outputs()));
        let (a, b) = (read.inputs_of(i), written.inputs_of(i));
        assert_eq!(a.is_some(), b.is_some());
        if let (Some(a), Some(b)) = (a, b) {
            // Inputs found to be common are as long as the longest.
            assert!(a.n_time() >= b.n_time() && a.slice(0..b.n_time()) == *b, "{a:?} {b:?}");
        }
    }
}

/// Rows where every output is missing say where a sequence has steps only through their times.
fn check(family: &Family, time: &TimeAxis, ending: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("family.{ending}"));
    let columns = Columns::of(family);
    write_family(&path, family, &columns, time).unwrap();
    let read = read_family(&path, &columns.options()).unwrap();
    assert_same(&read.family, family);
    if ending == "npz" {
        assert_eq!(read.time, TimeAxis::counted(family.n_seq()));
        return;
    }
    let has_step = (0..family.n_seq()).any(|i| {
        family.sequence(i).n_time() > 1 || family.inputs_of(i).is_some_and(|inputs| inputs.n_time() > 1)
    });
    for i in 0..family.n_seq() {
        let last = family.sequence(i).n_time() - 1;
        assert_eq!(read.time.format(i, 0), time.format(i, 0));
        assert!(!has_step || read.time.format(i, last) == time.format(i, last), "{:?} {time:?}", read.time);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_family_is_read_back((family, time) in family().prop_flat_map(|f| { let n = f.n_seq(); (Just(f), axis(n)) })) {
        for ending in ENDINGS {
            check(&family, &time, ending);
        }
    }
}

#[test]
fn the_built_in_family_is_read_back_with_its_common_inputs() {
    let family = mtds_data::oscillators::Oscillators::default().draw(3, 1).unwrap().family;
    for ending in ENDINGS {
        check(&family, &TimeAxis::counted(3), ending);
    }
}
