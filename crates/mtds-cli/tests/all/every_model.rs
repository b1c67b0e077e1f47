//! Every verb takes every model there is.

use crate::program::{json, must};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A few steps of learning: enough for numbers to be numbers.
const BRIEF: &str = "--hidden 8 --state 2 --code 2";
/// From draws of the prior first; behind a network there is no such start.
const START: &str = "--start-steps 10 --refine-steps 10 --particles 64 --refine-particles 16";

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(values) => values.iter().any(has_null),
        Value::Object(fields) => fields.values().any(has_null),
        _ => false,
    }
}

/// Learned from `pushed.csv`, whose sequences have inputs of their own, under the name of its kind.
fn fit(folder: &Path, kind: &str, with: &str) {
    let start = if with.contains("front") { "--refine-steps 10" } else { START };
    let document = json(folder, &format!("fit pushed.csv -o {kind} {BRIEF} {start} --base {kind} {with}"));
    assert_eq!(document["settings"]["base"], kind);
    // Every number of the table is one: NaN would be null.
    let rows = document["rows"].as_array().expect("a table");
    assert!(!rows.is_empty() && !rows.iter().any(|row| row["rmse"].is_null()), "{kind}: {rows:?}");
    let config = fs::read_to_string(folder.join(kind).join("config.json")).expect("there");
    assert!(config.contains(&format!("\"{kind}\"")), "{kind}: {config}");
}

/// All verbs that use a model.
fn used_by_every_verb(folder: &Path, model: &str) {
    let (one, other) = ("m0", "m1");
    for line in [
        format!("infer {model} pushed.csv"),
        format!("forecast {model} pushed.csv --seen 8 --horizon 4"),
        format!("generate {model} --sample 2 --steps 12 --inputs pushed.csv --inputs-of {one}"),
        format!("morph {model} --from {one} --to {other} --steps 12 --inputs pushed.csv --inputs-of {one}"),
        format!("transfer {model} pushed.csv --content {one} --style {other}"),
        format!("evaluate {model} pushed.csv --seen 8 --train pushed.csv"),
        format!("inspect {model}"),
    ] {
        let document = json(folder, &line);
        assert!(document.as_object().is_some_and(|fields| !fields.is_empty()), "{line}: {document}");
    }
    let forecast = json(folder, &format!("forecast {model} pushed.csv --seen 8 --horizon 4"));
    assert!(!has_null(&forecast), "{model}: {forecast}");
    must(folder, &format!("report {model} pushed.csv -o {model}.html -q"));
    let page = fs::read_to_string(folder.join(format!("{model}.html"))).expect("written");
    assert!(page.contains("</html>") && !page.contains("NaN"), "{model}");
    let line = "{\"y\": [0.1, 0.2, 0.3], \"u\": [0.5]}\n".repeat(3);
    let output = crate::program::told(folder, &format!("watch {model} --future zero -q"), line.as_bytes());
    let answers = String::from_utf8(output.stdout).expect("text");
    let answers = answers.lines().map(|line| serde_json::from_str(line).expect("every answer is JSON"));
    let answers: Vec<Value> = answers.collect();
    let n: Vec<_> = answers.iter().map(|answer| answer["n"].as_u64()).collect();
    assert_eq!(n, [Some(1), Some(2), Some(3)], "{model}: {answers:?}");
    assert!(answers.iter().all(|answer| answer["forecast"]["mean"].is_array()), "{model}: {answers:?}");
}

#[test]
fn every_model_is_fitted_by_name_and_used_by_every_verb() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    fs::write(folder.path().join("pushed.csv"), crate::families::pushed(12, 3)).expect("written");
    for (kind, with) in [
        ("lds", ""),
        ("kalman", ""),
        ("rnn", "--residual"),
        ("ornn", ""),
        ("gru", "--front 8 --bottleneck 2 --front-skip"),
        ("layered", "--front 8 --front-seed 2"),
        ("pd", ""),
    ] {
        fit(folder.path(), kind, with);
        used_by_every_verb(folder.path(), kind);
    }
}
