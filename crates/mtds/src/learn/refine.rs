//! From a model that was started to one that is learned to the end, with adapted proposals.

use serde::{Deserialize, Serialize};

use super::{Adapted, AdaptedObjective, Control, Fitted, Progress, Proposal, Trainer, TrainingPlan};
use crate::Result;
use crate::family::Family;
use crate::random::{Stream, stream};
use crate::system::System;

/// Settings of the second stage of learning, after [`Fit`](super::Fit) or [`RandomEffects`](super::RandomEffects).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Refine {
    /// What is learned.
    pub objective: Adapted,
    /// How long and how fast.
    pub plan: TrainingPlan,
}

impl Refine {
    /// Learns on from `model`; without `proposals` they are found first, from the prior.
    ///
    /// # Errors
    /// As [`AdaptedObjective::new`]; numbers that stop being finite.
    pub fn run(
        &self,
        model: System,
        (family, held_out): (&Family, Option<&Family>),
        proposals: Option<Vec<Proposal>>,
        seed: u64,
        observer: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<Fitted> {
        let settings = self.objective.clone();
        let parameters = model.parameters().to_vec();
        let objective = match proposals {
            None => AdaptedObjective::new(model.clone(), family, held_out, settings)?,
            Some(known) => {
                AdaptedObjective::from_proposals(model.clone(), family, held_out, settings, known)?
            }
        };
        let mut trainer =
            Trainer::new(objective, parameters, self.plan.clone(), stream(seed, Stream::Refinement))?;
        let outcome = trainer.run(observer)?;
        Ok(Fitted { model: model.with_parameters(outcome.parameters.clone())?, outcome })
    }
}
