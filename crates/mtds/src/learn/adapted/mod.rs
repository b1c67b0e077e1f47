//! Learning with proposals adapted to each training sequence.
//!
//! ```text
//! L = Σ_i log (1/K) Σ_k p(Y_i | h_φ(z_ik)) p(z_ik) / r_i(z_ik),     z_ik ~ r_i
//! ∇L = Σ_i Σ_k w_ik ∇ log p(Y_i | h_φ(z_ik)),                       w_i: the normalised terms of the sum
//! ```
//! Algorithm 1 draws from the prior, which cannot resolve a posterior much narrower than itself, so its noise has to
//! be held high. Here every sequence has a proposal that follows its posterior as learning goes on; the bound
//! is the importance-weighted one (Burda, Grosse & Salakhutdinov 2016), without a network that proposes.

mod proposals;

use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use proposals::Proposal;

use super::rules::{GroupRules, NoiseRule, NoiseSteps};
use super::{Objective, ParameterGroup, StepReport};
use crate::engine::normalised;
use crate::family::Family;
use crate::random::{Random, ShiftedSobol, stream};
use crate::system::{Codes, Importance, OwnBatch, OwnPull, OwnWeights, System};
use crate::{Error, Result};
use proposals::Draws;

/// Seed of the random numbers that held-out bounds and first proposals are made with, the same in every call.
const FIXED: u64 = 0x6d74_6473;

/// Log of a weight, relative to the largest, that is taken for zero: products with numbers too small for the
/// normal range cost some processors a hundred times as much.
const LOG_NEGLIGIBLE: f64 = -28.0;

/// Settings of learning with adapted proposals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Adapted {
    /// Codes K per sequence and step.
    pub particles: usize,
    /// What moves log s.
    pub noise: NoiseRule,
    /// Coefficient λ of ½ λ ‖W‖² / N over the generator's weight matrices; biases are free.
    pub l2: f64,
    /// The same for the path beside the layers.
    pub skip_l2: f64,
    /// Learning-rate factors by block of θ.
    pub rates: Vec<(String, f64)>,
    /// Draws of the prior that the first proposals are made from.
    pub first_particles: usize,
    /// Rounds of adaptation that first and held-out proposals get, at fixed parameters.
    pub rounds: usize,
}

impl Default for Adapted {
    fn default() -> Self {
        Self {
            particles: 64,
            noise: NoiseRule::Learned,
            l2: 0.0,
            skip_l2: 0.0,
            rates: vec![],
            first_particles: 8192,
            rounds: 20,
        }
    }
}

impl Adapted {
    fn rules(&self) -> GroupRules<'_> {
        GroupRules { rates: &self.rates, l2: self.l2, skip_l2: self.skip_l2, noise: &self.noise }
    }
}

/// The objective: a model's architecture, the sequences, their proposals.
#[derive(Debug)]
pub struct AdaptedObjective {
    model: System,
    batch: OwnBatch,
    held_out: Option<OwnBatch>,
    settings: Adapted,
    sobol: ShiftedSobol,
    noise: NoiseSteps,
    proposals: Vec<Proposal>,
}

/// What one evaluation found.
#[derive(Clone, Debug)]
pub struct AdaptedStep {
    /// The bound of each sequence.
    pub log_evidence: Vec<f64>,
    /// Effective number of codes of each sequence.
    pub ess: Vec<f64>,
}

impl AdaptedObjective {
    /// Prepares learning of `model`; the first proposals are those of its present parameters.
    ///
    /// # Errors
    /// Widths that do not fit the model, rates for unknown blocks, settings out of range.
    pub fn new(model: System, family: &Family, held_out: Option<&Family>, settings: Adapted) -> Result<Self> {
        let n = family.n_seq();
        let prior = vec![Proposal::prior(model.d_code()); n];
        let mut objective = Self::from_proposals(model, family, held_out, settings, prior)?;
        let parameters = objective.model.parameters().to_vec();
        objective.proposals = objective.adapt(&parameters, &objective.batch.clone()).0;
        Ok(objective)
    }

