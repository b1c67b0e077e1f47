//! Mixtures of forecasts, and with them the forecast of an ensemble.
//!
//! ```text
//! p(y_t) = Σ_k v_k p_k(y_t)          draws of all parts, those of part k with their weights times v_k, Σ_k v_k = 1
//! ```

use rayon::prelude::*;

use super::marginal::check_weights;
use super::{DrawNoise, Forecast};
use crate::family::Signal;
use crate::infer::EnsembleTracker;
use crate::{Error, Result};

/// Candidates of an ensemble with less posterior weight than this are left out of its forecasts.
///
/// What one of them could add to a probability is far below the error of a thousand draws.
pub const NEGLIGIBLE_WEIGHT: f64 = 1e-4;

impl Forecast {
    /// The mixture of forecasts of the same outputs at the same steps, with weights that need not sum to 1.
    ///
    /// # Errors
    /// [`Error::Shape`] for none, or for steps or outputs that differ; [`Error::Setting`] for unusable weights.
    pub fn mixed(mut parts: Vec<(f64, Self)>) -> Result<Self> {
        let total = check_weights(&parts.iter().map(|(weight, _)| *weight).collect::<Vec<_>>())?;
        let shape = |f: &Self| (f.first_step(), f.n_time(), f.d_obs());
        let wanted = shape(&parts[0].1);
        if let Some((_, other)) = parts.iter().find(|(_, part)| shape(part) != wanted) {
            let text = |(step, n_time, d): (usize, usize, usize)| {
                format!("{n_time} steps from step {step} of {d} outputs")
            };
            return Err(Error::shape("forecast to mix", text(wanted), text(shape(other))));
        }
        if parts.len() == 1 {
            return Ok(parts.remove(0).1); // to the bit: weights would be divided by their rounded sum again
        }
        let scaled =
            |(v, part): &(f64, Self)| part.weights().iter().map(|w| v / total * w).collect::<Vec<_>>();
        let weights = parts.iter().flat_map(scaled).collect();
        let means = parts.iter().flat_map(|(_, part)| part.means()).copied().collect();
        let noises = parts.iter().map(|(_, part)| (part, part.noise())).collect::<Vec<_>>();
        let mixed = Self::new(wanted.0, wanted.2, weights, means, joined_noise(&noises))?;
        if parts.iter().all(|(_, part)| !part.has_paths()) {
            return Ok(mixed);
        }
        let paths = parts.iter().flat_map(|(_, part)| part.paths().0).copied().collect();
        let noises = parts.iter().map(|(_, part)| (part, part.paths().1)).collect::<Vec<_>>();
        mixed.with_paths(paths, joined_noise(&noises))
    }
}

/// The noise of all draws, in the simplest form that holds that of every part.
fn joined_noise(parts: &[(&Forecast, &DrawNoise)]) -> DrawNoise {
    use DrawNoise::{Diagonal, DiagonalByStep, Full, FullByStep};
    let full = parts.iter().any(|(_, noise)| matches!(noise, Full(_) | FullByStep(_)));
    let by_step = parts.iter().any(|(_, noise)| matches!(noise, DiagonalByStep(_) | FullByStep(_)));
    let parts = parts.iter();
    match (full, by_step) {
        (false, false) => Diagonal(parts.flat_map(|(_, noise)| values(noise).to_vec()).collect()),
        (false, true) => DiagonalByStep(parts.flat_map(|(f, noise)| by_step_values(f, noise)).collect()),
        (true, false) => Full(parts.flat_map(|(f, noise)| factors(f, noise)).collect()),
        (true, true) => {
            let by_step = |(f, noise): &(&Forecast, &DrawNoise)| match noise {
                Diagonal(_) | Full(_) => repeated(&factors(f, noise), f.d_obs().pow(2), f.n_time()),
                DiagonalByStep(_) | FullByStep(_) => factors(f, noise),
            };
            FullByStep(parts.flat_map(by_step).collect())
        }
    }
}

fn values(noise: &DrawNoise) -> &[f64] {
    use DrawNoise::{Diagonal, DiagonalByStep, Full, FullByStep};
    let (Diagonal(values) | DiagonalByStep(values) | Full(values) | FullByStep(values)) = noise;
    values
}

/// Every row of `width` values, `times` times.
fn repeated(values: &[f64], width: usize, times: usize) -> Vec<f64> {
    values.chunks_exact(width).flat_map(|row| row.repeat(times)).collect()
}

/// `n_draws × n_time × d_obs`
fn by_step_values(part: &Forecast, noise: &DrawNoise) -> Vec<f64> {
    match noise {
        DrawNoise::Diagonal(values) => repeated(values, part.d_obs(), part.n_time()),
        _ => values(noise).to_vec(),
    }
}

/// Factors, one for each row of standard deviations.
fn factors(part: &Forecast, noise: &DrawNoise) -> Vec<f64> {
    let d = part.d_obs();
    match noise {
        DrawNoise::Diagonal(values) | DrawNoise::DiagonalByStep(values) => {
            let entry = |row: &[f64], at: usize| if at / d == at % d { row[at / d] } else { 0.0 };
            let factor = |row: &[f64]| (0..d * d).map(|at| entry(row, at)).collect::<Vec<_>>();
            values.chunks_exact(d).flat_map(factor).collect()
        }
        DrawNoise::Full(values) | DrawNoise::FullByStep(values) => values.clone(),
    }
}

impl EnsembleTracker {
    /// The forecast of the next `n_time` steps, in data units: those of all candidates that are not negligible (see
    /// `NEGLIGIBLE_WEIGHT`), mixed by p(k | y_{1:t}). It has the draws of all of them.
    ///
    /// # Shapes
    /// `future_inputs` (data units): at least n_time × d_input, the row of the next step first; needed if
    /// the models have inputs.
    ///
    /// # Errors
    /// No steps asked for; future inputs missing, too short, of the wrong width or not finite.
    pub fn forecast(&mut self, n_time: usize, future_inputs: Option<&Signal>) -> Result<Forecast> {
        let weights = self.update()?.to_vec();
        let largest = weights.iter().copied().fold(0.0, f64::max);
        // Of very many equal candidates none would be left, so the largest weight always counts.
        let counts = |weight: f64| weight >= NEGLIGIBLE_WEIGHT.min(largest);
        let parts: Vec<Result<(f64, Forecast)>> = self
            .trackers_mut()
            .par_iter_mut()
            .zip(weights)
            .filter(|(_, weight)| counts(*weight))
            .map(|(tracker, weight)| Ok((weight, tracker.forecast(n_time, future_inputs)?)))
            .collect();
        Forecast::mixed(parts.into_iter().collect::<Result<_>>()?)
    }
}

#[cfg(test)]
#[path = "mixed_tests.rs"]
mod tests;
