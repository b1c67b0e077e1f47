//! Wrong usage ends with exit code 2, says what is wrong and what to try, and leaves stdout alone.

use std::process::{Command, Output};

fn mtds(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mtds")).args(words).output().expect("the program runs")
}

fn refused(words: &[&str], expected: &[&str]) {
    let output = mtds(words);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words:?}: {message}");
    assert!(output.stdout.is_empty(), "{words:?} wrote to stdout");
    for part in expected {
        assert!(message.contains(part), "{words:?} should mention {part:?}: {message}");
    }
}

#[test]
fn no_threads_is_wrong_usage() {
    refused(&["quickstart", "--threads", "0"], &["--threads", "found 0", "try: leave it out"]);
}

#[test]
fn a_word_for_a_number_is_wrong_usage() {
    refused(&["quickstart", "--seed", "dog"], &["--seed", "dog"]);
}

#[test]
fn an_unknown_verb_is_wrong_usage() {
    refused(&["quikstart"], &["quikstart", "quickstart"]);
}

#[test]
fn no_verb_shows_the_help() {
    refused(&[], &["Usage", "quickstart"]);
}

#[test]
fn verbose_and_quiet_exclude_each_other() {
    refused(&["quickstart", "-v", "--quiet"], &["--verbose", "--quiet"]);
}

#[test]
fn a_file_as_output_directory_is_wrong_usage() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = folder.path().join("taken");
    std::fs::write(&file, "kept").expect("a file");
    let path = file.to_str().expect("plain path");
    refused(&["quickstart", "-o", path], &["--out", "taken` is a file"]);
    assert_eq!(std::fs::read_to_string(&file).expect("still there"), "kept");
}

#[test]
fn help_and_version_succeed_on_stdout() {
    for words in [["--help"].as_slice(), &["--version"], &["quickstart", "--help"]] {
        let output = mtds(words);
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        assert!(!output.stdout.is_empty() && output.stderr.is_empty(), "{words:?}");
    }
}

#[test]
fn what_is_no_part_of_an_experiment_is_wrong_usage() {
    refused(&["reproduce"], &["dho"]);
    refused(&["reproduce", "dho", "--scale", "huge"], &["--scale", "huge", "quick", "full"]);
    refused(&["reproduce", "dho", "--only", "oracle,magic"], &["--only", "`magic`", "try: oracle"]);
    refused(&["reproduce", "dho", "--cells", "5/4"], &["--cells", "5/4"]);
}
