//! What the documentation says of the oscillator experiment is what `results/dho-full.json` holds, and it reaches its targets.

use mtds::evaluate::{ScoreRow, Seen};
use serde_json::Value;
use std::path::PathBuf;

const SEEN: [usize; 3] = [10, 20, 40];

fn repository_file(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

fn result() -> Value {
    serde_json::from_str(&repository_file("results/dho-full.json")).unwrap()
}

/// Every row is one of the scorer's.
fn rows(result: &Value) -> Vec<ScoreRow> {
    serde_json::from_value(result["rows"].clone()).unwrap()
}

fn measure(row: &ScoreRow, score: &str) -> f64 {
    row.measures().into_iter().find(|(name, ..)| *name == score).unwrap().1
}

/// A score of a model after 10, 20 and 40 observations.
fn scores(result: &Value, method: &str, score: &str) -> [f64; 3] {
    let rows = rows(result);
    SEEN.map(|t| {
        let row = rows.iter().find(|row| row.method == method && row.seen == Seen::Steps(t));
        measure(row.unwrap_or_else(|| panic!("no row of {method} at {t}")), score)
    })
}

/// As the pages write numbers.
fn written(scores: [f64; 3], digits: usize) -> String {
    scores.map(|x| format!("{x:.digits$}").replace('-', "−")).join(" / ")
}

#[test]
fn the_page_has_the_table_of_the_result() {
    let (page, result) = (repository_file("docs/experiments.md"), result());
    let mtlds = [("MTLDS, paper's recipe, N = ", "mtlds-paper"), ("**MTLDS, ours, N = ", "mtlds-ours")];
    let mut rows = vec![
        ("pooled LDS, N = 1000".to_string(), "pooled".to_string()),
        ("single-task LDS (NUTS)".to_string(), "single".to_string()),
        ("oracle (the best possible)".to_string(), "oracle".to_string()),
    ];
    for (name, model) in mtlds {
        rows.extend([4, 16, 128].map(|n| (format!("{name}{n}"), format!("{model}-n{n:04}"))));
    }
    assert_eq!(result["settings"]["protocol"]["pooled_size"], 1000);
    for (name, method) in rows {
        // A number that follows is another row.
        let starts = |line: &&str| {
            let rest = line.strip_prefix(&format!("| {name}"));
            rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        let line = page.lines().find(starts).unwrap_or_else(|| panic!("no row `{name}`"));
        for (score, digits) in [("rmse", 3), ("nll", 2)] {
            let expected = written(scores(&result, &method, score), digits);
            assert!(line.contains(&expected), "page: {line}\nresult: {score} {expected}");
        }
    }
}

#[test]
fn the_readme_quotes_the_result() {
    let (readme, result) = (repository_file("README.md"), result());
    for method in ["mtlds-ours-n0128", "oracle"] {
        let expected = written(scores(&result, method, "rmse"), 3);
        assert!(readme.contains(&expected), "the README lacks {expected} of {method}");
    }
}

/// The oracle is the best possible on average: a model that beat it would have seen what it must not.
#[test]
fn no_model_beats_the_oracle() {
    let result = result();
    assert_eq!(result["findings"].as_array().map(Vec::len), Some(0), "{}", result["findings"]);
    assert_eq!(result["missing"].as_array().map(Vec::len), Some(0), "{}", result["missing"]);
    for row in rows(&result) {
        let t = SEEN.iter().position(|&t| row.seen == Seen::Steps(t)).unwrap();
        for score in ["rmse", "nll", "crps"] {
            let best = scores(&result, "oracle", score)[t];
            assert!(measure(&row, score) >= best, "{score} {row:?}");
        }
    }
}

#[test]
fn many_sequences_come_close_to_the_oracle() {
    let result = result();
    let ours = |score| scores(&result, "mtlds-ours-n0128", score);
    let oracle = |score| scores(&result, "oracle", score);
    for t in 0..3 {
        assert!(ours("rmse")[t] <= 1.07 * oracle("rmse")[t]);
        assert!(ours("nll")[t] <= 0.10 + oracle("nll")[t]);
        for (score, exact) in [("cover50", 0.5), ("cover80", 0.8), ("cover95", 0.95)] {
            assert!((ours(score)[t] - exact).abs() <= 0.05, "{score} {:?}", ours(score));
        }
    }
}

#[test]
fn few_sequences_reach_their_targets() {
    let result = result();
    let targets =
        [(16, [0.22, 0.115, 0.072], [-0.1, -0.7, -1.15]), (4, [0.27, 0.18, 0.12], [0.25, 0.05, -0.55])];
    for (n, rmse, nll) in targets {
        for (score, target) in [("rmse", rmse), ("nll", nll)] {
            let found = scores(&result, &format!("mtlds-ours-n{n:04}"), score);
            assert!(found.iter().zip(&target).all(|(x, most)| x <= most), "N = {n}: {score} {found:?}");
        }
    }
}
