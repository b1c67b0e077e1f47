//! The experiments carried out cell by cell: what is kept is taken, what is missing computed, all that is there assembled.

use mtds::Device;
use serde::{Deserialize, Serialize};

use super::assemble::{Assembly, assemble};
use super::cell::{CellId, CellResult, Found as CellFound, Method, Task};
use super::compute::compute;
use super::material::Material;
use super::protocol::Protocol;
use super::settings::Settings;
use crate::cells::{Cells, Found, Surroundings};
use crate::{Error, Result, Scale};

/// Version of the program, part of every cell.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What is to be computed and shown.
#[derive(Debug)]
pub struct Experiment<'a> {
    /// The clips.
    pub material: &'a Material,
    /// What the experiments are.
    pub protocol: Protocol,
    /// Settings of the models.
    pub settings: Settings,
    /// What forecasts, in experiments 1 and 2.
    pub methods: [Vec<Method>; 2],
    /// Where the model is learned and codes are inferred.
    pub device: Device,
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome<'a> {
    /// The experiments.
    pub experiment: &'a Experiment<'a>,
    /// The cells that are there.
    pub cells: Vec<CellResult>,
    /// Names of those that are not.
    pub missing: Vec<String>,
    /// Their assembly.
    pub assembly: Assembly,
    /// What went wrong with cells that could not be computed.
    pub failed: Vec<String>,
}

/// A cell as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept<R> {
    version: String,
    settings: serde_json::Value,
    result: R,
}

impl<'a> Experiment<'a> {
    /// The experiments on some material, with a factor on all steps of learning.
    ///
    /// # Errors
    /// A factor that is not above 0.
    pub fn new(material: &'a Material, scale: Scale, seed: u64, effort: f64) -> mtds::Result<Self> {
        let (protocol, settings) = (Protocol::new(scale, seed, material)?, Settings::new(scale, effort)?);
        use Method::{Gru2Closed, Gru2Open, GruClosed, GruDirect, GruFed, GruInputs, GruOpen, GruStyles};
        let methods = match scale {
            Scale::Quick => [
                vec![Method::Mtds, GruOpen, GruStyles, Method::Simple],
                vec![Method::Mtds, GruOpen, GruClosed, GruInputs, Method::Simple],
            ],
            Scale::Full => [
                vec![
                    Method::Mtds,
                    GruOpen,
                    Gru2Open,
                    GruClosed,
                    GruDirect,
                    GruInputs,
                    GruStyles,
                    Method::Simple,
                ],
                vec![
                    Method::Mtds,
                    GruOpen,
                    Gru2Open,
                    GruClosed,
                    Gru2Closed,
                    GruDirect,
                    GruFed,
                    GruInputs,
                    Method::Simple,
                ],
            ],
        };
        Ok(Self { material, protocol, settings, methods, device: Device::cpu() })
    }

    /// All cells, experiment by experiment.
    #[must_use]
    pub fn cells(&self) -> Vec<CellId> {
        let Protocol { shares, folds, repetitions, .. } = &self.protocol;
        let efficiency = self.methods[0]
            .iter()
            .flat_map(|&method| shares.iter().map(move |&divisor| Task::Efficiency(method, divisor)));
        let novel = self.methods[1]
            .iter()
            .flat_map(|&method| folds.iter().map(move |&style| Task::Novel(method, style)));
        let tasks = efficiency.chain(novel).chain([Task::Transfer, Task::Map]);
        let repeated = |task: &Task| match task {
            Task::Efficiency(method, _) | Task::Novel(method, _) if !method.is_repeated() => 1,
            // One map is enough to look at.
            Task::Map => 1,
            _ => *repetitions,
        };
        tasks
            .flat_map(|task| (0..repeated(&task)).map(move |repetition| CellId { task, repetition }))
            .collect()
    }

