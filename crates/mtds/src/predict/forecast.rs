//! A forecast: weighted draws from a posterior, each rolled forward with its own noise.
//!
//! ```text
//! p(y_t | past) = Σᵢ wᵢ N(y_t | μ_it, noise_i)           i = 1 … n_draws
//! ```
//!
//! Numbers by step and output are row-major: entry `t · d_obs + c` is output `c` at row `t`, and row `t` is
//! the absolute step `first_step + t` of the sequence.

use rand::RngExt;
use rayon::prelude::*;

use super::marginal::{
    Marginal, check_finite, check_level, check_positive, check_weights, log_sum_exp, pick,
};
use super::noise::{DrawNoise, Sizes};
use crate::random::Random;
use crate::{Error, Result};

/// What is known of the outputs at the steps from `first_step` on.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    first_step: usize,
    sizes: Sizes,
    /// Sum to 1.
    weights: Vec<f64>,
    means: Vec<f64>,
    noise: DrawNoise,
    paths: Option<Paths>,
}

/// One future per draw where steps hang together beyond their means: what [`Forecast::draws`] gives.
#[derive(Clone, Debug, PartialEq)]
struct Paths {
    /// `n_draws × n_time × d_obs`, without the noise.
    values: Vec<f64>,
    noise: DrawNoise,
}

impl Forecast {
    /// A forecast of `weights.len()` draws, whose weights need not sum to 1.
    ///
    /// # Shapes
    /// `means`: `n_draws × n_time × d_obs`, with `n_time` as many as fit; `noise`: see [`DrawNoise`].
    ///
    /// # Errors
    /// [`Error::Shape`] for sizes that are 0 or do not fit, [`Error::NotFinite`] for a mean that is not
    /// finite, [`Error::Setting`] for unusable weights or noise.
    pub fn new(
        first_step: usize,
        d_obs: usize,
        mut weights: Vec<f64>,
        means: Vec<f64>,
        noise: DrawNoise,
    ) -> Result<Self> {
        let total = check_weights(&weights)?;
        weights.iter_mut().for_each(|w| *w /= total);
        let n_draws = weights.len();
        if d_obs == 0 || means.is_empty() || !means.len().is_multiple_of(n_draws * d_obs) {
            let expected = format!("{n_draws} draws × at least 1 step × {d_obs} outputs");
            return Err(Error::shape("means of a forecast", expected, format!("{} numbers", means.len())));
        }
        check_finite("mean of a forecast, entry", &means)?;
        let sizes = Sizes { n_draws, n_time: means.len() / (n_draws * d_obs), d_obs };
        noise.check(sizes)?;
        Ok(Self { first_step, sizes, weights, means, noise, paths: None })
    }

    /// The same with one future for each draw, and the noise that is still to be added to it.
    ///
    /// Single steps stay as they are. Where the noise of a draw hangs together over time, as that of a random state does,
    /// these are drawn from all steps together.
    ///
    /// # Shapes
    /// `paths`: as the means of the draws.
    ///
    /// # Errors
    /// As [`Forecast::new`].
    pub fn with_paths(mut self, paths: Vec<f64>, noise: DrawNoise) -> Result<Self> {
        if paths.len() != self.means.len() {
            return Err(Error::shape("paths of a forecast", self.means.len(), paths.len()));
        }
        check_finite("path of a forecast, entry", &paths)?;
        noise.check(self.sizes)?;
        self.paths = Some(Paths { values: paths, noise });
        Ok(self)
    }

    /// One future of each draw before the noise is added, and that noise: its mean where none was drawn.
    pub(super) fn paths(&self) -> (&[f64], &DrawNoise) {
        self.paths.as_ref().map_or((&self.means, &self.noise), |paths| (&paths.values, &paths.noise))
    }

    /// Whether futures hang together beyond the means of draws.
    pub(super) fn has_paths(&self) -> bool {
        self.paths.is_some()
    }

    /// The absolute step of row 0.
    #[must_use]
    pub fn first_step(&self) -> usize {
        self.first_step
    }

    /// Number of draws.
    #[must_use]
    pub fn n_draws(&self) -> usize {
        self.sizes.n_draws
    }

    /// Number of steps.
    #[must_use]
    pub fn n_time(&self) -> usize {
        self.sizes.n_time
    }

    /// Number of outputs.
    #[must_use]
    pub fn d_obs(&self) -> usize {
        self.sizes.d_obs
    }

    /// The weights of the draws; they sum to 1.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The mean of each draw, `n_draws × n_time × d_obs`.
    #[must_use]
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// The noise around the draws.
    #[must_use]
    pub fn noise(&self) -> &DrawNoise {
        &self.noise
    }

