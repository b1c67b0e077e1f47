//! Dense layers on packs of particles: forward, pull-back, and the weight gradient over many packs.
//!
//! ```text
//! forward          a_u  = b_u + Σ_j W_uj x_j            W: n_out × n_in, row-major
//! pull-back        x̄_j  = Σ_u W_uj ā_u
//! weight gradient  W̄_uj += Σ_packs Σ_lanes ā_u x_j      one product over all packs of a chunk
//! ```
//! Each loop keeps a tile of accumulators in registers; six packs of sixteen f32 are twelve of AVX2's
//! sixteen registers.

use super::scalar::{Lanes, Scalar};

const TILE: usize = 6;

/// Calls `$tile::<TILE>` over `0..$n`, and narrower tiles over the remainder.
macro_rules! tiled {
    ($n:expr, $tile:ident ( $($arg:expr),* )) => {{
        let n = $n;
        let mut at = 0;
        while at + TILE <= n {
            $tile::<S, TILE>(at, $($arg),*);
            at += TILE;
        }
        while at + 2 <= n {
            $tile::<S, 2>(at, $($arg),*);
            at += 2;
        }
        if at < n {
            $tile::<S, 1>(at, $($arg),*);
        }
    }};
}

/// `out = bias + weights · x`.
#[inline(always)]
pub fn affine<S: Scalar>(weights: &[S::Real], bias: &[S::Real], x: &[S], out: &mut [S]) {
    debug_assert_eq!(weights.len(), x.len() * out.len());
    tiled!(out.len(), affine_tile(weights, bias, x, out));
}

#[inline(always)]
fn affine_tile<S: Scalar, const N: usize>(
    at: usize,
    weights: &[S::Real],
    bias: &[S::Real],
    x: &[S],
    out: &mut [S],
) {
    let n_in = x.len();
    let mut sum: [S; N] = std::array::from_fn(|k| S::splat(bias[at + k]));
    let rows: [&[S::Real]; N] = std::array::from_fn(|k| &weights[(at + k) * n_in..(at + k + 1) * n_in]);
    for j in 0..n_in {
        let xj = x[j];
        for k in 0..N {
            sum[k] = S::splat(rows[k][j]).mul_add(xj, sum[k]);
        }
    }
    out[at..at + N].copy_from_slice(&sum);
}

/// `d_x = weightsᵀ · d_out`.
#[inline(always)]
pub fn pull_back<S: Scalar>(weights: &[S::Real], d_out: &[S], d_x: &mut [S]) {
    debug_assert_eq!(weights.len(), d_x.len() * d_out.len());
    tiled!(d_x.len(), pull_back_tile(weights, d_out, d_x));
}

#[inline(always)]
fn pull_back_tile<S: Scalar, const N: usize>(at: usize, weights: &[S::Real], d_out: &[S], d_x: &mut [S]) {
    let n_in = d_x.len();
    let mut sum = [S::zero(); N];
    for (u, &d) in d_out.iter().enumerate() {
        let row = &weights[u * n_in + at..u * n_in + at + N];
        for k in 0..N {
            sum[k] = S::splat(row[k]).mul_add(d, sum[k]);
        }
    }
    d_x[at..at + N].copy_from_slice(&sum);
}

/// Values of many packs: those of one pack are `len` in a row, the next pack's begin `stride` later.
#[derive(Clone, Copy, Debug)]
pub struct Strided<'a, S> {
    /// From the first value of the first pack on.
    pub values: &'a [S],
    /// From one pack to the next.
    pub stride: usize,
    /// Values per pack.
    pub len: usize,
}

impl<'a, S> Strided<'a, S> {
    #[inline(always)]
    fn packs(self) -> impl Iterator<Item = &'a [S]> {
        self.values.chunks(self.stride)
    }
}

/// `d_weights += Σ d_out xᵀ` and `d_bias += Σ d_out`, over packs and lanes.
#[inline(always)]
pub fn weight_gradient<S: Lanes>(
    d_out: Strided<'_, S>,
    x: Strided<'_, S>,
    d_weights: &mut [S::Real],
    d_bias: &mut [S::Real],
) {
    for u in 0..d_out.len {
        let mut sum = S::zero();
        for pack in d_out.packs() {
            sum += pack[u];
        }
        d_bias[u] += sum.sum();
    }
    let mut u = 0;
    while u < d_out.len {
        let rows = (d_out.len - u).min(2);
        let mut j = 0;
        while j < x.len {
            let columns = (x.len - j).min(3);
            match (rows, columns) {
                (2, 3) => outer_tile::<S, 2, 3>((u, j), d_out, x, d_weights),
                (2, 2) => outer_tile::<S, 2, 2>((u, j), d_out, x, d_weights),
                (2, _) => outer_tile::<S, 2, 1>((u, j), d_out, x, d_weights),
                (_, 3) => outer_tile::<S, 1, 3>((u, j), d_out, x, d_weights),
                (_, 2) => outer_tile::<S, 1, 2>((u, j), d_out, x, d_weights),
                _ => outer_tile::<S, 1, 1>((u, j), d_out, x, d_weights),
            }
            j += columns;
        }
        u += rows;
    }
}

