//! Forecasts of a tracked sequence: its posterior draws rolled on beyond the last observation.
//!
//! ```text
//! p(y_{t+h} | y_{1:t}) ≈ Σ_m w_m N(y_{t+h} | ŷ_{t+h}(z_m), S_m)
//! ```

use super::{DrawNoise, Forecast};
use crate::base::{BaseModel, NoiseForm};
use crate::family::Signal;
use crate::infer::{Points, Posterior, Tracker};
use crate::{Error, Result};

/// Most posterior draws that a forecast keeps; more are thinned by systematic resampling.
pub const MAX_DRAWS: usize = 1000;

impl<B: BaseModel> Tracker<'_, B> {
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
        let (points, weights) = self.thinned_draws()?;
        let past = self.n_stored();
        let rollout = self.simulate(&points, inputs.as_ref(), past + n_time)?;
        let d_obs = self.model().base().d_obs();
        let row = (past + n_time) * d_obs;
        let means = rollout.outputs.chunks_exact(row).flat_map(|r| r[past * d_obs..].to_vec()).collect();
        let noise = self.draw_noise(&points, &rollout.noise_factors);
        let first_step = self.n_observed_steps();
        let forecast = Forecast::new(first_step, d_obs, weights, means, noise)?;
        let scaling = self.model().scaling();
        let of = |f: &dyn Fn(usize) -> f64| (0..d_obs).map(f).collect::<Vec<f64>>();
        forecast.rescaled(&of(&|d| scaling.offset(d)), &of(&|d| scaling.scale(d)))
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

    /// Draws and weights, at most [`MAX_DRAWS`], none of weight zero.
    fn thinned_draws(&mut self) -> Result<(Points, Vec<f64>)> {
        let posterior = self.update()?.clone();
        let alive = posterior.weights().iter().filter(|&&w| w > 0.0).count();
        if alive > MAX_DRAWS {
            let points = posterior.resample(MAX_DRAWS, self.random());
            return Ok((points, vec![1.0 / MAX_DRAWS as f64; MAX_DRAWS]));
        }
        let kept: Vec<usize> =
            (0..posterior.weights().len()).filter(|&i| posterior.weights()[i] > 0.0).collect();
        let weights = kept.iter().map(|&i| posterior.weights()[i]).collect();
        Ok((Posterior::draws(&posterior).select(&kept), weights))
    }

    /// Noise of each draw; with δ among the dimensions, multiplied by e^δ.
    fn draw_noise(&self, points: &Points, factors: &[f64]) -> DrawNoise {
        let (model, p) = (self.model(), self.model().base().d_obs());
        let scale = |i: usize| {
            if points.dim() > model.d_code() { points.column(model.d_code())[i].exp() } else { 1.0 }
        };
        let scaled = factors.chunks_exact(p * p).enumerate().map(|(i, f)| (scale(i), f));
        match model.base().noise().form {
            NoiseForm::Diagonal => {
                DrawNoise::Diagonal(scaled.flat_map(|(s, f)| (0..p).map(move |d| s * f[d * p + d])).collect())
            }
            NoiseForm::Full => {
                DrawNoise::Full(scaled.flat_map(|(s, f)| f.iter().map(move |x| s * x)).collect())
            }
        }
    }
}
