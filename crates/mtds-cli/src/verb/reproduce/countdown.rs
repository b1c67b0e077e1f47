//! One line per finished cell, with the time that is left.

use crate::table::seconds;
use mtds_experiments::dho::{CellId, CellKind};
use std::time::Instant;

/// What cells of a kind take: about the seconds of one at full scale on one thread.
pub(super) fn weight(kind: &CellKind) -> f64 {
    match kind {
        CellKind::Pooled => 0.1,
        CellKind::Oracle => 5.0,
        CellKind::Mtlds { n, .. } => 18.0 + 0.1 * *n as f64,
        CellKind::Single => 300.0,
    }
}

/// How far the cells have come.
pub(super) struct Countdown {
    started: Instant,
    kept: usize,
    n_cells: usize,
    n_finished: usize,
    work: f64,
    finished: f64,
}

impl Countdown {
    /// Before the first of `cells`, with `kept` others that need no work.
    pub(super) fn new(cells: &[CellId], kept: usize) -> Self {
        let work = cells.iter().map(|cell| weight(&cell.kind)).sum();
        let (n_cells, n_finished, finished) = (cells.len(), 0, 0.0);
        Self { started: Instant::now(), kept, n_cells, n_finished, work, finished }
    }

    /// The line before all others.
    pub(super) fn begin(&self, threads: usize) -> String {
        let threads = if threads == 1 { "1 thread".into() } else { format!("{threads} threads") };
        format!("{} cells to compute on {threads}, {} kept from before", self.n_cells, self.kept)
    }

    /// The line of a cell that took `secs`.
    pub(super) fn finished(&mut self, cell: &CellId, secs: f64) -> String {
        self.finished_after(self.started.elapsed().as_secs_f64(), cell, secs)
    }

    fn finished_after(&mut self, elapsed: f64, cell: &CellId, secs: f64) -> String {
        self.n_finished += 1;
        self.finished += weight(&cell.kind);
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
        let mut countdown = Countdown::new(&cells, 4);
        assert_eq!(countdown.begin(2), "3 cells to compute on 2 threads, 4 kept from before");
        // 5 of 10.1 took 20 s, so 5.1 take 20.4 s.
        let line = countdown.finished_after(20.0, &cells[0], 19.96);
        assert_eq!(line, "oracle-r00: 20 s (1/3, about 20 s left)");
        countdown.finished_after(40.0, &cells[1], 20.0);
        assert_eq!(countdown.finished_after(42.0, &cells[2], 2.0), "pooled-r00: 2.0 s (3/3)");
    }
}
