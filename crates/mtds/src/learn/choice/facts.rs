//! What about a family decides how it is learned.

use serde::{Deserialize, Serialize};

use crate::family::{Family, Inputs, Phase, Signal};

/// What the inputs of a family do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stimulus {
    /// There are none.
    None,
    /// They are zero after the first step: an impulse.
    Impulse,
    /// They go on.
    Ongoing,
}

/// What about a family decides how it is learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Number of sequences.
    pub n_seq: usize,
    /// Steps of the longest sequence.
    pub max_time: usize,
    /// Steps of the sequence in the middle.
    pub median_time: usize,
    /// Outputs per step.
    pub d_obs: usize,
    /// Inputs per step.
    pub d_input: usize,
    /// Whether sequences have inputs of their own, so that none of their rollouts can be shared.
    pub own_inputs: bool,
    /// What the inputs do.
    pub drive: Stimulus,
    /// Share of the inputs that are exactly zero; 0 without inputs.
    pub zero_inputs: f64,
    /// Whether inputs are the same at all steps of a sequence: they say who it is, such as a diet, and not what happens.
    pub steady_inputs: bool,
    /// Share of the outputs that are missing.
    pub missing: f64,
    /// Whether inputs tell the phase of a cycle, by their names.
    pub cycle: bool,
}

impl Facts {
    /// The facts of a family.
    #[must_use]
    pub fn of(family: &Family) -> Self {
        let mut lengths: Vec<usize> = family.sequences().iter().map(|s| s.n_time()).collect();
        lengths.sort_unstable();
        let n_values = lengths.iter().sum::<usize>() * family.d_obs();
        let inputs: Vec<&Signal> = match family.inputs() {
            Inputs::None => vec![],
            Inputs::Common(inputs) => vec![inputs],
            Inputs::Own => family.sequences().iter().filter_map(|s| s.inputs()).collect(),
        };
        let values = || inputs.iter().flat_map(|signal| signal.values());
        let quiet_later = inputs.iter().all(|signal| signal.rows().skip(1).flatten().all(|u| *u == 0.0));
        let is_steady = |signal: &&Signal| signal.rows().all(|row| row == signal.row(0));
        Self {
            n_seq: family.n_seq(),
            max_time: family.max_time(),
            median_time: lengths[lengths.len() / 2],
            d_obs: family.d_obs(),
            d_input: family.d_input(),
            own_inputs: matches!(family.inputs(), Inputs::Own),
            drive: match (family.d_input(), quiet_later) {
                (0, _) => Stimulus::None,
                (_, true) => Stimulus::Impulse,
                (_, false) => Stimulus::Ongoing,
            },
            zero_inputs: values().filter(|u| **u == 0.0).count() as f64 / values().count().max(1) as f64,
            steady_inputs: !inputs.is_empty() && inputs.iter().all(is_steady),
            missing: 1.0 - family.n_observed() as f64 / n_values as f64,
            cycle: Phase::of(family.input_names()).is_some(),
        }
    }
}
