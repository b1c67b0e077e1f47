//! Ways to learn a multi-task linear system from a training set; nothing here ever sees a test sequence.
//!
//! | module | recipe |
//! |---|---|
//! | [`paper`] | that of Bird & Williams (2020), as printed |
//! | [`ours`] | this project's |

pub mod ours;
pub mod paper;

use mtds::parts::Candidate;
use mtds::{Control, Progress, Result};
use serde::{Deserialize, Serialize};

pub use ours::Ours;
pub use paper::Paper;

use super::protocol::TrainingSet;

/// A way to learn, with its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The paper's.
    Paper(Box<Paper>),
    /// This project's.
    Ours(Box<Ours>),
}

/// What was learned.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The models, to be mixed by evidence where there are several.
    pub members: Vec<Candidate>,
    /// Power of the evidences that they are mixed by; 1 is Bayes' rule.
    pub evidence_power: f64,
    /// How the bound per observation went: (member, step, bound), steps thinned.
    pub bounds: Vec<(usize, u64, f64)>,
}

/// Learns from `training` by `method`; `observer` sees every step and may stop the run.
///
/// The same seed gives the same models, to the bit, on any number of threads.
///
/// # Errors
/// Settings out of range, a loss that is not finite.
pub fn learn(
    method: &Method,
    training: &TrainingSet,
    seed: u64,
    observer: &mut dyn FnMut(&Progress) -> Control,
) -> Result<Learned> {
    match method {
        Method::Paper(paper) => paper.learn(training, seed, observer),
        Method::Ours(ours) => ours.learn(training, seed, observer),
    }
}

#[cfg(test)]
mod tests;
