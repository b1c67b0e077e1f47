//! `mtds data`: makes the built-in family, converts families between formats.

use crate::output::print;
use crate::plan::{ConvertPlan, Format, OscillatorsPlan, Verbosity};
use anyhow::Result;
use mtds::Family;
use mtds_data::oscillators::Oscillators;
use mtds_data::{Columns, TimeAxis, write_family};
use serde_json::json;
use std::io::Write;
use std::path::Path;

/// Draws a family of damped oscillators and writes it.
///
/// # Errors
/// A file that cannot be written; a `stdout` that takes no more.
pub fn oscillators(plan: &OscillatorsPlan, stdout: &mut dyn Write) -> Result<()> {
    let settings = Oscillators { n_time: plan.n_time, n_input: plan.n_time, ..Oscillators::default() };
    // Named so that readers find it by its prefix.
    let family = settings.draw(plan.n_seq, plan.common.seed)?.family.with_input_names(["u"])?;
    write_family(&plan.out, &family, &Columns::of(&family), &TimeAxis::counted(family.n_seq()))?;
    said("oscillators", &plan.out, &family, plan.common.format, stdout)
}

/// Reads a family and writes it.
///
/// # Errors
/// A family that cannot be read or written; a `stdout` that takes no more.
pub fn convert(plan: &ConvertPlan, stdout: &mut dyn Write) -> Result<()> {
    let read = plan.source.read()?;
    if plan.common.verbosity != Verbosity::Quiet {
        read.notes.iter().for_each(|note| eprintln!("note: {note}"));
    }
    write_family(&plan.out, &read.family, &read.columns, &read.time)?;
    said("convert", &plan.out, &read.family, plan.common.format, stdout)
}

fn said(verb: &str, out: &Path, family: &Family, format: Format, stdout: &mut dyn Write) -> Result<()> {
    let rows: usize = family.sequences().iter().map(|sequence| sequence.n_time()).sum();
    let text = match format {
        Format::Text => format!("{}: {} sequences, {rows} rows\n", out.display(), family.n_seq()),
        Format::Json => {
            let document = json!({
                "verb": format!("data {verb}"),
                "version": env!("CARGO_PKG_VERSION"),
                "file": out,
                "n_seq": family.n_seq(),
                "n_rows": rows,
                "outputs": family.output_names(),
                "inputs": family.input_names(),
                "fingerprint": family.fingerprint(),
            });
            format!("{}\n", serde_json::to_string_pretty(&document)?)
        }
    };
    print(stdout, &text)
}
