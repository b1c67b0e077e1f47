//! The experiments of Bird & Williams (2020), one module per table or figure, as functions that return data.
//!
//! | module | experiment |
//! |---|---|
//! | [`dho`] | damped oscillators: MTLDS against pooled and single-task systems, and the exact answer |
//! | [`mocap`] | locomotion: data efficiency, styles left out, style transfer, against gated networks |
//! | [`pd`] | patients under doses of their own: forecasts beside one system for all, and whether codes know the true parameters |
//!
//! Beside them stands what experiments share: [`smc`], a sampler for exact answers, and [`statistics`], the
//! tests of significance. Nothing here opens a file, reads a clock or prints; randomness is an argument. Finished cells
//! go through [`Surroundings`], which whoever runs an experiment hands in; pages are those of `mtds-report`.

use serde::{Deserialize, Serialize};

mod cells;
pub mod dho;
mod error;
pub mod mocap;
pub mod pd;
pub mod smc;
pub mod statistics;

pub use cells::Surroundings;
pub use error::{Error, Result, Trouble};

/// How much of an experiment is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Enough to see that everything works.
    Quick,
    /// The figures that are quoted.
    Full,
}

impl Scale {
    /// `quick` or `full`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Full => "full",
        }
    }
}
