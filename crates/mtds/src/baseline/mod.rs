//! What a family is compared with: models that share nothing between its members, or everything.

pub mod single;

pub use single::{SingleTask, SingleTaskFit};
