//! The posterior of one sequence by any method, with its evidence in the units of the data.

use super::Model;
use crate::family::Signal;
use crate::infer::{
    CodeTarget, MapLaplace, Method, Nuts, Observer, Online, Posterior, Proposed, nuts_observed,
};
use crate::learn::Control;
use crate::random::Random;
use crate::system::System;
use crate::{Error, Result};

/// Chains of NUTS: enough to see whether they agree.
const CHAINS: usize = 4;
/// Draws per chain that are thrown away.
const WARMUP: usize = 500;
/// Fewest draws that a summary is made of.
const FEWEST_DRAWS: usize = 1000;

/// A posterior, and log p(y) in the units of the data where the method estimates it.
#[derive(Clone, Debug)]
pub struct Inferred {
    /// What is known of the code.
    pub posterior: Posterior,
    /// log p(y_{1:t}).
    pub log_evidence: Option<f64>,
}

impl Model {
    /// What is known of the code of a sequence, given all of `outputs`.
    ///
    /// # Shapes
    /// `outputs`: n_time × d_obs; `inputs`: at least n_time × d_input; data units. `n_draws`: draws wanted, where the method
    /// has a say in it.
    ///
    /// # Errors
    /// Outputs or inputs of the wrong size, or not finite; [`Method::Amortised`] where no network was learned.
    pub fn infer(
        &self,
        (outputs, inputs): (&Signal, Option<&Signal>),
        method: Method,
        n_draws: usize,
        random: Random,
    ) -> Result<Inferred> {
        self.infer_observed((outputs, inputs), method, n_draws, random, &|| Control::Continue)
    }

    /// [`Model::infer`] that ends when `observe` says so, where the method takes long: [`Method::Nuts`] asks before every gradient.
    ///
    /// # Errors
    /// As [`Model::infer`]; [`Error::Stopped`].
    pub fn infer_observed(
        &self,
        given: (&Signal, Option<&Signal>),
        method: Method,
        n_draws: usize,
        random: Random,
        observe: &Observer<'_>,
    ) -> Result<Inferred> {
        self.infer_under(self.own(), given, method, n_draws, (random, observe))
    }

    /// The system that codes are those of.
    pub(super) fn own(&self) -> Under<'_> {
        Under { system: &self.system, online: &self.online }
    }

    /// [`Model::infer_observed`] under any of its systems.
    pub(super) fn infer_under(
        &self,
        Under { system, online }: Under<'_>,
        (outputs, inputs): (&Signal, Option<&Signal>),
        method: Method,
        n_draws: usize,
        (mut random, observe): (Random, &Observer<'_>),
    ) -> Result<Inferred> {
        let noise = online.noise;
        let of_own = |posterior: Posterior| {
            let log_evidence = posterior.log_evidence();
            (posterior, log_evidence)
        };
        let (posterior, log_evidence) = match method {
            Method::AdaptiveImportance => {
                let settings = online.with_few_updates(outputs.n_time());
                let mut tracker = system.track(outputs, inputs, settings, random)?;
                (tracker.update()?.clone(), tracker.log_evidence())
            }
            Method::MapLaplace => {
                of_own(system.infer_modes(outputs, inputs, noise, &by_modes(online), &mut random)?)
            }
            Method::Amortised => {
                let network = self.network.as_ref().ok_or_else(no_network)?;
                let settings = Proposed { draws: n_draws.max(FEWEST_DRAWS), ..Proposed::default() };
                of_own(system.infer_amortised(network, (outputs, inputs), noise, &settings, &mut random)?)
            }
            Method::Nuts => {
                let under = Under { system, online };
                (by_nuts(under, (outputs, inputs), (n_draws, &mut random), observe)?, None)
            }
        };
        let unit = system.scaling().log_unit(outputs);
        Ok(Inferred { posterior, log_evidence: log_evidence.map(|evidence| evidence - unit) })
    }
}

/// A system, and how codes are inferred under it.
#[derive(Clone, Copy)]
pub(super) struct Under<'a> {
    pub(super) system: &'a System,
    pub(super) online: &'a Online,
}

/// As many climbs and draws for modes as importance sampling has of them.
fn by_modes(online: &Online) -> MapLaplace {
    MapLaplace {
        starts: online.mode_starts.max(1),
        draws: online.importance.final_samples,
        min_ess: online.importance.min_ess,
        ..MapLaplace::default()
    }
}

/// Chains that start at draws of the modes, so that heavier ones have more.
fn by_nuts(
    Under { system, online }: Under<'_>,
    (outputs, inputs): (&Signal, Option<&Signal>),
    (n_draws, random): (usize, &mut Random),
    observe: &Observer<'_>,
) -> Result<Posterior> {
    let noise = online.noise;
    let modes = system.infer_modes(outputs, inputs, noise, &by_modes(online), random)?;
    let starts = modes.resample(CHAINS, random);
    let prior = noise.extend(&system.prior().mixture(system.d_code())?)?;
    let outputs = system.scaling().outputs_to_model(outputs)?;
    let inputs = inputs.map(|inputs| system.scaling().inputs_to_model(inputs)).transpose()?;
    let group = system.group(&outputs, inputs.as_ref())?;
    let parameters: Vec<f64> = system.parameters_as();
    let target = CodeTarget::new(system, &parameters, &prior, group, None);
    let draws = n_draws.max(FEWEST_DRAWS).div_ceil(CHAINS);
    let settings = Nuts { chains: CHAINS, warmup: WARMUP, draws, ..Nuts::default() };
    nuts_observed(&settings, &target, &starts, random, observe)
}

fn no_network() -> Error {
    let why = "found `amortised`, which needs an inference network, and this model was learned without one; \
               take another, or learn one with `amortised` among the settings of the fit";
    Error::setting("method", why)
}
