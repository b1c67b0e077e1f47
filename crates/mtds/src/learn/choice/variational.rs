//! Settings that variational learning alone has: the rules by which they follow, their ranges, and the stage made of them.

use super::rules::Chooser;
use super::{Beginning, Choices, LearnRule, Recipe, Wishes};
use crate::base::Base;
use crate::learn::elbo::{
    CodeSearch, Estimator, GroupRule, HardEnding, HardPhase, Variational, WeightedGradient,
};
use crate::learn::{Interpolation, Schedule, VariationalRefine};
use crate::{Error, Result};

/// σ of every code in a hard phase; that of the published code of the paper.
const HARD_STD_DEV: f64 = 0.005;
/// Deviation of the first means, and of the first beliefs.
const FIRST_STD_DEV: [f64; 2] = [0.5, 0.5];
/// Factor on the learning rate of beliefs: each sees one sequence, the generator all of them.
const BELIEF_RATE: f64 = 5.0;
/// Points of the prior among which beliefs look for better codes, and how often in the first part of learning.
const SEARCH: (usize, u64) = (255, 10);
/// Segments of a minibatch where a network is large, and what is large: units of the front, or size of the state.
const MINIBATCH: usize = 16;
const LARGE: (usize, usize) = (256, 64);
/// Sequences of a minibatch of a large family, and of a very large one; from how many on a family is one.
pub(super) const OF_MANY: usize = 256;
const OF_VERY_MANY: usize = 384;
const MANY: usize = 512;
const VERY_MANY: usize = 4000;
/// Draws of held-out bounds where steps are minibatches: a check costs no more than some dozens of them.
const QUICK_DRAWS: usize = 32;
/// Why a setting of variational learning has no effect.
const UNUSED: &str = "only elbo and iwae have it";

/// Fills in what elbo and iwae need to know; `steps` are those of all learning after a start.
pub(super) fn fill(by: &mut Chooser, w: &mut Wishes, learn: LearnRule, (start, steps): (Beginning, u64)) {
    let is_mco = learn == LearnRule::Mco;
    let or = |why: &'static str| if is_mco { UNUSED } else { why };
    let units = by.fill("amortised", &mut w.amortised, (0, or("a belief per sequence is learned sooner")));
    let hard = match units {
        _ if is_mco => (0, UNUSED),
        0 => (0, "the code is used without one; try it where it collapses"),
        _ => (steps / 4, "a network finds out sooner what tells sequences apart"),
    };
    by.fill("hard_steps", &mut w.hard_steps, hard);
    by.fill("hard_std", &mut w.hard_std, (HARD_STD_DEV, or("that of the published code of the paper")));
    let rate = if is_mco || units > 0 { 1.0 } else { BELIEF_RATE };
    let why = or("each belief sees one sequence, the generator all of them");
    by.fill("code_rate", &mut w.code_rate, (rate, why));
    let warmup = if is_mco || start == Beginning::Curves { 0 } else { steps / 4 };
    let why = or("the divergence from the prior comes in once codes tell sequences apart");
    by.fill("kl_warmup", &mut w.kl_warmup, (warmup, why));
    by.fill(
        "smooth",
        &mut w.smooth,
        (0.0, or("segments tell by themselves whether a sequence stays as it is")),
    );
    by.fill("temperature", &mut w.temperature, (1.0, or("outputs count in full")));
    by.fill("shared_rate", &mut w.shared_rate, (1.0, or("as fast as the generator")));
    by.fill("shared_l2", &mut w.shared_l2, (0.0, or("few numbers, which all sequences speak of")));
    by.fill("window", &mut w.window, (0, or("gradients flow through whole sequences")));
}

/// How many of so many pieces take part in a step; `is_long`: a step with all of them is a lot of work.
pub(super) fn minibatch(
    w: &Wishes,
    learn: LearnRule,
    (pieces, is_long): (usize, bool),
) -> (usize, &'static str) {
    let is_large = w.front.is_some_and(|n| n >= LARGE.0) || w.state.is_some_and(|n| n >= LARGE.1);
    match learn {
        LearnRule::Mco => (0, UNUSED),
        _ if is_large && pieces > MINIBATCH => {
            (MINIBATCH, "each step of a large network takes a few segments")
        }
        _ if is_long && pieces >= MANY => {
            let taken = if pieces < VERY_MANY { OF_MANY } else { OF_VERY_MANY };
            (taken, "many small steps learn more than few that take all")
        }
        _ => (0, "every step takes all of them"),
    }
}

/// Times the usual number of steps that minibatches of so many pieces take: each piece is to come some hundreds of times.
pub(super) fn more_steps(minibatch: usize, pieces: usize) -> f64 {
    match minibatch >= OF_MANY {
        true => 1.5 * (pieces as f64 / VERY_MANY as f64).clamp(1.0, 2.0),
        false => 1.0,
    }
}

