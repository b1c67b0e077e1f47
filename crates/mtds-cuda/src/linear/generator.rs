//! Codes to numbers of θ, side by side, and back.
//!
//! What a pass leaves behind is a tape: rows of features, of every hidden layer and of adapted numbers, a column per code.

use super::Linear;
use super::shape::Layer;
use crate::Result;
use crate::queue::{Arg, Extent, Plain};
use crate::shape::Activation;

/// Rows and columns of the tiles of products; `TILE_I` and `TILE_J` of the kernels.
const TILE: [usize; 2] = [32, 64];
/// Codes over which one part of a gradient is added up, at least.
const LEAST_PER_PART: usize = 64;
/// Most parts.
const MOST_PARTS: usize = 32;

/// Columns of a tape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    /// Of the first row.
    pub address: u64,
    /// Between rows.
    pub ld: usize,
    /// How many.
    pub n: usize,
}

impl Columns {
    fn row(&self, row: usize) -> u64 {
        self.address + 4 * (row * self.ld) as u64
    }

    /// `n` columns from `first` on.
    pub(super) fn slice(&self, first: usize, n: usize) -> Self {
        Self { address: self.address + 4 * first as u64, n, ..*self }
    }
}

/// `Theta` of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Theta {
    adapted: u64,
    shared: u64,
    fixed: u64,
    source: u64,
    shifts: u64,
    ld: i64,
}

#[allow(unsafe_code)] // plain numbers in the layout of C
unsafe impl Plain for Theta {}

impl Theta {
    pub(super) fn is_shifted(&self) -> bool {
        self.shifts != 0
    }
}

/// In how many parts, and by how many codes each, a gradient over n codes is added up.
fn parts_of(n: usize) -> (usize, usize) {
    let per_part = n.div_ceil(MOST_PARTS).max(LEAST_PER_PART).next_multiple_of(16);
    (n.div_ceil(per_part).max(1), per_part)
}

impl Linear {
    /// θ of these columns; `shifts` lie at an address, or nowhere (0).
    pub(super) fn theta(&self, columns: Columns, shifts: u64) -> Theta {
        Theta {
            adapted: columns.row(self.places.adapted),
            shared: self.parameters.at(self.places.shared),
            fixed: self.fixed.at(0),
            source: self.source.at(0),
            shifts,
            ld: columns.ld as i64,
        }
    }

    /// The tape of codes that lie at an address, row by row.
    pub(super) fn generate(&self, codes: u64, tape: Columns) -> Result<()> {
        let args = [codes.into(), tape.address.into(), tape.ld.into(), tape.n.into()];
        self.queue.launch("code_features", Extent::of(tape.n), &args)?;
        for layer in &self.places.layers {
            let (weights, bias) = (self.parameters.at(layer.weights), self.parameters.at(layer.bias));
            self.layer((weights, bias), (tape.row(layer.from), tape.row(layer.to)), layer, tape)?;
        }
        if let (Some(skip), Some(last)) = (self.places.skip, self.places.layers.last()) {
            let beside = Layer { n_in: self.shape.d_code, form: Activation::Identity, ..*last };
            self.layer((self.parameters.at(skip), 0), (tape.row(0), tape.row(last.to)), &beside, tape)?;
        }
        Ok(())
    }

    fn layer(
        &self,
        (weights, bias): (u64, u64),
        (from, to): (u64, u64),
        layer: &Layer,
        tape: Columns,
    ) -> Result<()> {
        if layer.n_out == 0 {
            return Ok(());
        }
        let args = [
            weights.into(),
            bias.into(),
            from.into(),
            to.into(),
            tape.ld.into(),
            tape.n.into(),
            layer.n_in.into(),
            layer.n_out.into(),
            form(layer.form),
        ];
        self.queue.launch("layer", tiles(layer.n_out, tape.n, 1), &args)
    }

    /// Adds gradients of the generator and of shared numbers, given those of θ in `room.pulled` for the columns of a tape.
    pub(super) fn pull_generator(&mut self, tape: Columns) -> Result<()> {
        self.make_room(tape.n)?;
        let gradient = |place: usize| self.gradient.at(place);
        let (pulled, layers) = (self.room.pulled.at(0), &self.places.layers);
        for (l, layer) in layers.iter().enumerate().rev() {
            let is_last = l + 1 == layers.len();
            let d_out = if is_last { pulled } else { self.room.d_hidden[l].at(0) };
            let n_rows = if is_last { self.places.n_pulled() } else { layer.n_out };
            let to = [gradient(layer.weights), gradient(layer.bias), gradient(self.places.shared)];
            self.layer_gradient(d_out, (tape, layer), n_rows, to)?;
            if let (true, Some(skip)) = (is_last, self.places.skip) {
                let beside = Layer { n_in: self.shape.d_code, from: 0, ..*layer };
                self.layer_gradient(d_out, (tape, &beside), layer.n_out, [gradient(skip), 0, 0])?;
            }
            if l > 0 {
                let below = (tape.row(layer.from), layers[l - 1].form, self.room.d_hidden[l - 1].at(0));
                self.layer_pull(layer, (tape, d_out), below, 0)?;
            }
        }
        Ok(())
    }

