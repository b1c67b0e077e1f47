//! Learning by the Monte-Carlo objective (Algorithm 1 of Bird & Williams 2020).
//!
//! ```text
//! L = Σ_i log (1/M) Σ_m p(Y_i | h_φ(z_m)),     z_m: shifted Sobol draws of N(0, I)
//! ∇L = Σ_i Σ_m w_im ∇ log p(Y_i | z_m),        w_im = p(Y_i | z_m) / Σ_m' p(Y_i | z_m')
//! ```
//! One rollout per particle serves every sequence that shares its inputs. The gradient either keeps all
//! weights, or resamples a few particles per sequence; particles that several sequences chose are rolled
//! out once. The loss is −L/N plus, if asked for, a prior on log s.

mod weigh;

use serde::{Deserialize, Serialize};

use super::{Objective, ParameterGroup, Schedule, StepReport};
use crate::base::BaseModel;
use crate::base::emission::Batch;
use crate::family::Family;
use crate::generator::Role;
use crate::model::{CodePacks, LogLikelihoods, Model, Weights};
use crate::random::{Random, ShiftedSobol};
use crate::{Error, Result};

/// Which particles carry the gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Carriers {
    /// All of them, by their weights: least variance.
    Weighted,
    /// This many per sequence, resampled by their weights (the paper's M_rsmp ≤ 5): least work.
    Resampled(usize),
}

/// What moves log s, the emission's log standard deviations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoiseRule {
    /// The likelihood alone.
    Learned,
    /// The likelihood and a prior N(mean, std_dev²), whose mean may be annealed (the paper's choice).
    Prior {
        /// Mean of log s by step.
        mean: Schedule,
        /// Its standard deviation.
        std_dev: f64,
    },
    /// log s is set to this by step.
    Scheduled(Schedule),
}

/// Settings of the Monte-Carlo objective.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MonteCarlo {
    /// Particles M by step.
    pub particles: Schedule,
    /// Which of them carry the gradient.
    pub carriers: Carriers,
    /// What moves log s.
    pub noise: NoiseRule,
    /// Coefficient λ of ½ λ ‖W‖² / N over the generator's weight matrices; biases are free.
    pub l2: f64,
    /// Learning-rate factors by block of θ, e.g. `("rotation", 0.1)`.
    pub rates: Vec<(String, f64)>,
    /// Particles for the held-out bound.
    pub validation_particles: usize,
}

impl Default for MonteCarlo {
    fn default() -> Self {
        let constant = |x| Schedule::constant(x).expect("a literal number is finite");
        Self {
            particles: constant(2048.0),
            carriers: Carriers::Weighted,
            noise: NoiseRule::Learned,
            l2: 0.0,
            rates: vec![],
            validation_particles: 8192,
        }
    }
}

/// The objective: a model's architecture, the sequences arranged for scoring, the settings.
#[derive(Debug)]
pub struct MonteCarloObjective<B> {
    model: Model<B>,
    batch: Batch<f32>,
    held_out: Option<Batch<f32>>,
    settings: MonteCarlo,
    sobol: ShiftedSobol,
    /// Scores of the last step; kept for its memory.
    table: LogLikelihoods,
}

impl<B: BaseModel> MonteCarloObjective<B> {
    /// Prepares learning of `model` from the sequences of `family`, watching those of `held_out`.
    ///
    /// Families are in data units; the model's scaling is applied here. Labels are not looked at.
    ///
    /// # Errors
    /// Widths that do not fit the model, rates for unknown blocks, settings out of range.
    pub fn new(
        model: Model<B>,
        family: &Family,
        held_out: Option<&Family>,
        settings: MonteCarlo,
    ) -> Result<Self> {
        check_settings(&model, &settings)?;
        let arrange =
            |family: &Family| -> Result<Batch<f32>> { Ok(Batch::new(&model.scaling().apply(family)?)) };
        let (batch, held_out) = (arrange(family)?, held_out.map(arrange).transpose()?);
        let sobol = ShiftedSobol::new(model.d_code())?;
        Ok(Self { model, batch, held_out, settings, sobol, table: LogLikelihoods::default() })
    }

    /// The architecture that is being learned.
    #[must_use]
    pub fn model(&self) -> &Model<B> {
        &self.model
    }

