//! One output at one step: a weighted mixture of Gaussians on the line.
//!
//! ```text
//! F(x)   = Σᵢ wᵢ Φ((x − μᵢ) / σᵢ)                         Σᵢ wᵢ = 1
//! CRPS   = ∫ (F(x) − 1{x ≥ y})² dx
//!        = Σᵢ wᵢ A(y − μᵢ, σᵢ) − ½ Σᵢⱼ wᵢ wⱼ A(μᵢ − μⱼ, √(σᵢ² + σⱼ²))          [1]
//! A(δ,σ) = E|δ + σ ε| = 2 σ φ(δ/σ) + δ (2 Φ(δ/σ) − 1)
//! ```
//!
//! Reference: \[1\] Grimit, Gneiting, Berrocal & Johnson (2006), The continuous ranked probability score for
//! circular variables and its application to mesoscale forecast ensemble verification, QJRMS 132.

use std::borrow::Cow;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

use rand::RngExt;
use rand_distr::StandardNormal;
use statrs::function::erf::{erfc, erfc_inv};

use crate::random::Random;
use crate::{Error, Result};

/// Most components that the pairwise sum of [`Marginal::crps`] runs over; more are thinned to this many.
pub const MAX_CRPS_COMPONENTS: usize = 100;

/// A weighted mixture of Gaussians on the line, owned or borrowed.
#[derive(Clone, Debug, PartialEq)]
pub struct Marginal<'a> {
    weights: Cow<'a, [f64]>,
    means: Cow<'a, [f64]>,
    std_devs: Cow<'a, [f64]>,
}

impl<'a> Marginal<'a> {
    /// A mixture of `weights.len()` components; the weights need not sum to 1.
    ///
    /// # Errors
    /// [`Error::Shape`] when the lengths differ or are 0; [`Error::NotFinite`] for a mean that is not finite;
    /// [`Error::Setting`] for a weight below 0, weights that sum to 0, or a standard deviation not above 0.
    pub fn new(
        weights: impl Into<Cow<'a, [f64]>>,
        means: impl Into<Cow<'a, [f64]>>,
        std_devs: impl Into<Cow<'a, [f64]>>,
    ) -> Result<Self> {
        let (mut weights, means, std_devs) = (weights.into(), means.into(), std_devs.into());
        for (what, length) in [("means of a mixture", means.len()), ("std_devs of a mixture", std_devs.len())]
        {
            if length != weights.len() {
                return Err(Error::shape(what, weights.len(), length));
            }
        }
        let total = check_weights(&weights)?;
        check_finite("mean of a mixture", &means)?;
        check_positive("std_devs", &std_devs)?;
        if total != 1.0 {
            weights.to_mut().iter_mut().for_each(|w| *w /= total);
        }
        Ok(Self { weights, means, std_devs })
    }

    /// For callers that have checked the parts; `weights` sum to 1.
    pub(crate) fn trusted(weights: &'a [f64], means: Vec<f64>, std_devs: Vec<f64>) -> Self {
        Self { weights: weights.into(), means: means.into(), std_devs: std_devs.into() }
    }

    /// Triples (wᵢ, μᵢ, σᵢ) of the components that carry weight.
    fn components(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        let parts = self.weights.iter().zip(&*self.means).zip(&*self.std_devs);
        parts.map(|((&w, &m), &s)| (w, m, s)).filter(|&(w, _, _)| w > 0.0)
    }

