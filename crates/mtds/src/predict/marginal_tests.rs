//! Tests of mixtures on the line against closed forms, numerical integration and random draws.

use proptest::prelude::*;

use super::*;
use crate::random;

fn mixture(parts: &[(f64, f64, f64)]) -> Marginal<'static> {
    let column = |of: fn(&(f64, f64, f64)) -> f64| parts.iter().map(of).collect::<Vec<_>>();
    Marginal::new(column(|p| p.0), column(|p| p.1), column(|p| p.2)).unwrap()
}

fn mixtures() -> impl Strategy<Value = Marginal<'static>> {
    let part = (0.01..1.0_f64, -5.0..5.0_f64, -6.0..1.0_f64);
    let part = part.prop_map(|(w, m, log10_std)| (w, m, 10.0_f64.powf(log10_std)));
    prop::collection::vec(part, 1..8).prop_map(|parts| mixture(&parts))
}

/// ∫ f over [low, high] by the midpoint rule.
fn integral(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let n = 200_000;
    let width = (high - low) / f64::from(n);
    (0..n).map(|k| f(low + (f64::from(k) + 0.5) * width)).sum::<f64>() * width
}

proptest! {
    #[test]
    fn quantile_inverts_the_cdf(mixture in mixtures(), q in 0.001..0.999_f64) {
        let x = mixture.quantile(q).unwrap();
        // One unit in the last place of x moves the cdf by at most density · ulp.
        let slack = 1e-10 + 8.0 * f64::EPSILON * x.abs() * mixture.log_density(x).exp();
        prop_assert!((mixture.cdf(x) - q).abs() < slack, "{} {}", mixture.cdf(x), q);
    }

    #[test]
    fn quantiles_rise_with_their_level(mixture in mixtures(), a in 0.001..0.999_f64, b in 0.001..0.999_f64) {
        let (low, high) = (mixture.quantile(a.min(b)).unwrap(), mixture.quantile(a.max(b)).unwrap());
        prop_assert!(low <= high + 1e-9 * (1.0 + high.abs()));
    }
}

#[test]
fn quantiles_of_one_gaussian_are_the_known_ones() {
    let gaussian = mixture(&[(3.0, 10.0, 2.0)]);
    for (q, z) in [(0.5, 0.0), (0.975, 1.959_963_984_540_054), (0.1, -1.281_551_565_544_600_4)] {
        assert!((gaussian.quantile(q).unwrap() - (10.0 + 2.0 * z)).abs() < 1e-9);
    }
    let tail = mixture(&[(1.0, 0.0, 1.0)]).quantile(1e-300).unwrap();
    assert!((tail + 37.047_1).abs() < 1e-3, "{tail}");
}

#[test]
fn extremely_peaked_mixtures_have_quantiles() {
    let peaks = mixture(&[(0.3, -1.0, 1e-12), (0.4, 0.5, 1e-300), (0.3, 1e6, 1e-9)]);
    for (q, expected) in
        [(0.1, -1.0), (0.29, -1.0), (0.31, 0.5), (0.5, 0.5), (0.69, 0.5), (0.71, 1e6), (0.999, 1e6)]
    {
        let x = peaks.quantile(q).unwrap();
        assert!((x - expected).abs() < 1e-8, "{q}: {x}");
    }
    // A needle beside a broad hill: 0.2 below comes from the hill alone.
    let needle = mixture(&[(0.5, 0.0, 1e-10), (0.5, 0.0, 1.0)]);
    let x = needle.quantile(0.2).unwrap();
    assert!((x + 0.253_347_103_135_799_7).abs() < 1e-9, "{x}");
}

#[test]
fn moments_and_density_agree_with_integration() {
    let mixture = mixture(&[(1.0, -1.0, 0.5), (2.0, 2.0, 0.3), (1.0, 0.0, 1.5)]);
    let density = |x: f64| mixture.log_density(x).exp();
    let mean = integral(-15.0, 15.0, |x| x * density(x));
    let variance = integral(-15.0, 15.0, |x| (x - mean).powi(2) * density(x));
    assert!((integral(-15.0, 15.0, density) - 1.0).abs() < 1e-9);
    assert!((mixture.mean() - mean).abs() < 1e-9 && (mixture.variance() - variance).abs() < 1e-9);
    assert!((mixture.cdf(0.7) - integral(-15.0, 0.7, density)).abs() < 1e-9);
    assert!((mixture.cdf(0.7) + mixture.survival(0.7) - 1.0).abs() < 1e-15);
}

#[test]
fn log_density_survives_the_far_tail() {
    let far = mixture(&[(1.0, 0.0, 1.0), (1.0, 1.0, 1.0)]).log_density(1e4);
    let expected = 0.5_f64.ln() - 0.5 * (2.0 * PI).ln() - 0.5 * (1e4_f64 - 1.0).powi(2);
    assert!((far - expected).abs() < 1e-6);
}

