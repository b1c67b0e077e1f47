//! The front of a layered model: a gated network over the inputs that all members share, and a bottleneck behind it.
//!
//! ```text
//! h_t = GRU(h_{t−1}, u_t; ψ₁)        h_0 = 0, learned, or tanh(E s + e) of the seed s, the outputs of the first steps
//! v_t = H h_t, or (H h_t, u_t)       H: ℓ × d_hidden; with a lag H h_{t−1}
//! x_t = f(x_{t−1}, v_t, θ)           ŷ_t = C x_t + D v_t + d          θ = h_φ(z): the base model, driven by v
//! ```
//! The two-layer model of Bird & Williams (2020), "Mocap": ψ₁ and H do not depend on the code, so v is computed once for a
//! sequence and serves every particle. A narrow bottleneck leaves more for the code to explain.
//!
//! What a seed tells is not scored: likelihoods are of the outputs after it, given it.

#[cfg(test)]
mod tests;

use std::fmt;

use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::generator::Tensor;
use crate::layer::{Bias, Dense, Gru, Layer};
use crate::random::Random;
use crate::{Error, Result};

/// Where the shared network begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrontStart {
    /// At zero.
    #[default]
    Zero,
    /// At one state that is learned.
    Learned,
    /// Where an encoder puts it that reads the outputs of the first steps.
    Encoded {
        /// Steps that it reads.
        steps: usize,
        /// Outputs per step.
        d_obs: usize,
    },
}

/// What the base model sees beside the bottleneck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputSkip {
    /// Nothing.
    #[default]
    None,
    /// The inputs, too.
    Inputs,
}

/// Sizes and forms of a front.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Front {
    /// Width of the inputs.
    pub d_input: usize,
    /// Units of the gated network.
    pub d_hidden: usize,
    /// Width ℓ of the bottleneck.
    pub d_bottleneck: usize,
    /// What goes past it.
    #[serde(default)]
    pub skip: InputSkip,
    /// Where the network begins.
    #[serde(default)]
    pub start: FrontStart,
    /// First steps that are not scored, in which the network finds its state; those that an encoder reads are not either.
    #[serde(default, skip_serializing_if = "is_none")]
    pub unscored: usize,
    /// Whether the bottleneck is handed on one step later: v_t = H h_{t−1}.
    #[serde(default, skip_serializing_if = "is_false")]
    pub lag: bool,
}

fn is_false(given: &bool) -> bool {
    !given
}

/// Whether a number that is left out of files where it is 0 is left out.
fn is_none(steps: &usize) -> bool {
    *steps == 0
}

/// The layers: gated network, bottleneck, encoder.
pub(crate) struct Layers {
    pub gru: Gru,
    pub bottleneck: Dense,
    pub encoder: Option<Dense>,
}

/// One sequence as the front reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrontReading<'a> {
    /// n_time × d_input, in model units.
    pub inputs: &'a [f32],
    /// By step of the seed: outputs, 0 where missing, then 1 where observed; empty where nothing is encoded.
    pub seed: &'a [f32],
}

impl Front {
    /// A front that begins at zero, with nothing past its bottleneck.
    #[must_use]
    pub fn new(d_input: usize, d_hidden: usize, d_bottleneck: usize) -> Self {
        let (skip, start) = (InputSkip::None, FrontStart::Zero);
        Self { d_input, d_hidden, d_bottleneck, skip, start, unscored: 0, lag: false }
    }

    /// Width of what drives the base model.
    #[must_use]
    pub fn d_out(&self) -> usize {
        self.d_bottleneck + if self.skip == InputSkip::Inputs { self.d_input } else { 0 }
    }

    /// First steps whose outputs are told and not scored: those that an encoder reads, or in which the network finds its state.
    #[must_use]
    pub fn seed_steps(&self) -> usize {
        let read = if let FrontStart::Encoded { steps, .. } = self.start { steps } else { 0 };
        read.max(self.unscored)
    }

