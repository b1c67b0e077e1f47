//! What the trainer asks of an objective: groups of parameters, a gradient per step, a held-out bound.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::engine::resident::{Beginning, Resident, StepOrder};
use crate::random::Random;
use crate::{Error, Result};

/// A named stretch of the flat parameter vector with its own learning rate and penalty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParameterGroup {
    /// The name that messages use, e.g. `generator`.
    pub name: String,
    /// Where the group lies in the parameter vector.
    pub range: Range<usize>,
    /// Factor on the learning rate; 0 holds the group fixed.
    pub rate: f32,
    /// Coefficient λ of the penalty ½·λ·‖w‖² that the trainer adds to the loss.
    pub l2: f32,
}

/// What one gradient evaluation found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// The loss whose gradient was returned: minus the bound per sequence, plus the objective's own penalties.
    pub loss: f64,
    /// The bound per observation, in nats.
    pub bound: f64,
    /// Mean effective sample size, for objectives that weigh particles.
    pub ess: Option<f64>,
}

/// A function of one flat parameter vector that [`Trainer`](super::Trainer) minimises.
///
/// Steps count from 1. An objective that keeps state beside the parameters should change it only once a
/// step's gradient has succeeded, because the trainer takes back its own part of a step that failed.
pub trait Objective {
    /// The groups of the parameter vector: contiguous, in order, covering all of it. Asked once per run.
    fn groups(&self) -> Vec<ParameterGroup>;

    /// Writes the gradient of the loss into `gradient`, which comes filled with zeros.
    ///
    /// `parameters` and `gradient` have the same length. The groups' L2 penalties are the trainer's and
    /// belong neither in the loss nor in the gradient.
    ///
    /// # Errors
    /// Whatever keeps the objective from being evaluated. Numbers that are not finite may simply be returned:
    /// the trainer stops at them.
    fn gradient(
        &mut self,
        parameters: &[f32],
        gradient: &mut [f32],
        step: u64,
        random: &mut Random,
    ) -> Result<StepReport>;

    /// The held-out bound per observation, `None` without held-out data.
    ///
    /// Uses the same random numbers on every call, so that two calls differ by their parameters only.
    ///
    /// # Errors
    /// Whatever keeps the objective from being evaluated.
    fn validate(&mut self, parameters: &[f32]) -> Result<Option<f64>>;

    /// All that a resumed run needs beside the parameters.
    fn state(&self) -> serde_json::Value;

    /// Takes up a state that [`state`](Self::state) gave.
    ///
    /// # Errors
    /// [`Error::Store`] when the state does not belong to this objective.
    fn restore(&mut self, state: &serde_json::Value) -> Result<()>;

    /// Learning by an engine that takes steps whole, from this state and average; nothing where gradients are asked for one by one.
    ///
    /// # Errors
    /// [`Error::Device`].
    #[doc(hidden)]
    fn resident(&mut self, _from: Beginning<'_>) -> Result<Option<Box<dyn Resident>>> {
        Ok(None)
    }

    /// What a step is made of, for such an engine.
    ///
    /// # Errors
    /// Always, for an objective that no engine takes whole.
    #[doc(hidden)]
    fn order(&mut self, _step: u64, _random: &mut Random) -> Result<StepOrder> {
        Err(Error::setting("device", "found an objective whose steps no engine takes whole"))
    }

    /// Whether [`finish_step`](Self::finish_step) or [`change_units`](Self::change_units) do anything to parameters after this step.
    #[doc(hidden)]
    fn touches_parameters(&self, _step: u64) -> bool {
        true
    }

    /// Whether [`validate`](Self::validate) has anything to say: only then is it worth bringing parameters home for it.
    #[doc(hidden)]
    fn is_watched(&self) -> bool {
        true
    }

    /// Told once a step counts; [`finish_step`](Self::finish_step) includes it.
    #[doc(hidden)]
    fn count_step(&mut self) {}

    /// Closed-form changes after the optimiser's step, e.g. a change of scale; nothing unless overridden.
    fn finish_step(&mut self, _parameters: &mut [f32], _step: u64) {}

    /// Changes of units after the step: places of the parameters, and the factor that each is to be multiplied by.
    ///
    /// The trainer multiplies, and takes the optimiser's memory along. `parameters` are there for what is no
    /// factor. Nothing unless overridden.
    ///
    /// # Errors
    /// Whatever keeps the change from being found.
    fn change_units(&mut self, _parameters: &mut [f32], _step: u64) -> Result<Vec<(usize, f32)>> {
        Ok(vec![])
    }
}

/// Checks that the groups follow one another from 0 to `n_parameters`, with usable settings.
///
/// # Errors
/// [`Error::Shape`] for a gap, an overlap or a wrong total; [`Error::Setting`] for a rate or penalty that is
/// negative or not finite.
pub(crate) fn check_groups(groups: &[ParameterGroup], n_parameters: usize) -> Result<()> {
    let mut end = 0;
    for group in groups {
        let ParameterGroup { name, range, rate, l2 } = group;
        if range.start != end || range.end < range.start {
            let expected = format!("a range that starts at {end}, where the group before it ends");
            return Err(Error::shape(format!("parameter group `{name}`"), expected, format!("{range:?}")));
        }
        for (setting, value) in [("rate", *rate), ("l2", *l2)] {
            if !(value.is_finite() && value >= 0.0) {
                let why = format!("found {value}; expected a finite number, 0 or more");
                return Err(Error::setting(format!("{setting} of parameter group `{name}`"), why));
            }
        }
        end = range.end;
    }
    if end != n_parameters {
        return Err(Error::shape("parameters", format!("{end}, the total of all groups"), n_parameters));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(range: Range<usize>) -> ParameterGroup {
        ParameterGroup { name: "g".into(), range, rate: 1.0, l2: 0.0 }
    }

    #[test]
    fn groups_must_tile_the_parameters() {
        assert!(check_groups(&[group(0..2), group(2..2), group(2..5)], 5).is_ok());
        assert!(check_groups(&[], 0).is_ok());
        for bad in [vec![group(0..2), group(3..5)], vec![group(0..3), group(2..5)], vec![group(0..4)]] {
            assert!(matches!(check_groups(&bad, 5), Err(Error::Shape { .. })), "{bad:?}");
        }
        let backwards = Range { start: 2, end: 1 };
        assert!(matches!(check_groups(&[group(0..2), group(backwards)], 1), Err(Error::Shape { .. })));
    }

    #[test]
    fn group_settings_must_be_finite_and_not_negative() {
        for bad in [f32::NAN, f32::INFINITY, -1.0] {
            let rate = ParameterGroup { rate: bad, ..group(0..1) };
            let l2 = ParameterGroup { l2: bad, ..group(0..1) };
            assert!(matches!(check_groups(&[rate], 1), Err(Error::Setting { .. })));
            assert!(matches!(check_groups(&[l2], 1), Err(Error::Setting { .. })));
        }
    }
}
