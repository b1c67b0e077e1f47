//! A whole course of learning: a start, then refinement, stopped anywhere and resumed to the same bits.
//!
//! ```text
//! start     prior         Algorithm 1, its noise coming down        steps, can be stopped
//!           effects       random effects, principal axes            one piece
//!           curves        principal components of members' curves   one piece
//!           responses     principal components of how outputs follow inputs, as first codes   one piece
//!           none          the model as it was drawn
//! refine    adapted       proposals that follow each sequence       steps, can be stopped, watches held-out sequences
//!           variational   beliefs learned with the model            likewise
//!           none          what the start from the prior found
//! ```

mod checkpoint;
mod learner;

use serde::{Deserialize, Serialize};

use super::elbo::{CodeUsage, Variational};
use super::{
    Adapted, Checkpoint, CurvesStart, History, LearnedNetwork, MonteCarlo, Outcome, RandomEffects,
    ResponsesStart, ScalingRule, TrainingPlan,
};
use crate::Error;
use crate::engine::Device;
use crate::family::{Family, Origin};
use crate::system::System;

pub use learner::Learner;

/// The settings of both stages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Course {
    /// From data units to model units.
    pub scaling: ScalingRule,
    /// How learning begins.
    pub start: StartRule,
    /// How it goes on.
    pub refine: RefineRule,
}

/// How learning begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartRule {
    /// From draws of the prior (Algorithm 1): finds what many sequences have in common.
    Prior(Box<PriorStart>),
    /// From random effects: for few sequences. The architecture needs an affine path.
    Effects(RandomEffects),
    /// From principal components of the members' curves. The architecture needs a clock, and an affine path.
    Curves(CurvesStart),
    /// From the model as it was drawn, with codes that tell how the outputs of each sequence follow its inputs.
    Responses(ResponsesStart),
    /// Not at all: refinement begins with the model as it was drawn.
    None,
}

/// How learning goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefineRule {
    /// With proposals that follow each sequence, and are not part of what is learned.
    Adapted(Box<Refine>),
    /// With beliefs about codes that are learned with the model.
    Variational(Box<VariationalRefine>),
    /// Not at all: what the start from the prior found is what is learned.
    None,
}

/// Settings of refinement with adapted proposals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Refine {
    /// What is maximised.
    pub objective: Adapted,
    /// How it is maximised.
    pub plan: TrainingPlan,
}

/// Settings of a start from the prior.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriorStart {
    /// What is maximised.
    pub objective: MonteCarlo,
    /// How it is maximised.
    pub plan: TrainingPlan,
}

/// Settings of variational learning as a stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VariationalRefine {
    /// What is maximised.
    pub objective: Variational,
    /// How it is maximised.
    pub plan: TrainingPlan,
    /// Units in each direction of a network that makes the beliefs; `None` for a belief of its own for each sequence.
    pub network: Option<usize>,
}

/// A stage of a course.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The start.
    Start,
    /// Adapted proposals.
    Refine,
    /// Learned beliefs.
    Variational,
}

/// How a stage went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageRecord {
    /// Which.
    pub stage: Stage,
    /// Steps taken.
    pub steps: u64,
    /// Its course; empty for random effects.
    pub history: History,
}

/// What a course learns from.
#[derive(Clone, Debug)]
pub struct CourseData {
    /// The training sequences, in data units.
    pub family: Family,
    /// What they were cut from, where they are segments: needed to move them.
    pub cut_from: Option<CutFrom>,
    /// Sequences whose bound decides when to stop.
    pub held_out: Option<Family>,
    /// Seed of all randomness.
    pub seed: u64,
    /// Where to compute.
    pub device: Device,
}

/// What segments were cut from.
#[derive(Clone, Debug)]
pub struct CutFrom {
    /// The sequences, whole, in data units.
    pub family: Family,
    /// Where each segment comes from.
    pub origins: Vec<Origin>,
}

/// A learned system and how learning went.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The system with the best parameters found.
    pub model: System,
    /// Status, steps and history of the last stage.
    pub outcome: Outcome,
}

/// What variational learning leaves beside the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearnedBeliefs {
    /// How much of the code is used; says so if it collapsed.
    pub usage: CodeUsage,
    /// The network that makes beliefs, if one was learned.
    pub network: Option<LearnedNetwork>,
}

/// A course between two steps: all that [`Learner::resume`] needs besides settings and data.
#[derive(Clone, Debug, PartialEq)]
pub struct CourseCheckpoint {
    /// The stage in progress.
    pub stage: Stage,
    /// The stages before it.
    pub finished: Vec<StageRecord>,
    /// The stage's trainer; none while random effects have not ended.
    pub trainer: Option<Checkpoint>,
}

fn broken(why: impl Into<String>) -> Error {
    Error::Store { file: "checkpoint".into(), why: why.into() }
}

#[cfg(test)]
mod tests;
