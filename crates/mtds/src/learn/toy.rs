//! What tests of learning share: a small stochastic objective with state of its own, and a ragged family.

use crate::family::{Family, Sequence, Signal};
use rand::RngExt;

use super::objective::{Objective, ParameterGroup, StepReport};
use crate::random::Random;
use crate::{Error, Result};

/// What goes wrong at a chosen step.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Fault {
    NanLoss,
    InfiniteGradient,
    HugeGradient,
    NanParameter,
    NanValidation,
}

/// ½‖w − target‖² with uniform noise on the gradient; counts its gradients as state.
pub(crate) struct NoisySquare {
    pub(crate) target: Vec<f32>,
    pub(crate) held_out: Option<Vec<f32>>,
    pub(crate) fault: Option<(u64, Fault)>,
    pub(crate) calls: u64,
}

impl NoisySquare {
    pub(crate) fn new() -> Self {
        Self { target: vec![1.0, -2.0, 0.5], held_out: Some(vec![0.6, -1.5, 0.4]), fault: None, calls: 0 }
    }

    pub(crate) fn failing(step: u64, fault: Fault) -> Self {
        Self { fault: Some((step, fault)), ..Self::new() }
    }

    fn fails(&self, step: u64, fault: Fault) -> bool {
        self.fault == Some((step, fault))
    }
}

fn half_square(a: &[f32], b: &[f32]) -> f64 {
    0.5 * a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>()
}

impl Objective for NoisySquare {
    fn groups(&self) -> Vec<ParameterGroup> {
        let group = |name: &str, range, l2| ParameterGroup { name: name.into(), range, rate: 1.0, l2 };
        vec![group("shared", 0..2, 0.0), group("codes", 2..3, 0.01)]
    }

    fn gradient(
        &mut self,
        parameters: &[f32],
        gradient: &mut [f32],
        step: u64,
        random: &mut Random,
    ) -> Result<StepReport> {
        self.calls += 1;
        for i in 0..parameters.len() {
            // The count enters, so that a resumed run with a wrong state would show.
            let noise = (random.random::<f32>() - 0.5) / (self.calls as f32);
            gradient[i] = parameters[i] - self.target[i] + noise;
        }
        if self.fails(step, Fault::InfiniteGradient) {
            gradient[2] = f32::INFINITY;
        }
        if self.fails(step, Fault::HugeGradient) {
            gradient[1] = 1e25;
        }
        let loss = half_square(parameters, &self.target);
        let loss = if self.fails(step, Fault::NanLoss) { f64::NAN } else { loss };
        Ok(StepReport { loss, bound: -loss, ess: None })
    }

    fn validate(&mut self, parameters: &[f32]) -> Result<Option<f64>> {
        if self.fails(self.calls, Fault::NanValidation) {
            return Ok(Some(f64::NAN));
        }
        Ok(self.held_out.as_ref().map(|held_out| -half_square(parameters, held_out)))
    }

    fn state(&self) -> serde_json::Value {
        serde_json::json!({ "calls": self.calls })
    }

    fn restore(&mut self, state: &serde_json::Value) -> Result<()> {
        let calls = state["calls"].as_u64();
        self.calls =
            calls.ok_or_else(|| Error::Store { file: "checkpoint".into(), why: "no calls".into() })?;
        Ok(())
    }

    fn finish_step(&mut self, parameters: &mut [f32], step: u64) {
        if self.fails(step, Fault::NanParameter) {
            parameters[0] = f32::NAN;
        }
    }
}

fn wave(n: usize, phase: f64) -> Vec<f64> {
    (0..n).map(|i| 0.8 * ((i as f64) * 0.9 + phase).sin()).collect()
}

fn sequence(id: &str, n_time: usize, phase: f64) -> Sequence {
    Sequence::new(id, Signal::new(n_time, 2, wave(n_time * 2, phase)).unwrap()).unwrap()
}

/// Three sequences of two outputs, ragged, with a gap; inputs common, or one's own.
pub(super) fn family(own_inputs: bool) -> Family {
    let mut gap = wave(12, 0.4);
    gap[3] = f64::NAN;
    let gap = Sequence::new("gap", Signal::new(6, 2, gap).unwrap()).unwrap();
    let sequences = vec![sequence("a", 7, 0.1), gap, sequence("c", 5, 1.2)];
    if own_inputs {
        let with = |(i, s): (usize, Sequence)| s.with_inputs(Signal::column(wave(7, i as f64))).unwrap();
        Family::new(sequences.into_iter().enumerate().map(with).collect()).unwrap()
    } else {
        Family::new(sequences).unwrap().with_common_inputs(Signal::column(wave(7, 2.0))).unwrap()
    }
}
