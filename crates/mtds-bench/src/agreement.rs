//! Whether two engines did the same work.
//!
//! ```text
//! training step   max over loss and gradient norms of |a - b| / |b|                          ≤ 1e-5, with products in tf32 ≤ 1e-3
//! posteriors      rms over sequences and coordinates of
//!                 (mean_a - mean_b) / sqrt(std_a² / ESS_a + std_b² / ESS_b)                  ≤ 6
//! forecasts       the same quotient of predicted means: root mean square over the steps of
//!                 a sequence, median over sequences                                          ≤ 4
//! ```
//!
//! The second would be near 1 for independent draws. Self-normalised importance draws have heavier
//! errors than the ESS says. All pairs of 12 seeds of one engine: medians 1.8 (early stop), 2.0, largest 4.8;
//! against outputs shifted by one step 19 to 28, against a prior ten times weaker 10 to 20. It catches
//! gross mistakes only: a noise 1.6 times too large gives 2.5 to 4, and one update too few 5 to 6.

use mtds::parts::effective_draws;
use serde::Serialize;

use crate::check::{Check, ForecastCheck, PosteriorCheck, StepCheck};
use crate::report::median;

/// Five digits.
pub const STEP_TOLERANCE: f64 = 1e-5;
/// Three digits, for products of factors with ten bits.
pub const ROUNDED_STEP_TOLERANCE: f64 = 1e-3;
/// In standard errors, root mean square.
pub const POSTERIOR_TOLERANCE: f64 = 6.0;
/// In standard errors; a chain that sits at another mode is left to the median.
pub const FORECAST_TOLERANCE: f64 = 4.0;

/// How far an engine's numbers are from the reference's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Agreement {
    /// Name of the work.
    pub work: String,
    /// The engine that was compared.
    pub engine: String,
    /// The engine that it was compared with.
    pub reference: String,
    /// The distance; infinite (null in JSON) where the two cannot be compared.
    pub difference: f64,
    /// The largest distance that counts as agreement.
    pub tolerance: f64,
    /// Whether the two agree.
    pub agrees: bool,
    /// The comparison in words.
    pub detail: String,
}

impl Agreement {
    /// The same where both rounded the factors of their products.
    #[must_use]
    pub fn of_rounded(self) -> Self {
        let tolerance = ROUNDED_STEP_TOLERANCE;
        Self { tolerance, agrees: self.difference <= tolerance, ..self }
    }
}

/// Compares `found` with `reference`; both come with the engine's name.
pub fn compare(work: &str, found: (&str, &Check), reference: (&str, &Check)) -> Agreement {
    let (difference, tolerance, detail) = match (found.1, reference.1) {
        (Check::Step(a), Check::Step(b)) => step(a, b),
        (Check::Posterior(a), Check::Posterior(b)) => posterior(a, b),
        (Check::Forecast(a), Check::Forecast(b)) => forecast(a, b),
        _ => (f64::INFINITY, STEP_TOLERANCE, "two different kinds of numbers".to_string()),
    };
    Agreement {
        work: work.to_string(),
        engine: found.0.to_string(),
        reference: reference.0.to_string(),
        difference,
        tolerance,
        agrees: difference <= tolerance,
        detail,
    }
}

fn step(a: &StepCheck, b: &StepCheck) -> (f64, f64, String) {
    if !a.gradient_norms.keys().eq(b.gradient_norms.keys()) {
        return (f64::INFINITY, STEP_TOLERANCE, "gradient norms of different parameters".to_string());
    }
    let norms = a.gradient_norms.iter().zip(b.gradient_norms.values());
    let pairs = norms.map(|((name, &a), &b)| (name.as_str(), a, b)).chain([("loss", a.loss, b.loss)]);
    let (name, difference) = pairs
        .map(|(name, a, b)| (name, relative(a, b)))
        .max_by(|x, y| x.1.total_cmp(&y.1))
        .unwrap_or(("loss", f64::INFINITY));
    let detail = format!("largest relative difference {difference:.1e}, in {name}; loss {:.6}", a.loss);
    (difference, STEP_TOLERANCE, detail)
}

