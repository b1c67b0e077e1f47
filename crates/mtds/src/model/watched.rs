//! A sequence that is followed as it comes: steps that brought nothing, inputs that go on, and how far it is from members.
//!
//! ```text
//! Σ_d e_d² = Σ_d (y_d − m_d)² / v_d                                              inputs as they were expected
//!          ≈ −2 (log p(y_{1:t}) − log p(y_{1:t−1})) − Σ_d log 2π v_d              others
//! ```
//! m and v were forecast before the step came: a state that was stored keeps no draws to forecast from once its inputs are known.

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use super::{Attribute, Model, ModelTracker};
use crate::Result;
use crate::family::Signal;
use crate::predict::{Forecast, Misfit};

/// Share of earlier errors that still counts after another step: about the last twenty.
const KEPT: f64 = 0.95;

/// What inputs are where nobody says so, and how large the errors of members are.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchRules {
    /// Whether each input is 0 at a step that brings nothing; else it stays as it was.
    is_pulse: Vec<bool>,
    /// For each input whether it is one of a sequence, and does not change within it.
    is_known: Vec<bool>,
    usual_misfit: f64,
}

/// One step of a sequence, in data units.
#[derive(Clone, Copy, Debug)]
pub struct WatchedStep<'a> {
    /// Steps before it that brought nothing.
    pub missed: usize,
    /// Outputs, NaN where missing.
    pub outputs: &'a [f64],
    /// Inputs that may change from step to step.
    pub changing: &'a [f64],
    /// Inputs that do not change within the sequence.
    pub known: &'a [f64],
    /// What changing inputs will be at the next step, where somebody says so.
    pub next: Option<&'a [f64]>,
}

/// A sequence that is followed as it comes.
#[derive(Debug)]
pub struct Watched {
    tracker: ModelTracker,
    at: WatchedState,
}

/// What is known of a sequence beside its tracker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchedState {
    /// Inputs of the last step, all of them.
    pub inputs: Vec<f64>,
    /// Inputs that do not change within the sequence, in order.
    pub known: Vec<f64>,
    /// log p(y_{1:t}) after the last step, where anything fits.
    pub log_evidence: Option<f64>,
    /// What was expected of the next step.
    pub expected: ExpectedStep,
    /// Errors of forecasts one step ahead, those of the last steps above all.
    pub misfit: Misfit,
}

/// What is expected of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedStep {
    /// With these inputs.
    pub inputs: Vec<f64>,
    /// Mean and variance of each output.
    pub outputs: Vec<(f64, f64)>,
}

impl WatchRules {
    /// Those of a model, by what it knows of its columns.
    #[must_use]
    pub fn of(model: &Model) -> Self {
        let columns = &model.columns;
        let known: Vec<String> = columns.attributes.iter().flat_map(Attribute::inputs).collect();
        Self {
            is_pulse: columns.inputs.iter().map(|input| columns.pulses.contains(input)).collect(),
            is_known: columns.inputs.iter().map(|input| known.contains(input)).collect(),
            usual_misfit: model.usual_misfit,
        }
    }

    /// Number of inputs that do not change within a sequence.
    #[must_use]
    pub fn n_known(&self) -> usize {
        self.is_known.iter().filter(|&&is_known| is_known).count()
    }

    /// All inputs of a step, in the order of the model.
    fn all_inputs(&self, changing: &[f64], known: &[f64]) -> Vec<f64> {
        let (mut changing, mut known) = (changing.iter(), known.iter());
        let next = |&is_known: &bool| if is_known { known.next() } else { changing.next() };
        self.is_known.iter().filter_map(next).copied().collect()
    }

    /// Inputs of a step that brings nothing, after these.
    fn without_observation(&self, inputs: &[f64]) -> Vec<f64> {
        inputs.iter().zip(&self.is_pulse).map(|(&u, &is_pulse)| if is_pulse { 0.0 } else { u }).collect()
    }
}

impl Watched {
    /// Before the first step.
    #[must_use]
    pub fn new(tracker: ModelTracker) -> Self {
        Self { tracker, at: WatchedState::default() }
    }

    /// Where it was.
    #[must_use]
    pub fn restore(tracker: ModelTracker, state: WatchedState) -> Self {
        Self { tracker, at: state }
    }

    /// What is known of its code, and of its past.
    #[must_use]
    pub fn tracker(&self) -> &ModelTracker {
        &self.tracker
    }

