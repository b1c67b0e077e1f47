//! A learned network as a quick posterior.
//!
//! ```text
//! q = N(μ, diag σ²) of the network          draws ~ (1 − δ) q + δ p(z), weighed against the exact posterior
//! ```
//! Weights need one likelihood per draw. They give the evidence, and they say by their effective number how far the
//! network can be trusted for this sequence.

use serde::{Deserialize, Serialize};

use super::network::{InferenceNetwork, Pass, Reading};
use crate::family::Signal;
use crate::infer::{CodeTarget, GaussianMixture, NoiseBelief, Posterior, Proposed, proposed};
use crate::random::Random;
use crate::system::System;
use crate::{Error, Result};

/// A network with its weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts")]
pub struct LearnedNetwork {
    network: InferenceNetwork,
    parameters: Vec<f32>,
}

/// Stored form, checked on the way in.
#[derive(Deserialize)]
struct Parts {
    network: InferenceNetwork,
    parameters: Vec<f32>,
}

impl TryFrom<Parts> for LearnedNetwork {
    type Error = Error;

    fn try_from(parts: Parts) -> Result<Self> {
        Self::new(parts.network, parts.parameters)
    }
}

impl LearnedNetwork {
    /// A network with weights, e.g. [`VariationalObjective::beliefs_at`](crate::learn::VariationalObjective::beliefs_at)
    /// of a run's outcome.
    ///
    /// # Errors
    /// Another number of weights, or one that is not finite.
    pub fn new(network: InferenceNetwork, parameters: Vec<f32>) -> Result<Self> {
        if parameters.len() != network.n_parameters() {
            return Err(Error::shape("inference network", network.n_parameters(), parameters.len()));
        }
        if let Some(&value) = parameters.iter().find(|w| !w.is_finite()) {
            let what = "weight of an inference network".into();
            return Err(Error::NotFinite { what, value: f64::from(value), hint: "" });
        }
        Ok(Self { network, parameters })
    }

    /// The architecture.
    #[must_use]
    pub fn network(&self) -> &InferenceNetwork {
        &self.network
    }

    /// The weights, in the order of [`InferenceNetwork::tensors`].
    #[must_use]
    pub fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// q of a sequence in data units.
    ///
    /// # Errors
    /// Outputs or inputs of the wrong size, infinite outputs, a network for other codes.
    pub fn belief(
        &self,
        model: &System,
        outputs: &Signal,
        inputs: Option<&Signal>,
    ) -> Result<GaussianMixture> {
        self.network.check_code(model.d_code())?;
        let outputs = model.scaling().outputs_to_model(outputs)?;
        let inputs = inputs.map(|u| model.scaling().inputs_to_model(u)).transpose()?;
        let reading = Reading::new(&self.network, &outputs, inputs.as_ref())?;
        self.network.forward(&self.parameters, &[&reading], &mut Pass::default())?.mixture(0)
    }
}

impl System {
    /// Posterior of a whole sequence (data units) from what a network believes, corrected by importance weights if
    /// the settings ask for it. An uncertain noise is proposed from its prior.
    ///
    /// # Errors
    /// Settings out of range; outputs or inputs of the wrong size; a network of another model.
    pub fn infer_amortised(
        &self,
        network: &LearnedNetwork,
        (outputs, inputs): (&Signal, Option<&Signal>),
        noise: NoiseBelief,
        settings: &Proposed,
        random: &mut Random,
    ) -> Result<Posterior> {
        let belief = noise.extend(&network.belief(self, outputs, inputs)?)?;
        let prior = noise.extend(&self.prior().mixture(self.d_code())?)?;
        let outputs = self.scaling().outputs_to_model(outputs)?;
        let inputs = inputs.map(|u| self.scaling().inputs_to_model(u)).transpose()?;
        let group = self.group(&outputs, inputs.as_ref())?;
        let parameters = self.parameters_as::<f32>();
        let target = CodeTarget::new(self, &parameters, &prior, group, None);
        proposed(settings, &target, &belief, &prior, random)
    }
}
