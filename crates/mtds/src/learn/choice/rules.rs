//! The rules by which settings follow from the facts of a family.
//!
//! Numbers that follow N (prior, noise of new members) and the two ways to start are those of the oscillator
//! experiment, where they were tried; the rest keeps the work of a step, and what one observation weighs, near what
//! they were there: N = 128 sequences of T = 80 steps with one output.

use serde::Serialize;

use super::{Beginning, Choice, Choices, Drive, Facts, Wishes};
use crate::generator::{BlockSpec, Role};
use crate::learn::ScalingRule;
use crate::{Error, Result};

/// Longest sequences that are learned whole, and segments that longer ones are cut into.
const WHOLE: usize = 512;
const SEGMENT: usize = 256;
/// Sequences up to which there are too few for prior draws to find what they share.
const FEW: usize = 8;
/// Work of a step on the oscillators: codes, steps, multiplications of a state.
const USUAL_WORK: f64 = 32.0 * 128.0 * 80.0 * 24.0;
/// Times the usual work up to which steps are not made fewer.
const BEARABLE: f64 = 4.0;

/// Keeps wishes, makes choices, and notes the reasons.
struct Chooser {
    table: Vec<Choice>,
}

impl Chooser {
    fn choose<T: Clone + PartialEq + Serialize>(
        &mut self,
        key: &str,
        wished: Option<&T>,
        (found, why): (T, impl Into<String>),
    ) -> T {
        // A wish for what would be chosen anyway has the same reason, so that a replayed fit says the same.
        let asked = wished.is_some_and(|wished| *wished != found);
        let value = wished.cloned().unwrap_or(found);
        self.table.push(Choice {
            key: key.to_owned(),
            value: serde_json::to_value(&value).unwrap_or_default(),
            why: if asked { "as asked".into() } else { why.into() },
            asked,
        });
        value
    }
}

/// What later rules need of earlier ones.
struct Work {
    /// Steps that a rollout takes.
    n_time: usize,
    /// Sequences or segments to learn from.
    pieces: usize,
    /// Members to learn from.
    members: usize,
    /// Multiplications of a step.
    per_step: f64,
}

impl Choices {
    /// All settings for a family with these facts, and why each is what it is.
    ///
    /// `blocks` gives the blocks of θ of the base model for a size of its state.
    ///
    /// # Errors
    /// [`Error::Setting`] for a wish that is out of range, with its key; [`Error::Unknown`] for a block that does not exist.
    pub fn resolve(
        wishes: &Wishes,
        facts: &Facts,
        blocks: &dyn Fn(usize) -> Vec<BlockSpec>,
    ) -> Result<(Self, Vec<Choice>)> {
        let mut by = Chooser { table: vec![] };
        let base = by.choose("base", wishes.base.as_ref(), ("lds".to_owned(), "few numbers to learn, fast"));
        let validation = by.choose("validation", wishes.validation.as_ref(), validation(facts));
        let selection = by.choose("selection", wishes.selection.as_ref(), (0.0, "no code length to choose"));
        let segment = by.choose("segment", wishes.segment.as_ref(), segment(facts));
        let state = by.choose("state", wishes.state.as_ref(), state(facts));
        let work = work(facts, segment, state, validation + selection);
        let code = by.choose("code", wishes.code.as_ref(), code(&work));
        let hidden = by.choose(
            "hidden",
            wishes.hidden.as_ref(),
            (vec![64, 64], "bends the code enough for most families"),
        );
        let (adapted, shared) = roles(facts, &blocks(state), segment);
        let adapt = by.choose("adapt", wishes.adapt.as_ref(), adapted);
        let share = by.choose("share", wishes.share.as_ref(), shared);
        let scaling = by.choose("scaling", wishes.scaling.as_ref(), scaling(facts));
        let start = by.choose("start", wishes.start.as_ref(), start(&work));
        let effort = by.choose("effort", wishes.effort.as_ref(), (1.0, "the usual number of steps"));
        let particles = by.choose("particles", wishes.particles.as_ref(), particles(start, facts, &work));
        let start_cost = particles as f64 * if facts.own_inputs { work.pieces as f64 } else { 1.0 };
        let first = if start == Beginning::Effects { 2500.0 } else { 2000.0 };
        let start_steps = by.choose(
            "start_steps",
            wishes.start_steps.as_ref(),
            steps(first, effort, start_cost * work.per_step),
        );
        let start_noise = by.choose("start_noise", wishes.start_noise.as_ref(), start_noise(facts, &work));
        let refine_particles = by.choose(
            "refine_particles",
            wishes.refine_particles.as_ref(),
            (32, "enough once proposals follow their sequences"),
        );
        let refine_cost = (refine_particles * work.pieces) as f64 * work.per_step;
        let refine_steps =
            by.choose("refine_steps", wishes.refine_steps.as_ref(), steps(4000.0, effort, refine_cost));
        let least_noise = by.choose(
            "least_noise",
            wishes.least_noise.as_ref(),
            (0.018, "2 % of an output's deviation: closer is rarely real"),
        );
        let learning_rate =
            by.choose("learning_rate", wishes.learning_rate.as_ref(), learning_rate(start, work.pieces));
        let l2 = by.choose("l2", wishes.l2.as_ref(), l2(facts, &work));
        let patience =
            by.choose("patience", wishes.patience.as_ref(), (10, "a quarter of the checks without gain"));
        let (tau, shift, spread) = test_time(work.members);
        let why = format!("what {} members can teach about others", work.members);
        let prior_std = by.choose("prior_std", wishes.prior_std.as_ref(), (tau, why.as_str()));
        let noise_shift = by.choose("noise_shift", wishes.noise_shift.as_ref(), (shift, why.as_str()));
        let noise_spread = by.choose("noise_spread", wishes.noise_spread.as_ref(), (spread, why.as_str()));
        let choices = Self {
            base,
            code,
            state,
            hidden,
            adapt,
            share,
            scaling,
            segment,
            validation,
            selection,
            start,
            start_steps,
            particles,
            start_noise,
            refine_steps,
            refine_particles,
            least_noise,
            learning_rate,
            l2,
            patience,
            effort,
            prior_std,
            noise_shift,
            noise_spread,
        };
        choices.check(&blocks(state))?;
        Ok((choices, by.table))
    }

