//! The numbers that the paper reports for the oscillators, to be shown beside ours.
//!
//! Source: Bird & Williams (2020), Customizing Sequence Generation with Multi-Task Dynamical Systems,
//! supplementary material, table "DHO test results": predictive RMSE and NLL after t = 10, 20, 40, two
//! decimals, means over 10 repetitions of 20 test sequences, no standard errors. The numbers themselves are those of
//! [`mod@crate::dho::published`]; here they are rows.

use crate::dho::published::all;

/// Where the numbers come from, for captions.
pub const SOURCE: &str = "Bird & Williams (2020), supplementary material, table of DHO test results";

/// Times t of the columns.
pub const TIMES: [usize; 3] = [10, 20, 40];

/// Decimals that the paper gives.
pub const DECIMALS: usize = 2;

/// Numbers N of training sequences for which the paper has a row.
pub const TRAINING_SIZES: [usize; 3] = [4, 16, 128];

/// What a row of the paper's table is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Pooled LDS, learned from 1 000 sequences.
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

/// Standard deviation of the noise in the paper's data: no mean forecast errs less.
pub const NOISE_STD: f64 = 0.05;

/// The standard deviation whose entropy is the reference line of the paper's NLL violins.
pub const NLL_REFERENCE_STD: f64 = 0.1;

/// The paper's row about a subject, where it has one.
pub fn row(subject: Subject) -> Option<PublishedRow> {
    let (model, n) = match subject {
        Subject::Pooled => ("pooled", Some(1000)),
        Subject::Single => ("single", None),
        Subject::Mtlds(n) => ("mtlds", Some(n)),
    };
    let mut row = PublishedRow { subject, rmse: [0.0; 3], nll: [0.0; 3] };
    for (i, t) in TIMES.into_iter().enumerate() {
        let found = all().find(|found| (found.model, found.n, found.t) == (model, n, t))?;
        (row.rmse[i], row.nll[i]) = (found.rmse, found.nll);
    }
    Some(row)
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
    use super::*;

    #[test]
    fn entropies_are_those_of_the_reference_lines() {
        assert!((gaussian_entropy(NLL_REFERENCE_STD) + 0.8836).abs() < 1e-4);
        assert!((gaussian_entropy(NOISE_STD) + 1.5768).abs() < 1e-4);
    }

    #[test]
    fn rows_are_those_of_the_experiment() {
        let subjects =
            [Subject::Pooled, Subject::Single].into_iter().chain(TRAINING_SIZES.map(Subject::Mtlds));
        let rows: Vec<PublishedRow> = subjects.filter_map(row).collect();
        assert_eq!(3 * rows.len(), all().count());
        assert_eq!((rows[2].rmse, rows[1].nll), ([0.30, 0.18, 0.12], [1.98, 1.24, -0.37]));
        assert_eq!(row(Subject::Mtlds(8)), None);
    }

    #[test]
    fn the_one_exception_is_the_papers() {
        assert_eq!(is_better(4, 40, Subject::Single), Some(false));
        assert_eq!(is_better(4, 40, Subject::Pooled), Some(true));
        assert_eq!(is_better(128, 10, Subject::Single), Some(true));
        assert_eq!(is_better(8, 10, Subject::Single), None);
    }
}
