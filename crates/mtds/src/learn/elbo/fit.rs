//! From a family to a model by variational learning, in one call.

use serde::{Deserialize, Serialize};

use super::{CodeUsage, Gaussians, Variational, VariationalObjective};
use crate::Result;
use crate::family::Family;
use crate::learn::{Control, Outcome, Progress, ScalingRule, Trainer, TrainingPlan};
use crate::random::{Stream, stream};
use crate::system::{Architecture, System};

/// How to learn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VariationalFit {
    /// From data units to model units.
    pub scaling: ScalingRule,
    /// What is maximised.
    pub objective: Variational,
    /// How it is maximised.
    pub plan: TrainingPlan,
}

/// A learned model, what is believed of its codes, and how learning went.
#[derive(Clone, Debug)]
pub struct VariationalFitted {
    /// The model with the best parameters found.
    pub model: System,
    /// q_j of every training sequence.
    pub codes: Gaussians,
    /// How much of the code is used; says so if it collapsed.
    pub usage: CodeUsage,
    /// Status, steps and history; its parameters are those of the model, then those of the beliefs.
    pub outcome: Outcome,
}

impl VariationalFit {
    /// Learns a model of `family` with a belief of its own about the code of each sequence.
    ///
    /// With `held_out`, its bound is watched: the best parameters are kept, and learning may stop early. The same
    /// seed gives the same model, to the bit, on any number of threads.
    ///
    /// # Errors
    /// Settings out of range, a family that does not fit the architecture, a loss that is not finite.
    pub fn run(
        &self,
        spec: Architecture,
        (family, held_out): (&Family, Option<&Family>),
        seed: u64,
        observer: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<VariationalFitted> {
        let mut random = stream(seed, Stream::Initialise);
        let model = System::initialise(spec, self.scaling.scaling(family)?, &mut random)?;
        let objective = VariationalObjective::new(model, family, held_out, self.objective.clone())?;
        let parameters = objective.first_parameters(&mut random);
        let mut trainer =
            Trainer::new(objective, parameters, self.plan.clone(), stream(seed, Stream::Training))?;
        let outcome = trainer.run(observer)?;
        trainer.into_objective().fitted(outcome)
    }
}

impl VariationalObjective {
    /// What a run of a trainer came to.
    ///
    /// # Errors
    /// The outcome of another objective.
    pub fn fitted(mut self, outcome: Outcome) -> Result<VariationalFitted> {
        let codes = self.codes_at(&outcome.parameters)?;
        let model = self.model_at(&outcome.parameters)?;
        Ok(VariationalFitted { model, usage: CodeUsage::of(&codes), codes, outcome })
    }
}
