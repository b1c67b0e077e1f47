//! The rules by which settings follow from the facts of a family.
//!
//! Numbers that follow N (prior, noise of new members) and the two ways to start are those of the oscillator
//! experiment, where they were tried; the rest keeps the work of a step, and what one observation weighs, near what
//! they were there: N = 128 sequences of T = 80 steps with one output.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::recipe::Preset;
use super::roles::Roles;
use super::{
    Beginning, Choice, Choices, Facts, LearnRule, RateRule, Recipe, Stimulus, Structure, Wishes, approach,
    compare, layered, new_members, recipe, variational,
};
use crate::base::{Base, BaseName};
use crate::generator::{BlockSpec, Role};
use crate::learn::ScalingRule;
use crate::{Error, Result};

/// Longest sequences that are learned whole, and segments that longer ones are cut into.
const WHOLE: usize = 512;
const SEGMENT: usize = 256;
/// Sequences up to which there are too few for prior draws to find what they share.
const FEW: usize = 8;
/// Number of sequences from which weight decay is the usual.
const MANY: usize = 100;
/// Work of a step on the oscillators: codes, steps, multiplications of a state.
const USUAL_WORK: f64 = 32.0 * 128.0 * 80.0 * 24.0;
/// Times the usual work up to which steps are not made fewer.
const BEARABLE: f64 = 4.0;

/// Multiplications of all steps of all systems of a comparison: about two minutes on two cores. Those of a rollout take less time than
/// those of a filter.
const TOGETHER: f64 = 9e10;
const ROLLED_OUT: f64 = 0.4;
/// Longest gradient.
const CLIP: f64 = 10.0;
/// Noise that learning never goes below, in deviations of an output.
const LEAST_NOISE: f64 = 0.018;

/// Keeps wishes, fills in choices, and notes the reasons.
pub(super) struct Chooser {
    table: Vec<Choice>,
    /// What a recipe says instead of the rules.
    preset: Preset,
}

impl Chooser {
    /// The wish, or else what was found, which becomes the wish.
    pub(super) fn fill<T: Clone + PartialEq + Serialize + DeserializeOwned>(
        &mut self,
        key: &str,
        wished: &mut Option<T>,
        (found, why): (T, impl Into<String>),
    ) -> T {
        let (found, why) = self.preset.of(key).unwrap_or_else(|| (found, why.into()));
        // A wish for what would be chosen anyway has the same reason, so that a replayed fit says the same.
        let asked = wished.as_ref().is_some_and(|wished| *wished != found);
        let value = wished.get_or_insert(found).clone();
        self.table.push(Choice {
            key: key.to_owned(),
            value: serde_json::to_value(&value).unwrap_or_default(),
            why: if asked { "as asked".into() } else { why },
            asked,
        });
        value
    }
}

/// What later rules need of earlier ones.
pub(super) struct Work {
    /// Size of the state.
    state: usize,
    /// Whether sequences are cut into segments.
    is_cut: bool,
    /// Observed values of a piece.
    observed: f64,
    /// Sequences or segments to learn from.
    pieces: usize,
    /// Members to learn from.
    pub(super) members: usize,
    /// Sequences that are held out to decide by.
    pub(super) held_out: usize,
    /// Multiplications of a step.
    per_step: f64,
}

