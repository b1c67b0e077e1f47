//! A tracker between two observations as plain data: saved and restored, it goes on to the same bits.
//!
//! ```text
//! state = settings · random generator · anchor (prior, carried state) and the next
//!         · outputs and inputs since the anchor · posterior of the last update
//! ```
//! The model is no part of it. What is stored is checked on the way in: sizes against the model, all numbers for
//! being finite. Missing outputs and an evidence of zero (log −∞) have no number in JSON, so they are `None`.

use serde::{Deserialize, Serialize};

use super::carried::CarriedState;
use super::online::Anchor;
use super::{GaussianMixture, NoiseBelief, Online, Posterior, Tracker};
use crate::random::Random;
use crate::system::{FrontState, System};
use crate::{Error, Result};

/// All that a [`Tracker`] knows besides its model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrackerState {
    settings: Online,
    random: Random,
    anchor: StoredAnchor,
    next_anchor: Option<StoredAnchor>,
    /// Model units, row by row; `None` where missing.
    outputs: Vec<Option<f64>>,
    /// What drives the base model.
    inputs: Vec<f64>,
    /// Where the front is; `None` without one, or before the first step.
    #[serde(default)]
    front: Option<Vec<f32>>,
    #[serde(default)]
    seed_inputs: Vec<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    functions: Vec<f64>,
    posterior: Option<Posterior>,
    known: usize,
    evidence_before: Option<f64>,
}

/// An anchor; `None` is an evidence of zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredAnchor {
    step: usize,
    prior: GaussianMixture,
    state: Option<CarriedState>,
    log_evidence: Option<f64>,
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

impl StoredAnchor {
    fn of(anchor: &Anchor) -> Self {
        let Anchor { step, prior, state, log_evidence } = anchor.clone();
        Self { step, prior, state, log_evidence: finite(log_evidence) }
    }

    fn restore(self) -> Anchor {
        let Self { step, prior, state, log_evidence } = self;
        Anchor { step, prior, state, log_evidence: log_evidence.unwrap_or(f64::NEG_INFINITY) }
    }

    fn check(&self, sizes: &Sizes) -> Result<()> {
        check_dim("prior of the tracker's state", sizes.dim, self.prior.dim())?;
        if let Some(value) = self.log_evidence {
            check_finite("log evidence of the tracker's state", &[value])?;
        }
        match &self.state {
            Some(state) => state.check(sizes.d_code, sizes.d_state),
            None if self.step == 0 => Ok(()),
            None => Err(Error::shape("tracker's state", "a carried state where the past is dropped", "none")),
        }
    }
}

/// Sizes that a state must have.
struct Sizes {
    d_code: usize,
    /// Of what is inferred: the code, perhaps with the noise.
    dim: usize,
    /// Of what is known of a state.
    d_state: usize,
    d_obs: usize,
    d_input: usize,
    /// Units of the front, inputs and steps that it encodes; 0 without one.
    front: usize,
    seed_inputs: usize,
    /// Of what what is left over depends on, by step.
    functions: usize,
}

impl Sizes {
    fn of(model: &System, settings: &Online) -> Self {
        let (base, d_code) = (model.base(), model.d_code());
        let noise = usize::from(matches!(settings.noise, NoiseBelief::Uncertain { .. }));
        Self {
            d_code,
            dim: d_code + noise,
            d_state: base.d_belief(),
            d_obs: base.d_obs(),
            d_input: base.d_input(),
            front: model.spec().front.map_or(0, |front| front.d_hidden),
            seed_inputs: model.seed_steps() * model.d_input(),
            functions: model.spec().remainder.map_or(0, |remainder| remainder.width()),
        }
    }
}

fn check_dim(what: &str, expected: usize, found: usize) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    Err(Error::shape(what, format!("{expected} dimensions, as the model has"), found))
}

fn check_finite(what: &str, values: &[f64]) -> Result<()> {
    match values.iter().find(|value| !value.is_finite()) {
        Some(&value) => Err(Error::NotFinite { what: what.into(), value, hint: "" }),
        None => Ok(()),
    }
}

impl TrackerState {
    /// Observations so far.
    #[must_use]
    pub fn n_observed_steps(&self, d_obs: usize) -> usize {
        self.anchor.step + self.outputs.len() / d_obs.max(1)
    }

    /// The same without the draws of the posterior, which are most of it. The next update starts from the mixture and goes on to the same bits; a
    /// forecast before the next observation would know no more than the mean.
    #[must_use]
    pub fn without_draws(self) -> Self {
        Self { posterior: self.posterior.map(Posterior::without_draws), ..self }
    }

