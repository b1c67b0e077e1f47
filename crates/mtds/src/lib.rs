//! Multi-task dynamical systems: a family of sequences, one code per member.

pub mod error;
pub mod family;
pub mod infer;
pub mod kernel;
pub mod learn;
pub mod predict;
pub mod random;

pub use error::{Error, Result};
