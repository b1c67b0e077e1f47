//! Times the library against its peers: same inputs, interleaved rounds, medians, ratios.
//!
//! `work` holds our own works, `peer` talks to a worker process, `interleave` lets them take turns,
//! `agreement` checks that all computed the same thing, `report` makes the table and the JSON.

pub mod agreement;
pub mod check;
pub mod error;
pub mod inputs;
pub mod interleave;
pub mod peer;
pub mod problem;
pub mod protocol;
pub mod report;
pub mod w1_inputs;
pub mod work;

pub use error::{Error, Result};
