//! How fast a large file is read; ignored by default, as it measures the machine.
//!
//! `cargo test --release -p mtds-data --test all throughput:: -- --ignored --nocapture`

use std::fmt::Write as _;
use std::time::Instant;

use mtds_data::{Columns, ReadOptions, read_family, write_family};

/// Tries, of which the fastest counts: others may want the processor, too.
const N_TRIES: usize = 5;
/// Rows of the file.
const N_ROWS: usize = 1_000_000;

#[test]
#[ignore = "measures the machine"]
fn a_million_rows_take_less_than_two_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("series,t,y1,y2,u,label\n");
    for row in 0..N_ROWS {
        let (series, t) = (row / 1000, row % 1000);
        let x = row as f64 * 0.618_033_988_749;
        writeln!(
            text,
            "patient-{series},{t},{},{},{:.3},group-{}",
            x.sin(),
            x.cos() * 100.0,
            x.fract(),
            series % 7
        )
        .unwrap();
    }
    let path = folder.path().join("a.csv");
    std::fs::write(&path, &text).unwrap();
    let read = timed("csv", &path);
    assert!(read.1 < 2.0, "{} s", read.1);
    let columns = Columns::of(&read.0.family);
    for ending in ["csv.gz", "jsonl", "parquet", "npz"] {
        let path = folder.path().join(format!("a.{ending}"));
        let start = Instant::now();
        write_family(&path, &read.0.family, &columns, &read.0.time).unwrap();
        println!("{ending:8} written in {:.2} s", start.elapsed().as_secs_f64());
        assert_eq!(timed(ending, &path).0.family, read.0.family);
    }
}

fn timed(what: &str, path: &std::path::Path) -> (mtds_data::ReadFamily, f64) {
    let once = || {
        let start = Instant::now();
        (read_family(path, &ReadOptions::default()).unwrap(), start.elapsed().as_secs_f64())
    };
    let (read, secs) = (0..N_TRIES).map(|_| once()).min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    let megabytes = std::fs::metadata(path).unwrap().len() as f64 / 1e6;
    println!("{what:8} {N_ROWS} rows, {megabytes:.0} MB, read in {secs:.2} s: {:.0} MB/s", megabytes / secs);
    assert_eq!(read.family.n_seq(), N_ROWS / 1000);
    (read, secs)
}
