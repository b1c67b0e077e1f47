//! Linear systems with generated parameters on a card: scores of many codes on all sequences, and gradients by their weights.
//!
//! ```text
//! codes ──→ tape (features, hidden layers, adapted θ: a column per code) ──→ matrices and rollout, a thread per code
//!   sequences share inputs    outputs of every code, then products of codes × sequences
//!   each has its own          a thread per code and sequence
//! ```
//! Scores stay on the card ([`Scores`]); so does the tape of the codes that were scored last.

mod generator;
mod pulls;
mod room;
mod scores;
mod sequences;
mod shape;

use std::sync::Arc;

pub use pulls::{LinearGradient, LinearWeights};
pub use scores::{Scores, Summary};
pub use sequences::{LinearData, StoredSequences};
pub use shape::{Features, LinearShape};

use crate::device::Gpu;
use crate::queue::{Arg, Buffer, Extent, Queue};
use crate::shape::Source;
use crate::{Error, Result};
use generator::Columns;
use room::{Room, at_a_time};
use shape::Places;

/// A linear system of one shape on one card.
#[derive(Debug)]
pub struct Linear {
    shape: LinearShape,
    places: Places,
    queue: Arc<Queue>,
    source: Buffer<i32>,
    fixed: Buffer<f32>,
    /// Where the gradient of each number of θ goes: a row of the last layer, a shared number behind them, or nowhere (−1).
    to: Buffer<i32>,
    parameters: Buffer<f32>,
    /// Of the parameters; behind it, from an even place on, the weighted log likelihood in double precision.
    gradient: Buffer<f32>,
    /// What was generated last: parameters, codes, and their tape.
    known: Option<(Vec<f32>, Vec<f32>)>,
    tape: Buffer<f32>,
    room: Room,
}

impl Linear {
    /// Compiles the kernels for a shape.
    ///
    /// # Errors
    /// A shape that the kernels do not have, a compiler or driver that refuses.
    pub fn new(gpu: &Gpu, shape: LinearShape) -> Result<Self> {
        shape.check()?;
        let queue = Arc::new(Queue::new(gpu, &shape.program())?);
        let places = shape.places();
        let signed = |n: usize| i32::try_from(n).expect("θ is small");
        let (n_adapted, n_shared) = (signed(places.n_adapted), signed(places.n_shared));
        let source = |source: &Source| match *source {
            Source::Adapted(row) => signed(row),
            Source::Shared(at) => -1 - signed(at),
            Source::Fixed(_) => -1 - n_shared,
        };
        let to = |source: &Source| match *source {
            Source::Adapted(row) => signed(row),
            Source::Shared(at) => n_adapted + signed(at),
            Source::Fixed(_) => -1,
        };
        let fixed = |source: &Source| if let Source::Fixed(x) = *source { x } else { 0.0 };
        Ok(Self {
            source: queue.uploaded(&shape.theta.iter().map(source).collect::<Vec<i32>>())?,
            fixed: queue.uploaded(&shape.theta.iter().map(fixed).collect::<Vec<f32>>())?,
            to: queue.uploaded(&shape.theta.iter().map(to).collect::<Vec<i32>>())?,
            parameters: queue.zeros(places.end)?,
            gradient: queue.zeros(report_at(&places) + 2)?,
            known: None,
            tape: queue.zeros(0)?,
            room: Room::new(&queue, shape.hidden.len())?,
            places,
            shape,
            queue,
        })
    }

    /// Its sizes.
    #[must_use]
    pub fn shape(&self) -> &LinearShape {
        &self.shape
    }

    /// Sequences, on the card.
    ///
    /// # Errors
    /// Full memory, a driver that fails.
    pub fn store(&self, data: &LinearData) -> Result<StoredSequences> {
        StoredSequences::new(&self.queue, data, self.shape.d_obs)
    }

    /// Scores without any numbers yet.
    ///
    /// # Errors
    /// Full memory, a driver that fails.
    pub fn scores(&self) -> Result<Scores> {
        Scores::new(&self.queue)
    }

    /// Whether scores are of this system.
    #[must_use]
    pub fn owns(&self, scores: &Scores) -> bool {
        Arc::ptr_eq(&self.queue, &scores.queue)
    }

