//! What every objective over a model has in common: groups of parameters, and what moves log s.
//!
//! ```text
//! prior       adds −log N(log s | m, σ²) / N to the loss
//! scheduled   log s ← a number by step
//! matched     log s ← max(floor, log s + κ ½ log (r² / s²)),    r²: the weighted mean square of the residuals
//! ```
//! The third is a damped step of expectation maximisation; r² is read off the gradient with respect to log s,
//! which is Σ r²/s² − n.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{ParameterGroup, Schedule};
use crate::base::emission::NoiseForm;
use crate::engine::resident::MatchedNoise;
use crate::family::Family;
use crate::generator::{Network, Role};
use crate::system::System;
use crate::{Error, Result};

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
    /// s follows the residuals, no faster than `damping` per step and never below the floor.
    Matched {
        /// Part κ of the way that one step goes, above 0, at most 1.
        damping: f64,
        /// Least log s by step.
        floor: Schedule,
    },
}

/// Learning rates, penalties and the rule for log s.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupRules<'a> {
    /// Learning-rate factors by block of θ; `front` for the network before the base model.
    pub(super) rates: &'a [(String, f64)],
    /// Coefficient λ of ½ λ ‖W‖² / N over weight matrices.
    pub(super) l2: f64,
    /// The same for the path beside the layers.
    pub(super) skip_l2: f64,
    /// What moves log s.
    pub(super) noise: &'a NoiseRule,
}

impl GroupRules<'_> {
    /// Checks the ranges, and that the model has what the rules speak of.
    pub(super) fn check(&self, model: &System) -> Result<()> {
        for (name, rate) in self.rates {
            let is_front = name == FRONT && model.spec().front.is_some();
            if model.layout().block(name).is_none() && !is_front {
                let mut known: Vec<_> = model.layout().blocks().iter().map(|b| b.spec.name).collect();
                known.extend(model.spec().front.map(|_| FRONT));
                return Err(Error::Unknown { kind: "block", name: name.clone(), known: known.join(", ") });
            }
            not_negative(&format!("rate of `{name}`"), *rate)?;
        }
        not_negative("l2", self.l2)?;
        not_negative("skip_l2", self.skip_l2)?;
        if *self.noise != NoiseRule::Learned && log_noise_places(model).is_empty() {
            let why = "a rule for log s needs the block `noise` to be shared; let it be learned, or share it";
            return Err(Error::setting("noise", why));
        }
        match *self.noise {
            NoiseRule::Prior { std_dev, .. } if !(std_dev.is_finite() && std_dev > 0.0) => {
                Err(Error::setting("noise", format!("found standard deviation {std_dev}; expected above 0")))
            }
            NoiseRule::Matched { damping, .. } if !(damping > 0.0 && damping <= 1.0) => {
                Err(Error::setting("noise", format!("found damping {damping}; expected above 0, at most 1")))
            }
            NoiseRule::Matched { .. } if model.base().noise().form != NoiseForm::Diagonal => Err(
                Error::setting("noise", "matching residuals needs diagonal noise; let full noise be learned"),
            ),
            _ => Ok(()),
        }
    }

    /// Every tensor is a group; those of the last layer are split by the block of θ that their rows feed.
    pub(super) fn groups(&self, model: &System, n_seq: usize) -> Vec<ParameterGroup> {
        let network = &model.spec().network;
        let n_phi = network.n_parameters();
        let mut groups = vec![];
        for tensor in model.tensors() {
            let l2 = match tensor.shape.len() {
                2 if tensor.name == SKIP => self.skip_l2,
                2 => self.l2,
                _ => 0.0,
            };
            let l2 = (l2 / n_seq as f64) as f32;
            if tensor.start < n_phi && feeds_theta(&tensor.name, network) {
                let columns = tensor.shape.get(1).copied().unwrap_or(1);
                for block in model.layout().blocks() {
                    if block.role == Role::Adapted && block.spec.len > 0 {
                        let slots = block.slots();
                        groups.push(ParameterGroup {
                            name: format!("{}/{}", tensor.name, block.spec.name),
                            range: tensor.start + slots.start * columns..tensor.start + slots.end * columns,
                            rate: self.rate(block.spec.name),
                            l2,
                        });
                    }
                }
            } else {
                let is_front = tensor.name.starts_with("front.");
                let block = if is_front { FRONT } else { tensor.name.strip_prefix("shared.").unwrap_or("") };
                let set = matches!(self.noise, NoiseRule::Scheduled(_) | NoiseRule::Matched { .. });
                let rate = if set && block == "noise" { 0.0 } else { self.rate(block) };
                groups.push(ParameterGroup { rate, l2, range: tensor.range(), name: tensor.name });
            }
        }
        groups
    }

    fn rate(&self, block: &str) -> f32 {
        self.rates.iter().find(|(name, _)| name == block).map_or(1.0, |(_, rate)| *rate) as f32
    }
}

