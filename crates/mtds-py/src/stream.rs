//! Arrow streams in and out of Python, by the PyCapsule interface that frames of all kinds speak; the only unsafe code outside
//! of the library's kernels.

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchIterator};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::CStr;

/// The name that a capsule with a stream has.
const STREAM: &CStr = c"arrow_array_stream";

/// The batches of anything that has a method `__arrow_c_stream__`.
///
/// # Errors
/// Whatever that method raises; `TypeError` for a capsule of another kind.
pub(crate) fn incoming(frame: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
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
    reader.map_err(|error| PyTypeError::new_err(error.to_string()))
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
