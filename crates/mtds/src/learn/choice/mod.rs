//! Settings of learning that suit a family: what a person wishes is kept, all else is chosen from the data, with reasons.
//!
//! ```text
//! Wishes (every key may be left out)  +  Facts of the family  ──→  Choices (every key set)  +  why
//! Choices ──→ Architecture, Course
//! ```
//! Choices written down and given back as wishes are the same choices: that is how a fit is replayed.

mod approach;
mod build;
mod compare;
mod facts;
mod layered;
mod new_members;
mod recipe;
#[cfg(test)]
mod recipe_tests;
mod roles;
mod rules;
#[cfg(test)]
mod tests;
mod variational;

use serde::{Deserialize, Serialize};

pub use compare::Structure;
pub use facts::{Facts, Stimulus};
pub use recipe::Recipe;
pub use roles::REST;

use super::{PriorRule, RemainderRule, ScalingRule};

/// How learning begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Beginning {
    /// From draws of the prior, for many sequences.
    Prior,
    /// From random effects, for few.
    Effects,
    /// From principal components of the members' curves: where they begin together, and a clock tells how old they are.
    Curves,
    /// From codes that tell how the outputs of each sequence or segment follow its inputs.
    Responses,
    /// From the model as it was drawn.
    None,
}

/// What learning maximises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LearnRule {
    /// The Monte-Carlo objective, with draws that follow each sequence.
    Mco,
    /// The evidence lower bound, with a belief about each code that is learned with the model.
    Elbo,
    /// The importance-weighted bound, likewise.
    Iwae,
}

/// How the learning rate goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateRule {
    /// A short rise, then down along half a wave.
    Cosine,
    /// The same at every step.
    Constant,
}

