//! The experiment carried out cell by cell: what is kept is taken, what is missing computed, all that is there assembled.

use super::assemble::{Assembly, assemble};
use super::cell::{CellId, CellKind, CellResult};
use super::compute::compute;
use super::protocol::Protocol;
use super::settings::Settings;
use super::weight::weight;
use crate::Result;
use crate::cells::{Cells, Found, Surroundings};
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
        let failed = self.compute_missing(wanted, threads, clock, surroundings)?;
        let mut cells = vec![];
        for cell in self.kinds.iter().flat_map(|kind| kind.cells(&self.protocol)) {
            if let Some(Found::Kept(result)) = self.find(&cell, surroundings)? {
                cells.push(*result);
            }
        }
        let assembly = assemble(&self.protocol, &self.kinds, &cells)?;
        Ok(Outcome { experiment: self, cells, assembly, failed })
    }
}

impl Cells for Experiment {
    type Cell = CellId;
    type Outcome = CellResult;

    fn compute(&self, cell: &CellId) -> Result<CellResult> {
        Ok(compute(cell, &self.protocol, &self.settings, &mut |_| Control::Continue)?)
    }

    fn weight(&self, cell: &CellId) -> f64 {
        weight(&cell.kind, self.protocol.scale)
    }

    fn timed(&self, result: CellResult, seconds: f64) -> CellResult {
        CellResult { seconds, ..result }
    }

    fn bytes_of(&self, result: &CellResult) -> Result<Vec<u8>> {
        self.kept(result)
    }

    fn read(&self, cell: &CellId, bytes: &[u8]) -> Result<Found<CellResult>> {
        self.believed(cell, bytes)
    }
}
