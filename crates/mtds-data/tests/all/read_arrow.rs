//! Arrow batches: however rows are cut into batches and whatever types their columns have, what is read, noticed or refused is what one row after
//! the other gives, and what the same rows give as CSV.

#![cfg(feature = "arrow")]

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BinaryArray, DictionaryArray, Float32Array, Float64Array, Int32Array, Int64Array,
    LargeStringArray, RecordBatch, RecordBatchIterator, StringArray, StringViewArray, UInt64Array,
};
use mtds_data::{Format, ReadFamily, ReadOptions, Result, read_family_from, read_family_from_batches};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

/// Names that are numbers, too; one is too long to lie within a view.
const NAMES: [&str; 4] = ["7", "12", "1234567890123456789", "0"];
const LABELS: [&str; 2] = ["walk", "a label of more than twelve letters"];

/// A row: number of its name (the last of them: none), time, value, input, label.
type Row = (usize, Option<i64>, Option<f64>, f64, Option<usize>);

/// Types of the columns, by number.
#[derive(Debug, Clone, Copy)]
struct Types {
    series: usize,
    time: usize,
    value: usize,
    label: usize,
}

const PLAIN: Types = Types { series: 0, time: 0, value: 0, label: 0 };

fn texts(values: Vec<Option<&str>>, kind: usize) -> ArrayRef {
    match kind {
        0 => Arc::new(StringArray::from(values)),
        1 => Arc::new(LargeStringArray::from(values)),
        2 => Arc::new(StringViewArray::from(values)),
        3 => Arc::new(values.into_iter().collect::<DictionaryArray<Int8Type>>()),
        _ => {
            let numbers = values.into_iter().map(|value| value.and_then(|value| value.parse::<i64>().ok()));
            Arc::new(numbers.collect::<Int64Array>())
        }
    }
}

fn batch(rows: &[Row], types: Types) -> RecordBatch {
    let series = rows.iter().map(|row| NAMES.get(row.0).copied()).collect();
    let times = rows.iter().map(|row| row.1);
    let times: ArrayRef = match types.time {
        0 => Arc::new(times.collect::<Int64Array>()),
        1 => Arc::new(times.map(|time| time.map(|time| time as i32)).collect::<Int32Array>()),
        _ => Arc::new(times.map(|time| time.map(|time| time as u64)).collect::<UInt64Array>()),
    };
    let values = rows.iter().map(|row| row.2);
    let values: ArrayRef = match types.value {
        0 => Arc::new(values.collect::<Float64Array>()),
        1 => Arc::new(values.map(|value| Some(value.unwrap_or(f64::NAN))).collect::<Float64Array>()),
        2 => Arc::new(values.map(|value| value.map(|value| value as f32)).collect::<Float32Array>()),
        _ => Arc::new(
            values.map(|value| Some(value.map_or(f32::NAN, |value| value as f32))).collect::<Float32Array>(),
        ),
    };
    let inputs: ArrayRef = Arc::new(rows.iter().map(|row| Some(row.3)).collect::<Float64Array>());
    let labels = rows.iter().map(|row| row.4.map(|label| LABELS[label])).collect();
    RecordBatch::try_from_iter([
        ("series", texts(series, types.series)),
        ("t", times),
        ("y", values),
        ("u", inputs),
        ("label", texts(labels, types.label)),
    ])
    .unwrap()
}

/// What comes of the rows, in batches of these lengths and one of what is left.
fn read(rows: &[Row], lengths: &[usize], types: Types) -> Result<ReadFamily> {
    let (mut left, mut batches) = (rows, vec![]);
    for &length in lengths {
        let (now, later) = left.split_at(length.min(left.len()));
        batches.push(Ok(batch(now, types)));
        left = later;
    }
    batches.push(Ok(batch(left, types)));
    let schema = batch(rows, types).schema();
    let batches = RecordBatchIterator::new(batches, schema);
    read_family_from_batches(batches, Path::new("a"), &ReadOptions::default())
}

