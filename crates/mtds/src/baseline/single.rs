//! The single-task model: one sequence learned on its own, by Bayesian inference over all raw parameters.
//!
//! ```text
//! θ_raw = b + W z        W = diag(σ), b: prior deviations and means of the raw values        z ~ N(0, I)
//! ```
//! It is a family model whose code has one entry per raw parameter, so prior, posterior, forecast and noise are
//! those of every other model. For the paper's oscillators (state 4, B = tanh B̃): υ 4, skew 6, B̃ 4, C 4 and
//! log s ~ N(−2, 0.2²), 19 dimensions. The posterior is thin and bent: 19 numbers, of which the outputs
//! determine about half.
//!
//! ```text
//! 10 climbs from the prior, log s held at its mean  →  the best of them  →  NUTS  →  forecast
//! ```
//! Reference: Bird & Williams (2020), supplement, "Damped Harmonic Oscillation". B = tanh B̃
//! because 19 dimensions are stated there, while the gated form of B in the same text would make 23.

use crate::base::emission::Group;
use crate::base::{Base, InputMap, Lds};
use crate::family::{Scaling, Signal};
use crate::generator::Role;
use crate::infer::{
    CodeTarget, GaussianMixture, Nuts, Observer, Points, Posterior, best_climbs, effective_draws,
    nuts_observed,
};
use crate::learn::Control;
use crate::predict::Forecast;
use crate::random::Random;
use crate::system::{Architecture, System};
use crate::{Error, Result};

/// Prior of the noise: log s ~ N(−2, 0.2²).
const NOISE_PRIOR: (f64, f64) = (-2.0, 0.2);
/// Some posteriors bend so much that at the sampler's own 0.8 chains stick; at 0.9 they do so less often.
const TARGET_ACCEPT: f64 = 0.9;
/// Most rounds of the climbs to a mode; each evaluates every climb once.
const CLIMB_ROUNDS: usize = 1000;

/// A single-task model: what is believed about the raw parameters of one sequence, and how they are inferred.
#[derive(Clone, Debug)]
pub struct SingleTask {
    base: Base,
    scaling: Scaling,
    /// Mean and standard deviation by block; blocks that are not here have N(0, 1).
    priors: Vec<(String, (f64, f64))>,
    fixed: Vec<(String, f64)>,
    restarts: usize,
    sampler: Nuts,
}

/// What was inferred about one sequence.
#[derive(Clone, Debug)]
pub struct SingleTaskFit {
    /// The family model of the raw parameters, whose codes the posterior is about.
    pub model: System,
    /// The code that the sampler started from: the best mode for noise at its prior mean.
    pub mode: Vec<f64>,
    /// log p(y, mode), with the noise at its prior mean and the prior of the others, normalised.
    pub mode_log_density: f64,
    /// The posterior over codes.
    pub posterior: Posterior,
}

impl SingleTask {
    /// The paper's model of one oscillator: four states, one output, one input, no offsets, B = tanh B̃.
    #[must_use]
    pub fn oscillator() -> Self {
        let base = Lds { input_map: InputMap::Tanh, ..Lds::new(4, 1, 1) };
        Self::new(base).fix("state_bias", 0.0).fix("offset", 0.0)
    }

    /// Raw parameters N(0, 1) in every block that is not fixed by default, noise log s ~ N(−2, 0.2²); ten
    /// restarts, NUTS at its defaults but for an acceptance of 0.9; data units are model units.
    #[must_use]
    pub fn new(base: impl Into<Base>) -> Self {
        let base = base.into();
        let fixed = base.blocks().into_iter().filter_map(|block| match block.role {
            Role::Fixed(value) => Some((block.name.to_owned(), value)),
            _ => None,
        });
        Self {
            fixed: fixed.collect(),
            scaling: Scaling::identity(base.d_obs(), base.d_input()),
            priors: vec![("noise".to_owned(), NOISE_PRIOR)],
            base,
            restarts: 10,
            sampler: Nuts { target_accept: TARGET_ACCEPT, ..Nuts::default() },
        }
    }