/// Name of the parameters before the base model, where rates are given.
const FRONT: &str = "front";

/// Name of the weights beside the layers.
const SKIP: &str = "generator.skip.weight";

/// Whether the rows of a generator tensor are entries of θ.
fn feeds_theta(name: &str, network: &Network) -> bool {
    name.starts_with(&format!("generator.{}.", network.hidden.len())) || name == SKIP
}

/// Whether a block of θ multiplies a state or an input. Only there a pull to 0 means "less of it": other raw values are log deviations,
/// biases, first states, or stand for rates and angles.
pub(super) fn holds_weights(block: &str) -> bool {
    let is_kind =
        |kind: &&str| block.strip_suffix(*kind).is_some_and(|of| of.is_empty() || of.ends_with('_'));
    ["emission", "feedthrough"].contains(&block) || ["input", "recurrent"].iter().any(is_kind)
}

fn not_negative(name: &str, found: f64) -> Result<()> {
    if found.is_finite() && found >= 0.0 {
        return Ok(());
    }
    Err(Error::setting(name, format!("found {found}; expected 0 or more")))
}

/// Places of the log standard deviations in the parameter vector; empty unless they are shared.
pub(super) fn log_noise_places(model: &System) -> Range<usize> {
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

/// The rule for log s at work.
#[derive(Clone, Debug)]
pub(super) struct NoiseSteps {
    rule: NoiseRule,
    places: Range<usize>,
    /// Observed values per output.
    counts: Vec<f64>,
    /// r²/s² per output at the last gradient.
    residual: Vec<f64>,
}

impl NoiseSteps {
    /// For learning `model` from `family`.
    pub(super) fn new(model: &System, rule: &NoiseRule, family: &Family) -> Self {
        let mut counts = vec![0.0; family.d_obs()];
        for row in family.sequences().iter().flat_map(|s| s.outputs().rows()) {
            for (count, y) in counts.iter_mut().zip(row) {
                *count += f64::from(u8::from(y.is_finite()));
            }
        }
        let residual = vec![1.0; counts.len()];
        Self { rule: rule.clone(), places: log_noise_places(model), counts, residual }
    }

    /// Adds the penalty on log s to `gradient`, that of the loss −L/N, and returns it; or, where log s follows the
    /// residuals, takes their size out of the gradient. `temperature` is that of the likelihood.
    pub(super) fn penalise(
        &mut self,
        parameters: &[f32],
        gradient: &mut [f32],
        step: u64,
        (n_seq, temperature): (f64, f64),
    ) -> f64 {
        let mut penalty = 0.0;
        for (d, at) in self.places.clone().enumerate() {
            match &self.rule {
                NoiseRule::Learned | NoiseRule::Scheduled(_) => {}
                NoiseRule::Prior { mean, std_dev } => {
                    let error = (f64::from(parameters[at]) - mean.value_at(step)) / std_dev;
                    gradient[at] += (error / std_dev / n_seq) as f32;
                    penalty += 0.5 * error * error / n_seq;
                }
                NoiseRule::Matched { .. } => {
                    let excess = -f64::from(std::mem::take(&mut gradient[at])) * n_seq
                        / temperature.max(f64::MIN_POSITIVE);
                    self.residual[d] = 1.0 + excess / self.counts[d].max(1.0);
                }
            }
        }
        penalty
    }

    /// What an engine needs to let log s follow the residuals, where it does.
    pub(super) fn matched(&self) -> Option<MatchedNoise> {
        match self.rule {
            NoiseRule::Matched { damping, .. } => {
                Some(MatchedNoise { places: self.places.clone(), counts: self.counts.clone(), damping })
            }
            _ => None,
        }
    }

    /// Least log s at a step, where it follows the residuals; else any.
    pub(super) fn floor(&self, step: u64) -> f64 {
        match &self.rule {
            NoiseRule::Matched { floor, .. } => floor.value_at(step),
            _ => f64::NEG_INFINITY,
        }
    }

    /// Sets log s where a rule does, after the optimiser's step.
    pub(super) fn finish_step(&self, parameters: &mut [f32], step: u64) {
        for (d, at) in self.places.clone().enumerate() {
            match &self.rule {
                NoiseRule::Learned | NoiseRule::Prior { .. } => {}
                NoiseRule::Scheduled(schedule) => parameters[at] = schedule.value_at(step) as f32,
                NoiseRule::Matched { damping, floor } => {
                    // A single step never more than halves or doubles s, however far off it is.
                    let move_by = (0.5 * self.residual[d].max(f64::MIN_POSITIVE).ln()).clamp(-0.7, 0.7);
                    let matched = f64::from(parameters[at]) + damping * move_by;
                    parameters[at] = matched.max(floor.value_at(step)) as f32;
                }
            }
        }
    }
}
