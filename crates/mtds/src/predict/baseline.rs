//! Forecasts that learn almost nothing: the last value holds, or the family's mean at each step.
//!
//! ```text
//! last value    y_{t+h} ~ N(y_t, s_h²)        s_h² = mean of (y_{t+h} − y_t)² over all t and training sequences
//! family mean   y_τ     ~ N(m_τ, s_τ²)        mean and variance over the training sequences at step τ
//! ```
//!
//! Each variance is joined by one pseudo-observation of the output's overall variance v,
//! (Σ r² + v) / (n + 1), so that a horizon seen once or twice does not claim certainty.

use super::forecast::Forecast;
use super::noise::DrawNoise;
use crate::{Error, Result};

/// Forecasts that every output keeps the last value observed of it.
///
/// # Shapes
/// `training`: sequences, each `n_i × d_obs`; `past`: `n × d_obs`, any `n`; NaN where missing. The forecast has
/// `n_time` rows, the first right after the past. An output that the past never shows gets the training mean.
///
/// # Errors
/// [`Error::Shape`] for sizes that do not fit, [`Error::NotFinite`] for an infinite value,
/// [`Error::EmptyFamily`] when training never shows one of the outputs.
pub fn last_value(training: &[&[f64]], past: &[f64], d_obs: usize, n_time: usize) -> Result<Forecast> {
    let overall = overall(training, d_obs)?;
    check_signal("past", past, d_obs)?;
    let mut means = vec![0.0; n_time * d_obs];
    let mut std_devs = means.clone();
    for c in 0..d_obs {
        let last = past.iter().skip(c).step_by(d_obs).rev().find(|value| !value.is_nan());
        for h in 0..n_time {
            let change = match last {
                Some(_) => changes(training, d_obs, c, h + 1),
                None => Moments::default(),
            };
            means[h * d_obs + c] = *last.unwrap_or(&overall[c].mean());
            std_devs[h * d_obs + c] = steady_std_dev(change.squares, change.n, &overall[c]);
        }
    }
    gaussian(past.len() / d_obs, d_obs, means, std_devs)
}

/// Forecasts the mean of the training sequences at each step, whatever the past was.
///
/// # Shapes
/// `training`: sequences, each `n_i × d_obs`, NaN where missing. The forecast has `n_time` rows from
/// `first_step` on. A step that training never shows gets the mean over all steps.
///
/// # Errors
/// As for [`last_value`].
pub fn family_mean(training: &[&[f64]], d_obs: usize, first_step: usize, n_time: usize) -> Result<Forecast> {
    let overall = overall(training, d_obs)?;
    let mut means = vec![0.0; n_time * d_obs];
    let mut std_devs = means.clone();
    for k in 0..means.len() {
        let at = first_step * d_obs + k;
        let here = Moments::of(training.iter().filter_map(|sequence| sequence.get(at)));
        means[k] = if here.n > 0 { here.mean() } else { overall[k % d_obs].mean() };
        // The mean was fitted to the same values: one degree of freedom less.
        std_devs[k] = steady_std_dev(here.centred_squares(), here.n.saturating_sub(1), &overall[k % d_obs]);
    }
    gaussian(first_step, d_obs, means, std_devs)
}

/// Sums over observed values.
#[derive(Clone, Copy, Default)]
struct Moments {
    n: usize,
    sum: f64,
    squares: f64,
    /// Subtracted beforehand, to keep digits: the first value seen.
    origin: f64,
}

impl Moments {
    fn of<'a>(values: impl Iterator<Item = &'a f64>) -> Self {
        let mut moments = Self::default();
        for &value in values.filter(|value| !value.is_nan()) {
            if moments.n == 0 {
                moments.origin = value;
            }
            moments.add(value - moments.origin);
        }
        moments
    }

    fn add(&mut self, value: f64) {
        self.n += 1;
        self.sum += value;
        self.squares += value * value;
    }

    fn mean(&self) -> f64 {
        self.origin + self.sum / self.n.max(1) as f64
    }

    fn centred_squares(&self) -> f64 {
        (self.squares - self.sum * self.sum / self.n.max(1) as f64).max(0.0)
    }
}

/// Moments of the changes of output `c` over `h` steps, both ends observed.
fn changes(training: &[&[f64]], d_obs: usize, c: usize, h: usize) -> Moments {
    let mut moments = Moments::default();
    for sequence in training {
        let outputs = || sequence.iter().skip(c).step_by(d_obs);
        let pairs = outputs().zip(outputs().skip(h));
        pairs
            .map(|(before, after)| after - before)
            .filter(|change| !change.is_nan())
            .for_each(|x| moments.add(x));
    }
    moments
}

/// The standard deviation from `n` squared errors and one pseudo-observation of the overall variance.
fn steady_std_dev(squares: f64, n: usize, overall: &Moments) -> f64 {
    let variance = overall.centred_squares() / overall.n.max(1) as f64;
    // Constant training data would claim certainty; a forecast's density must stay finite.
    let floor = 1e-6 * overall.mean().abs().max(1e-6);
    ((squares + variance) / (n as f64 + 1.0)).sqrt().max(floor)
}

