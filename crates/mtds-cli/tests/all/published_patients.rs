//! What the documentation says of the patients is what `results/pd-full.json` holds, and it reaches its targets.

use serde_json::Value;
use std::path::PathBuf;

fn repository_file(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

fn result() -> Value {
    serde_json::from_str(&repository_file("results/pd-full.json")).unwrap()
}

fn number(rows: &Value, holds: impl Fn(&Value) -> bool, key: &str) -> f64 {
    let row = rows.as_array().unwrap().iter().find(|row| holds(row));
    row.unwrap_or_else(|| panic!("no such row with {key}"))[key].as_f64().unwrap()
}

/// A score of a method after 5, 10 and 20 steps.
fn scores(result: &Value, method: &str, key: &str) -> [f64; 3] {
    [5, 10, 20].map(|t| number(&result["rows"], |row| row["method"] == method && row["seen"] == t, key))
}

fn recovery(result: &Value, method: &str, key: &str) -> [f64; 4] {
    ["log half-life", "log sensitivity", "effect", "baseline"].map(|parameter| {
        let is_it = |row: &Value| row["method"] == method && row["parameter"] == parameter;
        number(&result["recovery"], is_it, key)
    })
}

#[test]
fn the_page_has_the_tables_of_the_result() {
    let (page, result) = (repository_file("docs/patients.md"), result());
    let written = |values: &[f64]| values.iter().map(|x| format!("{x:.2}")).collect::<Vec<_>>().join(" / ");
    let line = |start: String| {
        page.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("no row `{start}`"))
    };
    for method in [
        "mco",
        "elbo",
        "iwae",
        "amortised",
        "amortised, by its network",
        "pooled",
        "last value",
        "true parameters",
    ] {
        let line = line(format!("| {method} |"));
        for key in ["rmse", "nll"] {
            let expected = written(&scores(&result, method, key));
            assert!(line.contains(&expected), "page: {line}\nresult: {key} {expected}");
        }
    }
    for method in ["mco", "elbo", "iwae", "amortised"] {
        let line = line(format!("| codes, {method} |"));
        for key in ["r2_codes", "r2_theta"] {
            let expected = written(&recovery(&result, method, key));
            assert!(line.contains(&expected), "page: {line}\nresult: {key} {expected}");
        }
    }
}

#[test]
fn forecasts_beat_one_system_for_all_and_codes_know_the_patients() {
    let result = result();
    for method in ["elbo", "iwae"] {
        for key in ["rmse", "nll"] {
            let se = format!("{key}_se");
            let (ours, pooled) = (scores(&result, method, key)[0], scores(&result, "pooled", key)[0]);
            let errors = scores(&result, method, &se)[0] + scores(&result, "pooled", &se)[0];
            assert!(ours + 2.0 * errors < pooled, "{method} {key}: {ours} {pooled}");
        }
        let known = recovery(&result, method, "r2_codes");
        // The baseline, last, is seen only while no drug is left.
        let least = [0.8, 0.8, 0.8, 0.5];
        assert!(known.iter().zip(least).all(|(r2, least)| *r2 > least), "{method}: {known:?}");
        let usage = result["usage"].as_array().unwrap().iter().find(|row| row["method"] == method).unwrap();
        assert_eq!(usage["usage"]["status"], "used", "{usage}");
    }
}
