//! Products of matrices in panels: the micro-kernels, and whole products shared out among threads.
//!
//! ```text
//! add_product              Y  += X W          Y: m × n, X: m × k, W: k × n, all in panels
//! add_transposed_product   W̄  += Xᵀ H         W̄: k × n row-major, X: m × k, H: m × n
//! ```
//! Nothing is packed along the way: activations are born in panels, and weights are packed once per training
//! step. A tile of up to six rows by sixteen columns stays in registers: twelve of AVX2's sixteen hold the
//! sums, two the panel, one the number that multiplies it. Of AVX-512's, sixteen hold the sums of sixteen rows. Loops around the tile keep 16 KiB of
//! a panel in the first cache and some rows of X in the second, in the manner of \[1\].
//!
//! Every number is one sum in one order (k ascending), whatever the tiles, chunks and threads: equal bits.
//!
//! Reference: \[1\] Goto & van de Geijn (2008), Anatomy of high-performance matrix multiplication.

use rayon::prelude::*;

use super::dispatch::{Kernel, dispatch};
use super::pack::{Arch, LANES, Pack};
use super::panels::{Panels, PanelsRef, Sixteen};
use super::scalar::{Real, Scalar};

/// Rows of a panel that stay in the first cache, with those of X and those that are fetched ahead: 8 KiB of f32.
const DEPTH: usize = 128;
/// The same for sums over the rows of both factors, whose tiles are loaded and stored more often.
const DEPTH_TRANSPOSED: usize = 256;
/// Rows of X that stay in the second cache beside it.
const HEIGHT: usize = 192;
/// For so many rows of X weights are worth fetching ahead: each is used a few times between two reads from memory. For
/// fewer the memory is busy anyway, for more it has time enough.
const FETCH_AHEAD: std::ops::RangeInclusive<usize> = 3..=64;
/// Panels of a task.
const GROUP: usize = 4;
/// Multiplications below which sharing out costs more than it saves.
const WORTH_SHARING: usize = 1 << 19;

/// Whether a task is shared out among threads; the result is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// On the caller's thread.
    Alone,
    /// Among the threads of the pool.
    Shared,
}

impl Sharing {
    /// What pays off for a number of multiplications.
    pub(crate) fn of(multiplications: usize) -> Self {
        match multiplications >= WORTH_SHARING && rayon::current_num_threads() > 1 {
            true => Self::Shared,
            false => Self::Alone,
        }
    }

    /// Calls `f` once per item.
    pub(crate) fn for_each<T: Send, P, F>(self, items: P, f: F)
    where
        P: IntoParallelIterator<Item = T, Iter: IndexedParallelIterator> + IntoIterator<Item = T>,
        F: Fn(T) + Sync + Send,
    {
        match self {
            Self::Alone => items.into_iter().for_each(f),
            Self::Shared => items.into_par_iter().for_each(f),
        }
    }
}

/// One panel of weights and the panel of results that it belongs to.
pub type Target<'a, R> = (&'a [Sixteen<R>], &'a mut [Sixteen<R>]);

/// `out += X · w` for each target; `w` has a row per column of X, `out` one per row of X.
#[inline(always)]
pub fn accumulate<R: Real, A: Arch>(x: PanelsRef<'_, R>, targets: &mut [Target<'_, R>]) {
    let mut row = 0;
    while row < x.n_rows() {
        let height = HEIGHT.min(x.n_rows() - row);
        let mut k = 0;
        while k < x.n_columns() {
            let depth = DEPTH.min(x.n_columns() - k);
            for target in 0..targets.len() {
                let ahead = ahead(targets, (target, k), depth);
                let (w, out) = &mut targets[target];
                let (w, out) = (&w[k..k + depth], &mut out[row..row + height]);
                rows_of_tiles::<R, A>(x.rows(row, height), k / LANES, (w, ahead), out);
            }
            k += depth;
        }
        row += height;
    }
}

/// The weights that come after rows `k .. k + depth` of a target: those of the next target, or further down the first.
#[inline(always)]
fn ahead<'a, R>(targets: &[Target<'a, R>], (target, k): (usize, usize), depth: usize) -> &'a [Sixteen<R>] {
    let (w, from) = match targets.get(target + 1) {
        Some((w, _)) => (*w, k),
        None => (targets[0].0, k + depth),
    };
    &w[from..w.len().min(from + DEPTH)]
}

