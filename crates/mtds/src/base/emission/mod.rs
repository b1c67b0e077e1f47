//! The Gaussian emission: how outputs scatter around a rollout.
//!
//! ```text
//! y_t ~ N(ŷ_t, S)      Diagonal: raw = log s_d, one per output
//!                      Full:     S = L Lᵀ, raw = log L_dd, then the strict lower triangle of L by rows
//! ```
//! Missing outputs drop out: a step contributes the marginal density of what was observed.

mod batch;
mod diagonal;
mod full;

use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use batch::{Batch, Group};
pub(crate) use batch::{Stamp, check_inputs};

use crate::kernel::{Lanes, Real, Scalar};

/// ½ ln 2π.
pub(crate) const HALF_LN_2PI: f64 = 0.918_938_533_204_672_8;

/// Form of the emission covariance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoiseForm {
    /// Independent outputs.
    #[default]
    Diagonal,
    /// Any covariance between the outputs of a step.
    Full,
}

impl NoiseForm {
    /// Number of raw parameters for `d_obs` outputs.
    #[must_use]
    pub fn n_raw(self, d_obs: usize) -> usize {
        match self {
            Self::Diagonal => d_obs,
            Self::Full => d_obs * (d_obs + 1) / 2,
        }
    }
}

/// The emission covariance of a base model and its place in θ.
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    /// Form.
    pub form: NoiseForm,
    /// Number of outputs p.
    pub d_obs: usize,
    /// Where its raw parameters lie in θ.
    pub range: Range<usize>,
}

/// Which sequences pull on each lane, and how strongly.
#[derive(Clone, Copy, Debug)]
pub enum Pull<'a, S> {
    /// One weight per sequence of the group and lane.
    Dense(&'a [S]),
    /// For each lane, (sequence of the group, weight).
    Sparse(&'a [&'a [(usize, f64)]]),
}

impl Noise {
    /// log p(Y_i | ŷ, S) of every sequence of the group, per lane.
    ///
    /// # Shapes
    /// `outputs`: n_time × p of the group; `scores`: one pack per sequence.
    #[inline(always)]
    pub fn scores<S: Lanes>(&self, theta: &[S], outputs: &[S], group: &Group<S::Real>, scores: &mut [S]) {
        let raw = &theta[self.range.clone()];
        match self.form {
            NoiseForm::Diagonal => S::outline::<diagonal::Scores, _>((raw, outputs, group, scores)),
            NoiseForm::Full => full::scores(raw, outputs, group, scores),
        }
    }

    /// Weighted log likelihood Σ_i w_i log p(Y_i | ŷ, S) per lane, and its gradient.
    ///
    /// Overwrites `d_outputs` (n_time × p), adds to the noise block of `d_theta`.
    #[inline(always)]
    pub fn pull<S: Lanes>(
        &self,
        theta: &[S],
        outputs: &[S],
        group: &Group<S::Real>,
        pull: Pull<'_, S>,
        (d_outputs, d_theta): (&mut [S], &mut [S]),
    ) -> S {
        let raw = &theta[self.range.clone()];
        let d_raw = &mut d_theta[self.range.clone()];
        match self.form {
            NoiseForm::Diagonal => {
                S::outline::<diagonal::WeightedPull, _>((raw, outputs, group, pull, (d_outputs, d_raw)))
            }
            NoiseForm::Full => full::pull(raw, outputs, group, pull, d_outputs, d_raw),
        }
    }

    /// log p(Y | ŷ, S) of the first sequence of the group by plain differences, accumulated in f64.
    ///
    /// Writes one value per lane. Slower per sequence than [`Noise::scores`], but loses no digits however
    /// small the noise: inference uses it.
    #[inline(always)]
    pub fn log_density<S: Lanes>(&self, theta: &[S], outputs: &[S], group: &Group<S::Real>, out: &mut [f64]) {
        let raw = &theta[self.range.clone()];
        match self.form {
            NoiseForm::Diagonal => S::outline::<diagonal::LogDensity, _>((raw, outputs, group, out)),
            NoiseForm::Full => full::log_density(raw, outputs, group, out),
        }
    }

    /// Multiplies every standard deviation by e^δ.
    #[inline(always)]
    pub fn shift<S: Scalar>(&self, theta: &mut [S], delta: S) {
        let factor = delta.exp();
        for (i, raw) in theta[self.range.clone()].iter_mut().enumerate() {
            *raw = if i < self.d_obs { *raw + delta } else { *raw * factor };
        }
    }

    /// Gradient with respect to δ of [`Noise::shift`], and (in place) with respect to the noise before it.
    ///
    /// `theta` is what the shift left.
    #[inline(always)]
    pub fn shift_adjoint<S: Scalar>(&self, theta: &[S], delta: S, d_theta: &mut [S]) -> S {
        let factor = delta.exp();
        let mut d_delta = S::zero();
        for (i, at) in self.range.clone().enumerate() {
            if i < self.d_obs {
                d_delta += d_theta[at];
            } else {
                d_delta = d_theta[at].mul_add(theta[at], d_delta);
                d_theta[at] = d_theta[at] * factor;
            }
        }
        d_delta
    }

    /// Lower Cholesky factor of S for one lane, p × p row-major.
    #[must_use]
    pub fn cholesky<S: Lanes>(&self, theta: &[S], lane: usize) -> Vec<f64> {
        let p = self.d_obs;
        let raw: Vec<f64> = theta[self.range.clone()].iter().map(|x| x.lane(lane).to_f64()).collect();
        let mut factor = vec![0.0; p * p];
        let mut strict = p;
        for i in 0..p {
            for j in 0..i {
                if self.form == NoiseForm::Full {
                    factor[i * p + j] = raw[strict];
                    strict += 1;
                }
            }
            factor[i * p + i] = raw[i].exp();
        }
        factor
    }
}

#[cfg(test)]
mod tests;
