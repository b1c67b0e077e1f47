//! Between row-major weights and panels: what a layer does once per training step, not once per time step.
//!
//! ```text
//! W: n_out × n_in row-major      forward   panels of Wᵀ: a row per input,  sixteen outputs each
//!                                adjoint   panels of W:  a row per output, sixteen inputs each
//! ```

use super::LANES;
use super::dispatch::{Kernel, dispatch};
use super::pack::{Arch, Pack};
use super::panels::Sixteen;
use super::scalar::{Real, Scalar};

/// The panel of Wᵀ for up to sixteen outputs, whose rows of W follow one another in `rows`.
pub(crate) fn pack_outputs<R: Real>(rows: &[R], panel: &mut [Sixteen<R>]) {
    let n_in = panel.len();
    for (b, block) in panel.chunks_mut(LANES).enumerate() {
        // Rows may lie a power of two apart, where only a few of their lines fit in the cache together: each
        // line is read whole before the next.
        let mut square = [[R::default(); LANES]; LANES];
        for (row, part) in rows.chunks_exact(n_in).zip(&mut square) {
            let row = &row[b * LANES..b * LANES + block.len()];
            part[..row.len()].copy_from_slice(row);
        }
        for (k, out) in block.iter_mut().enumerate() {
            for (lane, row) in out.0.iter_mut().zip(&square) {
                *lane = row[k];
            }
        }
    }
}

/// The panel of W for sixteen inputs from `column` on: one row per row of `rows`, each `n_in` long.
pub(crate) fn pack_inputs<R: Real>(rows: &[R], (column, n_in): (usize, usize), panel: &mut [Sixteen<R>]) {
    let used = LANES.min(n_in - column);
    for (row, out) in rows.chunks_exact(n_in).zip(panel) {
        *out = Sixteen([R::default(); LANES]);
        out.0[..used].copy_from_slice(&row[column..column + used]);
    }
}

/// Sixteen numbers of a vector from `at` on, zeros beyond its end.
pub(crate) fn sixteen_from<R: Real>(values: &[R], at: usize) -> Sixteen<R> {
    let part = &values[at..values.len().min(at + LANES)];
    let mut out = Sixteen([R::default(); LANES]);
    out.0[..part.len()].copy_from_slice(part);
    out
}

/// `out_j += Σ_i X_ij` over the rows of panels that lie one after the other.
pub(crate) fn add_column_sums<'a, R: Real>(panels: impl Iterator<Item = &'a [Sixteen<R>]>, out: &mut [R]) {
    for (panel, out) in panels.zip(out.chunks_mut(LANES)) {
        let sum = dispatch(SumRows(panel));
        for (o, s) in out.iter_mut().zip(sum.0) {
            *o += s;
        }
    }
}

struct SumRows<'a, R>(&'a [Sixteen<R>]);

impl<R: Real> Kernel for SumRows<'_, R> {
    type Output = Sixteen<R>;
    #[inline(always)]
    fn run<A: Arch>(self) -> Sixteen<R> {
        let mut sum = Pack::<R, A>::zero();
        for row in self.0 {
            sum += Pack::new(row.0);
        }
        Sixteen(sum.to_array())
    }
}