fn read_csv(rows: &[Row]) -> Result<ReadFamily> {
    let mut text = String::from("series,t,y,u,label\n");
    for row in rows {
        let shown = |value: Option<String>| value.unwrap_or_default();
        writeln!(
            text,
            "{},{},{},{},{}",
            NAMES.get(row.0).copied().unwrap_or_default(),
            shown(row.1.map(|time| time.to_string())),
            shown(row.2.map(|value| value.to_string())),
            row.3,
            row.4.map(|label| LABELS[label]).unwrap_or_default(),
        )
        .unwrap();
    }
    read_family_from(text.as_bytes(), Format::Csv, Path::new("a"), &ReadOptions::default())
}

/// As text, in which NaN equals itself.
fn shown(found: Result<ReadFamily>) -> String {
    found.map_or_else(|error| error.to_string(), |read| format!("{read:?}"))
}

/// Mostly good rows, sorted or not, with something to refuse now and then.
fn rows() -> impl Strategy<Value = Vec<Row>> {
    let odd = |rare: bool| if rare { 40u32 } else { 0 };
    (any::<bool>(), any::<bool>(), 1usize..40).prop_flat_map(move |(is_bad, is_sorted, n)| {
        let weight = odd(is_bad);
        let series = prop_oneof![1000 => 0..NAMES.len(), weight => Just(NAMES.len())];
        let time = prop_oneof![1000 => (0i64..400).prop_map(Some), weight => Just(None)];
        let value = prop_oneof![
            800 => (-40i32..40).prop_map(|value| Some(f64::from(value) / 8.0)),
            200 => Just(None),
            weight => Just(Some(f64::INFINITY)),
        ];
        let label = prop_oneof![1 => Just(None), 2 => Just(Some(0)), weight => Just(Some(1))];
        let row = (series, time, value, (0u8..3).prop_map(f64::from), label);
        prop::collection::vec(row, n).prop_map(move |mut rows: Vec<Row>| {
            if is_sorted {
                rows.sort_by_key(|row| (row.0, row.1));
                // Times that follow each other, which is what most families have.
                (0..rows.len()).for_each(|at| rows[at].1 = rows[at].1.map(|_| at as i64));
            }
            rows
        })
    })
}

proptest! {
    #[test]
    fn cuts_and_types_change_nothing(
        rows in rows(),
        lengths in prop::collection::vec(0usize..12, 0..6),
        (series, time, value, label) in (0usize..5, 0usize..3, 0usize..4, 0usize..4),
    ) {
        let one_by_one = shown(read(&rows, &vec![1; rows.len()], PLAIN));
        let types = Types { series, time, value, label };
        prop_assert_eq!(shown(read(&rows, &lengths, types)), one_by_one);
    }

    #[test]
    fn the_same_rows_as_csv_are_the_same_family(rows in rows(), lengths in prop::collection::vec(0usize..12, 0..6)) {
        if let (Ok(ours), Ok(theirs)) = (read(&rows, &lengths, PLAIN), read_csv(&rows)) {
            prop_assert_eq!(format!("{:?}", ours.family), format!("{:?}", theirs.family));
            prop_assert_eq!(ours.time, theirs.time);
        }
    }
}

#[test]
fn most_of_the_rows_are_good() {
    // Else the properties would compare refusals only.
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let draw = |runner: &mut _| rows().new_tree(runner).unwrap().current();
    let n_good = (0..200).filter(|_| read(&draw(&mut runner), &[], PLAIN).is_ok()).count();
    assert!((40..190).contains(&n_good), "{n_good} of 200");
}

