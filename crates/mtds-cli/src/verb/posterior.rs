//! The posterior of one sequence by any method, with its evidence in the units of the data.

use crate::arguments::MethodName;
use crate::plan::UsageError;
use anyhow::{Context, Result};
use mtds::infer::{CodeTarget, MapLaplace, Nuts, Online, Posterior, Proposed, nuts};
use mtds::learn::LearnedNetwork;
use mtds::random::Random;
use mtds::store::Model;
use mtds::{Signal, System};
use mtds_data::model::load_network;
use std::path::Path;

/// Chains of NUTS: enough to see whether they agree.
pub(super) const CHAINS: usize = 4;
/// Draws per chain that are thrown away.
const WARMUP: usize = 500;
/// Fewest draws that a summary is made of.
const FEWEST_DRAWS: usize = 1000;

/// How posteriors are found.
#[derive(Debug, Clone)]
pub(super) struct Inference {
    /// The method.
    pub(super) method: MethodName,
    /// What the fit chose for new members.
    pub(super) online: Online,
    /// Draws that are wanted.
    pub(super) n_draws: usize,
    /// The network of the amortised method.
    network: Option<LearnedNetwork>,
}

/// A posterior, and log p(y) in the units of the data where the method estimates it.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) posterior: Posterior,
    pub(super) log_evidence: Option<f64>,
}

/// Key of the settings in a model under which the fit keeps how codes of new members are inferred.
pub(super) const ONLINE_KEY: &str = "online";

/// How codes of new members are inferred: as the fit chose, or the usual way.
pub(super) fn online_of(bundle: &Model) -> Online {
    let chosen = bundle.provenance.settings.get(ONLINE_KEY);
    chosen.and_then(|value| serde_json::from_value(value.clone()).ok()).unwrap_or_default()
}

impl Inference {
    /// By this method, for the model that was loaded from the directory `path`.
    ///
    /// # Errors
    /// A [`UsageError`] where the method needs a network and the model has none; a network that cannot be read.
    pub(super) fn new(method: MethodName, path: &Path, bundle: &Model, n_draws: usize) -> Result<Self> {
        let network = match method {
            MethodName::Amortised => Some(load_network(path, bundle)?.ok_or_else(no_network)?),
            MethodName::Adais | MethodName::Nuts | MethodName::Map => None,
        };
        Ok(Self { method, online: online_of(bundle), n_draws, network })
    }

    /// The posterior of a sequence, given all of `outputs`.
    ///
    /// # Shapes
    /// `outputs`: n_time × d_obs; `inputs`: at least n_time × d_input; data units.
    ///
    /// # Errors
    /// Outputs or inputs of the wrong size, or not finite.
    pub(super) fn posterior(
        &self,
        model: &System,
        outputs: &Signal,
        inputs: Option<&Signal>,
        mut random: Random,
    ) -> Result<Found> {
        let (posterior, log_evidence) = match self.method {
            MethodName::Adais => {
                let settings = Online { every: self.every(outputs.n_time()), ..self.online.clone() };
                let tracker = model.track(outputs, inputs, settings, random)?;
                let posterior = tracker.posterior().context("a tracked sequence has a posterior")?;
                (posterior.clone(), tracker.log_evidence())
            }
            MethodName::Map => {
                let settings = MapLaplace::default();
                let posterior =
                    model.infer_modes(outputs, inputs, self.online.noise, &settings, &mut random)?;
                let log_evidence = posterior.log_evidence();
                (posterior, log_evidence)
            }
            MethodName::Amortised => {
                let network = self.network.as_ref().ok_or_else(no_network)?;
                let draws = self.n_draws.max(FEWEST_DRAWS);
                let settings = Proposed { draws, ..Proposed::default() };
                let given = (outputs, inputs);
                let posterior =
                    model.infer_amortised(network, given, self.online.noise, &settings, &mut random)?;
                let log_evidence = posterior.log_evidence();
                (posterior, log_evidence)
            }
            MethodName::Nuts => (self.by_nuts(model, outputs, inputs, &mut random)?, None),
        };
        let unit = model.scaling().log_unit(outputs);
        Ok(Found { posterior, log_evidence: log_evidence.map(|evidence| evidence - unit) })
    }

    /// Steps between updates where only the end matters: a few updates find the posterior more surely than one.
    fn every(&self, n_time: usize) -> usize {
        let few = n_time.div_ceil(4).max(10);
        self.online.history.map_or(few, |history| few.min(history / 2)).max(1)
    }

    /// Chains that start at draws of the modes, so that heavier ones have more.
    fn by_nuts(
        &self,
        model: &System,
        outputs: &Signal,
        inputs: Option<&Signal>,
        random: &mut Random,
    ) -> Result<Posterior> {
        let noise = self.online.noise;
        let modes = model.infer_modes(outputs, inputs, noise, &MapLaplace::default(), random)?;
        let starts = modes.resample(CHAINS, random);
        let prior = noise.extend(&model.prior().mixture(model.d_code())?)?;
        let outputs = model.scaling().outputs_to_model(outputs)?;
        let inputs = inputs.map(|inputs| model.scaling().inputs_to_model(inputs)).transpose()?;
        let group = model.group(&outputs, inputs.as_ref())?;
        let parameters: Vec<f64> = model.parameters().iter().map(|&x| f64::from(x)).collect();
        let target = CodeTarget::new(model, &parameters, &prior, group, None);
        let draws = self.n_draws.max(FEWEST_DRAWS).div_ceil(CHAINS);
        let settings = Nuts { chains: CHAINS, warmup: WARMUP, draws, ..Nuts::default() };
        Ok(nuts(&settings, &target, &starts, random)?)
    }
}

fn no_network() -> UsageError {
    UsageError::new(
        "--method",
        "`amortised` needs an inference network, and this model was learned without one",
        "another method; or learn one: mtds fit DATA -o OTHER --learn elbo --amortised",
    )
}
