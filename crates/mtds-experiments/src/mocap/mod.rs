//! Locomotion: how much data a model needs, how well it follows a style like none before, and whether style can be chosen.
//!
//! ```text
//! Material ─ split ─→ learned from ─→ model, rivals ─┐
//!              └────→ windows ───────────────────────┴─→ errors ─→ cell ─→ assemble ─→ report
//! ```
//!
//! | module | job |
//! |---|---|
//! | [`material`] | clips with mirror images and styles, handed in; families of stretches of them, never with labels |
//! | [`mod@protocol`], [`settings`] | what the experiments are; how hard each model tries |
//! | [`split`] | starts of forecasts, shares of the data |
//! | [`window`] | forecasts from starts, and their errors |
//! | [`model`], [`rivals`] | the multi-task system; networks without a code and forecasts that learn next to nothing |
//! | [`mod@transfer`], [`pace`] | experiment 3 and its classifier; motions at one pace |
//! | [`mod@map`] | a code of two numbers |
//! | [`cell`], [`mod@compute`], [`experiment`] | the unit of work that can be kept; carries one out; all of them |
//! | [`mod@assemble`] | from cells to rows, curves and tests |
//! | [`mod@published`], `report` | the paper's figures; tables as text, one document, the page |

pub mod assemble;
pub mod cell;
pub mod compute;
pub mod experiment;
pub mod map;
pub mod material;
pub mod model;
pub mod pace;
pub mod protocol;
pub mod published;
mod report;
pub mod rivals;
pub mod settings;
pub mod split;
pub mod transfer;
pub mod window;

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod tests;

pub use assemble::{Assembly, Kind};
pub use cell::{CellId, CellResult, Method, Task};
pub use experiment::{Experiment, Outcome};
pub use material::{Clip, Material, Part};
pub use protocol::Protocol;
pub use report::Poses;
pub use settings::Settings;
