//! Learning: an optimiser, schedules, early stopping and exact checkpoints around any [`Objective`].
//!
//! An objective is a function of one flat parameter vector. The trainer asks it for gradients and held-out
//! bounds and knows nothing else about it, so every way of learning shares this one loop.

pub mod adam;
pub mod adapted;
pub mod amortised;
pub mod calibration;
pub mod checkpoint;
pub mod choice;
pub mod course;
mod curves;
pub mod elbo;
pub mod history;
mod left_over;
pub mod mco;
pub mod new_members;
pub mod objective;
pub mod plan;
pub mod random_effects;
mod responses;
mod rules;
mod scaling_rule;
pub mod schedule;
pub mod stopping;
#[cfg(test)]
mod toy;
pub mod trainer;

pub use adapted::{Adapted, AdaptedObjective, Proposal};
pub use amortised::{InferenceNetwork, LearnedNetwork};
pub use calibration::{Calibrated, Calibration, CalibrationTrial};
pub use checkpoint::Checkpoint;
pub use choice::{Choice, Choices, Facts, LearnRule, Structure, Wishes};
pub use course::{
    Course, CourseCheckpoint, CourseData, CutFrom, Fitted, LearnedBeliefs, Learner, PriorStart, Refine,
    RefineRule, Stage, StageRecord, StartRule, VariationalRefine,
};
pub use curves::CurvesStart;
pub use elbo::{
    CodeSearch, CodeUsage, Estimator, GroupRule, HardEnding, HardPhase, SegmentCodes, UsageStatus,
    Variational, VariationalObjective,
};
pub use history::History;
pub(crate) use left_over::LeftOver;
pub use left_over::{RemainderRecord, RemainderRule, RemainderTrial};
pub use mco::{Carriers, MonteCarlo, MonteCarloObjective};
pub use new_members::{ChosenPrior, NewMembers, PriorRule, PriorSearch, PriorTrial};
pub(crate) use new_members::{FEWEST, evenly};
pub use objective::{Objective, ParameterGroup, StepReport};
pub use plan::TrainingPlan;
pub use random_effects::RandomEffects;
pub use responses::ResponsesStart;
pub use rules::NoiseRule;
pub use scaling_rule::ScalingRule;
pub use schedule::{Interpolation, Schedule};
pub use stopping::StoppingRule;
pub use trainer::{Control, Outcome, Progress, RunEnd, Trainer};
