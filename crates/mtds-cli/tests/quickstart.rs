//! `mtds quickstart` around its computation: the page, the table, the JSON document, the files left behind.

#[path = "../../mtds-report/tests/balance/mod.rs"]
mod balance;
mod fixture;
mod noise;

use mtds_cli::arguments::{Arguments, Verb};
use mtds_cli::plan::QuickstartPlan;
use mtds_cli::verb;
use mtds_report::quickstart::{QuickstartReport, page};
use std::path::Path;

use clap::Parser;

fn plan(out: &Path, options: &[&str]) -> QuickstartPlan {
    let out = out.to_str().expect("plain path");
    let words = ["mtds", "quickstart", "-o", out, "--quiet"].into_iter().chain(options.iter().copied());
    let verb = Arguments::try_parse_from(words).expect("valid options").verb;
    let Verb::Quickstart(typed) = verb else { panic!("another verb: {verb:?}") };
    QuickstartPlan::new(&typed).expect("valid plan")
}

fn printed(out: &Path, options: &[&str]) -> String {
    let plan = plan(out, options);
    let mut stdout = Vec::new();
    verb::quickstart::run(&plan, &mut stdout, |_, _| Ok(fixture::report())).expect("nothing can fail");
    String::from_utf8(stdout).expect("text")
}

#[test]
fn the_page_is_well_formed_and_whole() {
    let html = page(&fixture::report()).render();
    let style = html.find("<style>").expect("styled")..html.find("</style>").expect("styled");
    balance::assert_balanced(&format!("{}{}", &html[..style.start], &html[style.end + 8..]));
    assert_eq!(html.matches("<section>").count(), 6);
    assert_eq!(html.matches("role=\"img\"").count(), 2 + 6 + 1 + 2 + 2);
    assert!(!html.contains("NaN") && !html.contains("no data"));
    // Kept, so that a person can look at it.
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("quickstart.html"), &html).expect("written");
}

#[test]
fn an_empty_report_is_still_a_page() {
    let html = page(&QuickstartReport::default()).render();
    assert!(html.contains("no data") && !html.contains("NaN"));
}

#[test]
fn best_values_are_compared_within_each_number_of_observations() {
    let html = page(&fixture::report()).render();
    for best in ["0.231", "0.142", "0.094"] {
        assert!(html.contains(&format!("<td class=\"best\"><span>{best}</span>")), "{best} is not bold");
    }
    assert!(!html.contains("<td class=\"best\"><span>0.113</span>"), "the runner-up is bold");
}

#[test]
fn the_table_lines_up_and_names_the_files() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let text = printed(folder.path(), &[]);
    let table: Vec<_> = text.lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(table.len(), 1 + 12);
    let widths: Vec<_> = table.iter().map(|line| line.chars().count()).collect();
    assert!(widths.iter().all(|w| *w == widths[0]), "{text}");
    for (file, listed) in [("report.html", true), ("results.json", true), ("other", false)] {
        assert_eq!(text.contains(&format!("  {file}")), listed, "{text}");
        assert_eq!(folder.path().join(file).exists(), listed, "{file}");
    }
}

#[test]
fn json_is_one_document_with_nulls_for_what_was_not_measured() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let text = printed(folder.path(), &["--json", "--seed", "5"]);
    let document: serde_json::Value = serde_json::from_str(&text).expect("one JSON document");
    assert_eq!(document["seed"], 5);
    let rows = document["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 12);
    assert_eq!(rows[0]["model"], "multi-task LDS");
    assert_eq!((&rows[0]["t"], &rows[0]["rmse"]), (&10.into(), &0.231.into()));
    assert!(rows[3]["nll"].is_null());
    let stored = std::fs::read_to_string(folder.path().join("results.json")).expect("written");
    assert_eq!(stored, text);
}

/// A stdout that fails.
struct Failing(std::io::ErrorKind);

impl std::io::Write for Failing {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_closed_pipe_is_no_failure_but_a_full_disk_is() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let plan = plan(folder.path(), &[]);
    let run = |kind| verb::quickstart::run(&plan, &mut Failing(kind), |_, _| Ok(fixture::report()));
    run(std::io::ErrorKind::BrokenPipe).expect("the reader had seen enough");
    run(std::io::ErrorKind::StorageFull).expect_err("the result is lost");
}

#[test]
fn a_failed_computation_leaves_no_files() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let plan = plan(folder.path(), &[]);
    let error = verb::quickstart::run(&plan, &mut Vec::new(), |_, _| anyhow::bail!("diverged"));
    assert_eq!(error.expect_err("it failed").to_string(), "diverged");
    assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 0);
}
