//! A model directory that `mtds fit` of version 0.1.0 wrote stays readable, whole; a part that cannot be understood is named.

use mtds::evaluate::Seen;
use mtds::parts::NoiseBelief;
use mtds::{Sequence, Signal};
use mtds_data::model::{load_model, save_model};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn old() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/model-0.1.0"))
}

#[test]
fn a_fit_of_0_1_0_is_readable() {
    let model = load_model(old()).unwrap();
    let fit = model.fit.as_ref().unwrap();
    assert_eq!((fit.settings.code, fit.settings.amortised), (Some(2), Some(3)));
    assert_eq!(fit.reasons.iter().find(|reason| reason.key == "code").unwrap().why, "as asked");
    assert_eq!((fit.n_training, fit.n_held_out, fit.held_out_ids.len()), (13, 3, 3));
    assert_eq!((fit.judged.len(), fit.judged[0].seen), (3, Seen::Share(0.5)));
    assert!((fit.judged[0].rmse - 0.275_569_116_837).abs() < 1e-9 && fit.judged[0].cover95.is_nan());
    assert!(!fit.stages.is_empty() && fit.usage.is_some() && model.network.is_some());
    assert_eq!(model.online.noise, NoiseBelief::Uncertain { mean: 0.3, std_dev: 0.5 });
    assert_eq!((model.members.len(), model.columns.outputs.as_slice()), (16, &["y".to_owned()][..]));
    assert_eq!(model.time_step, None);
    let inputs = Signal::column((0..24).map(|t| f64::from(u8::from(t == 0))).collect());
    let seen = Signal::column((0..12).map(|t| (0.4 * f64::from(t)).sin()).collect());
    let history = Sequence::new("new", seen).unwrap().with_inputs(inputs).unwrap();
    assert!(model.forecast(&history, 12).unwrap().mean().iter().all(|mean| mean.is_finite()));
}

#[test]
fn written_again_it_is_of_the_present_version_and_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let model = load_model(old()).unwrap();
    save_model(&first, &model).unwrap();
    let again = load_model(&first).unwrap();
    assert_eq!(again.system.parameters(), model.system.parameters());
    assert_eq!(again.members, model.members);
    save_model(&second, &again).unwrap();
    for name in ["config.json", "model.safetensors", "history.json", "inference.safetensors", "fit.toml"] {
        assert_eq!(fs::read(first.join(name)).unwrap(), fs::read(second.join(name)).unwrap(), "{name}");
    }
}

/// What loading says about the configuration of `from` after `change`.
fn refusal(from: &Path, change: impl Fn(&mut Value)) -> String {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    let file = folder.path().join("config.json");
    let mut config: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    change(&mut config);
    fs::write(&file, config.to_string()).unwrap();
    load_model(folder.path()).unwrap_err().to_string()
}

/// 0.1.0 forecast with other settings, and said nothing.
#[test]
fn an_unreadable_setting_was_dropped_silently() {
    for (part, value, named) in [
        ("online", json!({"evrey": 5}), "evrey"),
        ("online", json!(null), "online"),
        ("data", json!({"resample": 2}), "columns.resample"),
        ("data", json!(null), "settings.data"),
        ("usage", json!({"active": "two"}), "fit.usage"),
        ("new_members", json!({}), "fit.new_members"),
        ("explained", json!(3), "fit.explained"),
        ("held_out_ids", json!("osc-1"), "fit.held_out_ids"),
        ("surprise", json!(1), "settings.surprise"),
    ] {
        let error = refusal(old(), |config| config["settings"][part] = value.clone());
        assert!(error.contains("config.json") && error.contains(named), "{part}: {error}");
    }
}

#[test]
fn in_the_present_version_nothing_is_passed_over_or_made_up() {
    let folder = tempfile::tempdir().unwrap();
    let present = folder.path().join("present");
    save_model(&present, &load_model(old()).unwrap()).unwrap();
    for (named, pointer, value) in [
        ("online.every", "/online/every", None),
        ("online", "/online/evrey", Some(json!(5))),
        ("fit", "/fit/later", Some(json!(true))),
        ("architecture.network", "/architecture/network/depth", Some(json!(2))),
        ("columns.resample", "/columns/resample", Some(json!(2))),
    ] {
        let error = refusal(&present, |config| {
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            let parent = config.pointer_mut(parent).unwrap().as_object_mut().unwrap();
            match &value {
                Some(value) => parent.insert(key.to_owned(), value.clone()),
                None => parent.remove(key),
            };
        });
        assert!(error.contains("config.json") && error.contains(named), "{named}: {error}");
    }
}
