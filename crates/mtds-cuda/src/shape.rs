//! Sizes of a network, and sequences, as the card takes them.

use crate::compile::{NETWORKS, Program};
use crate::{Error, Result};

/// Warps of a block that keeps its part of the recurrent weights in registers. On an H200 a step at the paper's size takes as long with eight,
/// within 2 %; with 64 sequences sixteen are 5 % quicker.
pub(crate) const WARPS: usize = 16;

/// How products of many numbers are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Products {
    /// As exact as f32: each factor in two parts on the tensor cores.
    #[default]
    Exact,
    /// Factors rounded to tf32, ten bits: faster, and good enough to learn.
    Tf32,
}

/// Nonlinearity of a hidden layer of the generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// None.
    Identity = 0,
    /// Hyperbolic tangent.
    Tanh = 1,
    /// Logistic sigmoid.
    Sigmoid = 2,
    /// max(0, x).
    Relu = 3,
    /// ln(1 + e^x).
    Softplus = 4,
}

/// What determines a number of θ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// This row of the generator's last layer.
    Adapted(usize),
    /// This shared parameter.
    Shared(usize),
    /// A constant.
    Fixed(f32),
}

/// The gated network over the inputs, and its bottleneck. Parameters: input weights (3 units × inputs), recurrent weights (3 units × units),
/// input biases, recurrent biases (3 units each), bottleneck (bottleneck × units).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Front {
    /// Inputs.
    pub d_input: usize,
    /// Units.
    pub units: usize,
    /// Width of the bottleneck.
    pub bottleneck: usize,
    /// Whether inputs go past it.
    pub skip: bool,
}

/// Sizes of a network. Parameters: layers of the generator (weights, biases), its skip weights, shared numbers, the front.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// The network over the inputs, if there is one.
    pub front: Option<Front>,
    /// Length of a code.
    pub d_code: usize,
    /// Hidden layers of the generator.
    pub hidden: Vec<(usize, Activation)>,
    /// Whether an affine path from the code runs beside them.
    pub skip: bool,
    /// States of the tanh network.
    pub d_state: usize,
    /// What drives it.
    pub d_drive: usize,
    /// Outputs.
    pub d_obs: usize,
    /// By number of θ (W, V, b, C, D, d, log s, x₀).
    pub theta: Vec<Source>,
    /// First steps that are not scored.
    pub unscored: usize,
    /// How products are made.
    pub products: Products,
}

/// Where the parameters of each part begin.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// By layer of the generator: weights, bias, inputs, outputs.
    pub layers: Vec<[usize; 4]>,
    pub skip: Option<usize>,
    pub shared: usize,
    /// Input weights, recurrent weights, input biases, recurrent biases, bottleneck.
    pub front: [usize; 5],
    pub end: usize,
}

impl Shape {
    /// How many numbers of θ the generator makes.
    #[must_use]
    pub fn d_adapted(&self) -> usize {
        self.theta.iter().filter(|source| matches!(source, Source::Adapted(_))).count()
    }

    /// How many are shared.
    #[must_use]
    pub fn n_shared(&self) -> usize {
        self.theta.iter().filter(|source| matches!(source, Source::Shared(_))).count()
    }

    /// Length of θ.
    #[must_use]
    pub fn d_theta(&self) -> usize {
        let (n, m, p) = (self.d_state, self.d_drive, self.d_obs);
        n * (n + m + 2) + p * (n + m + 2)
    }

    /// How many parameters.
    #[must_use]
    pub fn n_parameters(&self) -> usize {
        self.places().end
    }

    /// Inputs of the whole.
    #[must_use]
    pub fn d_input(&self) -> usize {
        self.front.map_or(self.d_drive, |front| front.d_input)
    }

    pub(crate) fn places(&self) -> Places {
        let (mut at, mut n_in, mut layers) = (0, self.d_code, vec![]);
        for n_out in self.hidden.iter().map(|(width, _)| *width).chain([self.d_adapted()]) {
            layers.push([at, at + n_out * n_in, n_in, n_out]);
            (at, n_in) = (at + n_out * (n_in + 1), n_out);
        }
        let skip = self.skip.then_some(at);
        at += if self.skip { self.d_adapted() * self.d_code } else { 0 };
        let shared = at;
        at += self.n_shared();
        let mut front = [at; 5];
        if let Some(Front { d_input, units, bottleneck, .. }) = self.front {
            let lens = [3 * units * d_input, 3 * units * units, 3 * units, 3 * units, bottleneck * units];
            for (i, len) in lens.into_iter().enumerate() {
                front[i] = at;
                at += len;
            }
        }
        Places { layers, skip, shared, front, end: at }
    }

    /// Units of the front to the next multiple of what the warps share out.
    pub(crate) fn padded_units(&self) -> usize {
        self.front.map_or(0, |front| front.units.next_multiple_of(16 * WARPS))
    }

    pub(crate) fn program(&self) -> Program {
        let units = self.front.map_or(0, |front| front.units);
        let exact = u8::from(self.products == Products::Exact);
        let definitions = [
            ("WARPS", WARPS),
            ("EXACT", usize::from(exact)),
            ("H", units),
            ("HP", self.padded_units()),
            ("N", self.d_state),
            ("M", self.d_drive),
            ("P", self.d_obs),
        ]
        .map(|(name, value)| format!("{name}={value}"));
        Program { source: NETWORKS, definitions: definitions.to_vec() }
    }

    /// Refuses what the kernels do not have, on a card with so many multiprocessors.
    pub(crate) fn check(&self, n_multiprocessors: usize) -> Result<()> {
        let fail = |what: String| Err(Error::Unsupported { what });
        if self.theta.len() != self.d_theta() {
            return fail(format!(
                "θ has {} numbers; a tanh network of these sizes has {}",
                self.theta.len(),
                self.d_theta()
            ));
        }
        if let Some(front) = self.front {
            let most = 8 * n_multiprocessors;
            if front.units > most {
                let units = front.units;
                return fail(format!(
                    "a front of {units} units does not fit into the registers of this card; it takes {most} at most"
                ));
            }
            let drives = front.bottleneck + if front.skip { front.d_input } else { 0 };
            if drives != self.d_drive {
                return fail(format!(
                    "the front gives {drives} numbers, and {} drive the network behind it",
                    self.d_drive
                ));
            }
        }
        // Eight steps of states and drives lie in 48 KB of shared memory.
        if self.d_state > 1024 || 32 * (self.d_state + self.d_drive) > 46_000 || 32 * self.d_obs > 46_000 {
            return fail(format!(
                "a network of {} states, {} inputs and {} outputs is too wide for its kernels",
                self.d_state, self.d_drive, self.d_obs
            ));
        }
        Ok(())
    }
}

/// Whole sequences, one behind the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Data {
    /// Rows of [`Shape::d_input`].
    pub inputs: Vec<f32>,
    /// Rows of outputs, NaN where missing.
    pub outputs: Vec<f32>,
}
