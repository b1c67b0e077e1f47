//! Weights in logarithms: effective sample size, mean, and systematic resampling.

/// log of the mean of exp(xᵢ); xᵢ finite and at least one.
pub(crate) fn log_mean_exp(values: &[f64]) -> f64 {
    let largest = values.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
    let total: f64 = values.iter().map(|value| (value - largest).exp()).sum();
    largest + (total / values.len() as f64).ln()
}

/// exp(xᵢ) / Σ exp(x).
pub(super) fn normalised(log_weights: &[f64]) -> Vec<f64> {
    let largest = log_weights.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
    let mut weights: Vec<f64> = log_weights.iter().map(|x| (x - largest).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= total);
    weights
}

/// (Σ w)² / Σ w² for the weights exp(xᵢ + share · termᵢ).
pub(super) fn tempered_ess(log_weights: &[f64], terms: &[f64], share: f64) -> f64 {
    let tempered = || log_weights.iter().zip(terms).map(|(x, term)| x + share * term);
    let largest = tempered().fold(f64::NEG_INFINITY, f64::max);
    let (mut sum, mut squares) = (0.0, 0.0);
    for x in tempered() {
        let w = (x - largest).exp();
        sum += w;
        squares += w * w;
    }
    sum * sum / squares
}

/// The indices of `n` draws at positions (offset + i) / n of the weights laid end to end, in order.
///
/// `weights` sum to 1 and `offset` lies in [0, 1); every index then comes ⌊n w⌋ or ⌈n w⌉ times.
#[must_use]
pub fn systematic(weights: &[f64], n: usize, offset: f64) -> Vec<usize> {
    let mut chosen = Vec::with_capacity(n);
    let mut below = 0.0;
    for (i, w) in weights.iter().enumerate() {
        below += w;
        while chosen.len() < n && (chosen.len() as f64 + offset) / (n as f64) < below {
            chosen.push(i);
        }
    }
    // Only rounding of the total can leave the last positions without an index.
    let last = weights.iter().rposition(|&w| w > 0.0).unwrap_or(0);
    chosen.resize(n, last);
    chosen
}
