//! W1: a step of learning the paper's mocap model, as `mtds fit` takes it; and frames of it.
//!
//! ```text
//! timed      a family of segments → Fit: minibatches, one draw a segment, noise that follows the residuals, Adam
//! checked    its objective at the parameters of the peers: s = 1, σ ≈ 0, no divergence
//! ```
//! On a graphics card a round is several steps, as a fit takes them one after another there.
//!
//! With s = 1 fixed the loss is half the squared error of the peers, up to constants; codes are the means of the beliefs.

use std::time::Instant;

use mtds::parts::{
    Beginning, Front, HardEnding, HardPhase, Objective, RateRule, Rnn, ScalingRule, Variational,
    VariationalObjective,
};
use mtds::random::stream;
use mtds::{Architecture, Device, Family, LearnRule, Scaling, Sequence, Signal, System, Wishes};

use super::Work;
use super::steps::Steps;
use crate::check::{Check, StepCheck};
use crate::error::{Error, Result};
use crate::inputs::LEARNING_RATE;
use crate::w1_inputs::{D_BOTTLENECK, D_CODE, D_IN, D_OUT, D_STATE, N_GENERATED, N_TIME, W1Inputs, W1Size};

/// The step at the paper's sizes.
pub const NAME: &str = "w1";
/// All sizes but the paper's, together.
pub const ALL_SIZES: &str = "w1-sizes";

const fn hidden(hidden: usize) -> W1Size {
    W1Size { hidden, ..W1Size::PAPER }
}

const fn batch(batch: usize) -> W1Size {
    W1Size { batch, ..W1Size::PAPER }
}

/// Other numbers of units (h) and of sequences (b).
pub const SIZES: &[(&str, W1Size)] = &[
    ("w1-h64", hidden(64)),
    ("w1-h256", hidden(256)),
    ("w1-h512", hidden(512)),
    ("w1-h2048", hidden(2048)),
    ("w1-b1", batch(1)),
    ("w1-b4", batch(4)),
    ("w1-b64", batch(64)),
    ("w1-b256", batch(256)),
];

/// Segments of the family for each of a minibatch.
const BATCHES: usize = 4;
/// Steps of a round on a card.
const STEPS_ON_CARD: usize = 20;

/// The training step at one size; built when it is first used.
pub struct W1 {
    name: String,
    size: W1Size,
    /// A card, or the processor.
    card: Option<Device>,
    fit: Option<Steps>,
}

impl W1 {
    /// The step at a size, under the name of its row, on a card or on the processor.
    pub fn new(name: &str, size: W1Size, card: Option<Device>) -> Self {
        Self { name: name.to_string(), size, card, fit: None }
    }

    fn own(&self, source: mtds::Error) -> Error {
        Error::Own { work: self.name.clone(), source }
    }
}

/// The model at its start.
fn system(size: W1Size, inputs: &W1Inputs) -> mtds::Result<System> {
    let base = Rnn::new(D_STATE, D_OUT, D_BOTTLENECK);
    let spec = Architecture::new(base, D_CODE).share("bias").fix("noise", 0.0).behind(Front::new(
        D_IN,
        size.hidden,
        D_BOTTLENECK,
    ));
    let i = inputs;
    let parameters =
        [&i.generator[..], &i.generator_bias, &i.state_bias, &i.wih, &i.whh, &i.bih, &i.bhh, &i.bottleneck];
    System::new(spec, Scaling::identity(D_OUT, D_IN), parameters.concat())
}

/// The segments, `copies` times over.
pub(super) fn family(size: W1Size, inputs: &W1Inputs, copies: usize) -> mtds::Result<Family> {
    let signal = |values: &[f32], i: usize, width: usize| {
        let row = |t: usize| &values[(t * size.batch + i) * width..][..width];
        Signal::new(N_TIME, width, (0..N_TIME).flat_map(row).map(|&x| f64::from(x)).collect())
    };
    let segment = |at: usize| {
        let i = at % size.batch;
        let outputs = signal(&inputs.outputs, i, D_OUT)?;
        Sequence::new(format!("segment {at}"), outputs)?.with_inputs(signal(&inputs.inputs, i, D_IN)?)
    };
    Family::new((0..copies * size.batch).map(segment).collect::<mtds::Result<_>>()?)
}

