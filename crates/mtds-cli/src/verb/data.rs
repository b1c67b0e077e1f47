//! `mtds data`: makes built-in families, converts families between formats.

use crate::output::print;
use crate::plan::{ConvertPlan, Format, OscillatorsPlan, PharmacodynamicsPlan, Verbosity};
use anyhow::Result;
use mtds::Family;
use mtds_data::oscillators::Oscillators;
use mtds_data::pharmacodynamics::{PatientFamily, Pharmacodynamics};
use mtds_data::{Column, Columns, Table, TimeAxis, write_family, write_table};
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

/// Draws a family of patients and writes it, with what is true of each beside it.
///
/// # Errors
/// A file that cannot be written; a `stdout` that takes no more.
pub fn pharmacodynamics(plan: &PharmacodynamicsPlan, stdout: &mut dyn Write) -> Result<()> {
    let settings = Pharmacodynamics { n_time: plan.n_time, noise_std: plan.noise_std };
    let drawn = settings.draw(plan.n_seq, plan.common.seed)?;
    let family = &drawn.family;
    write_family(&plan.out, family, &Columns::of(family), &TimeAxis::counted(family.n_seq()))?;
    write_table(&plan.truth, &truth(&drawn))?;
    said("pharmacodynamics", &plan.out, family, plan.common.format, stdout)
}

/// The parameters of every patient.
fn truth(drawn: &PatientFamily) -> Table {
    let ids = drawn.family.sequences().iter().map(|sequence| sequence.id().to_owned()).collect();
    let column = |of: fn(&mtds_data::pharmacodynamics::PatientParameters) -> f64| {
        Column::Number(drawn.parameters.iter().map(of).collect())
    };
    Table::new()
        .with("series", Column::Text(ids))
        .with("half_life", column(|p| p.half_life))
        .with("sensitivity", column(|p| p.sensitivity))
        .with("effect", column(|p| p.effect))
        .with("baseline", column(|p| p.baseline))
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
