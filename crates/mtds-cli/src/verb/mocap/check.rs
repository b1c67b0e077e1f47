//! `mtds mocap check`: reads all BVH files below a folder and leaves a page with findings and pictures.

use super::loss::Loss;
use super::page::page;
use super::report::Findings;
use super::take::{read_all, rules};
use crate::output::{print, write_whole};
use crate::plan::{CheckPlan, Format, Verbosity};
use anyhow::Result;
use mtds_mocap::clip::ClipSettings;
use serde_json::json;
use std::io::Write;

/// Checks a folder.
///
/// # Errors
/// A folder without usable files, a page that cannot be written.
pub fn check(plan: &CheckPlan, stdout: &mut dyn Write) -> Result<()> {
    let settings = ClipSettings { rules: rules(plan.rules.as_ref())?, ..ClipSettings::default() };
    let takes = read_all(&plan.folder, &settings)?;
    let findings = Findings::of(&takes);
    if plan.common.verbosity != Verbosity::Quiet {
        takes
            .failures
            .iter()
            .for_each(|failure| eprintln!("left out: {}", mtds_data::shown(&failure.why.to_string())));
    }
    let losses = Loss::of_each(&takes.takes)?;
    let worst = Loss::worst(&losses);
    let page = page(&plan.folder, &takes, &findings, &losses)?;
    write_whole(&plan.out, page.render().as_bytes())?;
    let text = match plan.common.format {
        Format::Text => format!("{}\n{}\n{}\n", findings.table(), worst.said(), plan.out.display()),
        Format::Json => {
            let document = json!({
                "verb": "mocap check",
                "version": env!("CARGO_PKG_VERSION"),
                "page": plan.out,
                "n_clips": takes.takes.len(),
                "n_unusable": takes.failures.len(),
                "worst_loss": worst,
                "findings": findings,
            });
            format!("{}\n", serde_json::to_string_pretty(&document)?)
        }
    };
    print(stdout, &text)
}
