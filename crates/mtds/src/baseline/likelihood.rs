//! Maximum likelihood of a model without a code: the same parameters for every sequence.
//!
//! ```text
//! L = Σ_i log p(Y_i | θ)        loss = −L / N
//! ```
//! Computed in f64: one system at a time leaves the lanes of a pack empty, and where the fit is close to
//! perfect, small noise would cost f32 its digits. Groups of sequences are shared out in chunks of a fixed
//! size and added in order, so that the bits do not depend on the threads.

use rayon::prelude::*;

use super::spread::Residuals;
use crate::base::emission::{Batch, Group, Pull};
use crate::base::{Base, GroupInputs, Likelihood, Subject};
use crate::family::Family;
use crate::learn::{Objective, ParameterGroup, StepReport};
use crate::random::Random;
use crate::system::System;
use crate::{Error, Result};

/// Groups of sequences per unit of parallel work.
const CHUNK: usize = 16;
/// Smallest standard deviation of the emission, in model units: what f32 parameters can promise.
pub(crate) const LEAST_NOISE: f64 = 1e-5;

/// The objective: a model without a code and the sequences arranged for scoring.
#[derive(Debug)]
pub struct LikelihoodObjective {
    model: System,
    batch: Batch<f64>,
    held_out: Option<Batch<f64>>,
}

/// A log likelihood and its gradient with respect to θ.
struct Pulled {
    log_likelihood: f64,
    d_theta: Vec<f64>,
}

impl LikelihoodObjective {
    /// Prepares learning of `model` from the sequences of `family`, watching those of `held_out`, or else
    /// those of the family itself.
    ///
    /// Families are in data units; the model's scaling is applied here. Labels are not looked at.
    ///
    /// # Errors
    /// A model with a code or a front; widths that do not fit the model.
    pub fn new(model: System, family: &Family, held_out: Option<&Family>) -> Result<Self> {
        if model.d_code() != 0 {
            return Err(Error::shape("code of a model that all sequences share", 0, model.d_code()));
        }
        if model.spec().front.is_some() {
            return Err(Error::setting(
                "front",
                "a model for all sequences is learned without one; use its base model",
            ));
        }
        let arrange =
            |family: &Family| -> Result<Batch<f64>> { Ok(Batch::new(&model.scaling().apply(family)?)) };
        let (batch, held_out) = (arrange(family)?, held_out.map(arrange).transpose()?);
        Ok(Self { model, batch, held_out })
    }

    /// The architecture that is being learned.
    #[must_use]
    pub fn model(&self) -> &System {
        &self.model
    }

    /// The mean log likelihood of an observed value of the family, in nats and model units.
    #[must_use]
    pub fn log_likelihood(&self, parameters: &[f32]) -> f64 {
        self.total(parameters, &self.batch).log_likelihood / self.batch.n_observed as f64
    }

    /// What the watched sequences have, as [`LikelihoodObjective::log_likelihood`].
    pub(crate) fn watched(&self, parameters: &[f32]) -> f64 {
        let batch = self.held_out.as_ref().unwrap_or(&self.batch);
        self.total(parameters, batch).log_likelihood / batch.n_observed as f64
    }

    /// What the family leaves around these parameters, in model units.
    pub(crate) fn residuals(&self, parameters: &[f32]) -> Residuals {
        let (base, theta) = (self.model.base(), self.theta(parameters));
        let p = base.d_obs();
        let longest = self.batch.groups.iter().map(|group| group.n_time).max().unwrap_or(0);
        let mut residuals = Residuals::new(longest, p);
        for group in &self.batch.groups {
            let (inputs, mut trace) = (GroupInputs::<f64>::new(group), base.trace(group.n_time));
            base.roll_out(&theta, None, inputs.drive(group), &mut trace);
            let length = group.n_time * p;
            for (member, &pattern) in group.pattern_of.iter().enumerate() {
                for at in (0..length).filter(|&at| group.patterns[pattern][at]) {
                    residuals.add(at, group.by_member[member * length + at] - trace.outputs[at]);
                }
            }
        }
        residuals
    }

