//! Families from Arrow record batches, as the frames of other languages hand them over: batch by batch, columns in step.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, DataType, TimeUnit};

use super::ReadFamily;
use super::assemble;
use super::cell::Cell;
use super::collect::Collector;
use super::options::ReadOptions;
use crate::problem::{Place, Problem};
use crate::time::calendar::DAY;
use crate::time::{Time, TimeKind};
use crate::{Error, Result};

/// Reads the family from record batches; `name` stands for them in messages. Columns with inner structure are as if they were
/// not there, and rows are counted from 1.
///
/// # Errors
/// [`Error::Data`] as [`super::read_family`], and for batches that their source cannot give.
pub fn read_family_from_batches(
    batches: impl RecordBatchReader,
    name: &Path,
    options: &ReadOptions,
) -> Result<ReadFamily> {
    let schema = batches.schema();
    let is_flat = |&at: &usize| !schema.field(at).data_type().is_nested();
    let flat: Vec<usize> = (0..schema.fields().len()).filter(is_flat).collect();
    let names = flat.iter().map(|&at| schema.field(at).name().clone()).collect();
    let mut collector = Collector::new(name, names, options)?;
    let needed = collector.roles.needed();
    let mut row = 0;
    for batch in batches {
        let batch = batch.map_err(|error| broken(name, &error))?;
        collect_batch(&mut collector, &batch, (&flat, &needed), &mut row)?;
    }
    assemble::family(&collector, options)
}

fn collect_batch(
    collector: &mut Collector<'_>,
    batch: &RecordBatch,
    (flat, needed): (&[usize], &[usize]),
    row: &mut u64,
) -> Result<()> {
    let mut columns: Vec<Option<Values>> = flat.iter().map(|_| None).collect();
    for &at in needed {
        columns[at] = Some(Values::of(batch.column(flat[at])));
    }
    collector.reserve(batch.num_rows());
    for index in 0..batch.num_rows() {
        *row += 1;
        collector
            .push(*row, |at| Ok(columns[at].as_ref().map_or(Cell::Empty, |column| column.cell(index))))?;
    }
    Ok(())
}

/// A column of a batch, its type found out once.
enum Values<'a> {
    Integers(&'a PrimitiveArray<Int64Type>),
    Numbers(&'a PrimitiveArray<Float64Type>),
    Texts(&'a arrow_array::StringArray),
    LongTexts(&'a arrow_array::LargeStringArray),
    TextViews(&'a arrow_array::StringViewArray),
    /// Codes of the rows, and what they stand for.
    Coded(&'a dyn Array, Vec<usize>, Box<Values<'a>>),
    /// Whatever is rarer: converted once, row by row.
    Converted(Vec<Cell<'static>>),
    /// Neither number nor text nor time, by the name of its type.
    Other(&'a dyn Array, String),
}

impl<'a> Values<'a> {
    fn of(array: &'a ArrayRef) -> Self {
        use DataType as T;
        let integer = |value: i64| Cell::Integer(value);
        match array.data_type() {
            T::Int64 => Self::Integers(array.as_primitive()),
            T::Float64 => Self::Numbers(array.as_primitive()),
            T::Utf8 => Self::Texts(array.as_string()),
            T::LargeUtf8 => Self::LongTexts(array.as_string()),
            T::Utf8View => Self::TextViews(array.as_string_view()),
            T::Dictionary(..) => {
                let coded = array.as_any_dictionary();
                Self::Coded(array, coded.normalized_keys(), Box::new(Self::of(coded.values())))
            }
            T::Null => Self::Converted(vec![Cell::Empty; array.len()]),
            T::Boolean => {
                let values = array.as_boolean().iter();
                Self::Converted(
                    values.map(|value| value.map_or(Cell::Empty, |v| integer(i64::from(v)))).collect(),
                )
            }
            T::Int8 => converted::<Int8Type>(array, |value| integer(value.into())),
            T::Int16 => converted::<Int16Type>(array, |value| integer(value.into())),
            T::Int32 => converted::<Int32Type>(array, |value| integer(value.into())),
            T::UInt8 => converted::<UInt8Type>(array, |value| integer(value.into())),
            T::UInt16 => converted::<UInt16Type>(array, |value| integer(value.into())),
            T::UInt32 => converted::<UInt32Type>(array, |value| integer(value.into())),
            T::UInt64 => converted::<UInt64Type>(array, |value| {
                i64::try_from(value).map_or(Cell::Number(value as f64), integer)
            }),
            T::Float16 => converted::<Float16Type>(array, |value| Cell::Number(value.to_f64())),
            T::Float32 => converted::<Float32Type>(array, |value| Cell::Number(value.into())),
            T::Decimal128(_, scale) => {
                let divisor = 10f64.powi(i32::from(*scale));
                converted::<Decimal128Type>(array, |value| Cell::Number(value as f64 / divisor))
            }
            T::Date32 => {
                converted::<Date32Type>(array, |days| moment(i64::from(days), (DAY, 1), TimeKind::Date))
            }
            T::Date64 => converted::<Date64Type>(array, |millis| moment(millis, (1000, 1), TimeKind::Date)),
            T::Timestamp(unit, zone) => stamps(array, unit, zone.is_some()),
            other => Self::Other(array, format!("a value of type {other}")),
        }
    }

    fn cell(&self, index: usize) -> Cell<'_> {
        match self {
            Self::Integers(array) if array.is_valid(index) => Cell::Integer(array.value(index)),
            Self::Numbers(array) if array.is_valid(index) => Cell::Number(array.value(index)),
            Self::Texts(array) if array.is_valid(index) => Cell::Text(array.value(index)),
            Self::LongTexts(array) if array.is_valid(index) => Cell::Text(array.value(index)),
            Self::TextViews(array) if array.is_valid(index) => Cell::Text(array.value(index)),
            Self::Coded(array, codes, values) if array.is_valid(index) => values.cell(codes[index]),
            Self::Converted(cells) => cells[index],
            Self::Other(array, name) if array.is_valid(index) => Cell::Text(name),
            _ => Cell::Empty,
        }
    }
}

fn converted<'a, T: arrow_array::ArrowPrimitiveType>(
    array: &'a ArrayRef,
    cell: impl Fn(T::Native) -> Cell<'static>,
) -> Values<'a> {
    let values = array.as_primitive::<T>().iter();
    Values::Converted(values.map(|value| value.map_or(Cell::Empty, &cell)).collect())
}

fn stamps<'a>(array: &'a ArrayRef, unit: &TimeUnit, has_zone: bool) -> Values<'a> {
    let kind = if has_zone { TimeKind::UtcDateTime } else { TimeKind::DateTime };
    match unit {
        TimeUnit::Second => converted::<TimestampSecondType>(array, |t| moment(t, (1_000_000, 1), kind)),
        TimeUnit::Millisecond => converted::<TimestampMillisecondType>(array, |t| moment(t, (1000, 1), kind)),
        TimeUnit::Microsecond => converted::<TimestampMicrosecondType>(array, |t| moment(t, (1, 1), kind)),
        TimeUnit::Nanosecond => converted::<TimestampNanosecondType>(array, |t| moment(t, (1, 1000), kind)),
    }
}

/// `value · numerator / denominator` microseconds.
fn moment(value: i64, (numerator, denominator): (i64, i64), kind: TimeKind) -> Cell<'static> {
    Cell::Time(Time::Micros(value.saturating_mul(numerator).div_euclid(denominator)), kind)
}

fn broken(name: &Path, error: &ArrowError) -> Error {
    let problem = Problem::Damaged { expected: "batches of rows", found: error.to_string() };
    Error::data(name, Place::default(), problem)
}