    /// Loss and gradient for given particles and, with resampling, given uniforms (one per sequence and
    /// resampled particle).
    ///
    /// Writes the gradient of −L/N without the prior on log s.
    pub fn gradient_at(
        &mut self,
        parameters: &[f32],
        codes: &CodePacks<f32>,
        uniforms: &[f64],
        gradient: &mut [f32],
    ) -> MonteCarloStep {
        let n_seq = self.batch.n_seq as f64;
        let scores = &mut self.table;
        self.model.log_likelihoods_into(parameters, codes, &self.batch, scores);
        let summary = weigh::summarise(scores);
        let found = match self.settings.carriers {
            Carriers::Weighted => {
                weigh::to_weights(scores, &summary, 1.0 / n_seq);
                self.model.gradient(parameters, codes, &self.batch, Weights::Dense(scores))
            }
            Carriers::Resampled(per_sequence) => {
                let chosen = weigh::resample(scores, &summary, per_sequence, uniforms);
                let codes = codes.select(&chosen.particles);
                self.model.gradient(parameters, &codes, &self.batch, Weights::Sparse(&chosen.pulls))
            }
        };
        gradient.iter_mut().zip(&found.parameters).for_each(|(g, d)| *g = -d);
        MonteCarloStep {
            log_evidence: summary.log_evidence,
            ess: summary.ess,
            weighted_log_likelihood: found.weighted_log_likelihood,
        }
    }

    /// Places of the log standard deviations in the parameter vector; empty unless they are shared.
    fn log_noise_places(&self) -> std::ops::Range<usize> {
        log_noise_places(&self.model)
    }

    /// −log N(log s | mean, std_dev²) / N up to a constant, and its gradient.
    fn noise_penalty(&self, parameters: &[f32], gradient: &mut [f32], step: u64) -> f64 {
        let NoiseRule::Prior { mean, std_dev } = &self.settings.noise else { return 0.0 };
        let (mean, n_seq) = (mean.value_at(step), self.batch.n_seq as f64);
        let mut penalty = 0.0;
        for at in self.log_noise_places() {
            let error = (f64::from(parameters[at]) - mean) / std_dev;
            gradient[at] += (error / std_dev / n_seq) as f32;
            penalty += 0.5 * error * error / n_seq;
        }
        penalty
    }
}

/// What one evaluation of the objective found.
#[derive(Clone, Debug)]
pub struct MonteCarloStep {
    /// log (1/M) Σ_m p(Y_i | z_m) of each sequence.
    pub log_evidence: Vec<f64>,
    /// Effective number of particles of each sequence.
    pub ess: Vec<f64>,
    /// (1/N) Σ_i of the carriers' weighted log likelihood: what the gradient is the gradient of.
    pub weighted_log_likelihood: f64,
}

impl<B: BaseModel> Objective for MonteCarloObjective<B> {
    fn groups(&self) -> Vec<ParameterGroup> {
        groups(&self.model, &self.settings, self.batch.n_seq)
    }

    fn gradient(
        &mut self,
        parameters: &[f32],
        gradient: &mut [f32],
        step: u64,
        random: &mut Random,
    ) -> Result<StepReport> {
        let particles = self.settings.particles.count_at(step).max(1);
        let codes = self.sobol.draw(particles, random);
        let uniforms = match self.settings.carriers {
            Carriers::Weighted => vec![],
            Carriers::Resampled(n) => {
                use rand::RngExt;
                (0..n * self.batch.n_seq).map(|_| random.random()).collect()
            }
        };
        let found = self.gradient_at(parameters, &codes, &uniforms, gradient);
        let total: f64 = found.log_evidence.iter().sum();
        let penalty = self.noise_penalty(parameters, gradient, step);
        let n_seq = self.batch.n_seq as f64;
        Ok(StepReport {
            loss: penalty - total / n_seq,
            bound: total / self.batch.n_observed as f64,
            ess: Some(found.ess.iter().sum::<f64>() / n_seq),
        })
    }

    fn validate(&mut self, parameters: &[f32]) -> Result<Option<f64>> {
        let Some(held_out) = &self.held_out else { return Ok(None) };
        let shift = vec![0.5; self.model.d_code()];
        let codes = self.sobol.shifted(self.settings.validation_particles, &shift);
        let summary = weigh::summarise(&self.model.log_likelihoods(parameters, &codes, held_out));
        Ok(Some(summary.log_evidence.iter().sum::<f64>() / held_out.n_observed as f64))
    }

    fn state(&self) -> serde_json::Value {
        serde_json::Value::Null // the Sobol points are the same in every run; shifts come from `random`
    }

