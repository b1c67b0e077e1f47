//! How far predictions are from outputs, and the gradient of that.
//!
//! ```text
//! squared error   L = Σ r²                                     r = y − ŷ, over scored values
//! Gaussian        L = Σ ½ (r/s)² + log s + ½ log 2π            s of each output
//! ```

use super::settings::Criterion;

/// Sums over scored values; gradients are those of the sum.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Loss {
    pub(super) sum: f64,
    pub(super) n: usize,
    /// Rows × p.
    pub(super) d_predictions: Vec<f64>,
    /// As many as `log_std`.
    pub(super) d_log_std: Vec<f64>,
}

impl Loss {
    /// `targets` are NaN where nothing is scored; `log_std` has an entry per output for the Gaussian, none otherwise.
    pub(super) fn of(criterion: Criterion, predictions: &[f64], targets: &[f64], log_std: &[f64]) -> Self {
        let mut loss = Self {
            sum: 0.0,
            n: 0,
            d_predictions: vec![0.0; targets.len()],
            d_log_std: vec![0.0; log_std.len()],
        };
        let half_log_two_pi = 0.5 * (2.0 * std::f64::consts::PI).ln();
        for (at, (&target, prediction)) in targets.iter().zip(predictions).enumerate() {
            if target.is_nan() {
                continue;
            }
            let r = target - prediction;
            loss.n += 1;
            match criterion {
                Criterion::SquaredError => {
                    loss.sum += r * r;
                    loss.d_predictions[at] = -2.0 * r;
                }
                Criterion::Gaussian => {
                    let d = at % log_std.len();
                    let precision = (-2.0 * log_std[d]).exp();
                    loss.sum += 0.5 * r * r * precision + log_std[d] + half_log_two_pi;
                    loss.d_predictions[at] = -r * precision;
                    loss.d_log_std[d] += 1.0 - r * r * precision;
                }
            }
        }
        loss
    }

    /// The mean over scored values, 0 where there are none.
    pub(super) fn mean(&self) -> f64 {
        self.sum / self.n.max(1) as f64
    }

    /// The same loss with the gradients of the mean.
    pub(super) fn averaged(mut self) -> Self {
        let share = 1.0 / self.n.max(1) as f64;
        self.d_predictions.iter_mut().chain(&mut self.d_log_std).for_each(|d| *d *= share);
        self
    }
}
