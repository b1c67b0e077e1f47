//! What the quickstart learns and how: sizes, generator, schedules.

use mtds::base::Lds;
use mtds::generator::{Activation, FeatureMap};
use mtds::infer::{NoiseBelief, Online};
use mtds::learn::{
    Carriers, Fit, Interpolation, MonteCarlo, NoiseRule, ScalingRule, Schedule, StoppingRule, TrainingPlan,
};
use mtds::system::Architecture;

/// Length of a code.
const D_CODE: usize = 4;
/// Size of the state: two oscillators.
const D_STATE: usize = 4;
/// Optimiser steps.
pub(super) const STEPS: u64 = 5000;
/// Step at which the noise has come down and the learning rate begins to fall.
const SETTLED: u64 = 3500;

/// A linear system with an impulse input, all of A, B and C from the code.
pub(super) fn spec() -> Architecture {
    Architecture::new(Lds::new(D_STATE, 1, 1), D_CODE)
        .features(FeatureMap::Trigonometric)
        .hidden(&[64, 64], Activation::Tanh)
        .fix("state_bias", 0.0)
        .fix("offset", 0.0)
}

/// Particles from the prior, all of them carrying the gradient; log s comes down while their number grows.
pub(super) fn fit() -> mtds::Result<Fit> {
    let line = |points| Schedule::new(Interpolation::Linear, points);
    Ok(Fit {
        scaling: ScalingRule::Identity,
        objective: MonteCarlo {
            particles: Schedule::new(Interpolation::Log, vec![(1, 1024.0), (SETTLED, 4096.0)])?,
            carriers: Carriers::Weighted,
            noise: NoiseRule::Scheduled(line(vec![(1, -0.3), (SETTLED, -2.3)])?),
            l2: 100.0,
            ..MonteCarlo::default()
        },
        plan: TrainingPlan {
            steps: STEPS,
            learning_rate: Schedule::new(
                Interpolation::Cosine,
                vec![(1, 2e-3), (SETTLED, 2e-3), (STEPS, 1e-4)],
            )?,
            clip_norm: Some(10.0),
            stopping: StoppingRule { every: 250, ..StoppingRule::default() },
            ..TrainingPlan::default()
        },
    })
}

/// Inference with the noise left open: learning from prior particles cannot bring s down to the truth.
pub(super) fn online() -> Online {
    Online { noise: NoiseBelief::Uncertain { mean: 0.0, std_dev: 0.3 }, ..Online::default() }
}