    /// The same from proposals that are already known, one per sequence.
    ///
    /// # Errors
    /// As [`AdaptedObjective::new`], and another number or length of proposals.
    pub fn from_proposals(
        model: System,
        family: &Family,
        held_out: Option<&Family>,
        settings: Adapted,
        proposals: Vec<Proposal>,
    ) -> Result<Self> {
        settings.rules().check(&model)?;
        if settings.first_particles == 0 {
            return Err(Error::setting("first_particles", "found 0; expected 1 or more"));
        }
        let d_code = model.d_code();
        check_proposals(&proposals, family.n_seq(), d_code)?;
        let arrange = |family: &Family| -> Result<OwnBatch> {
            Ok(OwnBatch::for_model(&model, &model.in_model_units(family)?, None))
        };
        let (batch, held_out) = (arrange(family)?, held_out.map(arrange).transpose()?);
        let noise = NoiseSteps::new(&model, &settings.noise, family);
        let sobol = ShiftedSobol::new(d_code)?;
        Ok(Self { model, batch, held_out, settings, sobol, noise, proposals })
    }

    /// The present proposals, one per training sequence.
    #[must_use]
    pub fn proposals(&self) -> &[Proposal] {
        &self.proposals
    }

    /// Proposals for the held-out sequences at these parameters, as [`Objective::validate`] finds them.
    pub(crate) fn held_out_proposals(&mut self, parameters: &[f32]) -> Vec<Proposal> {
        let Some(held_out) = self.held_out.take() else { return vec![] };
        let (proposals, _) = self.adapt(parameters, &held_out);
        self.held_out = Some(held_out);
        proposals
    }

    /// Bound and gradient of −L/N for draws made with `seed`; moves the proposals.
    fn step(&mut self, parameters: &[f32], gradient: &mut [f32], seed: u64) -> AdaptedStep {
        let k = self.settings.particles.max(1);
        let draws = draw_all(&self.proposals, &mut self.sobol, k, seed);
        let codes = own_codes(&draws, k, self.model.d_code());
        let log_ratios: Vec<f64> = draws.iter().flat_map(|draws| &draws.log_ratios).copied().collect();
        let code_of: Vec<usize> = (0..draws.len()).collect();
        let weights = OwnWeights::Importance(Importance {
            temperature: 1.0,
            log_ratios: &log_ratios,
            code_of: &code_of,
            log_negligible: LOG_NEGLIGIBLE,
        });
        let found = self.model.own_gradient(parameters, &codes, &self.batch, OwnPull::Parameters(weights));
        let scale = -1.0 / self.batch.n_seq() as f32;
        gradient.iter_mut().zip(&found.parameters).for_each(|(g, d)| *g = scale * d);
        let weights = found.weights.par_chunks_exact(k).zip(&draws);
        self.proposals.par_iter_mut().zip(weights).for_each(|(proposal, (weights, draws))| {
            proposal.follow_slowly(&draws.codes, weights);
        });
        summarise(&found.log_likelihoods, &found.weights, &draws, k)
    }

    /// Proposals and bounds of other sequences at these parameters: from the prior, then round by round.
    fn adapt(&mut self, parameters: &[f32], batch: &OwnBatch) -> (Vec<Proposal>, AdaptedStep) {
        let mut proposals = vec![Proposal::prior(self.model.d_code()); batch.n_seq()];
        let mut found =
            self.adapt_once(parameters, batch, &mut proposals, (self.settings.first_particles, 1.0), 0);
        for round in 1..=self.settings.rounds as u64 {
            let rate = if round == 1 { 1.0 } else { 0.7 };
            let k = 2 * self.settings.particles;
            found = self.adapt_once(parameters, batch, &mut proposals, (k, rate), round);
        }
        (proposals, found)
    }

    fn adapt_once(
        &mut self,
        parameters: &[f32],
        batch: &OwnBatch,
        proposals: &mut [Proposal],
        (particles, rate): (usize, f64),
        round: u64,
    ) -> AdaptedStep {
        let k = particles.max(1);
        let draws = draw_all(proposals, &mut self.sobol, k, FIXED + round);
        let codes = own_codes(&draws, k, self.model.d_code());
        let found = self.model.own_gradient(parameters, &codes, batch, OwnPull::Nothing);
        let mut weights = vec![0.0; found.log_likelihoods.len()];
        for (i, w) in weights.chunks_exact_mut(k).enumerate() {
            let likelihoods = &found.log_likelihoods[i * k..(i + 1) * k];
            normalised(likelihoods, &draws[i].log_ratios, (1.0, LOG_NEGLIGIBLE), w);
            proposals[i].follow(&draws[i].codes, w, rate);
        }
        summarise(&found.log_likelihoods, &weights, &draws, k)
    }
}

