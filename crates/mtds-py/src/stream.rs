//! Arrow streams in and out of Python, by the PyCapsule interface that frames of all kinds speak; the only unsafe code outside
//! of the library's kernels.

use crate::error::data_error;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::CStr;

/// The name that a capsule with a stream has.
const STREAM: &CStr = c"arrow_array_stream";

/// Batches of streams of one schema, one stream after the other.
pub(crate) struct Batches {
    schema: SchemaRef,
    streams: Vec<RecordBatchStreamReader>,
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(stream) = self.streams.last_mut() {
            if let Some(batch) = stream.next() {
                let of_schema = |batch: &RecordBatch| {
                    let found = batch.schema();
                    match found.fields() == self.schema.fields() {
                        true => Ok(()),
                        false => Err(ArrowError::SchemaError(format!("parts differ: {found:?}"))),
                    }
                };
                return Some(batch.and_then(|batch| of_schema(&batch).map(|()| batch)));
            }
            self.streams.pop();
        }
        None
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// The batches of the parts of a frame, each anything that has a method `__arrow_c_stream__`.
///
/// # Errors
/// Whatever that method raises; `TypeError` for a capsule of another kind, and for no part; `DataError` for types that are unknown here.
pub(crate) fn incoming(parts: &[Bound<'_, PyAny>]) -> PyResult<Batches> {
    let mut streams = parts.iter().map(stream).collect::<PyResult<Vec<_>>>()?;
    let Some(first) = streams.first() else {
        return Err(PyTypeError::new_err("expected one part of a frame or more"));
    };
    let schema = first.schema();
    // They are taken from the end.
    streams.reverse();
    Ok(Batches { schema, streams })
}

fn stream(frame: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let capsule = frame.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast_into::<PyCapsule>().map_err(PyErr::from)?;
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds an `ArrowArrayStream` that is aligned, initialised and lives as long as the capsule, which is
    // alive here: so the interface has it. The stream is moved out, and what is left in the capsule is marked as released.
    #[expect(
        unsafe_code,
        reason = "the pointer of a capsule; safe wrappers bring crates that take minutes to build"
    )]
    let reader = unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr()) };
    reader.map_err(|error| {
        data_error(format!("frame: {error}; cast the column to a type that every Arrow library has"))
    })
}

/// A capsule with a stream of one batch.
///
/// # Errors
/// None in practice.
pub(crate) fn outgoing(py: Python<'_>, batch: RecordBatch) -> PyResult<Bound<'_, PyCapsule>> {
    let schema = batch.schema();
    let stream = FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
    PyCapsule::new_with_value(py, stream, STREAM)
}
