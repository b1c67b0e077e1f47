//! Errors of the library as Python exceptions, with the same words.

use pyo3::PyErr;
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyPermissionError,
};
use std::io::ErrorKind;

pyo3::import_exception!(pymtds._errors, DataError);
pyo3::import_exception!(pymtds._errors, DeviceError);
pyo3::import_exception!(pymtds._errors, FitError);
pyo3::import_exception!(pymtds._errors, InternalError);
pyo3::import_exception!(pymtds._errors, ModelError);
pyo3::import_exception!(pymtds._errors, SettingError);

/// Result of what Python calls.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// An error on its way to Python.
#[derive(Debug)]
pub(crate) enum Error {
    /// Of the library.
    Library(mtds::Error),
    /// Of reading and writing.
    Data(mtds_data::Error),
    /// Of Python.
    Python(PyErr),
}

impl From<mtds::Error> for Error {
    fn from(error: mtds::Error) -> Self {
        Self::Library(error)
    }
}

impl From<mtds_data::Error> for Error {
    fn from(error: mtds_data::Error) -> Self {
        Self::Data(error)
    }
}

impl From<PyErr> for Error {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        match error {
            Error::Library(error) => of_library(&error),
            Error::Data(error) => of_data(&error),
            Error::Python(error) => error,
        }
    }
}

/// Data that cannot be used.
pub(crate) fn data_error(text: String) -> PyErr {
    DataError::new_err(text)
}

/// A setting that cannot be meant.
pub(crate) fn setting_error(name: &str, why: impl std::fmt::Display) -> PyErr {
    SettingError::new_err(format!("setting `{name}`: {why}"))
}

fn of_library(error: &mtds::Error) -> PyErr {
    use mtds::Error as E;
    let text = error.to_string();
    match error {
        E::Setting { .. } | E::Resumed { .. } | E::Unknown { .. } => SettingError::new_err(text),
        E::Shape { .. } | E::NotFinite { .. } | E::EmptyFamily(_) | E::Duplicate { .. } => {
            DataError::new_err(text)
        }
        E::Device { .. } => DeviceError::new_err(text),
        E::Diverged { .. } => FitError::new_err(text),
        E::Store { .. } => ModelError::new_err(text),
        E::Stopped => PyKeyboardInterrupt::new_err(()),
        _ => InternalError::new_err(text),
    }
}

fn of_data(error: &mtds_data::Error) -> PyErr {
    use mtds_data::Error as E;
    let text = error.to_string();
    match error {
        E::Data(_) => DataError::new_err(text),
        E::Settings { .. } => SettingError::new_err(text),
        E::Io { source, .. } => match source.kind() {
            ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
            ErrorKind::PermissionDenied => PyPermissionError::new_err(text),
            _ => PyOSError::new_err(text),
        },
        E::NoParent { .. } | E::NotADirectory { .. } => PyFileNotFoundError::new_err(text),
        E::NotAFile { .. } | E::NotRegular { .. } | E::Locked { .. } | E::NotRestored { .. } => {
            PyOSError::new_err(text)
        }
        E::NotAModel { .. } => PyFileExistsError::new_err(text),
        _ => ModelError::new_err(text),
    }
}
