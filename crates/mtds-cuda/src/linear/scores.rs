//! Scores of many codes by sequence, which stay on the card.

use std::sync::Arc;

use crate::Result;
use crate::queue::{Buffer, Plain, Queue};

/// log p of every sequence under every code.
#[derive(Debug)]
pub struct Scores {
    pub(super) queue: Arc<Queue>,
    pub(super) n_codes: usize,
    pub(super) n_seq: usize,
    /// A row per sequence.
    pub(super) values: Buffer<f32>,
    /// By sequence: the largest, and 1 / (N Σ e^(score − largest)).
    pub(super) largest: Buffer<f32>,
    pub(super) factor: Buffer<f32>,
}

/// What scores say about each sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// log (1/M) Σ e^score.
    pub log_evidence: Vec<f64>,
    /// 1 / Σ w², w the normalised e^score.
    pub effective_codes: Vec<f64>,
}

/// `Scored` of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Scored {
    scores: u64,
    largest: u64,
    factor: u64,
    ld: i64,
}

#[allow(unsafe_code)] // plain numbers in the layout of C
unsafe impl Plain for Scored {}

impl Scores {
    pub(super) fn new(queue: &Arc<Queue>) -> Result<Self> {
        let none = || queue.zeros(0);
        Ok(Self {
            queue: Arc::clone(queue),
            n_codes: 0,
            n_seq: 0,
            values: none()?,
            largest: none()?,
            factor: none()?,
        })
    }

    /// Room for so many, to be written whole.
    pub(super) fn resize(&mut self, n_codes: usize, n_seq: usize) -> Result<()> {
        (self.n_codes, self.n_seq) = (n_codes, n_seq);
        self.queue.grow(&mut self.values, n_codes * n_seq)?;
        self.queue.grow(&mut self.largest, n_seq)?;
        self.queue.grow(&mut self.factor, n_seq)
    }

    /// All of them, a row per sequence.
    ///
    /// # Errors
    /// A driver that fails.
    pub fn to_host(&self) -> Result<Vec<f32>> {
        self.queue.download(&self.values, 0..self.n_codes * self.n_seq)
    }

    /// Those of codes from `first` on.
    pub(super) fn scored(&self, first: usize) -> Scored {
        Scored {
            scores: self.values.at(first),
            largest: self.largest.at(0),
            factor: self.factor.at(0),
            ld: self.n_codes as i64,
        }
    }
}
