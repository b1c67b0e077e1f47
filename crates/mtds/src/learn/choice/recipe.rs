//! Recipes: settings that were tried together, which rules would not find one by one.
//!
//! ```text
//! usual          every setting by its rule
//! motion         a layered model of many outputs that follow inputs with a phase: the measured recipe for walks, in a size for two cores
//! motion_large   the same in the paper's size, for a graphics card
//! paper          the motion model of Bird & Williams (2020), "Mocap" and table "Hyper-parameters of mocap models"
//! ```
//! Differs from the paper: the base model sees the bottleneck at the same step, for which there are kernels on cards, and one step later
//! only with `front_lag`; the penalty on weights is that of a loss per segment in nats, as the paper does not say of which.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::layered::LAYERED;
use super::{Beginning, Facts, LearnRule, RateRule, Wishes};
use crate::generator::Role;
use crate::learn::{PriorRule, ScalingRule};

/// Fewest outputs that are taken for a motion.
const MANY_OUTPUTS: usize = 16;
/// Steps of a segment: two seconds of a walk.
const SEGMENT: usize = 64;
/// Temperature of the likelihood: outputs of a body are far from independent.
const TEMPERATURE: f64 = 1.0 / 16.0;
/// Steps of learning a motion.
const STEPS: f64 = 4000.0;
/// Coefficient of ½ λ ‖W‖² in the paper.
const PAPER_DECAY: f64 = 1e-2;

/// Settings to begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recipe {
    /// Each by its rule.
    Usual,
    /// For many outputs that follow inputs with a phase.
    Motion,
    /// The same for a graphics card: as many units as the paper has.
    MotionLarge,
    /// Those of the paper's motion model.
    Paper,
}

/// The recipe for a family, unless something is asked for that it cannot be with.
pub(super) fn chosen(w: &Wishes, facts: &Facts) -> (Recipe, &'static str) {
    let is_motion = facts.cycle && facts.own_inputs && facts.d_obs > MANY_OUTPUTS;
    let is_free = w.base.as_deref().is_none_or(|base| base == LAYERED)
        && w.front != Some(0)
        && w.learn != Some(LearnRule::Mco)
        && w.start.is_none_or(|start| matches!(start, Beginning::Responses | Beginning::None))
        && w.clock.is_none_or(|functions| functions == 0)
        && w.compare != Some(true);
    match (is_motion, is_free) {
        (true, true) => (Recipe::Motion, "many outputs, and inputs that tell the phase of a gait: a motion"),
        (true, false) => (Recipe::Usual, "a motion, but something else than its model is asked for"),
        (false, _) => (Recipe::Usual, "each setting by its own rule"),
    }
}

impl Recipe {
    /// The role of a block, where the recipe has one for it.
    pub(super) fn role(self, block: &str) -> Option<Role> {
        match (self, block) {
            (Self::Usual, _) => None,
            (_, "initial_state") => Some(Role::Fixed(0.0)),
            (_, "bias") => Some(Role::Adapted),
            (Self::Paper, "feedthrough") => Some(Role::Fixed(0.0)),
            _ => None,
        }
    }

    /// What it sets, given what is asked for beside it.
    pub(super) fn preset(self, w: &Wishes, facts: &Facts) -> Preset {
        match self {
            Self::Usual => Preset::default(),
            Self::Motion => motion(w, facts),
            Self::MotionLarge => large(motion(w, facts)),
            Self::Paper => paper(w),
        }
    }

    /// Weight decay, which goes by the number of segments.
    pub(super) fn decay(self, preset: &mut Preset, segments: usize) {
        if self == Self::Paper {
            let l2 = PAPER_DECAY * segments as f64;
            preset.set("l2", l2, "the paper's: 0.01 of a segment's loss");
            preset.set("front_l2", l2, "the paper's: 0.01 of a segment's loss");
        }
    }
}

