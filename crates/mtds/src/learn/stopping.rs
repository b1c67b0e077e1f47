//! Early stopping: watch the held-out bound, keep the best parameters, give up when it no longer gains.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// When to look at the held-out bound and when to give up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StoppingRule {
    /// Steps from one check to the next; the last step of a plan is always checked.
    pub every: u64,
    /// Checks without gain after which learning stops; `None` never stops but still keeps the best.
    pub patience: Option<u64>,
    /// How far above the best bound a check must lie to count as gain, in nats per observation.
    pub min_gain: f64,
}

impl Default for StoppingRule {
    fn default() -> Self {
        Self { every: 50, patience: None, min_gain: 0.0 }
    }
}

impl StoppingRule {
    /// # Errors
    /// [`Error::Setting`] naming the field that cannot be used.
    pub(crate) fn check(&self) -> Result<()> {
        if self.every == 0 {
            return Err(Error::setting("stopping.every", "found 0; expected 1 or more steps between checks"));
        }
        if self.patience == Some(0) {
            return Err(Error::setting("stopping.patience", "found 0; expected 1 or more, or nothing"));
        }
        if !(self.min_gain.is_finite() && self.min_gain >= 0.0) {
            let why = format!("found {}; expected a finite number, 0 or more", self.min_gain);
            return Err(Error::setting("stopping.min_gain", why));
        }
        Ok(())
    }

    /// Whether the held-out bound is looked at after `step` of a plan of `steps`.
    pub(crate) fn is_due(&self, step: u64, steps: u64) -> bool {
        step.is_multiple_of(self.every) || step == steps
    }
}

/// The best held-out bound so far and the parameters that reached it.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// The step after which it was measured.
    pub step: u64,
    /// The held-out bound per observation.
    pub bound: f64,
    /// The parameters.
    pub parameters: Vec<f32>,
}

/// What early stopping remembers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stopping {
    pub(crate) best: Option<Best>,
    pub(crate) checks_without_gain: u64,
}

impl Stopping {
    /// Takes note of a check. The best bound moves up on any improvement; only one of more than `min_gain`
    /// renews the patience.
    pub(crate) fn observe(&mut self, rule: &StoppingRule, step: u64, bound: f64, parameters: &[f32]) {
        let before = self.best.as_ref().map_or(f64::NEG_INFINITY, |best| best.bound);
        self.checks_without_gain =
            if bound > before + rule.min_gain { 0 } else { self.checks_without_gain + 1 };
        if bound > before {
            self.best = Some(Best { step, bound, parameters: parameters.to_vec() });
        }
    }

    /// Whether patience has run out.
    pub(crate) fn is_exhausted(&self, rule: &StoppingRule) -> bool {
        rule.patience.is_some_and(|patience| self.checks_without_gain >= patience)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_counts_checks_since_the_last_gain() {
        let rule = StoppingRule { every: 10, patience: Some(2), min_gain: 0.1 };
        let mut stopping = Stopping::default();
        let bounds = [-3.0, -2.0, -1.95, -2.5];
        let exhausted: Vec<bool> = bounds
            .iter()
            .enumerate()
            .map(|(n, &bound)| {
                stopping.observe(&rule, n as u64, bound, &[n as f32]);
                stopping.is_exhausted(&rule)
            })
            .collect();
        assert_eq!(exhausted, [false, false, false, true]);
        // −1.95 is too small a gain to renew patience, but still the best.
        assert_eq!(stopping.best, Some(Best { step: 2, bound: -1.95, parameters: vec![2.0] }));
        let endless = StoppingRule { patience: None, ..rule };
        assert!(!stopping.is_exhausted(&endless));
    }

    #[test]
    fn checks_fall_on_multiples_and_on_the_last_step() {
        let rule = StoppingRule { every: 4, ..StoppingRule::default() };
        let due: Vec<u64> = (1..=10).filter(|&step| rule.is_due(step, 10)).collect();
        assert_eq!(due, [4, 8, 10]);
    }

    #[test]
    fn unusable_rules_are_refused() {
        let good = StoppingRule::default();
        assert!(good.check().is_ok());
        assert!(StoppingRule { every: 0, ..good.clone() }.check().is_err());
        assert!(StoppingRule { patience: Some(0), ..good.clone() }.check().is_err());
        assert!(StoppingRule { min_gain: f64::NAN, ..good }.check().is_err());
    }
}
