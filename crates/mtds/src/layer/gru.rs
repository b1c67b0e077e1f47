//! The gated recurrent layer, with parameters in the order and meaning of PyTorch's.
//!
//! ```text
//! r = σ(V_r u_t + b_r + W_r h_{t−1} + b'_r)        n = tanh(V_n u_t + b_n + r (W_n h_{t−1} + b'_n))
//! z = σ(V_z u_t + b_z + W_z h_{t−1} + b'_z)        h_t = (1 − z) n + z h_{t−1}
//! ```
//! `input` is V_r, V_z, V_n one below the other (3 d_state × d_in), `recurrent` W likewise, `input_bias` b and
//! `recurrent_bias` b'. Input products and weight gradients are one product over all steps; the
//! recurrent product runs step by step on packed weights (`kernel/recurrent.rs`).

use super::gru_weights::{GATES, GruWeights, gate_columns};
use super::{Extent, Gradient, Layer, after_start, at_end, positive, stacked};
use crate::error::Result;
use crate::generator::Tensor;
use crate::kernel::packing::add_column_sums;
use crate::kernel::panels::Sixteen;
use crate::kernel::product::{Sharing, Target, add_products, add_transposed_product};
use crate::kernel::recurrent::{Gates, GruAdjoint, GruStep};
use crate::kernel::{LANES, Panels, PanelsRef, Real, dispatch};

/// A gated recurrent layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gru {
    d_in: usize,
    d_state: usize,
}

/// States and gates of a [`Gru`], and room for its adjoint.
#[derive(Clone, Debug, Default)]
pub struct GruTape<R> {
    extent: Extent,
    /// The start, then one set of rows per step.
    states: Panels<R>,
    /// By block and gate, a row per step and sequence: r, z, n; after the adjoint their gradients.
    gates: Vec<Sixteen<R>>,
    /// By block: W_n h_{t−1} + b'_n; after the adjoint its gradient.
    candidate: Vec<Sixteen<R>>,
    /// The state that one step hands to the next, and where that leaves its own.
    exchange: [Panels<R>; 2],
    /// The same for the gradients of the gates, by block and gate.
    pulls: [Vec<Sixteen<R>>; 2],
}

impl Gru {
    /// A layer of given widths; `d_in` may be 0.
    ///
    /// # Errors
    /// If there is no state.
    pub fn new(d_in: usize, d_state: usize) -> Result<Self> {
        Ok(Self { d_in, d_state: positive("d_state", d_state)? })
    }

    fn n_blocks(&self) -> usize {
        self.d_state.div_ceil(LANES)
    }

    fn sharing(&self, extent: Extent) -> Sharing {
        Sharing::of(extent.n_seq * GATES * self.d_state * self.d_state)
    }
}

