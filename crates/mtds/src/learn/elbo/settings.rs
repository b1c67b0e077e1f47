//! Settings of variational learning.

use serde::{Deserialize, Serialize};

use super::CodeSearch;
use crate::generator::FeatureMap;
use crate::learn::rules::GroupRules;
use crate::learn::{NoiseRule, Schedule};
use crate::system::System;
use crate::{Error, Result};

/// Which bound, and how it is differentiated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Estimator {
    /// The evidence lower bound, its divergence in closed form.
    #[default]
    Elbo,
    /// The importance-weighted bound, tighter with more draws.
    ImportanceWeighted(WeightedGradient),
}

/// How the importance-weighted bound reaches the beliefs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WeightedGradient {
    /// Through the draws and through q: the gradient of the bound, whose signal fades in its noise as draws grow.
    Plain,
    /// Doubly reparameterised: the same on average, with less noise.
    #[default]
    DoublyReparameterised,
}

/// A first part of learning without divergence, at a fixed small deviation of every code: nearly a search for modes, in
/// which the code is free to take on whatever tells sequences apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HardPhase {
    /// Its length.
    pub steps: u64,
    /// σ throughout; the paper has 0.001, its published code 0.005.
    pub std_dev: f64,
    /// What happens at its end.
    pub ending: HardEnding,
}

/// The end of a hard phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HardEnding {
    /// Means are divided by their standard deviation over codes, dimension by dimension, and the generator's first
    /// weights multiplied by it: the model stays the same, its codes have the spread that the prior expects.
    #[default]
    Rescaled,
    /// Codes stay as they are.
    Unchanged,
}

/// Learning rate and penalty of one kind of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GroupRule {
    /// Factor on the learning rate.
    pub rate: f64,
    /// Coefficient λ of ½ λ ‖W‖² / N.
    pub l2: f64,
}

impl Default for GroupRule {
    fn default() -> Self {
        Self { rate: 1.0, l2: 0.0 }
    }
}

/// Settings of variational learning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Variational {
    /// Which bound is maximised.
    pub estimator: Estimator,
    /// Draws S per code and step, one at least.
    pub draws: usize,
    /// Codes per step, each once before any comes again; `None` for all. Adam's momentum moves the others along for a few steps more.
    pub batch: Option<usize>,
    /// Steps by which the beginning of a segment may be moved, either way, anew whenever it takes part; 0 for segments as they were cut.
    #[serde(skip_serializing_if = "is_none")]
    pub jitter: usize,
    /// Steps τ over which codes of one sequence's segments stay alike: neighbours' are correlated by e^(−steps between / τ); `None` where
    /// they know nothing of each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smooth: Option<f64>,
    /// Weight β of the divergence from the prior by step (annealing); 1 in the end.
    pub divergence_weight: Schedule,
    /// Temperature τ of the likelihood by step: below 1 where outputs are less independent than the model says.
    pub temperature: Schedule,
    /// The hard phase, if there is one.
    pub hard: Option<HardPhase>,
    /// Global searches for codes; beliefs that a network makes have none.
    pub search: Option<CodeSearch>,
    /// Standard deviation of the first means, and of every q where no hard phase sets it.
    pub first_std_dev: [f64; 2],
    /// Steps over which gradients flow back; `None` for whole sequences.
    pub window: Option<usize>,
    /// What moves log s.
    pub noise: NoiseRule,
    /// Learning-rate factors by block of θ; `front` for the network before the base model.
    pub rates: Vec<(String, f64)>,
    /// Rule of the generator φ; its penalty is on weight matrices.
    pub generator: GroupRule,
    /// Rule of the shared blocks; its penalty is on those that multiply a state or an input.
    pub shared: GroupRule,
    /// Rule of the network before the base model; its penalty is on weight matrices. Where it learns ten to fifty times slower than the
    /// rest, the code tells more (Bird & Williams 2020).
    pub front: GroupRule,
    /// Rule of the beliefs about codes, or of the network that makes them (penalty on its matrices).
    pub beliefs: GroupRule,
    /// Draws of the held-out bound.
    pub held_out_draws: usize,
}

impl Default for Variational {
    fn default() -> Self {
        let one = || Schedule::constant(1.0).expect("a literal number is finite");
        Self {
            estimator: Estimator::Elbo,
            draws: 16,
            batch: None,
            jitter: 0,
            smooth: None,
            divergence_weight: one(),
            temperature: one(),
            hard: None,
            search: None,
            first_std_dev: [0.01, 0.1],
            window: None,
            noise: NoiseRule::Learned,
            rates: vec![],
            generator: GroupRule::default(),
            shared: GroupRule::default(),
            front: GroupRule::default(),
            beliefs: GroupRule::default(),
            held_out_draws: 256,
        }
    }
}

impl Variational {
    pub(super) fn rules(&self) -> GroupRules<'_> {
        GroupRules {
            rates: &self.rates,
            l2: self.generator.l2,
            skip_l2: self.generator.l2,
            noise: &self.noise,
        }
    }

    /// Whether `step` belongs to the hard phase.
    pub(crate) fn is_hard(&self, step: u64) -> bool {
        self.hard.is_some_and(|hard| step <= hard.steps)
    }

    /// Standard deviation of every q at the start.
    pub(crate) fn start_std_dev(&self) -> f64 {
        self.hard.map_or(self.first_std_dev[1], |hard| hard.std_dev)
    }

    /// Checks the ranges, and that the model has what the settings speak of.
    pub(crate) fn check(&self, model: &System) -> Result<()> {
        self.rules().check(model)?;
        for (name, rule) in [
            ("generator", &self.generator),
            ("shared", &self.shared),
            ("front", &self.front),
            ("beliefs", &self.beliefs),
        ] {
            at_least_zero(&format!("{name}.rate"), rule.rate)?;
            at_least_zero(&format!("{name}.l2"), rule.l2)?;
        }
        if let Some(steps) = self.smooth {
            above_zero("smooth", steps)?;
            if self.estimator != Estimator::Elbo {
                let why =
                    format!("found {steps} with importance weights; only the evidence bound (elbo) has it");
                return Err(Error::setting("smooth", why));
            }
        }
        at_least_zero("divergence_weight", self.divergence_weight.range().0)?;
        at_least_zero("temperature", self.temperature.range().0)?;
        at_least_zero("first_std_dev", self.first_std_dev[0])?;
        above_zero("std_dev", self.start_std_dev())?;
        for (name, count) in [
            ("draws", Some(self.draws)),
            ("batch", self.batch),
            ("window", self.window),
            ("search.every", self.search.map(|search| search.every as usize)),
            ("held_out_draws", Some(self.held_out_draws)),
        ] {
            if count == Some(0) {
                return Err(Error::setting(name, "found 0; expected 1 or more"));
            }
        }
        let rescales = self.hard.is_some_and(|hard| hard.ending == HardEnding::Rescaled);
        if rescales && model.spec().network.features != FeatureMap::Identity {
            let why = "codes behind trigonometric features cannot be rescaled; set `ending` to `unchanged`";
            return Err(Error::setting("hard", why));
        }
        Ok(())
    }
}

fn is_none(steps: &usize) -> bool {
    *steps == 0
}

fn at_least_zero(name: &str, found: f64) -> Result<()> {
    if found.is_finite() && found >= 0.0 {
        return Ok(());
    }
    Err(Error::setting(name, format!("found {found}; expected 0 or more")))
}

fn above_zero(name: &str, found: f64) -> Result<()> {
    if found.is_finite() && found > 0.0 {
        return Ok(());
    }
    Err(Error::setting(name, format!("found {found}; expected above 0")))
}