    fn check(&self, blocks: &[BlockSpec]) -> Result<()> {
        let require = |holds: bool, key: &str, found: &dyn std::fmt::Display, expected: &str| match holds {
            true => Ok(()),
            false => Err(Error::setting(key, format!("found {found}; expected {expected}"))),
        };
        for (key, found, most) in
            [("code", self.code, 64), ("state", self.state, 1024), ("particles", self.particles, 1 << 22)]
        {
            require((1..=most).contains(&found), key, &found, &format!("1 to {most}"))?;
        }
        require(
            (1..=65_536).contains(&self.refine_particles),
            "refine_particles",
            &self.refine_particles,
            "1 to 65536",
        )?;
        for (key, found) in [("start_steps", self.start_steps), ("refine_steps", self.refine_steps)] {
            require(found >= 2, key, &found, "2 or more")?;
        }
        for (key, found) in [("validation", self.validation), ("selection", self.selection)] {
            require((0.0..0.9).contains(&found), key, &found, "a share of at least 0 and below 0.9")?;
        }
        let positive = [
            ("start_noise", self.start_noise),
            ("least_noise", self.least_noise),
            ("learning_rate", self.learning_rate),
            ("effort", self.effort),
            ("prior_std", self.prior_std),
            ("noise_spread", self.noise_spread),
        ];
        for (key, found) in positive {
            require(found > 0.0 && found <= 1e3, key, &found, "above 0, at most 1000")?;
        }
        require(self.l2.is_finite() && self.l2 >= 0.0, "l2", &self.l2, "0 or more")?;
        require(self.noise_shift.abs() <= 10.0, "noise_shift", &self.noise_shift, "-10 to 10")?;
        for name in self.adapt.iter().chain(&self.share) {
            if !blocks.iter().any(|block| block.name == name) {
                let known: Vec<_> = blocks.iter().map(|block| block.name).collect();
                return Err(Error::Unknown { kind: "block", name: name.clone(), known: known.join(", ") });
            }
        }
        match self.adapt.iter().find(|name| self.share.contains(name)) {
            Some(both) => {
                Err(Error::setting("share", format!("found `{both}` in `adapt` as well; name it once")))
            }
            None => Ok(()),
        }
    }
}

fn validation(facts: &Facts) -> (f64, String) {
    match facts.n_seq {
        n if n < 12 => (0.0, format!("{n} sequences are too few to spare any")),
        n if n < 40 => (0.2, format!("enough of {n} sequences to see when to stop")),
        n if n < 1000 => (0.15, format!("enough of {n} sequences to see when to stop")),
        n => (100.0 / n as f64, "100 sequences are enough to see when to stop".to_owned()),
    }
}

fn segment(facts: &Facts) -> (usize, String) {
    match facts.max_time {
        t if t > WHOLE => (SEGMENT, format!("sequences of {t} steps are too long to roll out whole")),
        t => (0, format!("{t} steps are few enough to roll out whole")),
    }
}

fn state(facts: &Facts) -> (usize, String) {
    let wanted = (2 * facts.d_obs).clamp(4, 8);
    let most = (facts.median_time / 3).max(1);
    match most < wanted {
        true => (most, format!("a third of the {} steps of a usual sequence", facts.median_time)),
        false => (wanted, format!("two for each of {} output(s), within 4 to 8", facts.d_obs)),
    }
}

fn work(facts: &Facts, segment: usize, state: usize, held_out: f64) -> Work {
    let n_time = if segment == 0 { facts.max_time } else { segment.min(facts.max_time) };
    let members = (((1.0 - held_out) * facts.n_seq as f64).round() as usize).max(1);
    let pieces_each = if segment == 0 { 1 } else { facts.median_time.div_ceil(segment).max(1) };
    let per_step = (n_time * state * (state + facts.d_obs + facts.d_input).max(1)) as f64;
    Work { n_time, pieces: members * pieces_each, members, per_step }
}

