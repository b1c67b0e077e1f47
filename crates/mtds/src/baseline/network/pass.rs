//! From readings to predictions and back: the layers, and what their output means.
//!
//! ```text
//! residual    ŷ_t = e_t + (y_{t−1} if known, else ŷ_{t−1})        direct    ŷ_t = e_t
//!
//! g_t = ∂L/∂ŷ_t  +  g_{t+1}            if ŷ_{t+1} = e_{t+1} + ŷ_t
//!                +  ∂L/∂ỹ_t            if the network reads ŷ_t for ỹ_t
//! ∂L/∂e_t = g_t
//! ```
//! Steps that read no prediction are one call of the layers; those that do follow one by one ([`Network::first_fed`]).

use super::batch::{Batch, Known, Widths, write_known};
use super::settings::{GruSettings, Loop, OutputForm};
use super::stack::{Stack, StackTape, StackWeights};
use crate::Result;
use crate::kernel::{Panels, PanelsRef, Real};
use crate::reader::Onward;

/// A forecaster without its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Network {
    pub(super) stack: Stack,
    pub(super) widths: Widths,
    pub(super) feedback: Loop,
    pub(super) output: OutputForm,
}

/// What a run leaves for the way back; reused, it keeps its memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Tape<R> {
    /// The steps that read no prediction.
    whole: StackTape<R>,
    /// Those that do, and what they read.
    fed: Vec<(StackTape<R>, Panels<R>)>,
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

    /// What is known in learning.
    pub(super) fn known(&self) -> Known {
        if self.feedback == Loop::Closed { Known::Past } else { Known::Seed }
    }

    /// The first step at which a prediction is read for the output before.
    fn first_fed<R: Real>(&self, batch: &Batch<R>) -> usize {
        if self.feedback == Loop::Open || batch.known == Known::Past {
            return batch.n_time;
        }
        // A step reads the one before it, so the step after the shortest seed still reads seeds only.
        batch.seeds.iter().min().map_or(0, |seed| seed + 1).min(batch.n_time)
    }

    /// ŷ of every row of a batch, rows × p; rows behind the end of a segment mean nothing.
    ///
    /// # Errors
    /// Sizes that do not fit.
    pub(super) fn run<R: Real>(
        &self,
        weights: &StackWeights<R>,
        batch: &Batch<R>,
        tape: &mut Tape<R>,
    ) -> Result<Vec<f64>> {
        let (n_seq, first_fed) = (batch.n_seq, self.first_fed(batch));
        let whole = batch.inputs.rows(0, first_fed * n_seq);
        self.stack.forward(weights, whole, &self.stack.rest(n_seq), &mut tape.whole)?;
        let mut predictions = Vec::with_capacity(batch.before.len());
        for t in 0..first_fed {
            let decoded = self.stack.outputs(&tape.whole).rows(t * n_seq, n_seq);
            self.extend_step(decoded, &batch.before[t * n_seq * self.widths.d_obs..], &mut predictions);
        }
        tape.fed.resize_with(batch.n_time - first_fed, Default::default);
        for t in first_fed..batch.n_time {
            let (before, readings) = self.fed_readings(t, batch, &predictions);
            let (done, next) = tape.fed.split_at_mut(t - first_fed);
            let start = self.stack.end(done.last().map_or(&tape.whole, |(tape, _)| tape));
            self.stack.forward(weights, readings.view(), &start, &mut next[0].0)?;
            self.extend_step(self.stack.outputs(&next[0].0), &before, &mut predictions);
            next[0].1 = readings;
        }
        Ok(predictions)
    }

    /// What is taken for y_{t−1}, n_seq × p, and the readings of step t: beyond the seed its own predictions.
    fn fed_readings<R: Real>(
        &self,
        t: usize,
        batch: &Batch<R>,
        predictions: &[f64],
    ) -> (Vec<f64>, Panels<R>) {
        let (p, n_seq) = (self.widths.d_obs, batch.n_seq);
        let mut before = batch.before[t * n_seq * p..(t + 1) * n_seq * p].to_vec();
        let mut readings = batch.inputs.rows(t * n_seq, n_seq).to_panels();
        for i in (0..n_seq).filter(|&i| batch.is_beyond(t, i)) {
            let own = &predictions[((t - 1) * n_seq + i) * p..][..p];
            before[i * p..(i + 1) * p].copy_from_slice(own);
            write_known(&mut readings, i, own);
        }
        (before, readings)
    }

    /// Adds the predictions of a step to those of all steps before; `before` begins with what it knows of the last.
    fn extend_step<R: Real>(&self, decoded: PanelsRef<'_, R>, before: &[f64], predictions: &mut Vec<f64>) {
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
        tape: &mut Tape<R>,
        gradient: &mut [R],
    ) -> Result<()> {
        let (n_seq, first_fed) = (batch.n_seq, self.first_fed(batch));
        let mut onward = Onward { states: self.stack.rest(n_seq), inputs: Panels::default() };
        for t in (first_fed..batch.n_time).rev() {
            let d_decoded = self.at_decoder(&pulled, t * n_seq, n_seq);
            let (tape, readings) = &mut tape.fed[t - first_fed];
            let pair = (readings.view(), d_decoded.view());
            self.stack.adjoint(weights, pair, tape, gradient, Some(&mut onward))?;
            self.pass_on(batch, t, Some(&onward.inputs), &mut pulled);
        }
        (1..first_fed).rev().for_each(|t| self.pass_on::<R>(batch, t, None, &mut pulled));
        let d_decoded = self.at_decoder(&pulled, 0, first_fed * n_seq);
        let pair = (batch.inputs.rows(0, first_fed * n_seq), d_decoded.view());
        let onward = (first_fed < batch.n_time).then_some(&mut onward);
        self.stack.adjoint(weights, pair, &mut tape.whole, gradient, onward)
    }

    /// From g_t to g_{t−1}; `d_readings` are those of step t where it read predictions.
    fn pass_on<R: Real>(
        &self,
        batch: &Batch<R>,
        t: usize,
        d_readings: Option<&Panels<R>>,
        pulled: &mut [f64],
    ) {
        let (p, m, step) = (self.widths.d_obs, self.widths.d_input, batch.n_seq * self.widths.d_obs);
        for (k, at) in (t * step..(t + 1) * step).enumerate() {
            if self.output == OutputForm::Residual && batch.before[at].is_nan() {
                pulled[at - step] += pulled[at];
            }
            if let Some(d_readings) = d_readings.filter(|_| batch.is_beyond(t, k / p)) {
                pulled[at - step] += d_readings.view().get(k / p, m + k % p).to_f64();
            }
        }
    }

    fn at_decoder<R: Real>(&self, pulled: &[f64], first: usize, n_rows: usize) -> Panels<R> {
        let p = self.widths.d_obs;
        Panels::from_fn(n_rows, p, |row, d| R::from_f64(pulled[(first + row) * p + d]))
    }
}