fn motion(w: &Wishes, facts: &Facts) -> Preset {
    let mut to = Preset::default();
    let effort = w.effort.unwrap_or(1.0);
    let steps = w.refine_steps.unwrap_or(((STEPS * effort / 10.0).round() as u64 * 10).max(10));
    let segment = w.segment.unwrap_or(SEGMENT);
    to.set("compare", false, "a motion has one structure that suits it");
    to.set("base", LAYERED, "a network over the inputs that all motions share, and one in the style of each");
    to.set("front", 96usize, "small enough for minutes on two cores; 1024 is smoother, where there is time");
    to.set("bottleneck", 16usize, "narrow, so that the code has something to explain");
    to.set("state", 32usize, "small enough for minutes on two cores; the paper has 128");
    to.set("code", 8usize, "enough to tell styles of walking apart");
    to.set("hidden", Vec::<usize>::new(), "straight from the code to the parameters: as good, and sooner");
    to.set("scaling", ScalingRule::All, "inputs and outputs to mean 0 and deviation 1");
    to.set("segment", SEGMENT, "two seconds: a style may change along a clip");
    to.set("overlap", segment / 2, "each step is in two segments");
    to.set("jitter", segment / 4, "a code is not to explain where its segment was cut");
    to.set("unscored", 4usize.min(segment.saturating_sub(1)), "the network finds its state first");
    to.set("learn", LearnRule::Elbo, "beliefs that follow each segment");
    to.set("start", Beginning::Responses, "codes near zero would stay unused");
    to.set("start_noise", 0.3, "what a first code explains is known");
    to.set("minibatch", 32usize, "many small steps learn more than few exact ones");
    to.set("refine_particles", 1usize, "many small steps learn more than few exact ones");
    to.set("refine_steps", steps, "the usual number for a motion");
    to.set("hard_steps", steps / 5, "a fifth of the steps: first find what tells segments apart");
    to.set("hard_std", 1e-3, "the paper's");
    to.set("kl_warmup", steps / 5, "the divergence from the prior comes in once codes tell segments apart");
    to.set("temperature", TEMPERATURE, "joints move together: outputs are far from independent");
    to.set("learning_rate", 2e-3, "as tried on built-in walks");
    to.set("front_rate", 0.5, "slower than the rest: the code comes to tell more");
    to.set("code_rate", 5.0, "from slower ones the code stays nearly unused");
    let clip = (segment.max(1) * facts.d_obs) as f64 * w.temperature.unwrap_or(TEMPERATURE);
    to.set("clip", clip, "one for each value of a segment, as far as it counts");
    to.set("averaging", 0.999, "smooths the last steps");
    to.set("l2", 0.0, "the bottleneck and the hard phase hold the weights");
    to.set("patience", 0u64, "checks infer codes of unseen segments, and inference takes most of the time");
    to.set("prior", PriorRule::Normal, "codes of segments have the spread of the prior since the hard phase");
    to.set("prior_std", 1.0, "codes of segments have the spread of the prior since the hard phase");
    to
}

fn large(mut to: Preset) -> Preset {
    const WHY: &str = "the paper's size";
    to.set("front", 1024usize, WHY);
    to.set("bottleneck", 24usize, WHY);
    to.set("state", 128usize, WHY);
    to.set(
        "minibatch",
        64usize,
        "as tried on recordings of walks; a card takes them in little more time than 16",
    );
    to.set("learning_rate", 1e-3, "as tried on recordings of walks: slower than for few units");
    to.set("front_rate", 0.3, "as tried on recordings of walks: 3e-4 for what all members share");
    to
}

fn paper(w: &Wishes) -> Preset {
    const WHY: &str = "the paper's";
    let mut to = Preset::default();
    let steps = w.refine_steps.unwrap_or(20_000);
    let segment = w.segment.unwrap_or(SEGMENT);
    to.set("compare", false, WHY);
    to.set("base", LAYERED, WHY);
    to.set("front", 1024usize, WHY);
    to.set("bottleneck", 24usize, WHY);
    to.set("state", 128usize, WHY);
    to.set("code", 7usize, "the longest that the paper tries, and its best");
    to.set("hidden", Vec::<usize>::new(), "the paper's choice: straight from the code to the parameters");
    to.set("scaling", ScalingRule::All, WHY);
    to.set("segment", SEGMENT, WHY);
    to.set("overlap", segment / 2, "half a segment; the paper does not say");
    to.set("learn", LearnRule::Elbo, WHY);
    to.set("start", Beginning::None, WHY);
    to.set("minibatch", 16usize, WHY);
    to.set("refine_particles", 1usize, WHY);
    to.set("refine_steps", steps, WHY);
    to.set("hard_steps", steps / 10, "the paper's: a tenth of the steps");
    to.set("hard_std", 1e-3, WHY);
    to.set("kl_warmup", 0u64, "the paper's: all of the divergence once the hard phase has ended");
    to.set("learning_rate", 1e-3, "the paper's, of generator and beliefs");
    to.set("front_rate", 0.03, "the paper's: 3e-5 for what all members share");
    to.set("code_rate", 1.0, WHY);
    to.set("schedule", RateRule::Constant, WHY);
    to.set("clip", 1e9, "the paper leaves gradients as they are");
    to.set("patience", 0u64, WHY);
    to
}

/// Values by key, with their reasons.
#[derive(Debug, Default)]
pub(super) struct Preset(Vec<(&'static str, Value, &'static str)>);

impl Preset {
    fn set(&mut self, key: &'static str, value: impl Serialize, why: &'static str) {
        self.0.push((key, serde_json::to_value(value).unwrap_or_default(), why));
    }

    /// What is set for a key.
    pub(super) fn of<T: DeserializeOwned>(&self, key: &str) -> Option<(T, String)> {
        let (_, value, why) = self.0.iter().rev().find(|(set, ..)| *set == key)?;
        Some((serde_json::from_value(value.clone()).ok()?, (*why).to_owned()))
    }
}
