//! From a family to a model in one call.

use serde::{Deserialize, Serialize};

use super::{Control, MonteCarlo, MonteCarloObjective, Outcome, Progress, Schedule, Trainer, TrainingPlan};
use crate::Result;
use crate::family::{Family, Scaling};
use crate::random::{Stream, stream};
use crate::system::{Architecture, System};

/// How data units become model units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScalingRule {
    /// They are the same.
    Identity,
    /// Outputs to mean 0 and deviation 1; inputs stay, so that an input of zero keeps meaning "nothing".
    #[default]
    Outputs,
    /// As `Outputs`, and inputs divided by their usual size: zero stays zero.
    InputUnits,
    /// Outputs and inputs to mean 0 and deviation 1.
    All,
}

impl ScalingRule {
    /// The scaling of a family.
    ///
    /// # Errors
    /// A family whose spread is not finite.
    pub fn scaling(self, family: &Family) -> Result<Scaling> {
        match self {
            Self::Identity => Ok(Scaling::identity(family.d_obs(), family.d_input())),
            Self::Outputs => Scaling::standard_outputs(family),
            Self::InputUnits => Scaling::standard_outputs_and_input_units(family),
            Self::All => Scaling::standard(family),
        }
    }
}

/// How to learn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fit {
    /// From data units to model units.
    pub scaling: ScalingRule,
    /// What is maximised.
    pub objective: MonteCarlo,
    /// How it is maximised.
    pub plan: TrainingPlan,
}

/// A learned model and how learning went.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The model with the best parameters found.
    pub model: System,
    /// Status, steps and history.
    pub outcome: Outcome,
}

impl Fit {
    /// Default settings with these numbers of steps and particles, and this learning rate throughout.
    ///
    /// # Errors
    /// A learning rate that is not finite.
    pub fn steady(steps: u64, learning_rate: f64, particles: usize) -> Result<Self> {
        let mut fit = Self::default();
        fit.plan.steps = steps;
        fit.plan.learning_rate = Schedule::constant(learning_rate)?;
        fit.objective.particles = Schedule::constant(particles as f64)?;
        Ok(fit)
    }

    /// Learns a model of `family` by the Monte-Carlo objective.
    ///
    /// With `held_out`, its bound is watched: the best parameters are kept, and learning may stop early.
    /// `observer` sees every step and may stop the run. The same seed gives the same model, to the bit, on
    /// any number of threads.
    ///
    /// # Errors
    /// Settings out of range, a family that does not fit the architecture, a loss that is not finite.
    pub fn run(
        &self,
        spec: Architecture,
        family: &Family,
        held_out: Option<&Family>,
        seed: u64,
        observer: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<Fitted> {
        let mut trainer = self.trainer(spec, family, held_out, seed)?;
        let outcome = trainer.run(observer)?;
        let model = trainer.objective().model().clone().with_parameters(outcome.parameters.clone())?;
        Ok(Fitted { model, outcome })
    }

    /// The trainer that [`Fit::run`] runs, for programs that save checkpoints on the way.
    ///
    /// # Errors
    /// As [`Fit::run`].
    pub fn trainer(
        &self,
        spec: Architecture,
        family: &Family,
        held_out: Option<&Family>,
        seed: u64,
    ) -> Result<Trainer<MonteCarloObjective>> {
        let scaling = self.scaling.scaling(family)?;
        let model = System::initialise(spec, scaling, &mut stream(seed, Stream::Initialise))?;
        let parameters = model.parameters().to_vec();
        let objective = MonteCarloObjective::new(model, family, held_out, self.objective.clone())?;
        Trainer::new(objective, parameters, self.plan.clone(), stream(seed, Stream::Training))
    }
}
