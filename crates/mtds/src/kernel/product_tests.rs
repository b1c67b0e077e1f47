//! Products in panels against textbook loops, at every instruction level and over random shapes.

use proptest::prelude::*;

use super::dispatch::{Kernel, Level, dispatch_at};
use super::pack::Arch;
use super::panels::{Panels, PanelsRef, Sixteen};
use super::product::{accumulate, accumulate_transposed, add_product, add_transposed_product};
use super::{LANES, Real};

fn wave<R: Real>(n_rows: usize, n_columns: usize, phase: f64) -> Panels<R> {
    Panels::from_fn(n_rows, n_columns, |i, j| R::from_f64(((i * n_columns + j) as f64 * 0.7 + phase).sin()))
}

struct Both<'a, R> {
    x: PanelsRef<'a, R>,
    w: &'a Panels<R>,
    h: PanelsRef<'a, R>,
}

impl<R: Real> Kernel for Both<'_, R> {
    type Output = (Panels<R>, Vec<R>);
    #[inline(always)]
    fn run<A: Arch>(self) -> Self::Output {
        let mut out = wave(self.x.n_rows(), self.w.n_columns(), 0.3);
        let panels = self.w.values().chunks(self.w.n_rows());
        let mut targets: Vec<_> = panels.zip(out.values_mut().chunks_mut(self.x.n_rows())).collect();
        accumulate::<R, A>(self.x, &mut targets);
        let panels: Vec<&[Sixteen<R>]> = (0..self.x.n_panels()).map(|p| self.x.panel(p)).collect();
        let mut transposed = wave(self.x.n_columns(), self.h.n_columns(), 0.4).to_rows();
        accumulate_transposed::<R, A>(&panels, self.h, &mut transposed);
        (out, transposed)
    }
}

/// Compares both products of an m × k matrix with the textbook's, in units of the rounding error of their length.
fn check<R: Real>(m: usize, k: usize, n: usize, epsilon: f64) -> std::result::Result<(), TestCaseError> {
    // Rows in the middle of a larger matrix, as those of one step are.
    let whole = wave::<R>(m + 5, k, 0.1);
    let (x, w, h) = (whole.rows(2, m), wave::<R>(k, n, 0.2), wave::<R>(m, n, 0.5));
    let both = |level| dispatch_at(level, Both { x, w: &w, h: h.view() });
    if Level::detect() == Level::Wide {
        let (fused, wide) = (both(Level::Fused), both(Level::Wide));
        prop_assert!(
            fused.1 == wide.1 && fused.0.to_rows() == wide.0.to_rows(),
            "other registers, other bits"
        );
    }
    for level in Level::ALL {
        let (out, transposed) = both(level);
        for column in 0..n {
            for row in 0..m {
                let term = |i: usize| x.get(row, i).to_f64() * w.view().get(i, column).to_f64();
                let start = wave::<R>(m, n, 0.3).view().get(row, column).to_f64();
                let want = (0..k).fold(start, |sum, i| sum + term(i));
                prop_assert!((out.view().get(row, column).to_f64() - want).abs() < epsilon * (k + 1) as f64);
            }
            for row in 0..k {
                let term = |i: usize| x.get(i, row).to_f64() * h.view().get(i, column).to_f64();
                let start = wave::<R>(k, n, 0.4).view().get(row, column).to_f64();
                let want = (0..m).fold(start, |sum, i| sum + term(i));
                prop_assert!((transposed[row * n + column].to_f64() - want).abs() < epsilon * (m + 1) as f64);
            }
        }
        let padding = out.values().chunks(m).last().into_iter().flatten();
        prop_assert!(padding.flat_map(|s| &s.0[(n - 1) % LANES + 1..]).all(|&v| v == R::default()));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn products_equal_the_textbook_loops(m in 1usize..20, k in 1usize..40, n in 1usize..40) {
        check::<f32>(m, k, n, 2e-7)?;
        check::<f64>(m, k, n, 4e-16)?;
    }
}

/// Deeper and taller than what the loops keep in a cache at a time.
#[test]
fn products_larger_than_the_chunks_equal_the_textbook_loops() {
    check::<f32>(200, 259, 5, 2e-7).unwrap();
    check::<f32>(261, 7, 18, 2e-7).unwrap();
}

#[test]
fn shared_products_have_the_bits_of_those_on_one_thread() {
    let (x, w) = (wave::<f32>(60, 150, 0.1), wave::<f32>(150, 170, 0.2));
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut out = Panels::zeros(60, 170);
            add_product(x.view(), &w, &mut out);
            let mut transposed = vec![0.0; 150 * 170];
            let panels: Vec<_> = x.values().chunks(60).collect();
            add_transposed_product(&panels, out.view(), &mut transposed);
            (out, transposed)
        })
    };
    assert_eq!(on(1), on(3));
}

/// The same product many times over.
struct Repeated<'a> {
    x: PanelsRef<'a, f32>,
    w: &'a Panels<f32>,
    times: usize,
}

impl Kernel for Repeated<'_> {
    type Output = Panels<f32>;
    #[inline(always)]
    fn run<A: Arch>(self) -> Panels<f32> {
        let mut out = wave(self.x.n_rows(), self.w.n_columns(), 0.3);
        for _ in 0..self.times {
            let panels = self.w.values().chunks(self.w.n_rows());
            let mut targets: Vec<_> = panels.zip(out.values_mut().chunks_mut(self.x.n_rows())).collect();
            accumulate::<f32, A>(self.x, &mut targets);
        }
        out
    }
}

/// What wide registers bring: `cargo test --release -p mtds --lib what_registers_bring -- --ignored --nocapture`.
#[test]
#[ignore = "takes time, and tells instead of checking"]
fn what_registers_bring() {
    let (x, w, times) = (wave::<f32>(16, 1024, 0.1), wave::<f32>(1024, 64, 0.2), 200);
    for level in Level::ALL.into_iter().filter(|level| *level <= Level::detect()) {
        let run = |_: usize| {
            let begun = std::time::Instant::now();
            std::hint::black_box(dispatch_at(level, Repeated { x: x.view(), w: &w, times }));
            begun.elapsed().as_secs_f64()
        };
        let mut seconds: Vec<f64> = (0..15).map(run).collect();
        seconds.sort_by(f64::total_cmp);
        println!("{level:?}: {:.0} Gflop/s", 2e-9 * (16 * 1024 * 64 * times) as f64 / seconds[7]);
    }
}
