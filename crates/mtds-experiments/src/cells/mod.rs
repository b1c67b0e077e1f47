//! The units of work of an experiment: what is kept is taken, what is missing computed, side by side.

mod countdown;
mod workers;

use std::fmt::Display;

use crate::{Error, Result, Trouble};
use countdown::Countdown;

/// What an experiment needs of whoever runs it: a place for finished cells, an ear and a clock.
pub trait Surroundings {
    /// The bytes that are kept of the cell of this name.
    ///
    /// # Errors
    /// Bytes that are there and cannot be read.
    fn look_up(&self, cell: &str) -> std::result::Result<Option<Vec<u8>>, Trouble>;

    /// Keeps the bytes of a cell, whole or not at all.
    ///
    /// # Errors
    /// A place that takes no more.
    fn keep(&mut self, cell: &str, bytes: &[u8]) -> std::result::Result<(), Trouble>;

    /// Hears of a kept cell that cannot be used and will be computed again.
    fn unusable(&mut self, cell: &str, why: &str);

    /// Hears how far the work has come, one line at a time.
    fn progress(&mut self, line: &str);
}

/// What the bytes of a cell are.
pub(crate) enum Found<R> {
    /// Its result.
    Kept(Box<R>),
    /// Nothing that can be used, and why.
    Unusable(String),
}

/// An experiment that falls into cells.
pub(crate) trait Cells: Sync {
    /// Which cell.
    type Cell: Display + Clone + Sync;
    /// What comes of one.
    type Outcome: Send;

    /// Carries a cell out.
    fn compute(&self, cell: &Self::Cell) -> Result<Self::Outcome>;

    /// About the seconds that it takes on one thread.
    fn weight(&self, cell: &Self::Cell) -> f64;

    /// The result, with how long it took.
    fn timed(&self, outcome: Self::Outcome, seconds: f64) -> Self::Outcome;

    /// The bytes of a result.
    ///
    /// # Errors
    /// A cell that is no part of the experiment.
    fn bytes_of(&self, outcome: &Self::Outcome) -> Result<Vec<u8>>;

    /// What the bytes of a cell are.
    ///
    /// # Errors
    /// [`Error::Foreign`] for a whole cell of another experiment or version.
    fn read(&self, cell: &Self::Cell, bytes: &[u8]) -> Result<Found<Self::Outcome>>;

    /// What is kept of a cell.
    ///
    /// # Errors
    /// A cell that cannot be looked up, or is of another experiment.
    fn find(
        &self,
        cell: &Self::Cell,
        surroundings: &dyn Surroundings,
    ) -> Result<Option<Found<Self::Outcome>>> {
        let bytes = surroundings.look_up(&cell.to_string()).map_err(Error::Surroundings)?;
        bytes.map(|bytes| self.read(cell, &bytes)).transpose()
    }

    /// Computes and keeps those of the cells that are not kept, the most work first; returns what went wrong with those that failed.
    ///
    /// A cell that fails keeps no other from being computed. `clock` tells seconds, from any thread; no result depends on it.
    ///
    /// # Errors
    /// Cells of another experiment in these surroundings; cells that cannot be looked up or kept.
    fn compute_missing(
        &self,
        wanted: &[Self::Cell],
        threads: usize,
        clock: &(dyn Fn() -> f64 + Sync),
        surroundings: &mut dyn Surroundings,
    ) -> Result<Vec<String>> {
        let mut missing = vec![];
        for cell in wanted {
            match self.find(cell, surroundings)? {
                Some(Found::Kept(_)) => continue,
                Some(Found::Unusable(why)) => surroundings.unusable(&cell.to_string(), &why),
                None => {}
            }
            missing.push(cell.clone());
        }
        // Long cells last would leave most threads idle at the end; the sort is stable.
        missing.sort_by(|a, b| self.weight(b).total_cmp(&self.weight(a)));
        let weights: Vec<f64> = missing.iter().map(|cell| self.weight(cell)).collect();
        let (mut countdown, started) = (Countdown::new(&weights, wanted.len() - missing.len()), clock());
        surroundings.progress(&countdown.begin(threads));
        let mut failed = vec![];
        let timed = |cell: &Self::Cell| {
            let started = clock();
            let outcome = self.compute(cell)?;
            let seconds = clock() - started;
            Ok((self.timed(outcome, seconds), seconds))
        };
        workers::run(&missing, threads, timed, |cell, result| {
            let name = cell.to_string();
            match result {
                Ok((outcome, seconds)) => {
                    surroundings.keep(&name, &self.bytes_of(&outcome)?).map_err(Error::Surroundings)?;
                    let weight = self.weight(cell);
                    surroundings.progress(&countdown.finished((&name, weight), seconds, clock() - started));
                }
                Err(error) => {
                    surroundings.progress(&format!("{name}: failed: {error}"));
                    failed.push(format!("cell {name}: {error}"));
                }
            }
            Ok(())
        })?;
        Ok(failed)
    }
}
