//! One test for every way in which a model directory can be wrong.

use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};

use super::*;

/// A tensor on its way into an archive, right or wrong.
#[derive(Clone)]
struct Raw {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

/// The files with a change to the tensors.
fn with_tensors(change: impl FnOnce(&mut Vec<Raw>)) -> Files {
    let mut files = files();
    let archive = SafeTensors::deserialize(&files[1].1).unwrap();
    let raw = |(name, view): (&str, TensorView<'_>)| Raw {
        name: name.to_owned(),
        dtype: view.dtype(),
        shape: view.shape().to_vec(),
        bytes: view.data().to_vec(),
    };
    let mut tensors: Vec<Raw> = archive.iter().map(raw).collect();
    change(&mut tensors);
    let views = tensors.iter().map(|t| {
        let view = TensorView::new(t.dtype, t.shape.clone(), &t.bytes);
        (t.name.as_str(), view.unwrap())
    });
    let bytes = serialize(views, None).unwrap();
    files[1].1 = bytes;
    files
}

fn tensor<'a>(tensors: &'a mut [Raw], name: &str) -> &'a mut Raw {
    tensors.iter_mut().find(|t| t.name == name).unwrap()
}

/// The files with one entry of a tensor replaced.
fn with_value(name: &str, at: usize, value: f32) -> Files {
    with_tensors(|tensors| {
        tensor(tensors, name).bytes[4 * at..4 * at + 4].copy_from_slice(&value.to_le_bytes());
    })
}

/// The files with another value at a place of the configuration.
fn with_field(place: &str, value: Value) -> Files {
    with_config(|config| *config.pointer_mut(place).unwrap() = value)
}

#[test]
fn a_missing_or_doubled_file_is_named() {
    for name in REQUIRED_FILE_NAMES {
        let (mut fewer, mut more) = (files(), files());
        fewer.retain(|(file, _)| file != name);
        assert_refused(&fewer, name, &["missing"]);
        more.push((name.to_owned(), vec![]));
        assert_refused(&more, name, &["given twice"]);
    }
}

#[test]
fn text_that_is_not_json() {
    for text in ["", "{", "schema_version = 1", "{\"schema_version\": 1,"] {
        let mut files = files();
        files[0].1 = text.into();
        assert_refused(&files, CONFIG_FILE, &["not JSON, or cut short", "line", RESTORE]);
    }
}

#[test]
fn json_that_is_no_configuration() {
    for text in ["[]", "1", "{}", "{\"schema_version\": \"1\"}", "{\"schema_version\": -1}"] {
        let mut files = files();
        files[0].1 = text.into();
        assert_refused(&files, CONFIG_FILE, &["a field is missing or ill-formed"]);
    }
}

#[test]
fn an_unknown_schema_version() {
    // A later version may have changed everything but the version itself.
    let mut files = files();
    files[0].1 = br#"{"schema_version": 3}"#.into();
    let parts = ["schema version 3", "reads: 1, 2;", "newer program"];
    assert_refused(&files, CONFIG_FILE, &parts);
    assert_refused(&with_field("/schema_version", json!(0)), CONFIG_FILE, &["schema version 0"]);
}

#[test]
fn another_base_model() {
    let expected = ["has the base model `steam engine`", "expected one of: lds, kalman, rnn, ornn, gru, pd;"];
    assert_refused(&with_field("/base", json!("steam engine")), CONFIG_FILE, &expected);
    let mistaken = with_field("/base", json!("pd"));
    assert_refused(&mistaken, CONFIG_FILE, &[]);
}

#[test]
fn every_missing_field_is_named() {
    let config: Value = serde_json::from_slice(&files()[0].1).unwrap();
    let mut n_fields = 0;
    for place in [
        "",
        "/provenance",
        "/architecture",
        "/architecture/network",
        "/scaling",
        "/scaling/outputs",
        "/scores/0",
        "/members/1",
    ] {
        let names: Vec<String> =
            config.pointer(place).unwrap().as_object().unwrap().keys().cloned().collect();
        for name in &names {
            let files = with_config(|config| {
                config.pointer_mut(place).unwrap().as_object_mut().unwrap().remove(name);
            });
            assert_refused(&files, CONFIG_FILE, &["missing field", name]);
            n_fields += 1;
        }
    }
    assert_eq!(n_fields, 12 + 4 + 3 + 5 + 2 + 2 + 5 + 2);
    let files = with_config(|config| drop(config["online"].as_object_mut().unwrap().remove("every")));
    assert_refused(&files, CONFIG_FILE, &["`online.every`", "left out"]);
}

