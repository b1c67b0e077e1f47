//! A model stored in schema version 1, which every later version of the library must read.
//!
//! The files lie in `golden/model-v1`, written by version 0.1.0; the expected outputs come from `golden/expected.py`, which computes them from the files alone.

use mtds::custom::{NoiseForm, Role};
use mtds::parts::{Activation, CardScore, FeatureMap, GaussianMixture, Lds, Prior, Skip};
use mtds::store::{CARD_FILE, CONFIG_FILE, WEIGHTS_FILE};
use mtds::{Architecture, DataColumns, Member, Model, Provenance, Signal, System};
use serde_json::{Value, json};

const GOLDEN: [&[u8]; 3] = [
    include_bytes!("golden/model-v1/config.json"),
    include_bytes!("golden/model-v1/model.safetensors"),
    include_bytes!("golden/model-v1/README.md"),
];

/// Every option that the architecture has, in small; every number is exact in F32.
fn spec() -> Architecture {
    let base = Lds { noise_form: NoiseForm::Full, ..Lds::new(2, 2, 1) };
    Architecture::new(base, 2)
        .hidden(&[3], Activation::Tanh)
        .features(FeatureMap::Trigonometric)
        .skip(Skip::Affine)
        .role("feedthrough", Role::Shared)
        .role("state_bias", Role::Fixed(0.125))
}

fn model() -> System {
    let scaling = json!({
        "outputs": {"offset": [0.5, -20.0], "scale": [2.0, 0.25]},
        "inputs": {"offset": [1.0], "scale": [0.5]},
    });
    let spec = spec();
    let n = spec.network.n_parameters() + spec.layout().unwrap().d_shared();
    let parameters = (0..n).map(|i| (i * 37 % 101) as f32 / 64.0 - 0.75).collect();
    let means = vec![vec![0.5, -1.0], vec![-0.25, 0.75]];
    let covariances = vec![vec![0.5, 0.125, 0.125, 0.25], vec![1.0, 0.0, 0.0, 2.0]];
    let prior = GaussianMixture::new(vec![0.25, 0.75], means, covariances).unwrap();
    let model = System::new(spec, serde_json::from_value(scaling).unwrap(), parameters).unwrap();
    model.with_prior(Prior::AggregatePosterior(prior)).unwrap()
}

fn bundle() -> Model {
    let member = |id: &str, label: Option<&str>, mean: [f64; 2]| Member {
        id: id.into(),
        label: label.map(str::to_owned),
        code_mean: mean.into(),
        code_std_dev: vec![0.125, 0.0625],
    };
    let score = |measure: &str, mean, std_error| CardScore {
        measure: measure.into(),
        condition: "20 of 60 steps seen".into(),
        mean,
        std_error,
        n_seq: 12,
    };
    let provenance = Provenance {
        seed: 7,
        fingerprint: "ac432cbee7e9ceb6".into(),
        program_version: "0.1.0".into(),
        notes: json!({"learn": "mco", "particles": 128, "rate": 0.003}),
    };
    let columns = DataColumns::named(vec!["position".into(), "speed".into()], vec!["push".into()]);
    Model {
        scores: vec![score("RMSE", 0.4375, Some(0.03125)), score("NLL", -1.5, None)],
        members: vec![member("slow", Some("day"), [0.25, -1.5]), member("fast", None, [1.0, 0.5])],
        ..Model::by_hand(model(), columns, provenance)
    }
}

fn golden() -> Model {
    let files: Vec<_> = [CONFIG_FILE, WEIGHTS_FILE, CARD_FILE].into_iter().zip(GOLDEN).collect();
    Model::from_files(&files).unwrap()
}

#[test]
fn version_1_is_readable() {
    let (found, wanted) = (golden(), bundle());
    assert_eq!(found.system.spec(), wanted.system.spec());
    assert_eq!(found.system.scaling(), wanted.system.scaling());
    assert_eq!(found.system.prior(), wanted.system.prior());
    assert_eq!(found.system.parameters(), wanted.system.parameters());
    assert_eq!(found.provenance, wanted.provenance);
    assert_eq!(found.members, wanted.members);
}

#[test]
fn it_generates_what_it_did() {
    let golden = golden();
    let inputs = Signal::column(vec![1.0, 2.0, 0.5, 1.0]);
    // Members `slow` and `fast`, four steps of position and speed.
    let expected = [
        [
            1.931_901_4,
            -19.530_270_9,
            2.038_190_0,
            -19.584_700_4,
            1.809_606_8,
            -19.454_274_9,
            2.244_792_4,
            -19.640_176_8,
        ],
        [
            0.020_640_7,
            -20.082_334_7,
            1.481_664_9,
            -19.859_079_2,
            -0.890_482_2,
            -20.194_425_3,
            0.086_404_1,
            -20.082_516_8,
        ],
    ];
    for (member, expected) in golden.members.iter().zip(expected) {
        let found = golden.system.generate(&member.code_mean, Some(&inputs), 4).unwrap();
        for (found, expected) in found.values().iter().zip(expected) {
            // A few dozen operations in single precision on numbers around 1.
            assert!((found - expected).abs() < 1e-5, "{found} {expected}");
        }
    }
}

/// Written now, it is of the present version, and reads back as the same model.
#[test]
fn version_1_is_written_in_the_present_version() {
    let files = golden().to_files().unwrap();
    let config: Value = serde_json::from_slice(&files[0].1).unwrap();
    assert_eq!(config["schema_version"], mtds::store::SCHEMA_VERSION);
    assert_eq!(files[1].1, GOLDEN[1], "weights have the same form in both");
    let again = Model::from_files(&files).unwrap();
    assert_eq!(again.provenance, golden().provenance);
    assert_eq!(again.to_files().unwrap(), files);
}