/// All rows, cut into tiles of nearly equal height; each fetches its share of `ahead`.
#[inline(always)]
fn rows_of_tiles<R: Real, A: Arch>(
    x: PanelsRef<'_, R>,
    panel: usize,
    (w, mut ahead): (&[Sixteen<R>], &[Sixteen<R>]),
    out: &mut [Sixteen<R>],
) {
    let share =
        if FETCH_AHEAD.contains(&out.len()) { ahead.len().div_ceil(out.len().div_ceil(A::TILE)) } else { 0 };
    let mut row = 0;
    while row < out.len() {
        let left = out.len() - row;
        let n = left.div_ceil(left.div_ceil(A::TILE));
        let out = &mut out[row..row + n];
        let (own, rest) = ahead.split_at(share.min(ahead.len()));
        ahead = rest;
        match n {
            16 if A::TILE >= 16 => tile::<R, A, 16>(x, (panel, row), (w, own), out),
            15 if A::TILE >= 15 => tile::<R, A, 15>(x, (panel, row), (w, own), out),
            14 if A::TILE >= 14 => tile::<R, A, 14>(x, (panel, row), (w, own), out),
            13 if A::TILE >= 13 => tile::<R, A, 13>(x, (panel, row), (w, own), out),
            12 if A::TILE >= 12 => tile::<R, A, 12>(x, (panel, row), (w, own), out),
            11 if A::TILE >= 11 => tile::<R, A, 11>(x, (panel, row), (w, own), out),
            10 if A::TILE >= 10 => tile::<R, A, 10>(x, (panel, row), (w, own), out),
            9 if A::TILE >= 9 => tile::<R, A, 9>(x, (panel, row), (w, own), out),
            8 if A::TILE >= 8 => tile::<R, A, 8>(x, (panel, row), (w, own), out),
            7 if A::TILE >= 7 => tile::<R, A, 7>(x, (panel, row), (w, own), out),
            6 => tile::<R, A, 6>(x, (panel, row), (w, own), out),
            5 => tile::<R, A, 5>(x, (panel, row), (w, own), out),
            4 => tile::<R, A, 4>(x, (panel, row), (w, own), out),
            3 => tile::<R, A, 3>(x, (panel, row), (w, own), out),
            2 => tile::<R, A, 2>(x, (panel, row), (w, own), out),
            _ => tile::<R, A, 1>(x, (panel, row), (w, own), out),
        }
        row += n;
    }
}

/// `N` rows from `row` on, the sum over the columns of X from panel `panel` on.
#[inline(always)]
fn tile<R: Real, A: Arch, const N: usize>(
    x: PanelsRef<'_, R>,
    (panel, row): (usize, usize),
    (w, ahead): (&[Sixteen<R>], &[Sixteen<R>]),
    out: &mut [Sixteen<R>],
) {
    let mut sum: [Pack<R, A>; N] = std::array::from_fn(|j| Pack::new(out[j].0));
    let mut ahead = ahead.chunks(ahead.len().div_ceil(w.len().div_ceil(LANES)).max(1));
    for (p, w) in w.chunks(LANES).enumerate() {
        for line in ahead.next().unwrap_or_default() {
            fetch(line);
        }
        let x = &x.panel(panel + p)[row..row + N];
        for k in 0..w.len().min(LANES) {
            let wk = Pack::new(w[k].0);
            for j in 0..N {
                sum[j] = Pack::splat(x[j].0[k]).mul_add(wk, sum[j]);
            }
        }
    }
    for j in 0..N {
        out[j] = Sixteen(sum[j].to_array());
    }
}

/// Asks for a line to be in the first cache when it is needed.
#[inline(always)]
fn fetch<R>(line: &Sixteen<R>) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint; it reads nothing, needs no more than SSE, and the address is that of a reference.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(line).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

/// `out += Xᵀ H` for the columns of some panels of X; `out` is row-major with a row per such column.
#[inline(always)]
pub fn accumulate_transposed<R: Real, A: Arch>(panels: &[&[Sixteen<R>]], h: PanelsRef<'_, R>, out: &mut [R]) {
    let width = h.n_columns();
    let mut row = 0;
    while row < h.n_rows() {
        let depth = DEPTH_TRANSPOSED.min(h.n_rows() - row);
        for column in 0..h.n_panels() {
            let h = &h.panel(column)[row..row + depth];
            for (x, out) in panels.iter().zip(out.chunks_mut(LANES * width)) {
                let x = &x[row..row + depth];
                let at = (column * LANES, width);
                if A::TILE >= LANES {
                    transposed_tile::<R, A, 0, 16>(x, h, at, out);
                    continue;
                }
                transposed_tile::<R, A, 0, 6>(x, h, at, out);
                transposed_tile::<R, A, 6, 5>(x, h, at, out);
                transposed_tile::<R, A, 11, 5>(x, h, at, out);
            }
        }
        row += depth;
    }
}