    /// Gives every raw entry of a block the prior N(mean, std_dev²).
    #[must_use]
    pub fn prior(mut self, block: &str, mean: f64, std_dev: f64) -> Self {
        self.fixed.retain(|(name, _)| name != block);
        self.priors.retain(|(name, _)| name != block);
        self.priors.push((block.to_owned(), (mean, std_dev)));
        self
    }

    /// Holds every raw entry of a block at a value.
    #[must_use]
    pub fn fix(mut self, block: &str, value: f64) -> Self {
        self.fixed.retain(|(name, _)| name != block);
        self.fixed.push((block.to_owned(), value));
        self
    }

    /// Sets the units that the priors are meant in.
    #[must_use]
    pub fn scaling(mut self, scaling: Scaling) -> Self {
        self.scaling = scaling;
        self
    }

    /// Sets the number of climbs to a mode, and the sampler.
    #[must_use]
    pub fn inference(mut self, restarts: usize, sampler: Nuts) -> Self {
        (self.restarts, self.sampler) = (restarts, sampler);
        self
    }

    /// The family model whose code has one entry per raw parameter that is not fixed, in the order of θ.
    ///
    /// # Errors
    /// An impossible base model, a block that does not exist, a prior whose mean is not finite or whose
    /// standard deviation is not positive, everything fixed.
    pub fn model(&self) -> Result<System> {
        let mut spec = Architecture::new(self.base.clone(), 1);
        for block in self.base.blocks() {
            spec = spec.adapt(block.name);
        }
        for (block, _) in &self.priors {
            spec = spec.adapt(block);
        }
        for (block, value) in &self.fixed {
            spec = spec.fix(block, *value);
        }
        let d_code = spec.network.d_out;
        spec.network.d_code = d_code;
        let parameters = self.affine(&spec, d_code)?;
        System::new(spec, self.scaling.clone(), parameters)
    }

    /// W = diag(σ), then b.
    fn affine(&self, spec: &Architecture, d_code: usize) -> Result<Vec<f32>> {
        let mut parameters = vec![0.0; d_code * (d_code + 1)];
        for block in spec.layout()?.blocks().iter().filter(|b| b.role == Role::Adapted) {
            let (mean, std_dev) = self.prior_of(block.spec.name)?;
            for slot in block.slots() {
                parameters[slot * d_code + slot] = std_dev as f32;
                parameters[d_code * d_code + slot] = mean as f32;
            }
        }
        Ok(parameters)
    }

    fn prior_of(&self, block: &str) -> Result<(f64, f64)> {
        let given = self.priors.iter().find(|(name, _)| name == block);
        let (mean, std_dev) = given.map_or((0.0, 1.0), |(_, prior)| *prior);
        if !(mean.is_finite() && std_dev.is_finite() && std_dev > 0.0) {
            let why = format!("found N({mean}, {std_dev}²) for `{block}`; expected a deviation above 0");
            return Err(Error::setting("prior", why));
        }
        Ok((mean, std_dev))
    }

    /// Infers the raw parameters from the outputs of one sequence, in data units.
    ///
    /// # Shapes
    /// `outputs`: T × p, NaN = missing; `inputs`: at least T × m, needed if the base model has inputs.
    ///
    /// # Errors
    /// As [`SingleTask::model`]; settings of the sampler out of range; outputs or inputs of the wrong size.
    pub fn infer(
        &self,
        outputs: &Signal,
        inputs: Option<&Signal>,
        random: &mut Random,
    ) -> Result<SingleTaskFit> {
        self.infer_observed((outputs, inputs), random, &|| Control::Continue)
    }

    fn infer_observed(
        &self,
        (outputs, inputs): (&Signal, Option<&Signal>),
        random: &mut Random,
        observe: &Observer<'_>,
    ) -> Result<SingleTaskFit> {
        self.sampler.validate()?;
        let model = self.model()?;
        let (mode, mode_log_density) = self.mode(&model, (outputs, inputs), random, observe)?;
        let prior = model.prior().mixture(model.d_code())?;
        let parameters = model.parameters_as::<f64>();
        let target = CodeTarget::new(&model, &parameters, &prior, group(&model, outputs, inputs)?, None);
        let starts = Points::from_points(model.d_code(), std::slice::from_ref(&mode))?;
        let posterior = nuts_observed(&self.sampler, &target, &starts, random, observe)?;
        Ok(SingleTaskFit { posterior, mode, mode_log_density, model })
    }

