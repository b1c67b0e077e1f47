//! The observation noise around each draw of a forecast: standard deviations, or a Cholesky factor.
//!
//! ```text
//! y_t | draw i ~ N(μ_it, diag(s_i)²)        or        N(μ_it, L_i L_iᵀ)
//! ```
//!
//! The observed part of a vector with missing entries has the rows of L that belong to it as a factor;
//! Givens rotations of the columns make those rows triangular again without ever forming L Lᵀ, whose
//! condition number is the square of L's.

use rand::RngExt;
use rand_distr::StandardNormal;

use super::marginal::{check_finite, check_positive};
use crate::random::Random;
use crate::{Error, Result};

/// The noise of every draw. All numbers are standard deviations or factors of covariances, never variances.
#[derive(Clone, Debug, PartialEq)]
pub enum DrawNoise {
    /// Independent outputs, the same at all steps: standard deviations, `n_draws × d_obs`.
    Diagonal(Vec<f64>),
    /// Independent outputs, different from step to step: standard deviations, `n_draws × n_time × d_obs`.
    DiagonalByStep(Vec<f64>),
    /// Correlated outputs, the same at all steps: lower Cholesky factors with a positive diagonal and zeros
    /// above it, `n_draws × d_obs × d_obs`.
    Full(Vec<f64>),
    /// The same, different from step to step: `n_draws × n_time × d_obs × d_obs`.
    FullByStep(Vec<f64>),
}

/// The sizes of a forecast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) n_draws: usize,
    pub(crate) n_time: usize,
    pub(crate) d_obs: usize,
}

/// The noise of one draw at one step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StepNoise<'a> {
    /// Standard deviations, `d_obs`.
    Diagonal(&'a [f64]),
    /// Lower Cholesky factor, `d_obs × d_obs`.
    Full(&'a [f64]),
}

impl DrawNoise {
    /// # Errors
    /// [`Error::Shape`] for a wrong length; [`Error::Setting`] or [`Error::NotFinite`] for numbers that make
    /// no standard deviation or Cholesky factor.
    pub(crate) fn check(&self, sizes: Sizes) -> Result<()> {
        let Sizes { n_draws, n_time, d_obs } = sizes;
        let (values, expected, form) = match self {
            Self::Diagonal(values) => (values, n_draws * d_obs, "n_draws × d_obs"),
            Self::DiagonalByStep(values) => (values, n_draws * n_time * d_obs, "n_draws × n_time × d_obs"),
            Self::Full(values) => (values, n_draws * d_obs * d_obs, "n_draws × d_obs × d_obs"),
            Self::FullByStep(values) => {
                (values, n_draws * n_time * d_obs * d_obs, "n_draws × n_time × d_obs × d_obs")
            }
        };
        if values.len() != expected {
            return Err(Error::shape("noise of a forecast", format!("{expected} ({form})"), values.len()));
        }
        match self {
            Self::Full(values) | Self::FullByStep(values) => {
                values.chunks_exact(d_obs * d_obs).try_for_each(|l| check_factor(l, d_obs))
            }
            _ => check_positive("noise", values),
        }
    }

    /// The noise of draw `i` at row `t`.
    pub(crate) fn at(&self, sizes: Sizes, i: usize, t: usize) -> StepNoise<'_> {
        let d = sizes.d_obs;
        match self {
            Self::Diagonal(values) => StepNoise::Diagonal(&values[i * d..][..d]),
            Self::DiagonalByStep(values) => StepNoise::Diagonal(&values[(i * sizes.n_time + t) * d..][..d]),
            Self::Full(values) => StepNoise::Full(&values[i * d * d..][..d * d]),
            Self::FullByStep(values) => StepNoise::Full(&values[(i * sizes.n_time + t) * d * d..][..d * d]),
        }
    }

    /// The noise of outputs that are multiplied by `scale`, one factor per output.
    pub(crate) fn scaled(&self, scale: &[f64]) -> Self {
        let d = scale.len();
        let by_output = |values: &[f64]| values.iter().enumerate().map(|(k, s)| s * scale[k % d]).collect();
        let by_row = |values: &[f64]| values.iter().enumerate().map(|(k, l)| l * scale[k / d % d]).collect();
        match self {
            Self::Diagonal(values) => Self::Diagonal(by_output(values)),
            Self::DiagonalByStep(values) => Self::DiagonalByStep(by_output(values)),
            Self::Full(values) => Self::Full(by_row(values)),
            Self::FullByStep(values) => Self::FullByStep(by_row(values)),
        }
    }
}

