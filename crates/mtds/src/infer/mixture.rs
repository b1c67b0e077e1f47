//! Mixtures of Gaussians: proposal, parametric posterior, and prior in one type.
//!
//! ```text
//! q(u) = Σ_j α_j N(u; μ_j, Σ_j)        Σ_j = L_j L_jᵀ        u, μ_j (d),  Σ_j (d, d),  j = 1 … J
//! ```
//!
//! `L_j` and `L_j⁻¹` are kept, so that drawing and evaluating cost no factorisation.

use rand::RngExt;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

use super::{Points, hot};
use crate::algebra;
use crate::random::Random;
use crate::{Error, Result};

/// A mixture of `J ≥ 1` Gaussians in `d ≥ 1` dimensions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct GaussianMixture {
    pub(super) dim: usize,
    pub(super) weights: Vec<f64>,
    /// `(J, d)`
    pub(super) means: Vec<f64>,
    /// `(J, d, d)`
    pub(super) covariances: Vec<f64>,
    /// Lower Cholesky factors `L_j`, `(J, d, d)`.
    factors: Vec<f64>,
    /// `L_j⁻¹`, `(J, d, d)`.
    pub(super) whiteners: Vec<f64>,
    /// `log α_j − Σ log L_j,ii − d/2 log 2π`
    pub(super) log_norms: Vec<f64>,
}

/// Stored form: no derived numbers, checked on the way in.
#[derive(Serialize, Deserialize)]
struct Parts {
    weights: Vec<f64>,
    means: Vec<Vec<f64>>,
    covariances: Vec<Vec<f64>>,
}

impl TryFrom<Parts> for GaussianMixture {
    type Error = Error;

    fn try_from(parts: Parts) -> Result<Self> {
        Self::new(parts.weights, parts.means, parts.covariances)
    }
}

impl From<GaussianMixture> for Parts {
    fn from(mixture: GaussianMixture) -> Self {
        let d = mixture.dim;
        Self {
            means: mixture.means.chunks(d).map(<[f64]>::to_vec).collect(),
            covariances: mixture.covariances.chunks(d * d).map(<[f64]>::to_vec).collect(),
            weights: mixture.weights,
        }
    }
}

impl GaussianMixture {
    /// A mixture from `J` weights, `J` means of `d` values and `J` row-major `d x d` covariances.
    ///
    /// Weights that sum to one only up to rounding (1e-6) are scaled to do so exactly.
    ///
    /// # Errors
    /// [`Error::Shape`] when sizes differ, [`Error::NotFinite`], and [`Error::Setting`] when weights are
    /// negative or do not sum to one, or a covariance is not symmetric and positive definite.
    pub fn new(weights: Vec<f64>, means: Vec<Vec<f64>>, covariances: Vec<Vec<f64>>) -> Result<Self> {
        let dim = means.first().map_or(0, Vec::len);
        if dim == 0 {
            return Err(Error::shape("mixture", "one component in one dimension, or more", "none"));
        }
        for (what, count) in [("mixture weights", weights.len()), ("mixture covariances", covariances.len())]
        {
            if count != means.len() {
                return Err(Error::shape(what, format!("one per mean ({})", means.len()), count));
            }
        }
        check_rows("mixture mean", &means, dim)?;
        check_rows("mixture covariance", &covariances, dim * dim)?;
        covariances.iter().enumerate().try_for_each(|(j, c)| check_symmetric(j, c, dim))?;
        Self::from_flat(dim, weights, means.concat(), covariances.concat())
    }

    /// Checks weights and covariances of the right sizes and factorises.
    pub(super) fn from_flat(
        dim: usize,
        mut weights: Vec<f64>,
        means: Vec<f64>,
        mut covariances: Vec<f64>,
    ) -> Result<Self> {
        normalise_weights(&mut weights)?;
        let (mut factors, mut whiteners, mut log_norms) = (Vec::new(), Vec::new(), Vec::new());
        let log_unit = -0.5 * dim as f64 * std::f64::consts::TAU.ln();
        for (j, covariance) in covariances.chunks_exact_mut(dim * dim).enumerate() {
            algebra::symmetrise(covariance, dim);
            let factor = algebra::cholesky(covariance, dim).ok_or_else(|| {
                Error::setting("mixture covariance", format!("component {j} is not positive definite"))
            })?;
            log_norms.push(weights[j].ln() + log_unit - algebra::log_diagonal_sum(&factor, dim));
            whiteners.extend(algebra::invert_lower(&factor, dim));
            factors.extend(factor);
        }
        Ok(Self { dim, weights, means, covariances, factors, whiteners, log_norms })
    }

    /// `N(0, I)` in `dim` dimensions.
    ///
    /// # Errors
    /// [`Error::Shape`] for no dimension.
    pub fn standard_normal(dim: usize) -> Result<Self> {
        let mut unit = vec![0.0; dim * dim];
        (0..dim).for_each(|i| unit[i * dim + i] = 1.0);
        Self::new(vec![1.0], vec![vec![0.0; dim]], vec![unit])
    }

    /// Dimension `d`.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of components `J`.
    #[must_use]
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Always false: a mixture has a component.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// `α`, `J` values that sum to one.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// `μ_j`, `d` values. Panics if there is no component `j`.
    #[must_use]
    pub fn component_mean(&self, j: usize) -> &[f64] {
        &self.means[j * self.dim..(j + 1) * self.dim]
    }

    /// `Σ_j`, row-major `d x d`. Panics if there is no component `j`.
    #[must_use]
    pub fn component_covariance(&self, j: usize) -> &[f64] {
        &self.covariances[self.square(j)]
    }

