//! Memory of passes over a batch of sequences.

use super::Network;
use super::pairs::{PULL_PARTS, STEPS};
use crate::queue::{Buffer, Queue};
use crate::{Error, Result};

/// Most pairs at a time: 120 kB of parameters each at the paper's size.
const MOST_PAIRS: usize = 1024;

/// Which sequences a pass is over: rows of the data, and how many of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    /// Sequences.
    pub n_seq: usize,
    /// Steps of the longest.
    pub n_time: usize,
    /// Codes of each.
    pub draws: usize,
}

impl Batch {
    pub(crate) fn n_pairs(self) -> usize {
        self.n_seq * self.draws
    }
}

/// Memory of passes over a batch.
#[derive(Debug)]
pub(crate) struct Room {
    pub(super) batch: Batch,
    /// Pairs at a time.
    pub(super) n_pairs: usize,
    pub(super) inputs: Buffer<f32>,
    pub(super) driven: Buffer<f32>,
    pub(super) gates: Buffer<f32>,
    pub(super) carry: Buffer<f32>,
    pub(super) d_start: Buffer<f32>,
    pub(super) d_front: Buffer<f32>,
    pub(super) front_states: Buffer<f32>,
    pub(super) features: Buffer<f32>,
    pub(super) d_features: Buffer<f32>,
    pub(super) parts: Buffer<f32>,
    pub(super) arrived: Buffer<u32>,
    pub(super) hidden: Vec<Buffer<f32>>,
    pub(super) d_hidden: Vec<Buffer<f32>>,
    pub(super) pulls: Buffer<f32>,
    pub(super) theta: Buffer<f32>,
    pub(super) d_theta: Buffer<f32>,
    pub(super) states: Buffer<f32>,
    /// What drives states, then what is pulled at them.
    pub(super) inner: Buffer<f32>,
    pub(super) errors: Buffer<f32>,
    pub(super) likelihood_parts: Buffer<f64>,
    pub(crate) likelihoods: Buffer<f64>,
    pub(crate) codes: Buffer<f32>,
    pub(crate) d_codes: Buffer<f32>,
    pub(crate) weights: Buffer<f32>,
    /// What is added to log s of each pair, and what is pulled at it.
    pub(super) shifts: [Buffer<f32>; 2],
    pub(super) has_shifts: bool,
    /// First rows of the sequences, then how many rows each has.
    pub(super) rows: Buffer<i32>,
    /// Where they lie.
    pub(crate) rows_at: u64,
}

impl Room {
    /// Whether it takes all pairs of its batch at once.
    pub(crate) fn holds_all(&self) -> bool {
        self.n_pairs == self.batch.n_pairs()
    }

    /// Sets what is pulled at the features to nothing.
    pub(crate) fn clear_features(&mut self, queue: &Queue) -> Result<()> {
        let n = self.d_features.len();
        queue.clear(&mut self.d_features, 0..n)
    }
}

impl Network {
    /// Memory for a batch: that of the last pass where it suits.
    pub(super) fn room(&mut self, batch: Batch) -> Result<Room> {
        match self.room.take().filter(|room| room.batch == batch) {
            Some(room) => Ok(room),
            None => self.new_room(batch),
        }
    }

    pub(crate) fn new_room(&self, batch: Batch) -> Result<Room> {
        let (queue, shape) = (&self.queue, &self.shape);
        let Batch { n_seq, n_time, draws } = batch;
        let whole = draws * (MOST_PAIRS / draws.max(1)).max(1);
        let n_pairs = batch.n_pairs().min(if draws > MOST_PAIRS { MOST_PAIRS } else { whole });
        if n_pairs.saturating_mul(shape.d_theta()) > i32::MAX as usize
            || n_seq.saturating_mul(n_time) > i32::MAX as usize / 4
        {
            return Err(too_many_rows());
        }
        let (rows, padded, width) = (n_seq * n_time, shape.padded_units(), shape.d_drive);
        let units = shape.front.map_or(0, |front| front.units);
        let hidden =
            || shape.hidden.iter().map(|(width, _)| queue.zeros(n_pairs * width)).collect::<Result<Vec<_>>>();
        let pulled =
            self.places.layers.last().map_or(0, |layer| layer[2]) + if shape.skip { shape.d_code } else { 0 };
        let (n, p) = (shape.d_state, shape.d_obs);
        let rows_buffer = queue.zeros(2 * n_seq)?;
        Ok(Room {
            batch,
            n_pairs,
            inputs: queue.zeros(rows * shape.d_input())?,
            driven: queue.zeros(rows * 3 * units)?,
            gates: queue.zeros(rows * 4 * padded)?,
            carry: queue.zeros(n_seq * padded)?,
            d_start: queue.zeros(n_seq * units)?,
            d_front: queue.zeros(rows * units)?,
            front_states: queue.zeros((n_time + 1) * n_seq * padded)?,
            features: queue.zeros(rows * width)?,
            d_features: queue.zeros(rows * width)?,
            parts: queue.zeros(self.largest_parts(rows))?,
            arrived: queue.zeros(2)?,
            hidden: hidden()?,
            d_hidden: hidden()?,
            pulls: queue.zeros(PULL_PARTS * n_pairs * pulled)?,
            theta: queue.zeros(n_pairs * shape.d_theta())?,
            d_theta: queue.zeros(n_pairs * shape.d_theta())?,
            states: queue.zeros(n_pairs * (n_time + 1) * n)?,
            inner: queue.zeros(n_pairs * n_time * n)?,
            errors: queue.zeros(n_pairs * n_time * p)?,
            likelihood_parts: queue.zeros(n_pairs * n_time.div_ceil(STEPS))?,
            likelihoods: queue.zeros(n_pairs)?,
            codes: queue.zeros(n_pairs * shape.d_code)?,
            d_codes: queue.zeros(n_pairs * shape.d_code)?,
            weights: queue.zeros(n_pairs)?,
            shifts: [queue.zeros(n_pairs)?, queue.zeros(n_pairs)?],
            has_shifts: false,
            rows_at: rows_buffer.at(0),
            rows: rows_buffer,
        })
    }
}

pub(super) fn too_many_rows() -> Error {
    Error::Unsupported { what: "more steps than a card takes at once; take fewer sequences at a time".into() }
}
