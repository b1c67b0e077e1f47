//! The parts of the `mtds` program: what was typed becomes a plan, a verb carries it out; tables, charts and pages
//! are those of `mtds-report`.
//!
//! ```text
//! arguments  what was typed        →  plan  what it means, validated  →  verb  one file each
//!                                      interrupt, tensorboard, advice (options that help with a file)
//! progress   stderr only              output   the terminal and the files left behind
//! ```

pub mod advice;
pub mod arguments;
pub mod expected;
pub mod interrupt;
pub mod output;
pub mod plan;
pub mod progress;
pub mod tensorboard;
pub mod verb;
