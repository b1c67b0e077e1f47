//! What docs/experiments.md says of locomotion is what `results/mocap-cmu-novel.json` holds.

use serde_json::Value;
use std::path::PathBuf;

/// Rows of the table, and what the file calls them.
const METHODS: [(&str, &str); 8] = [
    ("MTDS", "mtds"),
    ("MTDS, code alone", "mtds-code"),
    ("GRU of the inputs, with what the seed tells", "gru-inputs-seed"),
    ("harmonics of the phase, with what the seed tells", "harmonics"),
    ("GRU in open loop, the paper's best rival", "gru-open"),
    ("mean of the seed", "seed-mean"),
    ("last frame", "last-frame"),
    ("training mean", "training-mean"),
];

fn repository_file(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

#[test]
fn the_table_of_novel_styles_is_that_of_the_file() {
    let page = repository_file("docs/experiments.md").replace("**", "");
    let result: Value = serde_json::from_str(&repository_file("results/mocap-cmu-novel.json")).unwrap();
    let rows = result["rows"].as_array().unwrap();
    for (title, method) in METHODS {
        let errors = [5, 10, 20, 50, 100, 200].map(|at| {
            let is_it = |row: &&Value| row["method"] == method && row["at"] == at && row["style"].is_null();
            let row = rows.iter().find(is_it).unwrap_or_else(|| panic!("no row of {method} at {at}"));
            format!("{:.3}", row["rmse"].as_f64().unwrap())
        });
        let line = format!("| {title} | {} |", errors.join(" | "));
        assert!(page.contains(&line), "the page lacks\n{line}");
    }
    let missing = result["missing"].as_array().unwrap().len();
    assert!(page.contains(&format!("names the {missing} cells that are missing")), "{missing}");
}
