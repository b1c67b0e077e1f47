//! Families from Arrow record batches, as the frames of other languages hand them over: batch by batch, columns in step.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, PrimitiveArray, RecordBatch, RecordBatchReader,
};
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
    collector.push_batch(*row + 1, batch.num_rows(), &columns)?;
    *row += batch.num_rows() as u64;
    Ok(())
}

/// Some rows of a column, its type found out once.
pub(super) enum Values<'a> {
    Integers(PrimitiveArray<Int64Type>),
    Numbers(PrimitiveArray<Float64Type>),
    /// Of single precision, which they keep until they are laid out.
    Singles(PrimitiveArray<Float32Type>),
    /// Microseconds.
    Moments(PrimitiveArray<Int64Type>, TimeKind),
    Texts(&'a arrow_array::StringArray),
    LongTexts(&'a arrow_array::LargeStringArray),
    TextViews(&'a arrow_array::StringViewArray),
    /// Codes of the rows, and what they stand for.
    Coded(&'a dyn Array, Box<Values<'a>>),
    Booleans(&'a BooleanArray),
    Unsigned(&'a PrimitiveArray<UInt64Type>),
    /// Neither number nor text nor time, by the name of its type.
    Other(&'a dyn Array, String),
    /// A column that is not there.
    Nothing,
}

impl<'a> Values<'a> {
    fn of(array: &'a ArrayRef) -> Self {
        use DataType as T;
        match array.data_type() {
            T::Int64 => Self::Integers(array.as_primitive().clone()),
            T::Float64 => Self::Numbers(array.as_primitive().clone()),
            T::Utf8 => Self::Texts(array.as_string()),
            T::LargeUtf8 => Self::LongTexts(array.as_string()),
            T::Utf8View => Self::TextViews(array.as_string_view()),
            T::Dictionary(..) => {
                let coded = array.as_any_dictionary();
                Self::Coded(coded.keys(), Box::new(Self::of(coded.values())))
            }
            T::Null => Self::Nothing,
            T::Boolean => Self::Booleans(array.as_boolean()),
            T::Int8 => Self::Integers(array.as_primitive::<Int8Type>().unary(i64::from)),
            T::Int16 => Self::Integers(array.as_primitive::<Int16Type>().unary(i64::from)),
            T::Int32 => Self::Integers(array.as_primitive::<Int32Type>().unary(i64::from)),
            T::UInt8 => Self::Integers(array.as_primitive::<UInt8Type>().unary(i64::from)),
            T::UInt16 => Self::Integers(array.as_primitive::<UInt16Type>().unary(i64::from)),
            T::UInt32 => Self::Integers(array.as_primitive::<UInt32Type>().unary(i64::from)),
            T::UInt64 => Self::Unsigned(array.as_primitive()),
            T::Float16 => Self::Numbers(array.as_primitive::<Float16Type>().unary(|value| value.to_f64())),
            T::Float32 => Self::Singles(array.as_primitive().clone()),
            T::Decimal128(_, scale) => {
                let divisor = 10f64.powi(i32::from(*scale));
                Self::Numbers(array.as_primitive::<Decimal128Type>().unary(|value| value as f64 / divisor))
            }
            T::Date32 => {
                let days = array.as_primitive::<Date32Type>();
                Self::Moments(days.unary(|days| i64::from(days).saturating_mul(DAY)), TimeKind::Date)
            }
            T::Date64 => moments::<Date64Type>(array, (1000, 1), TimeKind::Date),
            T::Timestamp(unit, zone) => stamps(array, unit, zone.is_some()),
            other => Self::Other(array, format!("a value of type {other}")),
        }
    }

    /// The value of a row.
    pub(super) fn cell(&self, index: usize) -> Cell<'_> {
        match self {
            Self::Integers(array) if array.is_valid(index) => Cell::Integer(array.value(index)),
            Self::Numbers(array) if array.is_valid(index) => Cell::Number(array.value(index)),
            Self::Singles(array) if array.is_valid(index) => Cell::Number(array.value(index).into()),
            Self::Moments(array, kind) if array.is_valid(index) => {
                Cell::Time(Time::Micros(array.value(index)), *kind)
            }
            Self::Texts(array) if array.is_valid(index) => Cell::Text(array.value(index)),
            Self::LongTexts(array) if array.is_valid(index) => Cell::Text(array.value(index)),
            Self::TextViews(array) if array.is_valid(index) => Cell::Text(array.value(index)),
            Self::Coded(codes, values) if codes.is_valid(index) => values.cell(code(*codes, index)),
            Self::Booleans(array) if array.is_valid(index) => Cell::Integer(array.value(index).into()),
            Self::Unsigned(array) if array.is_valid(index) => {
                let value = array.value(index);
                i64::try_from(value).map_or(Cell::Unsigned(value), Cell::Integer)
            }
            Self::Other(array, name) if array.is_valid(index) => Cell::Other(name),
            _ => Cell::Empty,
        }
    }

    /// The first row after `start`, up to `n`, that holds something else, or might: long tables repeat the names of sequences.
    pub(super) fn run_end(&self, start: usize, n: usize) -> usize {
        let end = |is_same: &dyn Fn(usize) -> bool| (start + 1..n).find(|&row| !is_same(row)).unwrap_or(n);
        match self {
            Self::Integers(array) if array.null_count() == 0 => {
                let values = array.values();
                let first = values[start];
                after(&values[start..n], |value| *value == first) + start
            }
            Self::TextViews(array) if array.null_count() == 0 => {
                let views = array.views();
                let (first, text) = (views[start], array.value(start));
                let mut end = start;
                // Views that differ may be of equal texts that are stored twice.
                while end < n && array.value(end) == text {
                    end += after(&views[end..n], |view| *view == first).max(1);
                }
                end
            }
            Self::Coded(codes, _) if codes.null_count() == 0 => other_code(*codes, start, n),
            Self::Texts(array) if array.null_count() == 0 => {
                let text = array.value(start);
                end(&|row| array.value(row) == text)
            }
            Self::LongTexts(array) if array.null_count() == 0 => {
                let text = array.value(start);
                end(&|row| array.value(row) == text)
            }
            _ => start + 1,
        }
    }
}

/// What comes of codes, whatever their type.
macro_rules! of_codes {
    ($codes:expr, $values:ident => $found:expr, $($variant:ident $kind:ident),*) => {
        match $codes.data_type() {
            $(DataType::$variant => {
                let $values = $codes.as_primitive::<$kind>().values();
                $found
            })*
            other => unreachable!("codes of type {other}"),
        }
    };
    ($codes:expr, $values:ident => $found:expr) => {
        of_codes!($codes, $values => $found, Int8 Int8Type, Int16 Int16Type, Int32 Int32Type, Int64 Int64Type,
            UInt8 UInt8Type, UInt16 UInt16Type, UInt32 UInt32Type, UInt64 UInt64Type)
    };
}

/// The code of a row.
fn code(codes: &dyn Array, row: usize) -> usize {
    of_codes!(codes, values => values[row] as usize)
}

/// The first row after `start`, up to `n`, with another code.
fn other_code(codes: &dyn Array, start: usize, n: usize) -> usize {
    of_codes!(codes, values => start + after(&values[start..n], |code| *code == values[start]))
}

/// How many of the first values are as wanted.
fn after<T>(values: &[T], is_wanted: impl Fn(&T) -> bool) -> usize {
    values.iter().position(|value| !is_wanted(value)).unwrap_or(values.len())
}

/// Moments, `value · numerator / denominator` microseconds.
fn moments<T: ArrowPrimitiveType<Native = i64>>(
    array: &ArrayRef,
    (numerator, denominator): (i64, i64),
    kind: TimeKind,
) -> Values<'_> {
    let found = array.as_primitive::<T>();
    let micros = |value: i64| value.saturating_mul(numerator).div_euclid(denominator);
    let micros =
        if (numerator, denominator) == (1, 1) { found.reinterpret_cast() } else { found.unary(micros) };
    Values::Moments(micros, kind)
}

fn stamps<'a>(array: &'a ArrayRef, unit: &TimeUnit, has_zone: bool) -> Values<'a> {
    let kind = if has_zone { TimeKind::UtcDateTime } else { TimeKind::DateTime };
    match unit {
        TimeUnit::Second => moments::<TimestampSecondType>(array, (1_000_000, 1), kind),
        TimeUnit::Millisecond => moments::<TimestampMillisecondType>(array, (1000, 1), kind),
        TimeUnit::Microsecond => moments::<TimestampMicrosecondType>(array, (1, 1), kind),
        TimeUnit::Nanosecond => moments::<TimestampNanosecondType>(array, (1, 1000), kind),
    }
}

fn broken(name: &Path, error: &ArrowError) -> Error {
    let problem = Problem::Damaged { expected: "batches of rows", found: error.to_string() };
    Error::data(name, Place::default(), problem)
}
