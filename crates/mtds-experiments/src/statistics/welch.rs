//! Welch's t-test: do two samples of different variance have the same mean?
//!
//! ```text
//! t = (ā − b̄) / √(v_a + v_b)        v = sample variance / n
//! ν = (v_a + v_b)² / (v_a²/(n_a − 1) + v_b²/(n_b − 1))
//! p = P(|T_ν| ≥ |t|)
//! ```
//!
//! Reference: Welch (1947), Biometrika 34.

use mtds::{Error, Result};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::check_sample;

/// The result of Welch's t-test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Welch {
    /// t; below 0 when the first sample has the smaller mean.
    pub statistic: f64,
    /// Degrees of freedom ν.
    pub degrees_of_freedom: f64,
    /// Two-sided p-value.
    pub p_value: f64,
}

/// Tests whether `a` and `b` have the same mean.
///
/// # Errors
/// [`Error::Shape`] for a sample of fewer than two values; [`Error::NotFinite`] for a value that is not finite;
/// [`Error::Setting`] when neither sample varies.
pub fn welch(a: &[f64], b: &[f64]) -> Result<Welch> {
    check_sample(a, 2)?;
    check_sample(b, 2)?;
    let ((mean_a, v_a), (mean_b, v_b)) = (mean_and_var_of_mean(a), mean_and_var_of_mean(b));
    let var = v_a + v_b;
    if var == 0.0 {
        let why = "neither sample varies; expected at least one with two different values".into();
        return Err(Error::Setting { name: "samples".into(), why });
    }
    let statistic = (mean_a - mean_b) / var.sqrt();
    let (share_a, share_b) = (v_a / var, v_b / var);
    let nu = 1.0 / (share_a * share_a / (a.len() - 1) as f64 + share_b * share_b / (b.len() - 1) as f64);
    let null = StudentsT::new(0.0, 1.0, nu)
        .map_err(|error| Error::Setting { name: "degrees of freedom".into(), why: error.to_string() })?;
    // The upper tail keeps its digits where 1 − cdf would have none left.
    let p_value = 2.0 * null.sf(statistic.abs());
    Ok(Welch { statistic, degrees_of_freedom: nu, p_value })
}

fn mean_and_var_of_mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, squares / ((n - 1.0) * n))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `scipy.stats.ttest_ind(a, b, equal_var=False)`: statistic, df, pvalue (SciPy 1.17.1).
    fn assert_is(a: &[f64], b: &[f64], [statistic, df, p_value]: [f64; 3]) {
        let found = welch(a, b).unwrap();
        let close = |x: f64, y: f64| (x - y).abs() < 1e-9 * y.abs();
        assert!(close(found.statistic, statistic) && close(found.degrees_of_freedom, df), "{found:?}");
        assert!(close(found.p_value, p_value), "{found:?}");
        let turned = welch(b, a).unwrap();
        assert_eq!((turned.statistic, turned.p_value), (-found.statistic, found.p_value));
    }

    #[test]
    fn agrees_with_scipy() {
        assert_is(
            &[0.36, 0.31, 0.42, 0.29, 0.35, 0.40, 0.33, 0.38, 0.30, 0.37],
            &[0.21, 0.25, 0.18, 0.30, 0.22, 0.19, 0.27, 0.24, 0.20, 0.26],
            [6.490909090909088, 17.758177313909275, 4.475799946545361e-06],
        );
        assert_is(
            &[1.5, 2.5, 3.5],
            &[0.5, 4.5, 9.0, 100.0],
            [-1.0877090220497556, 3.0035018584989124, 0.35621694526124165],
        );
        assert_is(
            &[1.0, 2.0, 3.0],
            &[1.5, 2.0, 3.5, 2.0],
            [-0.34641016151377546, 4.032258064516128, 0.7463566634613154],
        );
        let a: Vec<f64> = (0..10).map(|k| 0.1 + 0.001 * f64::from(k)).collect();
        let b: Vec<f64> = (0..7).map(|k| 0.5 + 0.002 * f64::from(k * k)).collect();
        assert_is(&a, &b, [-41.150520887842276, 6.1059191217855675, 1.068555740772044e-08]);
    }

    #[test]
    fn one_sample_may_be_constant() {
        let found = welch(&[2.0, 2.0], &[1.0, 2.0, 3.0]).unwrap();
        assert_eq!((found.statistic, found.degrees_of_freedom, found.p_value), (0.0, 2.0, 1.0));
    }

    #[test]
    fn what_cannot_be_tested_is_refused() {
        assert!(matches!(welch(&[1.0], &[1.0, 2.0]), Err(Error::Shape { .. })));
        assert!(matches!(welch(&[1.0, f64::NAN], &[1.0, 2.0]), Err(Error::NotFinite { .. })));
        assert!(matches!(welch(&[1.0, 1.0], &[2.0, 2.0]), Err(Error::Setting { .. })));
    }
}
