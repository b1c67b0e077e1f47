//! The Mann–Whitney U-test: is a value of one sample as often above as below one of the other?
//!
//! ```text
//! U = #{(i, j): a_i > b_j} + ½ #{(i, j): a_i = b_j}
//!
//! exact, no ties:    #{arrangements with U = u} is the coefficient of q^u in Π_{i=1}^{n_a} (1 − q^{n_b+i}) / (1 − q^i)
//! normal:            z = (|U − n_a n_b / 2| − ½) / σ
//!                    σ² = n_a n_b / 12 · (n + 1 − Σ_ties (k³ − k) / (n (n − 1)))          n = n_a + n_b
//! ```
//!
//! Reference: Mann & Whitney (1947), Annals of Mathematical Statistics 18.

use mtds::Result;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::factorial::binomial;

use super::check_sample;

/// Arrangements up to which counts are exact in f64.
const MOST_ARRANGEMENTS: f64 = 9.0e15;

/// The result of the Mann–Whitney U-test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MannWhitney {
    /// U of the first sample: 0 when all its values are below those of the second.
    pub statistic: f64,
    /// Two-sided p-value.
    pub p_value: f64,
    /// Where the p-value comes from.
    pub null: NullDistribution,
}

/// How U is distributed when the samples do not differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NullDistribution {
    /// Counted; taken for samples without ties that are not too large to count.
    Exact,
    /// The normal approximation, with the corrections for ties and continuity.
    Normal,
}

/// Tests whether values of `a` tend to be above or below those of `b`.
///
/// # Errors
/// [`mtds::Error::Shape`] for an empty sample, [`mtds::Error::NotFinite`] for a value that is not finite.
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Result<MannWhitney> {
    check_sample(a, 1)?;
    check_sample(b, 1)?;
    let (n_a, n_b) = (a.len() as f64, b.len() as f64);
    let Ranks { sum_of_first, ties } = Ranks::new(a, b);
    let statistic = sum_of_first - 0.5 * n_a * (n_a + 1.0);
    let larger = statistic.max(n_a * n_b - statistic);
    if ties == 0.0 && binomial((a.len() + b.len()) as u64, a.len() as u64) < MOST_ARRANGEMENTS {
        let p_value = exact_p_value(a.len(), b.len(), larger);
        return Ok(MannWhitney { statistic, p_value, null: NullDistribution::Exact });
    }
    let n = n_a + n_b;
    let var = n_a * n_b / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
    let excess = larger - 0.5 * n_a * n_b - 0.5;
    // Where all values are equal nothing can tell the samples apart.
    let p_value = if var > 0.0 { (2.0 * Normal::standard().sf(excess / var.sqrt())).min(1.0) } else { 1.0 };
    Ok(MannWhitney { statistic, p_value, null: NullDistribution::Normal })
}

/// Ranks of two samples together, equal values sharing the mean of theirs.
struct Ranks {
    sum_of_first: f64,
    /// Σ (k³ − k) over groups of k equal values.
    ties: f64,
}

impl Ranks {
    fn new(a: &[f64], b: &[f64]) -> Self {
        let mut all: Vec<(f64, f64)> =
            a.iter().map(|&x| (x, 1.0)).chain(b.iter().map(|&x| (x, 0.0))).collect();
        all.sort_by(|x, y| x.0.total_cmp(&y.0));
        let (mut sum_of_first, mut ties, mut below) = (0.0, 0.0, 0.0);
        // −0 and 0 are neighbours in the total order, and equal here.
        for group in all.chunk_by(|x, y| x.0 == y.0) {
            let k = group.len() as f64;
            sum_of_first += group.iter().map(|x| x.1).sum::<f64>() * (below + 0.5 * (k + 1.0));
            ties += k * k * k - k;
            below += k;
        }
        Self { sum_of_first, ties }
    }
}

/// min(1, 2 P(U ≥ larger)).
fn exact_p_value(n_a: usize, n_b: usize, larger: f64) -> f64 {
    let mut counts = vec![0.0; n_a * n_b + 1];
    counts[0] = 1.0;
    for i in 1..=n_a {
        for u in (n_b + i..counts.len()).rev() {
            counts[u] -= counts[u - n_b - i];
        }
        for u in i..counts.len() {
            counts[u] += counts[u - i];
        }
    }
    let above: f64 = counts[larger as usize..].iter().sum();
    (2.0 * above / counts.iter().sum::<f64>()).min(1.0)
}

