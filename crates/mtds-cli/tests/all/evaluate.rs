//! `mtds evaluate` as a person runs it: a table with baselines, files, JSON; anomalies stand out.

use crate::learned::pushed_model;
use crate::program::{json, must, must_fail};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// Growth curves: a model of 40 of them, and others to score.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let made = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let path = folder.path();
        fs::write(path.join("train.csv"), crate::families::growth(40, 3)).expect("written");
        fs::write(path.join("new.csv"), crate::families::growth(12, 4)).expect("written");
        must(path, "fit train.csv -o model --hidden 16 --effort 0.2 -q");
        folder
    });
    made.path()
}

fn row<'a>(document: &'a Value, seen: u64, method: &str) -> &'a Value {
    let rows = document["rows"].as_array().expect("rows");
    let found = rows.iter().find(|row| row["seen"] == seen && row["method"] == method);
    found.unwrap_or_else(|| panic!("no row {seen} {method} in {document}"))
}

#[test]
fn the_model_is_scored_beside_baselines_with_standard_errors() {
    let line = "evaluate model new.csv --seen 10,20 --train train.csv --against last-value,family-mean,pooled \
                -o scores.csv -q";
    let found = json(folder(), line);
    assert_eq!((found["rows"].as_array().expect("rows").len(), &found["n_seq"]), (8, &Value::from(12)));
    assert_eq!(found["is_training"], Value::Bool(false));
    for (seen, method) in [(10, "this model"), (20, "last value"), (10, "family mean"), (20, "pooled")] {
        let row = row(&found, seen, method);
        for measure in ["rmse", "nll", "crps", "cover50", "cover80", "cover95"] {
            assert!(row[measure].is_number() && row[format!("{measure}_se")].is_number(), "{row}");
        }
    }
    let rmse = |method: &str| row(&found, 20, method)["rmse"].as_f64().expect("a number");
    assert!(rmse("this model") < rmse("last value"), "growth goes on: {found}");
    let file = fs::read_to_string(folder().join("scores.csv")).expect("written");
    assert_eq!(file.lines().count(), 9);
    assert!(file.starts_with("seen,method,n_seq,rmse,rmse_se,nll"), "{file}");
}

/// Growth curves are told apart by their first steps, so that each rival does better than the mean of the family; the difference to the
/// model is that of the rows, and better known than their separate errors say.
#[test]
fn rivals_that_know_the_family_stand_beside_the_model_with_differences() {
    let line = "evaluate model new.csv --seen 10,20 --train train.csv --against family-mean,nearest,ridge,fpca,gp \
                -o rivals.csv -q";
    let found = json(folder(), line);
    assert_eq!(found["rows"].as_array().expect("rows").len(), 12);
    let number = |row: &Value, key: &str| row[key].as_f64().unwrap_or_else(|| panic!("no {key} in {row}"));
    for seen in [10, 20] {
        let (ours, mean) = (row(&found, seen, "this model"), row(&found, seen, "family mean"));
        assert!(ours["model_less_crps"].is_null() && ours["model_less_crps_se"].is_null(), "{ours}");
        for method in ["family mean", "nearest", "ridge", "fpca", "gp"] {
            let row = row(&found, seen, method);
            let less = number(row, "model_less_crps");
            assert!((less - (number(ours, "crps") - number(row, "crps"))).abs() < 1e-9, "{row}");
            assert!(number(row, "model_less_crps_se") > 0.0, "{row}");
            if method != "family mean" {
                assert!(number(row, "crps") < 0.8 * number(mean, "crps"), "{row}");
                assert!(number(row, "cover80") > 0.5, "{row}");
            }
        }
    }
    let file = fs::read_to_string(folder().join("rivals.csv")).expect("written");
    let head = file.lines().next().expect("a head");
    assert!(head.ends_with("model_less_crps,model_less_crps_se") && file.lines().count() == 13, "{file}");
    let text = must(folder(), "evaluate model new.csv --seen 10 --train train.csv --against ridge -q");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].contains("model less") && text.contains("below 0 the model is better"), "{text}");
    let ridge = lines.iter().find(|line| line.starts_with("ridge")).expect("a row");
    assert_eq!(ridge.matches('±').count(), 7, "{text}");
}

