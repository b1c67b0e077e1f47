//! `mtds reproduce`: the paper's experiments, computed by `mtds-experiments`; these are the directories that they work in.

mod dho;
mod directory;
mod mocap;
mod part;
mod pd;

pub use dho::Dho;
pub use mocap::Mocap;
pub use part::{Part, Portion};
pub use pd::Pd;

use clap::{Subcommand, ValueEnum};
use std::path::{Path, PathBuf};

/// Which experiment.
#[derive(Debug, Subcommand)]
pub enum Arguments {
    /// Damped oscillators: how soon, and how well, a model adapts to a new member of the family
    Dho(Dho),
    /// Locomotion: how much data, how well in a style like none before, and whether style can be chosen
    Mocap(Mocap),
    /// Patients under doses of their own: do codes know them, and how soon are forecasts better than one system for all
    Pd(Pd),
}

/// How much of an experiment is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScaleName {
    /// Enough to see that everything works, in minutes
    Quick,
    /// The paper's, in hours
    Full,
}

impl ScaleName {
    /// Its name, as it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Full => "full",
        }
    }

    /// The directory that is asked for, or the usual one of an experiment.
    fn directory(self, asked: Option<&Path>, experiment: &str) -> PathBuf {
        asked.map_or_else(|| format!("mtds-{experiment}-{}", self.name()).into(), Path::to_owned)
    }
}

impl From<ScaleName> for mtds_experiments::Scale {
    fn from(name: ScaleName) -> Self {
        match name {
            ScaleName::Quick => Self::Quick,
            ScaleName::Full => Self::Full,
        }
    }
}
