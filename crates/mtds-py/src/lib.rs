//! The compiled half of the Python package `pymtds`: the library's nouns as Python classes, and nothing that the library does not do.
//!
//! ```text
//! frame ── Arrow stream ──→ Family ── Fitting ──→ Model ──→ Forecast, Posterior, Tracker ──→ Table ── Arrow stream ──→ frame
//! ```
//! What people call is the Python half, `python/pymtds`: it has defaults, names, types and documentation, and turns frames of any kind
//! into streams and back. Long work runs on threads of its own while the interpreter is free; see `work`.

mod array;
mod device;
mod error;
mod family;
mod fitting;
mod forecast;
mod model;
mod posterior;
mod scores;
mod stream;
mod table;
mod tracker;
mod work;

use pyo3::prelude::*;

/// The compiled half of `pymtds`.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::device::cards;
    #[pymodule_export]
    use super::family::Family;
    #[pymodule_export]
    use super::fitting::{Fitting, settings};
    #[pymodule_export]
    use super::forecast::Forecast;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::posterior::Posterior;
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::tracker::Tracker;
    #[pymodule_export]
    use super::work::panic_for_tests;

    /// Version of the library.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