#[test]
fn too_few_training_sequences_are_said_with_the_rival_that_needs_more() {
    let training = fs::read_to_string(folder().join("train.csv")).expect("written");
    let of_first = |n: usize| {
        let kept = |line: &&str| (0..n).any(|i| line.starts_with(&format!("plant {i},")));
        let rows: Vec<&str> = training.lines().skip(1).filter(kept).collect();
        format!("series,t,y\n{}\n", rows.join("\n"))
    };
    for (n, rivals, needs) in [(1, "nearest", 2), (1, "ridge", 2), (1, "gp", 2), (3, "ridge,fpca", 4)] {
        fs::write(folder().join(format!("first-{n}.csv")), of_first(n)).expect("written");
        let line = format!("evaluate model new.csv --seen 10 --train first-{n}.csv --against {rivals}");
        let said = must_fail(folder(), &line, 1);
        let named = rivals.rsplit(',').next().expect("a name");
        assert!(said.contains(&format!("`{named}`")) && said.contains(&format!("found {n}")), "{said}");
        assert!(said.contains(&format!("at least {needs} training sequences")), "{said}");
    }
    let said = must_fail(folder(), "evaluate model new.csv --against nearest", 2);
    assert!(said.contains("--train"), "{said}");
}

#[test]
fn the_same_seed_gives_the_same_text_on_any_number_of_threads() {
    let text =
        |threads: &str| must(folder(), &format!("evaluate model new.csv --seen 15 --threads {threads} -q"));
    let one = text("1");
    assert!(one.contains("this model") && one.contains('±'), "{one}");
    assert_eq!(one, text("2"));
}

#[test]
fn a_recurrent_network_learns_from_the_training_file() {
    let line =
        "evaluate model new.csv --seen 10,20 --train train.csv --against last-value,gru --gru-units 24 -q";
    let found = json(folder(), line);
    let rmse = |method: &str| row(&found, 20, method)["rmse"].as_f64().expect("a number");
    assert!(rmse("gru") < rmse("last value"), "{found}");
    let cover = row(&found, 20, "gru")["cover95"].as_f64().expect("a number");
    assert!(cover > 0.6, "{found}");
    let said = must_fail(folder(), "evaluate model new.csv --against gru", 2);
    assert!(said.contains("--train"), "{said}");
}

#[test]
fn a_sequence_on_its_own_is_a_baseline_without_training_file() {
    let few: String = crate::families::growth(2, 5);
    fs::write(folder().join("few.csv"), few).expect("written");
    let found = json(folder(), "evaluate model few.csv --seen 8 --horizon 4 --against single -q");
    assert!(row(&found, 8, "single")["nll"].is_number());
}

