//! A table of results on its way to a frame: Arrow columns, made from those of the library.

use crate::error::{InternalError, Result, data_error};
use crate::{array, stream, work};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray,
    UInt64Array,
};
use arrow_schema::{DataType, TimeUnit};
use mtds_data::{Column, Time, TimeAxis, TimeKind};
use pyo3::prelude::*;
use std::collections::HashSet;
use std::str::FromStr;
use std::sync::Arc;

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// A table that frames of all kinds can be made from.
#[pyclass(frozen, module = "pymtds._core")]
pub(crate) struct Table(RecordBatch);

#[pymethods]
impl Table {
    /// The table as an Arrow stream; frames ask for it.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // A producer need not follow what a consumer would like best.
        drop(requested_schema);
        Ok(stream::outgoing(py, self.0.clone())?.into_any())
    }

    /// Columns by name: arrays of numbers and moments, lists of text.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        let schema = self.0.schema();
        let columns = schema.fields().iter().zip(self.0.columns());
        work::caught(|| {
            columns.map(|(field, column)| Ok((field.name().clone(), plain(py, column)?))).collect()
        })
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }
}

impl Table {
    /// Columns of one length, by name.
    ///
    /// # Errors
    /// A column of the frame that has the name of one of the results; columns of several lengths, which would be a fault.
    pub(crate) fn new(columns: Vec<(String, ArrayRef)>) -> Result<Self> {
        let mut names = HashSet::new();
        if let Some((twice, _)) = columns.iter().find(|(name, _)| !names.insert(name)) {
            let why = format!(
                "frame: expected ids and times under other names than results, found `{twice}`; rename the column"
            );
            return Err(data_error(why).into());
        }
        let batch = RecordBatch::try_from_iter(columns);
        Ok(Self(batch.map_err(|error| InternalError::new_err(error.to_string()))?))
    }

    /// Columns as the library makes them.
    ///
    /// # Errors
    /// As [`Table::new`].
    pub(crate) fn of(table: mtds_data::Table) -> Result<Self> {
        Self::new(table.columns.into_iter().map(|(name, column)| (name, of_column(column))).collect())
    }
}

/// Text, integers or numbers.
pub(crate) fn of_column(column: Column) -> ArrayRef {
    match column {
        Column::Text(values) => texts(&values),
        Column::Integer(values) => Arc::new(Int64Array::from(values)),
        Column::Number(values) => numbers(values),
    }
}

/// A column of numbers; NaN where one is missing.
pub(crate) fn numbers(values: Vec<f64>) -> ArrayRef {
    Arc::new(Float64Array::from(values))
}

/// A column of text.
pub(crate) fn texts<T: AsRef<str>>(values: &[T]) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

/// Ids of sequences, as numbers where the frame had numbers.
pub(crate) fn ids(values: &[&str], kind: Option<&DataType>) -> ArrayRef {
    let kind = match kind {
        Some(DataType::Dictionary(_, of)) => Some(&**of),
        kind => kind,
    };
    let as_numbers = match kind {
        Some(kind) if kind.is_integer() => {
            let small = parsed(values).map(|ids: Vec<i64>| Arc::new(Int64Array::from(ids)) as ArrayRef);
            small.or_else(|| parsed(values).map(|ids: Vec<u64>| Arc::new(UInt64Array::from(ids)) as ArrayRef))
        }
        Some(kind) if kind.is_floating() => parsed(values).map(numbers),
        _ => None,
    };
    as_numbers.unwrap_or_else(|| texts(values))
}

fn parsed<T: FromStr>(values: &[&str]) -> Option<Vec<T>> {
    values.iter().map(|id| id.parse().ok()).collect()
}

/// The times of rows `(i, k)`, in the type that the frame had them in as far as it can hold them.
pub(crate) fn times(axis: &TimeAxis, rows: &[(usize, usize)], kind: Option<&DataType>) -> ArrayRef {
    let is_text = matches!(
        kind,
        Some(DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Dictionary(..))
    );
    if matches!(axis.kind, TimeKind::Integer | TimeKind::Number) || is_text {
        return of_column(axis.column(rows.iter().copied()));
    }
    let micros = rows.iter().map(|&(i, k)| match axis.time(i, k) {
        Time::Micros(time) => time,
        Time::Integer(_) | Time::Number(_) => 0,
    });
    let utc = (axis.kind == TimeKind::UtcDateTime).then(|| Arc::from("UTC"));
    let (unit, zone) = match kind {
        Some(DataType::Timestamp(unit, zone)) => (*unit, zone.clone()),
        // A step within a day takes dates off their type.
        Some(DataType::Date32 | DataType::Date64) | None if axis.kind == TimeKind::Date => {
            return Arc::new(Date32Array::from_iter_values(micros.map(|time| time.div_euclid(DAY) as i32)));
        }
        _ => (TimeUnit::Microsecond, utc),
    };
    match unit {
        TimeUnit::Second => {
            let seconds = micros.map(|time| time.div_euclid(1_000_000));
            Arc::new(TimestampSecondArray::from_iter_values(seconds).with_timezone_opt(zone))
        }
        TimeUnit::Millisecond => {
            let millis = micros.map(|time| time.div_euclid(1000));
            Arc::new(TimestampMillisecondArray::from_iter_values(millis).with_timezone_opt(zone))
        }
        TimeUnit::Microsecond => {
            Arc::new(TimestampMicrosecondArray::from_iter_values(micros).with_timezone_opt(zone))
        }
        TimeUnit::Nanosecond => {
            let nanos = micros.map(|time| time.saturating_mul(1000));
            Arc::new(TimestampNanosecondArray::from_iter_values(nanos).with_timezone_opt(zone))
        }
    }
}

/// A column without Arrow, for frames that cannot read it.
fn plain<'py>(py: Python<'py>, column: &ArrayRef) -> PyResult<Bound<'py, PyAny>> {
    let moments = |values: Vec<i64>, unit: &str| {
        let numpy = py.import("numpy")?;
        let numbers = numpy.call_method1("array", (values, "i8"))?;
        numbers.call_method1("astype", (format!("M8[{unit}]"),))
    };
    match column.data_type() {
        DataType::Float64 => {
            let values = column.as_primitive::<Float64Type>().values();
            Ok(array::array(py, &[values.len()], values)?.into_pyobject(py)?)
        }
        DataType::Int64 => {
            let values: Vec<i64> = column.as_primitive::<Int64Type>().values().to_vec();
            py.import("numpy")?.call_method1("array", (values, "i8"))
        }
        DataType::UInt64 => {
            let values: Vec<u64> = column.as_primitive::<UInt64Type>().values().to_vec();
            py.import("numpy")?.call_method1("array", (values, "u8"))
        }
        DataType::Date32 => {
            let days = column.as_primitive::<arrow_array::types::Date32Type>().values();
            moments(days.iter().map(|&day| day.into()).collect(), "D")
        }
        DataType::Timestamp(unit, _) => {
            let values =
                column.to_data().buffers()[0].typed_data::<i64>()[column.offset()..][..column.len()].to_vec();
            let unit = match unit {
                TimeUnit::Second => "s",
                TimeUnit::Millisecond => "ms",
                TimeUnit::Microsecond => "us",
                TimeUnit::Nanosecond => "ns",
            };
            moments(values, unit)
        }
        _ => {
            let values: Vec<Option<&str>> = column.as_string::<i32>().iter().collect();
            Ok(values.into_pyobject(py)?.into_any())
        }
    }
}
