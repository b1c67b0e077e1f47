//! W2: a step of learning the oscillators by the Monte-Carlo objective, as a `Trainer` takes it, on the processor or on a graphics card.

use std::time::Instant;

use mtds::parts::{
    Activation, Carriers, Codes, FeatureMap, Lds, MonteCarlo, MonteCarloObjective, Schedule, Trainer,
    TrainingPlan,
};
use mtds::random::{Stream, stream};
use mtds::{Architecture, Control, Device, Family, Scaling, Sequence, Signal, System};

use super::Work;
use crate::check::{Check, StepCheck};
use crate::error::{Error, Result};
use crate::inputs::{
    D_CODE, LEARNING_RATE, N_HIDDEN, N_PARTICLE, N_RESAMPLED, N_SEQ, N_TIME, NOISE_STD, W2Inputs,
};

/// Name of the work.
pub const NAME: &str = "w2";

/// A step of a run, from draws of its own; checked with the draws that the peers have.
pub struct W2 {
    trainer: Trainer<MonteCarloObjective>,
    checked: MonteCarloObjective,
    codes: Codes,
    uniforms: Vec<f64>,
}

impl W2 {
    /// The step at its start, on a card or on the processor.
    ///
    /// # Errors
    /// If the library refuses the inputs.
    pub fn new(card: Option<&Device>) -> Result<Self> {
        let (inputs, device) = (W2Inputs::new(), card.cloned().unwrap_or_default());
        let code = |i: usize, d: usize| f64::from(inputs.codes[i * D_CODE + d]);
        let plan = || -> mtds::Result<TrainingPlan> {
            let learning_rate = Schedule::constant(LEARNING_RATE)?;
            Ok(TrainingPlan { steps: u64::MAX, learning_rate, ..TrainingPlan::default() })
        };
        let trainer = || {
            let objective = objective(&inputs, &device)?;
            let parameters = objective.model().parameters().to_vec();
            Trainer::new(objective, parameters, plan()?, stream(0, Stream::Training))
        };
        let own = |source| Error::Own { work: NAME.into(), source };
        Ok(Self {
            trainer: trainer().map_err(own)?,
            checked: objective(&inputs, &device).map_err(own)?,
            codes: Codes::from_fn(N_PARTICLE, D_CODE, code),
            uniforms: inputs.uniforms.iter().map(|&u| f64::from(u)).collect(),
        })
    }
}

fn objective(inputs: &W2Inputs, device: &Device) -> mtds::Result<MonteCarloObjective> {
    let start = [&inputs.w1[..], &inputs.b1, &inputs.w2, &inputs.b2].concat();
    let model = System::new(spec(), Scaling::identity(1, 1), start)?.on(device);
    let settings = MonteCarlo {
        particles: Schedule::constant(N_PARTICLE as f64)?,
        carriers: Carriers::Resampled(N_RESAMPLED),
        ..MonteCarlo::default()
    };
    MonteCarloObjective::new(model, &family(&inputs.outputs)?, None, settings)
}

impl Work for W2 {
    fn name(&self) -> &str {
        NAME
    }

    fn threads(&self) -> usize {
        rayon::current_num_threads()
    }

    fn round(&mut self) -> Result<f64> {
        let (clock, mut took) = (Instant::now(), 0.0);
        let outcome = self.trainer.run(&mut |_| {
            took = clock.elapsed().as_secs_f64() * 1e3;
            Control::Stop
        });
        outcome.map_err(|source| Error::Own { work: NAME.into(), source })?;
        Ok(took)
    }

    fn check(&mut self) -> Result<Option<Check>> {
        let parameters = self.checked.model().parameters().to_vec();
        let mut gradient = vec![0.0; parameters.len()];
        let step = self.checked.gradient_at(&parameters, &self.codes, &self.uniforms, &mut gradient);
        // The peers' loss leaves out the constant of the Gaussian density.
        let constant = N_TIME as f64 * (NOISE_STD.ln() + 0.5 * (2.0 * std::f64::consts::PI).ln());
        let names = ["W1", "b1", "W2", "b2"];
        let tensors = self.checked.model().tensors();
        let norm = |range: std::ops::Range<usize>| {
            gradient[range].iter().map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt()
        };
        let norms = names.iter().zip(&tensors).map(|(name, t)| ((*name).to_string(), norm(t.range())));
        let loss = -step.weighted_log_likelihood - constant;
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
