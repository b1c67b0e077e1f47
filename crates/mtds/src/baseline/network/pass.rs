//! From readings to predictions and back: the layers, and what their output means.
//!
//! ```text
//! residual    ŷ_t = e_t + (y_{t−1} if known, else ŷ_{t−1})      ∂L/∂e_t = g_t,  g_t = ∂L/∂ŷ_t + (0 if y_t is known at t + 1, else g_{t+1})
//! direct      ŷ_t = e_t                                         ∂L/∂e_t = ∂L/∂ŷ_t
//! ```

use super::batch::{Batch, Widths};
use super::settings::{GruSettings, Loop, OutputForm};
use super::stack::{Stack, StackTape, StackWeights};
use crate::Result;
use crate::kernel::{Panels, PanelsRef, Real};

/// A forecaster without its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Network {
    pub(super) stack: Stack,
    pub(super) widths: Widths,
    pub(super) feedback: Loop,
    pub(super) output: OutputForm,
}

impl Network {
    /// # Errors
    /// No layer, one without units, no outputs.
    pub(super) fn new(settings: &GruSettings, widths: Widths) -> Result<Self> {
        Ok(Self {
            stack: Stack::new(widths.reading(), &settings.units, widths.d_obs)?,
            widths,
            feedback: settings.training,
            output: settings.output,
        })
    }

    /// ŷ of every row of a batch, rows × p.
    ///
    /// # Errors
    /// Sizes that do not fit.
    pub(super) fn run<R: Real>(
        &self,
        weights: &StackWeights<R>,
        batch: &Batch<R>,
        tape: &mut StackTape<R>,
    ) -> Result<Vec<f64>> {
        self.stack.forward(weights, batch.inputs.view(), &self.stack.rest(batch.n_seq), tape)?;
        let mut predictions = Vec::with_capacity(batch.before.len());
        for t in 0..batch.n_time {
            let step = t * batch.n_seq;
            let decoded = self.stack.outputs(tape).rows(step, batch.n_seq);
            self.extend_step(decoded, &batch.before[step * self.widths.d_obs..], &mut predictions);
        }
        Ok(predictions)
    }

    /// Adds the predictions of a step to those of all steps before; `before` begins with what it knows of the last.
    pub(super) fn extend_step<R: Real>(
        &self,
        decoded: PanelsRef<'_, R>,
        before: &[f64],
        predictions: &mut Vec<f64>,
    ) {
        let (p, n) = (self.widths.d_obs, decoded.n_rows() * self.widths.d_obs);
        let last = predictions.len().checked_sub(n);
        for (at, &known) in before.iter().enumerate().take(n) {
            let base = match self.output {
                OutputForm::Direct => 0.0,
                OutputForm::Residual if known.is_nan() => last.map_or(0.0, |last| predictions[last + at]),
                OutputForm::Residual => known,
            };
            predictions.push(base + decoded.get(at / p, at % p).to_f64());
        }
    }

    /// Adds to `gradient` what `pulled`, the gradient at the predictions of the last run, gives.
    ///
    /// # Errors
    /// No run of this batch before.
    pub(super) fn pull_back<R: Real>(
        &self,
        weights: &StackWeights<R>,
        batch: &Batch<R>,
        mut pulled: Vec<f64>,
        tape: &mut StackTape<R>,
        gradient: &mut [R],
    ) -> Result<()> {
        let (p, step) = (self.widths.d_obs, batch.n_seq * self.widths.d_obs);
        if self.output == OutputForm::Residual {
            for at in (step..pulled.len()).rev() {
                if batch.before[at].is_nan() {
                    pulled[at - step] += pulled[at];
                }
            }
        }
        let d_decoded =
            Panels::from_fn(batch.n_time * batch.n_seq, p, |row, d| R::from_f64(pulled[row * p + d]));
        self.stack.adjoint(weights, (batch.inputs.view(), d_decoded.view()), tape, gradient)
    }
}
