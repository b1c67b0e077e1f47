//! A table as Parquet, compressed by Snappy; what is missing is null.

use std::fmt;
use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use super::table::{Column, Table};

/// Rows of a group, which a reader can take alone.
const GROUP: usize = 1 << 20;

/// The table as the bytes of a file.
pub(super) fn bytes(table: &Table) -> Result<Vec<u8>> {
    Groups::begin(Vec::new(), table)?.finish()
}

/// A file to which groups of rows are added.
pub(super) struct Groups<W: Write + Send>(SerializedFileWriter<W>);

impl<W: Write + Send> Groups<W> {
    /// A file with the columns of `rows`, and these rows.
    pub(super) fn begin(to: W, rows: &Table) -> Result<Self> {
        let fields = rows.columns.iter().map(|(name, column)| field(name, column)).collect::<Result<_>>()?;
        let schema: TypePtr = Arc::new(Type::group_type_builder("schema").with_fields(fields).build()?);
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let mut groups = Self(SerializedFileWriter::new(to, schema, Arc::new(properties))?);
        groups.push(rows)?;
        Ok(groups)
    }

    /// Adds rows, in as many groups as they need.
    pub(super) fn push(&mut self, rows: &Table) -> Result<()> {
        for first in (0..rows.n_rows()).step_by(GROUP) {
            let range = first..rows.n_rows().min(first + GROUP);
            let mut group = self.0.next_row_group()?;
            for (_, column) in &rows.columns {
                write_column(&mut group, column, range.clone())?;
            }
            group.close()?;
        }
        Ok(())
    }

    /// What was written to, with the table of contents at its end.
    pub(super) fn finish(self) -> Result<W> {
        self.0.into_inner()
    }
}

impl<W: Write + Send> fmt::Debug for Groups<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Groups").finish_non_exhaustive()
    }
}

fn field(name: &str, column: &Column) -> Result<TypePtr> {
    let (physical, repetition, logical) = match column {
        Column::Text(_) => (Physical::BYTE_ARRAY, Repetition::OPTIONAL, Some(LogicalType::String)),
        Column::Integer(_) => (Physical::INT64, Repetition::REQUIRED, None),
        Column::Number(_) => (Physical::DOUBLE, Repetition::OPTIONAL, None),
    };
    let builder = Type::primitive_type_builder(name, physical);
    Ok(Arc::new(builder.with_repetition(repetition).with_logical_type(logical).build()?))
}

fn write_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: &Column,
    rows: std::ops::Range<usize>,
) -> Result<()> {
    let Some(mut writer) = group.next_column()? else {
        return Ok(());
    };
    match column {
        Column::Integer(values) => {
            writer.typed::<Int64Type>().write_batch(&values[rows], None, None)?;
        }
        Column::Number(values) => {
            let levels: Vec<i16> =
                values[rows.clone()].iter().map(|value| i16::from(!value.is_nan())).collect();
            let known: Vec<f64> = values[rows].iter().copied().filter(|value| !value.is_nan()).collect();
            writer.typed::<DoubleType>().write_batch(&known, Some(&levels), None)?;
        }
        Column::Text(values) => {
            let levels: Vec<i16> =
                values[rows.clone()].iter().map(|text| i16::from(!text.is_empty())).collect();
            let known = values[rows].iter().filter(|text| !text.is_empty());
            let known: Vec<ByteArray> = known.map(|text| ByteArray::from(text.as_str())).collect();
            writer.typed::<ByteArrayType>().write_batch(&known, Some(&levels), None)?;
        }
    }
    writer.close()
}
