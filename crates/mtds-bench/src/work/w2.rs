//! W2: one step of the Monte-Carlo objective on the oscillators, with its Adam update.

use std::time::Instant;

use mtds::base::Lds;
use mtds::family::{Family, Scaling, Sequence, Signal};
use mtds::generator::{Activation, FeatureMap};
use mtds::learn::{
    AdamState, AdamStep, Carriers, MonteCarlo, MonteCarloObjective, Objective, ParameterGroup, Schedule,
};
use mtds::system::{Architecture, Codes, System};

use super::Work;
use crate::check::{Check, StepCheck};
use crate::error::{Error, Result};
use crate::inputs::{
    D_CODE, LEARNING_RATE, N_HIDDEN, N_PARTICLE, N_RESAMPLED, N_SEQ, N_TIME, NOISE_STD, W2Inputs,
};

const NAME: &str = "w2";

/// The training step, with its optimiser's state.
pub struct W2 {
    objective: MonteCarloObjective,
    groups: Vec<ParameterGroup>,
    codes: Codes,
    uniforms: Vec<f64>,
    start: Vec<f32>,
    adam: AdamState,
    next: AdamState,
}

impl W2 {
    /// The step at its start.
    ///
    /// # Errors
    /// If the library refuses the inputs.
    pub fn new() -> Result<Self> {
        let inputs = W2Inputs::new();
        let own = |source| Error::Own { work: NAME.into(), source };
        let start = [&inputs.w1[..], &inputs.b1, &inputs.w2, &inputs.b2].concat();
        let model = System::new(spec(), Scaling::identity(1, 1), start.clone()).map_err(own)?;
        let settings = MonteCarlo {
            particles: Schedule::constant(N_PARTICLE as f64).map_err(own)?,
            carriers: Carriers::Resampled(N_RESAMPLED),
            ..MonteCarlo::default()
        };
        let family = family(&inputs.outputs).map_err(own)?;
        let objective = MonteCarloObjective::new(model, &family, None, settings).map_err(own)?;
        let code = |i: usize, d: usize| f64::from(inputs.codes[i * D_CODE + d]);
        Ok(Self {
            groups: objective.groups(),
            objective,
            codes: Codes::from_fn(N_PARTICLE, D_CODE, code),
            uniforms: inputs.uniforms.iter().map(|&u| f64::from(u)).collect(),
            adam: AdamState::new(start.clone()),
            next: AdamState::new(start.clone()),
            start,
        })
    }
}

/// Gradient and loss; the peers' loss leaves out the constant of the Gaussian density.
fn gradient(
    objective: &mut MonteCarloObjective,
    parameters: &[f32],
    codes: &Codes,
    uniforms: &[f64],
) -> (Vec<f32>, f64) {
    let mut gradient = vec![0.0; parameters.len()];
    let step = objective.gradient_at(parameters, codes, uniforms, &mut gradient);
    let constant = N_TIME as f64 * (NOISE_STD.ln() + 0.5 * (2.0 * std::f64::consts::PI).ln());
    (gradient, -step.weighted_log_likelihood - constant)
}

impl Work for W2 {
    fn name(&self) -> &str {
        NAME
    }

    fn threads(&self) -> usize {
        rayon::current_num_threads()
    }

    fn round(&mut self) -> Result<f64> {
        let clock = Instant::now();
        let Self { objective, codes, uniforms, adam, .. } = self;
        let (gradient, _) = gradient(objective, &adam.parameters, codes, uniforms);
        let step = AdamStep { learning_rate: LEARNING_RATE, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };
        self.adam.step_into(&mut self.next, &gradient, &self.groups, &step);
        std::mem::swap(&mut self.adam, &mut self.next);
        Ok(clock.elapsed().as_secs_f64() * 1e3)
    }

    fn check(&mut self) -> Result<Option<Check>> {
        let Self { objective, codes, uniforms, start, .. } = self;
        let (gradient, loss) = gradient(objective, start, codes, uniforms);
        let names = ["W1", "b1", "W2", "b2"];
        let tensors = self.objective.model().tensors();
        let norm = |range: std::ops::Range<usize>| {
            gradient[range].iter().map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt()
        };
        let norms = names.iter().zip(&tensors).map(|(name, t)| ((*name).to_string(), norm(t.range())));
        Ok(Some(Check::Step(StepCheck { loss, gradient_norms: norms.collect() })))
    }
}

/// υ, skew, B₁, B₂, C and x₀ from the code; everything else fixed.
fn spec() -> Architecture {
    Architecture::new(Lds::new(4, 1, 1), D_CODE)
        .features(FeatureMap::Trigonometric)
        .hidden(&[N_HIDDEN], Activation::Sigmoid)
        .fix("state_bias", 0.0)
        .fix("offset", 0.0)
        .fix("noise", NOISE_STD.ln())
        .adapt("initial_state")
}

/// The sequences, driven by one impulse.
fn family(outputs: &[f32]) -> mtds::Result<Family> {
    let sequence = |i: usize| {
        let y = outputs[i * N_TIME..(i + 1) * N_TIME].iter().map(|&y| f64::from(y)).collect();
        Sequence::new(format!("{i}"), Signal::column(y))
    };
    let sequences = (0..N_SEQ).map(sequence).collect::<mtds::Result<Vec<_>>>()?;
    Family::new(sequences)?.with_common_inputs(super::impulse(N_TIME))
}
