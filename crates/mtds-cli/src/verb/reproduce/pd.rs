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
use mtds_experiments::pd::{self, Findings, RecoveryRow, ScoreRow};
use mtds_report::text::{Align, TextTable, estimate, percent};
use mtds_report::usage;
use serde_json::json;
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
    let document = json!({
        "experiment": "pd",
        "version": env!("CARGO_PKG_VERSION"),
        "seed": plan.common.seed,
        "settings": plan.settings,
        "rows": found.scores,
        "recovery": found.recovery,
        "usage": found.usage,
    });
    let text = serde_json::to_string_pretty(&document)? + "\n";
    write_whole(&plan.out.join(RESULT), text.as_bytes())?;
    match plan.common.format {
        Format::Json => print(stdout, &text),
        Format::Text => {
            let left = plan.out.join(RESULT);
            print(stdout, &format!("{}\nleft in {}: the result\n", tables(&found), left.display()))
        }
    }
}

fn tables(found: &Findings) -> String {
    let mut text = score_table(&found.scores);
    text.push_str("\nvariance of true parameters explained by codes, given all steps (cross-validated), and by θ itself\n");
    text.push_str(&recovery_table(&found.recovery));
    for row in &found.usage {
        text.push_str(&format!(
            "\n{}: {}\n{}",
            row.method,
            usage::sentence(&row.usage),
            usage::table(&row.usage)
        ));
    }
    text
}

fn score_table(rows: &[ScoreRow]) -> String {
    let mut table = TextTable::new(&[
        ("method", Align::Left),
        ("seen", Align::Right),
        ("RMSE", Align::Right),
        ("NLL", Align::Right),
        ("in 80%", Align::Right),
    ]);
    let nan = f64::NAN;
    for row in rows {
        table.push(vec![
            row.method.clone(),
            row.t.to_string(),
            estimate(row.rmse, row.rmse_se.unwrap_or(nan), 2),
            estimate(row.nll, row.nll_se.unwrap_or(nan), 2),
            percent(row.cover80),
        ]);
    }
    let n = rows.first().map_or(0, |row| row.n);
    format!("forecasts of the rest of {n} held-out patients\n{}", table.render())
}

fn recovery_table(rows: &[RecoveryRow]) -> String {
    let mut table = TextTable::new(&[
        ("method", Align::Left),
        ("parameter", Align::Left),
        ("R², codes", Align::Right),
        ("R², θ", Align::Right),
    ]);
    for row in rows {
        let (codes, theta) = (format!("{:.2}", row.r2_codes), format!("{:.2}", row.r2_theta));
        table.push(vec![row.method.clone(), row.parameter.clone(), codes, theta]);
    }
    table.render()
}