#[test]
fn sizes_that_make_no_model() {
    for (place, value, part) in [
        ("/architecture/base/d_state", json!(0), "d_state"),
        ("/architecture/network/d_code", json!(0), "code"),
        ("/architecture/network/hidden/0/width", json!(0), "layer 1 has no units"),
        ("/architecture/network/d_out", json!(1), "generator output"),
        ("/architecture/roles", json!([["decoy", "shared"]]), "no block `decoy`"),
        ("/architecture/base/d_state", json!(u64::MAX), "base.d_state"),
        ("/architecture/base/d_state", json!(65_537), "at most 65536"),
        ("/architecture/network/d_code", json!(u64::MAX), "d_code"),
        ("/architecture/network/hidden/0/width", json!(1u64 << 40), "hidden layer 1"),
        ("/architecture/network/d_out", json!(u64::MAX), "generator output"),
        ("/online/importance/final_samples", json!(1e15 as u64), "online: setting `final_samples`"),
        ("/online/importance/em_iterations", json!(1e15 as u64), "online: setting `em_iterations`"),
        ("/online/mode_starts", json!(1e15 as u64), "online: setting `mode_starts`"),
        (
            "/architecture/network/hidden",
            json!(vec![json!({"width": 1, "activation": "tanh"}); 2000]),
            "2000 hidden",
        ),
    ] {
        assert_refused(&with_field(place, value), CONFIG_FILE, &[part]);
    }
    // As large as allowed: nothing is computed or allocated before the weights have been seen.
    let files = with_config(|config| {
        config["architecture"]["network"]["hidden"] =
            json!(vec![json!({"width": MAX_SIZE, "activation": "tanh"}); 1024]);
    });
    assert_refused(
        &files,
        WEIGHTS_FILE,
        &["tensor `generator.0.weight`: expected shape [65536, 2], found [3, 2]"],
    );
}

#[test]
fn a_scaling_that_does_not_fit_or_cannot_be() {
    let wide = json!({"offset": [0.0, 0.0, 0.0], "scale": [1.0, 1.0, 1.0]});
    let parts = ["scaling: expected 2 outputs", "found 3"];
    assert_refused(&with_field("/scaling/outputs", wide.clone()), CONFIG_FILE, &parts);
    let parts = ["scaling: expected 1 inputs", "found 3"];
    assert_refused(&with_field("/scaling/inputs", wide), CONFIG_FILE, &parts);
    for value in [json!(0.0), json!(-1.0), json!(-0.0), json!(null), json!("1")] {
        assert_refused(&with_field("/scaling/outputs/scale/1", value), CONFIG_FILE, &["ill-formed"]);
    }
    assert_refused(&with_field("/scaling/inputs/offset/0", json!(null)), CONFIG_FILE, &["ill-formed"]);
    let mut files = files();
    let text = String::from_utf8(files[0].1.clone()).unwrap();
    files[0].1 = text.replacen("-3.7", "1e999", 1).into();
    assert_refused(&files, CONFIG_FILE, &["number out of range"]);
}

#[test]
fn a_prior_that_does_not_fit_or_cannot_be() {
    let mixture = |means: Value, covariances: Value| {
        let parts = json!({"weights": [1.0], "means": means, "covariances": covariances});
        json!({"aggregate_posterior": parts})
    };
    let narrow = mixture(json!([[0.0]]), json!([[1.0]]));
    let parts = ["prior: expected 2 dimensions", "found 1"];
    assert_refused(&with_field("/prior", narrow), CONFIG_FILE, &parts);
    let indefinite = mixture(json!([[0.0, 0.0]]), json!([[1.0, 2.0, 2.0, 1.0]]));
    assert_refused(&with_field("/prior", indefinite), CONFIG_FILE, &["positive definite"]);
    for std_dev in [0.0, -1.0, 1e200] {
        let flat = json!({"normal": {"std_dev": std_dev}});
        assert_refused(&with_field("/prior", flat), CONFIG_FILE, &["prior", "standard deviation"]);
    }
    assert_refused(&with_field("/prior", json!({"normal": {}})), CONFIG_FILE, &["missing field", "std_dev"]);
    assert_refused(&with_field("/prior", json!("uniform")), CONFIG_FILE, &["ill-formed"]);
}

#[test]
fn names_and_ids_that_do_not_fit() {
    let parts = ["output names: expected 2", "found 1"];
    assert_refused(&with_field("/columns/outputs", json!(["y"])), CONFIG_FILE, &parts);
    assert_refused(&with_field("/columns/inputs", json!([])), CONFIG_FILE, &["input names: expected 1"]);
    let twice = json!(["y", "y"]);
    assert_refused(&with_field("/columns/outputs", twice), CONFIG_FILE, &["two outputs are called `y`"]);
    assert_refused(&with_field("/members/2/id", json!("s0")), CONFIG_FILE, &["two members are called `s0`"]);
}

#[test]
fn scores_that_cannot_be() {
    assert_refused(
        &with_field("/scores/0/std_error", json!(-1.0)),
        CONFIG_FILE,
        &["score `RMSE`, `20 seen`"],
    );
    assert_refused(&with_field("/scores/0/mean", json!(null)), CONFIG_FILE, &["ill-formed"]);
}