impl DrawNoise {
    /// The noise of outputs that are multiplied by factors of their own at every step.
    ///
    /// # Shapes
    /// `scale`: n_time × d_obs.
    pub(crate) fn scaled_by_step(&self, scale: &[f64], sizes: Sizes) -> Self {
        let Sizes { n_draws, n_time, d_obs } = sizes;
        let places = (0..n_draws).flat_map(|i| (0..n_time).map(move |t| (i, t)));
        let by_step = places.flat_map(|(i, t)| {
            let own = &scale[t * d_obs..][..d_obs];
            let scaled = |(values, per_output): (&[f64], usize)| -> Vec<f64> {
                values.iter().enumerate().map(|(k, s)| s * own[k / per_output]).collect()
            };
            scaled(match self.at(sizes, i, t) {
                StepNoise::Diagonal(values) => (values, 1),
                StepNoise::Full(values) => (values, d_obs),
            })
        });
        match self {
            Self::Diagonal(_) | Self::DiagonalByStep(_) => Self::DiagonalByStep(by_step.collect()),
            Self::Full(_) | Self::FullByStep(_) => Self::FullByStep(by_step.collect()),
        }
    }
}

impl StepNoise<'_> {
    /// The standard deviation of output `c`.
    pub(crate) fn std_dev(&self, c: usize, d_obs: usize) -> f64 {
        match self {
            Self::Diagonal(std_devs) => std_devs[c],
            Self::Full(l) => {
                let row = &l[c * d_obs..][..=c];
                // The diagonal is a lower limit that holds even where all squares underflow.
                row.iter().map(|x| x * x).sum::<f64>().sqrt().max(row[c])
            }
        }
    }

    /// Adds a random draw of the noise to `y`.
    pub(crate) fn add_to(&self, y: &mut [f64], random: &mut Random) {
        let noise: Vec<f64> = y.iter().map(|_| random.sample(StandardNormal)).collect();
        let d = y.len();
        for c in 0..d {
            y[c] += match self {
                Self::Diagonal(std_devs) => std_devs[c] * noise[c],
                Self::Full(l) => (0..=c).map(|k| l[c * d + k] * noise[k]).sum(),
            };
        }
    }

    /// log N(residual | 0, noise) over the outputs listed in `observed`, in increasing order.
    ///
    /// `residual` has one entry per observed output, `d_obs` is the number of all outputs.
    pub(crate) fn log_density(&self, residual: &[f64], observed: &[usize], d_obs: usize) -> f64 {
        let terms = match self {
            Self::Diagonal(std_devs) => residual
                .iter()
                .zip(observed)
                .map(|(r, &c)| -0.5 * (r / std_devs[c]).powi(2) - std_devs[c].ln())
                .sum::<f64>(),
            Self::Full(l) if observed.len() == d_obs => whitened_log_density(l, d_obs, residual),
            Self::Full(l) => whitened_log_density(&observed_factor(l, observed, d_obs), d_obs, residual),
        };
        terms - 0.5 * (2.0 * std::f64::consts::PI).ln() * observed.len() as f64
    }
}

/// −½ |L⁻¹ r|² − Σ log L_kk, for the leading triangle of `l`, whose rows are `stride` apart.
fn whitened_log_density(l: &[f64], stride: usize, residual: &[f64]) -> f64 {
    let mut white = Vec::with_capacity(residual.len());
    let mut log_density = 0.0;
    for (k, r) in residual.iter().enumerate() {
        let row = &l[k * stride..][..=k];
        let explained: f64 = row.iter().zip(&white).map(|(l, w)| l * w).sum();
        let w = (r - explained) / row[k];
        log_density -= 0.5 * w * w + row[k].ln();
        white.push(w);
    }
    log_density
}

/// The rows of `l` that are observed, rotated to a lower triangle with a positive diagonal.
fn observed_factor(l: &[f64], observed: &[usize], d_obs: usize) -> Vec<f64> {
    let mut rows: Vec<f64> = observed.iter().flat_map(|&c| &l[c * d_obs..][..d_obs]).copied().collect();
    let n = observed.len();
    for k in 0..n {
        for j in k + 1..=observed[k] {
            let (a, b) = (rows[k * d_obs + k], rows[k * d_obs + j]);
            if b == 0.0 {
                continue;
            }
            let r = a.hypot(b);
            let (cos, sin) = (a / r, b / r);
            for row in rows.chunks_exact_mut(d_obs).skip(k) {
                (row[k], row[j]) = (cos * row[k] + sin * row[j], cos * row[j] - sin * row[k]);
            }
        }
        // Where nothing had to be rotated the sign may still be that of an earlier rotation.
        if rows[k * d_obs + k] < 0.0 {
            rows.chunks_exact_mut(d_obs).skip(k).for_each(|row| row[k] = -row[k]);
        }
    }
    rows
}

fn check_factor(l: &[f64], d_obs: usize) -> Result<()> {
    check_finite("noise of a forecast, entry", l)?;
    for c in 0..d_obs {
        check_positive("noise", &l[c * d_obs + c..][..1])?;
        if l[c * d_obs + c + 1..(c + 1) * d_obs].iter().any(|&x| x != 0.0) {
            let why =
                format!("found numbers right of the diagonal in row {c}; expected a lower Cholesky factor");
            return Err(Error::setting("noise", why));
        }
    }
    Ok(())
}
