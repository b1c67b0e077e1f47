//! W2: a step of learning the oscillators by the Monte-Carlo objective, as `mtds fit` begins with it, on the processor or on a graphics card.
//!
//! What is timed are the steps of whole starts from the prior, from much noise to little, which decides how many particles carry the gradient:
//! of oscillators that ring and decay, with units of tanh where what is checked has the sigmoids of the peers.

use mtds::parts::{
    Activation, Beginning, Carriers, Codes, FeatureMap, Lds, MonteCarlo, MonteCarloObjective, ScalingRule,
    Schedule,
};
use mtds::{Architecture, Device, Family, LearnRule, Scaling, Sequence, Signal, System, Wishes};

use super::Work;
use super::steps::Steps;
use crate::check::{Check, StepCheck};
use crate::error::{Error, Result};
use crate::inputs::{D_CODE, N_HIDDEN, N_PARTICLE, N_RESAMPLED, N_SEQ, N_TIME, NOISE_STD, W2Inputs, h32};

/// Name of the work.
pub const NAME: &str = "w2";

/// A step of a run, from draws of its own; checked with the draws that the peers have.
pub struct W2 {
    card: Option<Device>,
    /// A start in progress, and how many of its steps were taken.
    fit: Option<(Steps, u64)>,
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
        let own = |source| Error::Own { work: NAME.into(), source };
        Ok(Self {
            card: card.cloned(),
            fit: None,
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
        let mut start = match self.fit.take().filter(|(_, taken)| *taken < START) {
            Some(start) => start,
            None => {
                let own = |source| Error::Own { work: NAME.into(), source };
                let family = family(&oscillators()).map_err(own)?;
                (Steps::new(NAME, (&family, wishes()), self.card.as_ref())?, 0)
            }
        };
        let took = start.0.take(1)?;
        start.1 += 1;
        self.fit = Some(start);
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

/// Steps of a start.
const START: u64 = 100;

/// Outputs that ring and decay at rates of their own, N × T.
fn oscillators() -> Vec<f32> {
    let values = h32(3 * N_SEQ, 31, 1.0);
    let of = |own: &[f32]| {
        let (rate, decay, phase) = (0.6 + 0.3 * own[0], 0.06 + 0.04 * own[1], 3.0 * own[2]);
        (0..N_TIME).map(move |t| {
            let t = t as f32;
            (-decay * t).exp() * (rate * t + phase).sin()
        })
    };
    values.chunks_exact(3).flat_map(of).collect()
}

/// Settings of the fit whose steps are timed.
fn wishes() -> Wishes {
    Wishes {
        base: Some("lds".to_owned()),
        state: Some(4),
        code: Some(D_CODE),
        hidden: Some(vec![N_HIDDEN]),
        adapt: Some(vec!["initial_state".to_owned()]),
        fix: Some(["state_bias", "offset", "feedthrough"].map(str::to_owned).to_vec()),
        scaling: Some(ScalingRule::Identity),
        clock: Some(0),
        compare: Some(false),
        validation: Some(0.0),
        learn: Some(LearnRule::Mco),
        start: Some(Beginning::Prior),
        start_steps: Some(START),
        particles: Some(N_PARTICLE),
        resampled: Some(N_RESAMPLED),
        ..Wishes::default()
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