    /// Checks the sizes.
    ///
    /// # Errors
    /// No inputs, no units, no bottleneck, an encoder that reads nothing.
    pub fn validate(&self) -> Result<()> {
        for (name, width) in [
            ("inputs of the front", self.d_input),
            ("units of the front", self.d_hidden),
            ("bottleneck", self.d_bottleneck),
        ] {
            if width == 0 {
                return Err(Error::setting(name, "found 0; a front needs at least 1"));
            }
        }
        match self.start {
            FrontStart::Encoded { steps: 0, .. } | FrontStart::Encoded { d_obs: 0, .. } => Err(
                Error::setting("start of the front", "found no outputs to encode; expected 1 step or more"),
            ),
            _ => Ok(()),
        }
    }

    pub(crate) fn layers(&self) -> Result<Layers> {
        let encoder = match self.start {
            FrontStart::Encoded { steps, d_obs } => {
                Some(Dense::new(2 * steps * d_obs, self.d_hidden, Bias::Learned)?)
            }
            FrontStart::Zero | FrontStart::Learned => None,
        };
        Ok(Layers {
            gru: Gru::new(self.d_input, self.d_hidden)?,
            bottleneck: Dense::new(self.d_hidden, self.d_bottleneck, Bias::None)?,
            encoder,
        })
    }

    /// The parameters, in order: gated network, bottleneck, then the learned start or the encoder.
    #[must_use]
    pub fn tensors(&self) -> Vec<Tensor> {
        let Ok(layers) = self.layers() else { return vec![] };
        let mut all = vec![];
        append(&mut all, "front.gru", layers.gru.tensors());
        append(&mut all, "front.bottleneck", layers.bottleneck.tensors());
        if let Some(encoder) = layers.encoder {
            append(&mut all, "front.encoder", encoder.tensors());
        }
        if self.start == FrontStart::Learned {
            append(
                &mut all,
                "front",
                vec![Tensor { name: "start".into(), shape: vec![self.d_hidden], start: 0 }],
            );
        }
        all
    }

    /// Number of parameters.
    #[must_use]
    pub fn n_parameters(&self) -> usize {
        self.tensors().last().map_or(0, |tensor| tensor.range().end)
    }

    /// Parameters at the start of learning: uniform within 1/√d_in of each layer, the start at zero.
    pub(crate) fn first(&self, random: &mut Random) -> Vec<f32> {
        let mut parameters = Vec::with_capacity(self.n_parameters());
        for tensor in self.tensors() {
            let fan_in = match tensor.shape[..] {
                [_, columns] if !tensor.name.starts_with("front.gru") => columns,
                _ => self.d_hidden,
            };
            let bound = if tensor.name == "front.start" { 0.0 } else { 1.0 / (fan_in.max(1) as f64).sqrt() };
            let uniform = || (bound * random.random_range(-1.0..=1.0)) as f32;
            parameters.extend(std::iter::repeat_with(uniform).take(tensor.range().len()));
        }
        parameters
    }
}

impl fmt::Display for Front {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gated network of {} units, bottleneck of {}", self.d_hidden, self.d_bottleneck)?;
        if self.skip == InputSkip::Inputs {
            write!(f, ", inputs beside it")?;
        }
        if self.lag {
            write!(f, ", one step later")?;
        }
        match self.start {
            FrontStart::Zero => Ok(()),
            FrontStart::Learned => write!(f, ", start learned"),
            FrontStart::Encoded { steps, .. } => write!(f, ", start from the first {steps} step(s)"),
        }?;
        match self.unscored {
            0 => Ok(()),
            steps => write!(f, ", first {steps} step(s) not scored"),
        }
    }
}

/// Adds tensors behind those that are there.
fn append(all: &mut Vec<Tensor>, prefix: &str, tensors: Vec<Tensor>) {
    let start = all.last().map_or(0, |tensor| tensor.range().end);
    let moved = |t: Tensor| Tensor { name: format!("{prefix}.{}", t.name), start: start + t.start, ..t };
    all.extend(tensors.into_iter().map(moved));
}
