//! Damped harmonic oscillation: how soon, and how well, a model adapts to a new member of the family.
//!
//! ```text
//! protocol ──→ TrainingSet ──→ recipe ──→ Predictor ──┐
//!     └──────→ TestSet ────────────────────────────────┴──→ score ──→ cell ──→ assemble
//! ```
//!
//! | module | job |
//! |---|---|
//! | [`protocol`] | what the experiment is; the data sets of every repetition, from streams of their own |
//! | [`score`] | shows a model the past of every test sequence and scores what it says of the future |
//! | [`recipe`] | ways to learn a multi-task model |
//! | [`predictor`] | the models as they follow a sequence |
//! | [`truth`], [`oracle`] | the generating distribution, and the exact answer under it |
//! | [`cell`] | the unit of work that can be kept: one model in one repetition |
//! | [`illustration`] | single test sequences for figures, once all are scored |
//! | [`mod@compute`], [`settings`] | carries a cell out; all that its result depends on |
//! | [`experiment`] | cell by cell: what is kept is taken (`kept`), what is missing computed (`workers`, `countdown`) |
//! | [`mod@published`] | the paper's figures |
//! | [`table`], [`compare`], [`mod@assemble`] | from cells to rows, differences, tests and findings |
//! | [`report`] | tables as text, the result as one document, the page |

pub mod assemble;
pub mod cell;
pub mod compare;
pub mod compute;
mod countdown;
pub mod experiment;
pub mod illustration;
mod kept;
pub mod oracle;
pub mod predictor;
pub mod protocol;
pub mod published;
pub mod recipe;
pub mod report;
pub mod score;
pub mod settings;
pub mod table;
pub mod truth;
mod workers;

#[cfg(test)]
mod fixtures;

pub use assemble::{Assembly, assemble};
pub use cell::{CellId, CellKind, CellResult, Recipe};
pub use compare::{Comparison, EvidenceGap, Finding, OracleGap};
pub use compute::{Computed, compute};
pub use experiment::{Experiment, Outcome, Surroundings};
pub use illustration::Illustration;
pub use oracle::{Oracle, OraclePosterior};
pub use protocol::{Protocol, Scale, TestSet, TrainingSet, ValidationSet};
pub use published::{Published, published};
pub use score::{Follower, ForecastScore, Predictor, SequenceResult, score_oracle, score_predictor};
pub use settings::{CellSettings, Settings};
pub use table::Row;
