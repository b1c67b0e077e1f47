//! What docs/experiments.md says of locomotion is what `results/mocap-*.json` hold.

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

fn result(name: &str) -> Value {
    serde_json::from_str(&repository_file(name)).unwrap()
}

fn page() -> String {
    repository_file("docs/experiments.md").replace("**", "")
}

#[test]
fn the_tables_of_errors_are_those_of_the_file() {
    let (page, result) = (page(), result("results/mocap-cmu.json"));
    let rows = result["rows"].as_array().unwrap();
    for (experiment, places) in [("novel", [5, 10, 20, 50, 100, 200]), ("efficiency", [32, 16, 8, 4, 2, 1])] {
        for (title, method) in METHODS {
            let errors = places.map(|at| {
                let is_it = |row: &&Value| {
                    row["experiment"] == experiment
                        && row["method"] == method
                        && row["at"] == at
                        && row["style"].is_null()
                };
                let row = rows.iter().find(is_it).unwrap_or_else(|| panic!("no row of {method} at {at}"));
                format!("{:.3}", row["rmse"].as_f64().unwrap())
            });
            let line = format!("| {title} | {} |", errors.join(" | "));
            assert!(page.contains(&line), "the page lacks\n{line}");
        }
    }
    let missing = result["missing"].as_array().unwrap().len();
    assert!(page.contains(&format!("names the {missing} cells that are missing")), "{missing}");
}

/// Mean of the numbers that are there.
fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let (n, sum) = numbers.fold((0.0, 0.0), |(n, sum), x| (n + 1.0, sum + x));
    sum / n
}

#[test]
fn the_table_of_styles_of_choice_is_that_of_the_files() {
    for (title, file) in [
        ("Bandai Namco, 5 styles", "results/mocap-bandai-namco.json"),
        ("CMU, 11 styles", "results/mocap-cmu.json"),
    ] {
        let result = result(file);
        let repetitions = result["transfer"].as_array().unwrap();
        assert_eq!(repetitions.len(), 3, "{file}");
        let off_diagonal = |of: &Value| {
            let rows = of.as_array().unwrap().iter().map(|row| row.as_array().unwrap());
            let others = rows.enumerate().flat_map(|(i, row)| {
                row.iter().enumerate().filter(move |(j, _)| *j != i).filter_map(|(_, p)| p.as_f64())
            });
            mean(others)
        };
        let recognised =
            |of: &Value| mean(of["recognised"].as_array().unwrap().iter().filter_map(Value::as_f64));
        let of = |key: &str| mean(repetitions.iter().map(|one| off_diagonal(&one[key])));
        let told = mean(repetitions.iter().map(recognised));
        let numbers = [of("one"), of("several"), of("unseen"), told].map(|p| format!("{p:.2}"));
        let line = format!("| {title} | {} |", numbers.join(" | "));
        assert!(page().contains(&line), "the page lacks\n{line}");
    }
}