#[test]
fn crps_of_one_gaussian_is_the_closed_form() {
    // σ (z (2Φ(z) − 1) + 2 φ(z) − 1/√π)
    for (y, m, s) in [(0.3, 0.0, 1.0), (-4.0, 1.0, 0.2), (2.0, 2.0, 1e-6)] {
        let z: f64 = (y - m) / s;
        let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
        let expected = s * (z * (2.0 * normal_cdf(z) - 1.0) + 2.0 * density - 1.0 / PI.sqrt());
        let found = mixture(&[(7.0, m, s)]).crps(y);
        assert!((found - expected).abs() < 1e-13 * (1.0 + expected), "{found} {expected}");
    }
}

#[test]
fn crps_agrees_with_the_integral_of_the_cdf() {
    let mixture = mixture(&[(1.0, -1.0, 0.5), (2.0, 2.0, 0.3), (0.0, 50.0, 1.0), (1.0, 0.0, 1.5)]);
    for y in [-2.0, 0.4, 2.1, 7.0] {
        let below = integral(-20.0, y, |x| mixture.cdf(x).powi(2));
        let above = integral(y, 20.0, |x| mixture.survival(x).powi(2));
        assert!((mixture.crps(y) - below - above).abs() < 1e-8, "{y}");
    }
}

#[test]
fn thinning_changes_the_crps_little() {
    let mut random = random::stream(5, 0);
    let parts: Vec<_> = (0..3000)
        .map(|_| {
            (
                random.random::<f64>().powi(4),
                random.sample::<f64, _>(StandardNormal),
                0.05 + 0.1 * random.random::<f64>(),
            )
        })
        .collect();
    let mixture = mixture(&parts);
    assert_eq!(mixture.thinned(MAX_CRPS_COMPONENTS).len(), MAX_CRPS_COMPONENTS);
    // All 3000 × 3000 pairs, as the formula stands.
    let all: Vec<_> = mixture.components().collect();
    let spread: f64 = all
        .iter()
        .flat_map(|a| all.iter().map(move |b| 0.5 * a.0 * b.0 * mean_abs(a.1 - b.1, a.2.hypot(b.2))))
        .sum();
    for y in [-3.0, 0.0, 0.8] {
        let exact = all.iter().map(|&(w, m, s)| w * mean_abs(y - m, s)).sum::<f64>() - spread;
        assert!((mixture.crps(y) - exact).abs() < 2e-3 * exact, "{} {exact}", mixture.crps(y));
    }
}

#[test]
fn samples_follow_the_cdf() {
    let mixture = mixture(&[(1.0, -1.0, 0.5), (0.0, 9.0, 1.0), (3.0, 2.0, 0.3)]);
    let mut random = random::stream(11, 0);
    let n = 20_000;
    let mut pit: Vec<f64> = (0..n).map(|_| mixture.cdf(mixture.sample(&mut random))).collect();
    pit.sort_by(f64::total_cmp);
    let distance =
        pit.iter().enumerate().map(|(i, p)| (p - (i as f64 + 0.5) / n as f64).abs()).fold(0.0, f64::max);
    // Kolmogorov–Smirnov at a false-alarm rate of 1e-6: √(ln(2/1e-6) / 2n).
    assert!(distance < ((2.0_f64 / 1e-6).ln() / (2.0 * n as f64)).sqrt(), "{distance}");
}

#[test]
fn borrowed_parts_work_and_bad_ones_are_refused() {
    let (weights, means, std_devs) = ([0.25, 0.75], [0.0, 4.0], [1.0, 1.0]);
    let borrowed = Marginal::new(&weights[..], &means[..], &std_devs[..]).unwrap();
    assert_eq!(borrowed.mean(), 3.0);
    let new = |w: f64, m: f64, s: f64| Marginal::new(vec![w], vec![m], vec![s]).err();
    assert!(matches!(new(0.0, 0.0, 1.0), Some(Error::Setting { .. })));
    assert!(matches!(new(-1.0, 0.0, 1.0), Some(Error::Setting { .. })));
    assert!(matches!(new(f64::NAN, 0.0, 1.0), Some(Error::Setting { .. })));
    assert!(matches!(new(1.0, f64::NAN, 1.0), Some(Error::NotFinite { .. })));
    assert!(matches!(new(1.0, 0.0, 0.0), Some(Error::Setting { .. })));
    assert!(matches!(Marginal::new(vec![], vec![], vec![]), Err(Error::Shape { .. })));
    assert!(matches!(Marginal::new(vec![1.0], vec![1.0, 2.0], vec![1.0]), Err(Error::Shape { .. })));
    for q in [0.0, 1.0, -0.1, f64::NAN] {
        assert!(matches!(borrowed.quantile(q), Err(Error::Setting { .. })));
    }
}
