//! `mtds fit`: the library's fit on a file, with progress, checkpoints on disk, and a model directory at the end.
//!
//! ```text
//! file ── read ──→ Family ── Fit ──→ Model ──→ directory
//!                            ↑  │ every few minutes, on Ctrl-C, after every stage
//!                            └─ MODEL.checkpoint
//! ```

mod document;
mod watching;

use crate::interrupt::Interrupt;
use crate::output::print;
use crate::plan::{Begin, DEFAULT_SEED, FitPlan, Format, UsageError, Verbosity};
use anyhow::{Context, Result, bail};
use mtds::workflow::Fitting;
use mtds::{Fit, Model};
use mtds_data::ReadFamily;
use mtds_data::directory::write_file_atomic;
use mtds_data::model::{load_model, save_model};
use std::io::Write;
use std::path::Path;
use watching::Watching;

/// Carries the plan out: learns, writes the model, prints the result to `stdout`.
///
/// # Errors
/// Data that cannot be read or learned from; settings out of range; a file that cannot be written; an interrupt.
pub fn run(plan: &FitPlan, interrupt: &Interrupt, stdout: &mut dyn Write) -> Result<()> {
    let earlier = match plan.begin {
        Begin::Resume if plan.checkpoint.exists() => Some(read_checkpoint(&plan.checkpoint)?),
        Begin::Resume if plan.out.join("config.json").exists() => {
            say(plan, &format!("`{}` is finished: there is nothing to go on with", plan.out.display()));
            return print_result(plan, &load_model(&plan.out)?, stdout);
        }
        _ => None,
    };
    let mut plan = plan.clone();
    if let Some(bytes) = &earlier {
        let columns = Fitting::columns_of(bytes).map_err(|error| unreadable(&plan, error))?;
        plan.source = plan.source.with_config(&columns)?;
    }
    let plan = &plan;
    let read = plan.source.read()?;
    read.notes.iter().for_each(|note| say(plan, &format!("note: {note}")));
    let mut fitting = begin(plan, &read, earlier.as_deref())?;
    say(plan, document::choices(&fitting, plan.common.verbosity).trim_end());
    let model = learn(plan, interrupt, &mut fitting)?;
    if let Some(parent) = plan.out.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::create_dir_all(parent).with_context(|| format!("cannot make `{}`", parent.display()))?;
    }
    save_model(&plan.out, &model)?;
    remove(&plan.checkpoint)?;
    print_result(plan, &model, stdout)
}

/// A line on stderr, unless asked to be quiet.
fn say(plan: &FitPlan, line: &str) {
    if plan.common.verbosity != Verbosity::Quiet {
        eprintln!("{line}");
    }
}

/// The fit before its first step, or where it was interrupted.
fn begin(plan: &FitPlan, read: &ReadFamily, earlier: Option<&[u8]>) -> Result<Fitting> {
    let fit = Fit {
        wishes: plan.wishes.clone(),
        select_code: plan.select_code.clone(),
        seed: plan.seed.unwrap_or(DEFAULT_SEED),
        base: None,
        columns: plan.source.config.clone(),
        time_step: Some(read.time.step.to_string()),
    };
    let Some(bytes) = earlier else { return fit.begin(&read.family).map_err(usage) };
    let fitting = fit.resume(&read.family, bytes).map_err(|error| match error {
        mtds::Error::Resumed { key, .. } if key == "data" => anyhow::anyhow!(
            "the data are not those of the interrupted run; give the same file, or start over with --force"
        ),
        store @ mtds::Error::Store { .. } => unreadable(plan, store),
        other => usage(other),
    })?;
    match plan.seed.filter(|seed| *seed != fitting.seed()) {
        Some(_) => Err(usage(mtds::Error::Resumed { key: "seed".into(), was: fitting.seed().to_string() })),
        None => Ok(fitting),
    }
}

fn unreadable(plan: &FitPlan, error: mtds::Error) -> anyhow::Error {
    let path = plan.checkpoint.display();
    anyhow::anyhow!("{path}: not a checkpoint that this program can read ({error}); start over with --force")
}

/// Takes all steps; after an interrupt there is a checkpoint.
fn learn(plan: &FitPlan, interrupt: &Interrupt, fitting: &mut Fitting) -> Result<Model> {
    let mut watching = Watching::new(plan, interrupt)?;
    loop {
        let found = fitting.run(&mut |progress| watching.hear(progress));
        if let Some(model) = found.as_ref().ok().and_then(Option::as_ref) {
            return Ok(model.clone());
        }
        write_file_atomic(&plan.checkpoint, &fitting.checkpoint()?)?;
        found?;
        if interrupt.is_asked() {
            bail!("{}", watching.stopped());
        }
    }
}

fn read_checkpoint(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("{}: cannot read", path.display()))
}

/// Removes the checkpoint of a run that has ended well.
fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error)
            .with_context(|| format!("{}: cannot remove the checkpoint; remove it by hand", path.display())),
        _ => Ok(()),
    }
}

/// A setting out of range is wrong usage, by option or by file.
fn usage(error: mtds::Error) -> anyhow::Error {
    let option = |name: &str| format!("--{}", name.replace('_', "-"));
    match error {
        mtds::Error::Setting { name, why } => {
            UsageError::new(option(&name), why, "leave it out, and it is chosen from the data").into()
        }
        mtds::Error::Unknown { kind: "base model", name, known } => {
            UsageError::new("--base", format!("found `{name}`, which is no base model"), known).into()
        }
        mtds::Error::Unknown { name, known, .. } => {
            UsageError::new("--adapt, --share", format!("no block `{name}`"), known).into()
        }
        mtds::Error::Resumed { key, was } => {
            let problem = format!("the interrupted run had {was}, now it is another");
            UsageError::new(
                option(&key),
                problem,
                "leave the option out to go on, or start over with --force",
            )
            .into()
        }
        other => other.into(),
    }
}

/// Prints what the finished model says of itself.
fn print_result(plan: &FitPlan, model: &Model, stdout: &mut dyn Write) -> Result<()> {
    let text = match plan.common.format {
        Format::Json => format!("{}\n", serde_json::to_string_pretty(&document::document(plan, model))?),
        Format::Text => document::text(plan, model),
    };
    print(stdout, &text)
}
