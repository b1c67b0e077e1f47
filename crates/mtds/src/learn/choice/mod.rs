//! Settings of learning that suit a family: what a person wishes is kept, all else is chosen from the data, with reasons.
//!
//! ```text
//! Wishes (every key may be left out)  +  Facts of the family  ──→  Choices (every key set)  +  why
//! Choices ──→ Architecture, Course
//! ```
//! Choices written down and given back as wishes are the same choices: that is how a fit is replayed.

mod approach;
mod build;
mod facts;
mod layered;
mod new_members;
mod roles;
mod rules;
#[cfg(test)]
mod tests;
mod variational;

use serde::{Deserialize, Serialize};

pub use facts::{Drive, Facts};
pub use layered::LAYERED;
pub use roles::REST;

use super::{PriorRule, ScalingRule};

/// How learning begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Beginning {
    /// From draws of the prior, for many sequences.
    Prior,
    /// From random effects, for few.
    Effects,
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

/// Two structures of the same keys, one with every key optional.
macro_rules! keys {
    ($($(#[$doc:meta])* $key:ident: $kind:ty,)*) => {
        /// What a person wishes; what is left out is chosen from the family.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Wishes {
            $($(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $key: Option<$kind>,)*
        }

        /// Every setting of a fit.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Choices {
            $($(#[$doc])* pub $key: $kind,)*
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
    /// Kind of base model, e.g. `lds`.
    base: String,
    /// Length k of a code.
    code: usize,
    /// Size n of the state.
    state: usize,
    /// Units of a gated network over the inputs that stands before the base model and is the same for all members; 0 for none.
    front: usize,
    /// Width of what it hands to the base model; 0 without it.
    bottleneck: usize,
    /// Whether the base model sees the inputs, too.
    front_skip: bool,
    /// First steps whose outputs tell where the network begins, and are not scored; 0 for a start at zero.
    front_seed: usize,
    /// Factor on its learning rate.
    front_rate: f64,
    /// Whether a recurrent base model's outputs are changes that add up.
    residual: bool,
    /// Widths of the generator's hidden layers.
    hidden: Vec<usize>,
    /// Blocks of θ that the code adapts. In wishes: those that move to this list; `rest` stands for all that no list names.
    adapt: Vec<String>,
    /// Blocks of θ that are learned and the same for all.
    share: Vec<String>,
    /// Blocks of θ that are held where learning would begin.
    fix: Vec<String>,
    /// From data units to model units.
    scaling: ScalingRule,
    /// Steps of the segments that sequences are cut into; 0 leaves them whole.
    segment: usize,
    /// Steps that a segment shares with the one before it; 0 where sequences are whole.
    overlap: usize,
    /// Share of the sequences that is held out to decide when to stop.
    validation: f64,
    /// Share of the sequences that is kept apart to choose the length of the code by.
    selection: f64,
    /// What learning maximises.
    learn: LearnRule,
    /// How learning begins.
    start: Beginning,
    /// Steps of the start; 0 without one.
    start_steps: u64,
    /// Particles per step of the start; independent restarts of random effects; 0 without a start.
    particles: usize,
    /// Noise s that the start comes down to, in standard deviations of an output.
    start_noise: f64,
    /// Steps of the refinement, which for elbo and iwae is all of learning.
    refine_steps: u64,
    /// Codes drawn per sequence and step of the refinement.
    refine_particles: usize,
    /// Sequences or segments per step of elbo and iwae, each once before any comes again; 0 for all.
    minibatch: usize,
    /// First steps of elbo and iwae without divergence and with sharp beliefs; 0 for none.
    hard_steps: u64,
    /// Steps over which elbo and iwae let the weight of the divergence rise to 1.
    kl_warmup: u64,
    /// Temperature of the likelihood in elbo and iwae: below 1 where outputs are less independent than the model says.
    temperature: f64,
    /// Units in each direction of a network that makes the beliefs of elbo and iwae; 0 for a belief per sequence.
    amortised: usize,
    /// Steps over which gradients of elbo and iwae flow back; 0 for whole sequences.
    window: usize,
    /// Noise s that learning never goes below, in standard deviations of an output.
    least_noise: f64,
    /// Learning rate of the refinement at its height.
    learning_rate: f64,
    /// Coefficient of ½ λ ‖W‖² / N over the generator's weights.
    l2: f64,
    /// Checks of the held-out bound without gain after which learning stops; 0 never stops early.
    patience: u64,
    /// Factor on steps that are not given.
    effort: f64,
    /// The prior over codes of new members.
    prior: PriorRule,
    /// Standard deviation τ of a normal one, and of members like none before in another.
    prior_std: f64,
    /// Whether process noise gets the size by which held-out sequences are forecast best.
    calibrate: bool,
    /// How far log s of a new member is expected above the learned one.
    noise_shift: f64,
    /// Standard deviation of log s of a new member.
    noise_spread: f64,
}

/// One setting, and why it is so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The key in [`Choices`].
    pub key: String,
    /// Its value.
    pub value: serde_json::Value,
    /// Why.
    pub why: String,
    /// Whether a person asked for it, and it would have been another.
    pub asked: bool,
}