    fn theta(&self, parameters: &[f32]) -> Vec<f64> {
        let shared: Vec<f64> = parameters.iter().map(|&x| f64::from(x)).collect();
        let mut theta = vec![0.0; self.model.layout().d_theta()];
        self.model.layout().assemble(&[], &shared, &mut theta);
        theta
    }

    fn total(&self, parameters: &[f32], batch: &Batch<f64>) -> Pulled {
        let theta = self.theta(parameters);
        let chunk = |groups: &[Group<f64>]| {
            let mut sum = Pulled { log_likelihood: 0.0, d_theta: vec![0.0; theta.len()] };
            groups.iter().for_each(|group| pull(self.model.base(), &theta, group, &mut sum));
            sum
        };
        let parts: Vec<Pulled> = batch.groups.par_chunks(CHUNK).map(chunk).collect();
        let mut sum = Pulled { log_likelihood: 0.0, d_theta: vec![0.0; theta.len()] };
        for part in parts {
            sum.log_likelihood += part.log_likelihood;
            sum.d_theta.iter_mut().zip(&part.d_theta).for_each(|(s, d)| *s += d);
        }
        sum
    }
}

/// Adds the log likelihood of a group of sequences, and its gradient.
fn pull(base: &Base, theta: &[f64], group: &Group<f64>, sum: &mut Pulled) {
    let (inputs, mut likelihood) = (GroupInputs::<f64>::new(group), Likelihood::new(base, group));
    let of = Subject { base, theta, start: None, drive: inputs.drive(group), group };
    let weights = vec![1.0; group.n_members()];
    likelihood.run(of);
    sum.log_likelihood += likelihood.pull(of, Pull::Dense(&weights), (&mut sum.d_theta, &mut []));
}

impl Objective for LikelihoodObjective {
    fn groups(&self) -> Vec<ParameterGroup> {
        let group = |tensor: crate::generator::Tensor| ParameterGroup {
            range: tensor.range(),
            name: tensor.name,
            rate: 1.0,
            l2: 0.0,
        };
        self.model.tensors().into_iter().map(group).collect()
    }

    fn gradient(
        &mut self,
        parameters: &[f32],
        gradient: &mut [f32],
        _step: u64,
        _random: &mut Random,
    ) -> Result<StepReport> {
        let total = self.total(parameters, &self.batch);
        let mut d_shared = vec![0.0; parameters.len()];
        self.model.layout().assemble_adjoint(&total.d_theta, &mut [], &mut d_shared);
        let n_seq = self.batch.n_seq as f64;
        gradient.iter_mut().zip(d_shared).for_each(|(g, d)| *g = (-d / n_seq) as f32);
        let log_likelihood = total.log_likelihood;
        let bound = log_likelihood / self.batch.n_observed as f64;
        Ok(StepReport { loss: -log_likelihood / n_seq, bound, ess: None })
    }

    fn validate(&mut self, parameters: &[f32]) -> Result<Option<f64>> {
        Ok(Some(self.watched(parameters)))
    }

    fn state(&self) -> serde_json::Value {
        serde_json::Value::Null
    }

    fn restore(&mut self, _: &serde_json::Value) -> Result<()> {
        Ok(())
    }

    fn finish_step(&mut self, parameters: &mut [f32], _step: u64) {
        let noise = self.model.base().noise();
        let shared = self.model.layout().blocks().iter().filter(|b| b.role == crate::generator::Role::Shared);
        for block in shared.filter(|b| b.start == noise.range.start && b.spec.len > 0) {
            let log_std = &mut parameters[block.slot..block.slot + noise.d_obs];
            log_std.iter_mut().for_each(|x| *x = x.max(LEAST_NOISE.ln() as f32));
        }
    }
}
