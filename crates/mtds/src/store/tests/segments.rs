//! Codes of segments as a file: what is written is read, everything else is refused.

use super::*;
use crate::model::SegmentCode;

/// A model whose members were cut into three segments.
fn cut() -> Model {
    let segment = |(i, start): (usize, usize)| SegmentCode {
        member: format!("s{}", i % 2),
        start,
        n_time: 64,
        code_mean: vec![i as f64 / 8.0, -1.5],
        code_std_dev: vec![0.25, 0.0],
    };
    let segments = [(0, 0), (2, 32), (1, 0)].into_iter().map(segment).collect();
    Model { segments, ..bundle() }
}

fn with_file(change: impl FnOnce(&mut Vec<u8>)) -> Files {
    let mut files = cut().to_files().unwrap();
    let (_, bytes) = files.iter_mut().find(|(name, _)| name == SEGMENTS_FILE).unwrap();
    change(bytes);
    files
}

#[test]
fn what_is_written_is_read() {
    let files = cut().to_files().unwrap();
    let read = load(&files).unwrap();
    assert_eq!(read.segments, cut().segments);
    assert!(read.to_files().unwrap() == files);
    // Models without segments have no such file, and one that lost it is still a model.
    assert!(!super::files().iter().any(|(name, _)| name == SEGMENTS_FILE));
    let without: Files = files.into_iter().filter(|(name, _)| name != SEGMENTS_FILE).collect();
    assert!(load(&without).unwrap().segments.is_empty());
}

#[test]
fn a_step_names_the_segment_in_whose_middle_it_is_most_nearly() {
    let model = cut();
    let start = |step: usize| model.segment("s0", step).map(|segment| segment.start);
    assert_eq!(
        (start(0).unwrap(), start(47).unwrap(), start(48).unwrap(), start(95).unwrap()),
        (0, 0, 32, 32)
    );
    let error = start(96).unwrap_err().to_string();
    assert!(error.contains("s0@96") && error.contains("s0@0 to s0@95"), "{error}");
    assert_eq!(model.code_called("s0@48").unwrap(), [0.25, -1.5]);
    assert_eq!(model.code_called("s0").unwrap(), model.member("s0").unwrap().code_mean);
    for name in ["s9", "s9@1", "s0@", "s0@x", "@3"] {
        assert!(model.code_called(name).is_err(), "{name}");
    }
    // A member that is called so comes first.
    let mut named = cut();
    named.members[2].id = "s0@48".into();
    assert_eq!(named.code_called("s0@48").unwrap(), named.members[2].code_mean);
}

#[test]
fn damage_and_other_versions_are_refused() {
    let replaced = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let found = with_file(|bytes| {
            let at = bytes.windows(from.len()).position(|part| part == from.as_bytes()).expect("there");
            bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        });
        load(&found).unwrap_err()
    };
    let cut_short = with_file(|bytes| bytes.truncate(bytes.len() - 5));
    assert_store_error(&load(&cut_short).unwrap_err(), SEGMENTS_FILE, &["cut short"]);
    let version = replaced(r#"\"version\":1"#, r#"\"version\":7"#);
    assert_store_error(&version, SEGMENTS_FILE, &["this program reads 1"]);
    assert_store_error(&replaced("mtds-segments", "mtds-segmentz"), SEGMENTS_FILE, &["another kind"]);
    assert_store_error(&replaced("codes.mean", "codes.maen"), SEGMENTS_FILE, &["codes.m"]);
    assert_store_error(&replaced(r#"[\"s1\",0,64]"#, r#"[\"s1\",0,00]"#), SEGMENTS_FILE, &["ill-formed"]);
    assert_store_error(&replaced(r#"[\"s1\",0,64]"#, r#"[\"s1\",640,]"#), SEGMENTS_FILE, &["ill-formed"]);
}

#[test]
fn codes_that_could_not_be_read_back_are_not_written() {
    for change in [
        |of: &mut SegmentCode| of.code_mean[1] = f64::NAN,
        |of: &mut SegmentCode| of.code_std_dev[0] = -1.0,
        |of: &mut SegmentCode| of.code_mean.push(0.0),
        |of: &mut SegmentCode| of.n_time = 0,
    ] {
        let mut model = cut();
        change(&mut model.segments[1]);
        assert_store_error(&model.to_files().unwrap_err(), SEGMENTS_FILE, &["segment `s0@32`"]);
    }
}