fn overall(training: &[&[f64]], d_obs: usize) -> Result<Vec<Moments>> {
    if d_obs == 0 {
        return Err(Error::shape("outputs", "at least 1", 0));
    }
    training
        .iter()
        .enumerate()
        .try_for_each(|(i, sequence)| check_signal(&format!("training sequence {i}"), sequence, d_obs))?;
    let output = |c| {
        let moments =
            Moments::of(training.iter().flat_map(|sequence| sequence.iter().skip(c).step_by(d_obs)));
        match moments.n {
            0 => Err(Error::EmptyFamily(format!("output {c} is never observed in training"))),
            _ => Ok(moments),
        }
    };
    (0..d_obs).map(output).collect()
}

fn check_signal(what: &str, values: &[f64], d_obs: usize) -> Result<()> {
    if !values.len().is_multiple_of(d_obs) {
        return Err(Error::shape(
            what,
            format!("a multiple of {d_obs} outputs"),
            format!("{} numbers", values.len()),
        ));
    }
    match values.iter().position(|value| value.is_infinite()) {
        Some(k) => {
            let what = format!("output {} of {what} at step {}", k % d_obs, k / d_obs);
            Err(Error::NotFinite { what, value: values[k], hint: "; write NaN for a missing output" })
        }
        None => Ok(()),
    }
}

fn gaussian(first_step: usize, d_obs: usize, means: Vec<f64>, std_devs: Vec<f64>) -> Result<Forecast> {
    Forecast::new(first_step, d_obs, vec![1.0], means, DrawNoise::DiagonalByStep(std_devs))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAN: f64 = f64::NAN;

    fn std_devs(forecast: &Forecast) -> Vec<f64> {
        forecast.variance().into_iter().map(f64::sqrt).collect()
    }

    #[test]
    fn last_value_holds_and_spreads_by_horizon() {
        let rising = [0.0, 1.0, 2.0, 3.0];
        let gap = [1.0, NAN, 1.0];
        let forecast = last_value(&[&rising, &gap], &[5.0, 7.0, NAN], 1, 3).unwrap();
        assert_eq!((forecast.first_step(), forecast.mean()), (3, vec![7.0; 3]));
        // 0 1 2 3 1 1 has the variance 16/6 − (8/6)² = 8/9. Squared changes by horizon: 1 1 1; 4 4 0; 9.
        let v = 8.0 / 9.0;
        let expected = [(3.0 + v) / 4.0, (8.0 + v) / 4.0, (9.0 + v) / 2.0];
        for (found, expected) in std_devs(&forecast).iter().zip(expected) {
            assert!((found * found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn last_value_of_an_output_never_seen_is_the_training_mean() {
        let training = [1.0, 10.0, 3.0, 20.0];
        let forecast = last_value(&[&training], &[4.0, NAN], 2, 1).unwrap();
        assert_eq!(forecast.mean(), [4.0, 15.0]);
        assert!((std_devs(&forecast)[1] - 5.0).abs() < 1e-12);
        let from_nothing = last_value(&[&training], &[], 2, 1).unwrap();
        assert_eq!((from_nothing.first_step(), from_nothing.mean()), (0, vec![2.0, 15.0]));
    }

    #[test]
    fn family_mean_is_by_step_and_falls_back_beyond_training() {
        let (a, b) = ([0.0, 1.0, 2.0], [0.0, 3.0]);
        let forecast = family_mean(&[&a, &b], 1, 1, 3).unwrap();
        assert_eq!(forecast.mean(), [2.0, 2.0, 1.2]);
        let v = 1.36;
        let expected = [(2.0 + v) / 2.0, v, v];
        for (found, expected) in std_devs(&forecast).iter().zip(expected) {
            assert!((found * found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn constant_training_still_gives_a_density() {
        for level in [0.0, 2.0, 1e9] {
            let training = [level; 5];
            let forecast = last_value(&[&training], &[level], 1, 2).unwrap();
            assert!(forecast.log_density(1, &[level]).unwrap().is_finite());
            assert!(
                family_mean(&[&training], 1, 0, 2).unwrap().log_density(0, &[level]).unwrap().is_finite()
            );
        }
    }

    #[test]
    fn bad_input_is_refused() {
        let good = [0.0, 1.0];
        assert!(matches!(last_value(&[], &[], 1, 1), Err(Error::EmptyFamily(_))));
        assert!(matches!(last_value(&[&[NAN, 1.0]], &[], 2, 1), Err(Error::EmptyFamily(_))));
        assert!(matches!(last_value(&[&good], &[1.0], 2, 1), Err(Error::Shape { .. })));
        assert!(matches!(last_value(&[&good], &[], 1, 0), Err(Error::Shape { .. })));
        assert!(matches!(family_mean(&[&good], 0, 0, 1), Err(Error::Shape { .. })));
        assert!(matches!(family_mean(&[&[f64::INFINITY]], 1, 0, 1), Err(Error::NotFinite { .. })));
    }
}
