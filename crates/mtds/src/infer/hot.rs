//! The three loops where adaptive importance sampling spends its time: densities, responsibilities, moments.
//!
//! ```text
//! density          ℓ_i  = c − ½ ‖W (x_i − μ)‖²                      W = L⁻¹ lower (d, d)
//! log-sum-exp      t_i  = log Σ_j exp ℓ_ji                          ℓ (J, n)
//! responsibility   r_ji = w_i exp(ℓ_ji − t_i)                       in place of ℓ
//! moments          S    = Σ_i r_i (1, x_i − c) (1, x_i − c)ᵀ        lower triangle (d + 1, d + 1)
//! ```
//!
//! Points are dimension-major. Everything is plain code on slices, in a fixed order of operations, shaped
//! so that the compiler vectorises the loops over points; the exponential is our own for the same reason,
//! and so that results do not depend on the platform's mathematics library.

use crate::kernel::Real;

/// Points worked on together in registers.
const LANES: usize = 8;
/// Points worked on together in the first-level cache.
const CHUNK: usize = 128;

/// `exp(x)` for `x ≤ 0`, to about two units in the last place; 0 below −708.
#[inline(always)]
pub(crate) fn exp_nonpositive(x: f64) -> f64 {
    let value = x.exp_branch_free(|a, b, c| a * b + c);
    if x < -708.0 { 0.0 } else { value }
}

/// Gaussian log densities: `out[i] = log_norm − ½ ‖whitener (x_i − mean)‖²`.
pub(crate) fn gaussian_log_density(
    points: &[f64],
    mean: &[f64],
    whitener: &[f64],
    log_norm: f64,
    out: &mut [f64],
) {
    squared_distances(points, mean, whitener, out);
    out.iter_mut().for_each(|q| *q = log_norm - 0.5 * *q);
}

/// `out[i] = ‖whitener (x_i − mean)‖²`; with the usual dimensions known to the compiler, which unrolls them.
fn squared_distances(points: &[f64], mean: &[f64], whitener: &[f64], out: &mut [f64]) {
    const ZERO: [f64; LANES] = [0.0; LANES];
    match mean.len() {
        1 => blocks(&mut [ZERO; 1], points, mean, whitener, out),
        2 => blocks(&mut [ZERO; 2], points, mean, whitener, out),
        3 => blocks(&mut [ZERO; 3], points, mean, whitener, out),
        4 => blocks(&mut [ZERO; 4], points, mean, whitener, out),
        5 => blocks(&mut [ZERO; 5], points, mean, whitener, out),
        6 => blocks(&mut [ZERO; 6], points, mean, whitener, out),
        7 => blocks(&mut [ZERO; 7], points, mean, whitener, out),
        8 => blocks(&mut [ZERO; 8], points, mean, whitener, out),
        d => blocks(&mut vec![ZERO; d], points, mean, whitener, out),
    }
}

/// The squared distances, block by block; `centred` is room for one block.
#[inline(always)]
fn blocks(centred: &mut [[f64; LANES]], points: &[f64], mean: &[f64], whitener: &[f64], out: &mut [f64]) {
    let n = out.len();
    let mut begin = 0;
    for block in out.chunks_mut(LANES) {
        for (k, centred) in centred.iter_mut().enumerate() {
            let x = &points[k * n + begin..][..block.len()];
            if let Ok(x) = <&[f64; LANES]>::try_from(x) {
                (0..LANES).for_each(|l| centred[l] = x[l] - mean[k]);
            } else {
                x.iter().zip(centred).for_each(|(x, c)| *c = x - mean[k]);
            }
        }
        let q = squared_lengths(centred, whitener);
        block.copy_from_slice(&q[..block.len()]);
        begin += LANES;
    }
}

/// `‖W c‖²` for `LANES` vectors at once, `W` lower triangular.
#[inline(always)]
fn squared_lengths(centred: &[[f64; LANES]], whitener: &[f64]) -> [f64; LANES] {
    let d = centred.len();
    let mut q = [0.0; LANES];
    for i in 0..d {
        let mut a = [0.0; LANES];
        for (w, c) in whitener[i * d..=i * d + i].iter().zip(centred) {
            (0..LANES).for_each(|l| a[l] += w * c[l]);
        }
        (0..LANES).for_each(|l| q[l] += a[l] * a[l]);
    }
    q
}

