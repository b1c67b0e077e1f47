//! `mtds reproduce`: the paper's experiments cell by cell; what is finished is kept, what is missing computed.
//!
//! ```text
//! DIR/cells/ID.json    one per finished cell: settings, scores of every test sequence, seconds
//! DIR/dho.json         the result of all cells that are there; the same bytes however they were computed
//! DIR/index.html       the report page
//! ```

mod cells;
mod countdown;
mod document;
mod page;
pub mod pd;
mod workers;

use crate::output::{print, write_whole};
use crate::plan::{DhoPlan, Format, Verbosity};
use anyhow::{Context, Result, bail};
use cells::{Cells, Found};
use countdown::Countdown;
use mtds::Control;
use mtds_experiments::dho::{Assembly, CellId, CellResult, Computed, assemble, compute};
use std::io::Write;
use std::time::Instant;

const RESULT: &str = "dho.json";
const PAGE: &str = "index.html";

/// All that the result is made of.
pub struct Experiment<'a> {
    /// What was asked for.
    pub plan: &'a DhoPlan,
    /// The cells that are there, in the order of the table.
    pub cells: Vec<CellResult>,
    /// Their assembly.
    pub assembly: Assembly,
}

/// Carries the plan out: computes the cells that are missing, assembles all that are there, prints the table.
///
/// # Errors
/// Cells of another experiment in the directory; a cell that could not be computed, after all others were;
/// a file that cannot be written; a `stdout` that takes no more.
pub fn run(plan: &DhoPlan, stdout: &mut dyn Write, stderr: &mut dyn Write) -> Result<()> {
    let cells = Cells::open(plan)?;
    let missing = missing(plan, &cells, stderr)?;
    let failed = compute_all(plan, &cells, missing, stderr)?;
    let experiment = Experiment::assemble(plan, &cells)?;
    let text = experiment.leave_result()?;
    let text = match plan.common.format {
        Format::Json => text,
        Format::Text => document::summary(&experiment, &[(RESULT, "the result"), (PAGE, "the report page")]),
    };
    print(stdout, &text)?;
    if plan.common.verbosity == Verbosity::Verbose {
        let _ = stderr.write_all(document::timings(&experiment).as_bytes());
    }
    match failed.split_first() {
        None => Ok(()),
        Some((first, others)) => {
            bail!("{first}{}", others.iter().map(|e| format!("\n{e}")).collect::<String>())
        }
    }
}

/// The cells that are still to be computed; what cannot be used of the others is reported.
fn missing(plan: &DhoPlan, cells: &Cells<'_>, stderr: &mut dyn Write) -> Result<Vec<CellId>> {
    let mut missing = vec![];
    for cell in plan.wanted() {
        match cells.find(&cell)? {
            Found::Kept(_) => continue,
            Found::Nothing => {}
            Found::Unusable(why) => {
                let _ = writeln!(stderr, "{}: {why}; computed again", cells.path(&cell).display());
            }
        }
        missing.push(cell);
    }
    Ok(missing)
}

/// Computes and keeps cells, the most work first; returns what went wrong with those that failed.
fn compute_all(
    plan: &DhoPlan,
    cells: &Cells<'_>,
    mut missing: Vec<CellId>,
    stderr: &mut dyn Write,
) -> Result<Vec<String>> {
    // Long cells last would leave most threads idle at the end; the sort is stable.
    let scale = plan.protocol.scale;
    let work = |cell: &CellId| countdown::weight(&cell.kind, scale);
    missing.sort_by(|a, b| work(b).total_cmp(&work(a)));
    let quiet = plan.common.verbosity == Verbosity::Quiet;
    let mut countdown = Countdown::new(&missing, scale, plan.wanted().len() - missing.len());
    let mut say = |line: String| {
        if !quiet {
            let _ = writeln!(stderr, "{line}");
        }
    };
    say(countdown.begin(plan.common.threads.get()));
    let mut failed = vec![];
    workers::run(
        &missing,
        plan.common.threads.get(),
        |cell| timed(plan, cell),
        |cell, result| {
            match result {
                Ok(result) => {
                    cells.keep(&result)?;
                    say(countdown.finished(cell, result.seconds));
                }
                Err(error) => {
                    say(format!("{cell}: failed: {error:#}"));
                    failed.push(format!("cell {cell}: {error:#}"));
                }
            }
            Ok(())
        },
    )?;
    Ok(failed)
}

fn timed(plan: &DhoPlan, cell: &CellId) -> Result<CellResult> {
    let clock = Instant::now();
    let Computed { sequences, illustrations } =
        compute(cell, &plan.protocol, &plan.settings, &mut |_| Control::Continue)?;
    let (cell, protocol) = (cell.clone(), plan.protocol.clone());
    let seconds = clock.elapsed().as_secs_f64();
    Ok(CellResult { cell, protocol, sequences, illustrations, seconds })
}

impl<'a> Experiment<'a> {
    fn assemble(plan: &'a DhoPlan, cells: &Cells<'_>) -> Result<Self> {
        let mut found = vec![];
        for cell in plan.kinds.iter().flat_map(|kind| kind.cells(&plan.protocol)) {
            if let Found::Kept(result) = cells.find(&cell)? {
                found.push(*result);
            }
        }
        let assembly = assemble(&plan.protocol, &plan.kinds, &found)?;
        Ok(Self { plan, cells: found, assembly })
    }

    /// Writes the result and the page; returns the text of the result.
    fn leave_result(&self) -> Result<String> {
        let document = document::document(self)?;
        let text = serde_json::to_string_pretty(&document).context("cannot write the result as JSON")? + "\n";
        write_whole(&self.plan.out.join(RESULT), text.as_bytes())?;
        write_whole(&self.plan.out.join(PAGE), page::page(self)?.render().as_bytes())?;
        Ok(text)
    }
}