    /// The lower Cholesky factor of `Σ_j`, row-major `d x d`. Panics if there is no component `j`.
    #[must_use]
    pub fn component_factor(&self, j: usize) -> &[f64] {
        &self.factors[self.square(j)]
    }

    fn square(&self, j: usize) -> std::ops::Range<usize> {
        let size = self.dim * self.dim;
        j * size..(j + 1) * size
    }

    /// `log α_j + log N(u_i; μ_j, Σ_j)` into `out[j * n + i]`. Panics unless `out` has `J n` elements and
    /// the points have `d` dimensions.
    pub fn component_log_densities(&self, points: &Points, out: &mut [f64]) {
        let n = points.len();
        assert_eq!(points.dim(), self.dim, "points and mixture have one dimension");
        assert_eq!(out.len(), n * self.len(), "one element per component and point");
        if n == 0 {
            return;
        }
        for (j, row) in out.chunks_exact_mut(n).enumerate() {
            let whitener = &self.whiteners[self.square(j)];
            hot::gaussian_log_density(
                points.values(),
                self.component_mean(j),
                whitener,
                self.log_norms[j],
                row,
            );
        }
    }

    /// `log q(u_i)` into `out[i]`. Panics unless `out` has `n` elements and the points have `d` dimensions.
    pub fn log_density(&self, points: &Points, out: &mut [f64]) {
        assert_eq!(out.len(), points.len(), "one element per point");
        if self.len() == 1 {
            return self.component_log_densities(points, out);
        }
        let mut joint = vec![0.0; self.len() * points.len()];
        self.component_log_densities(points, &mut joint);
        hot::log_sum_exp(&joint, out);
    }

    /// `n` draws, ordered by component.
    ///
    /// How many a component gives is drawn systematically: `n α_j` rounded up or down, right on average.
    /// Each draw still counts as one from the whole mixture.
    #[must_use]
    pub fn sample(&self, n: usize, random: &mut Random) -> Points {
        let d = self.dim;
        let counts = systematic_counts(&self.weights, n, random.random());
        let mut draws = Points::zeros(d, n);
        let mut begin = 0;
        let mut normals = Vec::new();
        for (j, &count) in counts.iter().enumerate() {
            normals.clear();
            normals.extend(random.sample_iter::<f64, _>(StandardNormal).take(d * count));
            for i in 0..d {
                let row = &self.component_factor(j)[i * d..=i * d + i];
                let out = &mut draws.column_mut(i)[begin..begin + count];
                out.fill(self.component_mean(j)[i]);
                for (l, e) in row.iter().zip(normals.chunks_exact(count.max(1))) {
                    out.iter_mut().zip(e).for_each(|(o, e)| *o += l * e);
                }
            }
            begin += count;
        }
        draws
    }
}

/// How often each of the weights, which sum to one, is chosen in `n` systematic draws with offset `u ∈ [0, 1)`.
pub(crate) fn systematic_counts(weights: &[f64], n: usize, u: f64) -> Vec<usize> {
    let (mut total, mut taken) = (0.0, 0);
    let mut counts = Vec::with_capacity(weights.len());
    for weight in weights {
        total += weight;
        // Ticks at (i + u) / n: those below `total`.
        let below = ((total * n as f64 - u).ceil().max(0.0) as usize).clamp(taken, n);
        counts.push(below - taken);
        taken = below;
    }
    // Rounding may leave the last tick beyond the sum: it belongs to the last weight that is not zero.
    if let Some(last) = weights.iter().rposition(|&w| w > 0.0) {
        counts[last] += n - taken;
    }
    counts
}

fn normalise_weights(weights: &mut [f64]) -> Result<()> {
    if let Some(&value) = weights.iter().find(|w| !w.is_finite()) {
        return Err(Error::NotFinite { what: "mixture weight".into(), value, hint: "" });
    }
    let sum: f64 = weights.iter().sum();
    if weights.iter().any(|&w| w < 0.0) || (sum - 1.0).abs() > 1e-6 {
        let why = format!("found {weights:?}; they must not be negative and must sum to one");
        return Err(Error::setting("mixture weights", why));
    }
    // Weights that sum to one as well as rounding allows stay as they are, so that a stored mixture comes back
    // to the bit.
    if (sum - 1.0).abs() > f64::EPSILON * weights.len() as f64 {
        weights.iter_mut().for_each(|w| *w /= sum);
    }
    Ok(())
}

fn check_rows(what: &str, rows: &[Vec<f64>], size: usize) -> Result<()> {
    for (j, row) in rows.iter().enumerate() {
        if row.len() != size {
            return Err(Error::shape(format!("{what} {j}"), format!("{size} values"), row.len()));
        }
        if let Some(&value) = row.iter().find(|x| !x.is_finite()) {
            return Err(Error::NotFinite { what: format!("{what} {j}"), value, hint: "" });
        }
    }
    Ok(())
}

fn check_symmetric(j: usize, covariance: &[f64], dim: usize) -> Result<()> {
    for a in 0..dim {
        for b in 0..a {
            let (x, y) = (covariance[a * dim + b], covariance[b * dim + a]);
            let size = (covariance[a * dim + a] * covariance[b * dim + b]).abs().sqrt();
            if (x - y).abs() > 1e-8 * size {
                let why = format!("component {j} is not symmetric: {x} at ({a}, {b}), {y} at ({b}, {a})");
                return Err(Error::setting("mixture covariance", why));
            }
        }
    }
    Ok(())
}
