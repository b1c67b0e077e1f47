//! Two layers, one after the other, as one layer.

use super::{Extent, Gradient, Layer};
use crate::error::{Error, Result};
use crate::generator::Tensor;
use crate::kernel::{Panels, PanelsRef, Real};

/// The second layer on the outputs of the first; parameters and states of the first come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain<A, B> {
    first: A,
    second: B,
}

/// The tapes of both layers, and the gradient between them.
#[derive(Clone, Debug, Default)]
pub struct ChainTape<A, B, R> {
    first: A,
    second: B,
    between: Panels<R>,
}

impl<A: Layer, B: Layer> Chain<A, B> {
    /// `second` after `first`.
    ///
    /// # Errors
    /// If the outputs of the first are not as wide as the inputs of the second.
    pub fn new(first: A, second: B) -> Result<Self> {
        if first.d_out() != second.d_in() {
            return Err(Error::shape("inputs of the second layer", first.d_out(), second.d_in()));
        }
        Ok(Self { first, second })
    }

    /// The starts of the two layers.
    fn starts<R: Real>(&self, start: &Panels<R>) -> (Panels<R>, Panels<R>) {
        let (a, b, all) = (self.first.d_state(), self.second.d_state(), start.view());
        let second = Panels::from_fn(all.n_rows(), b, |row, column| all.get(row, a + column));
        (Panels::from_fn(all.n_rows(), a, |row, column| all.get(row, column)), second)
    }
}

/// Two matrices side by side.
fn beside<R: Real>(left: &Panels<R>, right: &Panels<R>) -> Panels<R> {
    let (a, b) = (left.n_columns(), right.n_columns());
    Panels::from_fn(left.n_rows(), a + b, |row, column| match column < a {
        true => left.view().get(row, column),
        false => right.view().get(row, column - a),
    })
}

impl<A: Layer, B: Layer> Layer for Chain<A, B> {
    type Weights<R: Real> = (A::Weights<R>, B::Weights<R>);
    type Tape<R: Real> = ChainTape<A::Tape<R>, B::Tape<R>, R>;

    fn d_in(&self) -> usize {
        self.first.d_in()
    }

    fn d_out(&self) -> usize {
        self.second.d_out()
    }

    fn d_state(&self) -> usize {
        self.first.d_state() + self.second.d_state()
    }

    fn tensors(&self) -> Vec<Tensor> {
        let start = self.first.n_parameters();
        let moved = |t: Tensor| Tensor { name: format!("second.{}", t.name), start: start + t.start, ..t };
        let first = self.first.tensors().into_iter();
        let first = first.map(|t| Tensor { name: format!("first.{}", t.name), ..t });
        first.chain(self.second.tensors().into_iter().map(moved)).collect()
    }

    fn arrange<R: Real>(&self, parameters: &[R], weights: &mut Self::Weights<R>) -> Result<()> {
        super::expect("parameters of two layers", self.n_parameters(), parameters.len())?;
        let (first, second) = parameters.split_at(self.first.n_parameters());
        self.first.arrange(first, &mut weights.0)?;
        self.second.arrange(second, &mut weights.1)
    }

    fn forward<R: Real>(
        &self,
        weights: &Self::Weights<R>,
        inputs: PanelsRef<'_, R>,
        start: &Panels<R>,
        tape: &mut Self::Tape<R>,
    ) -> Result<()> {
        Extent::of(self, inputs, start)?;
        let (first, second) = self.starts(start);
        self.first.forward(&weights.0, inputs, &first, &mut tape.first)?;
        self.second.forward(&weights.1, self.first.outputs(&tape.first), &second, &mut tape.second)
    }

    fn outputs<'a, R: Real>(&self, tape: &'a Self::Tape<R>) -> PanelsRef<'a, R> {
        self.second.outputs(&tape.second)
    }

    fn end<R: Real>(&self, tape: &Self::Tape<R>) -> Panels<R> {
        beside(&self.first.end(&tape.first), &self.second.end(&tape.second))
    }

    fn adjoint<R: Real>(
        &self,
        weights: &Self::Weights<R>,
        inputs: PanelsRef<'_, R>,
        d_outputs: PanelsRef<'_, R>,
        tape: &mut Self::Tape<R>,
        gradient: &mut Gradient<'_, R>,
    ) -> Result<()> {
        super::expect("parameter gradient of two layers", self.n_parameters(), gradient.parameters.len())?;
        let (first, second) = gradient.parameters.split_at_mut(self.first.n_parameters());
        let (mut d_first, mut d_second) = (Panels::default(), Panels::default());
        let between = self.first.outputs(&tape.first);
        let mut own = Gradient { parameters: second, inputs: Some(&mut tape.between), start: &mut d_second };
        self.second.adjoint(&weights.1, between, d_outputs, &mut tape.second, &mut own)?;
        let d_inputs = gradient.inputs.as_deref_mut();
        let mut own = Gradient { parameters: first, inputs: d_inputs, start: &mut d_first };
        self.first.adjoint(&weights.0, inputs, tape.between.view(), &mut tape.first, &mut own)?;
        *gradient.start = beside(&d_first, &d_second);
        Ok(())
    }
}
