//! Data far outside of what the family does are named by `infer`, `forecast` and `watch`; ordinary members are not.

use crate::program::{json, run, stderr, told};
use serde_json::Value;
use std::fs;

/// The rows of a family with every output a thousand times as large.
fn in_another_unit(text: &str) -> String {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let y = cells[2].parse::<f64>().map_or(String::new(), |y| (1000.0 * y).to_string());
        format!("{},{},{y}\n", cells[0], cells[1])
    };
    "series,t,y\n".to_owned() + &text.lines().skip(1).map(row).collect::<String>()
}

fn watched(text: &str, scale: f64) -> String {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let y = cells[2].parse::<f64>().map_or("null".to_owned(), |y| (scale * y).to_string());
        format!("{{\"series\": \"{}\", \"t\": {}, \"y\": {y}}}\n", cells[0], cells[1])
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn another_unit_is_said_by_every_verb_that_infers() {
    let folder = crate::learned::growth_model();
    let fresh = crate::families::growth(3, 77);
    fs::write(folder.path().join("grams.csv"), in_another_unit(&fresh)).expect("written");
    for verb in [
        "infer model grams.csv",
        "infer model grams.csv --method map",
        "forecast model grams.csv --seen 9 --horizon 3",
    ] {
        let output = run(folder.path(), &format!("{verb} --json"));
        let said = stderr(&output);
        assert!(
            output.status.success() && said.contains("far outside of what the family does"),
            "{verb}: {said}"
        );
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(document["far_outside"], serde_json::json!(["plant 0", "plant 1", "plant 2"]), "{verb}");
    }
    let output = told(folder.path(), "watch model --horizon 0", watched(&fresh, 1000.0).as_bytes());
    let answers = String::from_utf8(output.stdout.clone()).expect("text");
    let outside = answers.lines().filter(|line| line.contains("\"far_outside\"")).count();
    assert!(2 * outside > answers.lines().count(), "{outside} of {}", answers.lines().count());
    assert!(stderr(&output).contains("series `plant 0`: far outside"), "{}", stderr(&output));
}

/// 60 new members that the model was not learned from, all of each and the first steps alone: none may be named. By chance alone less than one in a
/// million would be, if the model were right; of 600 other plants, after 3, 12 and all steps, and of 300 oscillators none was.
#[test]
fn ordinary_members_are_not_said_to_be_outside() {
    let folder = crate::learned::growth_model();
    let fresh = crate::families::growth(60, 78);
    fs::write(folder.path().join("fresh.csv"), &fresh).expect("written");
    for verb in [
        "infer model fresh.csv",
        "infer model fresh.csv --seen 3",
        "forecast model fresh.csv --seen 12 --horizon 3",
    ] {
        assert_eq!(json(folder.path(), verb)["far_outside"], serde_json::json!([]), "{verb}");
    }
    let some: String = watched(&fresh, 1.0).lines().take(400).map(|line| format!("{line}\n")).collect();
    let output = told(folder.path(), "watch model --horizon 0", some.as_bytes());
    let answers = String::from_utf8(output.stdout.clone()).expect("text");
    assert!(!answers.contains("far_outside") && answers.contains("\"misfit\""), "{}", stderr(&output));
}
