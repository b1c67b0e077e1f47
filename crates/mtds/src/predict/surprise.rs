//! Surprise: how much less likely an outcome is than the forecast itself expects, in standard deviations.
//!
//! ```text
//! S(y) = −Σ_t log p(y_t | past)          of the observed values of a block of steps
//! score = Σ_b (S(y_b) − E_b) / √(Σ_b V_b)            E_b, V_b: mean and variance of S(ỹ_b), ỹ_b ~ forecast of block b
//! ```
//! If the sequence is one that the model would make, then given what came before, every y_b has the distribution of ỹ_b:
//! the differences have mean 0 and variance V_b and are uncorrelated, so the score has mean 0 and variance 1, however
//! the steps of a block hang together; for many blocks it is nearly normal. Above 0: less likely than expected, an
//! anomaly; far below 0: more regular than anything the model would make.

use super::Forecast;
use crate::random::Random;
use crate::{Error, Result};

/// What one block of steps adds to the surprise of a sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surprise {
    /// S of what came, in nats; summed over blocks.
    pub nll: f64,
    /// What the forecasts expected of it.
    pub expected: f64,
    /// Its variance under the forecasts.
    pub variance: f64,
    /// Values that entered.
    pub n_observed: usize,
}

impl Surprise {
    /// The surprise of `truth` under `forecast`, by `n_draws` outcomes of the forecast itself.
    ///
    /// # Shapes
    /// `truth`: n_time × d_obs, NaN where missing; what is missing there is left out of the draws, too.
    ///
    /// # Errors
    /// [`Error::Shape`] when the truth does not fit, [`Error::NotFinite`] for an infinite output, [`Error::Setting`] for
    /// fewer than two draws.
    pub fn of(forecast: &Forecast, truth: &[f64], n_draws: usize, random: &mut Random) -> Result<Self> {
        if n_draws < 2 {
            return Err(Error::setting("n_draws", format!("found {n_draws}; expected 2 or more")));
        }
        let (n_time, d) = (forecast.n_time(), forecast.d_obs());
        if truth.len() != n_time * d {
            let expected = format!("{n_time} steps × {d} outputs");
            return Err(Error::shape("true future", expected, format!("{} numbers", truth.len())));
        }
        let nll = |values: &[f64]| -> Result<f64> {
            let rows = values.chunks_exact(d).enumerate();
            Ok(-rows.map(|(t, row)| forecast.log_density(t, row)).sum::<Result<f64>>()?)
        };
        let mut draws = forecast.draws(n_draws, random);
        for path in draws.chunks_exact_mut(truth.len()) {
            path.iter_mut().zip(truth).filter(|(_, y)| y.is_nan()).for_each(|(x, _)| *x = f64::NAN);
        }
        let simulated = draws.chunks_exact(truth.len()).map(nll).collect::<Result<Vec<f64>>>()?;
        let expected = simulated.iter().sum::<f64>() / n_draws as f64;
        let squares: f64 = simulated.iter().map(|s| (s - expected).powi(2)).sum();
        Ok(Self {
            nll: nll(truth)?,
            expected,
            variance: squares / (n_draws - 1) as f64,
            n_observed: truth.iter().filter(|y| !y.is_nan()).count(),
        })
    }

    /// Both blocks together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            nll: self.nll + other.nll,
            expected: self.expected + other.expected,
            variance: self.variance + other.variance,
            n_observed: self.n_observed + other.n_observed,
        }
    }

    /// The score; `None` where nothing was observed.
    #[must_use]
    pub fn score(&self) -> Option<f64> {
        (self.n_observed > 0 && self.variance > 0.0)
            .then(|| (self.nll - self.expected) / self.variance.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::DrawNoise;
    use crate::random::stream;

    /// Two equally likely paths of three steps, one output: the steps of a block hang together.
    fn forecast() -> Forecast {
        let means = vec![0.0, 1.0, 2.0, 0.5, -1.0, -3.0];
        Forecast::new(0, 1, vec![0.5, 0.5], means, DrawNoise::Diagonal(vec![0.5, 0.8])).unwrap()
    }

    /// Mean 0 and variance 1 over 2000 sequences of four blocks that the forecast itself made. Bounds are 4 standard
    /// errors (kurtosis at most 5): false alarm below 1 in 5000.
    #[test]
    fn outcomes_of_the_forecast_have_mean_zero_and_variance_one() {
        let (forecast, mut random) = (forecast(), stream(90, 0));
        let scores: Vec<f64> = (0..2000)
            .map(|_| {
                let mut total = Surprise::default();
                for _ in 0..4 {
                    let mut truth = forecast.draws(1, &mut random);
                    truth[1] = f64::NAN;
                    total = total.and(Surprise::of(&forecast, &truth, 50, &mut random).unwrap());
                }
                assert_eq!(total.n_observed, 8);
                total.score().unwrap()
            })
            .collect();
        let n = scores.len() as f64;
        let mean = scores.iter().sum::<f64>() / n;
        let variance = scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (n - 1.0);
        assert!(mean.abs() < 4.0 / n.sqrt(), "{mean}");
        // 50 draws make the expectation uncertain by 1/50 of the variance; room for it.
        assert!((variance - 1.02).abs() < 0.02 + 4.0 * 2.0 / n.sqrt(), "{variance}");
    }

    #[test]
    fn what_the_forecast_excludes_scores_high_and_what_is_too_regular_low() {
        let (forecast, mut random) = (forecast(), stream(91, 0));
        let mut score = |truth: [f64; 3]| {
            let one = Surprise::of(&forecast, &truth, 400, &mut random).unwrap();
            (0..20).fold(Surprise::default(), |all, _| all.and(one)).score().unwrap()
        };
        assert!(score([4.0, 4.0, 9.0]) > 20.0);
        assert!(score([0.0, 1.0, 2.0]) < -2.0);
    }

    #[test]
    fn nothing_observed_has_no_score_and_wrong_sizes_are_errors() {
        let (forecast, mut random) = (forecast(), stream(92, 0));
        let none = Surprise::of(&forecast, &[f64::NAN; 3], 10, &mut random).unwrap();
        assert_eq!((none.score(), none.nll), (None, 0.0));
        assert!(Surprise::of(&forecast, &[0.0; 2], 10, &mut random).is_err());
        assert!(Surprise::of(&forecast, &[0.0; 3], 1, &mut random).is_err());
        assert!(Surprise::of(&forecast, &[f64::INFINITY; 3], 10, &mut random).is_err());
    }
}