    /// Where it is.
    #[must_use]
    pub fn state(&self) -> &WatchedState {
        &self.at
    }

    /// Takes one step, after those that brought nothing. On an error nothing has changed.
    ///
    /// # Errors
    /// As [`ModelTracker::observe`].
    pub fn observe(&mut self, rules: &WatchRules, step: WatchedStep<'_>) -> Result<()> {
        let inputs = rules.all_inputs(step.changing, step.known);
        self.tracker.check(step.outputs, &inputs)?;
        for _ in 0..step.missed {
            let between = rules.without_observation(&self.at.inputs);
            self.tracker.observe(&vec![f64::NAN; step.outputs.len()], &between)?;
        }
        let is_first = self.tracker.n_observed_steps() == 0;
        if is_first {
            self.at.log_evidence = Some(0.0);
        }
        // Only then are there draws that a restored tracker has as well.
        if is_first || step.missed > 0 {
            self.expect(inputs.clone())?;
        }
        self.tracker.observe(step.outputs, &inputs)?;
        self.judge(step.outputs, &inputs, rules);
        let next = match step.next {
            Some(next) => rules.all_inputs(next, step.known),
            None => rules.without_observation(&inputs),
        };
        (self.at.inputs, self.at.known) = (inputs, step.known.to_vec());
        self.expect(next)
    }

    /// The forecast of the next `n_time` steps with these changing inputs, row by row, in data units; those that do not change go on.
    ///
    /// # Errors
    /// As [`ModelTracker::forecast`].
    pub fn forecast(&mut self, rules: &WatchRules, n_time: usize, changing: &[f64]) -> Result<Forecast> {
        let (width, n_changing) = (rules.is_known.len(), rules.is_known.len() - rules.n_known());
        let rows = (0..n_time)
            .flat_map(|t| rules.all_inputs(&changing[t * n_changing..(t + 1) * n_changing], &self.at.known));
        let inputs = (width > 0).then(|| rows.collect::<Vec<f64>>());
        let inputs = inputs.map(|values| Signal::new(n_time, width, values)).transpose()?;
        self.tracker.forecast(n_time, inputs.as_ref())
    }

    /// Adds what a step says about how far the sequence is from members, once it was taken.
    fn judge(&mut self, outputs: &[f64], inputs: &[f64], rules: &WatchRules) {
        let values = outputs.iter().zip(&self.at.expected.outputs).filter(|(y, _)| !y.is_nan());
        let n = values.clone().count();
        let now = self.tracker.log_evidence();
        let squares = if inputs == self.at.expected.inputs {
            Some(values.map(|(y, (mean, variance))| (y - mean).powi(2) / variance).sum())
        } else {
            let entropy: f64 = values.map(|(_, (_, variance))| (TAU * variance).ln()).sum();
            let left =
                |before: f64| now.map_or(f64::INFINITY, |now| (-2.0 * (now - before) - entropy).max(0.0));
            self.at.log_evidence.map(left)
        };
        if let Some(squares) = squares {
            self.at.misfit = self.at.misfit.then(KEPT, (squares, n), rules.usual_misfit);
        }
        self.at.log_evidence = now;
    }

    /// What is expected of the next step with these inputs.
    fn expect(&mut self, inputs: Vec<f64>) -> Result<()> {
        let row = (!inputs.is_empty()).then(|| Signal::new(1, inputs.len(), inputs.clone())).transpose()?;
        let forecast = self.tracker.forecast(1, row.as_ref())?;
        let outputs = forecast.mean().into_iter().zip(forecast.variance()).collect();
        self.at.expected = ExpectedStep { inputs, outputs };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_stand_in_the_order_of_the_model_and_go_on_unless_they_are_pulses() {
        let rules = WatchRules {
            is_pulse: vec![false, true, false],
            is_known: vec![false, false, true],
            usual_misfit: 1.0,
        };
        assert_eq!((rules.n_known(), rules.all_inputs(&[1.0, 2.0], &[3.0])), (1, vec![1.0, 2.0, 3.0]));
        assert_eq!(rules.without_observation(&[1.0, 2.0, 3.0]), [1.0, 0.0, 3.0]);
        let between = WatchRules { is_known: vec![false, true, false], ..rules };
        assert_eq!(between.all_inputs(&[1.0, 2.0], &[3.0]), [1.0, 3.0, 2.0]);
    }
}
