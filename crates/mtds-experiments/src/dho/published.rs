//! The figures of the paper, to stand beside those computed here.
//!
//! Bird & Williams (2020), Customizing Sequence Generation with Multi-Task Dynamical Systems, supplementary material,
//! table "DHO test results": RMSE and NLL of forecasts after t = 10, 20, 40, two decimals, means over ten repetitions of
//! twenty test sequences, no standard errors.

use super::cell::CellKind;
use super::protocol::Protocol;

/// Where the figures come from, for captions.
pub const SOURCE: &str = "Bird & Williams (2020), supplementary material, table of DHO test results";

/// Times t of the columns.
pub const TIMES: [usize; 3] = [10, 20, 40];

/// Decimals that the paper gives.
pub const DECIMALS: usize = 2;

/// Numbers N of training sequences for which the paper has a row.
pub const TRAINING_SIZES: [usize; 3] = [4, 16, 128];

/// Sequences that the paper's pooled LDS learned from.
pub const POOLED_SIZE: usize = 1000;

/// Standard deviation of the noise in the paper's data: no mean forecast errs less.
pub const NOISE_STD: f64 = 0.05;

/// The standard deviation whose entropy is the reference line of the paper's NLL violins.
pub const NLL_REFERENCE_STD: f64 = 0.1;

/// What a row of the paper's table is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Pooled LDS, learned from [`POOLED_SIZE`] sequences.
    Pooled,
    /// Single-task LDS.
    Single,
    /// MTLDS learned from so many sequences.
    Mtlds(usize),
}

/// A row of the paper's table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublishedRow {
    /// What it is about.
    pub subject: Subject,
    /// RMSE at [`TIMES`].
    pub rmse: [f64; 3],
    /// NLL at [`TIMES`], in nats per step.
    pub nll: [f64; 3],
}

/// The paper's table.
pub const TABLE: [PublishedRow; 5] = [
    PublishedRow { subject: Subject::Pooled, rmse: [0.36, 0.34, 0.29], nll: [0.38, 0.34, 0.22] },
    PublishedRow { subject: Subject::Single, rmse: [0.43, 0.36, 0.11], nll: [1.98, 1.24, -0.37] },
    PublishedRow { subject: Subject::Mtlds(4), rmse: [0.30, 0.18, 0.12], nll: [1.47, 0.02, -0.54] },
    PublishedRow { subject: Subject::Mtlds(16), rmse: [0.25, 0.11, 0.07], nll: [0.94, -0.43, -0.81] },
    PublishedRow { subject: Subject::Mtlds(128), rmse: [0.23, 0.09, 0.06], nll: [0.83, -0.50, -0.85] },
];

/// The paper's row about a subject, where it has one.
pub fn row(subject: Subject) -> Option<PublishedRow> {
    TABLE.into_iter().find(|row| row.subject == subject)
}

impl PublishedRow {
    /// RMSE and NLL after `seen` observations, where the table has them.
    #[must_use]
    pub fn at(&self, seen: usize) -> Option<[f64; 2]> {
        let k = TIMES.iter().position(|&t| t == seen)?;
        Some([self.rmse[k], self.nll[k]])
    }
}

/// The paper's RMSE and NLL for a model after `seen` observations, where it has any; every recipe is an MTLDS.
#[must_use]
pub fn published(kind: &CellKind, protocol: &Protocol, seen: usize) -> Option<[f64; 2]> {
    let subject = match kind {
        CellKind::Pooled if protocol.pooled_size == POOLED_SIZE => Subject::Pooled,
        CellKind::Oracle | CellKind::Pooled => return None,
        CellKind::Single => Subject::Single,
        CellKind::Mtlds { n, .. } => Subject::Mtlds(*n),
    };
    row(subject)?.at(seen)
}

/// Whether the paper found an MTLDS learned from `n` sequences significantly better in RMSE than the
/// single-task or pooled model after `t` observations; `None` where it says nothing.
///
/// "All significantly better than both the pooled and single-task models according to a Welch's t-test and
/// Mann-Whitney U-test, except for MTLDS-4 at t = 40", which it cannot tell from the single-task model.
pub fn is_better(n: usize, t: usize, against: Subject) -> Option<bool> {
    let is_reported = TRAINING_SIZES.contains(&n) && TIMES.contains(&t);
    is_reported.then_some(!(n == 4 && t == 40 && against == Subject::Single))
}

/// Entropy of a Gaussian with this standard deviation, ½ log(2πe s²), in nats.
pub fn gaussian_entropy(std_dev: f64) -> f64 {
    0.5 * (std::f64::consts::TAU * std::f64::consts::E).ln() + std_dev.ln()
}

#[cfg(test)]
mod tests {
    use super::super::cell::Recipe;
    use super::*;
    use crate::Scale;

    #[test]
    fn figures_stand_with_their_models() {
        let protocol = Protocol::new(Scale::Full, 1);
        let mtlds = |n| Recipe::Ours.mtlds(n);
        let rmse = |kind: &CellKind, t| published(kind, &protocol, t).map(|[rmse, _]| rmse);
        assert_eq!(rmse(&mtlds(16), 20), Some(0.11));
        assert_eq!(rmse(&CellKind::Single, 40), Some(0.11));
        assert_eq!(rmse(&CellKind::Pooled, 10), Some(0.36));
        assert_eq!([rmse(&mtlds(2), 20), rmse(&mtlds(16), 30), rmse(&CellKind::Oracle, 10)], [None; 3]);
        assert_eq!((TABLE.len(), row(Subject::Mtlds(8))), (5, None));
        let few = Protocol { pooled_size: 20, ..protocol.clone() };
        assert_eq!(published(&CellKind::Pooled, &few, 10), None);
    }

    #[test]
    fn entropies_are_those_of_the_reference_lines() {
        assert!((gaussian_entropy(NLL_REFERENCE_STD) + 0.8836).abs() < 1e-4);
        assert!((gaussian_entropy(NOISE_STD) + 1.5768).abs() < 1e-4);
    }

    #[test]
    fn the_one_exception_is_the_papers() {
        assert_eq!(is_better(4, 40, Subject::Single), Some(false));
        assert_eq!(is_better(4, 40, Subject::Pooled), Some(true));
        assert_eq!(is_better(128, 10, Subject::Single), Some(true));
        assert_eq!(is_better(8, 10, Subject::Single), None);
    }
}
