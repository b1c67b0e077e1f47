//! Multi-task dynamical systems: a family of sequences, one code per member.

pub mod base;
pub mod error;
pub mod family;
pub mod generator;
pub mod infer;
pub mod kernel;
pub mod learn;
pub mod model;
pub mod predict;
pub mod random;
pub mod store;

pub use error::{Error, Result};
pub use model::{Model, ModelSpec};
