//! The course of a run in bounded memory: every n-th step and check, n doubling as the run grows.

use serde::{Deserialize, Serialize};

use super::objective::StepReport;

/// One training step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    /// The step, from 1.
    pub step: u64,
    /// The loss with all penalties, before the step was taken.
    pub loss: f64,
    /// The bound per observation in nats, before the step was taken.
    pub bound: f64,
    /// Mean effective sample size, where the objective has one.
    pub ess: Option<f64>,
}

impl StepRecord {
    pub(crate) fn new(step: u64, report: &StepReport) -> Self {
        Self { step, loss: report.loss, bound: report.bound, ess: report.ess }
    }
}

/// One check of the held-out bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValidationRecord {
    /// The step after which it was measured.
    pub step: u64,
    /// The held-out bound per observation in nats.
    pub bound: f64,
}

/// The course of a run, thinned evenly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct History {
    steps: Thinned<StepRecord>,
    validations: Thinned<ValidationRecord>,
}

impl History {
    /// An empty history that keeps at most `capacity` steps and as many checks, 2 at least.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { steps: Thinned::new(capacity), validations: Thinned::new(capacity) }
    }

    pub(crate) fn record_step(&mut self, record: StepRecord) {
        self.steps.push(record);
    }

    pub(crate) fn record_validation(&mut self, record: ValidationRecord) {
        self.validations.push(record);
    }

    /// Evenly spaced training steps, the first among them.
    #[must_use]
    pub fn steps(&self) -> &[StepRecord] {
        &self.steps.kept
    }

    /// Evenly spaced checks of the held-out bound, the first among them.
    #[must_use]
    pub fn validations(&self) -> &[ValidationRecord] {
        &self.validations.kept
    }
}

/// Keeps the items offered as number 0, n, 2n, …; doubles n whenever they fill the capacity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Thinned<T> {
    capacity: usize,
    stride: u64,
    offered: u64,
    kept: Vec<T>,
}

impl<T: Copy> Thinned<T> {
    fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(2), stride: 1, offered: 0, kept: Vec::new() }
    }

    fn push(&mut self, item: T) {
        if self.offered.is_multiple_of(self.stride) {
            if self.kept.len() >= self.capacity {
                self.kept = self.kept.iter().copied().step_by(2).collect();
                self.stride = self.stride.saturating_mul(2);
            }
            if self.offered.is_multiple_of(self.stride) {
                self.kept.push(item);
            }
        }
        self.offered += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_kept_is_even_and_bounded(capacity in 2_usize..9, n in 0_u64..300) {
            let mut thinned = Thinned::new(capacity);
            (0..n).for_each(|item| thinned.push(item));
            prop_assert!(thinned.kept.len() <= capacity);
            let expected: Vec<u64> = (0..n).step_by(thinned.stride as usize).collect();
            prop_assert_eq!(&thinned.kept, &expected);
            prop_assert!(n == 0 || thinned.kept.len() as u64 * 2 > (capacity as u64).min(n) - 1);
        }
    }
}
