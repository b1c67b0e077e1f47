//! The models of the experiment as [`super::Predictor`]s: pooled, multi-task, single-task.
//!
//! | module | follows a test sequence with |
//! |---|---|
//! | [`pooled`] | one linear system for all sequences, which learns nothing from what it sees |
//! | [`mtlds`] | one or several multi-task systems, each inferring a code, mixed by evidence |
//! | [`single`] | a linear system inferred from the sequence alone |

pub mod mtlds;
pub mod pooled;
pub mod single;

pub use mtlds::Mtlds;
pub use pooled::Pooled;
pub use single::Single;

use mtds::{Error, Result, Signal};

/// Streams of a seed that a sequence may use.
const STREAMS_PER_SEQUENCE: u64 = 1 << 16;

/// The number of a stream that belongs to one sequence, and to one use within it.
fn stream_of(sequence: usize, place: usize) -> u64 {
    sequence as u64 * STREAMS_PER_SEQUENCE + place as u64
}

/// The common input at the steps from `first` (counted from 0) on: 1 at the very first step, then 0.
fn impulse(first: usize, n_time: usize) -> Signal {
    Signal::column((first..first + n_time).map(|t| if t == 0 { 1.0 } else { 0.0 }).collect())
}

/// Refuses outputs that are infinite; NaN is a missing one.
fn check_outputs(n_seen: usize, outputs: &[f64]) -> Result<()> {
    match outputs.iter().find(|y| y.is_infinite()) {
        None => Ok(()),
        Some(&value) => {
            let what = format!("outputs after step {n_seen}");
            Err(Error::NotFinite { what, value, hint: "; write NaN for a missing output" })
        }
    }
}

#[cfg(test)]
mod tests;
