//! Damped harmonic oscillation: how soon, and how well, a model adapts to a new member of the family.
//!
//! ```text
//! protocol ──→ TrainingSet ──→ recipe ──→ Forecaster ──┐
//!     └──────→ TestSet ─────────────────────────────────┴──→ mtds::evaluate ──→ cell ──→ assemble
//! ```
//!
//! | module | job |
//! |---|---|
//! | [`protocol`] | what the experiment is; the data sets of every repetition, from streams of their own |
//! | [`recipe`] | ways to learn a multi-task model |
//! | `models` | the models as forecasters, and their evidences |
//! | [`truth`], [`oracle`] | the generating distribution, and the exact answer under it |
//! | [`cell`] | the unit of work that can be kept: one model in one repetition |
//! | [`illustration`] | single test sequences for figures, once all are scored |
//! | [`mod@compute`], [`settings`] | carries a cell out; all that its result depends on |
//! | [`experiment`] | cell by cell: what is kept is taken (`kept`), what is missing computed (`weight`) |
//! | [`mod@published`] | the paper's figures |
//! | [`compare`], [`mod@assemble`] | from cells to rows, differences, tests and findings |
//! | [`report`] | tables as text, the result as one document, the page |

pub mod assemble;
pub mod cell;
pub mod compare;
pub mod compute;
pub mod experiment;
pub mod illustration;
mod kept;
mod models;
pub mod oracle;
pub mod protocol;
pub mod published;
pub mod recipe;
pub mod report;
pub mod settings;
pub mod truth;
mod weight;

#[cfg(test)]
mod fixtures;

pub use assemble::{Assembly, assemble};
pub use cell::{CellId, CellKind, CellResult, Recipe};
pub use compare::{Comparison, EvidenceGap, Finding, OracleGap};
pub use compute::{compute, scores};
pub use experiment::{Experiment, Outcome};
pub use illustration::Illustration;
pub use oracle::{MonteCarloErrors, Oracle, OracleKnowledge, OraclePosterior};
pub use protocol::{Protocol, TestSet, TrainingSet};
pub use settings::{CellSettings, Settings};

pub use crate::{Scale, Surroundings};
