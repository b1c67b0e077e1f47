//! One line per finished cell, with the time that is left.

use mtds_report::text::seconds;

/// How far the cells have come.
pub(super) struct Countdown {
    kept: usize,
    n_cells: usize,
    n_finished: usize,
    work: f64,
    finished: f64,
}

impl Countdown {
    /// Before the first of cells with these weights, with `kept` others that need no work.
    pub(super) fn new(weights: &[f64], kept: usize) -> Self {
        let (n_cells, work) = (weights.len(), weights.iter().sum());
        Self { kept, n_cells, n_finished: 0, work, finished: 0.0 }
    }

    /// The line before all others.
    pub(super) fn begin(&self, threads: usize) -> String {
        let threads = if threads == 1 { "1 thread".into() } else { format!("{threads} threads") };
        format!("{} cells to compute on {threads}, {} kept from before", self.n_cells, self.kept)
    }

    /// The line of a cell of some weight that took `secs` and ended `elapsed` seconds after the beginning of all.
    pub(super) fn finished(&mut self, (cell, weight): (&str, f64), secs: f64, elapsed: f64) -> String {
        self.n_finished += 1;
        self.finished += weight;
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
        let mut countdown = Countdown::new(&[5.0, 5.0, 0.1], 4);
        assert_eq!(countdown.begin(2), "3 cells to compute on 2 threads, 4 kept from before");
        // 5 of 10.1 took 20 s, so 5.1 take 20.4 s.
        let line = countdown.finished(("oracle-r00", 5.0), 19.96, 20.0);
        assert_eq!(line, "oracle-r00: 20 s (1/3, about 20 s left)");
        countdown.finished(("oracle-r01", 5.0), 20.0, 40.0);
        assert_eq!(countdown.finished(("pooled-r00", 0.1), 2.0, 42.0), "pooled-r00: 2.0 s (3/3)");
    }
}
