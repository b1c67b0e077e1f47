//! How hard each model tries: all settings that a cell's result depends on, apart from the protocol.

use mtds::Result;
use mtds::parts::{Nuts, PooledSettings, Spread};
use serde::{Deserialize, Serialize};

use super::cell::{CellKind, Recipe};
use super::oracle::Oracle;
use super::recipe::paper::{self, Paper};
use super::recipe::{Method, Ours};
use crate::Scale;

/// The settings of all models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The exact answer.
    pub oracle: Oracle,
    /// How the pooled system is learned.
    pub pooled: PooledSettings,
    /// How forecasts of the pooled system spread; by step, because one spread for all steps is worse everywhere.
    pub pooled_spread: Spread,
    /// How a single sequence is inferred from.
    pub single: SingleSettings,
    /// The paper's recipe.
    pub paper: Paper,
    /// Our recipe: how much of it.
    pub ours: OursScale,
}

/// Inference of the single-task system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SingleSettings {
    /// Climbs to a mode, the best of which the sampler starts from; 10.
    pub restarts: usize,
    /// The sampler; at full scale 1 000 draws to warm up and 600 to keep.
    pub sampler: Nuts,
}

/// How much of our recipe, whose settings depend on the number of training sequences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OursScale {
    /// All of it.
    Full,
    /// Few models, few steps.
    Quick,
    /// These settings whatever the number.
    Exactly(Box<Ours>),
}

/// The settings of one kind of cell, kept with its results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellSettings {
    /// Of [`CellKind::Oracle`].
    Oracle(Oracle),
    /// Of [`CellKind::Pooled`].
    Pooled {
        /// How it is learned.
        learning: Box<PooledSettings>,
        /// How its forecasts spread.
        spread: Spread,
    },
    /// Of [`CellKind::Single`].
    Single(SingleSettings),
    /// Of [`CellKind::Mtlds`].
    Mtlds(Method),
}

impl SingleSettings {
    /// The paper's 10 climbs and one chain; an acceptance of 0.9 instead of 0.8 keeps chains from sticking.
    fn new(scale: Scale) -> Self {
        let (warmup, draws) = match scale {
            Scale::Quick => (300, 200),
            Scale::Full => (1000, 600),
        };
        Self { restarts: 10, sampler: Nuts { warmup, draws, target_accept: 0.9, ..Nuts::default() } }
    }
}

impl Settings {
    /// Those of a scale.
    ///
    /// # Errors
    /// None in practice: the numbers are literals.
    pub fn new(scale: Scale) -> Result<Self> {
        let (runs, steps) = match scale {
            Scale::Quick => (2, 3000),
            Scale::Full => (Oracle::default().runs, paper::STEPS),
        };
        Ok(Self {
            oracle: Oracle { runs, ..Oracle::default() },
            pooled: PooledSettings::default(),
            pooled_spread: Spread::ByStep,
            single: SingleSettings::new(scale),
            paper: Paper::new(steps)?,
            ours: match scale {
                Scale::Quick => OursScale::Quick,
                Scale::Full => OursScale::Full,
            },
        })
    }

    /// Those of the cells of `kind`.
    ///
    /// # Errors
    /// None in practice: the numbers are literals.
    pub fn of(&self, kind: &CellKind) -> Result<CellSettings> {
        Ok(match kind {
            CellKind::Oracle => CellSettings::Oracle(self.oracle),
            CellKind::Pooled => {
                CellSettings::Pooled { learning: Box::new(self.pooled.clone()), spread: self.pooled_spread }
            }
            CellKind::Single => CellSettings::Single(self.single.clone()),
            CellKind::Mtlds { recipe: Recipe::Paper, .. } => {
                CellSettings::Mtlds(Method::Paper(Box::new(self.paper.clone())))
            }
            CellKind::Mtlds { recipe: Recipe::Ours, n } => {
                CellSettings::Mtlds(Method::Ours(Box::new(match &self.ours {
                    OursScale::Full => Ours::full(*n)?,
                    OursScale::Quick => Ours::quick(*n)?,
                    OursScale::Exactly(ours) => (**ours).clone(),
                })))
            }
        })
    }
}
