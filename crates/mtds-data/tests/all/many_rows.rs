//! Frames so long that several threads work on them: whatever their number, what is read, noticed or refused is what the same rows give as CSV.

#![cfg(feature = "arrow")]

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Float32Array, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray,
};
use mtds_data::{Format, ReadFamily, ReadOptions, Result, read_family_from, read_family_from_batches};

/// Sequences, of different lengths.
const N_SEQ: usize = 3000;
/// Rows of a batch: sequences go across their ends.
const BATCH: usize = 47_111;

#[derive(Clone, Copy)]
struct Row {
    series: usize,
    time: i64,
    y: [Option<f64>; 3],
}

/// Sequences one after the other, half a million rows; of the first output every fifth is missing, the second is a column of integers.
fn rows() -> Vec<Row> {
    let row = |series: usize, t: usize| {
        let k = 31 * series + 7 * t;
        let y = [
            (!k.is_multiple_of(5)).then_some(k as f64 * 0.1),
            Some((k % 97) as f64),
            Some((k % 1001) as f64 / 8.0),
        ];
        Row { series, time: 3 * (t + series % 4) as i64, y }
    };
    (0..N_SEQ).flat_map(|series| (0..130 + series % 90).map(move |t| row(series, t))).collect()
}

fn batch(rows: &[Row]) -> RecordBatch {
    let series: ArrayRef =
        Arc::new(rows.iter().map(|row| Some(format!("member {}", row.series))).collect::<StringArray>());
    let time: ArrayRef = Arc::new(rows.iter().map(|row| Some(row.time)).collect::<Int64Array>());
    let y1: ArrayRef = Arc::new(rows.iter().map(|row| row.y[0]).collect::<Float64Array>());
    let y2 = rows.iter().map(|row| row.y[1].map(|y| y as i64)).collect::<Int64Array>();
    let y3 = rows.iter().map(|row| row.y[2].map(|y| y as f32)).collect::<Float32Array>();
    let columns = [("series", series), ("t", time), ("y1", y1), ("y2", Arc::new(y2)), ("y3", Arc::new(y3))];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap()
}

fn read(rows: &[Row], n_threads: Option<usize>) -> Result<ReadFamily> {
    let batches: Vec<_> = rows.chunks(BATCH).map(|rows| Ok(batch(rows))).collect();
    let batches = RecordBatchIterator::new(batches, batch(&rows[..1]).schema());
    let read = || read_family_from_batches(batches, Path::new("a"), &ReadOptions::default());
    match n_threads {
        None => read(),
        Some(n) => rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap().install(read),
    }
}

fn read_csv(rows: &[Row]) -> Result<ReadFamily> {
    let mut text = String::from("series,t,y1,y2,y3\n");
    for Row { series, time, y } in rows {
        let [y1, y2, y3] = y.map(|y| y.map(|y| y.to_string()).unwrap_or_default());
        writeln!(text, "member {series},{time},{y1},{y2},{y3}").unwrap();
    }
    read_family_from(text.as_bytes(), Format::Csv, Path::new("a"), &ReadOptions::default())
}

/// Rows without those at some times, in an order that is no sequence's own.
fn scattered() -> Vec<Row> {
    let mut rows: Vec<Row> =
        rows().into_iter().filter(|row| !(row.time as usize + row.series).is_multiple_of(11)).collect();
    rows.sort_by_key(|row| (row.time * 7919 % 1013, row.series % 13, row.series, row.time));
    rows
}

#[test]
fn any_number_of_threads_reads_the_family_that_the_same_rows_are_as_csv() {
    for (what, rows) in [("in order", rows()), ("with gaps, scattered", scattered())] {
        let expected = read_csv(&rows).unwrap();
        for n_threads in [None, Some(1), Some(2), Some(3)] {
            let found = read(&rows, n_threads).unwrap();
            assert_eq!(found.family.fingerprint(), expected.family.fingerprint(), "{what}, {n_threads:?}");
            assert!(found.family == expected.family && found.time == expected.time, "{what}, {n_threads:?}");
            assert_eq!(found.notes.len(), expected.notes.len(), "{what}, {n_threads:?}");
        }
    }
}

#[test]
fn any_number_of_threads_notices_the_same() {
    let rows = scattered();
    let notes = |n_threads| read(&rows, n_threads).unwrap().notes;
    let expected = notes(None);
    assert!(expected.len() > N_SEQ, "{}", expected.len());
    assert!((1..4).all(|n| notes(Some(n)) == expected));
}

#[test]
fn the_first_of_two_wrong_rows_is_named_by_any_number_of_threads() {
    for said in ["time", "finite"] {
        let spoil = |rows: &mut [Row], at: usize| match said {
            "time" => rows[at].time = rows[at - 1].time,
            _ => rows[at].y[0] = Some(f64::INFINITY),
        };
        let mut rows = rows();
        let found = |rows: &[Row], n| read(rows, n).unwrap_err().to_string();
        // Each far from the next, in the middle of its sequence.
        let last = rows.len() - 50;
        spoil(&mut rows, last);
        let alone = found(&rows, None);
        spoil(&mut rows, 400_020);
        spoil(&mut rows, 250_020);
        let expected = found(&rows, None);
        assert!(
            expected.contains("row 250021") && expected.contains(said) && alone != expected,
            "{expected}"
        );
        for n in 1..4 {
            assert_eq!(found(&rows, Some(n)), expected, "{n} threads");
        }
    }
}
