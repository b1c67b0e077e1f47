//! Inputs of the training step W2, hashed rather than drawn, so that every engine has the same bits.
//!
//! ```text
//! x = low 32 bits of (i + 1000003 seed) · 2654435761, then mixed twice       i = 0 … n-1
//! h32_i = (x / 2^32 - 1/2) · 2 scale                                          in [-scale, scale)
//! ```
//!
//! The twin in Python is `bench/peers/inputs.py`.

use std::collections::BTreeMap;

use crate::check::{Check, StepCheck};

/// Particles M.
pub const N_PARTICLE: usize = 4000;
/// Sequences N.
pub const N_SEQ: usize = 128;
/// Length T of each sequence.
pub const N_TIME: usize = 80;
/// Resampled particles K per sequence, which carry the gradient.
pub const N_RESAMPLED: usize = 5;
/// Sigmoid units of the generator.
pub const N_HIDDEN: usize = 300;
/// Features [z, sin z, cos z, ‖z‖].
pub const D_FEATURE: usize = 13;
/// Outputs of the generator: υ (4), skew (6), B₁ (4), B₂ (4), C (4), x₀ (4).
pub const D_THETA: usize = 26;
/// Code z.
pub const D_CODE: usize = 4;
/// Observation noise s.
pub const NOISE_STD: f64 = 0.7;
/// Adam's step size; β₁ 0.9, β₂ 0.999, ε 1e-8.
pub const LEARNING_RATE: f64 = 1e-4;

/// `n` numbers in `[-scale, scale)`, a hash of index and seed.
pub fn h32(n: usize, seed: u64, scale: f64) -> Vec<f32> {
    let offset = seed.wrapping_mul(1_000_003);
    (0..n as u64).map(|i| ((unit(i.wrapping_add(offset)) - 0.5) * 2.0 * scale) as f32).collect()
}

fn unit(counter: u64) -> f64 {
    let mut x = counter.wrapping_mul(2_654_435_761) as u32;
    for (shift, factor) in [(16, 0x85eb_ca6b), (13, 0xc2b2_ae35)] {
        x ^= x >> shift;
        x = x.wrapping_mul(factor);
    }
    x ^= x >> 16;
    f64::from(x) / 4_294_967_296.0
}

/// Everything that W2 starts from; matrices are row-major.
#[derive(Debug, Clone)]
pub struct W2Inputs {
    /// First weights of the generator, `N_HIDDEN × D_FEATURE`.
    pub w1: Vec<f32>,
    /// First bias, `N_HIDDEN`.
    pub b1: Vec<f32>,
    /// Second weights, `D_THETA × N_HIDDEN`.
    pub w2: Vec<f32>,
    /// Second bias, `D_THETA`.
    pub b2: Vec<f32>,
    /// Codes of the particles, `N_PARTICLE × D_CODE`.
    pub codes: Vec<f32>,
    /// The sequences, `N_SEQ × N_TIME`.
    pub outputs: Vec<f32>,
    /// The uniforms that resample, `N_SEQ × N_RESAMPLED`, in [0, 1).
    pub uniforms: Vec<f32>,
}

impl W2Inputs {
    /// The inputs at step 0.
    pub fn new() -> Self {
        Self {
            w1: h32(N_HIDDEN * D_FEATURE, 21, 0.5),
            b1: h32(N_HIDDEN, 22, 0.5),
            w2: h32(D_THETA * N_HIDDEN, 23, 0.15),
            b2: h32(D_THETA, 24, 1.0),
            codes: h32(N_PARTICLE * D_CODE, 25, 2.0),
            outputs: h32(N_SEQ * N_TIME, 26, 1.0),
            uniforms: h32(N_SEQ * N_RESAMPLED, 27, 0.5).into_iter().map(|u| u + 0.5).collect(),
        }
    }
}

impl Default for W2Inputs {
    fn default() -> Self {
        Self::new()
    }
}

/// Loss and gradient norms of W2 at step 0, as eager PyTorch 2.15 computes them
/// (`bench/peers/torch_worker.py`, request `{"work":"w2","do":"check"}`).
///
/// Without peers, our own numbers are compared with these.
pub fn w2_reference() -> Check {
    let norms = [("W1", 2.552_196), ("b1", 1.000_618), ("W2", 29.650_649), ("b2", 3.301_703)];
    let gradient_norms = BTreeMap::from(norms.map(|(name, norm)| (name.to_string(), norm)));
    Check::Step(StepCheck { loss: 27.884_497, gradient_norms })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Bits of h32 in numpy: `inputs.h32(n, seed, scale).view(numpy.uint32)` of bench/peers/inputs.py.
    #[test]
    fn hashed_numbers_have_the_bits_of_the_python_twin() {
        let bits = |n, seed, scale| h32(n, seed, scale).iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(4, 21, 0.5), GOLDEN_SEED_21);
        assert_eq!(bits(4, 25, 2.0), GOLDEN_SEED_25);
        assert_eq!(*bits(10_240, 26, 1.0).last().unwrap(), GOLDEN_LAST_OUTPUT);
    }
    const GOLDEN_SEED_21: [u32; 4] = [0xbe99_6879, 0xbcab_bbdf, 0xbebb_5ab6, 0xbe4b_a333];
    const GOLDEN_SEED_25: [u32; 4] = [0x3e8d_2fe4, 0xbffc_641e, 0x3fe6_9f36, 0xbf31_2bc7];
    const GOLDEN_LAST_OUTPUT: u32 = 0xbe11_b722;

    #[test]
    fn shapes_and_ranges_are_those_of_the_problem() {
        let x = W2Inputs::new();
        assert_eq!([x.w1.len(), x.b1.len(), x.w2.len(), x.b2.len()], [3900, 300, 7800, 26]);
        assert_eq!([x.codes.len(), x.outputs.len(), x.uniforms.len()], [16_000, 10_240, 640]);
        assert!(x.uniforms.iter().all(|u| (0.0..1.0).contains(u)));
        assert!(x.codes.iter().all(|z| z.abs() <= 2.0) && x.codes.iter().any(|z| z.abs() > 1.9));
    }
}
