//! A family as a long table, as the readers take it: a row per sequence and step.

use std::path::Path;

use mtds::{Family, Signal};

use super::table::{Column, Table};
use super::{compressed, unwritable, write_table};
use crate::directory::write_file_atomic;
use crate::format::Format;
use crate::read::Columns;
use crate::time::TimeAxis;
use crate::{Result, npz};

/// Writes a family to a file, whole or not at all; the name tells format and compression.
///
/// Inputs that all sequences share are repeated with each. Rows beyond the last output of a sequence hold the
/// inputs known ahead. NPZ does not hold times.
///
/// # Errors
/// [`crate::Error::Data`] if the name tells no format, the columns do not fit the family, or an id or label
/// is empty; else as [`crate::directory::write_file_atomic`].
pub fn write_family(path: &Path, family: &Family, columns: &Columns, time: &TimeAxis) -> Result<()> {
    if Format::of(path)? == Format::Npz {
        check(family, columns).map_err(|why| unwritable(path, why))?;
        let bytes = npz::bytes(family, columns).map_err(|error| unwritable(path, error.to_string()))?;
        return write_file_atomic(path, &compressed(path, bytes)?);
    }
    let table = family_table(family, columns, time).map_err(|why| unwritable(path, why))?;
    write_table(path, &table)
}

/// A family as a long table: sequence, time, outputs, inputs, label.
///
/// # Errors
/// Why it cannot be written: columns that do not fit the family, or an empty id or label.
pub fn family_table(
    family: &Family,
    columns: &Columns,
    time: &TimeAxis,
) -> std::result::Result<Table, String> {
    check(family, columns)?;
    let n_rows = |i: usize| family.inputs_of(i).map_or(0, Signal::n_time).max(family.sequence(i).n_time());
    let rows: Vec<(usize, usize)> =
        (0..family.n_seq()).flat_map(|i| (0..n_rows(i)).map(move |k| (i, k))).collect();
    let text = |of: &dyn Fn(usize) -> String| Column::Text(rows.iter().map(|&(i, _)| of(i)).collect());
    let mut table = Table::new()
        .with(&columns.series, text(&|i| family.sequence(i).id().into()))
        .with(&columns.time, time.column(rows.iter().copied()));
    for (c, name) in columns.outputs.iter().enumerate() {
        let value = |&(i, k): &(usize, usize)| value(Some(family.sequence(i).outputs()), k, c);
        table = table.with(name, Column::Number(rows.iter().map(value).collect()));
    }
    for (c, name) in columns.inputs.iter().enumerate() {
        let value = |&(i, k): &(usize, usize)| value(family.inputs_of(i), k, c);
        table = table.with(name, Column::Number(rows.iter().map(value).collect()));
    }
    if let Some(name) = &columns.label {
        table = table.with(name, text(&|i| family.sequence(i).label().unwrap_or_default().into()));
    }
    Ok(table)
}

/// NaN beyond the end.
fn value(signal: Option<&Signal>, k: usize, c: usize) -> f64 {
    signal.filter(|signal| k < signal.n_time()).map_or(f64::NAN, |signal| signal.get(k, c))
}

fn check(family: &Family, columns: &Columns) -> std::result::Result<(), String> {
    let widths = (columns.outputs.len(), columns.inputs.len());
    let expected = (family.d_obs(), family.d_input());
    if widths != expected {
        return Err(format!("expected names for {expected:?} outputs and inputs, found {widths:?}"));
    }
    for sequence in family.sequences() {
        if sequence.id().is_empty() {
            return Err("a sequence has an empty id; name it".into());
        }
        if sequence.label().is_some_and(str::is_empty) {
            return Err(format!("sequence `{}` has an empty label; give none, or name it", sequence.id()));
        }
        if sequence.label().is_some() && columns.label.is_none() {
            return Err("the family has labels and no column for them; name one, or drop them".into());
        }
    }
    Ok(())
}
