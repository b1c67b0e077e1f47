//! What a fit writes down about itself, whole and typed: it stays with the model.

use serde::{Deserialize, Serialize};

use super::{SelectionRow, StructureRow};
use crate::evaluate::{Estimate, Evaluated, ScoreRow};
use crate::learn::{CalibrationTrial, CodeUsage, PriorTrial, RemainderRecord, RunEnd, StageRecord, Wishes};
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
    /// The rival with the best forecasts of them; `None` where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_rival: Option<BestRival>,
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

/// How forecasts compare with those of the best rival, over the same sequences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BestRival {
    /// Its name.
    pub method: String,
    /// CRPS of this model less that of the rival: below 0 this model is better.
    pub model_less: Estimate,
}

/// Rows of scores, and what they say of rivals.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Judged {
    pub(super) rows: Vec<ScoreRow>,
    pub(super) best_rival: Option<BestRival>,
}

impl Judged {
    /// The judgement of parts of a family, in each of which the model came first.
    pub(super) fn of(parts: Vec<Vec<Evaluated>>) -> Self {
        let mut by_method: Vec<Evaluated> = vec![];
        for (fold, part) in parts.into_iter().enumerate() {
            for mut found in part {
                found.sequences.iter_mut().for_each(|(i, _)| *i += fold << 32);
                match by_method.iter_mut().find(|known| known.row.method == found.row.method) {
                    Some(known) => known.sequences.extend(found.sequences),
                    None => by_method.push(found),
                }
            }
        }
        let Some((ours, rivals)) = by_method.split_first() else { return Self::default() };
        // A rival that could not learn from every part was not asked about all.
        let rivals = rivals.iter().filter(|rival| rival.sequences.len() == ours.sequences.len());
        let crps = |found: &Evaluated| found.over_all().map_or(f64::INFINITY, |row| row.crps);
        let best = rivals.clone().min_by(|a, b| crps(a).total_cmp(&crps(b)));
        let best_rival = best.and_then(|rival| {
            Some(BestRival { method: rival.row.method.clone(), model_less: ours.crps_less(rival)? })
        });
        Self {
            rows: std::iter::once(ours).chain(rivals).filter_map(Evaluated::over_all).collect(),
            best_rival,
        }
    }
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
    /// How what codes leave over of the steps seen goes on in forecasts.
    #[serde(default, skip_serializing_if = "RemainderRecord::is_empty")]
    pub remainder: RemainderRecord,
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