fn code(work: &Work) -> (usize, String) {
    match work.pieces {
        n if n <= 4 => {
            ((n - 1).max(1), format!("{n} sequences differ along {} axes at most", (n - 1).max(1)))
        }
        _ => (4, "as many ways to differ as most families have; try --select-code".to_owned()),
    }
}

/// Blocks that are adapted and shared by default, with reasons.
#[allow(clippy::type_complexity)]
fn roles(
    facts: &Facts,
    blocks: &[BlockSpec],
    segment: usize,
) -> ((Vec<String>, String), (Vec<String>, String)) {
    let at_rest = facts.drive == Drive::Impulse && segment == 0;
    let role = |block: &BlockSpec| match block.name {
        "initial_state" if at_rest => block.role.clone(),
        "initial_state" => Role::Adapted,
        "feedthrough" if facts.drive == Drive::Ongoing => Role::Adapted,
        "state_bias" => Role::Fixed(0.0),
        _ => block.role.clone(),
    };
    let with = |wanted: fn(&Role) -> bool| -> Vec<String> {
        let chosen = blocks.iter().filter(|block| block.len > 0 && wanted(&role(block)));
        chosen.map(|block| block.name.to_owned()).collect()
    };
    let begins = if at_rest {
        "an impulse starts every sequence from rest"
    } else {
        "sequences begin in states of their own"
    };
    let adapted = with(|role| *role == Role::Adapted);
    let shared = with(|role| *role == Role::Shared);
    ((adapted, begins.to_owned()), (shared, "the rest is held at a constant".to_owned()))
}

fn scaling(facts: &Facts) -> (ScalingRule, &'static str) {
    match facts.drive {
        Drive::None => (ScalingRule::Outputs, "outputs to mean 0 and deviation 1"),
        _ if facts.zero_inputs >= 0.1 => {
            (ScalingRule::InputUnits, "many inputs are 0, which has to keep meaning nothing")
        }
        _ => (ScalingRule::All, "inputs are hardly ever 0: all to mean 0 and deviation 1"),
    }
}

fn start(work: &Work) -> (Beginning, String) {
    match work.pieces {
        n if n <= FEW => {
            (Beginning::Effects, format!("{n} sequences are few: each gets effects of its own first"))
        }
        n => (Beginning::Prior, format!("{n} sequences are enough to find what they share")),
    }
}

fn particles(start: Beginning, facts: &Facts, work: &Work) -> (usize, &'static str) {
    match (start, facts.own_inputs) {
        (Beginning::Effects, _) => (128, "independent restarts, of which the best goes on"),
        (Beginning::Prior, false) => (2048, "one rollout serves every sequence"),
        (Beginning::Prior, true) => {
            let affordable = (16_384 / work.pieces.max(1)).next_power_of_two();
            (affordable.clamp(256, 2048), "inputs differ, so every sequence needs rollouts of its own")
        }
    }
}

fn steps(usual: f64, effort: f64, cost: f64) -> (u64, String) {
    let share = (BEARABLE * USUAL_WORK / cost.max(1.0)).clamp(0.25, 1.0);
    let n = ((usual * effort * share / 10.0).round() * 10.0).max(10.0) as u64;
    let why = match share < 1.0 {
        true => "fewer than usual, because each is a lot of work".to_owned(),
        false => "the usual number".to_owned(),
    };
    (n, why)
}

/// s at which all observations of a sequence together tell as much as 80 do at s = e^−1.5.
fn start_noise(facts: &Facts, work: &Work) -> (f64, String) {
    let observed = (work.n_time * facts.d_obs) as f64 * (1.0 - facts.missing);
    let log_noise = (-1.5 + 0.5 * (observed / 80.0).ln()).clamp(-2.0, -0.5);
    let s = (log_noise.exp() * 1000.0).round() / 1000.0;
    (s, format!("with about {observed:.0} values per sequence, prior draws resolve no less"))
}

fn learning_rate(start: Beginning, pieces: usize) -> (f64, &'static str) {
    match (start, pieces) {
        (Beginning::Prior, _) => (2e-3, "as tried on oscillators"),
        (Beginning::Effects, n) if n <= 4 => (3e-4, "small, to stay near the effects that were found"),
        (Beginning::Effects, _) => (6e-4, "small, to stay near the effects that were found"),
    }
}

fn l2(facts: &Facts, work: &Work) -> (f64, String) {
    let observed = (work.n_time * facts.d_obs) as f64 * (1.0 - facts.missing);
    (
        (100.0 * observed / 80.0).clamp(10.0, 400.0).round(),
        format!("in proportion to {observed:.0} values per sequence"),
    )
}

/// Deviation of the prior, shift and deviation of log s for new members, by the number of members learned from.
fn test_time(members: usize) -> (f64, f64, f64) {
    match members {
        0..=4 => (4.0, 0.5, 0.5),
        5..=8 => (2.5, 0.4, 0.5),
        9..=16 => (2.5, 0.3, 0.5),
        17..=32 => (1.5, 0.1, 0.3),
        _ => (1.3, 0.05, 0.2),
    }
}
