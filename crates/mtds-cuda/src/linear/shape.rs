//! Sizes of a linear system with generated parameters, as the card takes them.

use crate::compile::{LINEAR, Program};
use crate::shape::{Activation, Source};
use crate::{Error, Result};

/// Most states: the matrices of a code lie in registers and in memory of its thread.
const MOST_STATES: usize = 16;
/// Most numbers of θ, for the same reason.
const MOST_NUMBERS: usize = 600;

/// The fixed map in front of the generator's first weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Features {
    /// The code z itself.
    Identity,
    /// z, sin z, cos z, ‖z‖.
    Trigonometric,
}

/// Sizes of a linear system. Parameters: layers of the generator (weights, biases), its skip weights, shared numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearShape {
    /// Length of a code, at least 1.
    pub d_code: usize,
    /// What stands before the generator.
    pub features: Features,
    /// Hidden layers of the generator.
    pub hidden: Vec<(usize, Activation)>,
    /// Whether an affine path from the code runs beside them.
    pub skip: bool,
    /// States.
    pub d_state: usize,
    /// Inputs.
    pub d_input: usize,
    /// Outputs.
    pub d_obs: usize,
    /// Whether the input matrix has gates, n × m numbers before its own: B = σ(B₁) ∘ tanh(B₂), else tanh B₂.
    pub is_gated: bool,
    /// By number of θ: υ, S, gates, B, b, C, D, d, log s, x₀.
    pub theta: Vec<Source>,
}

/// A layer of the generator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layer {
    /// Where its weights begin; the biases are behind them.
    pub weights: usize,
    pub bias: usize,
    pub n_in: usize,
    pub n_out: usize,
    pub form: Activation,
    /// Rows of the tape: its input and its output.
    pub from: usize,
    pub to: usize,
}

/// Where everything lies.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// The last layer makes the adapted numbers of θ.
    pub layers: Vec<Layer>,
    pub skip: Option<usize>,
    pub shared: usize,
    /// Parameters in all.
    pub end: usize,
    pub n_adapted: usize,
    pub n_shared: usize,
    /// Rows of the tape: features, hidden layers, adapted numbers.
    pub n_tape: usize,
    /// First of the adapted rows.
    pub adapted: usize,
}

impl Places {
    /// Rows of gradients of θ that go on: those of the last layer, then shared numbers.
    pub(super) fn n_pulled(&self) -> usize {
        self.n_adapted + self.n_shared
    }
}

impl LinearShape {
    /// Length of θ.
    #[must_use]
    pub fn d_theta(&self) -> usize {
        let (n, m, p) = (self.d_state, self.d_input, self.d_obs);
        let gates = if self.is_gated { n * m } else { 0 };
        3 * n + n * n.saturating_sub(1) / 2 + gates + n * m + p * (n + m + 2)
    }

    /// How many parameters.
    #[must_use]
    pub fn n_parameters(&self) -> usize {
        self.places().end
    }

    /// Numbers of features of a code.
    #[must_use]
    pub fn n_features(&self) -> usize {
        match self.features {
            Features::Identity => self.d_code,
            Features::Trigonometric => 3 * self.d_code + 1,
        }
    }

    pub(super) fn places(&self) -> Places {
        let count = |of: fn(&Source) -> bool| self.theta.iter().filter(|source| of(source)).count();
        let n_adapted = count(|source| matches!(source, Source::Adapted(_)));
        let n_shared = count(|source| matches!(source, Source::Shared(_)));
        let (mut at, mut n_in, mut from, mut layers) = (0, self.n_features(), 0, vec![]);
        for (n_out, form) in self.hidden.iter().copied().chain([(n_adapted, Activation::Identity)]) {
            let to = from + n_in;
            layers.push(Layer { weights: at, bias: at + n_out * n_in, n_in, n_out, form, from, to });
            (at, n_in, from) = (at + n_out * (n_in + 1), n_out, to);
        }
        let skip = self.skip.then_some(at);
        at += if self.skip { n_adapted * self.d_code } else { 0 };
        let (shared, end) = (at, at + n_shared);
        Places { layers, skip, shared, end, n_adapted, n_shared, n_tape: from + n_adapted, adapted: from }
    }

    pub(crate) fn program(&self) -> Program {
        let is_trigonometric = self.features == Features::Trigonometric;
        let definitions = [
            ("N", self.d_state),
            ("M", self.d_input),
            ("P", self.d_obs),
            ("GATED", usize::from(self.is_gated)),
            ("D_CODE", self.d_code),
            ("TRIGONOMETRIC", usize::from(is_trigonometric)),
            ("N_SHARED", self.places().n_shared),
        ]
        .map(|(name, value)| format!("{name}={value}"));
        Program { source: LINEAR, definitions: definitions.to_vec() }
    }

    /// Refuses what the kernels do not have.
    pub(super) fn check(&self) -> Result<()> {
        let fail = |what: String| Err(Error::Unsupported { what });
        let (found, expected) = (self.theta.len(), self.d_theta());
        if found != expected {
            return fail(format!("θ has {found} numbers; a linear system of these sizes has {expected}"));
        }
        if self.d_code == 0 || self.d_state == 0 || self.d_obs == 0 {
            return fail("a linear system on a card needs a code, a state and an output".into());
        }
        if self.d_state > MOST_STATES || expected > MOST_NUMBERS {
            return fail(format!(
                "a linear system of {} states and {expected} numbers is too large for its kernels; they take {MOST_STATES} and {MOST_NUMBERS}",
                self.d_state
            ));
        }
        Ok(())
    }
}
