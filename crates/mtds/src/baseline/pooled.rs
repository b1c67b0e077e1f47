//! The pooled linear system: the same parameters for all sequences, by subspace identification and gradients.
//!
//! ```text
//! x_t = A x_{t−1} + B u_t + b        y_t ~ N(C x_t + D u_t + d, S)        for every sequence alike
//! ```
//! The baseline of Bird & Williams (2020): "initialized using spectral methods and then fine tuned using
//! Adam". The state has no noise and the parameters no distribution, so what was seen of a sequence changes
//! nothing in its forecast; the spread of the training sequences around it, over all steps (S) or at each one,
//! makes the forecast honest about that. Fitting is deterministic: no randomness is asked for.

use serde::{Deserialize, Serialize};

use super::likelihood::LikelihoodObjective;
use super::spread::{Residuals, Spread};
use super::subspace::{Feedthrough, LinearSystem, Subspace};
use crate::base::{Lds, NoiseForm};
use crate::family::{Family, Scaling, Signal};
use crate::generator::Role;
use crate::learn::{Control, Interpolation, Outcome, Progress, ScalingRule, Schedule, Trainer, TrainingPlan};
use crate::predict::{DrawNoise, Forecast};
use crate::random::{Stream, stream};
use crate::system::{Architecture, Codes, System};
use crate::{Error, Result};

/// How to learn a pooled linear system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PooledSettings {
    /// The size of the state, and how learning begins.
    pub subspace: Subspace,
    /// Form of the emission covariance.
    pub noise_form: NoiseForm,
    /// From data units to model units.
    pub scaling: ScalingRule,
    /// How learning goes on; no steps leave the identified system as it is.
    pub plan: TrainingPlan,
}

impl Default for PooledSettings {
    fn default() -> Self {
        let mut plan = TrainingPlan { steps: 600, ..TrainingPlan::default() };
        let rate = Schedule::new(Interpolation::Log, vec![(1, 1e-2), (600, 5e-4)]);
        plan.learning_rate = rate.expect("literal numbers are positive and their steps sorted");
        plan.stopping.every = 20;
        let (noise_form, scaling) = (NoiseForm::default(), ScalingRule::default());
        Self { subspace: Subspace::default(), noise_form, scaling, plan }
    }
}

/// A linear system that a whole family shares.
#[derive(Clone, Debug)]
pub struct PooledLds {
    model: System,
    identified: LinearSystem,
    start_log_likelihood: f64,
    log_likelihood: f64,
    residuals: Residuals,
    outcome: Outcome,
}

