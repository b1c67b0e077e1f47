//! Forecasts: posterior draws rolled on beyond the last observation, of a tracked sequence or of a whole one.
//!
//! ```text
//! p(y_{t+h} | y_{1:t}) ≈ Σ_m w_m N(y_{t+h} | ŷ_{t+h}(z_m), S_m)        S_m by step where the state is random (`base::kalman`)
//! ```

use super::{DrawNoise, Forecast};
use crate::base::NoiseForm;
use crate::engine::FutureSteps;
use crate::family::Signal;
use crate::infer::{Drift, Points, Posterior, Tracker};
use crate::random::Random;
use crate::system::{FrontState, Rollout, System};
use crate::{Error, Result};

/// Most posterior draws that a forecast keeps; more are thinned by systematic resampling.
pub const MAX_DRAWS: usize = 1000;

impl Tracker {
    /// The forecast of the next `n_time` steps, in data units.
    ///
    /// # Shapes
    /// `future_inputs` (data units): at least n_time × d_input, the row of the next step first; needed if
    /// the model has inputs.
    ///
    /// # Errors
    /// No steps asked for; future inputs missing, too short, of the wrong width or not finite.
    pub fn forecast(&mut self, n_time: usize, future_inputs: Option<&Signal>) -> Result<Forecast> {
        check_horizon(n_time)?;
        let model = &self.model().clone();
        let inputs = future_inputs_of(model, self.n_observed_steps(), n_time, future_inputs)?;
        let inputs = self.drive_on(inputs, n_time)?;
        let posterior = self.update()?.clone();
        let (points, weights) = thinned_draws(&posterior, self.random());
        let beliefs = self.beliefs(&points)?;
        let added = self.left_over((&points, &weights), future_inputs, n_time)?;
        let walk = self.drift().map(|drift| (drift, self.until_move(&drift)));
        let from = From { model, first_step: self.n_observed_steps(), beliefs, added, walk };
        from.forecast((&points, weights), inputs.as_ref(), n_time, self.random())
    }
}

impl System {
    /// The forecast of the `n_time` steps after `outputs`, under a posterior that these gave, in data units.
    ///
    /// # Shapes
    /// `posterior`: of codes, or of codes with δ behind them; `outputs` (data units, NaN = missing): any number of
    /// steps, even none; `inputs` (data units), from the first step of the sequence on: at least
    /// (outputs + n_time) × d_input, needed if the model has inputs.
    ///
    /// # Errors
    /// No steps asked for; a posterior of another dimension; outputs of another width; inputs missing, too short, of the
    /// wrong width or not finite.
    pub fn forecast(
        &self,
        posterior: &Posterior,
        outputs: &Signal,
        inputs: Option<&Signal>,
        n_time: usize,
        random: &mut Random,
    ) -> Result<Forecast> {
        check_horizon(n_time)?;
        let past = outputs.n_time();
        let (points, weights) = thinned_draws(posterior, random);
        self.check_points(&points)?;
        crate::base::emission::check_inputs(inputs, past + n_time, self.d_input())?;
        let future = inputs.map(|inputs| inputs.slice(past..past + n_time));
        let functions =
            self.spec().remainder.map(|of| (of, of.rows(inputs, past), of.rows(future.as_ref(), n_time)));
        let future = future_inputs_of(self, past, n_time, future.as_ref())?;
        let inputs = inputs.map(|u| self.scaling().inputs_to_model(&u.slice(0..past))).transpose()?;
        let outputs = self.scaling().outputs_to_model(outputs)?;
        let (group, mut front) = self.group_with_front(&outputs, inputs.as_ref())?;
        let future = self.drive(future, past..past + n_time, Some(&outputs), &mut front)?;
        let beliefs = self.state_beliefs(&group, None, &points);
        let added = match functions.filter(|_| past > 0) {
            None => None,
            Some((remainder, before, after)) => {
                let drive = self.drive(inputs, 0..past, Some(&outputs), &mut FrontState::default())?;
                let codes = points.first_dims(self.d_code());
                let fitted = self.simulate(&codes, None, drive.as_ref(), past)?.outputs;
                Some(remainder.added(&outputs, (&fitted, &weights), (&before, &after), self.settling(past)))
            }
        };
        let from = From { model: self, first_step: past, beliefs, added, walk: None };
        from.forecast((&points, weights), future.as_ref(), n_time, random)
    }

    /// Rollouts of codes, perhaps with δ behind them, from the beginning; inputs in data units.
    pub(crate) fn roll_out(
        &self,
        points: &Points,
        inputs: Option<&Signal>,
        n_time: usize,
    ) -> Result<Rollout> {
        self.check_points(points)?;
        let inputs = self.drive_of(inputs, n_time)?;
        self.simulate(&points.first_dims(self.d_code()), None, inputs.as_ref(), n_time)
    }

    fn check_points(&self, points: &Points) -> Result<()> {
        let k = self.d_code();
        if (k..=k + 1).contains(&points.dim()) {
            return Ok(());
        }
        Err(Error::shape("posterior", format!("{k} or {} dimensions", k + 1), points.dim()))
    }
}

fn check_horizon(n_time: usize) -> Result<()> {
    if n_time > 0 { Ok(()) } else { Err(Error::setting("horizon", "found 0; expected at least one step")) }
}

