//! The paper's architecture and inference, learned by the evidence lower bound instead of Algorithm 1.
//!
//! ```text
//! q_i = N(μ_i, diag σ_i²) of every training sequence, 16 draws per step, gradient norm at most 100
//! log s ~ N(mean, 0.05²), mean −0.3 → −1.5 in a straight line      rates: η, 5 η for μ and log σ, 0.3 η for A
//! ```
//! The noise begins higher than in Algorithm 1: a belief follows gradients, and under wide noise the likelihood has few
//! modes in which it could stay.

use mtds::infer::Candidate;
use mtds::learn::{
    GroupRule, Interpolation, NoiseRule, Outcome, Progress, ScalingRule, Schedule, Trainer, TrainingPlan,
    Variational, VariationalObjective,
};
use mtds::random::{Stream, stream};
use mtds::{Control, Result, System};
use serde::{Deserialize, Serialize};

use super::{Learned, Paper};
use crate::dho::protocol::TrainingSet;

/// Mean of log s at the start and in the end.
const LOG_NOISE: [f64; 2] = [-0.3, -1.5];
/// Learning rate until half of the steps are taken; a twentieth of it in the end.
const RATE: f64 = 2e-3;

/// Settings of the recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Elbo {
    /// What is maximised.
    pub objective: Variational,
    /// How it is maximised.
    pub plan: TrainingPlan,
    /// Architecture and inference; how it learns is not looked at.
    pub paper: Paper,
}

impl Elbo {
    /// The recipe for these many steps, at least 8; the noise is down after a quarter of them.
    ///
    /// # Errors
    /// Too few steps for a schedule.
    pub fn new(steps: u64) -> Result<Self> {
        let mean = Schedule::new(Interpolation::Linear, [1, steps / 4].into_iter().zip(LOG_NOISE).collect())?;
        let rates = ["decay", "rotation"].map(|block| (block.to_string(), 0.3)).to_vec();
        let objective = Variational {
            noise: NoiseRule::Prior { mean, std_dev: 0.05 },
            first_std_dev: [0.5, 0.5],
            beliefs: GroupRule { rate: 5.0, l2: 0.0 },
            rates,
            ..Variational::default()
        };
        let points = vec![(1, RATE), (steps / 2, RATE), (steps, RATE / 20.0)];
        let plan = TrainingPlan {
            steps,
            learning_rate: Schedule::new(Interpolation::Log, points)?,
            clip_norm: Some(100.0),
            ..TrainingPlan::default()
        };
        Ok(Self { objective, plan, paper: Paper::new(steps)? })
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
        let (family, mut random) = (training.family(), stream(seed, Stream::Initialise));
        let scaling = ScalingRule::Identity.scaling(family)?;
        let model = System::initialise(self.paper.spec(), scaling, &mut random)?;
        let objective = VariationalObjective::new(model, family, None, self.objective.clone())?;
        let mut parameters = objective.first_parameters(&mut random);
        if let NoiseRule::Prior { mean, .. } = &self.objective.noise {
            let noise = objective.model().tensors().into_iter().find(|tensor| tensor.name == "shared.noise");
            noise.into_iter().for_each(|tensor| parameters[tensor.range()].fill(mean.value_at(1) as f32));
        }
        let mut trainer =
            Trainer::new(objective, parameters, self.plan.clone(), stream(seed, Stream::Training))?;
        let Outcome { parameters, history, .. } = trainer.run(observer)?;
        let model = trainer.objective().model_at(&parameters)?;
        let bounds = history.steps().iter().map(|record| (0, record.step, record.bound)).collect();
        let online = self.paper.online_for(&model)?;
        Ok(Learned { members: vec![Candidate::new(model, online)], evidence_power: 1.0, bounds })
    }
}