    fn check(&self, sizes: &Sizes) -> Result<()> {
        self.settings.validate()?;
        self.check_history(sizes)?;
        std::iter::once(&self.anchor).chain(&self.next_anchor).try_for_each(|a| a.check(sizes))?;
        self.check_order(sizes)?;
        if let Some(value) = self.evidence_before {
            check_finite("log evidence of the tracker's state", &[value])?;
        }
        let Some(posterior) = &self.posterior else { return Ok(()) };
        check_dim("posterior of the tracker's state", sizes.dim, posterior.dim())?;
        if let Some(mixture) = posterior.mixture() {
            check_dim("mixture of the tracker's state", sizes.dim, mixture.dim())?;
        }
        check_finite("posterior of the tracker's state", posterior.draws().values())?;
        check_finite("posterior of the tracker's state", posterior.log_evidence().as_slice())
    }

    fn check_history(&self, sizes: &Sizes) -> Result<()> {
        let n = self.outputs.len() / sizes.d_obs;
        if self.outputs.len() != n * sizes.d_obs || self.inputs.len() != n * sizes.d_input {
            let expected = format!("{} outputs and {} inputs per step", sizes.d_obs, sizes.d_input);
            let found = format!("{} and {} in all", self.outputs.len(), self.inputs.len());
            return Err(Error::shape("history of the tracker's state", expected, found));
        }
        if self.functions.len() != n * sizes.functions {
            let expected = format!("{} per step", sizes.functions);
            return Err(Error::shape("functions of the tracker's state", expected, self.functions.len()));
        }
        check_finite("stored functions", &self.functions)?;
        let front = self.front.as_ref().map_or(sizes.front, Vec::len);
        if front != sizes.front || self.seed_inputs.len() > sizes.seed_inputs {
            let expected = format!("{} units and at most {} inputs", sizes.front, sizes.seed_inputs);
            let found = format!("{front} units and {} inputs", self.seed_inputs.len());
            return Err(Error::shape("front of the tracker's state", expected, found));
        }
        let front = self.front.iter().flatten().map(|&x| f64::from(x)).collect::<Vec<f64>>();
        check_finite("front of the tracker's state", &front)?;
        check_finite("stored inputs", &self.seed_inputs)?;
        self.outputs.iter().flatten().try_for_each(|&y| check_finite("stored outputs", &[y]))?;
        check_finite("stored inputs", &self.inputs)
    }

    /// Anchors rise from the first stored step to the last, and no more is known than was observed.
    fn check_order(&self, sizes: &Sizes) -> Result<()> {
        let last = self.n_observed_steps(sizes.d_obs);
        let steps = std::iter::once(&self.anchor).chain(&self.next_anchor).map(|anchor| anchor.step);
        let steps: Vec<usize> = steps.collect();
        let rise = steps.windows(2).all(|pair| pair[0] < pair[1]) && steps.iter().all(|&step| step <= last);
        let stored = last - self.anchor.step.min(last);
        if rise && self.known <= stored && (self.posterior.is_some() || self.known == 0) {
            return Ok(());
        }
        let expected = format!("anchors that rise to step {last} and at most {stored} known steps");
        let found = format!("anchors at {steps:?}, {} known", self.known);
        Err(Error::shape("tracker's state", expected, found))
    }
}

impl Tracker {
    /// What this tracker knows, to be stored.
    #[must_use]
    pub fn state(&self) -> TrackerState {
        TrackerState {
            settings: self.settings.clone(),
            random: self.random.clone(),
            anchor: StoredAnchor::of(&self.anchor),
            next_anchor: self.next_anchor.as_ref().map(StoredAnchor::of),
            outputs: self.outputs.iter().copied().map(finite).collect(),
            inputs: self.inputs.clone(),
            front: self.front.0.clone(),
            seed_inputs: self.seed_inputs.clone(),
            functions: self.functions.clone(),
            posterior: self.posterior.clone(),
            known: self.known,
            evidence_before: finite(self.evidence_before),
        }
    }

    /// The tracker that had this state; it goes on to the same bits. `model` must be the model it followed.
    ///
    /// # Errors
    /// [`Error::Shape`] for a state of a model of other sizes, or whose parts contradict each other;
    /// [`Error::NotFinite`]; [`Error::Setting`] for settings out of range.
    pub fn restore(model: &System, state: TrackerState) -> Result<Self> {
        state.check(&Sizes::of(model, &state.settings))?;
        let TrackerState { settings, random, anchor, next_anchor, outputs, inputs, posterior, .. } = state;
        let (front, seed_inputs, functions) = (state.front, state.seed_inputs, state.functions);
        let mut tracker = Self::new(model, settings, random)?;
        tracker.anchor = anchor.restore();
        tracker.next_anchor = next_anchor.map(StoredAnchor::restore);
        tracker.outputs = outputs.into_iter().map(|y| y.unwrap_or(f64::NAN)).collect();
        tracker.inputs = inputs;
        tracker.front = FrontState(front);
        tracker.seed_inputs = seed_inputs;
        tracker.functions = functions;
        tracker.posterior = posterior;
        tracker.known = state.known;
        tracker.evidence_before = state.evidence_before.unwrap_or(f64::NEG_INFINITY);
        Ok(tracker)
    }
}
