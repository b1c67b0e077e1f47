//! A network on a card: passes over pairs of a sequence and a code, and back.

use std::ops::Range;

use crate::device::Gpu;
use crate::queue::{Arg, Buffer, Extent, Plain, Queue};
use crate::shape::{Activation, Data, Places, Shape, Source, WARPS};
use crate::{Error, Result};

/// Steps that a block of the tanh network takes at a time; `STEPS` of the kernels.
const STEPS: usize = 8;
/// Parts in which what the generator's last layer pulls is added up.
const PULL_PARTS: usize = 64;
/// Most pairs at a time: 120 kB of parameters each at the paper's size.
const MOST_PAIRS: usize = 1024;
/// Below so many tiles, a product shares out its inner dimension: fewer would leave multiprocessors idle.
const FEW_TILES: usize = 100;

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

/// `Product` of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Product {
    a: u64,
    b: u64,
    bias: u64,
    c: u64,
    m: i32,
    n: i32,
    k: i32,
    lda: i32,
    ldb: i32,
    ldc: i32,
    a_is_transposed: i32,
    b_is_transposed: i32,
    wide_a: i32,
    wide_b: i32,
    count: i32,
    parts: i32,
    a_at: [i64; 4],
    c_at: [i64; 4],
    part_step: i64,
}

/// `ColumnSums` of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct ColumnSums {
    from: [i64; 8],
    to: [i64; 8],
}

#[allow(unsafe_code)] // plain numbers in the layout of C
mod plain {
    use super::{ColumnSums, Plain, Product, Sequences};
    unsafe impl Plain for Sequences {}
    unsafe impl Plain for Product {}
    unsafe impl Plain for ColumnSums {}
}

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

/// What is pulled, given the likelihoods of the pairs.
pub struct Pull<'a> {
    /// Weights of these pairs, by their log likelihoods; called for a range of pairs at a time, of whole sequences where a sequence
    /// has at most 1024 codes.
    pub weigh: &'a mut dyn FnMut(Range<usize>, &[f64]) -> Vec<f32>,
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

/// Memory of passes over a batch.
#[derive(Debug)]
pub(crate) struct Room {
    batch: Batch,
    /// Pairs at a time.
    n_pairs: usize,
    inputs: Buffer<f32>,
    driven: Buffer<f32>,
    gates: Buffer<f32>,
    carry: Buffer<f32>,
    d_start: Buffer<f32>,
    d_front: Buffer<f32>,
    front_states: Buffer<f32>,
    features: Buffer<f32>,
    d_features: Buffer<f32>,
    parts: Buffer<f32>,
    arrived: Buffer<u32>,
    hidden: Vec<Buffer<f32>>,
    d_hidden: Vec<Buffer<f32>>,
    pulls: Buffer<f32>,
    theta: Buffer<f32>,
    d_theta: Buffer<f32>,
    states: Buffer<f32>,
    /// What drives states, then what is pulled at them.
    inner: Buffer<f32>,
    errors: Buffer<f32>,
    likelihood_parts: Buffer<f64>,
    pub(crate) likelihoods: Buffer<f64>,
    pub(crate) codes: Buffer<f32>,
    pub(crate) d_codes: Buffer<f32>,
    pub(crate) weights: Buffer<f32>,
    /// What is added to log s of each pair, and what is pulled at it.
    shifts: [Buffer<f32>; 2],
    has_shifts: bool,
    /// First rows of the sequences, then how many rows each has.
    rows: Buffer<i32>,
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
        let queue = Queue::new(gpu, &shape)?;
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

