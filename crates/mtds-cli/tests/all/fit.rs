//! `mtds fit` as a person runs it: what it chooses, what it leaves, what it refuses.

use crate::program::{json, must, must_fail, run};
use std::fs;
use std::path::Path;

/// Options that make a fit short.
const SHORT: &str =
    "--hidden 8 --start-steps 30 --refine-steps 50 --particles 64 --refine-particles 16 --state 2 -q";

fn folder_with(name: &str, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary directory");
    fs::write(folder.path().join(name), text).expect("written");
    folder
}

fn growth() -> tempfile::TempDir {
    folder_with("growth.csv", &crate::families::growth(16, 3))
}

/// The bytes of every file of a model.
fn bytes(model: &Path) -> Vec<(String, Vec<u8>)> {
    let names = ["config.json", "model.safetensors", "README.md", "fit.toml", "history.json"];
    let read = |name: &str| (name.to_owned(), fs::read(model.join(name)).expect(name));
    assert_eq!(fs::read_dir(model).expect("a directory").count(), names.len());
    names.into_iter().map(read).collect()
}

#[test]
fn a_fit_leaves_a_model_that_its_settings_replay_to_the_same_bits() {
    let folder = growth();
    let said = must(folder.path(), &format!("fit growth.csv -o first {SHORT} --seed 4 --threads 1"));
    assert!(said.contains("last value") && said.contains("--config first/fit.toml"), "{said}");
    must(folder.path(), "fit growth.csv -o second -q --config first/fit.toml --threads 2");
    assert_eq!(bytes(&folder.path().join("first")), bytes(&folder.path().join("second")));
    must(folder.path(), "fit growth.csv -o third -q --config first/fit.toml --seed 5");
    assert_ne!(bytes(&folder.path().join("first")), bytes(&folder.path().join("third")));
    assert!(!folder.path().join("first.checkpoint").exists(), "a finished run leaves no checkpoint");
}

#[test]
fn choices_are_said_with_their_reasons() {
    let folder = growth();
    let line = "fit growth.csv -o model --hidden 8 --start-steps 10 --refine-steps 20 --particles 64";
    let output = run(folder.path(), line);
    let said = crate::program::stderr(&output);
    for (setting, value, why) in [
        ("start_steps", "10", "as asked"),
        ("validation", "0.2", "enough of 16 sequences to see when to stop"),
    ] {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let expected = words(&format!("{setting} {value} {why}"));
        assert!(said.lines().any(|line| words(line) == expected), "{expected:?}: {said}");
    }
    let document = json(folder.path(), &format!("fit growth.csv -o other {SHORT}"));
    assert_eq!(document["settings"]["state"], 2);
    assert_eq!(document["reasons"]["state"], "as asked");
    assert_eq!(document["settings"]["scaling"], "outputs");
    assert_eq!((&document["n_training"], &document["n_held_out"]), (&13.into(), &3.into()));
    assert_eq!(document["rows"].as_array().map(Vec::len), Some(7), "the model and six rivals");
    assert!(document["best_rival"]["model_less"]["mean"].is_f64());
}

#[test]
fn the_length_of_the_code_is_chosen_by_sequences_kept_apart() {
    let folder = folder_with("growth.csv", &crate::families::growth(24, 8));
    let short = SHORT.replace("--refine-steps 50", "--refine-steps 150");
    let document = json(folder.path(), &format!("fit growth.csv -o model {short} --select-code 1..3"));
    let rows = document["selection"].as_array().expect("a table");
    assert_eq!(rows.iter().map(|row| row["code"].as_u64()).collect::<Vec<_>>(), [Some(1), Some(2), Some(3)]);
    assert!(rows.iter().all(|row| row["std_error"].as_f64().is_some_and(|se| se > 0.0)), "{rows:?}");
    let chosen: Vec<_> = rows.iter().filter(|row| row["chosen"] == true).collect();
    assert_eq!(chosen.len(), 1);
    assert_eq!(document["settings"]["code"], chosen[0]["code"]);
    // Not clearly worse than the best, and the shortest of those.
    let best =
        rows.iter().map(|row| row["log_likelihood"].as_f64().expect("a number")).fold(f64::MIN, f64::max);
    let (behind, se) = (chosen[0]["behind"].as_f64(), chosen[0]["behind_std_error"].as_f64());
    assert!(
        behind <= se
            && best - chosen[0]["log_likelihood"].as_f64().expect("a number") <= se.expect("a number") + 1e-9
    );
    // The chosen model alone, learned again from its settings, has the same weights.
    must(folder.path(), "fit growth.csv -o again -q --config model/fit.toml");
    let weights = |model: &str| fs::read(folder.path().join(model).join("model.safetensors")).expect("there");
    assert_eq!(weights("model"), weights("again"));
}