impl Choices {
    /// Ranges of what elbo and iwae have, and that none of it is asked of another way to learn.
    pub(super) fn check_variational(&self) -> Result<()> {
        let number = |n: u64| n as f64;
        let settings = [
            ("hard_steps", number(self.hard_steps), number(self.refine_steps)),
            ("kl_warmup", number(self.kl_warmup), number(self.refine_steps)),
            ("minibatch", self.minibatch as f64, f64::INFINITY),
            ("amortised", self.amortised as f64, 4096.0),
            ("window", self.window as f64, f64::INFINITY),
        ];
        for (key, found, most) in settings {
            if self.learn == LearnRule::Mco && found > 0.0 {
                let why = format!("found {found}, but {UNUSED}; ask for `elbo` or `iwae` as `learn`, too");
                return Err(Error::setting(key, why));
            }
            if found > most {
                return Err(Error::setting(key, format!("found {found}; expected at most {most}")));
            }
        }
        if self.hard_steps == 0 && self.hard_std != HARD_STD_DEV {
            let why = format!("found {}, but no hard steps; ask for `hard_steps`, too", self.hard_std);
            return Err(Error::setting("hard_std", why));
        }
        if self.learn == LearnRule::Mco && self.code_rate != 1.0 {
            let why =
                format!("found {}, but {UNUSED}; ask for `elbo` or `iwae` as `learn`, too", self.code_rate);
            return Err(Error::setting("code_rate", why));
        }
        if self.learn == LearnRule::Mco && (self.shared_rate, self.shared_l2) != (1.0, 0.0) {
            let (rate, l2) = (self.shared_rate, self.shared_l2);
            let why =
                format!("found {rate} and {l2}, but {UNUSED}; ask for `elbo` or `iwae` as `learn`, too");
            return Err(Error::setting("shared_rate and shared_l2", why));
        }
        if !(self.shared_rate > 0.0 && self.shared_rate <= 100.0) {
            let why = format!("found {}; expected above 0, at most 100", self.shared_rate);
            return Err(Error::setting("shared_rate", why));
        }
        if !(self.shared_l2.is_finite() && self.shared_l2 >= 0.0) {
            return Err(Error::setting("shared_l2", format!("found {}; expected 0 or more", self.shared_l2)));
        }
        let is_cut = self.learn == LearnRule::Elbo && self.segment > 0 && self.amortised == 0;
        if self.smooth != 0.0 && !is_cut {
            let why = format!(
                "found {}, but no segments with codes of their own; ask for `segment` and for `elbo` as `learn`, too",
                self.smooth
            );
            return Err(Error::setting("smooth", why));
        }
        if !(0.0..=1e6).contains(&self.smooth) {
            return Err(Error::setting(
                "smooth",
                format!("found {}; expected 0 to 1000000 steps", self.smooth),
            ));
        }
        if !(self.temperature > 0.0 && self.temperature <= 10.0) {
            let why = format!("found {}; expected above 0, at most 10", self.temperature);
            return Err(Error::setting("temperature", why));
        }
        if self.learn == LearnRule::Mco && self.temperature != 1.0 {
            let why =
                format!("found {}, but {UNUSED}; ask for `elbo` or `iwae` as `learn`, too", self.temperature);
            return Err(Error::setting("temperature", why));
        }
        Ok(())
    }

    /// The stage of learning by elbo or iwae.
    pub(super) fn variational(&self, base: &Base) -> Result<VariationalRefine> {
        let estimator = match self.learn {
            LearnRule::Iwae => Estimator::ImportanceWeighted(WeightedGradient::DoublyReparameterised),
            LearnRule::Elbo | LearnRule::Mco => Estimator::Elbo,
        };
        let ending = HardEnding::Rescaled;
        let hard = HardPhase { steps: self.hard_steps, std_dev: self.hard_std, ending };
        let half = self.refine_steps / 2;
        let (points, times) = SEARCH;
        // Codes that tell sequences apart from the first step need no search, and large networks have no time for one.
        let search = CodeSearch { every: (half / times).max(10), until: half, points };
        Ok(VariationalRefine {
            objective: Variational {
                estimator,
                draws: self.refine_particles,
                batch: (self.minibatch > 0).then_some(self.minibatch),
                jitter: self.jitter,
                smooth: (self.smooth > 0.0).then_some(self.smooth),
                held_out_draws: self.held_out_draws(),
                divergence_weight: self.warmup()?,
                temperature: Schedule::constant(self.temperature)?,
                hard: (self.hard_steps > 0).then_some(hard),
                search: (self.recipe == Recipe::Usual && self.start != Beginning::Responses)
                    .then_some(search),
                first_std_dev: FIRST_STD_DEV,
                window: (self.window > 0).then_some(self.window),
                noise: self.falling_noise()?,
                rates: self.rates(base),
                generator: GroupRule { rate: 1.0, l2: self.l2 },
                shared: GroupRule { rate: self.shared_rate, l2: self.shared_l2 },
                front: GroupRule { rate: 1.0, l2: self.front_l2 },
                beliefs: GroupRule { rate: self.code_rate, l2: 0.0 },
            },
            plan: self.refine_plan()?,
            network: (self.amortised > 0).then_some(self.amortised),
        })
    }

    /// Deviation of the first beliefs.
    pub(super) fn first_std_dev(&self) -> f64 {
        if self.hard_steps > 0 { self.hard_std } else { FIRST_STD_DEV[1] }
    }

    /// Draws of the held-out bound.
    pub(crate) fn held_out_draws(&self) -> usize {
        if self.minibatch > 0 { QUICK_DRAWS } else { Variational::default().held_out_draws }
    }

    /// The weight of the divergence: up from 0 once a hard phase has ended.
    fn warmup(&self) -> Result<Schedule> {
        match self.kl_warmup {
            0 => Schedule::constant(1.0),
            steps => {
                let first = self.hard_steps + 1;
                Schedule::new(Interpolation::Linear, vec![(first, 0.0), (first + steps, 1.0)])
            }
        }
    }
}
