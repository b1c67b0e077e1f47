//! From settings to an architecture and a course of learning.

use super::{Beginning, Choices, LearnRule, RateRule, Recipe};
use crate::base::{Base, BaseName};
use crate::family::SegmentPlan;
use crate::generator::{Activation, FeatureMap, Role, Skip};
use crate::infer::{AdaptiveImportance, NoiseBelief, Online};
use crate::learn::{
    Adapted, Carriers, Course, CurvesStart, Interpolation, MonteCarlo, NoiseRule, PriorStart, RandomEffects,
    Refine, RefineRule, ResponsesStart, Schedule, StartRule, StoppingRule, TrainingPlan,
};
use crate::system::{Architecture, Clock};
use crate::{Error, Result};

/// log s at the first step of a start, in deviations of an output: more than all of its variation.
const FIRST_LOG_NOISE: f64 = 0.5;
/// Learning rate of a start from the prior.
const START_RATE: f64 = 2e-3;
/// Steps between updates of a motion: half a second of a walk.
const MOTION_UPDATES: usize = 16;
/// Part of the way to the residuals' size that s goes in a step.
const DAMPING: f64 = 0.02;
/// Part of the refinement after which s may be as small as it likes.
const FALLEN: f64 = 0.6;
/// Checks of the held-out bound in a refinement.
const CHECKS: u64 = 40;
/// Blocks of a linear system that make its transition, and learn more slowly after random effects.
const TRANSITION: [&str; 2] = ["decay", "rotation"];

impl Choices {
    /// The architecture for outputs and inputs of these widths, in sequences of up to so many steps: a base model by its name or `own`, behind a front if there is to be one.
    ///
    /// # Errors
    /// A base model that does not exist, or cannot add outputs up; `own` of other widths.
    pub fn architecture(
        &self,
        (d_obs, d_input, n_time): (usize, usize, usize),
        own: Option<&Base>,
    ) -> Result<Architecture> {
        let front = self.front(d_input, d_obs);
        let clock = (self.clock > 0).then_some(Clock { steps: n_time, functions: self.clock });
        let driven = front.map_or(d_input + self.clock, |front| front.d_out());
        let base = match own {
            Some(own) if (own.d_obs(), own.d_input()) != (d_obs, driven) => {
                let sizes = |(d_obs, d_input)| format!("{d_obs} output(s) and {d_input} input(s)");
                let found = sizes((own.d_obs(), own.d_input()));
                return Err(Error::shape("the base model", sizes((d_obs, driven)), found));
            }
            Some(own) => own.clone(),
            None => {
                let name = BaseName::named(&self.base)?;
                match self.residual {
                    false => name.sized(self.state, d_obs, driven),
                    true => name.adding_up(self.state, d_obs, driven).ok_or_else(|| {
                        Error::setting(
                            "residual",
                            format!("found it with `{}`, which cannot add outputs up", self.base),
                        )
                    })?,
                }
            }
        };
        let architecture = self.around(base);
        let architecture = clock.map_or(architecture.clone(), |clock| architecture.clocked(clock));
        Ok(front.map_or(architecture.clone(), |front| architecture.behind(front)))
    }

    /// The architecture around a base model.
    fn around(&self, base: Base) -> Architecture {
        let blocks = base.blocks();
        let skip = if self.start == Beginning::Effects { Skip::Affine } else { Skip::None };
        // Codes that are rescaled after a hard phase go straight to weights that can be.
        let features = match self.learn {
            LearnRule::Mco => FeatureMap::Trigonometric,
            LearnRule::Elbo | LearnRule::Iwae => FeatureMap::Identity,
        };
        let spec = Architecture::new(base, self.code)
            .features(features)
            .hidden(&self.hidden, Activation::Tanh)
            .skip(skip)
            .tempered(self.temperature);
        let spec = if self.rank > 0 { spec.low_rank(self.rank) } else { spec };
        blocks.into_iter().fold(spec, |spec, block| {
            let listed = |names: &[String]| names.iter().any(|name| name == block.name);
            match (listed(&self.adapt), listed(&self.share), &block.role) {
                (true, _, _) => spec.adapt(block.name),
                (_, true, _) => spec.share(block.name),
                (_, _, Role::Fixed(value)) => spec.fix(block.name, *value),
                _ => spec.fix(block.name, block.mean),
            }
        })
    }

    /// The course of learning.
    ///
    /// # Errors
    /// Numbers that make no schedule.
    pub fn course(&self, base: &Base) -> Result<Course> {
        let start = match self.start {
            Beginning::Prior => self.prior_start()?,
            Beginning::Effects => StartRule::Effects(RandomEffects {
                restarts: self.particles,
                steps: self.start_steps,
                log_noise: (FIRST_LOG_NOISE - 0.4, self.start_noise.ln() - 1.1),
                start_log_noise: self.start_noise.ln(),
                ..RandomEffects::default()
            }),
            Beginning::Curves => StartRule::Curves(CurvesStart::default()),
            Beginning::Responses => StartRule::Responses(ResponsesStart {
                std_dev: self.first_std_dev(),
                inputs: self.start_inputs.clone(),
            }),
            Beginning::None => StartRule::None,
        };
        let refine = match self.learn {
            LearnRule::Mco => RefineRule::Adapted(Box::new(self.refine(base)?)),
            LearnRule::Elbo | LearnRule::Iwae => RefineRule::Variational(Box::new(self.variational(base)?)),
        };
        Ok(Course { scaling: self.scaling, start, refine })
    }