#[test]
fn what_is_expected_of_new_members_is_decided_by_held_out_sequences_or_as_asked() {
    let folder = folder_with("growth.csv", &crate::families::growth(40, 5));
    let fit = |model: &str, options: &str| {
        format!("fit growth.csv -o {model} --hidden 8 --refine-steps 60 --state 2 {options}")
    };
    let decided = json(folder.path(), &fit("decided", ""));
    let settings = &decided["settings"];
    assert_eq!((&settings["prior"], &settings["calibrate"]), (&"auto".into(), &true.into()));
    let trials = |document: &serde_json::Value, key: &str| {
        document["new_members"][key]["trials"].as_array().map(Vec::len)
    };
    assert_eq!((trials(&decided, "prior"), trials(&decided, "calibration")), (Some(3), Some(3)));
    let said = must(folder.path(), &fit("around", "--prior aggregate -q"));
    assert!(said.contains("codes of new members: around those of the members (spread"), "{said}");
    assert!(said.contains("process noise: "), "{said}");
    let card = fs::read_to_string(folder.path().join("around/README.md")).expect("a card");
    assert!(card.contains("aggregate posterior of the training codes, mixture of 35"), "{card}");
    must(folder.path(), "generate around --sample 3 --steps 10 -o new.csv");
    let asked = json(folder.path(), &fit("asked", "--prior normal --calibrate false"));
    assert_eq!((trials(&asked, "prior"), trials(&asked, "calibration")), (Some(0), Some(0)));
    assert_eq!(
        (&asked["new_members"]["prior"]["spread"], &asked["new_members"]["calibration"]["factor"]),
        (&().into(), &1.0.into())
    );
}

#[test]
fn event_files_are_left_on_request() {
    let folder = growth();
    must(folder.path(), &format!("fit growth.csv -o model {SHORT} --tensorboard events"));
    let files: Vec<_> = fs::read_dir(folder.path().join("events")).expect("made").collect();
    assert_eq!(files.len(), 1);
    let bytes = fs::read(files[0].as_ref().expect("listed").path()).expect("read");
    let count = |tag: &[u8]| bytes.windows(tag.len()).filter(|window| *window == tag).count();
    assert_eq!((count(b"bound/training"), count(b"bound/held_out")), (3 + 5 + 2 - 1, 2), "10, 20, 25, …, 50");
}

