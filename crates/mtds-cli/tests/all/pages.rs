//! The pages in `docs/`: their commands run in order, one after the other, as somebody would type them. Those of the front
//! page are parsed.

use crate::program::{command, stderr};
use clap::Parser;
use mtds_cli::command::CommandLine;
use std::fs;
use std::path::Path;

/// Blocks between fences: what follows the opening fence, and the text.
fn blocks(page: &str) -> Vec<(&str, String)> {
    let mut blocks: Vec<(&str, String)> = Vec::new();
    let mut is_open = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(info) => {
                is_open = !is_open;
                if is_open {
                    blocks.push((info, String::new()));
                }
            }
            None if is_open => {
                let (_, text) = blocks.last_mut().expect("a fence opened it");
                *text += &format!("{line}\n");
            }
            None => {}
        }
    }
    assert!(!is_open, "every fence is closed");
    blocks
}

/// What stands in backticks within the text.
fn inline(page: &str) -> impl Iterator<Item = &str> {
    page.lines().flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// Commands of a block, comments left out.
fn commands(text: &str) -> Vec<&str> {
    text.lines()
        .map(|line| line.split(" # ").next().unwrap_or_default().trim())
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.strip_prefix("mtds ").unwrap_or_else(|| panic!("`{line}` is no command of mtds")))
        .collect()
}

/// Checks that a command can be typed.
#[track_caller]
fn parses(command: &str) {
    let line = format!("mtds {command}");
    CommandLine::try_parse_from(words(&line)).unwrap_or_else(|error| panic!("{line}: {error}"));
}

/// The words of a line, as a shell splits them: what stands between double quotes is one.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![];
    for (i, part) in line.split('"').enumerate() {
        match i % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

/// Runs a command; `< FILE` at its end is what it reads.
fn run(folder: &Path, line: &str) {
    let (typed, input) = line.split_once(" < ").map_or((line, None), |(typed, file)| (typed, Some(file)));
    let mut command = command(folder, "");
    command.args(words(typed));
    if let Some(file) = input {
        command.stdin(fs::File::open(folder.join(file)).expect("a file that the page made"));
    }
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "mtds {line}\n{}", stderr(&output));
}

/// `sh` is run, `sh long` takes too long and is parsed, any other block with a name is a file that commands need.
#[track_caller]
fn runs(page: &str, fewest: usize, leaves: &[&str]) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let mut n_run = 0;
    for (info, text) in blocks(page) {
        match info.split_once(' ').unwrap_or((info, "")) {
            ("sh", "") => {
                for command in commands(&text) {
                    run(folder.path(), command);
                    n_run += 1;
                }
            }
            ("sh", "long") => commands(&text).into_iter().for_each(parses),
            (_, name) if !name.is_empty() => fs::write(folder.path().join(name), text).expect("written"),
            _ => {}
        }
    }
    assert!(n_run >= fewest, "{n_run} commands");
    for file in leaves {
        assert!(folder.path().join(file).exists(), "{file}");
    }
    for option in inline(page).filter(|span| span.starts_with("--code ")) {
        run(folder.path(), &format!("generate model {option} --inputs family.csv --inputs-of osc-000"));
    }
    for entry in fs::read_dir(folder.path()).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.join("model.safetensors").exists() {
            explains_something(folder.path(), &path);
        }
    }
}

/// A model whose rollouts are constant explains nothing, and no exit status says so.
#[track_caller]
fn explains_something(folder: &Path, model: &Path) {
    let output = command(folder, &format!("inspect {} --json", model.display())).output().expect("starts");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = found["explained"].as_array().expect("rows");
    let most = rows.iter().filter_map(|row| row["with_code"].as_f64()).fold(0.0, f64::max);
    assert!(most > 0.02, "{}: {rows:?}", model.display());
}

#[test]
fn commands_of_the_readme_can_be_typed() {
    let mut n_parsed = 0;
    for (_, text) in blocks(include_str!("../../../../README.md")).iter().filter(|(info, _)| *info == "sh") {
        let typed = text.replace("cargo run --release -- ", "mtds ");
        let ours: String =
            typed.lines().filter(|line| line.starts_with("mtds ")).map(|l| format!("{l}\n")).collect();
        commands(&ours).into_iter().for_each(parses);
        n_parsed += commands(&ours).len();
    }
    assert!(n_parsed >= 8, "{n_parsed} commands");
}

#[test]
fn the_tutorial_runs() {
    let left = ["map.html", "report.html", "forecasts.csv", "copy.csv", "fresh.csv", "morph.csv"];
    runs(include_str!("../../../../docs/tutorial.md"), 11, &left);
}

#[test]
fn choosing_a_model_runs() {
    runs(
        include_str!("../../../../docs/choosing-a-model.md"),
        12,
        &["as-chosen", "as-lds", "selected", "starts", "doses"],
    );
}

#[test]
fn reading_the_diagnostics_runs() {
    let left = ["report.html", "posteriors.csv", "odd.csv"];
    runs(include_str!("../../../../docs/diagnostics.md"), 5, &left);
}

#[test]
fn the_page_on_patients_runs() {
    runs(include_str!("../../../../docs/patients.md"), 3, &["patients.truth.csv", "model"]);
}

#[test]
fn the_page_on_motion_runs() {
    let left = ["walks.html", "walks.train.csv", "old.bvh", "old.glb", "old.png", "old.apng", "again.csv"];
    let made = ["proud.bvh", "proud.apng", "mixed.glb", "changing.bvh", "along.mocap.json", "moved.bvh"];
    runs(include_str!("../../../../docs/motion.md"), 18, &[&left[..], &made].concat());
}

#[test]
fn the_page_for_animators_runs() {
    let left = [
        "zombie.bvh",
        "zombie.png",
        "zombie.apng",
        "as-proud.bvh",
        "between.bvh",
        "more.bvh",
        "cheering-up.bvh",
    ];
    let made = ["along.bvh", "change.glb", "lavish.bvh"];
    runs(include_str!("../../../../docs/animators.md"), 11, &[&left[..], &made].concat());
}