impl PooledLds {
    /// Learns one system for all sequences of `family`.
    ///
    /// The parameters kept are those with the best likelihood of `held_out`, or without it of the family,
    /// among the start and all checks. `observer` sees every step and may stop the run.
    ///
    /// # Errors
    /// As [`Subspace::identify`]; settings out of range; held-out sequences of other widths; a loss that is
    /// not finite.
    pub fn fit(
        family: &Family,
        held_out: Option<&Family>,
        settings: &PooledSettings,
        observer: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<Self> {
        let scaling = settings.scaling.scaling(family)?;
        let identified = settings.subspace.identify(&scaling.apply(family)?)?;
        let start = starting_model(&identified, settings, scaling)?;
        let objective = LikelihoodObjective::new(start, family, held_out)?;
        let start = with_residual_noise(&objective)?;
        let mut trainer =
            Trainer::new(objective, start.clone(), settings.plan.clone(), stream(0, Stream::Training))?;
        let mut outcome = trainer.run(observer)?;
        let objective = trainer.objective();
        if outcome.best_validation.is_none_or(|best| best <= objective.watched(&start)) {
            outcome.parameters.clone_from(&start);
        }
        Ok(Self {
            model: objective.model().clone().with_parameters(outcome.parameters.clone())?,
            start_log_likelihood: objective.log_likelihood(&start),
            log_likelihood: objective.log_likelihood(&outcome.parameters),
            residuals: objective.residuals(&outcome.parameters),
            identified,
            outcome,
        })
    }

    /// The model: no code, every learned block shared.
    #[must_use]
    pub fn model(&self) -> &System {
        &self.model
    }

    /// The system that learning began with, in model units.
    #[must_use]
    pub fn identified(&self) -> &LinearSystem {
        &self.identified
    }

    /// Mean log likelihood of a training value under the identified system, in nats and model units.
    #[must_use]
    pub fn start_log_likelihood(&self) -> f64 {
        self.start_log_likelihood
    }

    /// Mean log likelihood of a training value, in nats and model units.
    #[must_use]
    pub fn log_likelihood(&self) -> f64 {
        self.log_likelihood
    }

    /// How learning went; its parameters are those of the model.
    #[must_use]
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// The forecast of `n_time` steps of a sequence after its first `n_seen`, in data units.
    ///
    /// # Shapes
    /// `inputs` (data units): from the first step of the sequence on, at least (n_seen + n_time) × d_input.
    ///
    /// # Errors
    /// No steps asked for; inputs missing, too short, of the wrong width or not finite.
    pub fn forecast(
        &self,
        inputs: Option<&Signal>,
        n_seen: usize,
        n_time: usize,
        spread: Spread,
    ) -> Result<Forecast> {
        if n_time == 0 {
            return Err(Error::setting("horizon", "found 0; expected at least one step"));
        }
        let (total, p) = (n_seen + n_time, self.model.base().d_obs());
        if let Some(&value) = inputs.and_then(|u| u.values().iter().find(|u| !u.is_finite())) {
            let hint = "; inputs cannot be missing";
            return Err(Error::NotFinite { what: "inputs of a forecast".into(), value, hint });
        }
        let inputs = inputs.map(|u| self.model.scaling().inputs_to_model(u)).transpose()?;
        let codes = Codes::from_fn(1, 0, |_, _| 0.0);
        let rollout = self.model.simulate(&codes, None, inputs.as_ref(), total)?;
        let means = rollout.outputs[n_seen * p..].to_vec();
        let factor = rollout.noise_factors;
        let noise = match (spread, self.model.base().noise().form) {
            (Spread::ByStep, _) => DrawNoise::DiagonalByStep(self.residuals.step_std(n_seen, n_time)),
            (Spread::Constant, NoiseForm::Full) => DrawNoise::Full(factor),
            (Spread::Constant, NoiseForm::Diagonal) => {
                DrawNoise::Diagonal((0..p).map(|d| factor[d * p + d]).collect())
            }
        };
        let of = |value: &dyn Fn(usize) -> f64| (0..p).map(value).collect::<Vec<f64>>();
        let scaling = self.model.scaling();
        Forecast::new(n_seen, p, vec![1.0], means, noise)?
            .rescaled(&of(&|d| scaling.offset(d)), &of(&|d| scaling.scale(d)))
    }
}

/// The identified system as a model, with noise of deviation 1.
fn starting_model(system: &LinearSystem, settings: &PooledSettings, scaling: Scaling) -> Result<System> {
    let base = Lds { noise_form: settings.noise_form, ..system.base() };
    let mut spec = Architecture::without_code(base);
    if settings.subspace.feedthrough == Feedthrough::Free {
        spec = spec.share("feedthrough");
    }
    if system.base().d_input == 0 {
        spec = spec.share("initial_state");
    }
    let layout = spec.layout()?;
    let shared = layout.blocks().iter().filter(|block| block.role == Role::Shared);
    let values = shared.flat_map(|block| system.block(block.spec.name, block.spec.len));
    let parameters = values.map(|x| x as f32).collect();
    System::new(spec, scaling, parameters)
}

/// The parameters of the model with the noise that its residuals have.
fn with_residual_noise(objective: &LikelihoodObjective) -> Result<Vec<f32>> {
    let model = objective.model();
    let mut parameters = model.parameters().to_vec();
    let spread = objective.residuals(&parameters).overall_std();
    if let Some(&value) = spread.iter().find(|s| !s.is_finite()) {
        let what = "spread of the outputs around the identified system".into();
        return Err(Error::NotFinite { what, value, hint: "; scale the outputs" });
    }
    if let Some(block) = model.layout().block("noise") {
        for (raw, s) in parameters[block.slots()].iter_mut().zip(spread) {
            *raw = s.ln() as f32;
        }
    }
    Ok(parameters)
}

#[cfg(test)]
#[path = "pooled_tests.rs"]
mod tests;
