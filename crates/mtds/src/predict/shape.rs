//! Forecasts made wider or narrower around their mean, and longer than what was known.
//!
//! ```text
//! stretched    μ_i,tc ← m_tc + f (μ_i,tc − m_tc),   noise ← f · noise              m: mean of the forecast
//! lengthened   μ_i,tc = μ_i,lc + m'_tc − m'_lc,     noise_tc = noise_lc · max(1, s'_tc / s'_lc)        t > l: the last step known
//! ```
//! m' and s' are mean and deviation of another forecast, which knows how things go on.

use super::noise::Sizes;
use super::{DrawNoise, Forecast};
use crate::Result;

impl Forecast {
    /// The same around the same mean with all distances from it times factors above 0: the CRPS at y is then `factor` times that
    /// of this forecast at m + (y − m) / factor.
    ///
    /// # Shapes
    /// `factors`: one for all, or n_time × d_obs.
    pub(crate) fn stretched(&self, factors: &[f64]) -> Result<Self> {
        let (d, mean) = (self.d_obs(), self.mean());
        let by_place = |k: usize| factors[k % factors.len()];
        let moved = |values: &[f64]| -> Vec<f64> {
            let of_path = |path: &[f64]| -> Vec<f64> {
                (0..mean.len()).map(|k| mean[k] + by_place(k) * (path[k] - mean[k])).collect()
            };
            values.chunks_exact(mean.len()).flat_map(of_path).collect()
        };
        let sizes = Sizes { n_draws: self.n_draws(), n_time: self.n_time(), d_obs: d };
        let scaled = |noise: &DrawNoise| match factors {
            [factor] => noise.scaled(&vec![*factor; d]),
            factors => noise.scaled_by_step(factors, sizes),
        };
        let (weights, means) = (self.weights().to_vec(), moved(self.means()));
        let stretched = Self::new(self.first_step(), d, weights, means, scaled(self.noise()))?;
        if !self.has_paths() {
            return Ok(stretched);
        }
        let (paths, noise) = self.paths();
        stretched.with_paths(moved(paths), scaled(noise))
    }