    /// Memory for a batch: that of the last pass where it suits.
    fn room(&mut self, batch: Batch) -> Result<Room> {
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

    /// The most numbers that products over so many rows leave side by side before they are added up.
    fn largest_parts(&self, rows: usize) -> usize {
        let Some(front) = self.shape.front else { return 0 };
        let parts = |count: usize, m: usize, n: usize, k: usize| match parts_of((count, m), n, k) {
            1 => 0,
            parts => count * parts * m * n,
        };
        let (h, l, m) = (front.units, front.bottleneck, front.d_input);
        let forward = parts(1, rows, 3 * h, m).max(parts(1, rows, l, h));
        let back = parts(1, rows, h, l).max(parts(1, l, h, rows));
        forward.max(back).max(parts(3, h, h, rows)).max(parts(3, h, m, rows))
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

    /// Inputs to features: what drives the network of every pair.
    pub(crate) fn front_forward(
        &self,
        weights: u64,
        stored: &Stored,
        room: &mut Room,
        batch: Batch,
    ) -> Result<()> {
        let (rows, sequences) = (batch.n_seq * batch.n_time, self.sequences(stored, room, batch, 0));
        let (m, width) = (self.shape.d_input(), self.shape.d_drive);
        let gather = |to: [(u64, usize); 2]| -> Result<()> {
            let [(to, ld), (also_to, also_ld)] = to;
            let all = Arg::Struct(&sequences);
            let args = [
                stored.inputs.at(0).into(),
                all,
                m.into(),
                to.into(),
                ld.into(),
                also_to.into(),
                also_ld.into(),
            ];
            if m > 0 { self.queue.launch("gather_inputs", Extent::of(rows * m), &args) } else { Ok(()) }
        };
        let Some(front) = self.shape.front else {
            return gather([(room.features.at(0), width), (0, 0)]);
        };
        let (h, hp, l) = (front.units, self.shape.padded_units(), front.bottleneck);
        let at = |place: usize| weights + 4 * place as u64;
        let [input, recurrent, input_bias, recurrent_bias, bottleneck] = self.places.front;
        let past = if front.skip { room.features.at(0) + 4 * l as u64 } else { 0 };
        gather([(room.inputs.at(0), m), (past, width)])?;
        let by_row = Product {
            m: rows as i32,
            n: 3 * h as i32,
            k: m as i32,
            b_is_transposed: 1,
            ..Product::default()
        };
        self.product(
            Product {
                a: room.inputs.at(0),
                lda: m as i32,
                b: at(input),
                ldb: m as i32,
                bias: at(input_bias),
                c: room.driven.at(0),
                ldc: 3 * h as i32,
                ..by_row
            },
            room,
        )?;
        self.queue.clear(&mut room.arrived, 0..2)?;
        let first = room.front_states.at(0);
        let args = [
            room.driven.at(0).into(),
            at(recurrent).into(),
            at(recurrent_bias).into(),
            first.into(),
            room.gates.at(0).into(),
            batch.n_time.into(),
            batch.n_seq.into(),
            room.arrived.at(0).into(),
        ];
        self.queue.launch(
            "gated_forward",
            Extent { waits: true, ..Extent::blocks([h.div_ceil(8), 1, 1], 32 * WARPS) },
            &args,
        )?;
        let outputs = room.front_states.at(batch.n_seq * hp);
        let narrow =
            Product { m: rows as i32, n: l as i32, k: h as i32, b_is_transposed: 1, ..Product::default() };
        let narrow = Product {
            a: outputs,
            lda: hp as i32,
            b: at(bottleneck),
            ldb: h as i32,
            c: room.features.at(0),
            ldc: width as i32,
            ..narrow
        };
        self.product(narrow, room)
    }

    /// Gradients of the front's parameters, from those at the features; writes them.
    pub(crate) fn front_backward(
        &self,
        (weights, gradient): (u64, u64),
        room: &mut Room,
        batch: Batch,
    ) -> Result<()> {
        let Some(front) = self.shape.front else { return Ok(()) };
        let (rows, width, m) = (batch.n_seq * batch.n_time, self.shape.d_drive, front.d_input);
        let (h, hp, l) = (front.units, self.shape.padded_units(), front.bottleneck);
        let [input, recurrent, input_bias, recurrent_bias, bottleneck] = self.places.front;
        let (at, to) =
            (|place: usize| weights + 4 * place as u64, |place: usize| gradient + 4 * place as u64);
        let outputs = room.front_states.at(batch.n_seq * hp);
        let wide = Product { m: rows as i32, n: h as i32, k: l as i32, ..Product::default() };
        let wide = Product {
            a: room.d_features.at(0),
            lda: width as i32,
            b: at(bottleneck),
            ldb: h as i32,
            c: room.d_front.at(0),
            ldc: h as i32,
            ..wide
        };
        self.product(wide, room)?;
        let back =
            Product { m: l as i32, n: h as i32, k: rows as i32, a_is_transposed: 1, ..Product::default() };
        let back = Product {
            a: room.d_features.at(0),
            lda: width as i32,
            b: outputs,
            ldb: hp as i32,
            c: to(bottleneck),
            ldc: h as i32,
            ..back
        };
        self.product(back, room)?;
        let args = [
            at(recurrent).into(),
            room.front_states.at(0).into(),
            room.d_front.at(0).into(),
            room.gates.at(0).into(),
            room.d_start.at(0).into(),
            room.carry.at(0).into(),
            batch.n_time.into(),
            batch.n_seq.into(),
            room.arrived.at(1).into(),
        ];
        self.queue.launch(
            "gated_backward",
            Extent { waits: true, ..Extent::blocks([h.div_ceil(8), 1, 1], 32 * WARPS) },
            &args,
        )?;
        // Gates lie as r, z, n, and what the state gives to the candidate: the last is what recurrent weights and biases pull at.
        let far = |gate: usize| (gate * hp) as i64;
        let over_time =
            Product { m: h as i32, k: rows as i32, a_is_transposed: 1, count: 3, ..Product::default() };
        let over_time = Product { a: room.gates.at(0), lda: 4 * hp as i32, ..over_time };
        let of_states = Product {
            b: room.front_states.at(0),
            ldb: hp as i32,
            n: h as i32,
            c: to(recurrent),
            ldc: h as i32,
            ..over_time
        };
        let square = (h * h) as i64;
        self.product(
            Product { a_at: [far(0), far(1), far(3), 0], c_at: [0, square, 2 * square, 0], ..of_states },
            room,
        )?;
        let of_inputs = Product {
            b: room.inputs.at(0),
            ldb: m as i32,
            n: m as i32,
            c: to(input),
            ldc: m as i32,
            ..over_time
        };
        let each = (h * m) as i64;
        self.product(
            Product { a_at: [far(0), far(1), far(2), 0], c_at: [0, each, 2 * each, 0], ..of_inputs },
            room,
        )?;
        let bias = |place: usize, gate: usize| (place + gate * h) as i64;
        let mut places = ColumnSums::default();
        let sums = [
            (input_bias, 0, 0),
            (input_bias, 1, 1),
            (input_bias, 2, 2),
            (recurrent_bias, 0, 0),
            (recurrent_bias, 1, 1),
            (recurrent_bias, 2, 3),
        ];
        for (i, (place, gate, from)) in sums.into_iter().enumerate() {
            (places.from[i], places.to[i]) = (far(from), bias(place, gate));
        }
        let args = [
            room.gates.at(0).into(),
            rows.into(),
            h.into(),
            (4 * hp).into(),
            gradient.into(),
            Arg::Struct(&places),
        ];
        self.queue.launch("column_sums", Extent::blocks([h.div_ceil(32), sums.len(), 1], 256), &args)
    }

    /// Codes to log likelihoods, for some of the pairs.
    pub(crate) fn pairs_forward(
        &self,
        weights: u64,
        stored: &Stored,
        room: &mut Room,
        (batch, pairs): (Batch, Range<usize>),
    ) -> Result<()> {
        let (n, sequences) = (pairs.len(), self.sequences(stored, room, batch, pairs.start));
        let at = |place: usize| weights + 4 * place as u64;
        let mut values = room.codes.at(0);
        for (layer, (of, (_, form))) in
            self.places.layers.iter().zip(room.hidden.iter().zip(&self.shape.hidden))
        {
            let [w, b, n_in, n_out] = *layer;
            let args = [
                at(w).into(),
                at(b).into(),
                values.into(),
                of.at(0).into(),
                n.into(),
                n_in.into(),
                n_out.into(),
                form_of(*form),
            ];
            self.queue.launch("hidden_layer", Extent::of(n * n_out), &args)?;
            values = of.at(0);
        }
        let [w, b, n_in, _] = *self.places.layers.last().expect("a generator has a last layer");
        let (d_theta, k) = (self.shape.d_theta(), self.shape.d_code);
        let args = [
            at(w).into(),
            at(b).into(),
            self.places.skip.map_or(0, at).into(),
            at(self.places.shared).into(),
            self.fixed.at(0).into(),
            self.source.at(0).into(),
            values.into(),
            room.codes.at(0).into(),
            if room.has_shifts { room.shifts[0].at(0) } else { 0 }.into(),
            room.theta.at(0).into(),
            n.into(),
            n_in.into(),
            k.into(),
            self.shape.n_shared().into(),
            d_theta.into(),
        ];
        self.queue.launch(
            "last_layer",
            Extent::blocks([d_theta.div_ceil(256), n.div_ceil(8), 1], 256),
            &args,
        )?;
        let (theta, tiles, all) = (room.theta.at(0), batch.n_time.div_ceil(STEPS), Arg::Struct(&sequences));
        let args = [theta.into(), room.features.at(0).into(), all, room.inner.at(0).into()];
        self.queue.launch("head_drive", Extent::blocks([tiles, n, 1], 128), &args)?;
        let args = [theta.into(), room.inner.at(0).into(), all, room.states.at(0).into()];
        self.queue.launch("head_forward", Extent::blocks([n, 1, 1], self.unit_threads()), &args)?;
        let (errors, parts) = (room.errors.at(0), room.likelihood_parts.at(0));
        let args = [
            theta.into(),
            room.features.at(0).into(),
            room.states.at(0).into(),
            all,
            errors.into(),
            parts.into(),
        ];
        self.queue.launch("head_errors", Extent::blocks([tiles, n, 1], 256), &args)?;
        let args = [parts.into(), tiles.into(), room.likelihoods.at(0).into(), n.into()];
        self.queue.launch("pair_totals", Extent::of(n), &args)
    }

    /// Gradients at codes and features, and, where `gradient` is not 0, of the generator and shared numbers, added; after the pass
    /// over the same pairs, with weights in place.
    pub(crate) fn pairs_backward(
        &self,
        (weights, gradient): (u64, u64),
        stored: &Stored,
        room: &mut Room,
        (batch, pairs): (Batch, Range<usize>),
    ) -> Result<()> {
        let (n, sequences) = (pairs.len(), self.sequences(stored, room, batch, pairs.start));
        let (theta, tiles, all) = (room.theta.at(0), batch.n_time.div_ceil(STEPS), Arg::Struct(&sequences));
        let (errors, pulled, states) = (room.errors.at(0), room.inner.at(0), room.states.at(0));
        let (given, d_theta) = (room.weights.at(0), room.d_theta.at(0));
        let args = [theta.into(), errors.into(), given.into(), all, pulled.into()];
        self.queue.launch("head_pull_errors", Extent::blocks([tiles, n, 1], 128), &args)?;
        let args = [theta.into(), states.into(), all, pulled.into(), d_theta.into()];
        self.queue.launch("head_backward", Extent::blocks([n, 1, 1], self.unit_threads()), &args)?;
        let args = [
            theta.into(),
            room.features.at(0).into(),
            states.into(),
            errors.into(),
            given.into(),
            pulled.into(),
            all,
            d_theta.into(),
        ];
        let per_pair = self.shape.d_theta() - self.shape.d_state;
        self.queue.launch("head_gradient", Extent::blocks([per_pair.div_ceil(256), n, 1], 256), &args)?;
        if room.has_shifts {
            self.queue.launch(
                "shift_gradient",
                Extent::of(n),
                &[d_theta.into(), room.shifts[1].at(0).into(), n.into()],
            )?;
        }
        if gradient != 0 && self.shape.front.is_some() {
            let args = [
                theta.into(),
                errors.into(),
                given.into(),
                pulled.into(),
                all,
                n.into(),
                room.d_features.at(0).into(),
            ];
            let last = (pairs.end - 1) / batch.draws - pairs.start / batch.draws + 1;
            let extent = Extent { grid: [batch.n_time.div_ceil(8), last, 1], block: [32, 8], waits: false };
            self.queue.launch("head_pull_features", extent, &args)?;
        }
        self.generator_backward((weights, gradient), room, n)
    }

    fn generator_backward(&self, (weights, gradient): (u64, u64), room: &mut Room, n: usize) -> Result<()> {
        let (at, to) =
            (|place: usize| weights + 4 * place as u64, |place: usize| gradient + 4 * place as u64);
        let (k, d_theta, adapted) = (self.shape.d_code, self.shape.d_theta(), self.shape.d_adapted());
        let n_codes = room.d_codes.len();
        self.queue.clear(&mut room.d_codes, 0..n_codes)?;
        let depth = self.shape.hidden.len();
        let [w, b, n_in, _] = self.places.layers[depth];
        let values = |l: usize| if l == 0 { room.codes.at(0) } else { room.hidden[l - 1].at(0) };
        let (d, codes) = (room.d_theta.at(0), room.codes.at(0));
        if gradient != 0 {
            let d_skip = self.places.skip.map_or(0, to);
            let args = [
                d.into(),
                self.place.at(0).into(),
                values(depth).into(),
                codes.into(),
                to(w).into(),
                to(b).into(),
                d_skip.into(),
                n.into(),
                n_in.into(),
                k.into(),
                adapted.into(),
                d_theta.into(),
            ];
            let width = n_in + 1 + if self.shape.skip { k } else { 0 };
            self.queue.launch("last_layer_gradient", Extent::of(adapted * width), &args)?;
            let args = [
                d.into(),
                self.source.at(0).into(),
                to(self.places.shared).into(),
                n.into(),
                self.shape.n_shared().into(),
                d_theta.into(),
            ];
            self.queue.launch("shared_gradient", Extent::of(d_theta), &args)?;
        }
        let skip = self.places.skip.map_or(0, at);
        let (place, pulls) = (self.place.at(0), room.pulls.at(0));
        let args = [
            at(w).into(),
            skip.into(),
            place.into(),
            d.into(),
            pulls.into(),
            n.into(),
            n_in.into(),
            k.into(),
            adapted.into(),
            d_theta.into(),
        ];
        self.queue.launch("last_layer_pull", Extent::blocks([PULL_PARTS, n, 1], 128), &args)?;
        let width = n_in + if self.shape.skip { k } else { 0 };
        let add = |first: usize, values: u64, form: Arg<'static>, out: u64, n_out: usize| {
            let args = [
                pulls.into(),
                PULL_PARTS.into(),
                width.into(),
                first.into(),
                values.into(),
                form,
                out.into(),
                n.into(),
                n_out.into(),
            ];
            self.queue.launch("add_pulls", Extent::of(n * n_out), &args)
        };
        let none = form_of(Activation::Identity);
        match depth {
            0 => add(0, 0, none, room.d_codes.at(0), n_in)?,
            _ => add(
                0,
                values(depth),
                form_of(self.shape.hidden[depth - 1].1),
                room.d_hidden[depth - 1].at(0),
                n_in,
            )?,
        }
        if self.shape.skip {
            add(n_in, 0, none, room.d_codes.at(0), k)?;
        }
        for l in (0..depth).rev() {
            let [w, b, n_in, n_out] = self.places.layers[l];
            let d_inner = room.d_hidden[l].at(0);
            if gradient != 0 {
                let args = [
                    d_inner.into(),
                    values(l).into(),
                    to(w).into(),
                    to(b).into(),
                    n.into(),
                    n_in.into(),
                    n_out.into(),
                ];
                self.queue.launch("hidden_layer_gradient", Extent::of(n_out * (n_in + 1)), &args)?;
            }
            let (below, form, out) = match l {
                0 => (0, none, room.d_codes.at(0)),
                _ => (values(l), form_of(self.shape.hidden[l - 1].1), room.d_hidden[l - 1].at(0)),
            };
            let args = [
                at(w).into(),
                d_inner.into(),
                below.into(),
                form,
                out.into(),
                n.into(),
                n_in.into(),
                n_out.into(),
            ];
            self.queue.launch("hidden_layer_pull", Extent::of(n * n_in), &args)?;
        }
        Ok(())
    }

    /// Threads for the states of one pair; `UNIT_THREADS` of the kernels.
    fn unit_threads(&self) -> usize {
        if self.shape.d_state <= 128 { self.shape.d_state.next_multiple_of(32) } else { 1024 }
    }

    fn product(&self, of: Product, room: &Room) -> Result<()> {
        let (m, n, k) = (of.m as usize, of.n as usize, of.k as usize);
        let wide = |address: u64, ld: i32, width: i32| {
            i32::from(address.is_multiple_of(16) && ld % 4 == 0 && width % 4 == 0)
        };
        let (a_width, b_width) = (
            if of.a_is_transposed == 1 { of.m } else { of.k },
            if of.b_is_transposed == 1 { of.k } else { of.n },
        );
        let far = of.a_at.iter().all(|at| at % 4 == 0);
        let count = of.count.max(1);
        let parts = parts_of((count as usize, m), n, k);
        let mut of = Product { count, parts: parts as i32, part_step: (m * n) as i64, ..of };
        let out_step = of.c_at[1] as usize;
        (of.wide_a, of.wide_b) =
            (if far { wide(of.a, of.lda, a_width) } else { 0 }, wide(of.b, of.ldb, b_width));
        let (to, ldc) = (of.c, of.ldc);
        if parts > 1 {
            (of.c, of.ldc) = (room.parts.at(0), of.n);
            of.c_at = [0, 1, 2, 3].map(|which| which * (parts * m * n) as i64);
        }
        let kernel = match (of.a_is_transposed, of.b_is_transposed) {
            (0, 0) => "product_plain",
            (0, _) => "product_right_transposed",
            (_, _) => "product_left_transposed",
        };
        let grid = [n.div_ceil(64), m.div_ceil(128), count as usize * parts];
        self.queue.launch(kernel, Extent::blocks(grid, 256), &[Arg::Struct(&of)])?;
        if parts > 1 {
            let args = [
                room.parts.at(0).into(),
                parts.into(),
                m.into(),
                n.into(),
                to.into(),
                (ldc as usize).into(),
                out_step.into(),
            ];
            self.queue.launch(
                "add_parts",
                Extent::blocks([(m * n).div_ceil(256), count as usize, 1], 256),
                &args,
            )?;
        }
        Ok(())
    }
}

/// In how many parts so many products of m × n sums of k numbers take k.
fn parts_of((count, m): (usize, usize), n: usize, k: usize) -> usize {
    let tiles = count * n.div_ceil(64) * m.div_ceil(128);
    if tiles >= FEW_TILES { 1 } else { (FEW_TILES / tiles).clamp(1, (k / 64).max(1)) }
}

fn form_of(activation: Activation) -> Arg<'static> {
    Arg::Int(activation as i32)
}

fn too_many_rows() -> Error {
    Error::Unsupported { what: "more steps than a card takes at once; take fewer sequences at a time".into() }
}
