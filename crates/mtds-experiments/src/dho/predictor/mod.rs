//! The models of the experiment as [`super::Predictor`]s: pooled, multi-task, single-task.
//!
//! | module | follows a test sequence with |
//! |---|---|
//! | [`pooled`] | one linear system for all sequences, which learns nothing from what it sees |
//! | [`mtlds`] | one or several multi-task systems, each inferring a code |
//! | [`single`] | a linear system inferred from the sequence alone |

mod mixing;
pub mod mtlds;
pub mod pooled;
pub mod single;

pub use mtlds::{Member, Mtlds};
pub use pooled::Pooled;
pub use single::single_task;

use mtds::Signal;

/// The common input at the steps from `first` (counted from 0) on: 1 at the very first step, then 0.
fn impulse(first: usize, n_time: usize) -> Signal {
    Signal::column((first..first + n_time).map(|t| if t == 0 { 1.0 } else { 0.0 }).collect())
}

#[cfg(test)]
mod tests;
