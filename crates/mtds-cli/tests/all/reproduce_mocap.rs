//! `mtds reproduce mocap` at tiny sizes, on a folder of walks: from BVH files to one result and a page, resumed to the same bytes.

use clap::Parser;
use mtds_cli::command::{CommandLine, Verb};
use mtds_cli::verb::reproduce::{Arguments, Mocap};
use mtds_experiments::mocap::{Experiment, Material, Part};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Three walks of 150 frames in each of three styles, written once.
fn walks() -> &'static Path {
    static WALKS: OnceLock<PathBuf> = OnceLock::new();
    WALKS.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reproduce-mocap-walks");
        let words = ["data", "gait", "--styles", "old,proud,sexy", "--walks", "3", "--frames", "150", "-o"];
        let output = Command::new(env!("CARGO_BIN_EXE_mtds")).args(words).arg(&folder).output();
        assert!(output.expect("the program runs").status.success());
        folder
    })
}

fn asked(words: &[&str]) -> Mocap {
    let all = ["mtds", "reproduce", "mocap"].iter().chain(words);
    match CommandLine::try_parse_from(all).expect("valid options").verb {
        Verb::Reproduce(Arguments::Mocap(asked)) => asked,
        other => panic!("another verb: {other:?}"),
    }
}

/// A few steps of small networks, one style left out, one share.
fn shrink(experiment: &mut Experiment<'_>) {
    let (protocol, settings) = (&mut experiment.protocol, &mut experiment.settings);
    (protocol.seen, protocol.ahead, protocol.least) = (24, 16, 24);
    (protocol.told, protocol.starts, protocol.folds) = (vec![5, 50], 2, vec![0]);
    (protocol.shares, protocol.starts_of_style) = (vec![2], 2);
    (protocol.sources, protocol.codes) = (1, 2);
    (settings.units, settings.steps) = (8, 10);
    (settings.classifier.units, settings.classifier.hidden) = (8, 6);
    settings.classifier.plan.steps = 10;
    let model = &mut settings.model;
    (model.front, model.bottleneck, model.state) = (Some(8), Some(3), Some(4));
    (model.code, model.segment, model.overlap) = (Some(2), Some(24), Some(12));
    model.refine_steps = Some(10);
}

/// What was printed on stdout and stderr.
fn run(asked: &Mocap, material: &Material) -> (String, String) {
    let mut experiment = asked.experiment(material).expect("valid");
    shrink(&mut experiment);
    let (mut stdout, mut stderr) = (vec![], vec![]);
    asked.compute(&experiment, &mut stdout, &mut stderr).expect("nothing fails");
    (String::from_utf8(stdout).expect("text"), String::from_utf8(stderr).expect("text"))
}

#[test]
fn motions_are_read_split_forecast_and_shown_and_a_run_in_parts_gives_the_same_bytes() {
    let (one, parts) = (tempfile::tempdir().expect("made"), tempfile::tempdir().expect("made"));
    let data = walks().to_str().expect("plain path");
    let asked_in = |out: &tempfile::TempDir, more: &[&str]| {
        let out = out.path().to_str().expect("plain path");
        asked(&[&["--data", data, "-o", out], more].concat())
    };
    let all = asked_in(&one, &["--threads", "1"]);
    let material = all.material().expect("files are there");
    assert_eq!((material.clips().len(), material.styles().len()), (9, 3));
    let tests: Vec<&str> =
        material.clips().iter().filter(|clip| clip.part == Part::Test).map(|clip| clip.id.as_str()).collect();
    assert_eq!(tests, ["old_03", "proud_03", "sexy_03"], "as the manifest says");
    let (text, _) = run(&all, &material);
    for part in ["experiment 1", "50 %", "a style left out (old)", "GRU of the inputs + seed", "index.html"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (text, _) = run(&asked_in(&parts, &["--only", "e2", "--cells", "2/2", "--threads", "2"]), &material);
    assert!(text.contains("cells are missing"), "{text}");
    let (text, lines) = run(&asked_in(&parts, &["--threads", "2", "-v"]), &material);
    assert!(!text.contains("missing") && lines.contains("time, e2-mtds: "), "{text}{lines}");
    let result = |out: &tempfile::TempDir| fs::read(out.path().join("mocap.json")).expect("written");
    assert_eq!(result(&one), result(&parts));
    let (_, lines) = run(&asked_in(&parts, &[]), &material);
    assert!(lines.starts_with("0 cells to compute"), "{lines}");
    looks_whole(&one, &material);
}

/// The document and the page of a whole run.
fn looks_whole(out: &tempfile::TempDir, material: &Material) {
    let text = fs::read_to_string(out.path().join("mocap.json")).expect("written");
    let document: serde_json::Value = serde_json::from_str(&text).expect("one document");
    assert_eq!(document["fingerprint"], material.fingerprint().expect("finite"));
    assert_eq!((&document["seed"], &document["missing"]), (&1.into(), &serde_json::json!([])));
    assert!(!text.contains("seconds"), "times are no part of the result");
    let rows = document["rows"].as_array().expect("rows");
    let named = |method: &str| rows.iter().filter(|row| row["method"] == method).count();
    // One share and two rows ahead: over all and style by style.
    assert_eq!((named("mtds"), named("gru-closed"), named("gru-styles")), (4 + 2 * 2, 2 * 2, 4));
    assert!(rows.iter().all(|row| row["rmse"].as_f64().is_some_and(|rmse| rmse > 0.0)), "{rows:?}");
    assert_eq!(document["transfer"][0]["one"].as_array().map(Vec::len), Some(3));
    assert!(document["map"]["points"].as_array().is_some_and(|points| points.len() > 3));
    let page = fs::read_to_string(out.path().join("index.html")).expect("written");
    // Kept, so that a person can look at it.
    fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("mocap.html"), &page).expect("written");
    assert_eq!(page.matches("<section>").count(), 5);
    // Errors over time twice and by share once, the map, and motions at three styles and between two.
    assert_eq!(page.matches("role=\"img\"").count(), 3 + 1 + 4);
    assert!(
        page.contains("Poses of half-way from")
            && !page.contains("NaN")
            && !page.contains("Not computed yet")
    );
}

#[test]
fn cells_can_be_listed_and_wrong_words_are_refused() {
    let material = asked(&["--data", walks().to_str().expect("plain path")]).material().expect("files");
    let listed = |words: &[&str]| {
        let asked = asked(&[words, &["--list"]].concat());
        let mut stdout = vec![];
        let experiment = asked.experiment(&material).expect("valid");
        asked.compute(&experiment, &mut stdout, &mut vec![]).expect("nothing fails");
        String::from_utf8(stdout).expect("text")
    };
    assert_eq!(listed(&["--only", "e3,map"]), "e3-r00\nmap-r00\n");
    let full = listed(&["--scale", "full", "--only", "e2-mtds"]);
    assert_eq!((full.lines().count(), full.lines().next()), (3 * 3, Some("e2-mtds-f00-r00")));
    let error = asked(&["--only", "e4"]).experiment(&material).expect_err("no such cell");
    assert!(error.to_string().contains("`e4`"), "{error}");
    let data = walks().to_str().expect("plain path");
    let error = asked(&["--data", data, "--dataset", "cmu"]).material().expect_err("no such dataset");
    assert!(format!("{error:#}").contains("`dataset`"), "{error:#}");
}
