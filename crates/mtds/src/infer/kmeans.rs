//! Weighted k-means: the first mixture, made from weighted draws of a prior, and which of many Gaussians lie together.
//!
//! ```text
//! minimise Σ_i w_i min_j ‖D⁻¹ (u_i − c_j)‖²        D = the draws' weighted standard deviations
//! ```
//!
//! Seeds are spread by k-means++ (Arthur & Vassilvitskii 2007) with the draws' weights.

use rand::RngExt;

use super::weighted::effective_size;
use super::{GaussianMixture, Points, em, hot};
use crate::random::Random;
use crate::{Error, Result};

/// Draws lighter than this part of the heaviest do not move a centre: leave them out.
const NEGLIGIBLE: f64 = 1e-6;
/// Each cluster sees one pseudo-draw with this part of the reference covariance.
const PSEUDO_SPREAD: f64 = 0.1;

/// How many clusters to look for, and for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clusters {
    /// Most clusters.
    pub(crate) count: usize,
    /// Most iterations.
    pub(crate) iterations: usize,
}

/// A mixture with a component per cluster of the weighted draws; fewer where draws are fewer.
///
/// `reference` is the distribution that the draws came from: it sets the smallest spread.
pub(crate) fn start(
    draws: &Points,
    weights: &[f64],
    clusters: Clusters,
    reference: &GaussianMixture,
    random: &mut Random,
) -> Result<GaussianMixture> {
    let heaviest = weights.iter().copied().fold(0.0, f64::max);
    let kept: Vec<usize> = (0..draws.len()).filter(|&i| weights[i] > NEGLIGIBLE * heaviest).collect();
    if kept.is_empty() {
        return Err(Error::shape("draws with weight", "one or more", 0));
    }
    let draws = draws.select(&kept);
    let total: f64 = kept.iter().map(|&i| weights[i]).sum();
    let weights: Vec<f64> = kept.iter().map(|&i| weights[i] / total).collect();
    let labels = labels(&draws, &weights, clusters, random);
    mixture_of(&draws, &weights, &labels, reference)
}

/// The cluster of each draw. Weights sum to one.
pub(crate) fn labels(draws: &Points, weights: &[f64], clusters: Clusters, random: &mut Random) -> Vec<usize> {
    let scaled = scaled(draws, weights);
    let mut centres = spread_seeds(&scaled, weights, clusters.count, random);
    let mut labels = vec![usize::MAX; draws.len()];
    for _ in 0..clusters.iterations {
        let now = assign(&scaled, &centres);
        if now == labels {
            break;
        }
        labels = now;
        move_centres(&scaled, weights, &labels, &mut centres);
    }
    assign(&scaled, &centres)
}

/// The draws divided by their weighted standard deviations.
fn scaled(draws: &Points, weights: &[f64]) -> Points {
    let mean = draws.weighted_mean(weights);
    let mut scaled = draws.clone();
    for (d, m) in mean.iter().enumerate() {
        let column = scaled.column_mut(d);
        let var: f64 = column.iter().zip(weights).map(|(x, w)| w * (x - m).powi(2)).sum();
        if var > 0.0 {
            column.iter_mut().for_each(|x| *x = (*x - m) / var.sqrt());
        }
    }
    scaled
}

/// Squared distances of all draws to one centre.
fn squared_distances(draws: &Points, centre: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; draws.len()];
    for (d, c) in centre.iter().enumerate() {
        out.iter_mut().zip(draws.column(d)).for_each(|(o, x)| *o += (x - c) * (x - c));
    }
    out
}

/// k-means++ seeds: each next with probability by weight times squared distance to the nearest seed.
fn spread_seeds(draws: &Points, weights: &[f64], count: usize, random: &mut Random) -> Vec<Vec<f64>> {
    let mut chances = weights.to_vec();
    let mut nearest = vec![f64::INFINITY; draws.len()];
    let mut seeds = Vec::new();
    while seeds.len() < count {
        let total: f64 = chances.iter().sum();
        if !(total.is_finite() && total > 0.0) {
            break; // every draw is a seed already
        }
        let mut left = random.random::<f64>() * total;
        let chosen = chances.iter().position(|c| {
            left -= c;
            left < 0.0 && *c > 0.0
        });
        let chosen = chosen.or_else(|| chances.iter().rposition(|&c| c > 0.0)).unwrap_or(0);
        let seed = draws.point(chosen);
        for (i, distance) in squared_distances(draws, &seed).into_iter().enumerate() {
            nearest[i] = nearest[i].min(distance);
            chances[i] = weights[i] * nearest[i];
        }
        seeds.push(seed);
    }
    seeds
}