/// `total[i] = log Σ_j exp joint[j, i]`; `-inf` where every term is.
pub(crate) fn log_sum_exp(joint: &[f64], total: &mut [f64]) {
    let n = total.len();
    let mut begin = 0;
    for out in total.chunks_mut(CHUNK) {
        let len = out.len();
        let mut highest = [f64::MIN; CHUNK];
        raise_to_terms(joint, n, begin, &mut highest[..len]);
        let mut sums = [0.0; CHUNK];
        for row in joint.chunks_exact(n) {
            for ((s, h), x) in sums.iter_mut().zip(&highest).zip(&row[begin..begin + len]) {
                *s += exp_nonpositive(x - h);
            }
        }
        for ((o, s), h) in out.iter_mut().zip(&sums).zip(&highest) {
            *o = h + s.ln();
        }
        begin += CHUNK;
    }
}

/// Turns log joint densities `(J, n)` into responsibilities times the point's weight, in place.
///
/// A point with no density anywhere is nobody's.
pub(crate) fn responsibilities(joint: &mut [f64], weights: &[f64]) {
    let n = weights.len();
    let mut begin = 0;
    for w in weights.chunks(CHUNK) {
        let len = w.len();
        let mut highest = [f64::MIN; CHUNK];
        raise_to_terms(joint, n, begin, &mut highest[..len]);
        let mut sums = [0.0; CHUNK];
        for row in joint.chunks_exact_mut(n) {
            for ((s, h), x) in sums.iter_mut().zip(&highest).zip(&mut row[begin..begin + len]) {
                *x = exp_nonpositive(*x - h);
                *s += *x;
            }
        }
        let mut share = [0.0; CHUNK];
        for ((share, w), s) in share.iter_mut().zip(w).zip(&sums) {
            *share = if *s > 0.0 { w / s } else { 0.0 };
        }
        for row in joint.chunks_exact_mut(n) {
            row[begin..begin + len].iter_mut().zip(&share).for_each(|(x, share)| *x *= share);
        }
        begin += CHUNK;
    }
}

/// Raises `highest[i]` to `max_j joint[j, begin + i]`.
///
/// Callers begin at the lowest finite number rather than -inf: -inf minus it stays -inf instead of becoming NaN.
#[inline(always)]
fn raise_to_terms(joint: &[f64], n: usize, begin: usize, highest: &mut [f64]) {
    for row in joint.chunks_exact(n) {
        for (h, &x) in highest.iter_mut().zip(&row[begin..]) {
            *h = if x > *h { x } else { *h };
        }
    }
}

/// `Σ_i w_i (1, x_i − centre) (1, x_i − centre)ᵀ`, lower triangle of `(d + 1, d + 1)`, into `out`.
pub(crate) fn weighted_moments(points: &[f64], centre: &[f64], weights: &[f64], out: &mut [f64]) {
    let (d, n) = (centre.len(), weights.len());
    out.fill(0.0);
    let mut delta = vec![[1.0; CHUNK]; d + 1];
    for begin in (0..n).step_by(CHUNK) {
        let len = CHUNK.min(n - begin);
        let mut w = [0.0; CHUNK]; // zero beyond `len`, so that stale deltas do not count
        w[..len].copy_from_slice(&weights[begin..begin + len]);
        for k in 0..d {
            for (c, x) in delta[k + 1].iter_mut().zip(&points[k * n + begin..][..len]) {
                *c = x - centre[k];
            }
        }
        for a in 0..=d {
            let mut weighted = [0.0; CHUNK];
            (0..CHUNK).for_each(|i| weighted[i] = w[i] * delta[a][i]);
            for b in 0..=a {
                out[a * (d + 1) + b] += chunk_dot(&weighted, &delta[b]);
            }
        }
    }
}

