//! Learning by the Monte-Carlo objective (Algorithm 1 of Bird & Williams 2020).
//!
//! ```text
//! L = Σ_i log (1/M) Σ_m p(Y_i | h_φ(z_m)),     z_m: shifted Sobol draws of N(0, I)
//! ∇L = Σ_i Σ_m w_im ∇ log p(Y_i | z_m),        w_im = p(Y_i | z_m) / Σ_m' p(Y_i | z_m')
//! ```
//! One rollout per particle serves every sequence that shares its inputs. The gradient either keeps all
//! weights, or resamples a few particles per sequence; particles that several sequences chose are rolled
//! out once. The loss is −L/N plus, if asked for, a prior on log s.

use serde::{Deserialize, Serialize};

use super::rules::{GroupRules, NoiseRule, NoiseSteps};
use super::{Objective, ParameterGroup, Schedule, StepReport};
use crate::base::emission::Batch;
use crate::family::Family;
use crate::random::{Random, ShiftedSobol};
use crate::system::{CodeScores, Codes, System, Weights};
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
pub struct MonteCarloObjective {
    model: System,
    batch: Batch<f32>,
    held_out: Option<Batch<f32>>,
    settings: MonteCarlo,
    sobol: ShiftedSobol,
    noise: NoiseSteps,
    /// Those of the last step; kept for their memory.
    scores: CodeScores,
}

impl MonteCarloObjective {
    /// Prepares learning of `model` from the sequences of `family`, watching those of `held_out`.
    ///
    /// Families are in data units; the model's scaling is applied here. Labels are not looked at.
    ///
    /// # Errors
    /// Widths that do not fit the model, rates for unknown blocks, settings out of range.
    pub fn new(
        model: System,
        family: &Family,
        held_out: Option<&Family>,
        settings: MonteCarlo,
    ) -> Result<Self> {
        check_settings(&model, &settings)?;
        let arrange =
            |family: &Family| -> Result<Batch<f32>> { Ok(model.batch(&model.in_model_units(family)?)) };
        let (batch, held_out) = (arrange(family)?, held_out.map(arrange).transpose()?);
        let sobol = ShiftedSobol::new(model.d_code())?;
        let noise = NoiseSteps::new(&model, &settings.noise, family);
        Ok(Self { model, batch, held_out, settings, sobol, noise, scores: CodeScores::default() })
    }

    /// The architecture that is being learned.
    #[must_use]
    pub fn model(&self) -> &System {
        &self.model
    }

    /// Loss and gradient for given particles and, with resampling, given uniforms (one per sequence and
    /// resampled particle).
    ///
    /// Writes the gradient of −L/N without the prior on log s.
    pub fn gradient_at(
        &mut self,
        parameters: &[f32],
        codes: &Codes,
        uniforms: &[f64],
        gradient: &mut [f32],
    ) -> MonteCarloStep {
        let scores = &mut self.scores;
        self.model.log_likelihoods_into(parameters, codes, &self.batch, scores);
        let (log_evidence, ess) = (scores.log_evidence().to_vec(), scores.ess().to_vec());
        let weights = match self.settings.carriers {
            Carriers::Weighted => Weights::Normalised(scores),
            Carriers::Resampled(per_sequence) => Weights::Resampled { scores, per_sequence, uniforms },
        };
        let found = self.model.gradient(parameters, codes, &self.batch, weights);
        gradient.iter_mut().zip(&found.parameters).for_each(|(g, d)| *g = -d);
        MonteCarloStep { log_evidence, ess, weighted_log_likelihood: found.weighted_log_likelihood }
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

impl Objective for MonteCarloObjective {
    fn groups(&self) -> Vec<ParameterGroup> {
        self.settings.rules().groups(&self.model, self.batch.n_seq)
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
        let n_seq = self.batch.n_seq as f64;
        let penalty = self.noise.penalise(parameters, gradient, step, (n_seq, 1.0));
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
        let scores = self.model.log_likelihoods(parameters, &codes, held_out);
        Ok(Some(scores.log_evidence().iter().sum::<f64>() / held_out.n_observed as f64))
    }

    fn state(&self) -> serde_json::Value {
        serde_json::Value::Null // the Sobol points are the same in every run; shifts come from `random`
    }

    fn restore(&mut self, _: &serde_json::Value) -> Result<()> {
        Ok(())
    }

    fn finish_step(&mut self, parameters: &mut [f32], step: u64) {
        self.noise.finish_step(parameters, step);
    }
}

impl MonteCarlo {
    fn rules(&self) -> GroupRules<'_> {
        GroupRules { rates: &self.rates, l2: self.l2, skip_l2: self.l2, noise: &self.noise }
    }
}

fn check_settings(model: &System, settings: &MonteCarlo) -> Result<()> {
    settings.rules().check(model)?;
    if settings.carriers == Carriers::Resampled(0) {
        return Err(Error::setting("carriers", "found 0 resampled particles; expected 1 or more"));
    }
    let particles = settings.particles.range().0.min(settings.validation_particles as f64);
    if particles < 1.0 {
        return Err(Error::setting("particles", format!("found {particles}; expected 1 or more")));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