#[test]
fn a_missing_tensor() {
    let files = with_tensors(|tensors| tensors.retain(|t| t.name != "shared.noise"));
    assert_refused(&files, WEIGHTS_FILE, &["no tensor `shared.noise`; expected one of shape [2]"]);
    let files = with_tensors(|tensors| tensors.retain(|t| t.name != "codes.std_dev"));
    assert_refused(&files, WEIGHTS_FILE, &["no tensor `codes.std_dev`; expected one of shape [3, 2]"]);
}

#[test]
fn an_extra_tensor() {
    let files = with_tensors(|tensors| {
        let extra = Raw { name: "generator.9.bias".into(), ..tensors[0].clone() };
        tensors.push(extra);
    });
    assert_refused(&files, WEIGHTS_FILE, &["tensor `generator.9.bias` is not part of the model"]);
}

#[test]
fn a_misshapen_tensor() {
    let files = with_tensors(|tensors| tensor(tensors, "generator.0.weight").shape = vec![2, 3]);
    let part = "tensor `generator.0.weight`: expected shape [3, 2], found [2, 3]";
    assert_refused(&files, WEIGHTS_FILE, &[part]);
    let files = with_tensors(|tensors| tensor(tensors, "codes.mean").shape = vec![3, 2, 1]);
    assert_refused(&files, WEIGHTS_FILE, &["tensor `codes.mean`: expected shape [3, 2], found [3, 2, 1]"]);
}

#[test]
fn another_number_of_members() {
    let files = with_config(|config| drop(config["members"].as_array_mut().unwrap().pop()));
    assert_refused(&files, WEIGHTS_FILE, &["`codes.mean`: expected 2 members", "found 3"]);
    let parts = ["`codes.mean`: expected 0 members", "found 3"];
    assert_refused(&with_field("/members", json!([])), WEIGHTS_FILE, &parts);
}

#[test]
fn a_tensor_of_another_type() {
    let files = with_tensors(|tensors| {
        let noise = tensor(tensors, "shared.noise");
        (noise.dtype, noise.bytes) = (Dtype::F64, vec![0; 16]);
    });
    assert_refused(&files, WEIGHTS_FILE, &["tensor `shared.noise`: expected F32, found F64"]);
}

#[test]
fn a_weight_that_is_not_finite() {
    let part = "tensor `generator.0.weight`: found NaN at [1, 1]";
    assert_refused(&with_value("generator.0.weight", 3, f32::NAN), WEIGHTS_FILE, &[part]);
    let part = "tensor `shared.noise`: found -inf at [1]";
    assert_refused(&with_value("shared.noise", 1, f32::NEG_INFINITY), WEIGHTS_FILE, &[part]);
    assert_refused(&with_value("codes.mean", 4, f32::INFINITY), WEIGHTS_FILE, &["found inf at [2, 0]"]);
    assert_refused(&with_value("codes.std_dev", 4, -0.5), WEIGHTS_FILE, &["member `s2`: found -0.5"]);
}

#[test]
fn weights_that_are_cut_short() {
    let whole = files();
    for len in 0..whole[1].1.len() {
        let mut files = whole.clone();
        files[1].1.truncate(len);
        assert_refused(&files, WEIGHTS_FILE, &["not a safetensors archive, or cut short", RESTORE]);
    }
    let mut files = whole;
    files[1].1.push(0);
    assert_refused(&files, WEIGHTS_FILE, &["not a safetensors archive"]);
}

#[test]
fn what_could_not_be_read_is_not_written() {
    let refused = |change: fn(&mut Model), file: &str, part: &str| {
        let mut bundle = bundle();
        change(&mut bundle);
        assert_store_error(&bundle.to_files().unwrap_err(), file, &[part]);
    };
    refused(|b| b.members[1].code_mean[0] = f64::NAN, WEIGHTS_FILE, "member `s1`: found NaN");
    refused(|b| b.members[1].code_mean[0] = 1e39, WEIGHTS_FILE, "member `s1`: found 1");
    refused(|b| b.members[0].code_std_dev[1] = -1.0, WEIGHTS_FILE, "member `s0`: found -1");
    refused(|b| b.members[0].code_std_dev = vec![], WEIGHTS_FILE, "expected 2 numbers");
    refused(|b| b.members[0].id = "s1".into(), CONFIG_FILE, "two members are called `s1`");
    refused(|b| b.columns.outputs = vec![], CONFIG_FILE, "output names: expected 2");
    refused(|b| b.scores[0].mean = f64::INFINITY, CONFIG_FILE, "found inf");
    refused(|b| b.scores[0].std_error = Some(f64::NAN), CONFIG_FILE, "NaN");
    let deep = |b: &mut Model| {
        b.provenance.notes = (0..200).fold(json!(1), |inner, _| json!([inner]));
    };
    refused(deep, CONFIG_FILE, "recursion limit");
}