/// Dot product with `LANES` partial sums.
#[inline(always)]
fn chunk_dot(a: &[f64; CHUNK], b: &[f64; CHUNK]) -> f64 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        (0..LANES).for_each(|l| sums[l] += a[l] * b[l]);
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_exponential_is_accurate_and_safe_at_the_ends() {
        for i in 0..200_000 {
            let x = -708.0 * f64::from(i) / 200_000.0;
            let (ours, exact) = (exp_nonpositive(x), x.exp());
            assert!((ours - exact).abs() <= 4.0 * f64::EPSILON * exact, "exp({x}) = {ours}, not {exact}");
        }
        assert_eq!(exp_nonpositive(0.0), 1.0);
        assert_eq!(exp_nonpositive(f64::NEG_INFINITY), 0.0);
        assert_eq!(exp_nonpositive(-1e300), 0.0);
        assert!(exp_nonpositive(f64::NAN).is_nan());
    }

    #[test]
    fn impossible_points_belong_to_nobody_and_nan_is_kept() {
        let mut joint = vec![f64::NEG_INFINITY, -1.0, f64::NAN, f64::NEG_INFINITY, -1.0, 0.0];
        let mut total = vec![0.0; 3];
        log_sum_exp(&joint, &mut total);
        assert_eq!(total[0], f64::NEG_INFINITY);
        assert!((total[1] - (2.0_f64.ln() - 1.0)).abs() < 1e-15);
        assert!(total[2].is_nan());
        responsibilities(&mut joint[..], &[1.0, 0.5, 0.0]);
        assert_eq!((joint[0], joint[3]), (0.0, 0.0));
        assert_eq!((joint[1], joint[4]), (0.25, 0.25));
    }

    proptest! {
        /// Sizes around the block lengths against loops over single points.
        #[test]
        fn blocked_loops_agree_with_their_scalar_twins(d in 1_usize..11, n in 1_usize..300, seed in 0_u32..1000) {
            let noise = |i: usize| ((i as f64 + f64::from(seed)) * 12.9898).sin() * 2.0;
            let points: Vec<f64> = (0..d * n).map(noise).collect();
            let mean: Vec<f64> = (0..d).map(|k| noise(k + 7)).collect();
            let whitener: Vec<f64> =
                (0..d * d).map(|ij| if ij % d <= ij / d { 0.2 + noise(ij + 3) } else { 0.0 }).collect();
            let mut joint = vec![0.0; 2 * n];
            gaussian_log_density(&points, &mean, &whitener, -0.3, &mut joint[..n]);
            gaussian_log_density(&points, &vec![0.0; d], &whitener, 0.1, &mut joint[n..]);
            for i in 0..n {
                let q: f64 = (0..d)
                    .map(|r| (0..d).map(|k| whitener[r * d + k] * (points[k * n + i] - mean[k])).sum::<f64>().powi(2))
                    .sum();
                prop_assert!((joint[i] - (-0.3 - 0.5 * q)).abs() < 1e-12 * (1.0 + q));
            }
            let mut total = vec![0.0; n];
            log_sum_exp(&joint, &mut total);
            let weights: Vec<f64> = (0..n).map(|i| noise(i).abs()).collect();
            let mut shares = joint.clone();
            responsibilities(&mut shares, &weights);
            for i in 0..n {
                let twin = (joint[i].exp() + joint[n + i].exp()).ln();
                prop_assert!(twin == f64::NEG_INFINITY || (total[i] - twin).abs() < 1e-12 * (1.0 + twin.abs()));
                let share = weights[i] * (joint[i] - total[i]).exp();
                prop_assert!((shares[i] - share).abs() < 1e-12);
                prop_assert!((shares[i] + shares[n + i] - weights[i]).abs() < 1e-12);
            }
            let mut moments = vec![0.0; (d + 1) * (d + 1)];
            weighted_moments(&points, &mean, &weights, &mut moments);
            for a in 0..=d {
                for b in 0..=a {
                    let delta = |k: usize, i: usize| if k == 0 { 1.0 } else { points[(k - 1) * n + i] - mean[k - 1] };
                    let twin: f64 = (0..n).map(|i| weights[i] * delta(a, i) * delta(b, i)).sum();
                    prop_assert!((moments[a * (d + 1) + b] - twin).abs() < 1e-10 * n as f64);
                }
            }
        }
    }
}
