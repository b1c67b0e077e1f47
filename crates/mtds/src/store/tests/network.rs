//! The inference network as a file: what is written is read, everything else is refused with its reason.

use super::super::network::{read, write};
use super::*;
use crate::learn::{InferenceNetwork, LearnedNetwork};

fn network() -> LearnedNetwork {
    let architecture = InferenceNetwork::for_model(&bundle().system, 3).unwrap();
    let weights = (0..architecture.n_parameters()).map(|i| (i as f32 * 0.37).sin()).collect();
    LearnedNetwork::new(architecture, weights).unwrap()
}

fn bytes() -> Vec<u8> {
    write(&network(), &bundle().provenance).unwrap()
}

#[track_caller]
fn assert_says(bytes: &[u8], bundle: &Model, part: &str) {
    let error = read(bytes, bundle).unwrap_err();
    assert!(matches!(&error, Error::Store { file, .. } if file == NETWORK_FILE), "{error}");
    assert!(error.to_string().contains(part), "{part}: {error}");
}

/// The bytes with a text replaced by another of the same length.
fn with_text(from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes();
    let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
    bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    bytes
}

#[test]
fn what_is_written_is_read_and_the_same_network_gives_the_same_bytes() {
    assert_eq!(read(&bytes(), &bundle()).unwrap(), network());
    assert_eq!(bytes(), bytes());
}

#[test]
fn bytes_that_are_cut_short_or_something_else_are_refused() {
    let bytes = bytes();
    for n in [0, 7, 40, bytes.len() / 2, bytes.len() - 1] {
        assert_says(&bytes[..n], &bundle(), "cut short");
    }
    let other = bundle().to_files().unwrap().remove(1).1;
    assert_says(&other, &bundle(), "another kind of file");
}

#[test]
fn another_version_size_or_architecture_is_refused() {
    assert_says(&with_text("\\\"version\\\":1", "\\\"version\\\":7"), &bundle(), "version 7");
    assert_says(&with_text("\\\"d_hidden\\\":3", "\\\"d_hidden\\\":0"), &bundle(), "d_hidden");
    assert_says(&with_text("\\\"d_hidden\\\":3", "\\\"d_hidden\\\":4"), &bundle(), "expected shape");
    assert_says(&with_text("\\\"d_code\\\"", "\\\"e_code\\\""), &bundle(), "ill-formed");
}

#[test]
fn a_number_that_is_none_is_refused_by_tensor_and_place() {
    let mut bytes = bytes();
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_says(&bytes, &bundle(), "found NaN at");
    assert_says(&bytes, &bundle(), "inference.");
}

#[test]
fn the_network_of_another_model_is_refused() {
    let mut other = bundle();
    other.provenance.fingerprint = "0000000000000000".into();
    assert_says(&bytes(), &other, "another model");
    let spec = Architecture::new(Lds::new(2, 2, 1), 3);
    let n = n_parameters(&spec);
    assert_says(&bytes(), &bundle_of(spec, vec![0.1; n], 0), "another model");
}