    /// Adds what is pulled at the codes to `room.d_codes`, rows of the codes; after [`Linear::pull_generator`] over the same columns.
    pub(super) fn pull_codes(&mut self, tape: Columns) -> Result<()> {
        let (first, last) = match self.places.layers.as_slice() {
            [.., last] => (self.places.layers[0], *last),
            [] => return Ok(()),
        };
        let pulled = self.room.pulled.at(0);
        let d_first = if self.places.layers.len() == 1 { pulled } else { self.room.d_hidden[0].at(0) };
        let d_features = self.room.d_features.at(0);
        self.layer_pull(&first, (tape, d_first), (0, Activation::Identity, d_features), 0)?;
        if let Some(skip) = self.places.skip {
            // The first features are the code itself.
            let beside = Layer { weights: skip, n_in: self.shape.d_code, ..last };
            self.layer_pull(&beside, (tape, pulled), (0, Activation::Identity, d_features), 1)?;
        }
        let args = [
            tape.address.into(),
            tape.ld.into(),
            d_features.into(),
            self.room.d_codes.at(0).into(),
            tape.n.into(),
        ];
        self.queue.launch("code_pull", Extent::of(tape.n), &args)
    }

    /// Pulls a layer back to its input: the values there, the form that made them, where to.
    fn layer_pull(
        &self,
        layer: &Layer,
        (tape, d_out): (Columns, u64),
        (values, made_by, to): (u64, Activation, u64),
        adds: i32,
    ) -> Result<()> {
        let args = [
            self.parameters.at(layer.weights).into(),
            d_out.into(),
            values.into(),
            tape.ld.into(),
            to.into(),
            tape.n.into(),
            layer.n_in.into(),
            layer.n_out.into(),
            form(made_by),
            Arg::Int(adds),
        ];
        self.queue.launch("layer_pull", tiles(layer.n_in, tape.n, 1), &args)
    }

    fn layer_gradient(
        &self,
        d_out: u64,
        (tape, layer): (Columns, &Layer),
        n_rows: usize,
        to: [u64; 3],
    ) -> Result<()> {
        if n_rows == 0 {
            return Ok(());
        }
        let (n_parts, per_part) = parts_of(tape.n);
        let parts = self.room.parts.at(0);
        let args = [
            d_out.into(),
            tape.row(layer.from).into(),
            tape.ld.into(),
            parts.into(),
            tape.n.into(),
            layer.n_in.into(),
            n_rows.into(),
            per_part.into(),
        ];
        self.queue.launch("layer_gradient", tiles(n_rows, layer.n_in + 1, n_parts), &args)?;
        let args = [
            parts.into(),
            n_parts.into(),
            layer.n_in.into(),
            n_rows.into(),
            layer.n_out.into(),
            to[0].into(),
            to[1].into(),
            to[2].into(),
        ];
        self.queue.launch("add_gradient", Extent::of(n_rows * (layer.n_in + 1)), &args)
    }

    /// Room for pulling so many columns back.
    fn make_room(&mut self, n: usize) -> Result<()> {
        let (queue, layers) = (&self.queue, &self.places.layers);
        for (d, layer) in self.room.d_hidden.iter_mut().zip(layers) {
            queue.grow(d, layer.n_out * n)?;
        }
        let largest =
            layers.iter().map(|layer| layer.n_out.max(self.places.n_pulled()) * (layer.n_in + 1)).max();
        queue.grow(&mut self.room.parts, parts_of(n).0 * largest.unwrap_or(0))
    }
}

/// A grid over tiles of a product, several of them side by side.
fn tiles(rows: usize, columns: usize, count: usize) -> Extent {
    Extent::blocks([columns.div_ceil(TILE[1]).max(1), rows.div_ceil(TILE[0]), count], 256)
}

fn form(activation: Activation) -> Arg<'static> {
    Arg::Int(activation as i32)
}

#[cfg(test)]
mod tests {
    use super::parts_of;

    #[test]
    fn parts_cover_all_codes_once() {
        for n in [1, 15, 63, 64, 65, 640, 4000, 4001, 100_000] {
            let (parts, per_part) = parts_of(n);
            assert!(parts <= super::MOST_PARTS && per_part % 16 == 0, "{n}: {parts} of {per_part}");
            assert!((parts - 1) * per_part < n && n <= parts * per_part, "{n}: {parts} of {per_part}");
        }
    }
}
