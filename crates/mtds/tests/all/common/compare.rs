//! Importance draws against exact answers, in units of their own Monte-Carlo error.
//!
//! ```text
//! se(log p(y))² = 1/ESS − 1/n        se(E f)² = Σ w̃_i² (f_i − E f)²          (delta method)
//! ```

use mtds::Posterior;

use super::quadrature::Exact;

/// Probabilities at which quantiles are compared.
pub const LEVELS: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// Standard error of the log evidence.
pub fn evidence_error(posterior: &Posterior) -> f64 {
    (1.0 / posterior.weight_ess() - 1.0 / posterior.weights().len() as f64).max(0.0).sqrt()
}

/// Estimate and standard error of E f(u_d).
pub fn expectation(posterior: &Posterior, d: usize, f: impl Fn(f64) -> f64) -> (f64, f64) {
    let pairs = || posterior.draws().column(d).iter().zip(posterior.weights());
    let mean: f64 = pairs().map(|(&x, w)| w * f(x)).sum();
    let variance: f64 = pairs().map(|(&x, w)| (w * (f(x) - mean)).powi(2)).sum();
    (mean, variance.sqrt())
}

/// Standard deviation of u_d and its standard error.
pub fn deviation(posterior: &Posterior, d: usize) -> (f64, f64) {
    let mean = posterior.mean()[d];
    let (variance, error) = expectation(posterior, d, |x| (x - mean).powi(2));
    (variance.sqrt(), error / (2.0 * variance.sqrt()))
}

/// What may be wrong beside the Monte-Carlo error.
#[derive(Clone, Copy, Debug)]
pub struct Slack {
    /// Of log evidence and probabilities.
    pub mass: f64,
    /// Of mean and deviation, in posterior deviations.
    pub moments: f64,
}

/// The largest distance from exact answers, in standard errors, of evidence, means, deviations, quantiles.
pub fn largest_z(posterior: &Posterior, exact: &Exact, slack: Slack) -> (f64, String) {
    let mut worst = (0.0, String::new());
    let mut note = |what: String, found: f64, wanted: f64, error: f64, slack: f64| {
        let z = ((found - wanted).abs() - slack).max(0.0) / error;
        assert!(z.is_finite(), "{what}: found {found}, expected {wanted}, error {error}");
        if z > worst.0 {
            worst = (z, format!("{what}: found {found}, expected {wanted}, error {error}"));
        }
    };
    let evidence = posterior.log_evidence().unwrap();
    note("log evidence".into(), evidence, exact.log_evidence, evidence_error(posterior), slack.mass);
    for d in 0..posterior.dim() {
        let sd = exact.std_dev[d];
        let (mean, error) = expectation(posterior, d, |x| x);
        note(format!("mean {d}"), mean, exact.mean[d], error, slack.moments * sd);
        let (found, error) = deviation(posterior, d);
        note(format!("deviation {d}"), found, sd, error, slack.moments * sd);
        let quantiles = posterior.quantiles(d, &LEVELS).unwrap();
        for (&level, &quantile) in LEVELS.iter().zip(&quantiles) {
            let (_, error) = expectation(posterior, d, |x| f64::from(u8::from(x <= quantile)));
            note(format!("quantile {level} of {d}"), exact.cdf(d, quantile), level, error, slack.mass);
        }
    }
    worst
}
