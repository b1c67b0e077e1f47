//! Kernel density estimates, for violins.
//!
//! ```text
//! f(x) = 1/(n h) Σ_i N((x − x_i)/h | 0, 1)
//! h    = 0.9 min(σ, (Q₃ − Q₁)/1.34) n^(−1/5)          σ alone where the quartiles coincide
//! ```
//!
//! Reference: Silverman (1986), Density Estimation for Statistics and Data Analysis, eq 3.31.

use super::sample::Sample;
use std::f64::consts::TAU;

/// Silverman's bandwidth h; `None` for fewer than two values or values that do not differ.
pub fn silverman_bandwidth(sample: &Sample) -> Option<f64> {
    let values = sample.values();
    // Compared, not computed: the mean of equal values need not be one of them.
    if values.first() == values.last() {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let std_dev = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    let quartiles = (sample.quantile(0.75)? - sample.quantile(0.25)?) / 1.34;
    let spread = if quartiles > 0.0 { std_dev.min(quartiles) } else { std_dev };
    Some(0.9 * spread * n.powf(-0.2)).filter(|h| h.is_finite() && *h > 0.0)
}

/// The density estimate f at `x`.
pub fn kernel_density(values: &[f64], bandwidth: f64, x: f64) -> f64 {
    let kernel = |v: &f64| (-0.5 * ((x - v) / bandwidth).powi(2)).exp();
    values.iter().map(kernel).sum::<f64>() / (values.len() as f64 * bandwidth * TAU.sqrt())
}

#[cfg(test)]
mod tests {
    use super::super::scale::Spacing;
    use super::*;

    #[test]
    fn the_estimate_integrates_to_one() {
        let sample = Sample::new(&[0.3, 1.1, 1.2, 1.9, 4.0], Spacing::Linear);
        let h = silverman_bandwidth(&sample).unwrap();
        let step = 0.01;
        let total: f64 =
            (-1000..2000).map(|i| step * kernel_density(sample.values(), h, step * f64::from(i))).sum();
        assert!((total - 1.0).abs() < 1e-6, "{total}");
    }

    #[test]
    fn the_bandwidth_is_silvermans() {
        // Standard deviation √2.5 = 1.58; quartiles 2 and 4, over 1.34: 1.49, the smaller.
        let h = silverman_bandwidth(&Sample::new(&[1.0, 2.0, 3.0, 4.0, 5.0], Spacing::Linear)).unwrap();
        assert!((h - 0.9 * (2.0 / 1.34) * 5f64.powf(-0.2)).abs() < 1e-12, "{h}");
        // Quartiles coincide: the standard deviation, 2/√5 = 0.894, is taken.
        let h = silverman_bandwidth(&Sample::new(&[1.0, 1.0, 1.0, 1.0, 3.0], Spacing::Linear)).unwrap();
        assert!((h - 0.9 * 0.8f64.sqrt() * 5f64.powf(-0.2)).abs() < 1e-12, "{h}");
    }

    #[test]
    fn samples_without_spread_have_no_bandwidth() {
        for values in [&[][..], &[1.0], &[0.4, 0.4, 0.4, 0.4, 0.4]] {
            assert_eq!(silverman_bandwidth(&Sample::new(values, Spacing::Linear)), None, "{values:?}");
        }
    }
}