    /// Output `c` at row `t` on its own.
    ///
    /// # Errors
    /// [`Error::Shape`] when there is no such row or output.
    pub fn marginal(&self, t: usize, c: usize) -> Result<Marginal<'_>> {
        self.check_row(t)?;
        if c >= self.d_obs() {
            return Err(Error::shape("output of a forecast", format!("below {}", self.d_obs()), c));
        }
        Ok(self.marginal_at(t, c))
    }

    pub(crate) fn marginal_at(&self, t: usize, c: usize) -> Marginal<'_> {
        let Sizes { n_draws, n_time, d_obs } = self.sizes;
        let means = (0..n_draws).map(|i| self.means[(i * n_time + t) * d_obs + c]).collect();
        let std_devs = (0..n_draws).map(|i| self.noise.at(self.sizes, i, t).std_dev(c, d_obs)).collect();
        Marginal::trusted(&self.weights, means, std_devs)
    }

    /// The predictive mean, `n_time × d_obs`.
    #[must_use]
    pub fn mean(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.n_time() * self.d_obs()];
        for (w, path) in self.weights.iter().zip(self.means.chunks_exact(mean.len())) {
            mean.iter_mut().zip(path).for_each(|(sum, m)| *sum += w * m);
        }
        mean
    }

    /// The predictive variance, noise included, `n_time × d_obs`.
    #[must_use]
    pub fn variance(&self) -> Vec<f64> {
        self.each_marginal(|marginal| marginal.variance())
    }

    /// The quantile at level `q`, `n_time × d_obs`.
    ///
    /// # Errors
    /// [`Error::Setting`] unless 0 < `q` < 1.
    pub fn quantile(&self, q: f64) -> Result<Vec<f64>> {
        check_level("quantile", q)?;
        self.each_marginal(|marginal| marginal.quantile(q)).into_iter().collect()
    }

    /// The quantiles at `levels`, one `n_time × d_obs` block per level.
    ///
    /// # Errors
    /// [`Error::Setting`] unless every level lies strictly between 0 and 1.
    pub fn quantiles(&self, levels: &[f64]) -> Result<Vec<Vec<f64>>> {
        levels.iter().map(|&q| self.quantile(q)).collect()
    }

    /// `n` random futures with observation noise, `n × n_time × d_obs`; each follows one draw throughout.
    #[must_use]
    pub fn draws(&self, n: usize, random: &mut Random) -> Vec<f64> {
        let length = self.n_time() * self.d_obs();
        let (means, noise) = self.paths();
        let mut paths = Vec::with_capacity(n * length);
        for _ in 0..n {
            let i = pick(&self.weights, random.random());
            let from = paths.len();
            paths.extend_from_slice(&means[i * length..][..length]);
            for (t, row) in paths[from..].chunks_exact_mut(self.d_obs()).enumerate() {
                noise.at(self.sizes, i, t).add_to(row, random);
            }
        }
        paths
    }

    /// log p(y_t | past) of the outputs at row `t`, jointly over those observed; NaN marks a missing one.
    ///
    /// Where all are missing it is 0, the logarithm of certainty.
    ///
    /// # Errors
    /// [`Error::Shape`] for a row that is not there or a `y` not of length `d_obs`; [`Error::NotFinite`] for
    /// an infinite output.
    pub fn log_density(&self, t: usize, y: &[f64]) -> Result<f64> {
        self.check_row(t)?;
        let Sizes { n_time, d_obs, .. } = self.sizes;
        if y.len() != d_obs {
            return Err(Error::shape("outputs of a step", d_obs, y.len()));
        }
        if let Some(c) = y.iter().position(|value| value.is_infinite()) {
            let what = format!("output {c} at step {}", self.first_step + t);
            return Err(Error::NotFinite { what, value: y[c], hint: "; write NaN for a missing output" });
        }
        let observed: Vec<usize> = (0..d_obs).filter(|&c| !y[c].is_nan()).collect();
        if observed.is_empty() {
            return Ok(0.0);
        }
        let draw = |(i, &w): (usize, &f64)| {
            let mean = &self.means[(i * n_time + t) * d_obs..][..d_obs];
            let residual: Vec<f64> = observed.iter().map(|&c| y[c] - mean[c]).collect();
            w.ln() + self.noise.at(self.sizes, i, t).log_density(&residual, &observed, d_obs)
        };
        Ok(log_sum_exp(self.weights.iter().enumerate().filter(|&(_, &w)| w > 0.0).map(draw).collect()))
    }

    /// The forecast of `offset + scale · y`, e.g. in the units of the data.
    ///
    /// # Errors
    /// [`Error::Shape`] unless both have length `d_obs`; [`Error::NotFinite`] for an offset that is not
    /// finite; [`Error::Setting`] for a scale that is not finite and above 0.
    pub fn rescaled(&self, offset: &[f64], scale: &[f64]) -> Result<Self> {
        let d = self.d_obs();
        for (what, length) in [("offset of outputs", offset.len()), ("scale of outputs", scale.len())] {
            if length != d {
                return Err(Error::shape(what, d, length));
            }
        }
        check_finite("offset of output", offset)?;
        check_positive("scale", scale)?;
        let moved = |values: &[f64]| {
            values.iter().enumerate().map(|(k, m)| offset[k % d] + scale[k % d] * m).collect()
        };
        let weights = self.weights.clone();
        let rescaled = Self::new(self.first_step, d, weights, moved(&self.means), self.noise.scaled(scale))?;
        match &self.paths {
            Some(paths) => rescaled.with_paths(moved(&paths.values), paths.noise.scaled(scale)),
            None => Ok(rescaled),
        }
    }

    /// `of` every marginal, row-major; in parallel, each on its own, so threads do not change the result.
    fn each_marginal<T: Send>(&self, of: impl Fn(Marginal<'_>) -> T + Sync) -> Vec<T> {
        let d = self.d_obs();
        (0..self.n_time() * d).into_par_iter().map(|k| of(self.marginal_at(k / d, k % d))).collect()
    }

    fn check_row(&self, t: usize) -> Result<()> {
        if t < self.n_time() {
            return Ok(());
        }
        Err(Error::shape("row of a forecast", format!("below {}", self.n_time()), t))
    }
}

#[cfg(test)]
#[path = "forecast_tests.rs"]
mod tests;
