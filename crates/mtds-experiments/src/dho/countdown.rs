//! One line per finished cell, with the time that is left.

use super::cell::{CellId, CellKind, Recipe};
use crate::Scale;
use mtds_report::text::seconds;

/// What cells of a kind take: about the seconds of one on one thread, as `-v` prints them. That of our recipe for 128
/// sequences at full scale is the quick one times the number of steps.
pub(super) fn weight(kind: &CellKind, scale: Scale) -> f64 {
    let at_scale = |quick: f64, full: f64| match scale {
        Scale::Quick => quick,
        Scale::Full => full,
    };
    // Between the smallest and the largest training set, a straight line.
    let from_to = |smallest: f64, largest: f64, n: usize| smallest + (largest - smallest) * n as f64 / 128.0;
    match kind {
        CellKind::Pooled => 0.1,
        CellKind::Oracle => at_scale(1.4, 5.0),
        CellKind::Single => at_scale(13.0, 140.0),
        CellKind::Mtlds { recipe: Recipe::Paper, n } => {
            at_scale(from_to(8.0, 18.0, *n), from_to(18.0, 31.0, *n))
        }
        CellKind::Mtlds { recipe: Recipe::Ours, n } => {
            at_scale(from_to(11.0, 42.0, *n), from_to(80.0, 500.0, *n))
        }
    }
}

/// How far the cells have come.
pub(super) struct Countdown {
    scale: Scale,
    kept: usize,
    n_cells: usize,
    n_finished: usize,
    work: f64,
    finished: f64,
}

impl Countdown {
    /// Before the first of `cells` at a scale, with `kept` others that need no work.
    pub(super) fn new(cells: &[CellId], scale: Scale, kept: usize) -> Self {
        let work = cells.iter().map(|cell| weight(&cell.kind, scale)).sum();
        let (n_cells, n_finished, finished) = (cells.len(), 0, 0.0);
        Self { scale, kept, n_cells, n_finished, work, finished }
    }

    /// The line before all others.
    pub(super) fn begin(&self, threads: usize) -> String {
        let threads = if threads == 1 { "1 thread".into() } else { format!("{threads} threads") };
        format!("{} cells to compute on {threads}, {} kept from before", self.n_cells, self.kept)
    }

    /// The line of a cell that took `secs` and ended `elapsed` seconds after the beginning of all.
    pub(super) fn finished(&mut self, cell: &CellId, secs: f64, elapsed: f64) -> String {
        self.n_finished += 1;
        self.finished += weight(&cell.kind, self.scale);
        let mut line = format!("{cell}: {} ({}/{}", seconds(secs), self.n_finished, self.n_cells);
        if self.n_finished < self.n_cells {
            let left = elapsed * (self.work - self.finished) / self.finished;
            line.push_str(&format!(", about {} left", seconds(left)));
        }
        line + ")"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_counts_the_work_of_each_cell() {
        let cells: Vec<CellId> =
            ["oracle-r00", "oracle-r01", "pooled-r00"].map(|name| name.parse().expect("a name")).to_vec();
        let mut countdown = Countdown::new(&cells, Scale::Full, 4);
        assert_eq!(countdown.begin(2), "3 cells to compute on 2 threads, 4 kept from before");
        // 5 of 10.1 took 20 s, so 5.1 take 20.4 s.
        let line = countdown.finished(&cells[0], 19.96, 20.0);
        assert_eq!(line, "oracle-r00: 20 s (1/3, about 20 s left)");
        countdown.finished(&cells[1], 20.0, 40.0);
        assert_eq!(countdown.finished(&cells[2], 2.0, 42.0), "pooled-r00: 2.0 s (3/3)");
    }
}