    /// Computes those of the `wanted` cells that are not kept, on so many threads, and assembles all that are there.
    ///
    /// A cell that fails keeps no other from being computed. `clock` tells seconds, from any thread; no result depends
    /// on it.
    ///
    /// # Errors
    /// Cells of other experiments in these surroundings; cells that cannot be looked up or kept.
    pub fn run(
        &self,
        wanted: &[CellId],
        threads: usize,
        clock: &(dyn Fn() -> f64 + Sync),
        surroundings: &mut dyn Surroundings,
    ) -> Result<Outcome<'_>> {
        let failed = self.compute_missing(wanted, threads, clock, surroundings)?;
        let (mut cells, mut missing) = (vec![], vec![]);
        for cell in self.cells() {
            match self.find(&cell, surroundings)? {
                Some(Found::Kept(result)) => cells.push(*result),
                _ => missing.push(cell.to_string()),
            }
        }
        let assembly = assemble(&self.protocol, &cells);
        Ok(Outcome { experiment: self, cells, missing, assembly, failed })
    }
}

impl Cells for Experiment<'_> {
    type Cell = CellId;
    type Outcome = CellResult;

    fn compute(&self, cell: &CellId) -> Result<CellResult> {
        Ok(compute(self, cell)?)
    }

    /// Relative: about the seconds at quick scale on one thread of a machine with nothing else to do.
    fn weight(&self, cell: &CellId) -> f64 {
        match cell.task {
            Task::Efficiency(method, _) | Task::Novel(method, _) => match method {
                Method::Simple => 0.5,
                Method::Gru2Open | Method::Gru2Closed => 80.0,
                _ => 40.0,
            },
            Task::Transfer => 100.0,
            Task::Map => 70.0,
        }
    }

    fn timed(&self, result: CellResult, seconds: f64) -> CellResult {
        CellResult { seconds, ..result }
    }

    fn bytes_of(&self, result: &CellResult) -> Result<Vec<u8>> {
        let settings = self.settings.of(result.cell.task, &self.protocol)?;
        let text = serde_json::to_string(&Kept { version: VERSION.into(), settings, result });
        // Names and numbers only: every value has a form in JSON.
        Ok(format!("{}\n", text.expect("a cell has a form in JSON")).into_bytes())
    }

    fn read(&self, cell: &CellId, bytes: &[u8]) -> Result<Found<CellResult>> {
        let kept: Kept<CellResult> = match serde_json::from_slice(bytes) {
            Ok(kept) => kept,
            Err(error) => return Ok(Found::Unusable(format!("damaged ({error})"))),
        };
        let foreign = |problem: String| Err(Error::Foreign { cell: cell.to_string(), problem });
        if kept.version != VERSION {
            return foreign(format!("was computed by version {}, this is {VERSION}", kept.version));
        }
        if kept.result.protocol != self.protocol {
            let (found, expected) = (kept.result.protocol.brief(), self.protocol.brief());
            return foreign(format!("is part of another experiment ({found}; expected {expected})"));
        }
        if kept.result.cell != *cell {
            return Ok(Found::Unusable(format!("is cell {}", kept.result.cell)));
        }
        if let Err(error) = kept.result.check() {
            return Ok(Found::Unusable(format!("damaged ({error})")));
        }
        match kept.settings == self.settings.of(cell.task, &self.protocol)? {
            true => Ok(Found::Kept(Box::new(kept.result))),
            false => Ok(Found::Unusable("was computed with other settings".into())),
        }
    }
}

impl Outcome<'_> {
    /// Mean seconds of the cells of every method, one line each.
    #[must_use]
    pub fn timings(&self) -> String {
        let mut all: std::collections::BTreeMap<String, Vec<f64>> = Default::default();
        for cell in &self.cells {
            let name = match &cell.found {
                CellFound::Forecasts { .. } => match cell.cell.task {
                    Task::Efficiency(method, _) => format!("e1-{}", method.name()),
                    Task::Novel(method, _) => format!("e2-{}", method.name()),
                    _ => continue,
                },
                CellFound::Transfer(_) => "e3".into(),
                CellFound::Map(_) => "map".into(),
            };
            all.entry(name).or_default().push(cell.seconds);
        }
        let line = |(name, seconds): (&String, &Vec<f64>)| {
            let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
            format!("time, {name}: {} a cell\n", mtds_report::text::seconds(mean))
        };
        all.iter().map(line).collect()
    }
}
