//! What docs/benchmarks.md and the README say of speed is what the files under `results/` hold.

use serde_json::Value;
use std::path::PathBuf;

/// With every run of white space as one space: where a line breaks does not matter.
fn repository_file(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The row of a work by an engine.
fn row(file: &str, work: &str, engine: &str) -> Value {
    let result: Value = serde_json::from_str(&repository_file(file)).unwrap();
    let rows = result["rows"].as_array().unwrap();
    let is_it = |row: &&Value| row["work"] == work && row["engine"].as_str().unwrap().starts_with(engine);
    rows.iter().find(is_it).unwrap_or_else(|| panic!("{file}: no row of {work} by {engine}")).clone()
}

/// Median milliseconds of a work by an engine, and their ratio to the reference of the run.
fn measured(file: &str, work: &str, engine: &str) -> (f64, f64) {
    let row = row(file, work, engine);
    (row["median_ms"].as_f64().unwrap(), row["ratio"].as_f64().unwrap())
}

/// Median milliseconds of a work that only we do.
fn milliseconds(file: &str, work: &str) -> f64 {
    row(file, work, "mtds")["median_ms"].as_f64().unwrap()
}

#[test]
fn the_page_has_the_tables_of_the_results() {
    let page = repository_file("docs/benchmarks.md");
    let files = [(2, "results/bench-2-threads.json"), (1, "results/bench-1-thread.json")];
    for (threads, file) in files {
        for (name, work) in [("training step W2", "w2"), ("one posterior", "adais-all")] {
            let [(ours, ratio), (jax, _), (torch, _)] =
                ["mtds", "jax", "torch"].map(|engine| measured(file, work, engine));
            let line = format!("| {name} | {threads} | {ours:.2} | {jax:.1} | {torch:.1} | {ratio:.2} |");
            assert!(page.contains(&line), "the page lacks\n{line}");
        }
    }
    for (threads, file) in files {
        let [(ours, ratio), (jax, _), (torch, _)] =
            ["mtds", "jax", "torch"].map(|engine| measured(file, "w1", engine));
        let line =
            format!("| {threads} | {ours:.0} | {jax:.0} | {torch:.0} | {:.2} | {ratio:.2} |", ours / jax);
        assert!(page.contains(&line), "the page lacks\n{line}");
    }
}

#[test]
fn the_page_has_the_times_of_inference_from_a_seed() {
    let page = repository_file("docs/benchmarks.md");
    for (threads, file) in [(2, "results/bench-2-threads.json"), (1, "results/bench-1-thread.json")] {
        let [map, importance] = ["seed-map", "seed-importance"].map(|work| 1e-3 * milliseconds(file, work));
        let line = format!("| {threads} | {map:.2} | {importance:.2} |");
        assert!(page.contains(&line), "the page lacks\n{line}");
    }
}

/// Once the README said 4.5 s and 0.80, which no file held.
#[test]
fn figures_of_nuts_are_those_of_the_file() {
    let (ours, ratio) = measured("results/bench-1-thread.json", "stl-nuts", "mtds");
    let words = format!("takes {:.1} s on one core, {ratio:.2} of what NumPyro takes", 1e-3 * ours);
    assert!(repository_file("docs/benchmarks.md").contains(&words), "the page lacks\n{words}");
    assert!(!repository_file("README.md").contains("NumPyro"), "quoted on one page only");
}

#[test]
fn the_readme_quotes_the_training_step() {
    let [(ours, ratio), (jax, _)] =
        ["mtds", "jax"].map(|engine| measured("results/bench-2-threads.json", "w2", engine));
    let words = format!("{ours:.1} ms, {ratio:.2} × eager PyTorch, {:.2} × JAX", ours / jax);
    assert!(repository_file("README.md").contains(&words), "the README lacks\n{words}");
}

#[test]
fn the_page_on_devices_has_the_steps_of_the_files() {
    let page = repository_file("docs/devices.md");
    for (products, file) in
        [("exact (PyTorch: f32)", "results/bench-card-exact.json"), ("tf32", "results/bench-card-tf32.json")]
    {
        let [(ours, ratio), (torch, _)] = ["mtds", "torch"].map(|engine| measured(file, "w1", engine));
        let line = format!("| {products} | {ours:.2} ms | {torch:.2} ms | {ratio:.2} |");
        assert!(page.contains(&line), "the page lacks\n{line}");
    }
}
