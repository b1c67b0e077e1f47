//! A table as text with separators; a number is written with the fewest digits that read back as the same.

use std::io::{self, Write};

use csv::{QuoteStyle, Terminator, Writer, WriterBuilder};

use super::table::{Column, Table};

/// The table as text, header first.
pub(super) fn bytes(table: &Table, separator: u8) -> io::Result<Vec<u8>> {
    let mut writer = writer(separator);
    writer.write_record(table.columns.iter().map(|(name, _)| name))?;
    finished(writer, table)
}

/// The rows of the table as text, without a header.
pub(super) fn rows(table: &Table, separator: u8) -> io::Result<Vec<u8>> {
    finished(writer(separator), table)
}

fn writer(separator: u8) -> Writer<Vec<u8>> {
    let mut builder = WriterBuilder::new();
    builder.delimiter(separator).terminator(Terminator::Any(b'\n')).quote_style(QuoteStyle::Necessary);
    builder.from_writer(Vec::new())
}

/// What is written, and the rows of the table after it.
fn finished(mut writer: Writer<Vec<u8>>, table: &Table) -> io::Result<Vec<u8>> {
    let mut number = Vec::new();
    for row in 0..table.n_rows() {
        for (_, column) in &table.columns {
            match column {
                Column::Text(values) => writer.write_field(&values[row])?,
                _ => {
                    number.clear();
                    spell(&mut number, column, row)?;
                    writer.write_field(&number)?;
                }
            }
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.into_inner().map_err(|error| io::Error::new(error.error().kind(), error.to_string()))
}

/// Appends the number; nothing where it is missing.
fn spell(to: &mut Vec<u8>, column: &Column, row: usize) -> io::Result<()> {
    match column {
        Column::Integer(values) => write!(to, "{}", values[row]),
        Column::Number(values) if values[row].is_nan() => Ok(()),
        // The debug form has an exponent where digits would only be zeros.
        Column::Number(values) => write!(to, "{:?}", values[row]),
        Column::Text(values) => to.write_all(values[row].as_bytes()),
    }
}