    /// The mean.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.components().map(|(w, m, _)| w * m).sum()
    }

    /// The variance.
    #[must_use]
    pub fn variance(&self) -> f64 {
        let mean = self.mean();
        self.components().map(|(w, m, s)| w * (s * s + (m - mean) * (m - mean))).sum()
    }

    /// The probability of a value up to `x`.
    #[must_use]
    pub fn cdf(&self, x: f64) -> f64 {
        self.components().map(|(w, m, s)| w * normal_cdf((x - m) / s)).sum::<f64>().min(1.0)
    }

    /// The probability of a value above `x`, exact in the upper tail where 1 − cdf is not.
    #[must_use]
    pub fn survival(&self, x: f64) -> f64 {
        self.components().map(|(w, m, s)| w * normal_cdf((m - x) / s)).sum::<f64>().min(1.0)
    }

    /// The logarithm of the density at `x`.
    #[must_use]
    pub fn log_density(&self, x: f64) -> f64 {
        let terms = self.components().map(|(w, m, s)| w.ln() - s.ln() - 0.5 * ((x - m) / s).powi(2));
        log_sum_exp(terms.collect()) - 0.5 * (2.0 * PI).ln()
    }

    /// The value with probability `q` below it, to the 1e-10 to which Φ itself is known.
    ///
    /// # Errors
    /// [`Error::Setting`] unless 0 < `q` < 1.
    pub fn quantile(&self, q: f64) -> Result<f64> {
        check_level("quantile", q)?;
        // A mixture's quantile lies between the smallest and the largest quantile of its components.
        let z = normal_quantile(q);
        let ends = self.components().map(|(_, m, s)| m + s * z);
        let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
        // The errors of z and Φ must not push the root outside.
        let margin = 1e-9 * self.components().fold(0.0_f64, |most, (_, _, s)| most.max(s));
        Ok(self.solve(q, low - margin, high + margin))
    }

    /// Newton's method on the cdf; bisection wherever a step leaves the bracket or does not halve.
    fn solve(&self, q: f64, mut low: f64, mut high: f64) -> f64 {
        let narrowest = self.components().fold(f64::INFINITY, |least, (_, _, s)| least.min(s));
        let mut x = f64::midpoint(low, high);
        let mut last_step = high - low;
        // Each round halves the step or the bracket; a double can be halved some 2100 times.
        for _ in 0..4400 {
            // In the nearer tail probabilities keep their digits.
            let excess = if q <= 0.5 { self.cdf(x) - q } else { (1.0 - q) - self.survival(x) };
            if excess < 0.0 {
                low = x;
            } else {
                high = x;
            }
            let newton_step = -excess / self.log_density(x).exp();
            let inside = (low..=high).contains(&(x + newton_step));
            let halves = newton_step.abs() < 0.5 * last_step.abs();
            let next = if inside && halves { x + newton_step } else { f64::midpoint(low, high) };
            last_step = next - x;
            x = next;
            if last_step.abs() <= f64::EPSILON * x.abs() + 1e-12 * narrowest {
                break;
            }
        }
        x
    }

    /// The continuous ranked probability score at the observation `y`, in its units; less is better.
    ///
    /// Beyond `MAX_CRPS_COMPONENTS` components, sorted by mean, every so many-th of the weight is taken and
    /// the score is that of the thinned mixture.
    #[must_use]
    pub fn crps(&self, y: f64) -> f64 {
        let parts = self.thinned(MAX_CRPS_COMPONENTS);
        let mut score = 0.0;
        for (i, &(w, m, s)) in parts.iter().enumerate() {
            score += w * mean_abs(y - m, s);
            score -= 0.5 * w * w * mean_abs(0.0, s * std::f64::consts::SQRT_2);
            for &(w_other, m_other, s_other) in &parts[..i] {
                score -= w * w_other * mean_abs(m - m_other, s.hypot(s_other));
            }
        }
        // The sums cancel, and may leave a rounding error below 0.
        score.max(0.0)
    }

    /// Several side by side, with weights that sum to 1.
    pub(crate) fn mixed<'p>(parts: impl Iterator<Item = (f64, &'p Marginal<'p>)>) -> Marginal<'static> {
        let (mut weights, mut means, mut std_devs) = (vec![], vec![], vec![]);
        for (weight, part) in parts.filter(|(weight, _)| *weight > 0.0) {
            weights.extend(part.weights.iter().map(|w| weight * w));
            means.extend_from_slice(&part.means);
            std_devs.extend_from_slice(&part.std_devs);
        }
        Marginal { weights: weights.into(), means: means.into(), std_devs: std_devs.into() }
    }

    /// Certainty.
    pub(crate) fn point(value: f64) -> Self {
        Self { weights: vec![1.0].into(), means: vec![value].into(), std_devs: vec![0.0].into() }
    }

    /// The same with at most `n` components.
    pub(crate) fn thin(&self, n: usize) -> Marginal<'static> {
        let parts = self.thinned(n);
        Marginal {
            weights: parts.iter().map(|part| part.0).collect::<Vec<_>>().into(),
            means: parts.iter().map(|part| part.1).collect::<Vec<_>>().into(),
            std_devs: parts.iter().map(|part| part.2).collect::<Vec<_>>().into(),
        }
    }

    /// E|X − X'|, X and X' independent.
    pub(crate) fn mean_distance(&self, other: &Marginal<'_>) -> f64 {
        let from = |(w, m, s): (f64, f64, f64)| {
            other.components().map(|(v, n, r)| v * mean_abs(m - n, s.hypot(r))).sum::<f64>() * w
        };
        self.components().map(from).sum()
    }

    /// At most `n` components: all that carry weight, or `n` of equal weight at the middles of `n` equal
    /// slices of the total weight in the order of the means.
    fn thinned(&self, n: usize) -> Vec<(f64, f64, f64)> {
        let mut parts: Vec<_> = self.components().collect();
        if parts.len() <= n {
            return parts;
        }
        parts.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (mut kept, mut below) = (Vec::with_capacity(n), 0.0);
        for &(w, m, s) in &parts {
            below += w;
            while kept.len() < n && (kept.len() as f64 + 0.5) / (n as f64) < below {
                kept.push((1.0 / n as f64, m, s));
            }
        }
        // Only rounding of the total can leave the last slices unfilled.
        let (_, m, s) = parts[parts.len() - 1];
        kept.resize(n, (1.0 / n as f64, m, s));
        kept
    }

    /// A random value.
    pub fn sample(&self, random: &mut Random) -> f64 {
        let i = pick(&self.weights, random.random());
        let noise: f64 = random.sample(StandardNormal);
        self.means[i] + self.std_devs[i] * noise
    }
}

