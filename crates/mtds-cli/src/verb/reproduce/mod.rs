//! `mtds reproduce`: the paper's experiments, computed by `mtds-experiments`; this is the directory that they work in.
//!
//! ```text
//! DIR/cells/ID.json    one per finished cell: settings, scores of every test sequence, seconds
//! DIR/dho.json         the result of all cells that are there; the same bytes however they were computed
//! DIR/index.html       the report page
//! ```

pub mod pd;

use crate::output::{print, write_whole};
use crate::plan::{DhoPlan, Format, Verbosity};
use anyhow::{Context, Result, anyhow, bail};
use mtds_data::directory::write_file_atomic;
use mtds_experiments::dho::{CellId, Experiment, Outcome, Surroundings};
use mtds_experiments::{Error, Trouble};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::time::Instant;

const RESULT: &str = "dho.json";
const PAGE: &str = "index.html";

/// Carries the plan out: computes the cells that are missing, assembles all that are there, prints the table.
///
/// # Errors
/// Cells of another experiment in the directory; a cell that could not be computed, after all others were;
/// a file that cannot be written; a `stdout` that takes no more.
pub fn run(plan: &DhoPlan, stdout: &mut dyn Write, stderr: &mut dyn Write) -> Result<()> {
    let experiment = Experiment {
        protocol: plan.protocol.clone(),
        settings: plan.settings.clone(),
        kinds: plan.kinds.clone(),
    };
    let mut directory = Directory::open(plan, stderr)?;
    let clock = Instant::now();
    let elapsed = || clock.elapsed().as_secs_f64();
    let outcome = experiment
        .run(&plan.wanted(), plan.common.threads.get(), &elapsed, &mut directory)
        .map_err(|error| directory.explain(error))?;
    let document = serde_json::to_string_pretty(&outcome.document()?)? + "\n";
    write_whole(&plan.out.join(RESULT), document.as_bytes())?;
    let page = outcome.page(&plan.out.display().to_string())?;
    write_whole(&plan.out.join(PAGE), page.render().as_bytes())?;
    match plan.common.format {
        Format::Json => print(stdout, &document)?,
        Format::Text => print(stdout, &summary(plan, &outcome))?,
    }
    if plan.common.verbosity == Verbosity::Verbose {
        let _ = directory.stderr.write_all(outcome.timings().as_bytes());
    }
    match outcome.failed.is_empty() {
        true => Ok(()),
        false => bail!("{}", outcome.failed.join("\n")),
    }
}

/// What is printed: the tables, what is missing, the files.
fn summary(plan: &DhoPlan, outcome: &Outcome<'_>) -> String {
    let mut out = outcome.summary();
    let missing = outcome.assembly.missing.len();
    if missing > 0 {
        let all = missing + outcome.cells.len();
        out.push_str(&format!(
            "\n{missing} of {all} cells are missing; the same command without --only and --cells computes them\n"
        ));
    }
    out.push_str(&format!("\nleft in {}:\n", plan.out.display()));
    for (name, meaning) in [(RESULT, "the result"), (PAGE, "the report page")] {
        out.push_str(&format!("  {name:<10}  {meaning}\n"));
    }
    out
}

/// The directory of cells, and where lines about them go.
struct Directory<'a> {
    folder: PathBuf,
    quiet: bool,
    stderr: &'a mut dyn Write,
}

impl<'a> Directory<'a> {
    /// The cells in the directory of the plan, which is made if it is missing.
    fn open(plan: &DhoPlan, stderr: &'a mut dyn Write) -> Result<Self> {
        let folder = plan.out.join("cells");
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make the directory `{}`", folder.display()))?;
        Ok(Self { folder, quiet: plan.common.verbosity == Verbosity::Quiet, stderr })
    }

    fn path(&self, cell: &CellId) -> PathBuf {
        self.folder.join(format!("{cell}.json"))
    }

    /// The error with the file that it is about.
    fn explain(&self, error: Error) -> anyhow::Error {
        match error {
            Error::Foreign { cell, problem } => anyhow!(
                "`{}` {problem}; name another directory with --out, or delete this one",
                self.path(&cell).display()
            ),
            other => other.into(),
        }
    }
}

impl Surroundings for Directory<'_> {
    fn look_up(&self, cell: &CellId) -> Result<Option<Vec<u8>>, Trouble> {
        let path = self.path(cell);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("cannot read `{}`: {error}", path.display()).into()),
        }
    }

    fn keep(&mut self, cell: &CellId, bytes: &[u8]) -> Result<(), Trouble> {
        Ok(write_file_atomic(&self.path(cell), bytes)?)
    }

    fn unusable(&mut self, cell: &CellId, why: &str) {
        let _ = writeln!(self.stderr, "{}: {why}; computed again", self.path(cell).display());
    }

    fn progress(&mut self, line: &str) {
        if !self.quiet {
            let _ = writeln!(self.stderr, "{line}");
        }
    }
}