/// Inputs of the `n_time` steps after `past`, in model units; `None` for a model without.
fn future_inputs_of(
    model: &System,
    past: usize,
    n_time: usize,
    future: Option<&Signal>,
) -> Result<Option<Signal>> {
    let width = model.d_input();
    crate::base::emission::check_inputs(future, n_time, width)?;
    let Some(future) = future.filter(|_| width > 0) else { return Ok(None) };
    let future = future.slice(0..n_time);
    check_known(&future, "future inputs", past)?;
    model.scaling().inputs_to_model(&future).map(Some)
}

/// Inputs are known: the first that is not finite is named, `past` steps after the start.
pub(super) fn check_known(inputs: &Signal, what: &str, past: usize) -> Result<()> {
    let Some(at) = inputs.values().iter().position(|u| !u.is_finite()) else { return Ok(()) };
    let what = format!("{what} at step {}", past + at / inputs.width() + 1);
    Err(Error::NotFinite { what, value: inputs.values()[at], hint: "; inputs cannot be missing" })
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

/// Where a forecast begins: what each draw knows of the state after the last observation.
struct From<'a> {
    model: &'a System,
    first_step: usize,
    beliefs: Vec<f64>,
    /// What is added to the means of each draw, model units.
    added: Option<Vec<f64>>,
    /// How codes drift, and the steps until they next move.
    walk: Option<(Drift, usize)>,
}

impl From<'_> {
    /// The forecast in data units; inputs in model units.
    fn forecast(
        &self,
        (points, weights): (&Points, Vec<f64>),
        inputs: Option<&Signal>,
        n_time: usize,
        random: &mut Random,
    ) -> Result<Forecast> {
        let (model, d_obs) = (self.model, self.model.base().d_obs());
        let forecast = if model.base().stochastic().is_some() {
            let from = FutureSteps { starts: &self.beliefs, inputs, n_time };
            let steps = model.engine().ahead(model, &points.to_codes(), from, random);
            let noise = DrawNoise::FullByStep(steps.factors);
            // Steps hang together through the state, so that futures are not drawn from these one by one: each draw of the code
            // has a path of its own, to which the noise of the outputs is added.
            Forecast::new(self.first_step, d_obs, weights, steps.means, noise)?
                .with_paths(steps.paths, DrawNoise::Full(steps.noise))?
        } else {
            let (mut means, noise) = self.roll_on(points, inputs, n_time, random)?;
            means.iter_mut().zip(self.added.iter().flatten()).for_each(|(mean, added)| *mean += added);
            Forecast::new(self.first_step, d_obs, weights, means, noise)?
        };
        let of = |f: &dyn Fn(usize) -> f64| (0..d_obs).map(f).collect::<Vec<f64>>();
        forecast.rescaled(&of(&|d| model.scaling().offset(d)), &of(&|d| model.scaling().scale(d)))
    }
}

impl From<'_> {
    /// Means and noise of each draw, in model units. Codes that drift move from stretch to stretch.
    fn roll_on(
        &self,
        points: &Points,
        inputs: Option<&Signal>,
        n_time: usize,
        random: &mut Random,
    ) -> Result<(Vec<f64>, DrawNoise)> {
        let (model, n_draws, p) = (self.model, points.len(), self.model.base().d_obs());
        let first = self.walk.map_or(n_time, |(_, until)| until.min(n_time));
        let roll = |points: &Points, states: &[f64], steps: std::ops::Range<usize>| {
            let inputs = inputs.map(|inputs| inputs.slice(steps.clone()));
            let codes = points.first_dims(model.d_code());
            model.simulate(&codes, Some(states), inputs.as_ref(), steps.len())
        };
        let mut rollout = roll(points, &self.beliefs, 0..first)?;
        let noise = draw_noise(model, points, &rollout.noise_factors);
        let Some((drift, _)) = self.walk.filter(|_| first < n_time) else {
            return Ok((rollout.outputs, noise));
        };
        let mut parts = vec![(rollout.outputs.clone(), noise)];
        let (mut points, mut from) = (points.clone(), first);
        while from < n_time {
            let to = n_time.min(from + drift.stretch);
            points = drift.moved(&points, random);
            rollout = roll(&points, &rollout.last_states, from..to)?;
            parts.push((rollout.outputs.clone(), draw_noise(model, &points, &rollout.noise_factors)));
            from = to;
        }
        Ok(joined(&parts, n_draws, p))
    }
}

/// Means and noise of stretches, one after the other for each draw.
fn joined(parts: &[(Vec<f64>, DrawNoise)], n_draws: usize, p: usize) -> (Vec<f64>, DrawNoise) {
    let (mut means, mut noise) = (vec![], vec![]);
    let mut full = false;
    for i in 0..n_draws {
        for (outputs, own) in parts {
            let length = outputs.len() / n_draws;
            means.extend_from_slice(&outputs[i * length..(i + 1) * length]);
            full |= matches!(own, DrawNoise::Full(_));
            if let DrawNoise::Diagonal(values) | DrawNoise::Full(values) = own {
                let width = values.len() / n_draws;
                noise.extend(values[i * width..(i + 1) * width].repeat(length / p));
            }
        }
    }
    (means, if full { DrawNoise::FullByStep(noise) } else { DrawNoise::DiagonalByStep(noise) })
}

/// Noise of each draw; with δ among the dimensions, multiplied by e^δ.
fn draw_noise(model: &System, points: &Points, factors: &[f64]) -> DrawNoise {
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