    /// Scores all sequences under all codes, rows of `codes`, into `scores`.
    ///
    /// # Errors
    /// Full memory, a driver that fails, more scores than a card takes.
    pub fn score(
        &mut self,
        (parameters, codes): (&[f32], &[f32]),
        all: &StoredSequences,
        scores: &mut Scores,
    ) -> Result<Summary> {
        let (n, n_seq, n_time) = (codes.len() / self.shape.d_code, all.n_seq, all.n_time);
        if n.saturating_mul(n_seq) > i32::MAX as usize {
            return Err(Error::Unsupported { what: format!("{n} codes on {n_seq} sequences are too many") });
        }
        let tape = self.forward(parameters, codes)?;
        scores.resize(n, n_seq)?;
        let theta = self.theta(tape, 0);
        match &all.values {
            Some(values) => {
                let p = self.shape.d_obs;
                let most = at_a_time(n, p * n_time);
                self.queue.grow(&mut self.room.outputs, p * n_time * most)?;
                self.queue.grow(&mut self.room.log_std, p * most)?;
                let (outputs, log_std) = (self.room.outputs.at(0), self.room.log_std.at(0));
                for first in (0..n).step_by(most) {
                    let count = most.min(n - first);
                    let args = [
                        Arg::Struct(&theta),
                        all.inputs.at(0).into(),
                        n_time.into(),
                        outputs.into(),
                        log_std.into(),
                        first.into(),
                        count.into(),
                    ];
                    self.queue.launch("roll_out", by_warp(count, 1), &args)?;
                    let args = [
                        outputs.into(),
                        log_std.into(),
                        values.at(0).into(),
                        n_time.into(),
                        n_seq.into(),
                        scores.values.at(0).into(),
                        n.into(),
                        first.into(),
                        count.into(),
                    ];
                    let grid = [count.div_ceil(64), n_seq.div_ceil(32), 1];
                    self.queue.launch("score_shared", Extent::blocks(grid, 256), &args)?;
                }
            }
            None => {
                let args = [
                    Arg::Struct(&theta),
                    Arg::Struct(&all.addresses()),
                    n.into(),
                    n.into(),
                    Arg::Int(0),
                    (n * n_seq).into(),
                    scores.values.at(0).into(),
                    Arg::At(0),
                ];
                let grid = [(n * n_seq).div_ceil(128), 1, 1];
                self.queue.launch("score_rows", Extent::blocks(grid, 128), &args)?;
            }
        }
        self.summarise(scores)
    }

    fn summarise(&mut self, scores: &Scores) -> Result<Summary> {
        let n_seq = scores.n_seq;
        self.queue.grow(&mut self.room.summary, 2 * n_seq)?;
        let args = [
            scores.values.at(0).into(),
            scores.n_codes.into(),
            n_seq.into(),
            scores.largest.at(0).into(),
            scores.factor.at(0).into(),
            self.room.summary.at(0).into(),
        ];
        self.queue.launch("summarise", Extent::blocks([n_seq, 1, 1], 256), &args)?;
        let mut log_evidence = self.queue.download(&self.room.summary, 0..2 * n_seq)?;
        let effective_codes = log_evidence.split_off(n_seq);
        Ok(Summary { log_evidence, effective_codes })
    }

    /// The tape of these codes: that of the last pass if it was over the same.
    fn forward(&mut self, parameters: &[f32], codes: &[f32]) -> Result<Columns> {
        let n = codes.len() / self.shape.d_code;
        let tape = Columns { address: self.tape.at(0), ld: n, n };
        if self.known.as_ref().is_some_and(|(p, c)| same_bits(p, parameters) && same_bits(c, codes)) {
            return Ok(tape);
        }
        self.set_parameters(parameters)?;
        let (_, mut kept) = self.known.take().unwrap_or_default();
        self.queue.grow(&mut self.room.codes, codes.len())?;
        self.queue.upload(codes, &mut self.room.codes, 0)?;
        self.queue.grow(&mut self.tape, self.places.n_tape * n)?;
        let tape = Columns { address: self.tape.at(0), ..tape };
        self.generate(self.room.codes.at(0), tape)?;
        kept.clear();
        kept.extend_from_slice(codes);
        self.known = Some((parameters.to_vec(), kept));
        Ok(tape)
    }

    /// Brings parameters to the card, unless they are there; what was generated from others is not known any more.
    fn set_parameters(&mut self, parameters: &[f32]) -> Result<()> {
        if self.known.as_ref().is_none_or(|(known, _)| !same_bits(known, parameters)) {
            self.known = None;
            self.queue.upload(parameters, &mut self.parameters, 0)?;
        }
        Ok(())
    }
}

/// Where the weighted log likelihood lies behind the gradient.
fn report_at(places: &Places) -> usize {
    places.end.next_multiple_of(2)
}

/// So many threads in blocks of a warp, so that few of them have a multiprocessor each.
fn by_warp(n: usize, rows: usize) -> Extent {
    Extent::blocks([n.div_ceil(32), rows, 1], 32)
}

/// Whether numbers are the same; NaN is the same as itself.
fn same_bits(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |all, (a, b)| all | (a.to_bits() ^ b.to_bits())) == 0
}
