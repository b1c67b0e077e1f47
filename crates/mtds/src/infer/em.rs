//! Weighted expectation maximisation of a Gaussian mixture, with the mixture before as a conjugate prior.
//!
//! ```text
//! r_ji = n_eff w_i α_j N(u_i; μ_j, Σ_j) / Σ_l α_l N(u_i; μ_l, Σ_l)          n_eff = max(ESS, d + 2)
//! n_j  = Σ_i r_ji + 1                            α_j = n_j / Σ_l n_l
//! μ_j  = (Σ_i r_ji u_i + μ⁰_j) / n_j
//! Σ_j  = (Σ_i r_ji (u_i − μ_j)(u_i − μ_j)ᵀ + Σ⁰_j + (μ⁰_j − μ_j)(μ⁰_j − μ_j)ᵀ) / n_j + 1e-6 diag Σ⁰_j
//! ```
//!
//! `μ⁰_j, Σ⁰_j` are the mixture that the fit starts from: each component sees it as one observation, so a
//! fit to a single heavy draw still has a covariance. The ridge is relative, so that the fit does not depend
//! on units. Reference: Cappé, Douc, Guillin, Marin, Robert (2008), Adaptive importance sampling in general
//! mixture classes. Differs from it: the conjugate prior, the ridge, and idle components that are moved.

use super::weighted::effective_size;
use super::{GaussianMixture, Points, hot};

/// A component explaining fewer effective draws than this is moved.
const FEWEST_DRAWS: f64 = 1.0;
/// How far the halves of a split component stand from its mean, in columns of its Cholesky factor.
const SPLIT: f64 = 0.5;
/// Ridge on each covariance, relative to the variances before.
const RIDGE: f64 = 1e-6;

/// The mixture after `iterations` of weighted EM from `before`; `weights` are the draws', summing to one.
///
/// Components with less than one effective draw are moved onto the heaviest at the end.
pub(crate) fn fit(
    before: &GaussianMixture,
    draws: &Points,
    weights: &[f64],
    iterations: usize,
) -> GaussianMixture {
    let floor = before.dim() as f64 + 2.0;
    let n_eff = effective_size(weights).max(floor);
    let scaled: Vec<f64> = weights.iter().map(|w| w * n_eff).collect();
    let mut joint = vec![0.0; before.len() * draws.len()];
    let mut mixture = before.clone();
    let mut counts = vec![f64::INFINITY; before.len()];
    for _ in 0..iterations {
        mixture.component_log_densities(draws, &mut joint);
        hot::responsibilities(&mut joint, &scaled);
        let Some(step) = maximise(before, &mixture, draws, &joint) else { break };
        (mixture, counts) = step;
    }
    with_idle_moved(mixture, &counts)
}

