//! NumPy arrays in and out, through the buffer protocol.

use crate::error::data_error;
use mtds::Signal;
use pyo3::buffer::PyBuffer;
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyTuple};
use pyo3::{type_hint_identifier, type_hint_subscript};
use std::convert::Infallible;

/// An array of NumPy's; the stub says of which type.
pub(crate) struct Array<'py>(Bound<'py, PyAny>);

/// `numpy.typing.NDArray[numpy.float64]`.
const TYPE: PyStaticExpr = type_hint_subscript!(
    type_hint_identifier!("numpy.typing", "NDArray"),
    type_hint_identifier!("numpy", "float64")
);

impl<'py> FromPyObject<'_, 'py> for Array<'py> {
    type Error = Infallible;
    const INPUT_TYPE: PyStaticExpr = TYPE;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> Result<Self, Infallible> {
        Ok(Self(object.to_owned()))
    }
}

impl<'py> IntoPyObject<'py> for Array<'py> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = Infallible;
    const OUTPUT_TYPE: PyStaticExpr = TYPE;

    fn into_pyobject(self, _: Python<'py>) -> Result<Self::Output, Infallible> {
        Ok(self.0)
    }
}

/// A writable array of this shape; `values` row by row.
///
/// # Errors
/// No NumPy.
pub(crate) fn array<'py>(py: Python<'py>, shape: &[usize], values: &[f64]) -> PyResult<Array<'py>> {
    let numpy = py.import("numpy")?;
    let shape = PyTuple::new(py, shape)?;
    if values.is_empty() {
        return numpy.call_method1("empty", (shape,)).map(Array);
    }
    let bytes = PyByteArray::new_with(py, size_of_val(values), |to| {
        for (to, from) in to.chunks_exact_mut(size_of::<f64>()).zip(values) {
            to.copy_from_slice(&from.to_ne_bytes());
        }
        Ok(())
    })?;
    numpy.call_method1("frombuffer", (bytes, "f8"))?.call_method1("reshape", (shape,)).map(Array)
}

/// A signal as an array, n_time × width.
///
/// # Errors
/// As [`array`].
pub(crate) fn of_signal<'py>(py: Python<'py>, signal: &Signal) -> PyResult<Array<'py>> {
    array(py, &[signal.n_time(), signal.width()], signal.values())
}

/// The signal in an array of two dimensions, n_time × width, of type float64; `what` names it in messages.
///
/// # Errors
/// An array of another shape or type.
pub(crate) fn signal(Array(object): &Array<'_>, what: &str) -> PyResult<Signal> {
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
