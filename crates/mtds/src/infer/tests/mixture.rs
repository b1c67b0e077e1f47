//! Mixtures: density, draws, algebra, and what is refused.

use proptest::prelude::*;

use super::targets::gaussian;
use crate::infer::mixture::systematic_counts;
use crate::infer::{GaussianMixture, Points};
use crate::random::stream;

fn two() -> GaussianMixture {
    GaussianMixture::new(
        vec![0.25, 0.75],
        vec![vec![-1.0, 0.5], vec![2.0, 0.0]],
        vec![vec![1.0, 0.3, 0.3, 0.5], vec![0.2, 0.0, 0.0, 2.0]],
    )
    .unwrap()
}

#[test]
fn density_agrees_with_the_formula() {
    let points = Points::from_values(2, 3, vec![0.0, -1.0, 40.0, 0.0, 0.5, -3.0]).unwrap();
    let mut found = vec![0.0; 3];
    two().log_density(&points, &mut found);
    for i in 0..3 {
        let (x, y) = (points.column(0)[i], points.column(1)[i]);
        let (a, b) = (x + 1.0, y - 0.5);
        let det: f64 = 0.5 - 0.09;
        let first = -0.5 * (0.5 * a * a - 0.6 * a * b + b * b) / det - 0.5 * det.ln() + 0.25_f64.ln();
        let second = -0.5 * ((x - 2.0).powi(2) / 0.2 + y * y / 2.0) - 0.5 * 0.4_f64.ln() + 0.75_f64.ln();
        let high = first.max(second);
        let exact = high + ((first - high).exp() + (second - high).exp()).ln() - std::f64::consts::TAU.ln();
        assert!((found[i] - exact).abs() < 1e-12 * exact.abs(), "{} against {exact}", found[i]);
    }
}

/// 100 000 draws: five standard errors on each moment, false alarms below 1e-5 in all.
#[test]
fn draws_have_the_moments_of_the_mixture() {
    let mixture = two();
    let n = 100_000;
    let draws = mixture.sample(n, &mut stream(11, 0));
    let weights = vec![1.0 / n as f64; n];
    let (mean, covariance) = (draws.weighted_mean(&weights), mixture.covariance());
    for a in 0..2 {
        let error = (covariance[a * 2 + a] / n as f64).sqrt();
        assert!((mean[a] - mixture.mean()[a]).abs() < 5.0 * error);
        let var: f64 = draws.column(a).iter().map(|x| (x - mean[a]).powi(2)).sum::<f64>() / n as f64;
        // Fourth moments here stay below 5 squared variances.
        assert!((var - covariance[a * 2 + a]).abs() < 5.0 * 2.0 * covariance[a * 2 + a] / (n as f64).sqrt());
    }
    let low = draws.column(0).iter().filter(|&&x| x < 0.5).count() as f64 / n as f64;
    assert!((low - 0.25 * 0.9332 - 0.75 * 0.0004).abs() < 5.0 * (0.25 * 0.0668_f64 / n as f64).sqrt() + 1e-4);
}

#[test]
fn marginal_product_average_and_tilt() {
    let mixture = two();
    let wide = mixture.with_independent(-2.0, 0.01).unwrap();
    assert_eq!(wide.dim(), 3);
    assert_eq!(wide.marginal(&[0, 1]).unwrap(), mixture);
    assert!((wide.covariance()[8] - 0.01).abs() < 1e-15);
    assert_eq!(wide.covariance()[2], 0.0);
    let swapped = mixture.marginal(&[1, 0]).unwrap();
    assert_eq!(swapped.component_covariance(0), &[0.5, 0.3, 0.3, 1.0]);
    let average = GaussianMixture::average(&[(2.0, &mixture), (2.0, &mixture)]).unwrap();
    assert_eq!(average.len(), 4);
    assert!((average.mean()[0] - mixture.mean()[0]).abs() < 1e-15);
    let tilted = mixture.tilted(2.0).unwrap();
    assert_eq!(tilted.component_covariance(0)[1], 0.6);
    assert!(
        mixture
            .collapsed()
            .unwrap()
            .covariance()
            .iter()
            .zip(mixture.covariance())
            .all(|(a, b)| (a - b).abs() < 1e-15)
    );
}

