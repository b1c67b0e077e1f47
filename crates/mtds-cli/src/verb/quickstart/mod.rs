//! `mtds quickstart`: the built-in family end to end, a table, a page, a JSON file of scores.

mod compute;
mod illustrate;
mod recipe;

pub use compute::compute;

use crate::output::{print, write_whole};
use crate::plan::{Format, QuickstartPlan, Verbosity};
use crate::progress::Progress;
use anyhow::{Context, Result};
use mtds_report::quickstart::{BoundPoint, QuickstartReport, page};
use mtds_report::text::{Align, TextTable, estimate, percent, seconds};
use serde_json::{Value, json};
use std::io::Write;

const PAGE: &str = "report.html";
const SCORES: &str = "results.json";

/// Carries the plan out: computes, writes the page and the scores, prints the result to `stdout`.
///
/// # Errors
/// Whatever `compute` fails with; a file that cannot be written; a `stdout` that takes no more.
pub fn run(
    plan: &QuickstartPlan,
    stdout: &mut dyn Write,
    compute: impl FnOnce(&QuickstartPlan, &mut Progress) -> Result<QuickstartReport>,
) -> Result<()> {
    let mut progress = Progress::new(plan.common.display());
    let mut report = compute(plan, &mut progress)?;
    drop(progress);
    report.files.push((SCORES.into(), "the scores of the table, to read by program".into()));
    report.files.push((PAGE.into(), "the report page: open it in a browser".into()));
    let document = document(plan, &report);
    let text = serde_json::to_string_pretty(&document).context("cannot write the result as JSON")?;
    write_whole(&plan.out.join(SCORES), format!("{text}\n").as_bytes())?;
    write_whole(&plan.out.join(PAGE), page(&report).render().as_bytes())?;
    let text = match plan.common.format {
        Format::Json => format!("{text}\n"),
        Format::Text => format!("{}\n{}", score_table(&report).render(), left_behind(plan, &report)),
    };
    print(stdout, &text)?;
    if plan.common.verbosity == Verbosity::Verbose {
        eprint!("{}", details(&report));
    }
    Ok(())
}

/// The result as one document: a flat list under `rows`, with settings, seed and version beside it. Values
/// that were not measured are null.
fn document(plan: &QuickstartPlan, report: &QuickstartReport) -> Value {
    let map = |pairs: &[(String, String)]| -> Value {
        pairs.iter().map(|(name, value)| (name.clone(), json!(value))).collect()
    };
    let timings: Value = report.timings.iter().map(|(stage, secs)| (stage.clone(), json!(secs))).collect();
    let files: Vec<_> = report.files.iter().map(|(path, _)| plan.out.join(path)).collect();
    json!({
        "verb": "quickstart",
        "version": env!("CARGO_PKG_VERSION"),
        "seed": plan.common.seed,
        "settings": map(&report.settings),
        "rows": report.rows,
        "coverage": report.coverage,
        "bound": last_bound(report),
        "timings_secs": timings,
        "files": files,
    })
}

/// The last training and held-out bounds; they need not belong to the same step.
fn last_bound(report: &QuickstartReport) -> Value {
    let last =
        |value: fn(&BoundPoint) -> f64| report.bound.iter().rev().map(value).find(|bound| bound.is_finite());
    json!({ "training": last(|p| p.training), "validation": last(|p| p.validation) })
}

/// The scores, ordered by the number of observations seen.
fn score_table(report: &QuickstartReport) -> TextTable {
    let mut table = TextTable::new(&[
        ("seen", Align::Right),
        ("method", Align::Left),
        ("RMSE", Align::Right),
        ("NLL", Align::Right),
        ("CRPS", Align::Right),
        ("in 50%", Align::Right),
        ("in 80%", Align::Right),
        ("in 95%", Align::Right),
    ]);
    for t in report.seen() {
        for row in report.rows.iter().filter(|row| row.t == t) {
            table.push(vec![
                t.to_string(),
                row.model.clone(),
                estimate(row.rmse, row.rmse_se, 3),
                estimate(row.nll, row.nll_se, 2),
                estimate(row.crps, row.crps_se, 3),
                percent(row.cover50),
                percent(row.cover80),
                percent(row.cover95),
            ]);
        }
    }
    table
}

fn left_behind(plan: &QuickstartPlan, report: &QuickstartReport) -> String {
    let width = report.files.iter().map(|(path, _)| path.chars().count()).max().unwrap_or(0);
    let mut out = format!("left in {}:\n", plan.out.display());
    for (path, meaning) in &report.files {
        out.push_str(&format!("  {path:<width$}  {meaning}\n"));
    }
    out
}

fn details(report: &QuickstartReport) -> String {
    let settings = report.settings.iter().map(|(name, value)| format!("{name}: {value}\n"));
    let timings = report.timings.iter().map(|(stage, secs)| format!("time, {stage}: {}\n", seconds(*secs)));
    settings.chain(timings).collect()
}
