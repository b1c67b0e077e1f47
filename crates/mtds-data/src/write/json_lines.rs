//! A table as JSON lines: one object per row; a number is written with the fewest digits that read back as the same.

use std::io::{self, Write};

use super::table::{Column, Table};

/// The table as text, a line per row.
pub(super) fn bytes(table: &Table) -> io::Result<Vec<u8>> {
    let names = table.columns.iter().map(|(name, _)| serde_json::to_string(name).map_err(io::Error::from));
    let names = names.collect::<io::Result<Vec<_>>>()?;
    let mut bytes = Vec::new();
    for row in 0..table.n_rows() {
        for (index, ((_, column), name)) in table.columns.iter().zip(&names).enumerate() {
            write!(bytes, "{}{name}:", if index == 0 { '{' } else { ',' })?;
            spell(&mut bytes, column, row)?;
        }
        bytes.extend_from_slice(b"}\n");
    }
    Ok(bytes)
}

/// Appends a value; null where it is missing. JSON has no infinity, so that is text.
fn spell(to: &mut Vec<u8>, column: &Column, row: usize) -> io::Result<()> {
    match column {
        Column::Text(values) if values[row].is_empty() => write!(to, "null"),
        Column::Text(values) => Ok(serde_json::to_writer(to, &values[row])?),
        Column::Integer(values) => write!(to, "{}", values[row]),
        Column::Number(values) if values[row].is_nan() => write!(to, "null"),
        Column::Number(values) if values[row].is_infinite() => write!(to, "\"{}\"", values[row]),
        Column::Number(values) => write!(to, "{:?}", values[row]),
    }
}
