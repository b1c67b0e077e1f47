//! The paper's recipe for the oscillators, as printed, and what had to be chosen where it is silent.
//!
//! ```text
//! epoch     η       β₁    mean of log s     M            prior log s ~ N(mean, 0.05²) while learning
//!     1   8e-4    0.9        −1.0        1 000           M_rsmp = 5 particles per sequence carry the gradient
//!   200   8e-4    0.9        −1.3        1 000           rate of A: η / 10
//!   600   4e-4    0.9        −1.5        2 000
//!  1000   2e-4    0.8        −1.5        4 000           log s ~ N(−2.0, 0.1²), inferred with z, afterwards
//! ```
//!
//! From the supplement of Bird & Williams (2020), "Damped Harmonic Oscillation": z ∈ R⁴ → (z, sin z, cos z, ‖z‖) → 300
//! sigmoids → 22 raw values (υ 4, skew 6, gate of B 4, B 4, C 4), x ∈ R⁴, D = 0, s shared.
//!
//! Chosen here: an epoch is one step on all sequences; η, β₁ and M change in steps, the mean of log s in straight
//! lines ("annealed"); log s starts at the mean of its prior; other starting values are the library's; 0.05 is read as a
//! standard deviation; learning ends at [`STEPS`], which the paper does not say.

use mtds::parts::{
    Activation, Candidate, Carriers, FeatureMap, Interpolation, Lds, MonteCarlo, MonteCarloObjective,
    NoiseBelief, NoiseRule, Outcome, PriorStart, ScalingRule, Schedule, Trainer, TrainingPlan,
};
use mtds::random::{Stream, stream};
use mtds::{Architecture, Control, Error, Online, Progress, Result, System};
use serde::{Deserialize, Serialize};

use super::Learned;
use crate::dho::protocol::TrainingSet;

/// Steps at full scale: about as many as it takes log s to reach −2, which the paper says it learned.
///
/// Held-out scores by number of steps: `cargo test --release -p mtds-experiments where_the_papers -- --ignored --nocapture`.
pub const STEPS: u64 = 6000;
/// Epochs at which the table has a row.
const EPOCHS: [u64; 4] = [1, 200, 600, 1000];
/// Length of a code, and size of the state.
const D_CODE: usize = 4;
const D_STATE: usize = 4;

/// Settings of the recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Paper {
    /// How it learns.
    pub start: PriorStart,
    /// Units of the hidden layer; 300.
    pub hidden: usize,
    /// How codes are inferred; what it says of the noise is replaced by `log_noise`.
    pub online: Online,
    /// Mean and standard deviation of log s when codes are inferred; (−2.0, 0.1).
    pub log_noise: (f64, f64),
}

impl Paper {
    /// The recipe with the table as it stands, stopped after `steps` steps.
    ///
    /// # Errors
    /// None in practice: the numbers are literals.
    pub fn new(steps: u64) -> Result<Self> {
        let column = |interpolation, values: [f64; 4]| {
            Schedule::new(interpolation, EPOCHS.into_iter().zip(values).collect())
        };
        let objective = MonteCarlo {
            particles: column(Interpolation::Step, [1000.0, 1000.0, 2000.0, 4000.0])?,
            carriers: Carriers::Resampled(5),
            noise: NoiseRule::Prior {
                mean: column(Interpolation::Linear, [-1.0, -1.3, -1.5, -1.5])?,
                std_dev: 0.05,
            },
            rates: vec![("decay".into(), 0.1), ("rotation".into(), 0.1)],
            ..MonteCarlo::default()
        };
        let plan = TrainingPlan {
            steps,
            learning_rate: column(Interpolation::Step, [8e-4, 8e-4, 4e-4, 2e-4])?,
            beta1: column(Interpolation::Step, [0.9, 0.9, 0.9, 0.8])?,
            ..TrainingPlan::default()
        };
        let start = PriorStart { objective, plan };
        Ok(Self { start, hidden: 300, online: Online::default(), log_noise: (-2.0, 0.1) })
    }

    /// Learns one model.
    ///
    /// # Errors
    /// Settings out of range, a loss that is not finite.
    pub fn learn(
        &self,
        training: &TrainingSet,
        seed: u64,
        observer: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<Learned> {
        let mut trainer = self.trainer(training, seed)?;
        let Outcome { parameters, history, .. } = trainer.run(observer)?;
        let model = trainer.objective().model().clone().with_parameters(parameters)?;
        let online = self.online_for(&model)?;
        let bounds = history.steps().iter().map(|record| (0, record.step, record.bound)).collect();
        Ok(Learned { members: vec![Candidate::new(model, online)], evidence_power: 1.0, bounds })
    }

    fn trainer(&self, training: &TrainingSet, seed: u64) -> Result<Trainer<MonteCarloObjective>> {
        let (family, start) = (training.family(), &self.start);
        let model = System::initialise(
            self.spec(),
            ScalingRule::Identity.scaling(family)?,
            &mut stream(seed, Stream::Initialise),
        )?;
        let mut parameters = model.parameters().to_vec();
        if let NoiseRule::Prior { mean, .. } = &start.objective.noise {
            let block = model.layout().block("noise").ok_or_else(no_noise)?.slots();
            let shared = &mut parameters[model.spec().network.n_parameters()..];
            shared[block].fill(mean.value_at(1) as f32);
        }
        let objective = MonteCarloObjective::new(model, family, None, start.objective.clone())?;
        Trainer::new(objective, parameters, start.plan.clone(), stream(seed, Stream::Training))
    }

    /// The architecture.
    #[must_use]
    pub fn spec(&self) -> Architecture {
        Architecture::new(Lds::new(D_STATE, 1, 1), D_CODE)
            .features(FeatureMap::Trigonometric)
            .hidden(&[self.hidden], Activation::Sigmoid)
            .fix("state_bias", 0.0)
            .fix("offset", 0.0)
    }

    /// Inference with the noise as the paper believes it to be, said relative to the learned one.
    ///
    /// # Errors
    /// A model without noise of its own.
    pub fn online_for(&self, model: &System) -> Result<Online> {
        let learned = model.block_values("noise").ok_or_else(no_noise)?[0];
        let noise = NoiseBelief::Uncertain { mean: self.log_noise.0 - learned, std_dev: self.log_noise.1 };
        Ok(Online { noise, ..self.online.clone() })
    }
}

fn no_noise() -> Error {
    Error::Setting { name: "noise".into(), why: "the model has no noise of its own".into() }
}
