//! What is stored comes back: parameters to the bit, everything else equal.

use proptest::prelude::*;

use super::super::weights;
use super::*;
use crate::base::{InputMap, NoiseForm};
use crate::generator::{FeatureMap, Skip};
use crate::random;
use rand::Rng;

fn base() -> impl Strategy<Value = Lds> {
    let input_map = prop_oneof![Just(InputMap::Tanh), Just(InputMap::Sparse)];
    let noise_form = prop_oneof![Just(NoiseForm::Diagonal), Just(NoiseForm::Full)];
    (1..5usize, 1..4usize, 0..3usize, input_map, noise_form).prop_map(
        |(d_state, d_obs, d_input, input_map, noise_form)| Lds {
            d_state,
            d_obs,
            d_input,
            input_map,
            noise_form,
        },
    )
}

fn role() -> impl Strategy<Value = Role> {
    prop_oneof![Just(Role::Adapted), Just(Role::Shared), (-9.0..9.0f64).prop_map(Role::Fixed)]
}

fn any_spec() -> impl Strategy<Value = Architecture> {
    // `offset` keeps its role: one block must be adapted.
    let blocks = ["decay", "rotation", "input", "emission", "feedthrough", "noise", "initial_state"];
    let roles = prop::collection::vec((prop::sample::select(blocks.to_vec()), role()), 0..4);
    let activation = prop::sample::select(vec![
        Activation::Identity,
        Activation::Tanh,
        Activation::Sigmoid,
        Activation::Relu,
        Activation::Softplus,
    ]);
    let features = prop_oneof![Just(FeatureMap::Identity), Just(FeatureMap::Trigonometric)];
    let skip = prop_oneof![Just(Skip::None), Just(Skip::Affine)];
    let network = (1..4usize, prop::collection::vec(1..6usize, 0..3), activation, features, skip);
    (base(), roles, network).prop_map(|(base, roles, (d_code, widths, activation, features, skip))| {
        let spec = Architecture::new(base, d_code).hidden(&widths, activation).features(features).skip(skip);
        roles.into_iter().fold(spec, |spec, (block, role)| spec.role(block, role))
    })
}

/// Any finite bits: subnormal numbers and −0 included.
fn any_parameters(n: usize, seed: u64) -> Vec<f32> {
    let mut random = random::stream(seed, 0);
    let mut draw = || {
        let value = f32::from_bits(random.next_u32());
        if value.is_finite() { value } else { -0.0 }
    };
    (0..n).map(|_| draw()).collect()
}

/// A mixture whose weights sum to one exactly: others are scaled anew, by a rounding error, when read.
fn any_prior(d_code: usize, seed: u64) -> Prior {
    let mut random = random::stream(seed, 1);
    let mut unit = || f64::from(random.next_u32()) / f64::from(u32::MAX);
    let mean = |unit: &mut dyn FnMut() -> f64| (0..d_code).map(|_| unit() - 0.5).collect::<Vec<_>>();
    let means = vec![mean(&mut unit), mean(&mut unit)];
    let mut covariance = || {
        let mut square = vec![0.0; d_code * d_code];
        (0..d_code).for_each(|i| square[i * d_code + i] = 0.1 + unit());
        square
    };
    let covariances = vec![covariance(), covariance()];
    Prior::AggregatePosterior(GaussianMixture::new(vec![0.25, 0.75], means, covariances).unwrap())
}

fn assert_equal(found: &Model, wanted: &Model) {
    let bits = |b: &Model| b.system.parameters().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(found), bits(wanted));
    assert_eq!(found.system.spec(), wanted.system.spec());
    assert_eq!(found.system.scaling(), wanted.system.scaling());
    assert_eq!(found.system.prior(), wanted.system.prior());
    assert_eq!(found.provenance, wanted.provenance);
    assert_eq!(found.members, wanted.members);
}

