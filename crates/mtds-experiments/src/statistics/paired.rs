//! The paired t-test: is the mean of differences 0?
//!
//! ```text
//! d_i = a_i − b_i        t = d̄ / √(v / n)        v = sample variance of d        ν = n − 1        p = P(|T_ν| ≥ |t|)
//! ```

use mtds::{Error, Result};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::check_sample;

/// The result of a paired t-test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Paired {
    /// The mean difference; below 0 when the first of a pair is smaller.
    pub difference: f64,
    /// Its standard error.
    pub std_error: f64,
    /// t.
    pub statistic: f64,
    /// Degrees of freedom ν.
    pub degrees_of_freedom: f64,
    /// Two-sided p-value.
    pub p_value: f64,
}

/// Tests whether pairs differ in the mean.
///
/// # Errors
/// [`Error::Shape`] for fewer than two pairs or samples of different lengths; [`Error::NotFinite`] for a value that is not finite;
/// [`Error::Setting`] when all differences are the same.
pub fn paired(a: &[f64], b: &[f64]) -> Result<Paired> {
    check_sample(a, 2)?;
    check_sample(b, 2)?;
    if a.len() != b.len() {
        let (expected, found) = (a.len().to_string(), b.len().to_string());
        return Err(Error::Shape { what: "pairs of a significance test".into(), expected, found });
    }
    let n = a.len() as f64;
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let mean = differences.iter().sum::<f64>() / n;
    let squares: f64 = differences.iter().map(|d| (d - mean).powi(2)).sum();
    let std_error = (squares / ((n - 1.0) * n)).sqrt();
    if std_error == 0.0 {
        let why = "all differences are the same; expected at least two different ones".into();
        return Err(Error::Setting { name: "pairs".into(), why });
    }
    let (statistic, degrees_of_freedom) = (mean / std_error, n - 1.0);
    let null = StudentsT::new(0.0, 1.0, degrees_of_freedom)
        .map_err(|error| Error::Setting { name: "degrees of freedom".into(), why: error.to_string() })?;
    // The upper tail keeps its digits where 1 − cdf would have none left.
    let p_value = 2.0 * null.sf(statistic.abs());
    Ok(Paired { difference: mean, std_error, statistic, degrees_of_freedom, p_value })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Differences −3, −1, −2, −2: mean −2, variance 2/3, t = −2 / √(1/6); P(|T₃| ≥ t) in closed form.
    #[test]
    fn agrees_with_the_closed_form_of_three_degrees_of_freedom() {
        let found = paired(&[1.0, 2.0, 3.0, 4.0], &[4.0, 3.0, 5.0, 6.0]).unwrap();
        let t = 2.0 / (1.0f64 / 6.0).sqrt();
        assert!((found.statistic + t).abs() < 1e-12 && (found.difference + 2.0).abs() < 1e-12);
        // P(|T₃| ≥ t) = 1 − 2/π (θ + sin θ cos θ), θ = atan(t / √3).
        let theta = (t / 3f64.sqrt()).atan();
        let p = 1.0 - 2.0 / std::f64::consts::PI * (theta + theta.sin() * theta.cos());
        assert!((found.p_value - p).abs() < 1e-9, "{found:?} {p}");
        let turned = paired(&[4.0, 3.0, 5.0, 6.0], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!((turned.statistic, turned.p_value), (-found.statistic, found.p_value));
    }

    #[test]
    fn what_cannot_be_tested_is_refused() {
        assert!(matches!(paired(&[1.0], &[2.0]), Err(Error::Shape { .. })));
        assert!(matches!(paired(&[1.0, 2.0], &[2.0, 1.0, 3.0]), Err(Error::Shape { .. })));
        assert!(matches!(paired(&[1.0, 2.0], &[2.0, 3.0]), Err(Error::Setting { .. })));
        assert!(matches!(paired(&[1.0, f64::NAN], &[2.0, 3.0]), Err(Error::NotFinite { .. })));
    }
}
