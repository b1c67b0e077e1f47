//! `mtds fit`: choose settings from the data, learn, leave a model; interrupted, go on to the same bits.
//!
//! ```text
//! plan ── read ── prepare ──→ state ── learn ──→ state … ── finish ──→ model directory
//!                               ↑        │ every few minutes, on Ctrl-C, after every stage
//!                               └─ MODEL.checkpoint
//! ```

mod document;
mod ending;
mod finish;
mod judge;
mod learn;
mod prepare;
mod select;
mod state;

use crate::base::BaseKind;
use crate::interrupt::Interrupt;
use crate::output::print;
use crate::plan::{Begin, FitPlan, Format, UsageError, Verbosity};
use crate::progress::Progress;
use anyhow::Result;
use clap::ValueEnum;
use mtds_data::ReadFamily;
use mtds_data::model::load_model;
use state::FitState;
use std::io::Write;

/// Carries the plan out: learns, writes the model, prints the result to `stdout`.
///
/// # Errors
/// Data that cannot be read or learned from; settings out of range; a file that cannot be written; an interrupt.
pub fn run(plan: &FitPlan, interrupt: &Interrupt, stdout: &mut dyn Write) -> Result<()> {
    let earlier = match plan.begin {
        Begin::Resume if plan.checkpoint.exists() => Some(FitState::load(&plan.checkpoint)?),
        Begin::Resume if plan.out.join("config.json").exists() => {
            say(plan, &format!("`{}` is finished: there is nothing to go on with", plan.out.display()));
            return result(plan, stdout);
        }
        _ => None,
    };
    let mut plan = plan.clone();
    if let Some(earlier) = &earlier {
        earlier.check_wishes(&plan)?;
        plan = plan.with_columns(&earlier.data)?;
    }
    let read = plan.source.read()?;
    read.notes.iter().for_each(|note| say(&plan, &format!("note: {note}")));
    check_base(&plan, earlier.as_ref())?;
    carry_out(&plan, interrupt, &read, earlier)?;
    result(&plan, stdout)
}

/// A line on stderr, unless asked to be quiet.
fn say(plan: &FitPlan, line: &str) {
    if plan.common.verbosity != Verbosity::Quiet {
        eprintln!("{line}");
    }
}

/// Refuses base models that nobody knows, asked for now or earlier.
fn check_base(plan: &FitPlan, earlier: Option<&FitState>) -> Result<(), UsageError> {
    let name = earlier.map(|state| state.choices.base.as_str()).or(plan.wishes.base.as_deref());
    match name.filter(|name| BaseKind::named(name).is_none()) {
        Some(name) => {
            let known: Vec<_> = BaseKind::value_variants().iter().map(|kind| kind.name()).collect();
            Err(UsageError::new(
                "--base",
                format!("found `{name}`, which is no base model"),
                known.join(", "),
            ))
        }
        None => Ok(()),
    }
}

/// What is left to do once the data are there.
fn carry_out(
    plan: &FitPlan,
    interrupt: &Interrupt,
    read: &ReadFamily,
    earlier: Option<FitState>,
) -> Result<()> {
    let mut state = match earlier {
        Some(state) => state.of_family(&read.family)?,
        None => prepare::first_state(plan, &read.family)?,
    };
    say(plan, document::choices(&state, plan.common.verbosity).trim_end());
    let parts = prepare::Parts::of(&read.family, &state)?;
    let mut progress = Progress::new(plan.common.display());
    learn::learn(plan, interrupt, &parts, &mut state, &mut progress)?;
    interrupt.without_stop(|| finish::finish(plan, &read.family, &parts, &state, &mut progress))?;
    drop(progress);
    state::remove(&plan.checkpoint)
}

/// Prints what the finished model says of itself.
fn result(plan: &FitPlan, stdout: &mut dyn Write) -> Result<()> {
    let bundle = load_model(&plan.out)?;
    let text = match plan.common.format {
        Format::Json => format!("{}\n", serde_json::to_string_pretty(&document::document(plan, &bundle))?),
        Format::Text => document::text(plan, &bundle),
    };
    print(stdout, &text)
}
