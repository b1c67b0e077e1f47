//! `mtds reproduce pd`: patients under doses of their own, learned by variational bounds, beside one system for all.
//!
//! ```text
//! DIR/pd.json    forecasts, recovery of true parameters, use of the code; settings, seed and version beside them
//! ```

use crate::output::{print, write_whole};
use crate::plan::{Format, PdPlan};
use crate::progress::{Progress, Stage};
use anyhow::Result;
use mtds::Control;
use mtds_experiments::pd;
use std::io::Write;

const RESULT: &str = "pd.json";

/// Carries the plan out: learns by every way, forecasts, writes the result, prints the tables.
///
/// # Errors
/// A loss that is not finite; a file that cannot be written; a `stdout` that takes no more.
pub fn run(plan: &PdPlan, stdout: &mut dyn Write) -> Result<()> {
    let mut progress = Progress::new(plan.common.display());
    let mut stage = (String::new(), 0);
    let found = pd::run(&plan.settings, &mut |way, step| {
        if stage.0 != way || step.step < stage.1 {
            progress.begin(Stage::Learning, step.steps);
        }
        stage = (way.to_owned(), step.step);
        progress.advance(step.step, Some(step.best_validation.unwrap_or(step.bound)));
        Control::Continue
    })?;
    progress.end();
    let text = serde_json::to_string_pretty(&found.document(&plan.settings))? + "\n";
    let left = plan.out.join(RESULT);
    write_whole(&left, text.as_bytes())?;
    match plan.common.format {
        Format::Json => print(stdout, &text),
        Format::Text => {
            print(stdout, &format!("{}\nleft in {}: the result\n", found.summary(), left.display()))
        }
    }
}