/// Columns `FIRST … FIRST + N` of a panel of X against a panel of H; the sums stand at column `at.0` of rows of
/// length `at.1`.
#[inline(always)]
fn transposed_tile<R: Real, A: Arch, const FIRST: usize, const N: usize>(
    x: &[Sixteen<R>],
    h: &[Sixteen<R>],
    (column, width): (usize, usize),
    out: &mut [R],
) {
    let n_rows = (out.len() / width).saturating_sub(FIRST).min(N);
    let used = LANES.min(width - column);
    let mut sum = [Pack::<R, A>::zero(); N];
    for j in 0..n_rows {
        let mut lanes = [R::default(); LANES];
        let start = (FIRST + j) * width + column;
        lanes[..used].copy_from_slice(&out[start..start + used]);
        sum[j] = Pack::new(lanes);
    }
    for (x, h) in x.iter().zip(h) {
        let h = Pack::new(h.0);
        for j in 0..N {
            sum[j] = Pack::splat(x.0[FIRST + j]).mul_add(h, sum[j]);
        }
    }
    for j in 0..n_rows {
        let start = (FIRST + j) * width + column;
        out[start..start + used].copy_from_slice(&sum[j].to_array()[..used]);
    }
}

struct Accumulate<'x, 'a, 'b, R> {
    x: PanelsRef<'x, R>,
    targets: &'b mut [Target<'a, R>],
}

impl<R: Real> Kernel for Accumulate<'_, '_, '_, R> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arch>(self) {
        accumulate::<R, A>(self.x, self.targets);
    }
}

struct AccumulateTransposed<'a, R> {
    panels: &'a [&'a [Sixteen<R>]],
    h: PanelsRef<'a, R>,
    out: &'a mut [R],
}

impl<R: Real> Kernel for AccumulateTransposed<'_, R> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arch>(self) {
        accumulate_transposed::<R, A>(self.panels, self.h, self.out);
    }
}

/// `out += X · w` for each target, shared out among threads.
pub fn add_products<R: Real>(x: PanelsRef<'_, R>, mut targets: Vec<Target<'_, R>>) {
    let work = x.n_rows() * x.n_columns() * LANES * targets.len();
    let groups: Vec<_> = targets.chunks_mut(GROUP).collect();
    Sharing::of(work).for_each(groups, |targets| dispatch(Accumulate { x, targets }));
}

/// `Y += X W`.
///
/// # Panics
/// If the sizes do not fit: a bug of the caller.
pub fn add_product<R: Real>(x: PanelsRef<'_, R>, weights: &Panels<R>, out: &mut Panels<R>) {
    assert_eq!((x.n_rows(), weights.n_columns()), (out.n_rows(), out.n_columns()));
    assert_eq!(x.n_columns(), weights.n_rows());
    if x.n_rows() * x.n_columns() > 0 {
        let panels = weights.values().chunks(x.n_columns());
        add_products(x, panels.zip(out.values_mut().chunks_mut(x.n_rows())).collect());
    }
}

/// `W̄ += Xᵀ H` for X given by its panels; `out` is row-major, a row per column of X.
///
/// # Panics
/// If the sizes do not fit: a bug of the caller.
pub fn add_transposed_product<R: Real>(panels: &[&[Sixteen<R>]], h: PanelsRef<'_, R>, out: &mut [R]) {
    let width = h.n_columns();
    if out.is_empty() || h.n_rows() == 0 {
        return;
    }
    assert!(out.len().is_multiple_of(width) && (out.len() / width).div_ceil(LANES) == panels.len());
    let work = h.n_rows() * out.len();
    let tasks: Vec<_> = panels.chunks(GROUP).zip(out.chunks_mut(GROUP * LANES * width)).collect();
    Sharing::of(work).for_each(tasks, |(panels, out)| dispatch(AccumulateTransposed { panels, h, out }));
}
