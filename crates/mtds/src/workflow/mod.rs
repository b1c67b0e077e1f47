//! From a family to a model: the one road that Rust, Python, the studio and the program take.
//!
//! ```text
//! Family ── choose ── split ── learn ── expect ── calibrate ── infer members ── judge ──→ Model
//!             │                  └── for every length of the code that is tried, until one is chosen
//!             └── what a person asked for is kept, all else follows from the data, each with its reason
//! ```
//! The same family, settings and seed give the same bits, wherever the road is taken and however often it is interrupted.

mod checkpoint;
mod compared;
mod comparison;
mod ending;
mod fitting;
mod parts;
mod record;
mod selection;
mod so_far;
mod weights;
mod widths;
mod work;

pub use comparison::StructureRow;
pub use fitting::{FitProgress, FitStage, Fitting};
pub use record::{BestRival, CalibrationRecord, FitRecord, NewMembersRecord, PriorRecord, Reason};
pub use selection::SelectionRow;

use crate::Result;
use crate::base::Base;
use crate::engine::Device;
use crate::family::Family;
use crate::learn::{Control, Wishes};
use crate::model::{DataColumns, Model};

/// A fit: what is asked for. Everything else is chosen from the family.
///
/// ```
/// use mtds::{Control, Family, Fit, Sequence, Signal};
/// # fn main() -> mtds::Result<()> {
/// let decay = |rate: f64| Signal::column((0..30).map(|t| (-rate * f64::from(t)).exp()).collect());
/// let members = (1..9).map(|i| Sequence::new(format!("decay {i}"), decay(0.03 * f64::from(i))));
/// let family = Family::new(members.collect::<mtds::Result<_>>()?)?;
/// let mut fit = Fit::default();
/// fit.wishes.code = Some(1);
/// fit.wishes.effort = Some(0.05); // a first look
/// let model = fit.run(&family, &mut |_| Control::Continue)?.expect("nobody stopped it");
/// let history = Sequence::new("new", Signal::column((0..10).map(|t| (-0.1 * f64::from(t)).exp()).collect()))?;
/// let forecast = model.forecast(&history, 20)?;
/// assert_eq!(forecast.n_time(), 20);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Fit {
    /// Settings that matter to the person who asks; what is left out is chosen.
    pub wishes: Wishes,
    /// Lengths of the code to choose from by sequences that nothing else has seen; empty to take one.
    pub select_code: Vec<usize>,
    /// Seed of all randomness.
    pub seed: u64,
    /// A base model of one's own, instead of one by name.
    pub base: Option<Base>,
    /// Where the family was read from; names of outputs and inputs are those of the family.
    pub columns: DataColumns,
    /// Length of a step in the units of its times, as files write it, such as `0.5` or `1d`; `None` where nobody said.
    pub time_step: Option<String>,
    /// Where to compute.
    pub device: Device,
}

impl Fit {
    /// Learns from a family; `observer` sees how far it is and may stop it.
    ///
    /// `None` where it was stopped; to go on from there, use [`Fit::begin`].
    ///
    /// # Errors
    /// Settings out of range, too few sequences for the parts that were asked for, numbers that stop being finite.
    pub fn run(
        &self,
        family: &Family,
        observer: &mut dyn FnMut(&FitProgress) -> Control,
    ) -> Result<Option<Model>> {
        self.begin(family)?.run(observer)
    }

    /// A fit before its first step: settings chosen, family divided.
    ///
    /// # Errors
    /// As [`Fit::run`].
    pub fn begin(&self, family: &Family) -> Result<Fitting> {
        Fitting::new(self, family)
    }

    /// A fit that goes on from [`Fitting::checkpoint`] to the same bits as if it had never stopped.
    ///
    /// # Errors
    /// [`Error::Store`](crate::Error::Store) for bytes that are no checkpoint, [`Error::Resumed`](crate::Error::Resumed) where it is
    /// one of another family, or of other settings than those asked for.
    pub fn resume(&self, family: &Family, checkpoint: &[u8]) -> Result<Fitting> {
        Fitting::resume(self, family, checkpoint)
    }
}
