//! A layer whose parameters differ from sequence to sequence, as a generator makes them from codes.
//!
//! ```text
//! parameters   n_seq × n, n those of the layer; sequence i runs with row i
//! ```
//! Sequences are independent, so each runs on one thread, on rows of its own that are gathered before and
//! put back after.

use rayon::prelude::*;

use super::{Extent, Gradient, Layer, expect, positive};
use crate::error::Result;
use crate::generator::Tensor;
use crate::kernel::{LANES, Panels, PanelsRef, Real};

/// A layer with parameters for each of a fixed number of sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerSequence<L> {
    layer: L,
    n_seq: usize,
}

/// The tapes of all sequences.
#[derive(Clone, Debug, Default)]
pub struct PerSequenceTape<T, R> {
    own: Vec<Own<T, R>>,
    outputs: Panels<R>,
}

/// One sequence.
#[derive(Clone, Debug, Default)]
struct Own<T, R> {
    tape: T,
    inputs: Panels<R>,
    d_outputs: Panels<R>,
    d_inputs: Panels<R>,
    d_start: Panels<R>,
}

impl<L: Layer> PerSequence<L> {
    /// The layer with parameters for `n_seq` sequences.
    ///
    /// # Errors
    /// If there are no sequences.
    pub fn new(layer: L, n_seq: usize) -> Result<Self> {
        Ok(Self { layer, n_seq: positive("n_seq", n_seq)? })
    }
}

impl<L: Layer> Layer for PerSequence<L> {
    type Weights<R: Real> = Vec<L::Weights<R>>;
    type Tape<R: Real> = PerSequenceTape<L::Tape<R>, R>;

    fn d_in(&self) -> usize {
        self.layer.d_in()
    }

    fn d_out(&self) -> usize {
        self.layer.d_out()
    }

    fn d_state(&self) -> usize {
        self.layer.d_state()
    }

    fn tensors(&self) -> Vec<Tensor> {
        let n = self.layer.n_parameters();
        let of = |i: usize| {
            let moved =
                move |t: Tensor| Tensor { name: format!("{i}.{}", t.name), start: i * n + t.start, ..t };
            self.layer.tensors().into_iter().map(moved)
        };
        (0..self.n_seq).flat_map(of).collect()
    }

    fn n_parameters(&self) -> usize {
        self.n_seq * self.layer.n_parameters()
    }

    fn arrange<R: Real>(&self, parameters: &[R], weights: &mut Self::Weights<R>) -> Result<()> {
        expect("parameters of all sequences", self.n_parameters(), parameters.len())?;
        weights.resize_with(self.n_seq, Default::default);
        let own = parameters.par_chunks(self.layer.n_parameters());
        weights.par_iter_mut().zip(own).try_for_each(|(weights, own)| self.layer.arrange(own, weights))
    }

    fn forward<R: Real>(
        &self,
        weights: &Self::Weights<R>,
        inputs: PanelsRef<'_, R>,
        start: &Panels<R>,
        tape: &mut Self::Tape<R>,
    ) -> Result<()> {
        let extent = Extent::of(self, inputs, start)?;
        expect("sequences of a layer with parameters for each", self.n_seq, extent.n_seq)?;
        expect("weights of a layer with parameters for each sequence", self.n_seq, weights.len())?;
        tape.own.resize_with(self.n_seq, Default::default);
        tape.own.par_iter_mut().zip(weights).enumerate().try_for_each(|(i, (own, weights))| {
            gather(inputs, (i, self.n_seq), &mut own.inputs);
            let start = Panels::from_fn(1, self.d_state(), |_, column| start.view().get(i, column));
            self.layer.forward(weights, own.inputs.view(), &start, &mut own.tape)
        })?;
        tape.outputs.resize(extent.n_rows(), self.d_out());
        scatter(tape.own.iter().map(|own| self.layer.outputs(&own.tape)), &mut tape.outputs);
        Ok(())
    }

    fn outputs<'a, R: Real>(&self, tape: &'a Self::Tape<R>) -> PanelsRef<'a, R> {
        tape.outputs.view()
    }

    fn end<R: Real>(&self, tape: &Self::Tape<R>) -> Panels<R> {
        let ends: Vec<_> = tape.own.iter().map(|own| self.layer.end(&own.tape)).collect();
        Panels::from_fn(ends.len(), self.d_state(), |row, column| ends[row].view().get(0, column))
    }

    fn adjoint<R: Real>(
        &self,
        weights: &Self::Weights<R>,
        inputs: PanelsRef<'_, R>,
        d_outputs: PanelsRef<'_, R>,
        tape: &mut Self::Tape<R>,
        gradient: &mut Gradient<'_, R>,
    ) -> Result<()> {
        let n_rows = tape.outputs.n_rows();
        let extent = Extent { n_seq: tape.own.len(), n_time: n_rows / tape.own.len().max(1) };
        extent.check_adjoint(self, (inputs, d_outputs), gradient)?;
        expect("weights of a layer with parameters for each sequence", self.n_seq, weights.len())?;
        let wanted = gradient.inputs.is_some();
        let parameters = gradient.parameters.par_chunks_mut(self.layer.n_parameters());
        let sequences = tape.own.par_iter_mut().zip(weights).zip(parameters).enumerate();
        sequences.try_for_each(|(i, ((own, weights), parameters))| {
            gather(d_outputs, (i, self.n_seq), &mut own.d_outputs);
            let Own { tape, inputs, d_outputs, d_inputs, d_start } = own;
            let mut gradient = Gradient { parameters, inputs: wanted.then_some(d_inputs), start: d_start };
            self.layer.adjoint(weights, inputs.view(), d_outputs.view(), tape, &mut gradient)
        })?;
        if let Some(d_inputs) = gradient.inputs.as_deref_mut() {
            d_inputs.resize(n_rows, self.d_in());
            scatter(tape.own.iter().map(|own| own.d_inputs.view()), d_inputs);
        }
        let start = |row: usize, column| tape.own[row].d_start.view().get(0, column);
        *gradient.start = Panels::from_fn(self.n_seq, self.d_state(), start);
        Ok(())
    }
}

/// Rows i, i + n, i + 2n, … of `all`.
fn gather<R: Real>(all: PanelsRef<'_, R>, (i, n): (usize, usize), own: &mut Panels<R>) {
    let n_rows = all.n_rows() / n;
    own.resize(n_rows, all.n_columns());
    for (p, panel) in own.values_mut().chunks_mut(n_rows).enumerate() {
        for (to, from) in panel.iter_mut().zip(all.panel(p).iter().skip(i).step_by(n)) {
            *to = *from;
        }
    }
}

/// The inverse of [`gather`] for all sequences.
fn scatter<'a, R: Real>(own: impl ExactSizeIterator<Item = PanelsRef<'a, R>>, all: &mut Panels<R>) {
    let (n, n_rows) = (own.len(), all.n_rows());
    for (i, own) in own.enumerate() {
        for (p, panel) in all.values_mut().chunks_mut(n_rows).enumerate() {
            for (to, from) in panel.iter_mut().skip(i).step_by(n).zip(own.panel(p)) {
                *to = *from;
            }
        }
    }
    debug_assert_eq!(all.values().len(), n_rows * all.n_columns().div_ceil(LANES));
}