/// Ten times the noise of the family in one sequence: its score is far above 3; those of the others are like N(0, 1),
/// so that 6 is exceeded by none.
#[test]
fn an_odd_sequence_stands_out() {
    let mut text = crate::families::growth(8, 6);
    let mut noise = crate::noise::Noise(9);
    for t in 0..40 {
        text += &format!("odd,{t},{:.3}\n", 50.0 + 25.0 * noise.normal());
    }
    fs::write(folder().join("odd.csv"), text).expect("written");
    let found = json(folder(), "evaluate model odd.csv --seen 10 --anomaly anomalies.csv -q");
    let anomalies = found["anomalies"].as_array().expect("scores");
    assert_eq!(anomalies.len(), 9);
    let score = |row: &Value| row["score"].as_f64().expect("a number");
    let odd = anomalies.iter().find(|row| row["series"] == "odd").expect("there");
    let rest = anomalies.iter().filter(|row| row["series"] != "odd").map(score);
    let highest = rest.fold(f64::NEG_INFINITY, f64::max);
    assert!(score(odd) > 10.0 && score(odd) > 2.0 * highest, "{} {highest}", score(odd));
    let file = fs::read_to_string(folder().join("anomalies.csv")).expect("written");
    assert!(file.starts_with("series,label,n_observed,nll,expected_nll,score") && file.lines().count() == 10);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let said = must_fail(folder(), "evaluate model new.csv --against pooled", 2);
    assert!(said.contains("--train"), "{said}");
    let said = must_fail(folder(), "evaluate model new.csv --seen 1000", 1);
    assert!(said.contains("--seen"), "{said}");
    must_fail(folder(), "evaluate model no-such.csv", 1);
    must_fail(folder(), "evaluate no-model new.csv", 1);
    fs::write(folder().join("two.csv"), "series,t,y_a,y_b\na,0,1,2\na,1,1,2\na,2,1,2\n").expect("written");
    let said = must_fail(folder(), "evaluate model two.csv --seen 1", 1);
    assert!(said.contains("two.csv") && said.contains("column `y` for an output"), "{said}");
    let output = crate::program::run(folder(), "evaluate model train.csv --seen 10 --horizon 2");
    assert!(crate::program::stderr(&output).contains("learned from these sequences"));
}

/// The columns of a CSV text without quotes, by number.
fn columns(text: &str, order: &[usize]) -> String {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        order.iter().map(|&i| cells[i]).collect::<Vec<_>>().join(",")
    };
    text.lines().map(row).collect::<Vec<_>>().join("\n")
}

/// 0.1.0 paired columns by position and checked their number only: swapped columns were scored.
#[test]
fn swapped_columns_are_read_by_name_and_others_are_refused() {
    let folder = pushed_model();
    let text = fs::read_to_string(folder.path().join("pushed.csv")).expect("written");
    let head: Vec<&str> = text.lines().next().expect("a head").split(',').collect();
    let mut order: Vec<usize> = (0..head.len()).collect();
    let outputs: Vec<usize> = order.iter().copied().filter(|&i| head[i].starts_with('y')).collect();
    order.swap(outputs[0], outputs[1]);
    fs::write(folder.path().join("swapped.csv"), columns(&text, &order)).expect("written");
    let scores = |file: &str| must(folder.path(), &format!("evaluate model {file} --seen 10 -q"));
    assert_eq!(scores("swapped.csv"), scores("pushed.csv"));
    let swapped = format!("{},{},{}", head[outputs[1]], head[outputs[0]], head[outputs[2]]);
    for verb in ["evaluate", "forecast", "infer"] {
        let line = format!("{verb} model pushed.csv --seen 10 --outputs {swapped}");
        let error = must_fail(folder.path(), &line, 1);
        assert!(error.contains("in this order") && error.contains(head[outputs[0]]), "{error}");
    }
    let renamed = text.replacen(head[outputs[0]], "other", 1);
    fs::write(folder.path().join("renamed.csv"), renamed).expect("written");
    let error = must_fail(folder.path(), "evaluate model renamed.csv --seen 10", 1);
    assert!(error.contains(head[outputs[0]]), "{error}");
}

/// 0.1.0 answered t = 50, 55 with the dynamics of step 1.
#[test]
fn another_time_step_is_refused() {
    let folder = pushed_model();
    let text = fs::read_to_string(folder.path().join("pushed.csv")).expect("written");
    let stretched = |line: &str| {
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        if let Ok(t) = cells[1].parse::<i64>() {
            cells[1] = (5 * t).to_string();
        }
        cells.join(",")
    };
    let slow: Vec<String> = text.lines().map(stretched).collect();
    fs::write(folder.path().join("slow.csv"), slow.join("\n")).expect("written");
    for verb in ["evaluate", "infer", "forecast"] {
        let seen = if verb == "infer" { "" } else { "--seen 10" };
        let error = must_fail(folder.path(), &format!("{verb} model slow.csv {seen}"), 1);
        assert!(error.contains("steps of 1,") && error.contains("steps of 5"), "{error}");
    }
}