/// One finite proposal of `d_code` dimensions per sequence.
fn check_proposals(proposals: &[Proposal], n_seq: usize, d_code: usize) -> Result<()> {
    let fits = |q: &Proposal| q.mean.len() == d_code && q.covariance.len() == d_code * d_code;
    if proposals.len() != n_seq || !proposals.iter().all(fits) {
        let expected = format!("{n_seq} of {d_code} dimensions");
        return Err(Error::shape("proposals", expected, format!("{}, or other dimensions", proposals.len())));
    }
    let mut values = proposals.iter().flat_map(|q| q.mean.iter().chain(&q.covariance));
    match values.find(|x| !x.is_finite()) {
        Some(&value) => Err(Error::NotFinite { what: "proposal".into(), value, hint: "" }),
        None => Ok(()),
    }
}

/// Draws of every sequence, each with its own shift of the same points.
fn draw_all(proposals: &[Proposal], sobol: &mut ShiftedSobol, k: usize, seed: u64) -> Vec<Draws> {
    let points = sobol.unit_points(k);
    let work = proposals.par_iter().enumerate();
    work.map(|(i, proposal)| {
        let mut random = stream(seed, i as u64);
        let shift: Vec<f64> = proposal.mean.iter().map(|_| random.random()).collect();
        let moved = |(at, u): (usize, &f32)| {
            let u = f64::from(*u) + shift[at % shift.len()];
            (u - u.floor()).clamp(3e-8, 1.0 - 3e-8)
        };
        let uniforms: Vec<f64> = points.iter().enumerate().map(moved).collect();
        proposal.draw(&uniforms)
    })
    .collect()
}

fn own_codes(draws: &[Draws], k: usize, d_code: usize) -> Codes {
    Codes::from_fn(draws.len() * k, d_code, |m, d| draws[m / k].codes[m % k * d_code + d])
}

fn summarise(likelihoods: &[f64], weights: &[f64], draws: &[Draws], k: usize) -> AdaptedStep {
    let mut step = AdaptedStep { log_evidence: vec![], ess: vec![] };
    for (i, draws) in draws.iter().enumerate() {
        let ours = i * k..(i + 1) * k;
        let terms: Vec<f64> =
            likelihoods[ours.clone()].iter().zip(&draws.log_ratios).map(|(l, r)| l + r).collect();
        let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = terms.iter().map(|t| (t - largest).exp()).sum();
        step.log_evidence.push(largest + (sum / k as f64).ln());
        step.ess.push(1.0 / weights[ours].iter().map(|w| w * w).sum::<f64>());
    }
    step
}

impl Objective for AdaptedObjective {
    fn groups(&self) -> Vec<ParameterGroup> {
        self.settings.rules().groups(&self.model, self.batch.n_seq())
    }

    fn gradient(
        &mut self,
        parameters: &[f32],
        gradient: &mut [f32],
        step: u64,
        random: &mut Random,
    ) -> Result<StepReport> {
        let found = self.step(parameters, gradient, random.random());
        let n_seq = self.batch.n_seq() as f64;
        let penalty = self.noise.penalise(parameters, gradient, step, (n_seq, 1.0));
        let total: f64 = found.log_evidence.iter().sum();
        Ok(StepReport {
            loss: penalty - total / n_seq,
            bound: total / self.batch.n_observed as f64,
            ess: Some(found.ess.iter().sum::<f64>() / n_seq),
        })
    }

    fn validate(&mut self, parameters: &[f32]) -> Result<Option<f64>> {
        let Some(held_out) = self.held_out.take() else { return Ok(None) };
        let (_, found) = self.adapt(parameters, &held_out);
        let n_observed = held_out.n_observed as f64;
        self.held_out = Some(held_out);
        Ok(Some(found.log_evidence.iter().sum::<f64>() / n_observed))
    }

    fn state(&self) -> serde_json::Value {
        serde_json::to_value(&self.proposals).unwrap_or_default()
    }

    fn restore(&mut self, state: &serde_json::Value) -> Result<()> {
        let stored: Vec<Proposal> = serde_json::from_value(state.clone()).map_err(|why| Error::Store {
            file: "checkpoint".into(),
            why: format!("it has no proposals: {why}"),
        })?;
        check_proposals(&stored, self.proposals.len(), self.model.d_code())?;
        self.proposals = stored;
        Ok(())
    }

    fn finish_step(&mut self, parameters: &mut [f32], step: u64) {
        self.noise.finish_step(parameters, step);
    }
}

#[cfg(test)]
mod tests;