/// Settings of the fit whose steps are timed.
fn wishes(size: W1Size) -> Wishes {
    Wishes {
        base: Some("layered".to_owned()),
        front: Some(size.hidden),
        bottleneck: Some(D_BOTTLENECK),
        front_skip: Some(false),
        state: Some(D_STATE),
        code: Some(D_CODE),
        hidden: Some(vec![]),
        share: Some(vec!["bias".to_owned()]),
        scaling: Some(ScalingRule::Identity),
        segment: Some(0),
        compare: Some(false),
        validation: Some(0.0),
        learn: Some(LearnRule::Elbo),
        start: Some(Beginning::None),
        minibatch: Some(size.batch),
        refine_particles: Some(1),
        refine_steps: Some(u64::MAX),
        hard_steps: Some(u64::MAX),
        learning_rate: Some(LEARNING_RATE),
        schedule: Some(RateRule::Constant),
        patience: Some(0),
        ..Wishes::default()
    }
}

/// What is checked: the segments of one minibatch, as the peers have them.
fn objective(size: W1Size, inputs: &W1Inputs, card: Option<&Device>) -> mtds::Result<VariationalObjective> {
    let settings = Variational {
        draws: 1,
        batch: Some(size.batch),
        hard: Some(HardPhase { steps: u64::MAX, std_dev: 1e-9, ending: HardEnding::Unchanged }),
        ..Variational::default()
    };
    let system = system(size, inputs)?.on(card.unwrap_or(&Device::cpu()));
    VariationalObjective::new(system, &family(size, inputs, 1)?, None, settings)
}

/// Parameters at step 0: the model's, then means and log deviations of the beliefs.
fn parameters(objective: &VariationalObjective, inputs: &W1Inputs) -> Vec<f32> {
    let mut all = objective.first_parameters(&mut stream(0, 0));
    let first = objective.model().n_parameters();
    all[first..first + inputs.codes.len()].copy_from_slice(&inputs.codes);
    all
}

impl Work for W1 {
    fn name(&self) -> &str {
        &self.name
    }

    fn threads(&self) -> usize {
        rayon::current_num_threads()
    }

    fn round(&mut self) -> Result<f64> {
        let fit = match &mut self.fit {
            Some(fit) => fit,
            none => {
                let family = family(self.size, &W1Inputs::new(self.size), BATCHES);
                let family = family.map_err(|source| Error::Own { work: self.name.clone(), source })?;
                none.insert(Steps::new(&self.name, (&family, wishes(self.size)), self.card.as_ref())?)
            }
        };
        fit.take(if self.card.is_some() { STEPS_ON_CARD } else { 1 })
    }

    fn check(&mut self) -> Result<Option<Check>> {
        let inputs = W1Inputs::new(self.size);
        let objective = objective(self.size, &inputs, self.card.as_ref());
        let mut objective = objective.map_err(|e| self.own(e))?;
        let parameters = parameters(&objective, &inputs);
        let mut gradient = vec![0.0; parameters.len()];
        let report = objective.gradient(&parameters, &mut gradient, 1, &mut stream(0, 0));
        let report = report.map_err(|e| self.own(e))?;
        // The loss is Σ (½ e² + ½ ln 2π) over the outputs of a segment; the peers' is the mean of e² over all of them.
        let each = (N_TIME * D_OUT) as f64;
        let scale = 2.0 / each;
        let loss = scale * report.loss - (2.0 * std::f64::consts::PI).ln();
        let mut rest = &gradient[..];
        let mut norms = std::collections::BTreeMap::new();
        for (name, len) in blocks(self.size) {
            let (own, after) = rest.split_at(len);
            rest = after;
            if let Some(name) = name {
                let norm = own.iter().map(|&g| f64::from(g).powi(2)).sum::<f64>().sqrt();
                norms.insert(name.to_string(), scale * norm);
            }
        }
        Ok(Some(Check::Step(StepCheck { loss, gradient_norms: norms })))
    }