/// E|δ + σ ε| for a standard normal ε.
fn mean_abs(delta: f64, std_dev: f64) -> f64 {
    let z = delta / std_dev;
    let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
    2.0 * std_dev * density + delta * (1.0 - 2.0 * normal_cdf(-z))
}

/// Φ(z) to a relative error of 1e-10, in the lower tail too.
pub(crate) fn normal_cdf(z: f64) -> f64 {
    0.5 * erfc(-z * FRAC_1_SQRT_2)
}

fn normal_quantile(q: f64) -> f64 {
    -std::f64::consts::SQRT_2 * erfc_inv(2.0 * q)
}

/// log Σ exp, −∞ for no terms.
pub(crate) fn log_sum_exp(terms: Vec<f64>) -> f64 {
    let largest = terms.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + terms.iter().map(|term| (term - largest).exp()).sum::<f64>().ln()
}

/// The index in which a `uniform` number of [0, 1) falls when weights that sum to 1 are laid end to end.
pub(crate) fn pick(weights: &[f64], uniform: f64) -> usize {
    let mut left = uniform;
    let mut last = 0;
    for (i, &w) in weights.iter().enumerate().filter(|&(_, &w)| w > 0.0) {
        if left < w {
            return i;
        }
        left -= w;
        last = i;
    }
    last
}

/// # Errors
/// [`Error::Shape`] without weights, [`Error::Setting`] for one below 0 or not finite, or a total of 0.
pub(crate) fn check_weights(weights: &[f64]) -> Result<f64> {
    if weights.is_empty() {
        return Err(Error::shape("weights", "at least one", 0));
    }
    if let Some((i, w)) = weights.iter().enumerate().find(|(_, w)| !(w.is_finite() && **w >= 0.0)) {
        return Err(Error::setting(
            "weights",
            format!("found {w} at {i}; expected finite numbers, 0 or more"),
        ));
    }
    let total: f64 = weights.iter().sum();
    if total > 0.0 && total.is_finite() {
        return Ok(total);
    }
    Err(Error::setting("weights", format!("they sum to {total}; expected a finite total above 0")))
}

/// # Errors
/// [`Error::NotFinite`] naming the first value that is not finite.
pub(crate) fn check_finite(what: &str, values: &[f64]) -> Result<()> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(i) => Err(Error::NotFinite { what: format!("{what} {i}"), value: values[i], hint: "" }),
        None => Ok(()),
    }
}

/// # Errors
/// [`Error::Setting`] for the first value that is not finite and above 0.
pub(crate) fn check_positive(name: &str, values: &[f64]) -> Result<()> {
    match values.iter().position(|value| !(value.is_finite() && *value > 0.0)) {
        Some(i) => {
            Err(Error::setting(name, format!("found {} at {i}; expected finite numbers above 0", values[i])))
        }
        None => Ok(()),
    }
}

/// # Errors
/// [`Error::Setting`] unless 0 < `level` < 1.
pub(crate) fn check_level(name: &str, level: f64) -> Result<()> {
    if level > 0.0 && level < 1.0 {
        return Ok(());
    }
    Err(Error::setting(name, format!("found {level}; expected a number between 0 and 1, both excluded")))
}

#[cfg(test)]
#[path = "marginal_tests.rs"]
mod tests;