/// Numbers of single precision stay as they are until they are laid out, outputs side by side and times as well.
#[test]
fn numbers_of_single_precision_are_those_of_double_precision() {
    let read = |as_single: bool, cut: usize| {
        let of = |value: &dyn Fn(usize) -> Option<f64>, rows: std::ops::Range<usize>| -> ArrayRef {
            let values = rows.map(value);
            match as_single {
                true => {
                    Arc::new(values.map(|value| value.map(|value| value as f32)).collect::<Float32Array>())
                }
                false => Arc::new(values.collect::<Float64Array>()),
            }
        };
        let part = |rows: std::ops::Range<usize>| {
            let series: Vec<&str> = rows.clone().map(|row| NAMES[row / 10]).collect();
            RecordBatch::try_from_iter_with_nullable([
                ("series", Arc::new(StringArray::from(series)) as ArrayRef, false),
                ("t", of(&|row| Some((row % 10) as f64 * 0.5), rows.clone()), true),
                ("y1", of(&|row| Some(row as f64 * 0.25), rows.clone()), true),
                ("y2", of(&|row| (row % 7 > 0).then_some(row as f64 - 3.5), rows.clone()), true),
                ("y3", of(&|row| Some(if row == 4 { f64::NAN } else { 1.0 / 8.0 }), rows), true),
            ])
            .unwrap()
        };
        let batches = [Ok(part(0..cut)), Ok(part(cut..40))];
        let schema = part(0..40).schema();
        let batches = RecordBatchIterator::new(batches, schema);
        read_family_from_batches(batches, Path::new("a"), &ReadOptions::default())
    };
    let expected = shown(read(false, 40));
    assert!(expected.contains("n_time: 10, width: 3"), "{expected}");
    for cut in [0, 1, 10, 13, 40] {
        assert_eq!(shown(read(true, cut)), expected, "{cut}");
    }
}

#[test]
fn the_first_wrong_row_is_named_whatever_column_it_is_in() {
    let rows = |odd: [(usize, Row); 2]| {
        let mut rows: Vec<Row> = (0..6).map(|t| (0, Some(t), Some(1.0), 0.0, None)).collect();
        odd.into_iter().for_each(|(at, row)| rows[at] = row);
        rows
    };
    let nameless: Row = (NAMES.len(), Some(4), Some(1.0), 0.0, None);
    let timeless: Row = (0, None, Some(1.0), 0.0, None);
    let infinite: Row = (0, Some(1), Some(f64::INFINITY), 0.0, None);
    for (odd, said) in [
        ([(4, nameless), (1, infinite)], "row 2, column `y`"),
        ([(1, timeless), (2, infinite)], "row 2, column `t`"),
        ([(4, nameless), (5, timeless)], "row 5, column `series`"),
    ] {
        let error = read(&rows(odd), &[], PLAIN).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn names_without_text_are_refused_and_large_numbers_stay_apart() {
    let read = |name: &str, names: ArrayRef| {
        let n = names.len() as i64;
        let mut columns: Vec<(&str, ArrayRef)> = vec![
            ("series", Arc::new(StringArray::from(vec!["a"; n as usize]))),
            ("t", Arc::new((0..n).map(Some).collect::<Int64Array>())),
            ("y", Arc::new(Float64Array::from(vec![1.0; n as usize]))),
        ];
        match columns.iter().position(|(known, _)| *known == name) {
            Some(at) => columns[at].1 = names,
            None => columns.push((name, names)),
        }
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let (schema, options) = (batch.schema(), ReadOptions::default());
        read_family_from_batches(RecordBatchIterator::new([Ok(batch)], schema), Path::new("a"), &options)
    };
    for name in ["series", "label"] {
        let bytes: ArrayRef = Arc::new(BinaryArray::from_vec(vec![b"a", b"b"]));
        let said = read(name, bytes).unwrap_err().to_string();
        let expected =
            format!("a, row 1, column `{name}`: expected a name, found a value of type Binary; give");
        assert!(said.starts_with(&expected), "{said}");
    }
    // As numbers of double precision the last two would be one.
    let hashes: ArrayRef = Arc::new(UInt64Array::from(vec![7, u64::MAX, u64::MAX - 1]));
    let family = read("series", hashes).unwrap().family;
    let ids: Vec<&str> = family.sequences().iter().map(|sequence| sequence.id()).collect();
    assert_eq!(ids, ["7", "18446744073709551615", "18446744073709551614"]);
}
