//! The tanh recurrent layer.
//!
//! ```text
//! x_t = tanh(W x_{t−1} + V u_t + b)        W: d_state × d_state, V: d_state × d_in, b: d_state
//! ```
//! V u_t + b is one product over all steps, and so are the gradients of W and V; the recurrent product runs step
//! by step on packed weights (`kernel/recurrent.rs`).

use super::dense::{fill_rows, pack_both};
use super::{Extent, Gradient, Layer, after_start, arranged, at_end, expect, positive, stacked};
use crate::error::Result;
use crate::generator::Tensor;
use crate::kernel::packing::add_column_sums;
use crate::kernel::product::{Sharing, add_product, add_products, add_transposed_product};
use crate::kernel::recurrent::{TanhAdjoint, TanhStep};
use crate::kernel::{Panels, PanelsRef, Real, dispatch};

/// x_t = tanh(W x_{t−1} + V u_t + b).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rnn {
    d_in: usize,
    d_state: usize,
}

/// Weights of an [`Rnn`] in panels, both ways round, and its bias.
#[derive(Clone, Debug, Default)]
pub struct RnnWeights<R> {
    layer: Option<Rnn>,
    recurrent: Panels<R>,
    recurrent_adjoint: Panels<R>,
    input: Panels<R>,
    input_adjoint: Panels<R>,
    bias: Vec<R>,
}

/// The states of an [`Rnn`], and room for its adjoint.
#[derive(Clone, Debug, Default)]
pub struct RnnTape<R> {
    extent: Extent,
    /// The start, then one set of rows per step.
    states: Panels<R>,
    /// Gradient inside the tanh.
    d_inner: Panels<R>,
    /// What one step hands to the next, and where that leaves its own.
    exchange: [Panels<R>; 2],
}

impl Rnn {
    /// A layer of given widths; `d_in` may be 0.
    ///
    /// # Errors
    /// If there is no state.
    pub fn new(d_in: usize, d_state: usize) -> Result<Self> {
        Ok(Self { d_in, d_state: positive("d_state", d_state)? })
    }

    fn sharing(&self, extent: Extent) -> Sharing {
        Sharing::of(extent.n_seq * self.d_state * self.d_state)
    }
}

impl Layer for Rnn {
    type Weights<R: Real> = RnnWeights<R>;
    type Tape<R: Real> = RnnTape<R>;

    fn d_in(&self) -> usize {
        self.d_in
    }

    fn d_out(&self) -> usize {
        self.d_state
    }

    fn d_state(&self) -> usize {
        self.d_state
    }

    fn tensors(&self) -> Vec<Tensor> {
        let n = self.d_state;
        stacked(&[("recurrent", &[n, n]), ("input", &[n, self.d_in]), ("bias", &[n])])
    }

    fn arrange<R: Real>(&self, parameters: &[R], weights: &mut RnnWeights<R>) -> Result<()> {
        expect("parameters of a recurrent layer", self.n_parameters(), parameters.len())?;
        let n = self.d_state;
        let (recurrent, rest) = parameters.split_at(n * n);
        let (input, bias) = rest.split_at(n * self.d_in);
        weights.layer = Some(*self);
        pack_both(recurrent, (n, n), &mut weights.recurrent, &mut weights.recurrent_adjoint);
        pack_both(input, (n, self.d_in), &mut weights.input, &mut weights.input_adjoint);
        weights.bias = bias.to_vec();
        Ok(())
    }

    fn forward<R: Real>(
        &self,
        weights: &RnnWeights<R>,
        inputs: PanelsRef<'_, R>,
        start: &Panels<R>,
        tape: &mut RnnTape<R>,
    ) -> Result<()> {
        let extent = Extent::of(self, inputs, start)?;
        weights.check(*self)?;
        tape.extent = extent;
        tape.drive(weights, inputs, start);
        for t in 0..extent.n_time {
            tape.step(weights, t, self.sharing(extent));
        }
        Ok(())
    }