proptest! {
    #[test]
    fn any_model_comes_back(spec in any_spec(), seed in any::<u64>(), n_members in 0..4usize) {
        let (parameters, d_code) = (any_parameters(n_parameters(&spec), seed), spec.network.d_code);
        let mut bundle = bundle_of(spec, parameters, n_members);
        match seed % 3 {
            0 => {}
            1 => bundle.system = bundle.system.with_prior(any_prior(d_code, seed)).unwrap(),
            _ => bundle.system = bundle.system.with_prior(Prior::Normal { std_dev: 0.1 + (seed % 97) as f64 }).unwrap(),
        }
        let files = bundle.to_files().unwrap();
        prop_assert_eq!(&files, &bundle.to_files().unwrap());
        let loaded = load(&files).unwrap();
        assert_equal(&loaded, &bundle);
        prop_assert_eq!(loaded.to_files().unwrap(), files);
    }

    /// The store knows the tensors before there is a model; it must not disagree with the model.
    #[test]
    fn the_expected_tensors_are_those_of_the_model(spec in any_spec()) {
        let expected = weights::expected(&spec, 0).unwrap();
        let model = bundle_of(spec.clone(), vec![0.0; n_parameters(&spec)], 0).system;
        let tensors = model.tensors().into_iter();
        let of_model: Vec<_> = tensors.map(|t| weights::Expected { name: t.name, shape: t.shape }).collect();
        prop_assert_eq!(expected, of_model);
    }
}

#[test]
fn the_files_have_their_names_in_order() {
    let files = files();
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, [CONFIG_FILE, WEIGHTS_FILE, CARD_FILE]);
    assert_equal(&load(&files).unwrap(), &bundle());
}

#[test]
fn codes_are_rounded_to_single_precision_once() {
    let mut bundle = bundle();
    bundle.members[1].code_mean = vec![0.1, 1.0 / 3.0];
    let loaded = load(&bundle.to_files().unwrap()).unwrap();
    assert_eq!(loaded.members[1].code_mean, [f64::from(0.1f32), f64::from(1.0f32 / 3.0)]);
    assert_eq!(loaded.to_files().unwrap(), bundle.to_files().unwrap());
}

#[test]
fn the_card_and_other_files_are_not_needed() {
    let mut files = files();
    files[2] = (".gitattributes".into(), vec![0xff]);
    assert_equal(&load(&files).unwrap(), &bundle());
}

#[test]
fn unknown_fields_are_refused_and_named() {
    for place in
        ["", "/architecture", "/architecture/network", "/scaling", "/members/0", "/scores/0", "/online"]
    {
        let files = with_config(|config| {
            config.pointer_mut(place).unwrap()["from_the_future"] = json!([1, {"a": null}]);
        });
        assert_refused(&files, CONFIG_FILE, &["from_the_future"]);
    }
}

#[test]
fn the_card_says_what_there_is() {
    let mut bundle = bundle();
    bundle.columns.outputs[0] = "a|b\n`c`".into();
    let files = bundle.to_files().unwrap();
    let card = String::from_utf8(files[2].1.clone()).unwrap();
    for part in [
        "---\nlibrary_name: mtds\n",
        "| RMSE | 20 seen | 0.3000 | 0.01250 | 5 |",
        "| NLL | 20 seen | 0.3000 | not known | 5 |",
        "| generator | 2 → 3 tanh → ",
        "| outputs | 2: a\\|b \\`c\\`, y1 |",
        "| fixed | state\\_bias, initial\\_state |",
        "seed 18446744073709551615",
        "      \"learn\": \"mco\",",
        "mtds_data::model::load_model(\"MODEL\".as_ref())?",
        "Some(&inputs)",
        "Codes of training members kept: 3.",
        "## Licence",
    ] {
        assert!(card.contains(part), "{part} not in:\n{card}");
    }
    bundle.scores.clear();
    bundle.system = bundle.system.with_prior(Prior::Normal { std_dev: 1.5 }).unwrap();
    let card = String::from_utf8(bundle.to_files().unwrap()[2].1.clone()).unwrap();
    assert!(card.contains("None were measured."), "{card}");
    assert!(card.contains("| prior over codes | normal, standard deviation 1.5 |"), "{card}");
}
