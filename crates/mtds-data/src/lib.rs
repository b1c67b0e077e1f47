//! Where families come from and where models go.

pub mod directory;
pub mod error;
pub mod model;
pub mod oscillators;

pub use error::{Error, Result};