impl Layer for Gru {
    type Weights<R: Real> = GruWeights<R>;
    type Tape<R: Real> = GruTape<R>;

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
        let (n, rows) = (self.d_state, GATES * self.d_state);
        stacked(&[
            ("input", &[rows, self.d_in]),
            ("recurrent", &[rows, n]),
            ("input_bias", &[rows]),
            ("recurrent_bias", &[rows]),
        ])
    }

    fn arrange<R: Real>(&self, parameters: &[R], weights: &mut GruWeights<R>) -> Result<()> {
        weights.arrange(*self, parameters)
    }

    fn forward<R: Real>(
        &self,
        weights: &GruWeights<R>,
        inputs: PanelsRef<'_, R>,
        start: &Panels<R>,
        tape: &mut GruTape<R>,
    ) -> Result<()> {
        let extent = Extent::of(self, inputs, start)?;
        weights.check(*self)?;
        tape.open(extent, start);
        tape.drive(weights, inputs);
        for t in 0..extent.n_time {
            tape.step(weights, t, self.sharing(extent));
        }
        Ok(())
    }

    fn outputs<'a, R: Real>(&self, tape: &'a GruTape<R>) -> PanelsRef<'a, R> {
        after_start(&tape.states, tape.exchange[0].n_rows())
    }

    fn end<R: Real>(&self, tape: &GruTape<R>) -> Panels<R> {
        at_end(&tape.states, tape.exchange[0].n_rows())
    }

    fn adjoint<R: Real>(
        &self,
        weights: &GruWeights<R>,
        inputs: PanelsRef<'_, R>,
        d_outputs: PanelsRef<'_, R>,
        tape: &mut GruTape<R>,
        gradient: &mut Gradient<'_, R>,
    ) -> Result<()> {
        let extent = tape.extent;
        extent.check_adjoint(self, (inputs, d_outputs), gradient)?;
        weights.check(*self)?;
        gradient.start.reset(extent.n_seq, self.d_state);
        for t in (0..extent.n_time).rev() {
            tape.step_back(weights, (t, d_outputs), gradient.start, self.sharing(extent));
        }
        let pulls = gate_columns(&tape.pulls[0], extent.n_seq);
        let rows = GATES * LANES * self.n_blocks();
        pull(pulls, (&weights.recurrent.adjoint, rows), gradient.start);
        if let Some(d_inputs) = gradient.inputs.as_deref_mut() {
            d_inputs.reset(extent.n_rows(), self.d_in);
            pull(gate_columns(&tape.gates, extent.n_rows()), (&weights.input.adjoint, rows), d_inputs);
        }
        tape.add_parameter_gradient(inputs, gradient.parameters);
        tape.extent = Extent::default();
        Ok(())
    }
}

/// `out += X · W` for the panels of W, `rows` rows each.
fn pull<R: Real>(x: PanelsRef<'_, R>, (weights, rows): (&[Sixteen<R>], usize), out: &mut Panels<R>) {
    let n_rows = out.n_rows();
    add_products(x, weights.chunks(rows).zip(out.values_mut().chunks_mut(n_rows)).collect());
}

impl<R: Real> GruTape<R> {
    /// Takes the sizes and writes the start.
    fn open(&mut self, extent: Extent, start: &Panels<R>) {
        let zero = Sixteen([R::default(); LANES]);
        let (n_rows, n_blocks) = (extent.n_rows(), start.n_columns().div_ceil(LANES));
        self.extent = extent;
        self.gates.resize(n_blocks * GATES * n_rows, zero);
        self.candidate.resize(n_blocks * n_rows, zero);
        self.states.resize(n_rows + extent.n_seq, start.n_columns());
        let panels = self.states.values_mut().chunks_mut(n_rows + extent.n_seq);
        for (panel, start) in panels.zip(start.values().chunks(extent.n_seq)) {
            panel[..extent.n_seq].copy_from_slice(start);
        }
        self.exchange = [start.clone(), start.clone()];
        for pulls in &mut self.pulls {
            pulls.resize(n_blocks * GATES * extent.n_seq, zero);
        }
    }

    /// What inputs and biases contribute to the gates, at all steps.
    fn drive(&mut self, weights: &GruWeights<R>, inputs: PanelsRef<'_, R>) {
        let n_rows = self.extent.n_rows();
        let blocks = self.gates.chunks_mut(GATES * n_rows).zip(self.candidate.chunks_mut(n_rows));
        for ((gates, candidate), bias) in blocks.zip(&weights.biases) {
            candidate.fill(bias[GATES]);
            for (gate, &bias) in gates.chunks_mut(n_rows).zip(bias) {
                gate.fill(bias);
            }
        }
        if inputs.n_columns() > 0 {
            let panels = weights.input.forward.chunks(inputs.n_columns());
            let targets: Vec<Target<'_, R>> = panels.zip(self.gates.chunks_mut(n_rows)).collect();
            add_products(inputs, targets);
        }
    }