    /// How sequences are cut, if they are.
    #[must_use]
    pub fn segments(&self) -> Option<SegmentPlan> {
        (self.segment > 0).then_some(SegmentPlan { length: self.segment, overlap: self.overlap })
    }

    /// How codes of new members are inferred.
    #[must_use]
    pub fn online(&self) -> Online {
        let noise = NoiseBelief::Uncertain { mean: self.noise_shift, std_dev: self.noise_spread };
        if self.recipe == Recipe::Usual {
            return Online { noise, ..Online::default() };
        }
        // A rollout of a body costs a hundred times that of an oscillator, and at the temperature of learning its posterior is smooth.
        let importance = AdaptiveImportance {
            components: 1,
            samples: 256,
            first_samples: 768,
            final_samples: 512,
            min_ess: 50.0,
            retries: 1,
            ..AdaptiveImportance::default()
        };
        Online { importance, noise, every: MOTION_UPDATES, mode_starts: 4, ..Online::default() }
    }

    fn prior_start(&self) -> Result<StartRule> {
        let (steps, last) = (self.start_steps, self.start_noise.ln());
        let noise =
            Schedule::new(Interpolation::Linear, vec![(1, FIRST_LOG_NOISE.max(last)), (steps.max(2), last)])?;
        let objective = MonteCarlo {
            particles: Schedule::constant(self.particles as f64)?,
            carriers: match self.resampled {
                0 => Carriers::Weighted,
                drawn => Carriers::Resampled(drawn),
            },
            noise: NoiseRule::Scheduled(noise),
            l2: self.l2,
            ..MonteCarlo::default()
        };
        let plan = TrainingPlan {
            steps,
            learning_rate: Schedule::constant(START_RATE)?,
            clip_norm: Some(self.clip),
            ..TrainingPlan::default()
        };
        Ok(StartRule::Prior(Box::new(PriorStart { objective, plan })))
    }

    fn refine(&self, base: &Base) -> Result<Refine> {
        let objective = Adapted {
            particles: self.refine_particles,
            noise: self.falling_noise()?,
            l2: self.l2,
            skip_l2: 1.0,
            rates: self.rates(base),
            ..Adapted::default()
        };
        Ok(Refine { objective, plan: self.refine_plan()? })
    }

    /// Noise that follows the residuals, above a floor that falls.
    pub(super) fn falling_noise(&self) -> Result<NoiseRule> {
        let fallen = ((FALLEN * self.refine_steps as f64) as u64).max(2);
        let (first, last) = (self.start_noise.ln(), self.least_noise.ln());
        let floor = Schedule::new(Interpolation::Linear, vec![(1, first.max(last)), (fallen, last)])?;
        Ok(NoiseRule::Matched { damping: DAMPING, floor })
    }

    pub(super) fn refine_plan(&self) -> Result<TrainingPlan> {
        Ok(TrainingPlan {
            steps: self.refine_steps,
            learning_rate: self.refine_rate()?,
            clip_norm: Some(self.clip),
            averaging: (self.averaging > 0.0).then_some(self.averaging),
            stopping: StoppingRule {
                every: (self.refine_steps / CHECKS).max(25),
                patience: (self.patience > 0).then_some(self.patience),
                ..StoppingRule::default()
            },
            ..TrainingPlan::default()
        })
    }

    /// A short rise, then down along half a wave; or the same throughout.
    fn refine_rate(&self) -> Result<Schedule> {
        let (steps, rate) = (self.refine_steps, self.learning_rate);
        if self.schedule == RateRule::Constant {
            return Schedule::constant(rate);
        }
        let warm = 300.min(steps / 4);
        let points = match warm {
            0 | 1 => vec![(1, rate)],
            _ => vec![(1, 0.1 * rate), (warm, rate), (steps, rate / 20.0)],
        };
        Schedule::new(Interpolation::Cosine, points)
    }

    /// The front learns at a rate of its own; after random effects the transition learns more slowly, where the base model has these
    /// blocks.
    pub(super) fn rates(&self, base: &Base) -> Vec<(String, f64)> {
        if self.front > 0 {
            return vec![("front".to_owned(), self.front_rate)];
        }
        if self.start != Beginning::Effects {
            return vec![];
        }
        let blocks = base.blocks();
        let there = TRANSITION.iter().filter(|name| blocks.iter().any(|block| block.name == **name));
        there.map(|name| ((*name).to_owned(), 0.5)).collect()
    }
}
