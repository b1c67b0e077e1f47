//! Inputs of the training step W1, the paper's mocap model, hashed so that every engine has the same bits.
//!
//! ```text
//! h_t = GRU(h_{t−1}, u_t)      v_t = H h_t      x_t = tanh(A x_{t−1} + B v_t + b)      ŷ_t = C x_t + d
//! (A, B, C, d) of sequence i = W_z z_i + b_z          loss = mean (ŷ − y)²
//! ```
//! The twin in Python is `bench/peers/inputs.py`.

use std::collections::BTreeMap;

use crate::check::{Check, StepCheck};
use crate::inputs::h32;

/// Steps T.
pub const N_TIME: usize = 64;
/// Width of the inputs u.
pub const D_IN: usize = 32;
/// Width of the bottleneck v.
pub const D_BOTTLENECK: usize = 24;
/// Width of the second state x.
pub const D_STATE: usize = 128;
/// Width of the outputs y.
pub const D_OUT: usize = 64;
/// Length of a code z.
pub const D_CODE: usize = 7;
/// What the generator makes for one sequence: A, B, C, d.
pub const N_GENERATED: usize = D_STATE * D_STATE + D_STATE * D_BOTTLENECK + D_OUT * D_STATE + D_OUT;

/// The sizes that vary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct W1Size {
    /// Units of the gated layer.
    pub hidden: usize,
    /// Sequences.
    pub batch: usize,
}

impl W1Size {
    /// Those of the paper.
    pub const PAPER: Self = Self { hidden: 1024, batch: 16 };

    /// Floating-point operations of the products of one step, forward and both gradients.
    pub fn operations(self) -> f64 {
        let gated = 3 * self.hidden * (self.hidden + D_IN);
        let per_row = gated + self.hidden * D_BOTTLENECK + N_GENERATED - D_OUT;
        (3 * 2 * N_TIME * self.batch * per_row + 3 * 2 * self.batch * N_GENERATED * D_CODE) as f64
    }
}

/// Everything that W1 starts from; matrices are row-major, sequences have their steps first.
#[derive(Debug, Clone)]
pub struct W1Inputs {
    /// Weights of the inputs of the gated layer, `3 hidden × D_IN`.
    pub wih: Vec<f32>,
    /// Its recurrent weights, `3 hidden × hidden`.
    pub whh: Vec<f32>,
    /// Its input bias, `3 hidden`.
    pub bih: Vec<f32>,
    /// Its recurrent bias, `3 hidden`.
    pub bhh: Vec<f32>,
    /// Bottleneck, `D_BOTTLENECK × hidden`.
    pub bottleneck: Vec<f32>,
    /// Weights of the generator, `N_GENERATED × D_CODE`.
    pub generator: Vec<f32>,
    /// Bias of the generator, `N_GENERATED`.
    pub generator_bias: Vec<f32>,
    /// Codes, `batch × D_CODE`.
    pub codes: Vec<f32>,
    /// Fixed bias of the second layer, `D_STATE`.
    pub state_bias: Vec<f32>,
    /// Inputs, `N_TIME × batch × D_IN`.
    pub inputs: Vec<f32>,
    /// Outputs, `N_TIME × batch × D_OUT`.
    pub outputs: Vec<f32>,
}

impl W1Inputs {
    /// The inputs at step 0.
    pub fn new(W1Size { hidden, batch }: W1Size) -> Self {
        let scale = (hidden as f64).powf(-0.5);
        Self {
            wih: h32(3 * hidden * D_IN, 1, scale),
            whh: h32(3 * hidden * hidden, 2, scale),
            bih: h32(3 * hidden, 3, scale),
            bhh: h32(3 * hidden, 4, scale),
            bottleneck: h32(D_BOTTLENECK * hidden, 5, scale),
            generator: h32(N_GENERATED * D_CODE, 6, 0.01),
            generator_bias: h32(N_GENERATED, 7, 0.08),
            codes: h32(batch * D_CODE, 8, 1.0),
            state_bias: h32(D_STATE, 9, 0.1),
            inputs: h32(N_TIME * batch * D_IN, 10, 1.0),
            outputs: h32(N_TIME * batch * D_OUT, 11, 1.0),
        }
    }
}

/// Loss and gradient norms of W1 at step 0 and the paper's sizes, as eager PyTorch 2.15 computes them
/// (`bench/peers/torch_worker.py`, request `{"work":"w1","do":"check"}`).
pub fn w1_reference() -> Check {
    let norms = [
        ("wih", 7.509_357_3e-4),
        ("whh", 5.467_589_1e-4),
        ("bih", 1.661_640_58e-3),
        ("bhh", 8.307_801_5e-4),
        ("H", 1.884_223_6e-3),
        ("Wz", 1.109_035_2e-2),
        ("bz", 2.266_150_4e-2),
        ("z", 1.362_459_9e-4),
    ];
    let gradient_norms = BTreeMap::from(norms.map(|(name, norm)| (name.to_string(), norm)));
    Check::Step(StepCheck { loss: 0.338_306_34, gradient_norms })
}
