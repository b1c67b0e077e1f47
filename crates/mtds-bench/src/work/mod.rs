//! Our own works, one file each, and the registry of them.

use crate::check::Check;
use crate::error::Result;
use crate::problem::AdaisProblem;

/// Something that is timed in this process.
pub trait Work {
    /// Name of the work, the same as that of the peers' row: `w2`, `adais-all`, `adais-early`.
    fn name(&self) -> &str;

    /// Threads that it uses.
    fn threads(&self) -> usize;

    /// One round; the time that it took, in milliseconds.
    ///
    /// # Errors
    /// If the library refuses the inputs or diverges.
    fn round(&mut self) -> Result<f64>;

    /// What it computes at its start, to be compared with the peers; `None` if nothing is comparable.
    /// Leaves the work at its start.
    ///
    /// # Errors
    /// If the library refuses the inputs or diverges.
    fn check(&mut self) -> Result<Option<Check>>;
}

/// What a work is built from.
#[derive(Debug, Clone)]
pub struct WorkSettings {
    /// Threads to use.
    pub threads: usize,
    /// Seed of whatever is random.
    pub seed: u64,
    /// The step t at which the update of the posterior is timed.
    pub at: usize,
    /// Where AdaIS stops early in `adais-early`: ESS above this fraction of the draws.
    pub ess_stop: f64,
    /// What AdaIS infers.
    pub problem: AdaisProblem,
}

/// All our own works.
///
/// # Errors
/// If a work refuses its settings.
pub fn own_works(_settings: &WorkSettings) -> Result<Vec<Box<dyn Work>>> {
    Ok(Vec::new())
}
