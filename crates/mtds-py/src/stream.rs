//! Arrow streams in and out of Python, by the PyCapsule interface that frames of all kinds speak; the only unsafe code outside
//! of the library's kernels.

use crate::error::data_error;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use rayon::prelude::*;
use std::collections::VecDeque;
use std::ffi::CStr;

/// The name that a capsule with a stream has.
const STREAM: &CStr = c"arrow_array_stream";
/// Streams that a thread reads before their batches are taken in.
const STREAMS_PER_THREAD: usize = 4;

type Batch = Result<RecordBatch, ArrowError>;

/// Batches of streams of one schema, one stream after the other.
pub(crate) struct Batches {
    schema: SchemaRef,
    /// Those that are left, the next one last.
    streams: Vec<RecordBatchStreamReader>,
    /// Batches that come before them.
    ahead: VecDeque<Batch>,
}

impl Batches {
    /// Whether there are so many rows; looks at no more batches than it must.
    pub(crate) fn have_rows(&mut self, n_rows: usize) -> bool {
        let mut found = 0;
        while found < n_rows {
            let Some(batch) = self.pull() else {
                return false;
            };
            found += batch.as_ref().map_or(n_rows, RecordBatch::num_rows);
            self.ahead.push_back(batch);
        }
        true
    }

    /// The next batch of the streams.
    fn pull(&mut self) -> Option<Batch> {
        while let Some(stream) = self.streams.last_mut() {
            if let Some(batch) = stream.next() {
                return Some(of_schema(&self.schema, batch));
            }
            self.streams.pop();
        }
        None
    }
}

impl Iterator for Batches {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        // Some libraries make the batches of a frame only now, categories above all: on all threads, if there are several.
        if self.ahead.is_empty() && self.streams.len() > 1 && rayon::current_thread_index().is_some() {
            let kept = self.streams.len().saturating_sub(STREAMS_PER_THREAD * rayon::current_num_threads());
            let schema = &self.schema;
            let next = self.streams.par_drain(kept..).rev();
            let read = next.map(|stream| stream.map(|batch| of_schema(schema, batch)).collect::<Vec<_>>());
            self.ahead.extend(read.collect::<Vec<_>>().into_iter().flatten());
        }
        self.ahead.pop_front().or_else(|| self.pull())
    }
}

fn of_schema(schema: &SchemaRef, batch: Batch) -> Batch {
    let batch = batch?;
    let found = batch.schema();
    match found.fields() == schema.fields() {
        true => Ok(batch),
        false => Err(ArrowError::SchemaError(format!("parts differ: {found:?}"))),
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
    streams.reverse();
    Ok(Batches { schema, streams, ahead: VecDeque::new() })
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