    /// The same with the steps that `longer` has beyond it, which goes on from there.
    pub(crate) fn lengthened(&self, longer: &Self) -> Result<Self> {
        let (d, known, n_time) = (self.d_obs(), self.n_time(), longer.n_time());
        if n_time <= known {
            return Ok(self.clone());
        }
        let (mean, deviation) =
            (longer.mean(), longer.variance().iter().map(|v| v.sqrt()).collect::<Vec<_>>());
        let last = (known - 1) * d;
        let rise = |t: usize, c: usize| mean[t * d + c] - mean[last + c];
        let wider = |t: usize, c: usize| (deviation[t * d + c] / deviation[last + c]).max(1.0);
        let path = |own: &[f64]| -> Vec<f64> {
            let beyond = (known..n_time).flat_map(|t| (0..d).map(move |c| (t, c)));
            own.iter().copied().chain(beyond.map(|(t, c)| own[last + c] + rise(t, c))).collect()
        };
        let means = self.means().chunks_exact(known * d).flat_map(path).collect();
        let sizes = Sizes { n_draws: self.n_draws(), n_time: known, d_obs: d };
        let std_devs =
            (0..sizes.n_draws).flat_map(|i| (0..n_time).flat_map(move |t| (0..d).map(move |c| (i, t, c))));
        let std_dev = |(i, t, c): (usize, usize, usize)| match t < known {
            true => self.noise().at(sizes, i, t).std_dev(c, d),
            false => self.noise().at(sizes, i, known - 1).std_dev(c, d) * wider(t, c),
        };
        let noise = DrawNoise::DiagonalByStep(std_devs.map(std_dev).collect());
        Self::new(self.first_step(), d, self.weights().to_vec(), means, noise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::Marginal;

    /// Two draws of two outputs over three steps.
    fn forecast() -> Forecast {
        let means = vec![0.0, 1.0, 0.5, 1.5, 1.0, 2.0, 1.0, 0.0, 1.5, -0.5, 2.0, -1.0];
        let noise = DrawNoise::Diagonal(vec![0.3, 0.4, 0.5, 0.6]);
        Forecast::new(4, 2, vec![0.25, 0.75], means, noise).unwrap()
    }

    #[test]
    fn a_stretched_forecast_has_the_same_mean_and_scores_as_the_identity_says() {
        let (before, after) = (forecast(), forecast().stretched(&[1.7]).unwrap());
        for (a, b) in before.mean().iter().zip(after.mean()) {
            assert!((a - b).abs() < 1e-12);
        }
        for (a, b) in before.variance().iter().zip(after.variance()) {
            assert!((1.7f64.powi(2) * a - b).abs() < 1e-12);
        }
        let (m, y) = (before.mean()[3], 2.2);
        let crps = |of: &Forecast, y: f64| of.marginal(1, 1).unwrap().crps(y);
        assert!((crps(&after, y) - 1.7 * crps(&before, m + (y - m) / 1.7)).abs() < 1e-12);
    }

    #[test]
    fn every_step_and_output_may_have_a_factor_of_its_own() {
        let correlated = DrawNoise::Full(vec![0.3, 0.0, 0.2, 0.4, 0.5, 0.0, -0.1, 0.6]);
        let means = forecast().means().to_vec();
        let full = Forecast::new(4, 2, vec![0.25, 0.75], means.clone(), correlated.clone()).unwrap();
        let full = full.with_paths(means.iter().map(|m| m + 0.1).collect(), correlated).unwrap();
        let factors = [0.5, 2.0, 1.0, 1.0, 3.0, 0.1];
        for before in [forecast(), full] {
            let after = before.stretched(&factors).unwrap();
            for k in 0..6 {
                let [a, b] = [&before, &after].map(|of| of.marginal_at(k / 2, k % 2).thin(9));
                assert!((a.mean() - b.mean()).abs() < 1e-12);
                assert!((factors[k].powi(2) * a.variance() - b.variance()).abs() < 1e-12, "{k}");
            }
            // The same factor everywhere is that factor.
            let same = before.stretched(&[0.7; 6]).unwrap();
            assert_eq!(same.means(), before.stretched(&[0.7]).unwrap().means());
            assert_eq!(same.variance(), before.stretched(&[0.7]).unwrap().variance());
        }
    }

    #[test]
    fn what_is_not_known_goes_on_as_the_longer_one_does() {
        let means = (0..5).flat_map(|t| [10.0 + f64::from(t), 20.0 - 2.0 * f64::from(t)]).collect();
        let spreads = (0..5).flat_map(|t| [1.0 + f64::from(t), 1.0]).collect();
        let longer = Forecast::new(4, 2, vec![1.0], means, DrawNoise::DiagonalByStep(spreads)).unwrap();
        let found = forecast().lengthened(&longer).unwrap();
        assert_eq!((found.n_time(), found.first_step(), found.n_draws()), (5, 4, 2));
        for (t, c) in [(0, 0), (2, 1)] {
            let (a, b): (Marginal<'_>, Marginal<'_>) = (
                forecast().marginal(t, c).map(|m| m.thin(9)).unwrap(),
                found.marginal(t, c).unwrap().thin(9),
            );
            assert_eq!((a.mean(), a.variance()), (b.mean(), b.variance()));
        }
        let last = |t: usize, c: usize| found.marginal(t, c).unwrap().mean();
        assert!(
            (last(4, 0) - last(2, 0) - 2.0).abs() < 1e-12 && (last(4, 1) - last(2, 1) + 4.0).abs() < 1e-12
        );
        // Output 0 spreads from 3 to 5, output 1 stays.
        let noise = |t: usize, c: usize| match found.noise() {
            DrawNoise::DiagonalByStep(values) => values[(5 + t) * 2 + c],
            other => panic!("{other:?}"),
        };
        assert!((noise(4, 0) - 0.5 * 5.0 / 3.0).abs() < 1e-12 && (noise(4, 1) - 0.6).abs() < 1e-12);
    }
}
