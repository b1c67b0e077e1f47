//! Dense products on the card.

use super::{Network, Room};
use crate::Result;
use crate::queue::{Arg, Extent, Plain};

/// Below so many tiles, a product shares out its inner dimension: fewer would leave multiprocessors idle.
const FEW_TILES: usize = 100;

/// `Product` of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Product {
    pub(super) a: u64,
    pub(super) b: u64,
    pub(super) bias: u64,
    pub(super) c: u64,
    pub(super) m: i32,
    pub(super) n: i32,
    pub(super) k: i32,
    pub(super) lda: i32,
    pub(super) ldb: i32,
    pub(super) ldc: i32,
    pub(super) a_is_transposed: i32,
    pub(super) b_is_transposed: i32,
    pub(super) wide_a: i32,
    pub(super) wide_b: i32,
    pub(super) count: i32,
    pub(super) parts: i32,
    pub(super) a_at: [i64; 4],
    pub(super) c_at: [i64; 4],
    pub(super) part_step: i64,
}

#[allow(unsafe_code)] // plain numbers in the layout of C
unsafe impl Plain for Product {}

impl Network {
    /// The most numbers that products over so many rows leave side by side before they are added up.
    pub(super) fn largest_parts(&self, rows: usize) -> usize {
        let Some(front) = self.shape.front else { return 0 };
        let parts = |count: usize, m: usize, n: usize, k: usize| match parts_of((count, m), n, k) {
            1 => 0,
            parts => count * parts * m * n,
        };
        let (h, l, m) = (front.units, front.bottleneck, front.d_input);
        let forward = parts(1, rows, 3 * h, m).max(parts(1, rows, l, h));
        let back = parts(1, rows, h, l).max(parts(1, l, h, rows));
        forward.max(back).max(parts(3, h, h, rows)).max(parts(3, h, m, rows))
    }

    pub(super) fn product(&self, of: Product, room: &Room) -> Result<()> {
        let (m, n, k) = (of.m as usize, of.n as usize, of.k as usize);
        let wide = |address: u64, ld: i32, width: i32| {
            i32::from(address.is_multiple_of(16) && ld % 4 == 0 && width % 4 == 0)
        };
        let (a_width, b_width) = (
            if of.a_is_transposed == 1 { of.m } else { of.k },
            if of.b_is_transposed == 1 { of.k } else { of.n },
        );
        let far = of.a_at.iter().all(|at| at % 4 == 0);
        let count = of.count.max(1);
        let parts = parts_of((count as usize, m), n, k);
        let mut of = Product { count, parts: parts as i32, part_step: (m * n) as i64, ..of };
        let out_step = of.c_at[1] as usize;
        (of.wide_a, of.wide_b) =
            (if far { wide(of.a, of.lda, a_width) } else { 0 }, wide(of.b, of.ldb, b_width));
        let (to, ldc) = (of.c, of.ldc);
        if parts > 1 {
            (of.c, of.ldc) = (room.parts.at(0), of.n);
            of.c_at = [0, 1, 2, 3].map(|which| which * (parts * m * n) as i64);
        }
        let kernel = match (of.a_is_transposed, of.b_is_transposed) {
            (0, 0) => "product_plain",
            (0, _) => "product_right_transposed",
            (_, _) => "product_left_transposed",
        };
        let grid = [n.div_ceil(64), m.div_ceil(128), count as usize * parts];
        self.queue.launch(kernel, Extent::blocks(grid, 256), &[Arg::Struct(&of)])?;
        if parts > 1 {
            let args = [
                room.parts.at(0).into(),
                parts.into(),
                m.into(),
                n.into(),
                to.into(),
                (ldc as usize).into(),
                out_step.into(),
            ];
            self.queue.launch(
                "add_parts",
                Extent::blocks([(m * n).div_ceil(256), count as usize, 1], 256),
                &args,
            )?;
        }
        Ok(())
    }
}

/// In how many parts so many products of m × n sums of k numbers take k.
fn parts_of((count, m): (usize, usize), n: usize, k: usize) -> usize {
    let tiles = count * n.div_ceil(64) * m.div_ceil(128);
    if tiles >= FEW_TILES { 1 } else { (FEW_TILES / tiles).clamp(1, (k / 64).max(1)) }
}