    fn step(&mut self, weights: &GruWeights<R>, t: usize, sharing: Sharing) {
        let Extent { n_seq, .. } = self.extent;
        let (n_rows, n_states, at) = (self.extent.n_rows(), self.states.n_rows(), t * n_seq);
        let [before, after] = &mut self.exchange;
        let before = before.view();
        let blocks = weights.recurrent.forward.chunks(GATES * before.n_columns());
        let blocks = blocks.zip(self.gates.chunks_mut(GATES * n_rows));
        let blocks = blocks.zip(self.candidate.chunks_mut(n_rows));
        let blocks = blocks.zip(self.states.values_mut().chunks_mut(n_states));
        let blocks = blocks.zip(after.values_mut().chunks_mut(n_seq));
        let mut tasks = Vec::with_capacity(before.n_panels());
        for (j, ((((weights, gates), candidate), states), after)) in blocks.enumerate() {
            tasks.push(GruStep {
                weights,
                before,
                own_before: before.panel(j),
                gates: Gates::of(gates, at, n_seq),
                candidate: &mut candidate[at..at + n_seq],
                states: &mut states[at + n_seq..at + 2 * n_seq],
                after,
            });
        }
        sharing.for_each(tasks, dispatch);
        self.exchange.swap(0, 1);
    }

    /// One step of the adjoint; `carry` is what goes past the gates.
    fn step_back(
        &mut self,
        weights: &GruWeights<R>,
        (t, d_outputs): (usize, PanelsRef<'_, R>),
        carry: &mut Panels<R>,
        sharing: Sharing,
    ) {
        let Extent { n_time, n_seq } = self.extent;
        let (n_rows, at) = (n_time * n_seq, t * n_seq);
        let before = self.states.rows(at, n_seq);
        let d_states = d_outputs.rows(at, n_seq);
        let [pulls, next] = &mut self.pulls;
        let pulls = (t + 1 < n_time).then(|| gate_columns(pulls, n_seq));
        let blocks = weights.recurrent.adjoint.chunks(GATES * LANES * before.n_panels());
        let blocks = blocks.zip(self.gates.chunks_mut(GATES * n_rows));
        let blocks = blocks.zip(self.candidate.chunks_mut(n_rows));
        let blocks = blocks.zip(carry.values_mut().chunks_mut(n_seq));
        let blocks = blocks.zip(next.chunks_mut(GATES * n_seq));
        let mut tasks = Vec::with_capacity(before.n_panels());
        for (j, ((((weights, gates), candidate), carry), next_pulls)) in blocks.enumerate() {
            tasks.push(GruAdjoint {
                weights,
                pulls,
                d_states: d_states.panel(j),
                own_before: before.panel(j),
                gates: Gates::of(gates, at, n_seq),
                candidate: &mut candidate[at..at + n_seq],
                carry,
                next_pulls,
            });
        }
        sharing.for_each(tasks, dispatch);
        self.pulls.swap(0, 1);
    }

    /// The gradients of all parameters, from those of the gates: one product over all steps for each gate.
    fn add_parameter_gradient(&self, inputs: PanelsRef<'_, R>, out: &mut [R]) {
        let (n_rows, n) = (self.extent.n_rows(), self.states.n_columns());
        let before = self.states.rows(0, n_rows);
        let (d_input, rest) = out.split_at_mut(GATES * n * inputs.n_columns());
        let (d_recurrent, rest) = rest.split_at_mut(GATES * n * n);
        let (d_input_bias, d_recurrent_bias) = rest.split_at_mut(GATES * n);
        let gate = |g: usize| {
            let blocks = self.gates.chunks(GATES * n_rows);
            blocks.map(|block| &block[g * n_rows..(g + 1) * n_rows]).collect::<Vec<_>>()
        };
        for g in 0..GATES {
            let own = g * n..(g + 1) * n;
            let from_inputs = gate(g);
            let from_states = if g < 2 { gate(g) } else { self.candidate.chunks(n_rows).collect() };
            add_transposed_product(&from_states, before, &mut d_recurrent[g * n * n..(g + 1) * n * n]);
            let width = n * inputs.n_columns();
            add_transposed_product(&from_inputs, inputs, &mut d_input[g * width..(g + 1) * width]);
            add_column_sums(from_inputs.into_iter(), &mut d_input_bias[own.clone()]);
            add_column_sums(from_states.into_iter(), &mut d_recurrent_bias[own]);
        }
    }
}