/// The tile of the outer product at row `u`, column `j`.
#[inline(always)]
fn outer_tile<S: Lanes, const U: usize, const V: usize>(
    (u, j): (usize, usize),
    d_out: Strided<'_, S>,
    x: Strided<'_, S>,
    d_weights: &mut [S::Real],
) {
    let mut sum = [[S::zero(); V]; U];
    for (d, x) in d_out.packs().zip(x.packs()) {
        let (d, x) = (&d[u..u + U], &x[j..j + V]);
        for a in 0..U {
            for b in 0..V {
                sum[a][b] = d[a].mul_add(x[b], sum[a][b]);
            }
        }
    }
    for a in 0..U {
        for b in 0..V {
            d_weights[(u + a) * x.len + j + b] += sum[a][b].sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Arch, Kernel, LANES, Level, Pack, dispatch_at};
    use super::*;
    use proptest::prelude::*;

    struct AllThree<'a> {
        weights: &'a [f32],
        bias: &'a [f32],
        x: &'a [[f32; LANES]],
        d_out: &'a [[f32; LANES]],
        packs: usize,
    }

    #[derive(Debug)]
    struct Results {
        out: Vec<[f32; LANES]>,
        d_x: Vec<[f32; LANES]>,
        d_weights: Vec<f32>,
        d_bias: Vec<f32>,
    }

    impl Kernel for AllThree<'_> {
        type Output = Results;
        #[inline(always)]
        fn run<A: Arch>(self) -> Results {
            let pack = |v: &[[f32; LANES]]| v.iter().map(|&a| Pack::<f32, A>::new(a)).collect::<Vec<_>>();
            let (x, d_out) = (pack(self.x), pack(self.d_out));
            let (n_in, n_out) = (x.len() / self.packs, d_out.len() / self.packs);
            let mut out = vec![Pack::zero(); n_out];
            affine(self.weights, self.bias, &x[..n_in], &mut out);
            let mut d_x = vec![Pack::zero(); n_in];
            pull_back(self.weights, &d_out[..n_out], &mut d_x);
            let (mut d_weights, mut d_bias) = (vec![0.0; n_in * n_out], vec![0.0; n_out]);
            let strided = |values, len| Strided { values, stride: len, len };
            weight_gradient(strided(&d_out[..], n_out), strided(&x[..], n_in), &mut d_weights, &mut d_bias);
            let flat = |v: Vec<Pack<f32, A>>| v.into_iter().map(Pack::to_array).collect();
            Results { out: flat(out), d_x: flat(d_x), d_weights, d_bias }
        }
    }

    fn wave(n: usize, phase: f32) -> Vec<f32> {
        (0..n).map(|i| ((i as f32) * 0.7 + phase).sin()).collect()
    }

    proptest! {
        #[test]
        fn tiles_equal_the_textbook_loops(n_in in 1usize..20, n_out in 1usize..20, packs in 1usize..4) {
            let weights = wave(n_in * n_out, 0.1);
            let bias = wave(n_out, 0.5);
            let lanes = |n: usize, phase| -> Vec<[f32; LANES]> {
                wave(n * LANES, phase).chunks_exact(LANES).map(|c| c.try_into().unwrap()).collect()
            };
            let (x, d_out) = (lanes(n_in * packs, 0.9), lanes(n_out * packs, 1.7));
            for level in Level::ALL {
                let got = dispatch_at(
                    level,
                    AllThree { weights: &weights, bias: &bias, x: &x, d_out: &d_out, packs },
                );
                let tolerance = 1e-6 * (n_in + n_out + packs * LANES) as f32;
                for u in 0..n_out {
                    for l in 0..LANES {
                        let want = (0..n_in).fold(bias[u], |s, j| s + weights[u * n_in + j] * x[j][l]);
                        prop_assert!((got.out[u][l] - want).abs() < tolerance);
                    }
                    let want: f32 = (0..packs).flat_map(|p| d_out[p * n_out + u]).sum();
                    prop_assert!((got.d_bias[u] - want).abs() < tolerance);
                    for j in 0..n_in {
                        let want: f32 = (0..packs)
                            .flat_map(|p| (0..LANES).map(move |l| (p, l)))
                            .map(|(p, l)| d_out[p * n_out + u][l] * x[p * n_in + j][l])
                            .sum();
                        prop_assert!((got.d_weights[u * n_in + j] - want).abs() < tolerance);
                    }
                }
                for j in 0..n_in {
                    let want: f32 = (0..n_out).map(|u| weights[u * n_in + j] * d_out[u][3]).sum();
                    prop_assert!((got.d_x[j][3] - want).abs() < tolerance);
                }
            }
        }
    }
}
