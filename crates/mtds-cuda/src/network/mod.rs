//! A network on a card: passes over pairs of a sequence and a code, and back.

mod front;
mod pairs;
mod product;
mod room;

use std::ops::Range;

pub(crate) use room::{Batch, Room};

use crate::Result;
use crate::device::Gpu;
use crate::queue::{Buffer, Plain, Queue};
use crate::shape::{Data, Places, Shape, Source};
use room::too_many_rows;

/// `Sequences` of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Sequences {
    outputs: u64,
    first_row: u64,
    n_rows: u64,
    n_time: i32,
    unscored: i32,
    n_seq: i32,
    draws: i32,
    first_pair: i32,
}

#[allow(unsafe_code)] // plain numbers in the layout of C
unsafe impl Plain for Sequences {}

/// Weights of these pairs, by their log likelihoods.
pub type Weigh<'a> = dyn FnMut(Range<usize>, &[f64]) -> Vec<f32> + 'a;

/// What is pulled, given the likelihoods of the pairs.
pub struct Pull<'a> {
    /// Weights of these pairs, by their log likelihoods; called for a range of pairs at a time, of whole sequences where a sequence
    /// has at most 1024 codes.
    pub weigh: &'a mut Weigh<'a>,
    /// Whether gradients of the parameters are asked for.
    pub parameters: bool,
}

/// What a pass found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// By pair.
    pub log_likelihoods: Vec<f64>,
    /// Σ weight ∂ log likelihood, by parameter; empty unless asked for.
    pub parameters: Vec<f32>,
    /// weight ∂ log likelihood by pair and dimension of its code; empty unless something is pulled.
    pub codes: Vec<f32>,
    /// The same for the shifts; empty where there are none.
    pub shifts: Vec<f32>,
}

/// Rows of all sequences, on the card.
#[derive(Debug)]
pub(crate) struct Stored {
    inputs: Buffer<f32>,
    outputs: Buffer<f32>,
}

/// A network of one shape on one card.
#[derive(Debug)]
pub struct Network {
    pub(crate) shape: Shape,
    pub(crate) places: Places,
    pub(crate) queue: Queue,
    source: Buffer<i32>,
    fixed: Buffer<f32>,
    /// The number of θ that each row of the last layer is for.
    place: Buffer<i32>,
    room: Option<Room>,
    parameters: Buffer<f32>,
    gradient: Buffer<f32>,
}

impl Network {
    /// Compiles the kernels for a shape.
    ///
    /// # Errors
    /// A shape that the kernels do not have, a compiler or driver that refuses.
    pub fn new(gpu: &Gpu, shape: Shape) -> Result<Self> {
        shape.check(gpu.n_multiprocessors)?;
        let queue = Queue::new(gpu, &shape.program())?;
        for kernel in ["gated_forward", "gated_backward"].iter().filter(|_| shape.front.is_some()) {
            debug_assert_eq!(queue.local_bytes(kernel)?, 0, "{kernel} keeps its weights in registers");
        }
        let n_shared = shape.n_shared();
        let signed = |n: usize| i32::try_from(n).expect("θ is small");
        let source: Vec<i32> = shape
            .theta
            .iter()
            .map(|source| match *source {
                Source::Adapted(row) => signed(row),
                Source::Shared(at) => -1 - signed(at),
                Source::Fixed(_) => -1 - signed(n_shared),
            })
            .collect();
        let fixed: Vec<f32> =
            shape.theta.iter().map(|s| if let Source::Fixed(x) = s { *x } else { 0.0 }).collect();
        let mut place = vec![0; shape.d_adapted()];
        for (at, source) in shape.theta.iter().enumerate() {
            if let Source::Adapted(row) = *source {
                place[row] = signed(at);
            }
        }
        let places = shape.places();
        let (source, fixed, place) =
            (queue.uploaded(&source)?, queue.uploaded(&fixed)?, queue.uploaded(&place)?);
        let (parameters, gradient) = (queue.zeros(places.end)?, queue.zeros(places.end)?);
        Ok(Self { shape, places, queue, source, fixed, place, room: None, parameters, gradient })
    }

