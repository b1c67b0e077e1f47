//! The parameters of a gated recurrent layer, packed once per training step.
//!
//! ```text
//! block j: units 16 j … 16 j + 15          gate g: reset, update, new
//! forward   panel (j, g): a row per unit of h_{t−1} (or input), sixteen units of the gate
//! adjoint   panel p: a row per (j, g, unit), sixteen units of h_{t−1} (or inputs)
//! ```
//! The three gates of a block stand together, so that one task computes them and then the block's states.

use rayon::prelude::*;

use super::{Gru, Layer, arranged, expect};
use crate::error::Result;
use crate::kernel::packing::{pack_inputs, pack_outputs, sixteen_from};
use crate::kernel::panels::Sixteen;
use crate::kernel::{LANES, PanelsRef, Real};

/// Gates: reset, update, new.
pub(super) const GATES: usize = 3;

/// Weights of a [`Gru`] in panels, both ways round, and its biases.
#[derive(Clone, Debug, Default)]
pub struct GruWeights<R> {
    layer: Option<Gru>,
    pub(super) recurrent: GateMatrix<R>,
    pub(super) input: GateMatrix<R>,
    /// By block: what the input product of each gate starts from, and the bias of the candidate's state part.
    pub(super) biases: Vec<[Sixteen<R>; GATES + 1]>,
}

/// A matrix with a row per gate and unit.
#[derive(Clone, Debug, Default)]
pub(super) struct GateMatrix<R> {
    pub(super) forward: Vec<Sixteen<R>>,
    pub(super) adjoint: Vec<Sixteen<R>>,
}

impl<R: Real> GruWeights<R> {
    pub(super) fn arrange(&mut self, layer: Gru, parameters: &[R]) -> Result<()> {
        expect("parameters of a gated recurrent layer", layer.n_parameters(), parameters.len())?;
        if self.layer != Some(layer) {
            // Panels of another size would leave numbers where zeros belong.
            *self = Self { layer: Some(layer), ..Self::default() };
        }
        let (d_in, n) = (layer.d_in(), layer.d_state());
        let (input, rest) = parameters.split_at(GATES * n * d_in);
        let (recurrent, biases) = rest.split_at(GATES * n * n);
        self.input.pack(input, (n, d_in));
        self.recurrent.pack(recurrent, (n, n));
        let (bias_in, bias_state) = biases.split_at(GATES * n);
        let block = |j: usize| {
            let of = |bias: &[R], gate: usize| sixteen_from(&bias[gate * n..(gate + 1) * n], j * LANES);
            let both = |gate| {
                let (a, b) = (of(bias_in, gate), of(bias_state, gate));
                Sixteen(std::array::from_fn(|lane| a.0[lane] + b.0[lane]))
            };
            [both(0), both(1), of(bias_in, 2), of(bias_state, 2)]
        };
        self.biases = (0..n.div_ceil(LANES)).map(block).collect();
        Ok(())
    }

    pub(super) fn check(&self, layer: Gru) -> Result<()> {
        arranged("gated recurrent layer", &layer, self.layer.as_ref())
    }
}

impl<R: Real> GateMatrix<R> {
    /// From a row-major matrix with `n` rows of `n_in` per gate.
    fn pack(&mut self, matrix: &[R], (n, n_in): (usize, usize)) {
        let n_blocks = n.div_ceil(LANES);
        let zero = Sixteen([R::default(); LANES]);
        self.forward.resize(n_blocks * GATES * n_in, zero);
        self.adjoint.resize(n_in.div_ceil(LANES) * n_blocks * GATES * LANES, zero);
        if n_in == 0 {
            return;
        }
        let units = |j: usize, gate: usize| {
            let first = gate * n + j * LANES;
            &matrix[first * n_in..(first + LANES.min(n - j * LANES)) * n_in]
        };
        self.forward
            .par_chunks_mut(n_in)
            .enumerate()
            .for_each(|(i, panel)| pack_outputs(units(i / GATES, i % GATES), panel));
        self.adjoint.par_chunks_mut(n_blocks * GATES * LANES).enumerate().for_each(|(p, panel)| {
            for (i, part) in panel.chunks_mut(LANES).enumerate() {
                pack_inputs(units(i / GATES, i % GATES), (p * LANES, n_in), part);
            }
        });
    }
}

/// The gradients of all gates, rows × (block, gate, unit), as the adjoint panels of a [`GateMatrix`] expect them.
pub(super) fn gate_columns<R: Real>(gates: &[Sixteen<R>], n_rows: usize) -> PanelsRef<'_, R> {
    PanelsRef::new(gates, n_rows, gates.len() / n_rows * LANES)
}
