//! How a classifier is built and learned.

use serde::{Deserialize, Serialize};

use crate::baseline::network::settings::{HeldOut, check_learning};
use crate::family::SegmentPlan;
use crate::learn::{StoppingRule, TrainingPlan};
use crate::{Error, Result};

/// A classifier and how it is learned. Every field can be left out of the JSON form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClassifierSettings {
    /// Units of the recurrent layer.
    pub units: usize,
    /// Units of the sigmoid layer behind it.
    pub hidden: usize,
    /// How long sequences are cut, after some were held out; `None` learns from whole ones.
    pub segments: Option<SegmentPlan>,
    /// What decides when to stop.
    pub held_out: HeldOut,
    /// Segments per step, drawn without replacement.
    pub batch: usize,
    /// Coefficient λ of the penalty ½ λ ‖w‖² on all weights.
    pub l2: f64,
    /// Steps, rates, clipping, stopping. Bounds are minus the cross-entropy.
    pub plan: TrainingPlan,
}

impl Default for ClassifierSettings {
    /// The sizes of the paper: 512 and 300 units, a fifth held out.
    fn default() -> Self {
        let stopping = StoppingRule { every: 20, patience: Some(10), min_gain: 1e-3 };
        Self {
            units: 512,
            hidden: 300,
            segments: None,
            held_out: HeldOut::Sequences(0.2),
            batch: 16,
            l2: 0.0,
            plan: TrainingPlan { steps: 2000, clip_norm: Some(5.0), stopping, ..TrainingPlan::default() },
        }
    }
}

impl ClassifierSettings {
    /// Checks every setting against its range.
    ///
    /// # Errors
    /// [`Error::Setting`] naming the first setting that cannot be used.
    pub fn check(&self) -> Result<()> {
        for (name, value) in [("units", self.units), ("hidden", self.hidden)] {
            if value == 0 {
                return Err(Error::setting(name, "found 0; expected at least 1"));
            }
        }
        check_learning(self.batch, self.l2, &self.held_out, &self.plan)
    }
}
