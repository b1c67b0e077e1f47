//! Memory that passes use again.

use crate::Result;
use crate::queue::{Buffer, Queue};

/// Most numbers that grow with the codes of a pass: more codes come in several passes.
pub(super) const BUDGET: usize = 1 << 26;

/// Memory of passes; everything grows as it is needed.
#[derive(Debug)]
pub(super) struct Room {
    /// Columns of the codes at hand, where they are not those of all codes.
    pub tape: Buffer<f32>,
    /// Gradients of θ that go on to generator and shared numbers.
    pub pulled: Buffer<f32>,
    /// Gradients of log s, where it is shifted.
    pub d_noise: Buffer<f32>,
    pub d_hidden: Vec<Buffer<f32>>,
    pub d_features: Buffer<f32>,
    pub d_codes: Buffer<f32>,
    pub parts: Buffer<f32>,
    pub states: Buffer<f32>,
    pub totals: Buffer<f64>,
    pub codes: Buffer<f32>,
    /// Codes of rows, then sequences of rows.
    pub picks: Buffer<i32>,
    pub sequences: Buffer<i32>,
    pub weights: Buffer<f32>,
    pub uniforms: Buffer<f64>,
    pub shifts: Buffer<f32>,
    pub d_shifts: Buffer<f32>,
    /// Predicted outputs and log s of codes, for sequences that share inputs.
    pub outputs: Buffer<f32>,
    pub log_std: Buffer<f32>,
    /// Weighted sums over such sequences, and weights of what was observed.
    pub sums: Buffer<f32>,
    pub masses: Buffer<f32>,
    pub likelihoods: Buffer<f64>,
    pub summary: Buffer<f64>,
}

impl Room {
    pub(super) fn new(queue: &Queue, n_hidden: usize) -> Result<Self> {
        Ok(Self {
            tape: queue.zeros(0)?,
            pulled: queue.zeros(0)?,
            d_noise: queue.zeros(0)?,
            d_hidden: (0..n_hidden).map(|_| queue.zeros(0)).collect::<Result<_>>()?,
            d_features: queue.zeros(0)?,
            d_codes: queue.zeros(0)?,
            parts: queue.zeros(0)?,
            states: queue.zeros(0)?,
            totals: queue.zeros(0)?,
            codes: queue.zeros(0)?,
            picks: queue.zeros(0)?,
            sequences: queue.zeros(0)?,
            weights: queue.zeros(0)?,
            uniforms: queue.zeros(0)?,
            shifts: queue.zeros(0)?,
            d_shifts: queue.zeros(0)?,
            outputs: queue.zeros(0)?,
            log_std: queue.zeros(0)?,
            sums: queue.zeros(0)?,
            masses: queue.zeros(0)?,
            likelihoods: queue.zeros(0)?,
            summary: queue.zeros(0)?,
        })
    }
}

/// How many of n codes come in one pass, where each takes so many numbers.
pub(super) fn at_a_time(n: usize, each: usize) -> usize {
    (BUDGET / each.max(1)).clamp(1, n.max(1))
}