    /// The best mode of the climbs, with the noise at its prior mean, and its log density.
    fn mode(
        &self,
        model: &System,
        (outputs, inputs): (&Signal, Option<&Signal>),
        random: &mut Random,
        observe: &Observer<'_>,
    ) -> Result<(Vec<f64>, f64)> {
        if self.restarts == 0 {
            return Err(Error::setting("restarts", "found 0; expected 1 or more"));
        }
        let quiet = self.clone().fix("noise", self.prior_of("noise")?.0).model()?;
        let prior = GaussianMixture::standard_normal(quiet.d_code())?;
        let parameters = quiet.parameters_as::<f64>();
        let target = CodeTarget::new(&quiet, &parameters, &prior, group(&quiet, outputs, inputs)?, None);
        let starts = prior.sample(self.restarts, random);
        let best = best_climbs(&target, &starts, CLIMB_ROUNDS, &mut |_| observe()).into_iter().next();
        let (found, log_density) = best.unwrap_or((vec![0.0; quiet.d_code()], f64::NEG_INFINITY));
        let noise = model.layout().block("noise").filter(|b| b.role == Role::Adapted).map(|b| b.slots());
        let mut mode = found;
        for slot in noise.unwrap_or(0..0) {
            mode.insert(slot, 0.0);
        }
        Ok((mode, log_density))
    }

    /// Infers, and forecasts the `horizon` steps after the outputs; data units.
    ///
    /// # Shapes
    /// `inputs`: at least (T + horizon) × m, from the first step of the sequence on.
    ///
    /// # Errors
    /// As [`SingleTask::infer`], and no steps to forecast.
    pub fn forecast(
        &self,
        outputs: &Signal,
        inputs: Option<&Signal>,
        horizon: usize,
        random: &mut Random,
    ) -> Result<(Forecast, SingleTaskFit)> {
        self.forecast_observed((outputs, inputs), horizon, random, &|| Control::Continue)
    }

    /// [`SingleTask::forecast`] that ends when `observe` says so, which chains ask before every gradient.
    ///
    /// # Errors
    /// As [`SingleTask::forecast`]; [`Error::Stopped`].
    pub(crate) fn forecast_observed(
        &self,
        (outputs, inputs): (&Signal, Option<&Signal>),
        horizon: usize,
        random: &mut Random,
        observe: &Observer<'_>,
    ) -> Result<(Forecast, SingleTaskFit)> {
        let fit = self.infer_observed((outputs, inputs), random, observe)?;
        let forecast = fit.model.forecast(&fit.posterior, outputs, inputs, horizon, random)?;
        Ok((forecast, fit))
    }
}

impl SingleTaskFit {
    /// Effective draws of the predicted mean of every output at steps 0 to `n_time`, n_time × p.
    ///
    /// Hidden states can be exchanged, so raw parameters mix slowly where predictions mix well; these tell what
    /// a forecast is worth. `None` where all draws predict the same.
    ///
    /// # Errors
    /// Inputs that are too short or of the wrong width.
    pub fn effective_predictions(&self, inputs: Option<&Signal>, n_time: usize) -> Result<Vec<Option<f64>>> {
        let draws = self.posterior.draws();
        let rollout = self.model.roll_out(draws, inputs, n_time)?;
        let row = rollout.outputs.len() / draws.len();
        let chains = self.posterior.diagnostics().chains.as_ref().map_or(1, |report| report.chains);
        let effective = |at: usize| {
            let means: Vec<f64> = rollout.outputs.chunks_exact(row).map(|r| r[at]).collect();
            effective_draws(&means.chunks_exact(draws.len() / chains).collect::<Vec<_>>())
        };
        Ok((0..row).map(effective).collect())
    }
}

/// The sequence in model units.
fn group(model: &System, outputs: &Signal, inputs: Option<&Signal>) -> Result<Group<f64>> {
    let inputs = inputs.map(|inputs| model.scaling().inputs_to_model(inputs)).transpose()?;
    model.group(&model.scaling().outputs_to_model(outputs)?, inputs.as_ref())
}
