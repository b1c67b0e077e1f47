//! Tests of the model directory: round trips, every kind of bad file, random damage.

mod damage;
mod malformed;
mod network;
mod remembered;
mod round_trip;
mod segments;

use serde_json::{Value, json};

use super::*;
use crate::base::Lds;
use crate::family::Scaling;
use crate::generator::{Activation, Prior, Role};
use crate::infer::GaussianMixture;
use crate::model::{CardScore, DataColumns, Member, Provenance};
use crate::predict::Estimate;
use crate::system::Architecture;

type Files = Vec<(String, Vec<u8>)>;

fn spec() -> Architecture {
    Architecture::new(Lds::new(2, 2, 1), 2)
        .hidden(&[3], Activation::Tanh)
        .role("feedthrough", Role::Shared)
        .role("state_bias", Role::Fixed(0.25))
}

/// A scaling that no column shares with another.
fn scaling(d_obs: usize, d_input: usize) -> Scaling {
    let columns = |n: usize| {
        let offset: Vec<f64> = (0..n).map(|c| 0.1 * c as f64 - 3.7).collect();
        let scale: Vec<f64> = (0..n).map(|c| 1.3 + c as f64 / 3.0).collect();
        json!({"offset": offset, "scale": scale})
    };
    serde_json::from_value(json!({"outputs": columns(d_obs), "inputs": columns(d_input)})).unwrap()
}

fn names(prefix: &str, n: usize) -> Vec<String> {
    (0..n).map(|i| format!("{prefix}{i}")).collect()
}

/// Codes that F32 holds exactly.
fn member(i: usize, d_code: usize) -> Member {
    let code = |shift: usize| (0..d_code).map(|d| (i + d + shift) as f64 / 64.0).collect();
    Member {
        id: format!("s{i}"),
        label: i.is_multiple_of(2).then(|| "even".to_owned()),
        code_mean: code(7),
        code_std_dev: code(1),
    }
}

fn bundle_of(spec: Architecture, parameters: Vec<f32>, n_members: usize) -> Model {
    let (d_obs, d_input, d_code) = (spec.base.d_obs(), spec.base.d_input(), spec.network.d_code);
    let score = |std_error| Estimate { mean: 0.1 + 0.2, std_error, n: 5 };
    let provenance = Provenance {
        seed: u64::MAX,
        fingerprint: "ac432cbee7e9ceb6".into(),
        program_version: "0.1.0".into(),
        notes: json!({"learn": "mco", "rate": 0.1, "steps": [1, 2, null]}),
    };
    let system = System::new(spec, scaling(d_obs, d_input), parameters).unwrap();
    let columns = DataColumns::named(names("y", d_obs), names("u", d_input));
    Model {
        scores: vec![
            CardScore::new("RMSE", "20 seen", score(Some(0.0125))),
            CardScore::new("NLL", "20 seen", score(None)),
        ],
        members: (0..n_members).map(|i| member(i, d_code)).collect(),
        ..Model::by_hand(system, columns, provenance)
    }
}

fn n_parameters(spec: &Architecture) -> usize {
    spec.network.n_parameters() + spec.layout().unwrap().d_shared()
}

fn bundle() -> Model {
    let parameters = (0..n_parameters(&spec())).map(|i| (i * 37 % 101) as f32 / 64.0 - 0.75).collect();
    let mut bundle = bundle_of(spec(), parameters, 3);
    let covariance = vec![0.5, 0.125, 0.125, 0.25];
    let prior = GaussianMixture::new(vec![1.0], vec![vec![0.25, -1.5]], vec![covariance]).unwrap();
    bundle.system = bundle.system.with_prior(Prior::AggregatePosterior(prior)).unwrap();
    bundle
}

fn files() -> Files {
    bundle().to_files().unwrap()
}

fn load(files: &Files) -> Result<Model> {
    Model::from_files(files)
}

/// The files with a change to the JSON of the configuration.
fn with_config(change: impl FnOnce(&mut Value)) -> Files {
    let mut files = files();
    let mut config: Value = serde_json::from_slice(&files[0].1).unwrap();
    change(&mut config);
    files[0].1 = serde_json::to_vec(&config).unwrap();
    files
}

#[track_caller]
fn assert_store_error(error: &Error, in_file: &str, parts: &[&str]) {
    let Error::Store { file, why } = error else { panic!("{error}") };
    assert_eq!(file, in_file, "{why}");
    for part in parts {
        assert!(why.contains(part), "{part} not in: {why}");
    }
}

#[track_caller]
fn assert_refused(files: &Files, in_file: &str, parts: &[&str]) {
    let Err(error) = load(files) else { panic!("{parts:?}: loaded") };
    assert_store_error(&error, in_file, parts);
}
