//! Whether Markov chains have mixed, and what their draws are worth.
//!
//! ```text
//! chains are halved: m pieces of n draws          x_{jt} → Φ⁻¹((rank − ⅜) / (m n + ¼))
//! W = mean of the pieces' variances     B/n = variance of their means     V = (n − 1)/n W + B/n
//! R̂ = √(V / W)                          ρ_t = 1 − (W − mean autocovariance at lag t) / V
//! ESS = m n / (−1 + 2 Σ_k P_k)          P_k = ρ_{2k} + ρ_{2k+1}, while positive, made non-increasing
//! ```
//! Reference: Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), Rank-normalization, folding, and
//! localization: an improved R̂; the truncation is that of Geyer (1992), Practical Markov chain Monte Carlo.

use crate::kernel::normal;

/// Fewest draws per chain that can be halved and have a variance.
const FEWEST: usize = 4;

/// Bulk effective sample size of equally long chains.
///
/// `None` unless every chain has four draws or more, all finite, and some differ.
#[must_use]
pub fn effective_draws(chains: &[&[f64]]) -> Option<f64> {
    let pieces = halves(chains)?;
    Some(effective_size(&rank_normalised(&pieces)))
}

/// The larger of split R̂ of location and of scale; near 1 where chains agree.
///
/// `None` as for [`effective_draws`].
#[must_use]
pub fn split_r_hat(chains: &[&[f64]]) -> Option<f64> {
    let pieces = halves(chains)?;
    let mut all = pieces.concat();
    all.sort_by(f64::total_cmp);
    let median = 0.5 * (all[(all.len() - 1) / 2] + all[all.len() / 2]);
    let folded: Vec<Vec<f64>> =
        pieces.iter().map(|piece| piece.iter().map(|x| (x - median).abs()).collect()).collect();
    let location = Variances::new(&rank_normalised(&pieces)).r_hat();
    // Draws that take two values fold to one, which says nothing about scale.
    let scale = Variances::new(&rank_normalised(&folded));
    Some(if scale.total > 0.0 { location.max(scale.r_hat()) } else { location })
}

/// Both halves of every chain; of an odd number the middle draw is left out.
fn halves(chains: &[&[f64]]) -> Option<Vec<Vec<f64>>> {
    let n = chains.first()?.len();
    let first = chains[0].first()?;
    let usable = n >= FEWEST
        && chains.iter().all(|c| c.len() == n && c.iter().all(|x| x.is_finite()))
        && chains.iter().any(|c| c.iter().any(|x| x != first));
    let cut = |c: &&[f64]| [c[..n / 2].to_vec(), c[n - n / 2..].to_vec()];
    usable.then(|| chains.iter().flat_map(cut).collect())
}

/// Normal scores of the ranks among all draws; equal draws share their mean rank.
fn rank_normalised(pieces: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = pieces[0].len();
    let all = pieces.concat();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|&i, &j| all[i].total_cmp(&all[j]));
    let mut scores = vec![0.0; all.len()];
    let mut from = 0;
    while from < order.len() {
        let same = order[from..].iter().take_while(|&&i| all[i] == all[order[from]]).count();
        let mean_rank = from as f64 + 0.5 * (same as f64 + 1.0);
        let score = normal::quantile((mean_rank - 0.375) / (all.len() as f64 + 0.25));
        order[from..from + same].iter().for_each(|&i| scores[i] = score);
        from += same;
    }
    scores.chunks_exact(n).map(<[f64]>::to_vec).collect()
}

/// W and V.
struct Variances {
    within: f64,
    total: f64,
}

impl Variances {
    fn new(pieces: &[Vec<f64>]) -> Self {
        let (m, n) = (pieces.len() as f64, pieces[0].len() as f64);
        let means: Vec<f64> = pieces.iter().map(|p| p.iter().sum::<f64>() / n).collect();
        let within = pieces.iter().map(|p| autocovariance(p, 0) * n / (n - 1.0)).sum::<f64>() / m;
        let centre = means.iter().sum::<f64>() / m;
        let between = means.iter().map(|mean| (mean - centre).powi(2)).sum::<f64>() / (m - 1.0);
        Self { within, total: (n - 1.0) / n * within + between }
    }