/// What a chain says of the predicted mean at one step.
struct Step {
    mean: f64,
    squared_error: f64,
    ess: f64,
}

/// One entry per step of a sequence.
fn steps(draws: &[Vec<f64>]) -> Vec<Step> {
    let n = draws.len() as f64;
    let step = |t: usize| {
        let series: Vec<f64> = draws.iter().map(|draw| draw[t]).collect();
        let mean = series.iter().sum::<f64>() / n;
        let variance = series.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        let ess = effective_draws(&[&series]).unwrap_or(1.0);
        Step { mean, squared_error: variance / ess, ess }
    };
    (0..draws.first().map_or(0, Vec::len)).map(step).collect()
}

/// Root mean square distance over the steps, in standard errors.
fn apart(a: &[Step], b: &[Step]) -> f64 {
    let square = |(a, b): (&Step, &Step)| (a.mean - b.mean).powi(2) / (a.squared_error + b.squared_error);
    let off = (a.iter().zip(b).map(square).sum::<f64>() / a.len() as f64).sqrt();
    if off.is_nan() { f64::INFINITY } else { off }
}

fn forecast(a: &ForecastCheck, b: &ForecastCheck) -> (f64, f64, String) {
    let all = |check: &ForecastCheck| check.predicted.iter().map(|draws| steps(draws)).collect::<Vec<_>>();
    let (ours, theirs) = (all(a), all(b));
    let pairs = || ours.iter().zip(&theirs);
    if ours.len() != theirs.len() || pairs().any(|(a, b)| a.len() != b.len() || a.is_empty()) {
        return (f64::INFINITY, FORECAST_TOLERANCE, "forecasts of different sequences".to_string());
    }
    let difference = median(&pairs().map(|(a, b)| apart(a, b)).collect::<Vec<_>>()).unwrap_or(f64::INFINITY);
    let listed = |values: Vec<f64>, digits: usize| {
        values.iter().map(|v| format!("{v:.digits$}")).collect::<Vec<_>>().join(" ")
    };
    let middle = |steps: &Vec<Step>| median(&steps.iter().map(|s| s.ess).collect::<Vec<_>>());
    let effective = |of: &[Vec<Step>]| listed(of.iter().filter_map(middle).collect(), 0);
    let detail = format!(
        "{difference:.2} standard errors apart (median); effective draws of the predicted means by sequence, \
         median over steps: {}, reference {}; log density of the modes: {}, reference {}",
        effective(&ours),
        effective(&theirs),
        listed(a.mode_log_density.clone(), 1),
        listed(b.mode_log_density.clone(), 1)
    );
    (difference, FORECAST_TOLERANCE, detail)
}

fn relative(a: f64, b: f64) -> f64 {
    let difference = if a == b { 0.0 } else { (a - b).abs() / b.abs() };
    // A NaN must fail the comparison, also where a maximum is taken.
    if difference.is_nan() { f64::INFINITY } else { difference }
}

