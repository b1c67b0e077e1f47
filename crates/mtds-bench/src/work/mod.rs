//! Our own works, one file each, and the registry of them.

mod adais;
pub mod seed;
mod steps;
pub mod stl;
pub mod w1;
pub mod w2;

use mtds::Device;

use crate::check::Check;
use crate::error::Result;
use crate::problem::AdaisProblem;
use crate::w1_inputs::W1Size;

/// Something that is timed in this process.
pub trait Work {
    /// Name of the work, the same as that of the peers' row: `w1` and its sizes, `w2`, `adais-all`, `adais-early`, `stl-nuts`; or
    /// `tracked`, `w1-generate`, `seed-map` and `seed-importance`, which no peer does.
    fn name(&self) -> &str;

    /// Threads that it uses: those of the pool that it is called in.
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

    /// What else there is to say about a round of this time; memory that only rounds need may be given back.
    fn note(&mut self, _median_ms: f64) -> Option<String> {
        None
    }
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
    /// The card that the steps of learning run on, if it is not the processor.
    pub card: Option<Device>,
}

/// All our own works.
///
/// # Errors
/// If a work refuses its settings.
pub fn own_works(settings: &WorkSettings) -> Result<Vec<Box<dyn Work>>> {
    // No effective sample size exceeds the number of draws by a factor of one: all passes are made.
    let all_passes = 1.0;
    let mut works: Vec<Box<dyn Work>> = vec![
        Box::new(w1::Generate::new()?),
        Box::new(w2::W2::new(settings.card.as_ref())?),
        Box::new(adais::Adais::new("adais-all", all_passes, settings)?),
        Box::new(adais::Adais::new("adais-early", settings.ess_stop, settings)?),
        Box::new(adais::Tracked::new(settings)?),
        Box::new(stl::Stl::new(settings)),
    ];
    let sized = |(name, size): &(&str, W1Size)| -> Box<dyn Work> {
        Box::new(w1::W1::new(name, *size, settings.card.clone()))
    };
    works.extend(
        (0..seed::NAMES.len())
            .map(|which| -> Box<dyn Work> { Box::new(seed::Seeds::new(which, W1Size::PAPER)) }),
    );
    works.extend([(w1::NAME, W1Size::PAPER)].iter().chain(w1::SIZES).map(sized));
    Ok(works)
}

/// The input of every oscillator: 1, then 0.
fn impulse(n_time: usize) -> mtds::Signal {
    mtds::Signal::column((0..n_time).map(|t| f64::from(u8::from(t == 0))).collect())
}