#[cfg(test)]
mod tests {
    use mtds::Error;

    use super::*;

    /// `scipy.stats.mannwhitneyu(a, b, method="exact")`, or `"asymptotic"`: statistic, pvalue (SciPy 1.17.1).
    fn assert_is(a: &[f64], b: &[f64], null: NullDistribution, [statistic, p_value]: [f64; 2]) {
        let found = mann_whitney(a, b).unwrap();
        assert_eq!((found.statistic, found.null), (statistic, null));
        assert!((found.p_value - p_value).abs() < 1e-9 * p_value, "{found:?} {p_value}");
        let turned = mann_whitney(b, a).unwrap();
        assert_eq!(turned.statistic, (a.len() * b.len()) as f64 - statistic);
        assert!((turned.p_value - p_value).abs() < 1e-9 * p_value);
    }

    #[test]
    fn small_samples_agree_with_scipy() {
        use NullDistribution::Exact;
        assert_is(&[1.5, 2.5, 3.5], &[0.5, 4.5, 9.0, 100.0], Exact, [3.0, 0.4]);
        assert_is(&[1.0], &[2.0], Exact, [0.0, 1.0]);
        let a: Vec<f64> = (0..8).map(|k| f64::from(2 * k + 1)).collect();
        let b: Vec<f64> = (0..12).map(|k| 0.5 * f64::from(k * k) + 0.1).collect();
        assert_is(&a, &b, Exact, [35.0, 0.34314519329999205]);
        let a: Vec<f64> = (0..20).map(|k| f64::from(2 * k)).collect();
        let b: Vec<f64> = (0..18).map(|k| f64::from(25 + 2 * k)).collect();
        assert_is(&a, &b, Exact, [28.0, 1.0754660594426619e-06]);
    }

    #[test]
    fn ties_and_large_samples_agree_with_scipy() {
        use NullDistribution::Normal;
        let a = [0.36, 0.31, 0.42, 0.29, 0.35, 0.40, 0.33, 0.38, 0.30, 0.37];
        let b = [0.21, 0.25, 0.18, 0.30, 0.22, 0.19, 0.27, 0.24, 0.20, 0.26];
        assert_is(&a, &b, Normal, [98.5, 0.00028361476160172815]);
        assert_is(&[1.0, 2.0, 3.0], &[1.5, 2.0, 3.5, 2.0], Normal, [5.0, 0.8544450676295319]);
        let a = [1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 4.0, 5.0, 5.0, 6.0];
        let b = [2.0, 3.0, 4.0, 4.0, 5.0, 6.0, 6.0, 6.0, 7.0, 8.0, 9.0];
        assert_is(&a, &b, Normal, [24.0, 0.02997553994391964]);
        let a: Vec<f64> = (0..60).map(|k| f64::from(k) + 0.5).collect();
        let b: Vec<f64> = (0..70).map(f64::from).collect();
        assert_is(&a, &b, Normal, [1830.0, 0.20817341004969991]);
    }

    /// All arrangements of small samples, one by one.
    #[test]
    fn exact_values_are_those_of_enumeration() {
        for (n_a, n_b) in [(1usize, 5usize), (3, 3), (4, 5)] {
            let n = n_a + n_b;
            let of_mask = |mask: u32| {
                let first: Vec<usize> = (0..n).filter(|i| mask >> i & 1 == 1).collect();
                first.iter().sum::<usize>() - n_a * (n_a - 1) / 2
            };
            let all: Vec<usize> =
                (0..1u32 << n).filter(|mask| mask.count_ones() as usize == n_a).map(of_mask).collect();
            for larger in n_a * n_b / 2 + 1..=n_a * n_b {
                let above = all.iter().filter(|&&u| u >= larger).count();
                let expected = (2.0 * above as f64 / all.len() as f64).min(1.0);
                assert!((exact_p_value(n_a, n_b, larger as f64) - expected).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn equal_values_tell_nothing_and_bad_ones_are_refused() {
        assert_eq!(mann_whitney(&[2.0, 2.0], &[2.0, 2.0, 2.0]).unwrap().p_value, 1.0);
        assert_eq!(mann_whitney(&[0.0], &[-0.0]).unwrap().statistic, 0.5);
        assert!(matches!(mann_whitney(&[], &[1.0]), Err(Error::Shape { .. })));
        assert!(matches!(mann_whitney(&[1.0], &[f64::INFINITY]), Err(Error::NotFinite { .. })));
    }
}
