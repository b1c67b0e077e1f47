//! What a fit writes down about itself, whole and typed: it stays with the model.

use serde::{Deserialize, Serialize};

use super::{SelectionRow, StructureRow};
use crate::evaluate::ScoreRow;
use crate::learn::{CalibrationTrial, CodeUsage, PriorTrial, RunEnd, StageRecord, Wishes};
use crate::predict::Explained;

/// How a model was learned, and what is known about it from that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitRecord {
    /// Every setting; given back as wishes, they make the same model of the same family.
    pub settings: Wishes,
    /// Why each is what it is.
    pub reasons: Vec<Reason>,
    /// Lengths of the code that were compared; empty where one was asked for or chosen by a rule.
    pub selection: Vec<SelectionRow>,
    /// Structures that were compared, and how much each counts in the forecasts; empty where one was chosen by rules or asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub structures: Vec<StructureRow>,
    /// What held-out sequences decided about new members.
    pub new_members: NewMembersRecord,
    /// Forecasts of sequences that learning did not see; empty where there are none.
    pub judged: Vec<ScoreRow>,
    /// How learning ended.
    pub status: RunEnd,
    /// Best held-out bound per observation, where there was one.
    pub best_validation: Option<f64>,
    /// How much of each output the code explains.
    pub explained: Vec<Explained>,
    /// How much of the code is used, for ways to learn that know it.
    pub usage: Option<CodeUsage>,
    /// Sequences that learning did not see.
    pub held_out_ids: Vec<String>,
    /// Number of sequences learned from.
    pub n_training: usize,
    /// Number that decided when to stop.
    pub n_held_out: usize,
    /// Number by which the length of the code was chosen.
    pub n_apart: usize,
    /// The course of learning, stage by stage; it has a file of its own.
    #[serde(skip)]
    pub stages: Vec<StageRecord>,
}

/// Why a setting is what it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    /// The key of the setting.
    pub key: String,
    /// Why.
    pub why: String,
}

/// Where codes of new members are expected, and how wide forecasts are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewMembersRecord {
    /// How the prior was chosen; the prior itself is in the system.
    pub prior: PriorRecord,
    /// How the process noise was.
    pub calibration: CalibrationRecord,
}

/// How a prior over codes was chosen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriorRecord {
    /// Its width around members; `None` for the normal one.
    pub spread: Option<f64>,
    /// What was tried.
    pub trials: Vec<PriorTrial>,
}

/// A factor on the learned process noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrationRecord {
    /// The factor.
    pub factor: f64,
    /// What was tried.
    pub trials: Vec<CalibrationTrial>,
}

impl Default for CalibrationRecord {
    /// As learned.
    fn default() -> Self {
        Self { factor: 1.0, trials: vec![] }
    }
}