#[test]
fn bad_mixtures_are_refused() {
    let new = GaussianMixture::new;
    assert!(new(vec![], vec![], vec![]).is_err());
    assert!(new(vec![1.0], vec![vec![]], vec![vec![]]).is_err());
    assert!(new(vec![0.5], vec![vec![0.0]], vec![vec![1.0]]).is_err());
    assert!(new(vec![-0.5, 1.5], vec![vec![0.0]; 2], vec![vec![1.0]; 2]).is_err());
    assert!(new(vec![1.0], vec![vec![0.0]], vec![vec![0.0]]).is_err());
    assert!(new(vec![1.0], vec![vec![f64::NAN]], vec![vec![1.0]]).is_err());
    assert!(new(vec![1.0], vec![vec![0.0; 2]], vec![vec![1.0, 0.5, 0.1, 1.0]]).is_err());
    assert!(new(vec![1.0], vec![vec![0.0; 2]], vec![vec![1.0; 3]]).is_err());
    assert!(GaussianMixture::standard_normal(0).is_err());
    assert!(two().tilted(f64::NAN).is_err());
    assert!(two().marginal(&[0, 0]).is_err());
    assert!(two().marginal(&[2]).is_err());
    assert!(two().with_independent(0.0, -1.0).is_err());
    assert!(GaussianMixture::average(&[]).is_err());
    assert!(GaussianMixture::average(&[(1.0, &two()), (1.0, &gaussian(3).mixture)]).is_err());
    let text = r#"{"weights":[1.0],"means":[[0.0]],"covariances":[[-1.0]]}"#;
    assert!(serde_json::from_str::<GaussianMixture>(text).is_err());
}

#[test]
fn a_component_without_weight_gives_no_draws_and_no_density() {
    let mixture =
        GaussianMixture::new(vec![1.0, 0.0], vec![vec![0.0], vec![9.0]], vec![vec![1.0], vec![1.0]]).unwrap();
    let draws = mixture.sample(500, &mut stream(12, 0));
    assert!(draws.column(0).iter().all(|&x| x < 6.0));
    let mut density = vec![0.0; 500];
    mixture.log_density(&draws, &mut density);
    let first = draws.column(0)[0];
    assert!((density[0] + 0.5 * (first * first + std::f64::consts::TAU.ln())).abs() < 1e-12);
}

proptest! {
    #[test]
    fn systematic_counts_are_the_shares_rounded(
        raw in prop::collection::vec(0.0_f64..1.0, 1..8), n in 0_usize..200, u in 0.0_f64..1.0,
    ) {
        let sum: f64 = raw.iter().sum::<f64>() + 1e-3;
        let mut weights: Vec<f64> = raw.iter().map(|w| w / sum).collect();
        weights.push(1e-3 / sum);
        let counts = systematic_counts(&weights, n, u);
        prop_assert_eq!(counts.iter().sum::<usize>(), n);
        for (count, weight) in counts.iter().zip(&weights) {
            prop_assert!((*count as f64 - n as f64 * weight).abs() < 1.0 + 1e-9);
        }
    }

    #[test]
    fn mixtures_survive_json(a in -5.0..5.0, s in 0.1..3.0, w in 0.0..1.0) {
        let mixture = GaussianMixture::new(
            vec![w, 1.0 - w], vec![vec![a], vec![-a]], vec![vec![s], vec![1.0]],
        ).unwrap();
        let text = serde_json::to_string(&mixture).unwrap();
        let back: GaussianMixture = serde_json::from_str(&text).unwrap();
        prop_assert!((back.weights()[0] - mixture.weights()[0]).abs() < 1e-15);
        prop_assert_eq!(back.component_mean(0), mixture.component_mean(0));
        prop_assert_eq!(back.component_covariance(0), mixture.component_covariance(0));
    }
}

#[test]
fn the_gradient_matches_central_differences() {
    let mixture = GaussianMixture::new(
        vec![0.2, 0.8],
        vec![vec![0.3, -1.0], vec![-0.7, 0.4]],
        vec![vec![0.5, 0.2, 0.2, 0.9], vec![1.5, -0.4, -0.4, 0.3]],
    )
    .unwrap();
    let value = |u: [f64; 2]| {
        let mut out = [0.0];
        mixture.log_density(&Points::from_points(2, &[u.to_vec()]).unwrap(), &mut out);
        out[0]
    };
    // The last point is so far out that every component underflows.
    for u in [[0.0, 0.0], [0.3, -1.0], [2.0, -1.5], [-3.0, 4.0], [60.0, -70.0]] {
        let mut slope = [0.0; 2];
        let found = mixture.log_density_with_gradient(&u, &mut slope);
        assert!((found - value(u)).abs() < 1e-12 * found.abs().max(1.0));
        for d in 0..2 {
            let h = 1e-5;
            let (mut up, mut down) = (u, u);
            up[d] += h;
            down[d] -= h;
            let numeric = (value(up) - value(down)) / (2.0 * h);
            assert!(
                (numeric - slope[d]).abs() < 1e-6 * numeric.abs().max(1.0),
                "{u:?}: {slope:?}, {numeric}"
            );
        }
    }
}