impl Choices {
    /// All settings for a family with these facts, and why each is what it is.
    ///
    /// `own` is a base model of one's own; without it, one is asked for or chosen by name.
    ///
    /// # Errors
    /// [`Error::Setting`] for a wish that is out of range, with its key; [`Error::Unknown`] for a base model or a block that does
    /// not exist.
    pub fn resolve(wishes: &Wishes, facts: &Facts, own: Option<&Base>) -> Result<(Self, Vec<Choice>)> {
        let (mut by, mut w) = (Chooser { table: vec![], preset: Preset::default() }, wishes.clone());
        if let Some(own) = own {
            (w.base, w.state) = (Some(own.kind().to_owned()), Some(own.d_state()));
        }
        let chosen = recipe::chosen(&w, facts);
        let recipe = by.fill("recipe", &mut w.recipe, chosen);
        by.preset = recipe.preset(&w, facts);
        let work = parts(&mut by, &mut w, facts);
        recipe.decay(&mut by.preset, work.pieces);
        let driven = layered::fill(&mut by, &mut w, facts);
        let blocks = match own {
            Some(own) => own.blocks(),
            None => {
                let name = BaseName::named(w.base.as_deref().unwrap_or_default())?;
                name.sized(work.state, facts.d_obs, driven).blocks()
            }
        };
        model(&mut by, &mut w, facts, &work, &blocks)?;
        learning(&mut by, &mut w, facts, &work);
        new_members::fill(&mut by, &mut w, facts, &work);
        let choices = w.all().ok_or_else(|| Error::setting("choices", "a rule is missing"))?;
        choices.check()?;
        choices.check_front(facts)?;
        choices.check_calibrate(&work)?;
        choices.check_remainder(&work)?;
        Ok((choices, by.table))
    }

