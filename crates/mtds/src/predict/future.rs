//! Forecasts: posterior draws rolled on beyond the last observation, of a tracked sequence or of a whole one.
//!
//! ```text
//! p(y_{t+h} | y_{1:t}) ≈ Σ_m w_m N(y_{t+h} | ŷ_{t+h}(z_m), S_m)
//! ```

use std::ops::Range;

use super::{DrawNoise, Forecast};
use crate::base::NoiseForm;
use crate::family::Signal;
use crate::infer::{Points, Posterior, Tracker};
use crate::model::{CodePacks, Model, Rollout, Start};
use crate::random::Random;
use crate::{Error, Result};

/// Most posterior draws that a forecast keeps; more are thinned by systematic resampling.
pub const MAX_DRAWS: usize = 1000;

impl Tracker<'_> {
    /// The forecast of the next `n_time` steps, in data units.
    ///
    /// # Shapes
    /// `future_inputs` (data units): at least n_time × d_input, the row of the next step first; needed if
    /// the model has inputs.
    ///
    /// # Errors
    /// No steps asked for; future inputs missing, too short, of the wrong width or not finite.
    pub fn forecast(&mut self, n_time: usize, future_inputs: Option<&Signal>) -> Result<Forecast> {
        if n_time == 0 {
            return Err(Error::setting("horizon", "found 0; expected at least one step"));
        }
        self.update()?;
        let inputs = self.all_inputs(n_time, future_inputs)?;
        let posterior = self.update()?.clone();
        let (points, weights) = thinned_draws(&posterior, self.random());
        let past = self.n_stored();
        let rollout = self.simulate(&points, inputs.as_ref(), past + n_time)?;
        assemble(self.model(), self.n_observed_steps(), past, (&points, weights), &rollout)
    }

    /// Stored inputs followed by the future ones, in model units.
    fn all_inputs(&self, n_time: usize, future: Option<&Signal>) -> Result<Option<Signal>> {
        let width = self.model().base().d_input();
        crate::base::emission::check_inputs(future, n_time, width)?;
        let Some(future) = future.filter(|_| width > 0) else { return Ok(None) };
        let future = future.slice(0..n_time);
        if let Some(at) = future.values().iter().position(|u| !u.is_finite()) {
            let what = format!("future inputs at step {}", self.n_observed_steps() + at / width + 1);
            let hint = "; inputs cannot be missing";
            return Err(Error::NotFinite { what, value: future.values()[at], hint });
        }
        let future = self.model().scaling().inputs_to_model(&future)?;
        let values = [self.stored_inputs(), future.values()].concat();
        Ok(Some(Signal::new(self.n_stored() + n_time, width, values)?))
    }
}

impl Model {
    /// The forecast of `steps` (from 0) under a posterior of the sequence's first `steps.start` steps, in data
    /// units.
    ///
    /// # Shapes
    /// `posterior`: of codes, or of codes with δ behind them; `inputs` (data units), from the first step of the
    /// sequence on: at least steps.end × d_input, needed if the model has inputs.
    ///
    /// # Errors
    /// No steps asked for; a posterior of another dimension; inputs missing, too short, of the wrong width or not
    /// finite.
    pub fn forecast(
        &self,
        posterior: &Posterior,
        inputs: Option<&Signal>,
        steps: Range<usize>,
        random: &mut Random,
    ) -> Result<Forecast> {
        if steps.is_empty() {
            return Err(Error::setting("horizon", "found 0; expected at least one step"));
        }
        let (points, weights) = thinned_draws(posterior, random);
        let rollout = self.roll_out(&points, inputs, steps.end)?;
        assemble(self, steps.start, steps.start, (&points, weights), &rollout)
    }

    /// Rollouts of codes, perhaps with δ behind them, from the beginning; inputs in data units.
    pub(crate) fn roll_out(
        &self,
        points: &Points,
        inputs: Option<&Signal>,
        n_time: usize,
    ) -> Result<Rollout> {
        let k = self.d_code();
        if !(k..=k + 1).contains(&points.dim()) {
            return Err(Error::shape("posterior", format!("{k} or {} dimensions", k + 1), points.dim()));
        }
        let inputs = inputs.map(|inputs| self.scaling().inputs_to_model(inputs)).transpose()?;
        let codes = CodePacks::from_fn(points.len(), k, |i, d| points.column(d)[i]);
        self.simulate(&codes, Start::Initial, inputs.as_ref(), n_time)
    }
}

/// Draws and weights, at most [`MAX_DRAWS`], none of weight zero.
fn thinned_draws(posterior: &Posterior, random: &mut Random) -> (Points, Vec<f64>) {
    let kept: Vec<usize> = (0..posterior.weights().len()).filter(|&i| posterior.weights()[i] > 0.0).collect();
    if kept.len() > MAX_DRAWS {
        let points = posterior.resample(MAX_DRAWS, random);
        return (points, vec![1.0 / MAX_DRAWS as f64; MAX_DRAWS]);
    }
    let weights = kept.iter().map(|&i| posterior.weights()[i]).collect();
    (posterior.draws().select(&kept), weights)
}

/// The forecast from rollouts in model units, of which the first `past` steps are left out.
fn assemble(
    model: &Model,
    first_step: usize,
    past: usize,
    (points, weights): (&Points, Vec<f64>),
    rollout: &Rollout,
) -> Result<Forecast> {
    let d_obs = model.base().d_obs();
    let rows = rollout.outputs.chunks_exact(rollout.n_time * d_obs);
    let means = rows.flat_map(|row| row[past * d_obs..].to_vec()).collect();
    let noise = draw_noise(model, points, &rollout.noise_factors);
    let forecast = Forecast::new(first_step, d_obs, weights, means, noise)?;
    let of = |f: &dyn Fn(usize) -> f64| (0..d_obs).map(f).collect::<Vec<f64>>();
    forecast.rescaled(&of(&|d| model.scaling().offset(d)), &of(&|d| model.scaling().scale(d)))
}

/// Noise of each draw; with δ among the dimensions, multiplied by e^δ.
fn draw_noise(model: &Model, points: &Points, factors: &[f64]) -> DrawNoise {
    let p = model.base().d_obs();
    let scale =
        |i: usize| if points.dim() > model.d_code() { points.column(model.d_code())[i].exp() } else { 1.0 };
    let scaled = factors.chunks_exact(p * p).enumerate().map(|(i, f)| (scale(i), f));
    match model.base().noise().form {
        NoiseForm::Diagonal => {
            DrawNoise::Diagonal(scaled.flat_map(|(s, f)| (0..p).map(move |d| s * f[d * p + d])).collect())
        }
        NoiseForm::Full => DrawNoise::Full(scaled.flat_map(|(s, f)| f.iter().map(move |x| s * x)).collect()),
    }
}