/// The nearest centre of each draw; the first of equals.
fn assign(draws: &Points, centres: &[Vec<f64>]) -> Vec<usize> {
    let mut labels = vec![0; draws.len()];
    let mut nearest = vec![f64::INFINITY; draws.len()];
    for (j, centre) in centres.iter().enumerate() {
        for (i, distance) in squared_distances(draws, centre).into_iter().enumerate() {
            if distance < nearest[i] {
                nearest[i] = distance;
                labels[i] = j;
            }
        }
    }
    labels
}

/// Centres to the weighted means of their draws; a centre without draws stays.
fn move_centres(draws: &Points, weights: &[f64], labels: &[usize], centres: &mut [Vec<f64>]) {
    let mut mass = vec![0.0; centres.len()];
    labels.iter().zip(weights).for_each(|(&j, w)| mass[j] += w);
    for d in 0..draws.dim() {
        let mut sums = vec![0.0; centres.len()];
        for ((&j, w), x) in labels.iter().zip(weights).zip(draws.column(d)) {
            sums[j] += w * x;
        }
        for (j, centre) in centres.iter_mut().enumerate().filter(|(j, _)| mass[*j] > 0.0) {
            centre[d] = sums[j] / mass[j];
        }
    }
}

/// One Gaussian per cluster that has draws.
fn mixture_of(
    draws: &Points,
    weights: &[f64],
    labels: &[usize],
    reference: &GaussianMixture,
) -> Result<GaussianMixture> {
    let d = draws.dim();
    let n_eff = effective_size(weights).max(d as f64 + 2.0);
    let spread: Vec<f64> = reference.covariance().iter().map(|c| PSEUDO_SPREAD * c).collect();
    let (mut counts, mut means, mut covariances) = (Vec::new(), Vec::new(), Vec::new());
    for j in 0..=labels.iter().copied().max().unwrap_or(0) {
        let share = |i: usize| if labels[i] == j { weights[i] * n_eff } else { 0.0 };
        let shares: Vec<f64> = (0..draws.len()).map(share).collect();
        let mass: f64 = shares.iter().sum();
        if mass <= 0.0 {
            continue;
        }
        let relative: Vec<f64> = shares.iter().map(|s| s / mass).collect();
        let centre = draws.weighted_mean(&relative);
        let mut moments = vec![0.0; (d + 1) * (d + 1)];
        hot::weighted_moments(draws.values(), &centre, &shares, &mut moments);
        em::add_prior(&mut moments, &centre, &centre, &spread);
        let (mean, covariance) = em::normal_from_moments(&moments, &centre);
        counts.push(moments[0]);
        means.extend(mean);
        covariances.extend(covariance);
    }
    let total: f64 = counts.iter().sum();
    let weights = counts.iter().map(|c| c / total).collect();
    GaussianMixture::from_flat(d, weights, means, covariances)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    #[test]
    fn three_heaps_become_three_components() {
        let heap = |x: f64, y: f64| {
            GaussianMixture::new(vec![1.0], vec![vec![x, y]], vec![vec![0.1, 0.0, 0.0, 0.1]])
        };
        let (a, b, c) = (heap(-5.0, 0.0).unwrap(), heap(5.0, 0.0).unwrap(), heap(0.0, 6.0).unwrap());
        let truth = GaussianMixture::average(&[(1.0, &a), (1.0, &b), (2.0, &c)]).unwrap();
        let draws = truth.sample(800, &mut stream(3, 0));
        let clusters = Clusters { count: 3, iterations: 100 };
        let found = start(&draws, &[1.0 / 800.0; 800], clusters, &truth, &mut stream(3, 1)).unwrap();
        assert_eq!(found.len(), 3);
        for heap in [&a, &b, &c] {
            let mean = heap.mean();
            let close = (0..3).any(|j| {
                let m = found.component_mean(j);
                (m[0] - mean[0]).hypot(m[1] - mean[1]) < 0.2 // ten standard errors
            });
            assert!(close, "no component near {mean:?}: {found:?}");
        }
    }

    #[test]
    fn fewer_draws_than_clusters() {
        let draws = Points::from_values(1, 2, vec![1.0, 1.0]).unwrap();
        let reference = GaussianMixture::standard_normal(1).unwrap();
        let clusters = Clusters { count: 5, iterations: 10 };
        let found = start(&draws, &[0.5, 0.5], clusters, &reference, &mut stream(4, 0)).unwrap();
        assert_eq!(found.len(), 1);
        assert!((found.mean()[0] - 1.0).abs() < 1e-12);
    }
}