/// Two structures of the same keys, one with every key optional.
macro_rules! keys {
    ($($(#[doc = $doc:literal])+ $topic:ident $(($default:literal))? $key:ident: $kind:ty $(= $alone:literal)?,)*) => {
        /// What a person wishes; what is left out is chosen from the family.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Wishes {
            $($(#[doc = $doc])+ #[serde(skip_serializing_if = "Option::is_none")] pub $key: Option<$kind>,)*
        }

        /// Every setting of a fit.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Choices {
            $($(#[doc = $doc])+ pub $key: $kind,)*
        }

        impl Wishes {
            /// These wishes, and for keys that they leave out those of `other`.
            #[must_use]
            pub fn or(self, other: Self) -> Self {
                let [adapt, share, fix] = roles::merged(&self, &other);
                Self { adapt, share, fix, ..Self { $($key: self.$key.or(other.$key),)* } }
            }

            /// The keys that `choices` has otherwise than wished.
            #[must_use]
            pub fn differing(&self, choices: &Choices) -> Vec<&'static str> {
                let mut keys = vec![];
                $(if self.$key.as_ref().is_some_and(|wished| *wished != choices.$key) {
                    keys.push(stringify!($key));
                })*
                // Lists of blocks say what moves, not all that there is.
                keys.retain(|key| !["adapt", "share", "fix"].contains(key));
                keys.extend(roles::differing(self, choices));
                keys
            }
        }

        impl Wishes {
            /// What there is to wish for: what any program that takes wishes shows to people.
            pub const KEYS: &'static [Key] = &[$(Key {
                name: stringify!($key),
                about: concat!($($doc),+),
                topic: Topic::$topic,
                kind: stringify!($kind),
                alone: { #[allow(unused_mut, unused_assignments)] let mut alone = None; $(alone = Some($alone);)? alone },
                default: { #[allow(unused_mut, unused_assignments)] let mut default = None; $(default = Some($default);)? default },
            },)*];

            /// Whether these are choices that are given back: nearly all, since a later version has keys that an earlier one did not write.
            pub(crate) fn is_replayed(&self) -> bool {
                let given = [$(self.$key.is_some()),*];
                4 * given.iter().filter(|given| **given).count() > 3 * given.len()
            }

            /// All keys, if none is left out.
            fn all(self) -> Option<Choices> {
                Some(Choices { $($key: self.$key?,)* })
            }
        }

        impl From<Choices> for Wishes {
            fn from(choices: Choices) -> Self {
                Self { $($key: Some(choices.$key),)* }
            }
        }
    };
}

keys! {
    /// What kind of system the members share: linear (lds; kalman, where chance disturbs it), a network (rnn, ornn, gru; layered, where it follows inputs), or doses and their effect (pd).
    Usual("a linear one that suits the data") base: String,
    /// Settings to begin with: usual, motion (many outputs that follow inputs with a phase), motion_large (the same for a graphics card) or paper (the motion model of Bird & Williams).
    Model recipe: Recipe,
    /// In how many ways members may differ: length of the code of a member.
    Usual("4, fewer where members are few") code: usize,
    /// How much a member remembers from step to step: size of the state.
    Model state: usize,
    /// Factor on the usual number of steps: 0.1 for a first look, 4 for patience.
    Usual("1") effort: f64,
    /// Work that learning may take, in minutes of two usual cores: how many structures, parts of the family and steps there are; the same on any machine.
    Learning budget: f64,
    /// Compare kinds of systems by forecasts of members held out, and let those that do well forecast together: true or false.
    Usual("true, unless the kind is asked for or members are very few") compare: bool,
    /// Units of a gated network over the inputs that stands before the base model and is the same for all members; 0 for none.
    Layered front: usize,
    /// Width of what that network hands to the base model; 0 without it.
    Layered bottleneck: usize,
    /// Let the base model see the inputs, too.
    Layered front_skip: bool = "true",
    /// Hand the bottleneck to the base model one step later, as the paper's motion model does.
    Layered front_lag: bool = "true",
    /// First steps whose outputs tell where the network begins, and are not scored; 0 for a start at zero.
    Layered front_seed: usize,
    /// First steps of a sequence or segment that are not scored, in which that network finds its state.
    Layered unscored: usize,
    /// Factor on the learning rate of that network.
    Layered front_rate: f64,
    /// Weight decay of that network, as l2 of the generator.
    Layered front_l2: f64,
    /// Smooth functions of the time since a sequence began, as inputs whose effect the code adapts: where members begin together; 0 for none.
    Model clock: usize,
    /// Let a recurrent base model emit changes, which add up to the outputs.
    Model residual: bool = "true",
    /// Widths of the generator's hidden layers, e.g. 64,64; none for a generator that is affine.
    Model hidden: Vec<usize>,
    /// Width of a last layer of the generator without nonlinearity, through which all that the code adapts goes; 0 for none.
    Model rank: usize,
    /// Let the code adapt these blocks of parameters, too; `rest` for all that no list names.
    Model adapt: Vec<String>,
    /// Learn these blocks of parameters, but the same for all members; `rest` for all that no list names.
    Model share: Vec<String>,
    /// Hold these blocks of parameters where learning would begin; `rest` for all that no list names.
    Model fix: Vec<String>,
    /// From units of the data to units of the model: identity, outputs, input_units or all.
    Learning scaling: ScalingRule,
    /// Steps of the segments that sequences are cut into; 0 leaves them whole.
    Learning segment: usize,
    /// Steps that a segment shares with the one before it; 0 where sequences are whole.
    Learning overlap: usize,
    /// Steps by which a segment may begin sooner or later, anew whenever it is learned from (elbo and iwae); 0 for none.
    Learning jitter: usize,
    /// Share of the sequences that is held out to decide when to stop.
    Learning validation: f64,
    /// Share of the sequences that is kept apart to choose the length of the code by.
    Learning selection: f64,
    /// What learning maximises: mco (Monte-Carlo objective), elbo (evidence lower bound) or iwae (importance-weighted bound).
    Learning learn: LearnRule,
    /// How learning begins: prior (many sequences), effects (few), curves (that begin together), responses (codes by how outputs follow
    /// inputs), none (elbo and iwae).
    Learning start: Beginning,
    /// Inputs that outputs are fitted on where learning begins with responses; none named: the phase, or inputs that change.
    Learning start_inputs: Vec<String>,
    /// Steps of the start; 0 without one.
    Learning start_steps: u64,
    /// Particles per step of the start; independent restarts of random effects; 0 without a start.
    Learning particles: usize,
    /// Particles per sequence, drawn by their weights, that carry the gradient of a start from the prior, as in the paper; 0 for all, weighted.
    Learning resampled: usize,
    /// Noise s that the start comes down to, in standard deviations of an output.
    Learning start_noise: f64,
    /// Steps of the refinement, which for elbo and iwae is all of learning.
    Learning refine_steps: u64,
    /// Codes drawn per sequence and step of the refinement.
    Learning refine_particles: usize,
    /// Sequences or segments per step of elbo and iwae, each once before any comes again; 0 for all.
    Variational minibatch: usize,
    /// First steps of elbo and iwae without divergence and with sharp beliefs: against collapse; 0 for none.
    Variational hard_steps: u64,
    /// Deviation of every code in these steps.
    Variational hard_std: f64,
    /// Steps over which elbo and iwae let the weight of the divergence (KL) rise to 1.
    Variational kl_warmup: u64,
    /// Steps over which codes of the segments of one sequence stay alike (elbo): neighbours are correlated by e^(-steps between / these); 0 for codes that know nothing of each other.
    Variational smooth: f64,
    /// Temperature of the likelihood in elbo and iwae: below 1 where outputs are less independent than the model says.
    Variational temperature: f64,
    /// Learn a network that reads a sequence and says its code, with these units in each direction; 0 for a belief per sequence.
    Variational amortised: usize = "32",
    /// Factor on the learning rate of beliefs about codes.
    Variational code_rate: f64,
    /// Factor on the learning rate of blocks that all members share (elbo and iwae).
    Variational shared_rate: f64,
    /// Weight decay of these blocks, as l2 of the generator, where they multiply a state or an input.
    Variational shared_l2: f64,
    /// Steps over which gradients of elbo and iwae flow back; 0 for whole sequences.
    Variational window: usize,
    /// Noise s that learning never goes below, in standard deviations of an output.
    Learning least_noise: f64,
    /// Learning rate of the refinement at its height.
    Learning learning_rate: f64,
    /// How the learning rate goes on: cosine (a short rise, then down) or constant.
    Learning schedule: RateRule,
    /// Longest gradient: longer ones are shortened to it.
    Learning clip: f64,
    /// Share of a running average of all weights that a step of the refinement keeps; the average is what is learned; 0 for none.
    Learning averaging: f64,
    /// Weight decay of the generator: coefficient of ½ λ ‖W‖² / N.
    Learning l2: f64,
    /// Checks of the held-out bound without gain after which learning stops; 0 learns to the last step, whatever it says.
    Learning patience: u64,
    /// Where codes of new members are expected: auto, normal or aggregate (around the members).
    NewMembers prior: PriorRule,
    /// Standard deviation τ of a normal prior over codes, and of members like none before in another.
    NewMembers prior_std: f64,
    /// Give process noise the size by which held-out sequences are forecast best: true or false.
    NewMembers calibrate: bool,
    /// Let what the code leaves over of the steps seen go on in forecasts: auto (where held-out sequences are forecast better), always or never.
    NewMembers remainder: RemainderRule,
    /// How far log s of a new member is expected above the learned one.
    NewMembers noise_shift: f64,
    /// Standard deviation of log s of a new member.
    NewMembers noise_spread: f64,
}

/// What one can wish for, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The key.
    pub name: &'static str,
    /// What it means, in a sentence.
    pub about: &'static str,
    /// What it belongs to.
    pub topic: Topic,
    /// Its type.
    pub kind: &'static str,
    /// What naming it without a value means, where that means something.
    pub alone: Option<&'static str>,
    /// What is chosen for who leaves it out, in words; said of those that most people need.
    pub default: Option<&'static str>,
}

/// What settings belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Those that most people need.
    Usual,
    /// The model.
    Model,
    /// A network before the base model.
    Layered,
    /// Learning.
    Learning,
    /// Learning by elbo and iwae.
    Variational,
    /// What is expected of new members.
    NewMembers,
}

/// One setting, and why it is so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// Its key in the settings.
    pub key: String,
    /// Its value.
    pub value: serde_json::Value,
    /// Why.
    pub why: String,
    /// Whether a person asked for it, and it would have been another.
    pub asked: bool,
}
