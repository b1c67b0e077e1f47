//! Following sequences with all that a model knows: its systems, what members did, how wide forecasts have to be.

use serde::{Deserialize, Serialize};

use super::Blend;
use super::blend::Blended;
use crate::evaluate::{FollowingEnsemble, Forecaster, Origin};
use crate::family::{Family, Signal};
use crate::infer::{Ensemble, EnsembleTracker, Posterior, TrackerState};
use crate::predict::Forecast;
use crate::random::{Random, Stream};
use crate::{Error, Result};

/// A model that is ready to follow sequences; trackers share what it holds.
#[derive(Clone, Debug)]
pub struct Follower {
    ensemble: Ensemble,
    blend: Blend,
}

/// One sequence that is followed: what is known of its code, and where it is going.
#[derive(Debug)]
pub struct ModelTracker {
    systems: EnsembleTracker,
    blend: Blend,
    /// The first steps of its outputs, as many as forecasts look at.
    past: Vec<f64>,
}

/// A [`ModelTracker`] to be stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelTrackerState {
    /// One for each system.
    pub trackers: Vec<TrackerState>,
    /// Values observed of each output.
    pub n_values: Vec<usize>,
    /// The first steps of the outputs, as many as forecasts look at; null where one is missing.
    #[serde(with = "crate::store::number::list", default, skip_serializing_if = "Vec::is_empty")]
    pub past: Vec<f64>,
}

/// Forecasts of a model in evaluations, with random numbers of its own for each sequence.
pub struct FollowingModel(Blended<FollowingEnsemble>);

impl Follower {
    pub(super) fn new(ensemble: Ensemble, blend: Blend) -> Self {
        Self { ensemble, blend }
    }

    /// The systems that are followed.
    #[must_use]
    pub fn ensemble(&self) -> &Ensemble {
        &self.ensemble
    }

    /// Before the first observation.
    ///
    /// # Errors
    /// Settings out of range.
    pub fn start(&self, random: Random) -> Result<ModelTracker> {
        let systems = EnsembleTracker::new(&self.ensemble, random)?;
        Ok(ModelTracker { systems, blend: self.blend.clone(), past: vec![] })
    }

    /// The tracker that had this state; it goes on to the same bits.
    ///
    /// # Errors
    /// A state that is not one of this model.
    pub fn restore(&self, state: ModelTrackerState) -> Result<ModelTracker> {
        let ModelTrackerState { trackers, n_values, past } = state;
        let systems = EnsembleTracker::restore(&self.ensemble, (trackers, n_values))?;
        let expected = systems.n_observed_steps().min(self.blend.looks_at()) * self.ensemble.d_obs();
        if past.len() != expected {
            return Err(Error::shape("outputs of the past in the state", expected, past.len()));
        }
        Ok(ModelTracker { systems, blend: self.blend.clone(), past })
    }

    pub(super) fn evaluated(self, random: (u64, fn(u64) -> Stream)) -> FollowingModel {
        let systems = FollowingEnsemble { ensemble: self.ensemble, random };
        FollowingModel(Blended { systems, blend: self.blend })
    }
}

impl ModelTracker {
    /// Its systems, with what each knows.
    #[must_use]
    pub fn systems(&self) -> &EnsembleTracker {
        &self.systems
    }

    /// What is known of the code, at the last update.
    #[must_use]
    pub fn posterior(&self) -> Option<&Posterior> {
        self.systems.posterior()
    }

    /// Observations so far.
    #[must_use]
    pub fn n_observed_steps(&self) -> usize {
        self.systems.n_observed_steps()
    }

    /// log p(y_{1:t}) of the systems at the last update, of outputs in data units; `None` before it, or where nothing fits.
    #[must_use]
    pub fn log_evidence(&self) -> Option<f64> {
        self.systems.log_evidence()
    }

    /// Whether a step can be taken in, without taking it.
    ///
    /// # Errors
    /// As [`ModelTracker::observe`].
    pub fn check(&self, outputs: &[f64], inputs: &[f64]) -> Result<()> {
        self.systems.check(outputs, inputs)
    }

    /// Takes one step of outputs (NaN = missing) and inputs, in data units; says whether posteriors were brought up to date.
    ///
    /// On an error nothing has changed.
    ///
    /// # Errors
    /// Rows of the wrong width, infinite outputs, inputs that are not finite.
    pub fn observe(&mut self, outputs: &[f64], inputs: &[f64]) -> Result<bool> {
        let updated = self.systems.observe(outputs, inputs)?;
        if self.past.len() < self.blend.looks_at() * outputs.len() {
            self.past.extend(outputs);
        }
        Ok(updated)
    }

    /// Brings posteriors up to the last observation, if they are not.
    ///
    /// # Errors
    /// None for settings that were accepted before.
    pub fn update(&mut self) -> Result<()> {
        self.systems.update().map(drop)
    }

    /// The forecast of the next `n_time` steps, in data units.
    ///
    /// # Shapes
    /// `future_inputs` (data units): at least n_time × d_input, the row of the next step first; needed if the model has inputs.
    ///
    /// # Errors
    /// No steps asked for; future inputs missing, too short, of the wrong width or not finite.
    pub fn forecast(&mut self, n_time: usize, future_inputs: Option<&Signal>) -> Result<Forecast> {
        let systems = self.systems.forecast(n_time, future_inputs)?;
        let width = systems.d_obs();
        self.blend.of(systems, &Signal::new(self.past.len() / width, width, self.past.clone())?)
    }

    /// What it knows, to be stored.
    #[must_use]
    pub fn state(&self) -> ModelTrackerState {
        let (trackers, n_values) = self.systems.states();
        ModelTrackerState { trackers, n_values, past: self.past.clone() }
    }
}

impl Forecaster for FollowingModel {
    fn forecasts(&self, family: &Family, i: usize, origins: &[Origin]) -> Result<Vec<Forecast>> {
        self.0.forecasts(family, i, origins)
    }
}
