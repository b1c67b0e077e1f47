//! What follows from a mixture: moments, gradient, tilt, marginals, products with a Gaussian, averages.
//!
//! ```text
//! mean = Σ α_j μ_j          covariance = Σ α_j (Σ_j + (μ_j − mean)(μ_j − mean)ᵀ)
//! tilted by f: Σ_j → f Σ_j          average of q_i with weights β_i: Σ β_i q_i
//! ∇ log q(u) = −Σ r_j L_j⁻ᵀ e_j       e_j = L_j⁻¹ (u − μ_j)       r_j ∝ α_j N(u; μ_j, Σ_j)
//! ```

use super::GaussianMixture;
use crate::{Error, Result};

/// `log(e^a + e^b)`.
fn log_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

impl GaussianMixture {
    /// The `n` heaviest components, their weights scaled to sum to one.
    ///
    /// # Errors
    /// For `n` = 0.
    pub fn heaviest(&self, n: usize) -> Result<Self> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|&i, &j| self.weights[j].total_cmp(&self.weights[i]));
        order.truncate(n);
        let total: f64 = order.iter().map(|&j| self.weights[j]).sum();
        Self::new(
            order.iter().map(|&j| self.weights[j] / total).collect(),
            order.iter().map(|&j| self.component_mean(j).to_vec()).collect(),
            order.iter().map(|&j| self.component_covariance(j).to_vec()).collect(),
        )
    }

    /// The mean, `d` values.
    #[must_use]
    pub fn mean(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.dim];
        for (weight, component) in self.weights.iter().zip(self.means.chunks(self.dim)) {
            mean.iter_mut().zip(component).for_each(|(m, x)| *m += weight * x);
        }
        mean
    }

    /// The covariance, row-major `d x d`.
    #[must_use]
    pub fn covariance(&self) -> Vec<f64> {
        let (d, mean) = (self.dim, self.mean());
        let mut covariance = vec![0.0; d * d];
        for (j, weight) in self.weights.iter().enumerate() {
            let (centre, within) = (self.component_mean(j), self.component_covariance(j));
            for a in 0..d {
                for b in 0..d {
                    let between = (centre[a] - mean[a]) * (centre[b] - mean[b]);
                    covariance[a * d + b] += weight * (within[a * d + b] + between);
                }
            }
        }
        covariance
    }

    /// `log q(u)`; writes its gradient, `d` values. Panics unless point and gradient have `d` dimensions.
    pub fn log_density_with_gradient(&self, point: &[f64], gradient: &mut [f64]) -> f64 {
        let d = self.dim;
        assert_eq!((point.len(), gradient.len()), (d, d), "point, gradient and mixture have one dimension");
        gradient.fill(0.0);
        let mut error = vec![0.0; d];
        // Running log Σ_j; `gradient` is the responsibility-weighted sum over the components so far.
        let mut total = f64::NEG_INFINITY;
        for (j, whitener) in self.whiteners.chunks_exact(d * d).enumerate() {
            let mean = self.component_mean(j);
            let mut log_density = self.log_norms[j];
            for i in 0..d {
                let row = &whitener[i * d..=i * d + i];
                let apart = point.iter().zip(mean).map(|(u, m)| u - m);
                error[i] = row.iter().zip(apart).map(|(w, a)| w * a).sum();
                log_density -= 0.5 * error[i] * error[i];
            }
            let next = log_add(total, log_density);
            let (kept, share) = match next > f64::NEG_INFINITY {
                true => ((total - next).exp(), (log_density - next).exp()),
                false => (1.0, 0.0),
            };
            gradient.iter_mut().for_each(|g| *g *= kept);
            for i in 0..d {
                let pull = share * error[i];
                gradient.iter_mut().zip(&whitener[i * d..=i * d + i]).for_each(|(g, w)| *g -= pull * w);
            }
            total = next;
        }
        total
    }

    /// The same mixture with every covariance multiplied by `factor`.
    ///
    /// # Errors
    /// [`Error::Setting`] unless `factor` is positive and finite.
    pub fn tilted(&self, factor: f64) -> Result<Self> {
        if !(factor.is_finite() && factor > 0.0) {
            return Err(Error::setting("tilt", format!("found {factor}; it must be a positive number")));
        }
        let covariances = self.covariances.iter().map(|c| c * factor).collect();
        Self::from_flat(self.dim, self.weights.clone(), self.means.clone(), covariances)
    }

    /// The one Gaussian with this mixture's mean and covariance.
    ///
    /// # Errors
    /// [`Error::Setting`] when the covariance overflows.
    pub fn collapsed(&self) -> Result<Self> {
        Self::from_flat(self.dim, vec![1.0], self.mean(), self.covariance())
    }

    /// The mixture of the coordinates `dims`, in this order.
    ///
    /// # Errors
    /// [`Error::Setting`] when `dims` is empty, repeats a dimension or names one that does not exist.
    pub fn marginal(&self, dims: &[usize]) -> Result<Self> {
        let repeated = dims.iter().enumerate().any(|(i, d)| dims[..i].contains(d));
        if dims.is_empty() || repeated || dims.iter().any(|&d| d >= self.dim) {
            let why = format!("found {dims:?}; expected different dimensions below {}", self.dim);
            return Err(Error::setting("marginal", why));
        }
        let (mut means, mut covariances) = (Vec::new(), Vec::new());
        for j in 0..self.len() {
            let (mean, covariance) = (self.component_mean(j), self.component_covariance(j));
            means.extend(dims.iter().map(|&a| mean[a]));
            covariances
                .extend(dims.iter().flat_map(|&a| dims.iter().map(move |&b| covariance[a * self.dim + b])));
        }
        Self::from_flat(dims.len(), self.weights.clone(), means, covariances)
    }

    /// The mixture over `(u, v)` with `v ~ N(mean, variance)` independent of `u`: one dimension more.
    ///
    /// # Errors
    /// [`Error::NotFinite`] or [`Error::Setting`] unless mean is finite and variance positive.
    pub fn with_independent(&self, mean: f64, variance: f64) -> Result<Self> {
        if !mean.is_finite() {
            return Err(Error::NotFinite {
                what: "mean of the added dimension".into(),
                value: mean,
                hint: "",
            });
        }
        let d = self.dim;
        let (mut means, mut covariances) = (Vec::new(), Vec::new());
        for j in 0..self.len() {
            means.extend_from_slice(self.component_mean(j));
            means.push(mean);
            for row in self.component_covariance(j).chunks(d) {
                covariances.extend_from_slice(row);
                covariances.push(0.0);
            }
            covariances.extend(std::iter::repeat_n(0.0, d));
            covariances.push(variance);
        }
        Self::from_flat(d + 1, self.weights.clone(), means, covariances)
    }

    /// The weighted average of mixtures: all their components, weights multiplied; the aggregate posterior.
    ///
    /// Parts need not be given weights that sum to one: they are divided by their sum.
    ///
    /// # Errors
    /// [`Error::Shape`] for no mixture or different dimensions, [`Error::Setting`] for bad weights.
    pub fn average(parts: &[(f64, &GaussianMixture)]) -> Result<Self> {
        let Some((_, first)) = parts.first() else {
            return Err(Error::shape("mixtures to average", "one or more", 0));
        };
        let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
        if !(total.is_finite() && total > 0.0) {
            return Err(Error::setting(
                "average",
                format!("weights sum to {total}; expected a positive sum"),
            ));
        }
        let (mut weights, mut means, mut covariances) = (Vec::new(), Vec::new(), Vec::new());
        for (i, (weight, part)) in parts.iter().enumerate() {
            if part.dim != first.dim {
                return Err(Error::shape(
                    format!("mixture {i}"),
                    format!("{} dimensions", first.dim),
                    part.dim,
                ));
            }
            weights.extend(part.weights.iter().map(|w| w * weight / total));
            means.extend_from_slice(&part.means);
            covariances.extend_from_slice(&part.covariances);
        }
        Self::from_flat(first.dim, weights, means, covariances)
    }
}
