//! A model: what a fit leaves behind, and what every question is put to.
//!
//! It knows its system (base model, generator, parameters, scaling, prior), the columns and the time step that it was learned
//! from, how codes of new members are inferred, the members it has met, and how it was learned.

mod answer;
mod blend;
mod columns;
mod infer;
mod segment;
mod tracker;
mod unseen;
mod watched;

use serde::{Deserialize, Serialize};

pub(crate) use blend::Blended;
pub use blend::{Blend, Levels, Remembered, WaysBySeen, Widths};
pub use columns::{Attribute, DataColumns};
pub use infer::Inferred;
pub use segment::SegmentCode;
pub use tracker::{Follower, FollowingModel, ModelTracker, ModelTrackerState};
pub use watched::{ExpectedStep, WatchRules, Watched, WatchedState, WatchedStep};

use crate::engine::Device;
use crate::evaluate::ScoreRow;
use crate::family::Family;
use crate::infer::Online;
use crate::learn::LearnedNetwork;
use crate::predict::Estimate;
use crate::system::System;
use crate::workflow::FitRecord;

/// A multi-task dynamical system that was learned, with all that is needed to use it.
#[derive(Clone, Debug)]
pub struct Model {
    /// The system itself.
    pub system: System,
    /// How codes of new members are inferred.
    pub online: Online,
    /// Systems that forecast together with it, learned from other parts of the family or with another structure; may be empty.
    pub companions: Vec<Companion>,
    /// What forecasts beside all systems, and how wide forecasts are.
    pub blend: Blend,
    /// The columns that it was learned from.
    pub columns: DataColumns,
    /// Length of a step in the units of its times, as files write it; `None` where nobody said.
    pub time_step: Option<String>,
    /// Where it came from.
    pub provenance: Provenance,
    /// The members of the family with their codes; may be empty.
    pub members: Vec<Member>,
    /// What learning believes of the codes of segments, in the order of their sequences, then of time; empty where sequences were
    /// learned whole.
    pub segments: Vec<SegmentCode>,
    /// The network that reads a sequence and says its code, where one was learned.
    pub network: Option<LearnedNetwork>,
    /// What the card reports; may be empty.
    pub scores: Vec<CardScore>,
    /// Unit of [`Misfit`](crate::parts::Misfit): what members leave unexplained per value, at least 1.
    pub usual_misfit: f64,
    /// How it was learned; `None` for a model that was put together by hand.
    pub fit: Option<FitRecord>,
}

impl Model {
    /// The same model, computed with where `device` says.
    #[must_use]
    pub fn on(mut self, device: &Device) -> Self {
        self.system = self.system.on(device);
        for companion in &mut self.companions {
            companion.system = companion.system.clone().on(device);
        }
        self
    }

    /// A system put together by hand, with the names of its outputs and inputs: inference as usual, no members, nothing known of a fit.
    #[must_use]
    pub fn by_hand(system: System, columns: DataColumns, provenance: Provenance) -> Self {
        Self {
            system,
            online: Online::default(),
            companions: vec![],
            blend: Blend::default(),
            columns,
            time_step: None,
            provenance,
            members: vec![],
            segments: vec![],
            network: None,
            scores: vec![],
            usual_misfit: 1.0,
            fit: None,
        }
    }
}

/// A system that forecasts beside the one that codes are those of.
#[derive(Clone, Debug)]
pub struct Companion {
    /// The system.
    pub system: System,
    /// How codes of new members are inferred under it.
    pub online: Online,
    /// How much it counts, where the first system counts 1.
    pub weight: f64,
    /// Members of the family that it did not learn from, by id.
    pub held_out_ids: Vec<String>,
}

/// Where a model came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Seed of all randomness in learning.
    pub seed: u64,
    /// [`Family::fingerprint`] of the data.
    pub fingerprint: String,
    /// Version of the library that learned it.
    pub program_version: String,
    /// Whatever one who puts a model together by hand wants to keep with it; null for a fit.
    pub notes: serde_json::Value,
}

impl Provenance {
    /// Learned now, by this library, from `family`.
    #[must_use]
    pub fn new(seed: u64, family: &Family) -> Self {
        let program_version = env!("CARGO_PKG_VERSION").to_owned();
        Self { seed, fingerprint: family.fingerprint(), program_version, notes: serde_json::Value::Null }
    }
}

/// A member of the family and its code, known to about seven digits: stored as F32.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Its id, unlike any other.
    pub id: String,
    /// Its label, if it had one.
    pub label: Option<String>,
    /// Posterior mean of its code, `d_code`.
    pub code_mean: Vec<f64>,
    /// Posterior standard deviation of each dimension of its code, `d_code`; 0 for a point estimate.
    pub code_std_dev: Vec<f64>,
}

/// One line of the table of scores on the card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardScore {
    /// What was measured, e.g. `RMSE`.
    pub measure: String,
    /// On what, e.g. `20 of 60 steps seen`.
    pub condition: String,
    /// The mean over sequences.
    pub mean: f64,
    /// Its standard error; `None` where it is not known, as with one sequence.
    #[serde(deserialize_with = "Option::deserialize")] // may be null, may not be absent
    pub std_error: Option<f64>,
    /// Number of sequences.
    pub n_seq: usize,
}

impl CardScore {
    /// The line for an estimate over sequences.
    #[must_use]
    pub fn new(measure: impl Into<String>, condition: impl Into<String>, estimate: Estimate) -> Self {
        let Estimate { mean, std_error, n } = estimate;
        Self { measure: measure.into(), condition: condition.into(), mean, std_error, n_seq: n }
    }

    /// The lines for the first of these rows.
    pub(crate) fn of(judged: &[ScoreRow]) -> Vec<Self> {
        let Some(row) = judged.first() else { return vec![] };
        let condition = format!("held-out sequences, {} seen", row.seen);
        let line = |measure: &str, mean, std_error| Self {
            measure: measure.into(),
            condition: condition.clone(),
            mean,
            std_error,
            n_seq: row.n_seq,
        };
        vec![
            line("RMSE", row.rmse, row.rmse_se),
            line("NLL", row.nll, row.nll_se),
            line("CRPS", row.crps, row.crps_se),
        ]
    }
}
