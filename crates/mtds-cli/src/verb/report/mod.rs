//! `mtds report`: the page of any fit, from the model and the sequences to judge it by.

mod compute;
mod panels;
mod residuals;
mod stored;

use crate::output::print;
use crate::plan::{Format, ReportPlan};
use crate::progress::Progress;
use anyhow::Result;
use mtds_data::directory::write_file_atomic;
use mtds_report::fit::{FitReport, page};
use serde_json::{Value, json};
use std::io::Write;

/// Carries the plan out: measures, writes the page, prints where it is to `stdout`.
///
/// # Errors
/// A model or data that cannot be read, or do not fit each other; a file that cannot be written.
pub fn run(plan: &ReportPlan, stdout: &mut dyn Write) -> Result<()> {
    let mut progress = Progress::new(plan.common.display());
    let report = compute::report(plan, &mut progress)?;
    drop(progress);
    write_file_atomic(&plan.out, page(&report).render().as_bytes())?;
    let text = match plan.common.format {
        Format::Json => format!("{}\n", serde_json::to_string_pretty(&document(plan, &report))?),
        Format::Text => format!("{}: {}\n", plan.out.display(), report.judged),
    };
    print(stdout, &text)
}

fn document(plan: &ReportPlan, report: &FitReport) -> Value {
    json!({
        "verb": "report",
        "version": env!("CARGO_PKG_VERSION"),
        "seed": plan.common.seed,
        "model": plan.model,
        "judged": report.judged,
        "rows": report.scores,
        "coverage": report.coverage,
        "explained": report.explained,
        "tenths": report.residuals.tenths,
        "autocorrelation": report.residuals.autocorrelation,
        "file": plan.out,
    })
}
