//! The settings of a run: how many steps, how fast, when to stop.

use serde::{Deserialize, Serialize};

use super::adam::AdamStep;
use super::schedule::Schedule;
use super::stopping::StoppingRule;
use crate::{Error, Result};

/// How to train, apart from what is trained. Every field can be left out of its JSON form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainingPlan {
    /// Steps to take in all; steps count from 1.
    pub steps: u64,
    /// Learning rate η by step.
    pub learning_rate: Schedule,
    /// Adam's momentum β₁ by step, in [0, 1).
    pub beta1: Schedule,
    /// Adam's β₂, in [0, 1).
    pub beta2: f64,
    /// Adam's ε, above 0.
    pub epsilon: f64,
    /// Longest gradient norm over all parameters together; `None` leaves gradients as they are.
    pub clip_norm: Option<f64>,
    /// Share a of the running average of the parameters that a step keeps, in [0, 1): w̄ ← a w̄ + (1 − a) w. The average is what is
    /// learned; `None` for the parameters themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub averaging: Option<f64>,
    /// When to look at the held-out bound and when to give up.
    pub stopping: StoppingRule,
    /// Most steps, and most checks, that the history keeps.
    pub history_capacity: usize,
}

impl Default for TrainingPlan {
    fn default() -> Self {
        let constant = |value| Schedule::constant(value).expect("a literal number is finite");
        Self {
            steps: 1000,
            learning_rate: constant(1e-3),
            beta1: constant(0.9),
            beta2: 0.999,
            epsilon: 1e-8,
            clip_norm: None,
            averaging: None,
            stopping: StoppingRule::default(),
            history_capacity: 1000,
        }
    }
}

impl TrainingPlan {
    /// Checks every setting against its range.
    ///
    /// # Errors
    /// [`Error::Setting`] naming the first setting that cannot be used.
    pub fn check(&self) -> Result<()> {
        let require = |holds: bool, name: &str, found: f64, expected: &str| {
            if holds {
                Ok(())
            } else {
                Err(Error::setting(name, format!("found {found}; expected {expected}")))
            }
        };
        let fraction = |value: f64| (0.0..1.0).contains(&value);
        let positive = |value: f64| value.is_finite() && value > 0.0;
        let ((rate_low, rate_high), (beta1_low, beta1_high)) =
            (self.learning_rate.range(), self.beta1.range());
        let largest_rate = f64::from(f32::MAX);
        require(rate_low >= 0.0, "learning_rate", rate_low, "0 or more")?;
        require(rate_high <= largest_rate, "learning_rate", rate_high, "a number that fits f32")?;
        require(fraction(beta1_low), "beta1", beta1_low, "0 or more, below 1")?;
        require(fraction(beta1_high), "beta1", beta1_high, "0 or more, below 1")?;
        require(fraction(self.beta2), "beta2", self.beta2, "0 or more, below 1")?;
        // Below the smallest normal f32, ε would round towards 0 and 0/0 could follow.
        let smallest = f64::from(f32::MIN_POSITIVE);
        require(
            positive(self.epsilon) && self.epsilon >= smallest,
            "epsilon",
            self.epsilon,
            "1.2e-38 or more",
        )?;
        let clip_norm = self.clip_norm.unwrap_or(1.0);
        require(positive(clip_norm), "clip_norm", clip_norm, "a finite number above 0")?;
        let averaging = self.averaging.unwrap_or(0.0);
        require(fraction(averaging), "averaging", averaging, "0 or more, below 1")?;
        self.stopping.check()
    }

    /// Adam's settings at `step`.
    pub(crate) fn adam_step(&self, step: u64) -> AdamStep {
        AdamStep {
            learning_rate: self.learning_rate.value_at(step),
            beta1: self.beta1.value_at(step),
            beta2: self.beta2,
            epsilon: self.epsilon,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_pass_and_round_trip() {
        let plan = TrainingPlan::default();
        plan.check().unwrap();
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<TrainingPlan>(&text).unwrap(), plan);
        assert_eq!(serde_json::from_str::<TrainingPlan>("{}").unwrap(), plan);
        assert!(serde_json::from_str::<TrainingPlan>(r#"{"stepz": 3}"#).is_err());
    }

    #[test]
    fn each_setting_out_of_range_is_named() {
        let good = TrainingPlan::default;
        let constant = |value| Schedule::constant(value).unwrap();
        let cases = [
            ("learning_rate", TrainingPlan { learning_rate: constant(-1e-3), ..good() }),
            ("learning_rate", TrainingPlan { learning_rate: constant(1e300), ..good() }),
            ("beta1", TrainingPlan { beta1: constant(1.0), ..good() }),
            ("beta2", TrainingPlan { beta2: f64::NAN, ..good() }),
            ("epsilon", TrainingPlan { epsilon: 1e-60, ..good() }),
            ("clip_norm", TrainingPlan { clip_norm: Some(0.0), ..good() }),
            ("averaging", TrainingPlan { averaging: Some(1.0), ..good() }),
            (
                "stopping.every",
                TrainingPlan { stopping: StoppingRule { every: 0, ..Default::default() }, ..good() },
            ),
        ];
        for (expected, plan) in cases {
            match plan.check() {
                Err(Error::Setting { name, .. }) => assert_eq!(name, expected),
                other => panic!("{expected}: {other:?}"),
            }
        }
    }
}
