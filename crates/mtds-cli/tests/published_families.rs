//! What docs/families.md and the README say of the three real families is what `families/results.json` holds.

use serde_json::Value;
use std::path::PathBuf;

const FAMILIES: [(&str, &str); 3] =
    [("chicks", "growth of chicks"), ("infusion", "drug in the blood"), ("handwriting", "handwriting")];
const METHODS: [&str; 7] =
    ["this model", "last value", "family mean", "pooled", "auto-regression", "smoothing", "damped trend"];

fn repository_file(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

fn results() -> Value {
    serde_json::from_str(&repository_file("families/results.json")).unwrap()
}

fn rows(family: &Value) -> &[Value] {
    family["rows"].as_array().unwrap()
}

/// Numbers of steps seen, in the order of the rows.
fn histories(family: &Value) -> Vec<u64> {
    let ours = rows(family).iter().filter(|row| row["method"] == METHODS[0]);
    ours.map(|row| row["seen"].as_u64().unwrap()).collect()
}

fn row<'a>(family: &'a Value, seen: u64, method: &str) -> &'a Value {
    let found = rows(family).iter().find(|row| row["seen"] == seen && row["method"] == method);
    found.unwrap_or_else(|| panic!("no row of {method} at {seen}"))
}

/// As the page writes a number and its standard error.
fn written(row: &Value, score: &str) -> String {
    let number = |key: &str| row[key].as_f64();
    match (number(score), number(&format!("{score}_se"))) {
        (Some(mean), Some(error)) => format!("{mean:.2} ± {error:.2}").replace('-', "−"),
        _ => "–".to_string(),
    }
}

#[test]
fn the_page_has_the_tables_of_the_results() {
    let (page, results) = (repository_file("docs/families.md"), results());
    for (name, title) in FAMILIES {
        let family = &results[name];
        for seen in histories(family) {
            let n_seq = row(family, seen, METHODS[0])["n_seq"].as_u64().unwrap();
            for (score, methods) in
                [("rmse", &METHODS[..]), ("nll", &METHODS[..4]), ("cover80", &METHODS[..])]
            {
                let cells = methods.iter().map(|method| written(row(family, seen, method), score));
                let cells = cells.collect::<Vec<_>>().join(" | ");
                let line = format!("| {title} | {seen} | {n_seq} | {cells} |");
                assert!(page.contains(&line), "{score}: the page lacks\n{line}");
            }
            let differences = METHODS[4..].iter().map(|m| written(row(family, seen, m), "model_less_rival"));
            let line = format!("| {title} | {seen} | {} |", differences.collect::<Vec<_>>().join(" | "));
            assert!(page.contains(&line), "differences: the page lacks\n{line}");
        }
    }
}

/// The middle one of three histories; the model, which is the best, in bold.
#[test]
fn the_readme_has_a_row_of_each_family() {
    let (readme, results) = (repository_file("README.md"), results());
    let units = ["grams", "ng/ml", "mm"];
    for ((name, title), unit) in FAMILIES.into_iter().zip(units) {
        let family = &results[name];
        let seen = histories(family)[1];
        let rmse = |method: &str| row(family, seen, method)["rmse"].as_f64().unwrap();
        assert!(METHODS[1..].iter().all(|rival| rmse(METHODS[0]) < rmse(rival)), "{name}: not the best");
        let ours = written(row(family, seen, METHODS[0]), "rmse");
        let rivals = ["pooled", "family mean", "auto-regression", "smoothing", "damped trend"];
        let rivals = rivals.map(|method| written(row(family, seen, method), "rmse")).join(" | ");
        let line = format!("| {title}, {unit} | {seen} | **{ours}** | {rivals} |");
        assert!(readme.contains(&line), "the README lacks\n{line}");
    }
}

/// The settings of the table are those that other members liked best.
#[test]
fn settings_were_chosen_without_the_members_that_are_forecast() {
    for (name, _) in FAMILIES {
        let family = &results()[name];
        let crps = |one: &&Value| one["crps"].as_f64().unwrap();
        let best = family["tried"].as_array().unwrap().iter().min_by(|a, b| crps(a).total_cmp(&crps(b)));
        assert_eq!(best.unwrap()["options"], family["options"], "{name}");
        let members = |part: &str| family["members"][part].as_u64().unwrap();
        assert!(members("learn") > members("test") && members("test") > members("choose"), "{name}");
    }
}
