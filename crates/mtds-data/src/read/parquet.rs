//! Families from Parquet: row groups in order, the columns of each in step, a batch of rows at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::SchemaDescriptor;

use super::cell::Cell;
use super::collect::Collector;
use super::options::ReadOptions;
use super::parquet_column::ColumnBatches;
use crate::problem::{Place, Problem};
use crate::{Error, Result};

/// Rows decoded at once.
const BATCH: usize = 8192;

/// Collects the rows of a Parquet file; columns with inner structure are as if they were not there.
///
/// # Errors
/// [`Error::Data`] with row and column.
pub(crate) fn collect<'a>(file: &'a Path, bytes: Vec<u8>, options: &ReadOptions) -> Result<Collector<'a>> {
    // The crate checks most of what a damaged file can hold, not all: what it trips over is damage, too.
    catch_unwind(AssertUnwindSafe(|| collect_unguarded(file, bytes, options)))
        .unwrap_or_else(|_| Err(damaged(file, "pages that do not fit together".into())))
}

fn collect_unguarded<'a>(file: &'a Path, bytes: Vec<u8>, options: &ReadOptions) -> Result<Collector<'a>> {
    let reader = SerializedFileReader::new(Bytes::from(bytes)).map_err(|error| broken(file, error))?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let flat = flat_columns(&schema);
    let names = flat.iter().map(|&leaf| schema.column(leaf).name().to_string()).collect();
    let mut collector = Collector::new(file, names, options)?;
    let needed = collector.roles.needed();
    let mut row = 0;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(|error| broken(file, error))?;
        collect_group(&mut collector, &*group, &flat, &needed, &mut row)?;
    }
    Ok(collector)
}

/// Leaves that are columns of plain values.
fn flat_columns(schema: &SchemaDescriptor) -> Vec<usize> {
    let is_flat = |&leaf: &usize| {
        let column = schema.column(leaf);
        column.path().parts().len() == 1 && column.max_rep_level() == 0 && column.max_def_level() <= 1
    };
    (0..schema.num_columns()).filter(is_flat).collect()
}

fn collect_group(
    collector: &mut Collector<'_>,
    group: &dyn RowGroupReader,
    flat: &[usize],
    needed: &[usize],
    row: &mut u64,
) -> Result<()> {
    let file = collector.file;
    let mut columns: Vec<Option<ColumnBatches>> = flat.iter().map(|_| None).collect();
    for &at in needed {
        columns[at] = Some(ColumnBatches::new(group, flat[at]).map_err(|error| broken(file, error))?);
    }
    let n_rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
    let mut done = 0;
    while done < n_rows {
        let wanted = BATCH.min(n_rows - done);
        for column in columns.iter_mut().flatten() {
            let n_read = column.read(wanted).map_err(|error| broken(file, error))?;
            if n_read != wanted {
                return Err(damaged(
                    file,
                    format!("a column that ends after {} of {n_rows} rows", done + n_read),
                ));
            }
        }
        for index in 0..wanted {
            *row += 1;
            let here = *row;
            collector.push(here, |at| match &columns[at] {
                Some(column) => column
                    .cell(index)
                    .map_err(|found| Error::data(file, Place::row(here), Problem::NotUtf8 { found })),
                None => Ok(Cell::Empty),
            })?;
        }
        done += wanted;
    }
    Ok(())
}

fn broken(file: &Path, error: ParquetError) -> Error {
    let text = error.to_string();
    if text.contains("codec") || text.contains("Disabled feature") {
        let what = format!("compressed in a way that cannot be read ({text})");
        let read = if cfg!(feature = "zstd") { "zstd, snappy" } else { "snappy" };
        let advice = format!("write it with {read}, gzip, lz4 or brotli, or without compression");
        return Error::data(file, Place::default(), Problem::Unsupported { what, advice });
    }
    damaged(file, text)
}

fn damaged(file: &Path, found: String) -> Error {
    Error::data(file, Place::default(), Problem::Damaged { expected: "a Parquet file", found })
}