    /// Its sizes.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Log likelihoods of every pair, and what `pull` asks for. `steps`: how many rows of the data each sequence has, in order;
    /// `codes`: as many for each sequence, one row after the other; `shifts`: what is added to log s of each pair, or nothing.
    ///
    /// # Errors
    /// Full memory, a driver that fails.
    pub fn own(
        &mut self,
        parameters: &[f32],
        (data, steps): (&Data, &[usize]),
        (codes, shifts): (&[f32], &[f32]),
        mut pull: Option<Pull<'_>>,
    ) -> Result<Found> {
        let (k, n_seq) = (self.shape.d_code, steps.len());
        let draws = codes.len() / (k * n_seq).max(1);
        let batch = Batch { n_seq, n_time: steps.iter().copied().max().unwrap_or(0), draws };
        let mut found = Found::default();
        if batch.n_pairs() == 0 || batch.n_time == 0 {
            found.log_likelihoods = vec![0.0; batch.n_pairs()];
            return Ok(found);
        }
        self.queue.upload(parameters, &mut self.parameters, 0)?;
        let stored = self.store(data)?;
        let mut room = self.room(batch)?;
        room.has_shifts = !shifts.is_empty();
        let mut rows: Vec<i32> = Vec::with_capacity(2 * n_seq);
        let mut first = 0;
        for &n in steps {
            rows.push(i32::try_from(first).map_err(|_| too_many_rows())?);
            first += n;
        }
        rows.extend(steps.iter().map(|&n| n as i32));
        self.queue.upload(&rows, &mut room.rows, 0)?;
        let weights = self.parameters.at(0);
        self.front_forward(weights, &stored, &mut room, batch)?;
        let n_gradient = self.gradient.len();
        let mut gradient = std::mem::replace(&mut self.gradient, self.queue.zeros(0)?);
        self.queue.clear(&mut gradient, 0..n_gradient)?;
        room.clear_features(&self.queue)?;
        for first in (0..batch.n_pairs()).step_by(room.n_pairs) {
            let pairs = first..batch.n_pairs().min(first + room.n_pairs);
            self.queue.upload(&codes[pairs.start * k..pairs.end * k], &mut room.codes, 0)?;
            if room.has_shifts {
                self.queue.upload(&shifts[pairs.clone()], &mut room.shifts[0], 0)?;
            }
            self.pairs_forward(weights, &stored, &mut room, (batch, pairs.clone()))?;
            let likelihoods = self.queue.download(&room.likelihoods, 0..pairs.len())?;
            if let Some(pull) = &mut pull {
                self.queue.upload(&(pull.weigh)(pairs.clone(), &likelihoods), &mut room.weights, 0)?;
                let into = if pull.parameters { gradient.at(0) } else { 0 };
                self.pairs_backward((weights, into), &stored, &mut room, (batch, pairs.clone()))?;
                found.codes.extend(self.queue.download(&room.d_codes, 0..pairs.len() * k)?);
                if room.has_shifts {
                    found.shifts.extend(self.queue.download(&room.shifts[1], 0..pairs.len())?);
                }
            }
            found.log_likelihoods.extend(likelihoods);
        }
        if pull.is_some_and(|pull| pull.parameters) {
            self.front_backward((weights, gradient.at(0)), &mut room, batch)?;
            found.parameters = self.queue.download(&gradient, 0..n_gradient)?;
        }
        self.gradient = gradient;
        self.room = Some(room);
        Ok(found)
    }

    /// Rows on the card.
    pub(crate) fn store(&self, data: &Data) -> Result<Stored> {
        Ok(Stored {
            inputs: self.queue.uploaded(&data.inputs)?,
            outputs: self.queue.uploaded(&data.outputs)?,
        })
    }

    fn sequences(&self, stored: &Stored, room: &Room, batch: Batch, first_pair: usize) -> Sequences {
        Sequences {
            outputs: stored.outputs.at(0),
            first_row: room.rows_at,
            n_rows: room.rows_at + 4 * batch.n_seq as u64,
            n_time: batch.n_time as i32,
            unscored: self.shape.unscored as i32,
            n_seq: batch.n_seq as i32,
            draws: batch.draws as i32,
            first_pair: first_pair as i32,
        }
    }
}