    fn restore(&mut self, _: &serde_json::Value) -> Result<()> {
        Ok(())
    }

    fn finish_step(&mut self, parameters: &mut [f32], step: u64) {
        if let NoiseRule::Scheduled(schedule) = &self.settings.noise {
            parameters[self.log_noise_places()].fill(schedule.value_at(step) as f32);
        }
    }
}

fn log_noise_places<B: BaseModel>(model: &Model<B>) -> std::ops::Range<usize> {
    let noise = model.base().noise();
    let block = model.layout().blocks().iter().find(|b| b.start == noise.range.start && b.spec.len > 0);
    match block {
        Some(block) if block.role == Role::Shared => {
            let start = model.spec().network.n_parameters() + block.slot;
            start..start + noise.d_obs
        }
        _ => 0..0,
    }
}

fn check_settings<B: BaseModel>(model: &Model<B>, settings: &MonteCarlo) -> Result<()> {
    for (name, rate) in &settings.rates {
        if model.layout().block(name).is_none() {
            let known: Vec<_> = model.layout().blocks().iter().map(|b| b.spec.name).collect();
            return Err(Error::Unknown { kind: "block", name: name.clone(), known: known.join(", ") });
        }
        if !(rate.is_finite() && *rate >= 0.0) {
            return Err(Error::setting(
                format!("rate of `{name}`"),
                format!("found {rate}; expected 0 or more"),
            ));
        }
    }
    if settings.carriers == Carriers::Resampled(0) {
        return Err(Error::setting("carriers", "found 0 resampled particles; expected 1 or more"));
    }
    let particles = settings.particles.range().0.min(settings.validation_particles as f64);
    if particles < 1.0 {
        return Err(Error::setting("particles", format!("found {particles}; expected 1 or more")));
    }
    if !(settings.l2.is_finite() && settings.l2 >= 0.0) {
        return Err(Error::setting("l2", format!("found {}; expected 0 or more", settings.l2)));
    }
    if settings.noise != NoiseRule::Learned && log_noise_places(model).is_empty() {
        let why = "a rule for log s needs the block `noise` to be shared; let it be learned, or share it";
        return Err(Error::setting("noise", why));
    }
    match settings.noise {
        NoiseRule::Prior { std_dev, .. } if !(std_dev.is_finite() && std_dev > 0.0) => {
            Err(Error::setting("noise", format!("found standard deviation {std_dev}; expected above 0")))
        }
        _ => Ok(()),
    }
}

/// Every tensor is a group; those of the last layer are split by the block of θ that their rows feed.
fn groups<B: BaseModel>(model: &Model<B>, settings: &MonteCarlo, n_seq: usize) -> Vec<ParameterGroup> {
    let rate =
        |block: &str| settings.rates.iter().find(|(name, _)| name == block).map_or(1.0, |(_, r)| *r) as f32;
    let network = &model.spec().network;
    let n_phi = network.n_parameters();
    let mut groups = vec![];
    for tensor in model.tensors() {
        let l2 = if tensor.shape.len() == 2 { (settings.l2 / n_seq as f64) as f32 } else { 0.0 };
        let last =
            tensor.start < n_phi && tensor.shape[0] == network.d_out && feeds_theta(&tensor.name, network);
        if last {
            let columns = tensor.shape.get(1).copied().unwrap_or(1);
            for block in model.layout().blocks().iter().filter(|b| b.role == Role::Adapted && b.spec.len > 0)
            {
                let slots = block.slots();
                groups.push(ParameterGroup {
                    name: format!("{}/{}", tensor.name, block.spec.name),
                    range: tensor.start + slots.start * columns..tensor.start + slots.end * columns,
                    rate: rate(block.spec.name),
                    l2,
                });
            }
        } else {
            let block = tensor.name.strip_prefix("shared.").unwrap_or("");
            let scheduled = matches!(settings.noise, NoiseRule::Scheduled(_)) && block == "noise";
            let rate = if scheduled { 0.0 } else { rate(block) };
            groups.push(ParameterGroup { rate, l2, range: tensor.range(), name: tensor.name });
        }
    }
    groups
}

/// Whether the rows of a generator tensor are entries of θ.
fn feeds_theta(name: &str, network: &crate::generator::Network) -> bool {
    let last = format!("generator.{}.", network.hidden.len());
    name.starts_with(&last) || name.starts_with("generator.skip.")
}

#[cfg(test)]
mod tests;
