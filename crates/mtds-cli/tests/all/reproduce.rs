//! `mtds reproduce dho` at tiny sizes: cells are kept, runs resumed, and the result is the same bytes however it came about.

use clap::Parser;
use mtds::evaluate::{ScoreRow, Seen};
use mtds::parts::Schedule;
use mtds_cli::command::{CommandLine, Verb};
use mtds_cli::verb::reproduce::{Arguments, Dho};
use mtds_experiments::dho::Experiment;
use mtds_experiments::dho::recipe::Paper;
use std::fs;
use std::path::Path;

/// Two repetitions of four models on sequences of 36 steps, a few draws and steps of learning each.
fn plan(out: &Path, options: &[&str]) -> (Dho, Experiment) {
    let out = out.to_str().expect("plain path");
    let words = ["mtds", "reproduce", "dho", "--recipe", "paper", "-o", out].into_iter();
    let verb = CommandLine::try_parse_from(words.chain(options.iter().copied())).expect("valid options").verb;
    let Verb::Reproduce(Arguments::Dho(asked)) = verb else { panic!("another verb: {verb:?}") };
    let mut experiment = asked.experiment().expect("valid");
    shrink(&mut experiment);
    (asked, experiment)
}

fn shrink(experiment: &mut Experiment) {
    let kept = ["oracle", "pooled", "single", "mtlds-paper-n0004"];
    experiment.kinds.retain(|kind| kept.contains(&kind.to_string().as_str()));
    let protocol = &mut experiment.protocol;
    (protocol.pooled_size, protocol.n_test, protocol.n_time) = (20, 2, 36);
    (protocol.seen, protocol.training_sizes) = (vec![5, 12], vec![4]);
    let settings = &mut experiment.settings;
    (settings.oracle.draws, settings.oracle.sampler.chains) = (64, 64);
    (settings.oracle.sampler.prior_points, settings.oracle.sampler.prior_ess) = (2048, 256.0);
    settings.pooled.plan.steps = 5;
    settings.single.restarts = 2;
    (settings.single.sampler.warmup, settings.single.sampler.draws) = (40, 30);
    settings.paper = Paper::new(20).expect("enough steps");
    settings.paper.hidden = 12;
    settings.paper.start.objective.particles = Schedule::constant(64.0).expect("finite");
    settings.paper.online.every = 12;
}

/// What was printed on stdout and stderr.
fn run((asked, experiment): &(Dho, Experiment)) -> (String, String) {
    let (mut stdout, mut stderr) = (vec![], vec![]);
    asked.compute(experiment, &mut stdout, &mut stderr).expect("nothing fails");
    (String::from_utf8(stdout).expect("text"), String::from_utf8(stderr).expect("text"))
}

fn refused((asked, experiment): &(Dho, Experiment)) -> String {
    let error = asked.compute(experiment, &mut vec![], &mut vec![]).expect_err("refused");
    format!("{error:#}")
}

fn result(out: &Path) -> Vec<u8> {
    fs::read(out.join("dho.json")).expect("written")
}

/// The page, with apostrophes and minus signs as they are typed.
fn page(out: &Path) -> String {
    let html = fs::read_to_string(out.join("index.html")).expect("written");
    html.replace("&#39;", "'").replace('−', "-")
}

fn cell(out: &Path, name: &str) -> std::path::PathBuf {
    out.join("cells").join(format!("{name}.json"))
}

#[test]
fn a_run_in_parts_gives_the_bytes_of_a_run_in_one() {
    let (one, parts) = (tempfile::tempdir().expect("made"), tempfile::tempdir().expect("made"));
    run(&plan(one.path(), &["--threads", "1"]));
    let (table, _) =
        run(&plan(parts.path(), &["--threads", "2", "--only", "oracle,mtlds", "--cells", "2/2"]));
    assert!(table.contains("6 of 8 cells are missing"), "{table}");
    assert_ne!(result(one.path()), result(parts.path()));
    let (table, lines) = run(&plan(parts.path(), &["--threads", "3"]));
    assert!(lines.starts_with("6 cells to compute on 3 threads, 2 kept from before\n"), "{lines}");
    assert!(!table.contains("missing"), "{table}");
    assert_eq!(result(one.path()), result(parts.path()));
    let (_, lines) = run(&plan(parts.path(), &[]));
    assert!(lines.starts_with("0 cells to compute"), "{lines}");
}