    /// Steps and particles of a start, where there is one.
    fn check_start(&self) -> Result<()> {
        let (steps, particles) = (self.start_steps, self.particles as u64);
        if self.start == Beginning::Curves && (self.learn == LearnRule::Mco || self.clock == 0) {
            let why = "found `curves`, which need a clock, and `elbo` or `iwae` as `learn`";
            return Err(Error::setting("start", why));
        }
        let has_free_codes = self.learn != LearnRule::Mco && self.amortised == 0;
        if self.start == Beginning::Responses && !has_free_codes {
            let why = "found `responses`, which are first codes: they need `elbo` or `iwae` as `learn`, and `amortised` 0";
            return Err(Error::setting("start", why));
        }
        if !self.start_inputs.is_empty() && self.start != Beginning::Responses {
            let why =
                "found some, but learning does not begin with responses; ask for `start` responses, too";
            return Err(Error::setting("start_inputs", why));
        }
        if self.resampled > 0 && self.start != Beginning::Prior {
            let why = format!(
                "found {}, but there is no start from the prior; ask for `start` prior, too",
                self.resampled
            );
            return Err(Error::setting("resampled", why));
        }
        if self.resampled > self.particles {
            let why = format!("found {}; expected at most the {} particles", self.resampled, self.particles);
            return Err(Error::setting("resampled", why));
        }
        let is_there = matches!(self.start, Beginning::Prior | Beginning::Effects);
        for (key, found, least, most) in
            [("start_steps", steps, 2, u64::MAX), ("particles", particles, 1, 1 << 22)]
        {
            match (is_there, found) {
                (true, n) if n < least || n > most => {
                    return Err(Error::setting(key, format!("found {n}; expected {least} to {most}")));
                }
                (false, n) if n > 0 => {
                    let why = format!(
                        "found {n}, but there is no start; ask for `prior` or `effects` as `start`, too"
                    );
                    return Err(Error::setting(key, why));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<()> {
        let require = |holds: bool, key: &str, found: &dyn std::fmt::Display, expected: &str| match holds {
            true => Ok(()),
            false => Err(Error::setting(key, format!("found {found}; expected {expected}"))),
        };
        for (key, found, most) in [("code", self.code, 64), ("state", self.state, 1024)] {
            require((1..=most).contains(&found), key, &found, &format!("1 to {most}"))?;
        }
        require(
            (1..=65_536).contains(&self.refine_particles),
            "refine_particles",
            &self.refine_particles,
            "1 to 65536",
        )?;
        for width in &self.hidden {
            require((1..=4096).contains(width), "hidden", width, "widths of 1 to 4096")?;
        }
        require(self.rank <= 4096, "rank", &self.rank, "at most 4096")?;
        require(self.hidden.len() <= 16, "hidden", &self.hidden.len(), "at most 16 layers")?;
        require(self.refine_steps >= 2, "refine_steps", &self.refine_steps, "2 or more")?;
        let most = if self.learn == LearnRule::Mco { 0 } else { self.segment };
        let expected =
            format!("at most {most}: segments are moved by elbo and iwae, by no more than their length");
        require(self.jitter <= most, "jitter", &self.jitter, &expected)?;
        let most = self.segment.saturating_sub(1);
        require(self.overlap <= most, "overlap", &self.overlap, &format!("at most {most}, below `segment`"))?;
        self.check_start()?;
        self.check_variational()?;
        for (key, found) in [("validation", self.validation), ("selection", self.selection)] {
            require((0.0..0.9).contains(&found), key, &found, "a share of at least 0 and below 0.9")?;
        }
        let positive = [
            ("start_noise", self.start_noise),
            ("least_noise", self.least_noise),
            ("learning_rate", self.learning_rate),
            ("effort", self.effort),
            ("budget", self.budget),
            ("hard_std", self.hard_std),
            ("code_rate", self.code_rate),
            ("prior_std", self.prior_std),
            ("noise_spread", self.noise_spread),
        ];
        for (key, found) in positive {
            require(found > 0.0 && found <= 1e3, key, &found, "above 0, at most 1000")?;
        }
        require(self.l2.is_finite() && self.l2 >= 0.0, "l2", &self.l2, "0 or more")?;
        require(self.clip > 0.0 && self.clip <= 1e9, "clip", &self.clip, "above 0, at most 1e9")?;
        require(
            (0.0..1.0).contains(&self.averaging),
            "averaging",
            &self.averaging,
            "at least 0 and below 1",
        )?;
        require(self.noise_shift.abs() <= 10.0, "noise_shift", &self.noise_shift, "-10 to 10")
    }
}

/// The parts of the family, and the sizes that follow from it alone.
fn parts(by: &mut Chooser, w: &mut Wishes, facts: &Facts) -> Work {
    by.fill("budget", &mut w.budget, (compare::USUAL_BUDGET, "what most people wait for"));
    compare::fill(by, w, facts);
    let chosen = approach::base(w, facts);
    let base = by.fill("base", &mut w.base, chosen);
    let validation = by.fill("validation", &mut w.validation, validation(facts));
    let selection = by.fill("selection", &mut w.selection, (0.0, "no code length to choose"));
    let segment = by.fill("segment", &mut w.segment, segment(facts));
    let overlap = by.fill("overlap", &mut w.overlap, overlap(segment));
    by.fill("jitter", &mut w.jitter, (0, "segments begin where they were cut"));
    let state = by.fill("state", &mut w.state, state(facts));
    let work = work(facts, (segment, overlap), state, (validation, selection));
    match base == approach::FILTERED {
        true => Work { per_step: work.per_step * state as f64, ..work },
        false => work,
    }
}

/// What is learned.
fn model(by: &mut Chooser, w: &mut Wishes, facts: &Facts, work: &Work, blocks: &[BlockSpec]) -> Result<()> {
    let chosen = code(w.start, work);
    by.fill("code", &mut w.code, chosen);
    let is_linear = w.start == Some(Beginning::Curves);
    let hidden = match is_linear {
        true => (vec![], "curves are sums of components"),
        false => (vec![64, 64], "bends the code enough for most families"),
    };
    by.fill("hidden", &mut w.hidden, hidden);
    by.fill("rank", &mut w.rank, (0, "the last layer is as wide as it likes"));
    let at_rest = facts.drive == Stimulus::Impulse && !work.is_cut;
    let begins = match at_rest {
        true => "an impulse starts every sequence from rest",
        false => "sequences begin in states of their own",
    };
    let is_front = w.front.is_some_and(|units| units > 0);
    let is_clocked = w.clock.is_some_and(|functions| functions > 0);
    let recipe = w.recipe.unwrap_or(Recipe::Usual);
    let roles = Roles::of(w, blocks, |block| match block.name {
        name if recipe.role(name).is_some() => recipe.role(name).unwrap_or(Role::Shared),
        "feedthrough" if is_front => Role::Adapted, // D sees the bottleneck, as in the paper
        // Components of curves are the code's, what is left over has a state in common.
        "offset" | "feedthrough" if is_linear => Role::Adapted,
        "input" | "input_gate" | "state_bias" if is_linear => Role::Fixed(0.0),
        "noise" | "process_noise" | "process_mixing" if is_linear => block.role.clone(),
        _ if is_linear => Role::Shared,
        // The clock is told to the outputs; the state has inputs of its own to follow.
        "feedthrough" if is_clocked => Role::Adapted,
        "input" | "input_gate" if is_clocked && facts.d_input == 0 => Role::Fixed(0.0),
        _ => role(block, facts, at_rest),
    })?;
    let [adapt, share, fix] = roles.default;
    [w.adapt, w.share, w.fix] = roles.chosen.map(Some);
    by.fill("adapt", &mut w.adapt, (adapt, begins));
    by.fill("share", &mut w.share, (share, "the same for all members"));
    by.fill("fix", &mut w.fix, (fix, "members do not need it, or other blocks do its work"));
    by.fill("scaling", &mut w.scaling, scaling(facts));
    Ok(())
}

/// How it is learned.
fn learning(by: &mut Chooser, w: &mut Wishes, facts: &Facts, work: &Work) {
    let effort = by.fill("effort", &mut w.effort, (1.0, "the usual number of steps"));
    let budget = w.budget.unwrap_or(compare::USUAL_BUDGET);
    let extent = Extent { effort, afforded: budget / compare::USUAL_BUDGET };
    let chosen = approach::learn(w, facts);
    let learn = by.fill("learn", &mut w.learn, chosen);
    let start = by.fill("start", &mut w.start, start(learn, work));
    by.fill(
        "start_inputs",
        &mut w.start_inputs,
        (vec![], "the phase, where inputs tell one, or those that change"),
    );
    let particles = by.fill("particles", &mut w.particles, particles(start, facts, work));
    let start_cost = particles as f64 * if facts.own_inputs { work.pieces as f64 } else { 1.0 };
    by.fill("resampled", &mut w.resampled, (0, "weights have less variance than draws by them"));
    by.fill("start_steps", &mut w.start_steps, start_steps(start, extent, start_cost * work.per_step));
    by.fill("start_noise", &mut w.start_noise, start_noise(start, work));
    let whole_cost = (refine_particles(learn, 0).0 * work.pieces) as f64 * work.per_step;
    let is_long = whole_cost > extent.afforded * BEARABLE * USUAL_WORK;
    let chosen = variational::minibatch(w, learn, (work.pieces, is_long));
    let minibatch = by.fill("minibatch", &mut w.minibatch, chosen);
    let codes = by.fill("refine_particles", &mut w.refine_particles, refine_particles(learn, minibatch));
    let pieces = if minibatch > 0 { minibatch.min(work.pieces) } else { work.pieces };
    let refine_cost = (codes * pieces) as f64 * work.per_step;
    let is_network = w.amortised.is_some_and(|units| units > 0);
    let usual = match start {
        Beginning::Curves => 1500.0, // most is known at its beginning
        _ if is_network => 8000.0,
        _ => 4000.0 * variational::more_steps(minibatch, work.pieces),
    };
    let systems = if w.compare == Some(true) { Structure::systems(budget, facts) } else { 1 };
    let effective = if learn == LearnRule::Mco { ROLLED_OUT * refine_cost } else { refine_cost };
    let chosen = extent.together(systems, extent.steps(usual, refine_cost), effective);
    let refine_steps = by.fill("refine_steps", &mut w.refine_steps, chosen);
    variational::fill(by, w, learn, (start, refine_steps));
    let why = "2 % of an output's deviation: closer is rarely real";
    by.fill("least_noise", &mut w.least_noise, (LEAST_NOISE, why));
    by.fill("learning_rate", &mut w.learning_rate, learning_rate(learn, start, (work.pieces, is_network)));
    by.fill("schedule", &mut w.schedule, (RateRule::Cosine, "large steps first, small ones last"));
    by.fill("clip", &mut w.clip, (CLIP, "as tried on oscillators"));
    by.fill("averaging", &mut w.averaging, (0.0, "the last steps are small"));
    by.fill("l2", &mut w.l2, l2(start, work));
    by.fill("patience", &mut w.patience, (10, "a quarter of the checks without gain"));
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

fn overlap(segment: usize) -> (usize, &'static str) {
    match segment {
        0 => (0, "sequences are whole"),
        steps => (steps / 8, "an eighth of a segment: what happens across a cut is seen whole"),
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

fn work(
    facts: &Facts,
    (segment, overlap): (usize, usize),
    state: usize,
    (validation, selection): (f64, f64),
) -> Work {
    let is_cut = segment > 0;
    let n_time = if is_cut { segment.min(facts.max_time) } else { facts.max_time };
    let share = |of: f64| (of * facts.n_seq as f64).round() as usize;
    let members = share(1.0 - validation - selection).max(1);
    let stride = segment.saturating_sub(overlap).max(1);
    let pieces_each =
        if is_cut { facts.median_time.saturating_sub(overlap).div_ceil(stride).max(1) } else { 1 };
    Work {
        state,
        is_cut,
        observed: (n_time * facts.d_obs) as f64 * (1.0 - facts.missing),
        pieces: members * pieces_each,
        members,
        held_out: share(validation),
        per_step: (n_time * state * (state + facts.d_obs + facts.d_input)) as f64,
    }
}

fn code(start: Option<Beginning>, work: &Work) -> (usize, String) {
    match work.pieces {
        n if start == Some(Beginning::Curves) => {
            let most = (n as f64 * 0.7).ceil() as usize - 1;
            (
                most.clamp(1, 6),
                "components that tell members apart, as far as members left out confirm them".to_owned(),
            )
        }
        n if n <= 4 => {
            ((n - 1).max(1), format!("{n} sequences differ along {} axes at most", (n - 1).max(1)))
        }
        _ => (4, "as many ways to differ as most families have; try --select-code".to_owned()),
    }
}

/// The role of a block, unless another is asked for.
fn role(block: &BlockSpec, facts: &Facts, at_rest: bool) -> Role {
    match block.name {
        "initial_state" if !at_rest => Role::Adapted,
        "feedthrough" if facts.drive == Stimulus::Ongoing => Role::Adapted,
        // The offset of the outputs does its work.
        "state_bias" => Role::Fixed(0.0),
        _ => block.role.clone(),
    }
}

fn scaling(facts: &Facts) -> (ScalingRule, &'static str) {
    match facts.drive {
        Stimulus::None => (ScalingRule::Outputs, "outputs to mean 0 and deviation 1"),
        _ if facts.zero_inputs >= 0.1 => {
            (ScalingRule::InputUnits, "many inputs are 0, which has to keep meaning nothing")
        }
        _ => (ScalingRule::All, "inputs are hardly ever 0: all to mean 0 and deviation 1"),
    }
}

fn start(learn: LearnRule, work: &Work) -> (Beginning, String) {
    match work.pieces {
        _ if learn != LearnRule::Mco => {
            (Beginning::None, "beliefs are learned with the model from the first step".into())
        }
        n if n <= FEW => {
            (Beginning::Effects, format!("{n} sequences are few: each gets effects of its own first"))
        }
        n => (Beginning::Prior, format!("{n} sequences are enough to find what they share")),
    }
}

fn particles(start: Beginning, facts: &Facts, work: &Work) -> (usize, &'static str) {
    match (start, facts.own_inputs) {
        (Beginning::Effects, _) => (128, "independent restarts, of which the best goes on"),
        (Beginning::None | Beginning::Curves | Beginning::Responses, _) => (0, "there is no start by steps"),
        (Beginning::Prior, false) => (2048, "one rollout serves every sequence"),
        (Beginning::Prior, true) => {
            let affordable = (16_384 / work.pieces.max(1)).next_power_of_two();
            (affordable.clamp(256, 2048), "inputs differ, so every sequence needs rollouts of its own")
        }
    }
}

fn start_steps(start: Beginning, extent: Extent, cost: f64) -> (u64, String) {
    match start {
        Beginning::None | Beginning::Curves | Beginning::Responses => {
            (0, "there is no start by steps".to_owned())
        }
        Beginning::Effects => extent.steps(2500.0, cost),
        Beginning::Prior => extent.steps(2000.0, cost),
    }
}

fn refine_particles(learn: LearnRule, minibatch: usize) -> (usize, &'static str) {
    match learn {
        LearnRule::Elbo if (1..variational::OF_MANY).contains(&minibatch) => {
            (1, "many small steps learn more than few exact ones")
        }
        LearnRule::Mco => (32, "enough once proposals follow their sequences"),
        LearnRule::Elbo | LearnRule::Iwae => (16, "one pack of draws from each belief"),
    }
}

/// How much work there may be.
#[derive(Clone, Copy)]
struct Extent {
    /// Factor on the usual number of steps.
    effort: f64,
    /// Work that the budget affords, as a multiple of the usual.
    afforded: f64,
}

impl Extent {
    /// Least share of the usual steps: with fewer nothing is learned, unless the budget asks for it.
    fn least(self) -> f64 {
        0.25 * self.afforded.min(1.0)
    }

    fn steps(self, usual: f64, cost: f64) -> (u64, String) {
        let share = (self.afforded * BEARABLE * USUAL_WORK / cost.max(1.0)).clamp(self.least(), 1.0);
        let n = ((usual * self.effort * share / 10.0).round() * 10.0).max(10.0) as u64;
        let why = match share < 1.0 {
            true => "fewer than usual, because each is a lot of work".to_owned(),
            false => "the usual number".to_owned(),
        };
        (n, why)
    }

    /// Steps of one of several systems that share a budget of work.
    fn together(self, systems: usize, (alone, why): (u64, String), cost: f64) -> (u64, String) {
        let share = self.afforded * TOGETHER / (cost.max(1.0) * alone as f64 * systems as f64);
        if systems == 1 || share >= 1.0 {
            return (alone, why);
        }
        let n = ((alone as f64 * share.max(self.least()) / 10.0).round() * 10.0).max(10.0) as u64;
        (n, format!("fewer than usual, because {systems} systems are learned"))
    }
}

/// s at which all values of a sequence together tell as much as 80 do at s = 0.52: e^−1.5 of the oscillators' units,
/// whose outputs have a deviation of 0.43.
fn start_noise(start: Beginning, work: &Work) -> (f64, String) {
    if start == Beginning::Curves {
        return (LEAST_NOISE, "what curves leave over is known".to_owned());
    }
    let log_noise = (0.52f64.ln() + 0.5 * (work.observed / 80.0).ln()).clamp(-1.2, -0.2);
    let s = (log_noise.exp() * 1000.0).round() / 1000.0;
    (s, format!("with about {:.0} values per sequence, prior draws resolve no less", work.observed))
}

fn learning_rate(
    learn: LearnRule,
    start: Beginning,
    (pieces, is_network): (usize, bool),
) -> (f64, &'static str) {
    match (start, pieces) {
        _ if is_network => (1e-2, "a network learns slowly, as tried on patients"),
        _ if learn == LearnRule::Elbo => (6e-3, "as tried on families with inputs of their own"),
        (Beginning::Prior | Beginning::None | Beginning::Responses, _) => (2e-3, "as tried on oscillators"),
        (Beginning::Curves, _) => (1e-3, "small, to stay near the components that were found"),
        (Beginning::Effects, n) if n <= 4 => (3e-4, "small, to stay near the effects that were found"),
        (Beginning::Effects, _) => (6e-4, "small, to stay near the effects that were found"),
    }
}

/// In proportion to what a sequence tells. Learning divides it by the number of sequences, so that of few short ones it
/// would leave no codes, unless random effects brought them.
fn l2(start: Beginning, work: &Work) -> (f64, String) {
    let usual = 100.0 * work.observed / 80.0;
    let why = format!("in proportion to {:.0} values per sequence", work.observed);
    if start == Beginning::Effects || work.pieces >= MANY {
        return (usual.clamp(10.0, 400.0).round(), why);
    }
    let found = usual * work.pieces as f64 / MANY as f64;
    (found.clamp(1.0, 400.0).round(), format!("{why}, less because {} sequences are few", work.pieces))
}