    /// Beyond all bounds for pieces that stand still at different places.
    fn r_hat(&self) -> f64 {
        (self.total / self.within).sqrt()
    }
}

/// (1/n) Σ (x_t − x̄)(x_{t+lag} − x̄).
fn autocovariance(x: &[f64], lag: usize) -> f64 {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let pairs = x[..x.len() - lag].iter().zip(&x[lag..]);
    pairs.map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / x.len() as f64
}

/// ESS of pieces as they are.
fn effective_size(pieces: &[Vec<f64>]) -> f64 {
    let (m, n) = (pieces.len(), pieces[0].len());
    let total = (m * n) as f64;
    let variances = Variances::new(pieces);
    let correlation = |lag: usize| {
        let mean = pieces.iter().map(|p| autocovariance(p, lag)).sum::<f64>() / m as f64;
        1.0 - (variances.within - mean) / variances.total
    };
    let (mut sum, mut least) = (0.0, f64::INFINITY);
    for k in 0..n / 2 {
        // At lag 0 the estimate would keep the small-sample factor of W; it is 1 by definition.
        let even = if k == 0 { 1.0 } else { correlation(2 * k) };
        let pair = even + correlation(2 * k + 1);
        if pair <= 0.0 {
            break;
        }
        least = least.min(pair);
        sum += least;
    }
    // Antithetic chains can be worth more than independent draws; the bound keeps the estimate finite.
    (total / (2.0 * sum - 1.0).max(1.0 / total.log10())).max(1.0)
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use rand_distr::StandardNormal;

    use super::*;
    use crate::random::stream;

    /// x_t = ρ x_{t−1} + √(1 − ρ²) ε_t: standard normal with autocorrelation ρ^t.
    fn autoregression(rho: f64, n: usize, seed: u64) -> Vec<f64> {
        let mut random = stream(seed, 0);
        let mut x = random.sample::<f64, _>(StandardNormal);
        let mut next = || {
            x = rho * x + (1.0 - rho * rho).sqrt() * random.sample::<f64, _>(StandardNormal);
            x
        };
        (0..n).map(|_| next()).collect()
    }

    /// (1 − ρ) / (1 + ρ) effective draws per draw. The estimate scatters by √(2 · lags summed / n), under 3 %
    /// here; 15 % is five times that: a false alarm in a million seeds, four chances of it.
    #[test]
    fn effective_draws_of_autoregressions() {
        for rho in [0.0, 0.3, 0.6, 0.9] {
            let n = 40_000;
            let chains = [autoregression(rho, n, 3), autoregression(rho, n, 4)];
            let found = effective_draws(&[&chains[0], &chains[1]]).unwrap();
            let exact = 2.0 * n as f64 * (1.0 - rho) / (1.0 + rho);
            assert!((found / exact - 1.0).abs() < 0.15, "ρ = {rho}: found {found}, exact {exact}");
            let r_hat = split_r_hat(&[&chains[0], &chains[1]]).unwrap();
            assert!((0.999..1.01).contains(&r_hat), "ρ = {rho}: {r_hat}");
        }
    }

    /// Draws that alternate around the mean cancel: worth more than independent ones.
    #[test]
    fn antithetic_draws_are_worth_more() {
        let chain = autoregression(-0.5, 20_000, 5);
        let found = effective_draws(&[&chain]).unwrap() / 20_000.0;
        assert!((found / 3.0 - 1.0).abs() < 0.15, "{found}");
    }

    /// By hand: variances 5/3 within both pieces, means 2.5 and 4.5.
    #[test]
    fn variances_of_two_short_pieces() {
        let pieces = [vec![1.0, 2.0, 3.0, 4.0], vec![3.0, 4.0, 5.0, 6.0]];
        let found = Variances::new(&pieces);
        assert!((found.within - 5.0 / 3.0).abs() < 1e-12);
        assert!((found.total - (0.75 * 5.0 / 3.0 + 2.0)).abs() < 1e-12);
        assert!((found.r_hat() - 1.95_f64.sqrt()).abs() < 1e-12);
    }

    /// Golden values: `numpyro.diagnostics` 0.22 on x = sin(0.4 t + c) + 0.1 (t² mod 7), c = 0, 1, t = 0 … 23,
    /// reshaped to four pieces: `effective_sample_size(x)` and `gelman_rubin(x)`.
    #[test]
    fn formulas_agree_with_numpyro() {
        let value = |c: usize, t: usize| (0.4 * t as f64 + c as f64).sin() + 0.1 * ((t * t) % 7) as f64;
        let chains: Vec<Vec<f64>> = (0..2).map(|c| (0..24).map(|t| value(c, t)).collect()).collect();
        let pieces = halves(&[&chains[0], &chains[1]]).unwrap();
        assert!((effective_size(&pieces) / GOLDEN_ESS - 1.0).abs() < 1e-9, "{}", effective_size(&pieces));
        assert!((Variances::new(&pieces).r_hat() - GOLDEN_R_HAT).abs() < 1e-9);
    }
    const GOLDEN_ESS: f64 = 14.444_787_147_701_044;
    const GOLDEN_R_HAT: f64 = 0.974_959_160_796_017_9;

    #[test]
    fn ranks_do_not_depend_on_units_and_share_ties() {
        let chain = autoregression(0.5, 1_000, 6);
        let bent: Vec<f64> = chain.iter().map(|x| x.exp()).collect();
        assert_eq!(effective_draws(&[&chain]), effective_draws(&[&bent]));
        let scores = rank_normalised(&[vec![2.0, 1.0, 2.0], vec![5.0, 0.0, 2.0]]);
        let quantile = |rank: f64| normal::quantile((rank - 0.375) / 6.25);
        let wanted = [[4.0, 2.0, 4.0], [6.0, 1.0, 4.0]].map(|row| row.map(quantile).to_vec());
        assert_eq!(scores, wanted);
    }

    #[test]
    fn chains_that_disagree_are_told() {
        let (a, b) = (autoregression(0.2, 500, 7), autoregression(0.2, 500, 8));
        let shifted: Vec<f64> = b.iter().map(|x| x + 2.0).collect();
        let wider: Vec<f64> = b.iter().map(|x| x * 4.0).collect();
        assert!(split_r_hat(&[&a, &shifted]).unwrap() > 1.3);
        assert!(split_r_hat(&[&a, &wider]).unwrap() > 1.1, "the folded draws differ");
        // A trend within one chain: its halves disagree.
        let trend: Vec<f64> = a.iter().enumerate().map(|(t, x)| x + 0.01 * t as f64).collect();
        assert!(split_r_hat(&[&trend]).unwrap() > 1.3);
        let far: Vec<f64> = (0..500).map(|t| f64::from(u8::from(t >= 250))).collect();
        assert!(split_r_hat(&[&far]).unwrap() > 1e6, "nothing varies within the halves");
        assert!(effective_draws(&[&far]).unwrap() < 5.0);
    }

    #[test]
    fn what_cannot_be_told_is_none() {
        let still = [1.0; 100];
        let unequal = ([1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0]);
        let cases: [&[&[f64]]; 5] = [&[], &[&[]], &[&[1.0, 2.0, 3.0]], &[&still], &[&unequal.0, &unequal.1]];
        for chains in cases {
            assert_eq!((effective_draws(chains), split_r_hat(chains)), (None, None), "{chains:?}");
        }
        assert_eq!(split_r_hat(&[&[1.0, 2.0, f64::NAN, 3.0]]), None);
        assert!(effective_draws(&[&[1.0, 2.0, 1.5, 3.0]]).unwrap() >= 1.0);
    }
}