    fn note(&mut self, median_ms: f64) -> Option<String> {
        // The state of one size is hundreds of megabytes, and no other size needs it.
        self.fit = None;
        Some(format!("{:.0} Gflop/s in products", self.size.operations() * 1e-6 / median_ms))
    }
}

/// Names, where peers have them, and lengths of the parameters, in order.
fn blocks(size: W1Size) -> [(Option<&'static str>, usize); 9] {
    let h = size.hidden;
    [
        (Some("Wz"), N_GENERATED * D_CODE),
        (Some("bz"), N_GENERATED),
        (None, D_STATE),
        (Some("wih"), 3 * h * D_IN),
        (Some("whh"), 3 * h * h),
        (Some("bih"), 3 * h),
        (Some("bhh"), 3 * h),
        (Some("H"), D_BOTTLENECK * h),
        (Some("z"), size.batch * D_CODE),
    ]
}

/// Frames in a round of `w1-generate`.
const FRAMES: usize = 100;

/// One sequence of the paper's size, from a code and inputs, on one thread.
pub struct Generate {
    system: System,
    code: Vec<f64>,
    inputs: Signal,
    pool: rayon::ThreadPool,
}

impl Generate {
    /// Name of the work.
    pub const NAME: &str = "w1-generate";

    /// The model at its start.
    ///
    /// # Errors
    /// If the library refuses the sizes, or there is no thread.
    pub fn new() -> Result<Self> {
        let own = |source| Error::Own { work: Self::NAME.into(), source };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.map_err(|e| Error::Threads(e.to_string()))?;
        let size = W1Size { batch: 1, ..W1Size::PAPER };
        let inputs = W1Inputs::new(size);
        let rows = inputs.inputs.iter().cycle().take(FRAMES * D_IN).map(|&u| f64::from(u)).collect();
        Ok(Self {
            system: system(size, &inputs).map_err(own)?,
            code: inputs.codes.iter().map(|&z| f64::from(z)).collect(),
            inputs: Signal::new(FRAMES, D_IN, rows).map_err(own)?,
            pool,
        })
    }
}

impl Work for Generate {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn threads(&self) -> usize {
        1
    }

    fn round(&mut self) -> Result<f64> {
        let (system, code, inputs) = (&self.system, &self.code, &self.inputs);
        self.pool.install(|| {
            let clock = Instant::now();
            let frames = system.generate(code, Some(inputs), FRAMES);
            frames.map_err(|source| Error::Own { work: Self::NAME.into(), source })?;
            Ok(clock.elapsed().as_secs_f64() * 1e3)
        })
    }

    fn check(&mut self) -> Result<Option<Check>> {
        Ok(None)
    }

    fn note(&mut self, median_ms: f64) -> Option<String> {
        Some(format!("{:.0} frames per second, one sequence", FRAMES as f64 / median_ms * 1e3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::compare;

    /// Eager PyTorch 2.15: `{"work":"w1","do":"check","hidden":64,"batch":3}` to `bench/peers/torch_worker.py`.
    #[test]
    fn a_small_step_has_the_numbers_of_the_peer() {
        let norms = [
            ("wih", 1.555_064_96e-3),
            ("whh", 5.158_293_92e-4),
            ("bih", 1.377_997_03e-3),
            ("bhh", 6.907_119_76e-4),
            ("H", 2.175_941_09e-3),
            ("Wz", 2.603_232_60e-2),
            ("bz", 2.184_358_29e-2),
            ("z", 2.597_348_89e-4),
        ];
        let gradient_norms = norms.map(|(name, norm)| (name.to_string(), norm)).into_iter().collect();
        let known = Check::Step(StepCheck { loss: 0.337_490_469, gradient_norms });
        let found = W1::new("w1", W1Size { hidden: 64, batch: 3 }, None).check().unwrap().unwrap();
        let agreement = compare("w1", ("mtds", &found), ("torch", &known));
        assert!(agreement.agrees, "{}", agreement.detail);
    }
}