fn posterior(a: &PosteriorCheck, b: &PosteriorCheck) -> (f64, f64, String) {
    let same_shape =
        a.mean.len() == b.mean.len() && a.mean.iter().zip(&b.mean).all(|(x, y)| x.len() == y.len());
    if !same_shape || a.mean.is_empty() {
        return (f64::INFINITY, POSTERIOR_TOLERANCE, "posteriors of different sequences".to_string());
    }
    let (mut sum, mut count) = (0.0, 0);
    for i in 0..a.mean.len() {
        for j in 0..a.mean[i].len() {
            let var = a.std_dev[i][j].powi(2) / a.ess[i] + b.std_dev[i][j].powi(2) / b.ess[i];
            sum += (a.mean[i][j] - b.mean[i][j]).powi(2) / var;
            count += 1;
        }
    }
    let rms = (sum / f64::from(count)).sqrt();
    let detail = format!(
        "posterior means {rms:.1} standard errors apart; median ESS {:.0}, passes {}",
        median(&a.ess).unwrap_or(f64::NAN),
        median(&a.passes).unwrap_or(f64::NAN)
    );
    (if rms.is_nan() { f64::INFINITY } else { rms }, POSTERIOR_TOLERANCE, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn step_of(loss: f64, norm: f64) -> Check {
        Check::Step(StepCheck { loss, gradient_norms: BTreeMap::from([("W1".to_string(), norm)]) })
    }

    fn posterior_of(mean: f64, ess: f64) -> Check {
        let (mean, std_dev) = (vec![vec![mean, 0.5]; 3], vec![vec![0.3, 0.3]; 3]);
        Check::Posterior(PosteriorCheck { mean, std_dev, ess: vec![ess; 3], passes: vec![7.0; 3] })
    }

    fn agreement(a: &Check, b: &Check) -> Agreement {
        compare("w2", ("ours", a), ("torch", b))
    }

    #[test]
    fn steps_agree_to_five_digits_and_no_less() {
        let reference = step_of(27.884497, 2.552196);
        assert!(agreement(&step_of(27.884497 * (1.0 + 9e-6), 2.552196), &reference).agrees);
        let off = agreement(&step_of(27.884497, 2.552196 * (1.0 + 2e-5)), &reference);
        assert!(!off.agrees && off.detail.contains("in W1"), "{}", off.detail);
        assert!(!agreement(&step_of(f64::NAN, 2.552196), &reference).agrees);
        assert!(!agreement(&reference, &step_of(27.884497, f64::NAN)).agrees);
    }

    #[test]
    fn posteriors_agree_within_sampling_error() {
        let reference = posterior_of(1.0, 400.0);
        // Standard error 0.3 sqrt(2 / 400) = 0.0212; one of two coordinates differs by two of them.
        let near = agreement(&posterior_of(1.0 + 2.0 * 0.3 * (2.0f64 / 400.0).sqrt(), 400.0), &reference);
        assert!(near.agrees && (near.difference - 2f64.sqrt()).abs() < 1e-9, "{}", near.difference);
        assert!(!agreement(&posterior_of(1.5, 400.0), &reference).agrees);
        assert!(!agreement(&posterior_of(f64::NAN, 400.0), &reference).agrees);
    }

    #[test]
    fn what_cannot_be_compared_does_not_agree() {
        let other = Check::Step(StepCheck { loss: 1.0, gradient_norms: BTreeMap::new() });
        assert!(!agreement(&step_of(1.0, 1.0), &other).agrees);
        assert!(!agreement(&step_of(1.0, 1.0), &posterior_of(1.0, 400.0)).agrees);
        assert!(!agreement(&Check::Posterior(empty()), &Check::Posterior(empty())).agrees);
    }

    /// Two chains of 400 pseudo-independent draws of two steps, the second shifted.
    fn forecast_of(shift: f64) -> Check {
        let unit = |i: usize| (i as f64 * 0.754_877_666).fract() - 0.5;
        let draws: Vec<Vec<f64>> = (0..400).map(|i| vec![unit(i) + shift, unit(i + 1000) + shift]).collect();
        Check::Forecast(ForecastCheck { predicted: vec![draws], mode_log_density: vec![12.5] })
    }

    #[test]
    fn forecasts_agree_within_sampling_error() {
        let near = agreement(&forecast_of(0.001), &forecast_of(0.0));
        assert!(near.agrees && near.detail.contains("modes: 12.5, reference 12.5"), "{}", near.detail);
        let far = agreement(&forecast_of(0.5), &forecast_of(0.0));
        assert!(!far.agrees && far.difference > near.difference, "{}", far.detail);
        assert!(!agreement(&forecast_of(f64::NAN), &forecast_of(0.0)).agrees);
        let none = Check::Forecast(ForecastCheck { predicted: vec![], mode_log_density: vec![] });
        assert!(!agreement(&none, &none).agrees);
        assert!(!agreement(&none, &forecast_of(0.0)).agrees);
    }

    fn empty() -> PosteriorCheck {
        PosteriorCheck { mean: vec![], std_dev: vec![], ess: vec![], passes: vec![] }
    }
}
