//! The experiment carried out cell by cell: what is kept is taken, what is missing computed, all that is there assembled.

use super::assemble::{Assembly, assemble};
use super::cell::{CellId, CellKind, CellResult};
use super::compute::compute;
use super::countdown::{Countdown, weight};
use super::kept::Found;
use super::protocol::Protocol;
use super::settings::Settings;
use super::workers;
use crate::error::Trouble;
use crate::{Error, Result};
use mtds::Control;

/// What is to be computed and shown.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// What the experiment is.
    pub protocol: Protocol,
    /// Settings of its models.
    pub settings: Settings,
    /// What the table shows.
    pub kinds: Vec<CellKind>,
}

/// What an experiment needs of whoever runs it: a place for finished cells, an ear and a clock.
pub trait Surroundings {
    /// The bytes that are kept of a cell.
    ///
    /// # Errors
    /// Bytes that are there and cannot be read.
    fn look_up(&self, cell: &CellId) -> std::result::Result<Option<Vec<u8>>, Trouble>;

    /// Keeps the bytes of a cell, whole or not at all.
    ///
    /// # Errors
    /// A place that takes no more.
    fn keep(&mut self, cell: &CellId, bytes: &[u8]) -> std::result::Result<(), Trouble>;

    /// Hears of a kept cell that cannot be used and will be computed again.
    fn unusable(&mut self, cell: &CellId, why: &str);

    /// Hears how far the work has come, one line at a time.
    fn progress(&mut self, line: &str);
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// The cells that are there, in the order of the table.
    pub cells: Vec<CellResult>,
    /// Their assembly.
    pub assembly: Assembly,
    /// What went wrong with cells that could not be computed.
    pub failed: Vec<String>,
}

impl Experiment {
    /// Computes those of the `wanted` cells that are not kept, on so many threads, and assembles all that are there.
    ///
    /// A cell that fails keeps no other from being computed. `clock` tells seconds, from any thread; no result depends
    /// on it.
    ///
    /// # Errors
    /// Cells of another experiment in these surroundings; cells that cannot be looked up or kept.
    pub fn run(
        &self,
        wanted: &[CellId],
        threads: usize,
        clock: &(dyn Fn() -> f64 + Sync),
        surroundings: &mut dyn Surroundings,
    ) -> Result<Outcome<'_>> {
        let mut missing = vec![];
        for cell in wanted {
            match self.find(cell, surroundings)? {
                Some(Found::Kept(_)) => continue,
                Some(Found::Unusable(why)) => surroundings.unusable(cell, &why),
                None => {}
            }
            missing.push(cell.clone());
        }
        let n_kept = wanted.len() - missing.len();
        let failed = self.compute_all(missing, n_kept, threads, clock, surroundings)?;
        let mut cells = vec![];
        for cell in self.kinds.iter().flat_map(|kind| kind.cells(&self.protocol)) {
            if let Some(Found::Kept(result)) = self.find(&cell, surroundings)? {
                cells.push(*result);
            }
        }
        let assembly = assemble(&self.protocol, &self.kinds, &cells)?;
        Ok(Outcome { experiment: self, cells, assembly, failed })
    }

    fn find(&self, cell: &CellId, surroundings: &dyn Surroundings) -> Result<Option<Found>> {
        let bytes = surroundings.look_up(cell).map_err(Error::Surroundings)?;
        bytes.map(|bytes| self.read(cell, &bytes)).transpose()
    }

    /// Computes and keeps cells, the most work first; returns what went wrong with those that failed.
    fn compute_all(
        &self,
        mut missing: Vec<CellId>,
        n_kept: usize,
        threads: usize,
        clock: &(dyn Fn() -> f64 + Sync),
        surroundings: &mut dyn Surroundings,
    ) -> Result<Vec<String>> {
        // Long cells last would leave most threads idle at the end; the sort is stable.
        let scale = self.protocol.scale;
        let work = |cell: &CellId| weight(&cell.kind, scale);
        missing.sort_by(|a, b| work(b).total_cmp(&work(a)));
        let (mut countdown, started) = (Countdown::new(&missing, scale, n_kept), clock());
        surroundings.progress(&countdown.begin(threads));
        let mut failed = vec![];
        workers::run(
            &missing,
            threads,
            |cell| self.timed(cell, clock),
            |cell, result| {
                match result {
                    Ok(result) => {
                        surroundings.keep(cell, &self.bytes_of(&result)?).map_err(Error::Surroundings)?;
                        surroundings.progress(&countdown.finished(cell, result.seconds, clock() - started));
                    }
                    Err(error) => {
                        surroundings.progress(&format!("{cell}: failed: {error}"));
                        failed.push(format!("cell {cell}: {error}"));
                    }
                }
                Ok(())
            },
        )?;
        Ok(failed)
    }

    fn timed(&self, cell: &CellId, clock: &dyn Fn() -> f64) -> Result<CellResult> {
        let started = clock();
        let computed = compute(cell, &self.protocol, &self.settings, &mut |_| Control::Continue)?;
        Ok(CellResult { seconds: clock() - started, ..computed })
    }
}