#[test]
fn a_damaged_cell_is_reported_and_computed_again() {
    let folder = tempfile::tempdir().expect("made");
    run(&plan(folder.path(), &["--quiet", "--only", "pooled"]));
    let (kept, whole) = (cell(folder.path(), "pooled-r01"), result(folder.path()));
    let text = fs::read_to_string(&kept).expect("kept");
    let other = cell(folder.path(), "pooled-r00");
    let without_a_sequence = serde_json::from_str::<serde_json::Value>(&text).map(|mut value| {
        value["result"]["scores"][0].as_array_mut().expect("a list").pop();
        value.to_string()
    });
    let damages = [
        (text[..text.len() / 2].to_owned(), "damaged"),
        (text.replacen(r#""scores":"#, r#""sequences":"#, 1), "unknown field `sequences`"),
        (without_a_sequence.expect("JSON"), "sequences of cell pooled-r01: expected 2, found 1"),
        (fs::read_to_string(&other).expect("kept"), "is cell pooled-r00"),
        (text.replace(r#""spread":"by_step""#, r#""spread":"constant""#), "other settings of `pooled`"),
    ];
    for (damaged, why) in damages {
        assert_ne!(damaged, text);
        fs::write(&kept, damaged).expect("written");
        let (_, lines) = run(&plan(folder.path(), &["--quiet", "--only", "pooled"]));
        assert!(lines.contains("pooled-r01.json") && lines.contains(why), "{lines}");
        assert_eq!(result(folder.path()), whole, "{why}");
    }
}

#[test]
fn cells_of_another_experiment_are_neither_used_nor_lost() {
    let folder = tempfile::tempdir().expect("made");
    run(&plan(folder.path(), &["--quiet", "--only", "pooled"]));
    let kept = cell(folder.path(), "pooled-r00");
    let text = fs::read_to_string(&kept).expect("kept");
    let message = refused(&plan(folder.path(), &["--seed", "2"]));
    assert!(
        message.contains("seed 1; expected scale quick, seed 2") && message.contains("--out"),
        "{message}"
    );
    assert_eq!(fs::read_to_string(&kept).expect("still there"), text);
    let version = format!(r#""version":"{}""#, env!("CARGO_PKG_VERSION"));
    fs::write(&kept, text.replace(&version, r#""version":"0.0.0""#)).expect("written");
    assert!(refused(&plan(folder.path(), &[])).contains("version 0.0.0"));
}

#[test]
fn the_table_the_document_and_the_page_agree() {
    let folder = tempfile::tempdir().expect("made");
    let (table, lines) = run(&plan(folder.path(), &["-v"]));
    assert!(table.contains("mtlds-paper-n0004") && table.contains("below the truth"), "{table}");
    assert!(lines.contains("(8/8)") && lines.contains("time, oracle: "), "{lines}");
    let (json, _) = run(&plan(folder.path(), &["--json"]));
    assert_eq!(json.as_bytes(), result(folder.path()));
    let document: serde_json::Value = serde_json::from_str(&json).expect("one document");
    let rows = document["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 4 * 2);
    let scored: Vec<ScoreRow> = serde_json::from_value(document["rows"].clone()).expect("rows of the scorer");
    assert!(scored.iter().all(|row| row.n_seq == 2 * 2 && row.rmse_se.is_some()), "{scored:?}");
    assert_eq!((scored[7].method.as_str(), scored[7].seen), ("mtlds-paper-n0004", Seen::Steps(12)));
    assert_eq!((&document["seed"], &document["missing"]), (&1.into(), &serde_json::json!([])));
    assert_eq!(document["settings"]["protocol"]["n_test"], 2);
    assert_eq!(document["settings"]["models"]["pooled"]["pooled"]["spread"], "by_step");
    assert!(!json.contains("seconds"));
    assert_eq!(document["settings"]["models"]["mtlds-paper-n0004"]["mtlds"]["paper"]["hidden"], 12);
    assert!(!json.contains("illustrations"), "pictures are no part of the result");
    let page = page(folder.path());
    assert!(page.contains("after 12 observations") && page.contains("MTLDS-4, paper's recipe"));
    for row in rows {
        let rmse = format!("<span>{:.3}</span>", row["rmse"].as_f64().expect("a number"));
        assert!(page.contains(&rmse), "{row}");
    }
}

#[test]
fn the_page_shows_the_sequences_that_cells_illustrate() {
    let folder = tempfile::tempdir().expect("made");
    let part = |only: &str| run(&plan(folder.path(), &["--quiet", "--only", only]));
    let page = || page(folder.path());
    part("pooled");
    // Four training sequences, two test sequences, twenty more.
    assert_eq!(page().matches("class=\"trace\"").count(), 4 + 2 + 20);
    assert_eq!(page().matches(": not computed yet").count(), 3, "draws, intervals, evidences");
    part("mtlds");
    let html = page();
    assert!(html.contains("MTLDS-4, paper's recipe, test sequence 2 after 15 steps"));
    assert!(html.contains("MTLDS-4, paper's recipe, test sequence 1 after 30 steps"));
    assert!(!html.contains("Oracle, test sequence"));
    part("oracle");
    assert!(
        page().contains("Oracle, test sequence 2 after 30 steps") && !page().contains(": not computed yet")
    );
    let kept = |name: &str| fs::read_to_string(cell(folder.path(), name)).expect("kept");
    assert!(kept("oracle-r00").contains("illustrations") && !kept("oracle-r01").contains("illustrations"));
}

#[test]
fn a_cell_that_fails_keeps_no_other_from_being_computed() {
    let folder = tempfile::tempdir().expect("made");
    let mut plan = plan(folder.path(), &["--only", "pooled,mtlds"]);
    plan.1.settings.paper.online.every = 0;
    let message = refused(&plan);
    assert!(message.contains("cell mtlds-paper-n0004-r00") && message.contains("n0004-r01"), "{message}");
    assert!(cell(folder.path(), "pooled-r00").exists() && cell(folder.path(), "pooled-r01").exists());
    let document: serde_json::Value = serde_json::from_slice(&result(folder.path())).expect("JSON");
    assert_eq!(document["missing"].as_array().map(Vec::len), Some(6));
}