#[test]
fn wrong_options_are_wrong_usage() {
    let folder = growth();
    fs::write(folder.path().join("bad.toml"), "[learn]\ncodes = 3\n").expect("written");
    for (options, part) in [
        ("--code 0", "--code"),
        ("--validation 1.5", "--validation"),
        ("--adapt wings", "no block `wings`"),
        ("--select-code 3..1", "--select-code"),
        ("--config bad.toml", "line 2"),
        ("--config none.toml", "none.toml"),
        ("--checkpoint-every -1", "unexpected argument"),
        ("--selection 0.5 --validation 0.5 --select-code 1,2", "--validation"),
        ("--selection 0.2", "no lengths to choose from"),
        ("--front-rate 0.1", "--front-rate"),
        ("--overlap 5", "--overlap"),
        ("--adapt decay --share decay", "name it once"),
        ("--threads 0", "--threads"),
    ] {
        let said = must_fail(folder.path(), &format!("fit growth.csv -o model {options}"), 2);
        assert!(said.contains(part), "{options}: {said}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 2, "nothing is left behind");
}

#[test]
fn data_that_cannot_be_learned_from_are_named_by_row() {
    let folder = folder_with("bad.csv", "series,t,y\na,0,1\na,1,oops\n");
    let said = must_fail(folder.path(), "fit bad.csv -o model", 1);
    assert!(said.contains("bad.csv") && said.contains('3') && said.contains("oops"), "{said}");
    let said = must_fail(folder.path(), "fit none.csv -o model", 1);
    assert!(said.contains("none.csv"), "{said}");
    assert!(!folder.path().join("model").exists());
}

#[test]
fn the_option_that_helps_with_a_file_is_named() {
    for (name, text, option) in [
        (
            "bursts.csv",
            "series,t,y\na,0,1\na,0.013,2\na,0.0271,1\na,1e9,1\na,1000000000.017,2\n",
            "--resample ",
        ),
        ("twice.csv", "series,t,y\na,0,1\na,0,2\na,1,1\n", "--series COLUMN"),
        ("columns.csv", "who,t,y\na,0,1\n", "--series COLUMN"),
        ("hours.csv", "series,hour,y\na,0,1\n", "--time COLUMN"),
        ("table.dat", "series,t,y\na,0,1\n", "--format csv"),
    ] {
        let folder = folder_with(name, text);
        let said = must_fail(folder.path(), &format!("fit {name} -o model"), 1);
        assert!(said.contains("\n  try: ") && said.contains(option), "{name}: {said}");
    }
}

#[test]
fn a_model_is_replaced_only_by_force() {
    let folder = growth();
    must(folder.path(), &format!("fit growth.csv -o model {SHORT}"));
    let before = bytes(&folder.path().join("model"));
    let said = must_fail(folder.path(), &format!("fit growth.csv -o model {SHORT} --seed 2"), 2);
    assert!(said.contains("--force"), "{said}");
    assert_eq!(bytes(&folder.path().join("model")), before);
    must(folder.path(), &format!("fit growth.csv -o model {SHORT} --seed 2 --force"));
    assert_ne!(bytes(&folder.path().join("model")), before);
    fs::create_dir(folder.path().join("photos")).expect("made");
    fs::write(folder.path().join("photos/dog.png"), "woof").expect("written");
    let said = must_fail(folder.path(), &format!("fit growth.csv -o photos {SHORT} --force"), 1);
    assert!(said.contains("will not be replaced"), "{said}");
    assert!(folder.path().join("photos/dog.png").exists());
}

/// Sequences of one step, one sequence, a constant output: odd, but no reason to fail.
#[test]
fn odd_families_are_learned_without_complaint() {
    let one_step = "series,t,y\na,0,1\nb,0,2\nc,0,4\n";
    let alone = "series,t,y\na,0,1\na,1,2\na,2,1\na,3,2\na,4,1\na,5,2\n";
    let constant = "series,t,y,u\na,0,5,1\na,1,5,0\nb,0,5,0\nb,1,5,1\n";
    for text in [one_step, alone, constant] {
        let folder = folder_with("odd.csv", text);
        let options = "--hidden 8 --start-steps 20 --refine-steps 20 --particles 16 -q";
        must(folder.path(), &format!("fit odd.csv -o model {options}"));
    }
}

#[test]
fn the_library_makes_the_same_model_to_the_bit() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let file = folder.path().join("growth.csv");
    fs::write(&file, crate::families::growth(16, 3)).expect("written");
    must(folder.path(), "fit growth.csv -o model --code 2 --hidden 8 --effort 0.02 --seed 4 -q");
    let read = mtds_data::read_family(&file, &mtds_data::ReadOptions::default()).expect("a family");
    let time_step = Some(read.time.step.to_string());
    let mut fit = mtds::Fit { seed: 4, time_step, ..mtds::Fit::default() };
    fit.wishes.code = Some(2);
    fit.wishes.hidden = Some(vec![8]);
    fit.wishes.effort = Some(0.02);
    let model =
        fit.run(&read.family, &mut |_| mtds::Control::Continue).expect("learned").expect("not stopped");
    mtds_data::model::save_model(&folder.path().join("library"), &model).expect("written");
    for name in ["config.json", "model.safetensors", "README.md", "fit.toml", "history.json"] {
        let bytes = |place: &str| fs::read(folder.path().join(place).join(name)).expect(name);
        assert!(bytes("library") == bytes("model"), "{name} differs");
    }
}
