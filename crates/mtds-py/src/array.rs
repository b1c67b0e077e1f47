//! NumPy arrays in and out, through the buffer protocol.

use crate::error::data_error;
use mtds::Signal;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyTuple};

/// A writable array of this shape; `values` row by row.
///
/// # Errors
/// No NumPy.
pub(crate) fn array<'py>(py: Python<'py>, shape: &[usize], values: &[f64]) -> PyResult<Bound<'py, PyAny>> {
    let numpy = py.import("numpy")?;
    let shape = PyTuple::new(py, shape)?;
    if values.is_empty() {
        return numpy.call_method1("empty", (shape,));
    }
    let bytes = PyByteArray::new_with(py, size_of_val(values), |to| {
        for (to, from) in to.chunks_exact_mut(size_of::<f64>()).zip(values) {
            to.copy_from_slice(&from.to_ne_bytes());
        }
        Ok(())
    })?;
    numpy.call_method1("frombuffer", (bytes, "f8"))?.call_method1("reshape", (shape,))
}

/// A signal as an array, n_time × width.
///
/// # Errors
/// As [`array`].
pub(crate) fn of_signal<'py>(py: Python<'py>, signal: &Signal) -> PyResult<Bound<'py, PyAny>> {
    array(py, &[signal.n_time(), signal.width()], signal.values())
}

/// The signal in an array of two dimensions, n_time × width, of type float64; `what` names it in messages.
///
/// # Errors
/// An array of another shape or type.
pub(crate) fn signal(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Signal> {
    let buffer = PyBuffer::<f64>::get(object)?;
    let &[n_time, width] = buffer.shape() else {
        let found = buffer.dimensions();
        return Err(data_error(format!(
            "{what}: expected an array of 2 dimensions, steps and columns, found {found}"
        )));
    };
    let signal = Signal::new(n_time, width, buffer.to_vec(object.py())?);
    signal.map_err(|error| data_error(format!("{what}: {error}")))
}
