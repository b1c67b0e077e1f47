//! What does not change within a sequence is an input that new members need to say once.

use crate::noise::Noise;
use crate::program::{command, json, must, must_fail, stderr, told};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

const SHORT: &str =
    "--hidden 8 --start-steps 60 --refine-steps 60 --particles 64 --refine-particles 16 --state 2 --code 2";

/// Weights that rise, faster on oats and with the dose.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let made = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let (mut noise, mut text) = (Noise(9), "animal,t,y,diet,dose\n".to_owned());
        for i in 0..12 {
            let (diet, dose) = (["hay", "oats", "rye"][i % 3], 1.0 + (i % 4) as f64);
            let rate = 0.3 + 0.5 * f64::from(u8::from(diet == "oats")) + 0.1 * dose + 0.1 * noise.uniform();
            for t in 0..12 {
                let _ =
                    writeln!(text, "n{i},{t},{:.3},{diet},{dose}", rate * t as f64 + 0.1 * noise.normal());
            }
        }
        fs::write(folder.path().join("fed.csv"), text).expect("written");
        must(folder.path(), &format!("fit fed.csv -o model --series animal --inputs diet,dose {SHORT} -q"));
        folder
    });
    made.path()
}

#[test]
fn a_model_keeps_the_levels_and_reads_new_members_by_them() {
    let folder = folder();
    let config: Value =
        serde_json::from_slice(&fs::read(folder.join("model/config.json")).expect("there")).expect("JSON");
    assert_eq!(config["columns"]["inputs"], serde_json::json!(["diet=oats", "diet=rye", "dose"]));
    assert_eq!(config["columns"]["attributes"][0]["levels"], serde_json::json!(["hay", "oats", "rye"]));
    // One value a sequence, and no rows for the future.
    let new = "animal,t,y,diet,dose\nx,0,0,oats,2\nx,1,1.1,,\nx,2,2,,\nz,0,0,hay,2\nz,1,0.5,,\nz,2,1,,\n";
    fs::write(folder.join("new.csv"), new).expect("written");
    let rows = json(folder, "forecast model new.csv --horizon 6")["rows"].clone();
    assert_eq!(rows.as_array().expect("rows").len(), 12);
    must(folder, "infer model new.csv");
    must(folder, "evaluate model fed.csv --seen 6");
    must(folder, "generate model --like n1 --inputs new.csv --inputs-of x --steps 20");
    fs::write(folder.join("corn.csv"), new.replace("oats", "corn")).expect("written");
    let said = must_fail(folder, "forecast model corn.csv --horizon 6", 1);
    assert!(said.contains("expected one of hay, oats, rye") && said.contains("`corn`"), "{said}");
    fs::write(folder.join("none.csv"), new.replace("oats", "")).expect("written");
    let said = must_fail(folder, "infer model none.csv", 1);
    assert!(said.contains("column `diet`") && said.contains("sequence `x`"), "{said}");
    // The same settings give the same model again.
    must(folder, "fit fed.csv -o again --config model/fit.toml -q");
    let bytes = |name: &str| fs::read(folder.join(name).join("model.safetensors")).expect("there");
    assert!(bytes("again") == bytes("model"));
}

#[test]
fn watch_asks_for_attributes_once() {
    let folder = folder();
    let lines = "{\"y\": 0, \"attributes\": {\"diet\": \"oats\", \"dose\": 2}}\n{\"y\": 1.1}\n\
        {\"series\": \"b\", \"y\": 0}\n\
        {\"series\": \"b\", \"y\": 0, \"attributes\": {\"diet\": \"corn\", \"dose\": 2}}\n\
        {\"y\": 2, \"attributes\": {\"diet\": \"hay\", \"dose\": 2}}\n\
        {\"series\": \"b\", \"y\": 0, \"attributes\": {\"diet\": \"hay\", \"sex\": 2}}\n\
        {\"series\": \"b\", \"y\": 0, \"attributes\": {\"diet\": \"hay\", \"dose\": 2}}\n{\"series\": \"b\", \"y\": 1.1}\n";
    let output = told(folder, "watch model --horizon 2 -q", lines.as_bytes());
    let text = String::from_utf8(output.stdout.clone()).expect("text");
    let answers: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let refused = |i: usize, part: &str| {
        assert!(answers[i]["error"].as_str().is_some_and(|error| error.contains(part)), "{}", answers[i]);
    };
    assert_eq!(
        (&answers[0]["n"], &answers[1]["n"]),
        (&Value::from(1), &Value::from(2)),
        "{}",
        stderr(&output)
    );
    refused(2, "no `diet`; the first line of a sequence gives diet, dose");
    refused(3, "one of hay, oats, rye, found `corn`");
    refused(4, "they do not change within a sequence");
    refused(5, "this model has no `sex`");
    // The diet tells, also where all else is the same.
    assert_ne!(answers[1]["forecast"]["mean"], answers[7]["forecast"]["mean"]);
}

#[test]
fn text_that_nobody_named_is_said_to_be_left_out() {
    let output = command(folder(), "inspect fed.csv --series animal").output().expect("started");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(
        text.contains("column `diet` is not used") && text.contains("column `dose` is not used"),
        "{text}"
    );
}
