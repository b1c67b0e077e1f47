//! A dense layer over all steps of all sequences: one product.
//!
//! ```text
//! y_t = W u_t + b          W: d_out × d_in, b: d_out, or none
//! ```

use rayon::prelude::*;

use super::{Extent, Gradient, Layer, arranged, expect, positive, stacked};
use crate::error::Result;
use crate::generator::Tensor;
use crate::kernel::packing::{add_column_sums, pack_inputs, pack_outputs, sixteen_from};
use crate::kernel::panels::Sixteen;
use crate::kernel::product::{add_product, add_transposed_product};
use crate::kernel::{LANES, Panels, PanelsRef, Real};

/// Whether a dense layer has a bias.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bias {
    /// W u.
    None,
    /// W u + b.
    #[default]
    Learned,
}

/// y = W u + b.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dense {
    d_in: usize,
    d_out: usize,
    bias: Bias,
}

/// Weights of a [`Dense`] layer in panels, both ways round, and its bias.
#[derive(Clone, Debug, Default)]
pub struct DenseWeights<R> {
    layer: Option<Dense>,
    forward: Panels<R>,
    adjoint: Panels<R>,
    bias: Vec<R>,
}

/// The outputs of a [`Dense`] layer.
#[derive(Clone, Debug, Default)]
pub struct DenseTape<R> {
    extent: Extent,
    outputs: Panels<R>,
}

impl Dense {
    /// A layer of given widths.
    ///
    /// # Errors
    /// If there are no outputs.
    pub fn new(d_in: usize, d_out: usize, bias: Bias) -> Result<Self> {
        Ok(Self { d_in, d_out: positive("d_out", d_out)?, bias })
    }
}

impl Layer for Dense {
    type Weights<R: Real> = DenseWeights<R>;
    type Tape<R: Real> = DenseTape<R>;

    fn d_in(&self) -> usize {
        self.d_in
    }

    fn d_out(&self) -> usize {
        self.d_out
    }

    fn d_state(&self) -> usize {
        0
    }

    fn tensors(&self) -> Vec<Tensor> {
        let weight = ("weight", &[self.d_out, self.d_in][..]);
        match self.bias {
            Bias::None => stacked(&[weight]),
            Bias::Learned => stacked(&[weight, ("bias", &[self.d_out])]),
        }
    }

    fn arrange<R: Real>(&self, parameters: &[R], weights: &mut DenseWeights<R>) -> Result<()> {
        expect("parameters of a dense layer", self.n_parameters(), parameters.len())?;
        let (matrix, bias) = parameters.split_at(self.d_out * self.d_in);
        weights.layer = Some(*self);
        weights.bias = bias.to_vec();
        pack_both(matrix, (self.d_out, self.d_in), &mut weights.forward, &mut weights.adjoint);
        Ok(())
    }

    fn forward<R: Real>(
        &self,
        weights: &DenseWeights<R>,
        inputs: PanelsRef<'_, R>,
        start: &Panels<R>,
        tape: &mut DenseTape<R>,
    ) -> Result<()> {
        let extent = Extent::of(self, inputs, start)?;
        arranged("dense layer", self, weights.layer.as_ref())?;
        tape.outputs.resize(extent.n_rows(), self.d_out);
        fill_rows(&weights.bias, &mut tape.outputs);
        add_product(inputs, &weights.forward, &mut tape.outputs);
        tape.extent = extent;
        Ok(())
    }

    fn outputs<'a, R: Real>(&self, tape: &'a DenseTape<R>) -> PanelsRef<'a, R> {
        tape.outputs.view()
    }

    fn end<R: Real>(&self, tape: &DenseTape<R>) -> Panels<R> {
        Panels::zeros(tape.extent.n_seq, 0)
    }

    fn adjoint<R: Real>(
        &self,
        weights: &DenseWeights<R>,
        inputs: PanelsRef<'_, R>,
        d_outputs: PanelsRef<'_, R>,
        tape: &mut DenseTape<R>,
        gradient: &mut Gradient<'_, R>,
    ) -> Result<()> {
        tape.extent.check_adjoint(self, (inputs, d_outputs), gradient)?;
        arranged("dense layer", self, weights.layer.as_ref())?;
        let (d_matrix, d_bias) = gradient.parameters.split_at_mut(self.d_out * self.d_in);
        let panels: Vec<_> = (0..d_outputs.n_panels()).map(|p| d_outputs.panel(p)).collect();
        add_transposed_product(&panels, inputs, d_matrix);
        add_column_sums(panels.into_iter(), d_bias);
        if let Some(d_inputs) = gradient.inputs.as_deref_mut() {
            d_inputs.reset(inputs.n_rows(), self.d_in);
            add_product(d_outputs, &weights.adjoint, d_inputs);
        }
        gradient.start.reset(tape.extent.n_seq, 0);
        tape.extent = Extent::default();
        Ok(())
    }
}

/// Every row becomes `row`, or zeros where that is empty.
pub(super) fn fill_rows<R: Real>(row: &[R], out: &mut Panels<R>) {
    let n_rows = out.n_rows();
    for (p, panel) in out.values_mut().chunks_mut(n_rows).enumerate() {
        let sixteen =
            if row.is_empty() { Sixteen([R::default(); LANES]) } else { sixteen_from(row, p * LANES) };
        panel.fill(sixteen);
    }
}

/// W in panels of outputs (`forward`, a row per input) and in panels of inputs (`adjoint`, a row per output).
pub(super) fn pack_both<R: Real>(
    matrix: &[R],
    (n_out, n_in): (usize, usize),
    forward: &mut Panels<R>,
    adjoint: &mut Panels<R>,
) {
    forward.resize(n_in, n_out);
    adjoint.resize(n_out, n_in);
    if n_in == 0 {
        return;
    }
    let panels = forward.values_mut().par_chunks_mut(n_in).zip(matrix.par_chunks(LANES * n_in));
    panels.for_each(|(panel, rows)| pack_outputs(rows, panel));
    let panels = adjoint.values_mut().par_chunks_mut(n_out).enumerate();
    panels.for_each(|(p, panel)| pack_inputs(matrix, (p * LANES, n_in), panel));
}