    fn outputs<'a, R: Real>(&self, tape: &'a RnnTape<R>) -> PanelsRef<'a, R> {
        after_start(&tape.states, tape.exchange[0].n_rows())
    }

    fn end<R: Real>(&self, tape: &RnnTape<R>) -> Panels<R> {
        at_end(&tape.states, tape.exchange[0].n_rows())
    }

    fn adjoint<R: Real>(
        &self,
        weights: &RnnWeights<R>,
        inputs: PanelsRef<'_, R>,
        d_outputs: PanelsRef<'_, R>,
        tape: &mut RnnTape<R>,
        gradient: &mut Gradient<'_, R>,
    ) -> Result<()> {
        let extent = tape.extent;
        extent.check_adjoint(self, (inputs, d_outputs), gradient)?;
        weights.check(*self)?;
        let n = self.d_state;
        tape.d_inner.resize(extent.n_rows(), n);
        for t in (0..extent.n_time).rev() {
            tape.step_back(weights, (t, d_outputs), self.sharing(extent));
        }
        gradient.start.reset(extent.n_seq, n);
        add_product(tape.exchange[0].view(), &weights.recurrent_adjoint, gradient.start);
        let (d_recurrent, rest) = gradient.parameters.split_at_mut(n * n);
        let (d_input, d_bias) = rest.split_at_mut(n * self.d_in);
        let panels: Vec<_> = tape.d_inner.values().chunks(extent.n_rows()).collect();
        add_transposed_product(&panels, tape.states.rows(0, extent.n_rows()), d_recurrent);
        add_transposed_product(&panels, inputs, d_input);
        add_column_sums(panels.into_iter(), d_bias);
        if let Some(d_inputs) = gradient.inputs.as_deref_mut() {
            d_inputs.reset(inputs.n_rows(), self.d_in);
            add_product(tape.d_inner.view(), &weights.input_adjoint, d_inputs);
        }
        tape.extent = Extent::default();
        Ok(())
    }
}

impl<R> RnnWeights<R> {
    fn check(&self, layer: Rnn) -> Result<()> {
        arranged("recurrent layer", &layer, self.layer.as_ref())
    }
}

impl<R: Real> RnnTape<R> {
    /// V u_t + b into the places of the states, and the start before them.
    fn drive(&mut self, weights: &RnnWeights<R>, inputs: PanelsRef<'_, R>, start: &Panels<R>) {
        let n_seq = self.extent.n_seq;
        let n_rows = self.extent.n_rows() + n_seq;
        self.states.resize(n_rows, start.n_columns());
        fill_rows(&weights.bias, &mut self.states);
        self.exchange = [start.clone(), start.clone()];
        let panels = self.states.values_mut().chunks_mut(n_rows).zip(start.values().chunks(n_seq));
        let targets = panels.map(|(panel, start)| {
            let (first, rest) = panel.split_at_mut(n_seq);
            first.copy_from_slice(start);
            rest
        });
        if inputs.n_columns() > 0 {
            let weights = weights.input.values().chunks(inputs.n_columns());
            add_products(inputs, weights.zip(targets).collect());
        } else {
            targets.for_each(drop); // the start still has to be written
        }
    }

    fn step(&mut self, weights: &RnnWeights<R>, t: usize, sharing: Sharing) {
        let n_seq = self.extent.n_seq;
        let (n_rows, at) = (self.states.n_rows(), (t + 1) * n_seq);
        let [before, after] = &mut self.exchange;
        let states = self.states.values_mut().chunks_mut(n_rows).map(|panel| &mut panel[at..at + n_seq]);
        let weights = weights.recurrent.values().chunks(before.n_columns());
        let tasks = weights.zip(states).zip(after.values_mut().chunks_mut(n_seq));
        let task = |((weights, states), after)| TanhStep { weights, before: before.view(), states, after };
        sharing.for_each(tasks.map(task).collect::<Vec<_>>(), dispatch);
        self.exchange.swap(0, 1);
    }

    fn step_back(
        &mut self,
        weights: &RnnWeights<R>,
        (t, d_outputs): (usize, PanelsRef<'_, R>),
        sharing: Sharing,
    ) {
        let Extent { n_time, n_seq } = self.extent;
        let d_outputs = d_outputs.rows(t * n_seq, n_seq);
        let states = self.states.rows((t + 1) * n_seq, n_seq);
        let [pulls, next] = &mut self.exchange;
        let pulls = (t + 1 < n_time).then(|| pulls.view());
        let weights = weights.recurrent_adjoint.values().chunks(states.n_columns());
        let inner = self.d_inner.values_mut().chunks_mut(n_time * n_seq);
        let blocks = weights.zip(inner).zip(next.values_mut().chunks_mut(n_seq));
        let mut tasks = Vec::with_capacity(states.n_panels());
        for (j, ((weights, inner), next_pulls)) in blocks.enumerate() {
            tasks.push(TanhAdjoint {
                weights,
                pulls,
                d_states: d_outputs.panel(j),
                states: states.panel(j),
                d_inner: &mut inner[t * n_seq..(t + 1) * n_seq],
                next_pulls,
            });
        }
        sharing.for_each(tasks, dispatch);
        self.exchange.swap(0, 1);
    }
}