/// One M step: the new mixture and the effective draws per component; `None` if no step is possible.
fn maximise(
    before: &GaussianMixture,
    now: &GaussianMixture,
    draws: &Points,
    shares: &[f64],
) -> Option<(GaussianMixture, Vec<f64>)> {
    let d = before.dim();
    let (mut means, mut covariances, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    let mut moments = vec![0.0; (d + 1) * (d + 1)];
    for (j, shares) in shares.chunks_exact(draws.len()).enumerate() {
        let centre = now.component_mean(j);
        hot::weighted_moments(draws.values(), centre, shares, &mut moments);
        add_prior(&mut moments, centre, before.component_mean(j), before.component_covariance(j));
        counts.push(moments[0] - 1.0);
        let (mean, covariance) = normal_from_moments(&moments, centre);
        let prior = before.component_covariance(j);
        means.extend(mean);
        covariances.extend(covariance);
        let square = &mut covariances[j * d * d..];
        (0..d).for_each(|a| square[a * d + a] += RIDGE * prior[a * d + a]);
    }
    let total: f64 = counts.iter().map(|c| c + 1.0).sum();
    let weights = counts.iter().map(|c| (c + 1.0) / total).collect();
    GaussianMixture::from_flat(d, weights, means, covariances).ok().map(|mixture| (mixture, counts))
}

/// Adds one observation with mean `mean` and spread `covariance` to moments about `centre`.
pub(super) fn add_prior(moments: &mut [f64], centre: &[f64], mean: &[f64], covariance: &[f64]) {
    let d = centre.len();
    moments[0] += 1.0;
    for a in 0..d {
        let row = (a + 1) * (d + 1);
        moments[row] += mean[a] - centre[a];
        for b in 0..=a {
            moments[row + b + 1] += covariance[a * d + b] + (mean[a] - centre[a]) * (mean[b] - centre[b]);
        }
    }
}

/// Mean and covariance from the lower triangle of moments about `centre`.
pub(super) fn normal_from_moments(moments: &[f64], centre: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let d = centre.len();
    let shift: Vec<f64> = (0..d).map(|a| moments[(a + 1) * (d + 1)] / moments[0]).collect();
    let mean = centre.iter().zip(&shift).map(|(c, s)| c + s).collect();
    let mut covariance = vec![0.0; d * d];
    for a in 0..d {
        for b in 0..=a {
            let value = moments[(a + 1) * (d + 1) + b + 1] / moments[0] - shift[a] * shift[b];
            covariance[a * d + b] = value;
            covariance[b * d + a] = value;
        }
    }
    (mean, covariance)
}

/// Idle components, which explain less than one effective draw, take over half of the heaviest one.
///
/// The two halves stand apart along the longest column of its Cholesky factor, so that the next fit can use
/// both: a component that were merely dropped would be missing for the rest of the sequence.
fn with_idle_moved(mixture: GaussianMixture, counts: &[f64]) -> GaussianMixture {
    let idle: Vec<usize> = (0..mixture.len()).filter(|&j| counts[j] < FEWEST_DRAWS).collect();
    if idle.is_empty() || idle.len() == mixture.len() {
        return mixture;
    }
    let d = mixture.dim();
    let mut weights = mixture.weights().to_vec();
    let mut means: Vec<f64> = (0..mixture.len()).flat_map(|j| mixture.component_mean(j).to_vec()).collect();
    let mut covariances: Vec<f64> =
        (0..mixture.len()).flat_map(|j| mixture.component_covariance(j).to_vec()).collect();
    for j in idle {
        let heaviest = (0..weights.len()).fold(0, |h, l| if weights[l] > weights[h] { l } else { h });
        let share = 0.5 * (weights[heaviest] + weights[j]);
        (weights[heaviest], weights[j]) = (share, share);
        let step = longest_column(mixture.component_factor(heaviest), d);
        for a in 0..d {
            let centre = means[heaviest * d + a];
            means[heaviest * d + a] = centre - SPLIT * step[a];
            means[j * d + a] = centre + SPLIT * step[a];
        }
        covariances.copy_within(heaviest * d * d..(heaviest + 1) * d * d, j * d * d);
    }
    GaussianMixture::from_flat(d, weights, means, covariances).unwrap_or(mixture)
}

fn longest_column(factor: &[f64], d: usize) -> Vec<f64> {
    let column = |k: usize| (0..d).map(|a| factor[a * d + k]).collect::<Vec<f64>>();
    let square = |c: &[f64]| c.iter().map(|x| x * x).sum::<f64>();
    let columns = (0..d).map(column);
    columns.max_by(|a, b| square(a).total_cmp(&square(b))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    #[test]
    fn one_component_is_the_weighted_moments_with_one_pseudo_draw() {
        let draws = Points::from_values(1, 4, vec![0.0, 1.0, 2.0, 5.0]).unwrap();
        let weights = [0.25; 4];
        let before = GaussianMixture::new(vec![1.0], vec![vec![10.0]], vec![vec![3.0]]).unwrap();
        let fitted = fit(&before, &draws, &weights, 3);
        // n_eff = 4, so five equal observations 0, 1, 2, 5 and 10, the last with spread 3.
        let mean = 18.0 / 5.0;
        let squares = (0.0 + 1.0 + 4.0 + 25.0 + 100.0 + 3.0) / 5.0;
        assert!((fitted.mean()[0] - mean).abs() < 1e-12);
        assert!((fitted.covariance()[0] - (squares - mean * mean + 3e-6)).abs() < 1e-12);
    }

    #[test]
    fn em_recovers_a_mixture_from_its_draws() {
        let truth =
            GaussianMixture::new(vec![0.3, 0.7], vec![vec![-3.0], vec![2.0]], vec![vec![0.5], vec![1.0]])
                .unwrap();
        let n = 20_000;
        let draws = truth.sample(n, &mut stream(1, 0));
        let start =
            GaussianMixture::new(vec![0.5, 0.5], vec![vec![-1.0], vec![1.0]], vec![vec![4.0], vec![4.0]])
                .unwrap();
        let fitted = fit(&start, &draws, &vec![1.0 / n as f64; n], 60);
        // Standard errors are below 0.012; 0.06 is five of them: false alarms below 1e-5.
        assert!((fitted.weights()[0] - 0.3).abs() < 0.02, "{:?}", fitted.weights());
        for j in 0..2 {
            assert!((fitted.component_mean(j)[0] - truth.component_mean(j)[0]).abs() < 0.06);
            assert!((fitted.component_covariance(j)[0] - truth.component_covariance(j)[0]).abs() < 0.06);
        }
    }

    #[test]
    fn all_weight_on_one_draw_still_gives_a_mixture() {
        let draws = GaussianMixture::standard_normal(3).unwrap().sample(50, &mut stream(2, 0));
        let mut weights = vec![0.0; 50];
        weights[7] = 1.0;
        let fitted = fit(&GaussianMixture::standard_normal(3).unwrap(), &draws, &weights, 5);
        assert_eq!(fitted.len(), 1);
        let (mean, centre) = (fitted.mean(), draws.point(7));
        // n_eff = d + 2 = 5 draws at the point and one pseudo-draw at the origin.
        (0..3).for_each(|k| assert!((mean[k] - centre[k] * 5.0 / 6.0).abs() < 1e-12));
    }

    #[test]
    fn an_idle_component_takes_over_half_of_the_heaviest() {
        let draws = Points::from_values(1, 3, vec![0.0, 0.1, -0.1]).unwrap();
        let far =
            GaussianMixture::new(vec![0.5, 0.5], vec![vec![0.0], vec![50.0]], vec![vec![1.0], vec![1.0]])
                .unwrap();
        let fitted = fit(&far, &draws, &[1.0 / 3.0; 3], 2);
        assert_eq!(fitted.weights(), [0.5, 0.5]);
        let (low, high) = (fitted.component_mean(0)[0], fitted.component_mean(1)[0]);
        assert!(low < 0.0 && 0.0 < high && high < 1.0, "{low} {high}");
        assert_eq!(fitted.component_covariance(0), fitted.component_covariance(1));
        let lost = GaussianMixture::new(vec![1.0], vec![vec![1e200]], vec![vec![1.0]]).unwrap();
        assert_eq!(fit(&lost, &draws, &[1.0 / 3.0; 3], 2).len(), 1);
    }

    #[test]
    fn more_components_than_draws() {
        let draws = Points::from_values(2, 2, vec![1.0, -1.0, 0.5, 0.5]).unwrap();
        let one = GaussianMixture::standard_normal(2).unwrap();
        let many = GaussianMixture::average(&[(1.0, &one), (1.0, &one), (1.0, &one), (1.0, &one)]).unwrap();
        let fitted = fit(&many, &draws, &[0.5, 0.5], 3);
        assert!(fitted.mean().iter().chain(&fitted.covariance()).all(|x| x.is_finite()));
    }
}
