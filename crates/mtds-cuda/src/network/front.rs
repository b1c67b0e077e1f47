//! The gated network over the inputs and its bottleneck: inputs to features, and back.

use super::product::Product;
use super::{Batch, Network, Room, Stored};
use crate::Result;
use crate::queue::{Arg, Extent, Plain};
use crate::shape::WARPS;

/// `ColumnSums` of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct ColumnSums {
    from: [i64; 8],
    to: [i64; 8],
}

#[allow(unsafe_code)] // plain numbers in the layout of C
unsafe impl Plain for ColumnSums {}

impl Network {
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
}
