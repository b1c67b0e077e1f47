//! Models against each other and against the oracle: paired differences, tests of significance, findings.
//!
//! ```text
//! excess = mean over repetitions of mean over test sequences i of (score_i(model) − score_i(oracle))
//! gap    = the same for log p*(y_i) − log p(y_i | model), whole sequences
//! ```
//!
//! Both sides of a difference saw the same sequence, so that what sequences have in common drops out.

use mtds::evaluate::{Estimate, SequenceScore};
use serde::{Deserialize, Serialize};

use super::assemble::ModelCells;
use super::cell::{CellKind, CellResult};
use super::protocol::Protocol;
use crate::statistics::{MannWhitney, Welch, mann_whitney, welch};

/// Monte-Carlo standard errors of the oracle beyond which being better than it is a finding.
const TOLERATED_ERRORS: f64 = 3.0;

/// How much worse than the oracle a model is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OracleGap {
    /// The model.
    pub method: CellKind,
    /// Observations seen before the forecast.
    pub seen: usize,
    /// Excess RMSE, standard error over repetitions.
    pub rmse: Estimate,
    /// Excess NLL in nats per step, standard error over repetitions.
    pub nll: Estimate,
}

/// How much less likely whole test sequences are under a model than under the truth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvidenceGap {
    /// The model.
    pub method: CellKind,
    /// log p*(y) − log p(y | model) in nats per sequence, standard error over repetitions.
    pub gap: Estimate,
    /// The same in every repetition.
    pub by_repetition: Vec<f64>,
}

/// What counts as one observation in a test of significance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// The mean over the test sequences of a repetition: independent.
    Repetition,
    /// A test sequence: more of them, but those of a repetition share a learned model.
    Sequence,
}

/// The RMSE of an MTLDS against that of a baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The MTLDS.
    pub method: CellKind,
    /// The baseline.
    pub against: CellKind,
    /// Observations seen before the forecast.
    pub seen: usize,
    /// What the samples consist of.
    pub unit: Unit,
    /// Mean RMSE of the model less that of the baseline: below 0, the model is better.
    pub difference: f64,
    /// Welch's t-test; `None` where the samples are too small or do not vary.
    pub welch: Option<Welch>,
    /// The Mann–Whitney U-test.
    pub mann_whitney: Option<MannWhitney>,
}

/// Which number a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Score {
    /// Root mean squared error.
    Rmse,
    /// Negative log density.
    Nll,
    /// Negative log evidence of whole sequences.
    LogEvidence,
}

/// A model that was better than the oracle, beyond the oracle's Monte-Carlo error.
///
/// No model can be on average over all sequences there are; on a finite test set one that is close may be, by
/// chance (compare `excess` with `sampling_se`). Far beyond that, something is wrong with one of the two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The model.
    pub method: CellKind,
    /// Observations seen before the forecast; `None` for evidence.
    pub seen: Option<usize>,
    /// In what it was better.
    pub score: Score,
    /// Its mean score less that of the oracle, below 0.
    pub excess: f64,
    /// Monte-Carlo standard error of the oracle's mean.
    pub monte_carlo_se: f64,
    /// Standard error of the excess over the test sequences.
    pub sampling_se: Option<f64>,
}

/// A model and the oracle on the same sequences.
pub(super) struct Paired<'a> {
    kind: &'a CellKind,
    /// Repetitions that both have: the cell of the model, and that of the oracle.
    repetitions: Vec<(&'a CellResult, &'a CellResult)>,
}

/// The sequences of a repetition: how much worse than the oracle's the score of each is, and Monte-Carlo errors of the oracle's.
struct Excess<'a> {
    values: Vec<f64>,
    errors: &'a [f64],
}

impl<'a> Paired<'a> {
    pub(super) fn new(column: &ModelCells<'a>, oracle: &ModelCells<'a>) -> Self {
        let of = |repetition: usize| oracle.cells.iter().find(|cell| cell.cell.repetition == repetition);
        let pair = |cell: &&'a CellResult| Some((*cell, *of(cell.cell.repetition)?));
        Self { kind: column.kind, repetitions: column.cells.iter().filter_map(pair).collect() }
    }

    /// By repetition, at the `k`-th time where the score has one; `None` where the model has no such score.
    fn excesses(&self, score: Score, k: usize) -> Option<Vec<Excess<'a>>> {
        let one = |&(model, oracle): &(&'a CellResult, &'a CellResult)| {
            let errors = oracle.monte_carlo.as_ref();
            let of = |value: fn(&SequenceScore) -> f64| {
                model.scores[k].iter().zip(&oracle.scores[k]).map(|(a, b)| value(a) - value(b)).collect()
            };
            let (values, errors) = match score {
                Score::Rmse => (of(|score| score.rmse), errors.map(|errors| &errors.rmse[k])),
                Score::Nll => (of(|score| score.nll), errors.map(|errors| &errors.nll[k])),
                Score::LogEvidence => {
                    let pairs = oracle.log_evidences.as_ref()?.iter().zip(model.log_evidences.as_ref()?);
                    (pairs.map(|(a, b)| a - b).collect(), errors.map(|errors| &errors.log_evidence))
                }
            };
            Some(Excess { values, errors: errors.map_or(&[], Vec::as_slice) })
        };
        self.repetitions.iter().map(one).collect()
    }

    /// The mean over sequences of each repetition.
    fn means(&self, score: Score, k: usize) -> Option<Vec<f64>> {
        Some(self.excesses(score, k)?.iter().map(|excess| mean(&excess.values)).collect())
    }

    pub(super) fn gap(&self, protocol: &Protocol, k: usize) -> Option<OracleGap> {
        let of = |score| Estimate::of(&self.means(score, k)?);
        let (rmse, nll) = (of(Score::Rmse)?, of(Score::Nll)?);
        Some(OracleGap { method: self.kind.clone(), seen: protocol.seen[k], rmse, nll })
    }

    pub(super) fn evidence_gap(&self) -> Option<EvidenceGap> {
        let by_repetition = self.means(Score::LogEvidence, 0)?;
        Some(EvidenceGap { method: self.kind.clone(), gap: Estimate::of(&by_repetition)?, by_repetition })
    }

    /// Where the model was better than the oracle.
    pub(super) fn findings(&self, protocol: &Protocol) -> Vec<Finding> {
        let of_time =
            |k| [Score::Rmse, Score::Nll].map(|score| self.finding(score, k, Some(protocol.seen[k])));
        let evidence = self.finding(Score::LogEvidence, 0, None);
        (0..protocol.seen.len()).flat_map(of_time).chain([evidence]).flatten().collect()
    }

    fn finding(&self, score: Score, k: usize, seen: Option<usize>) -> Option<Finding> {
        let all = self.excesses(score, k)?;
        let values: Vec<f64> = all.iter().flat_map(|excess| &excess.values).copied().collect();
        let excess = Estimate::of(&values)?;
        let squares: f64 = all.iter().flat_map(|excess| excess.errors).map(|error| error * error).sum();
        let monte_carlo_se = squares.sqrt() / values.len() as f64;
        (excess.mean < -TOLERATED_ERRORS * monte_carlo_se).then(|| Finding {
            method: self.kind.clone(),
            seen,
            score,
            excess: excess.mean,
            monte_carlo_se,
            sampling_se: excess.std_error,
        })
    }
}

/// The RMSE of an MTLDS against that of a baseline at every time, by repetition and by sequence.
pub(super) fn comparisons(
    model: &ModelCells<'_>,
    baseline: &ModelCells<'_>,
    protocol: &Protocol,
) -> Vec<Comparison> {
    let is_learned = matches!(model.kind, CellKind::Mtlds { .. });
    let is_baseline = matches!(baseline.kind, CellKind::Pooled | CellKind::Single);
    if !is_learned || !is_baseline || model.cells.is_empty() || baseline.cells.is_empty() {
        return vec![];
    }
    let one = |k: usize, unit: Unit| {
        let (a, b) = (rmse_sample(model, k, unit), rmse_sample(baseline, k, unit));
        Comparison {
            method: model.kind.clone(),
            against: baseline.kind.clone(),
            seen: protocol.seen[k],
            unit,
            difference: mean(&a) - mean(&b),
            welch: welch(&a, &b).ok(),
            mann_whitney: mann_whitney(&a, &b).ok(),
        }
    };
    (0..protocol.seen.len())
        .flat_map(|k| [Unit::Repetition, Unit::Sequence].map(|unit| one(k, unit)))
        .collect()
}

fn rmse_sample(column: &ModelCells<'_>, k: usize, unit: Unit) -> Vec<f64> {
    match unit {
        Unit::Repetition => column.repetitions(k).iter().map(|row| row.rmse).collect(),
        Unit::Sequence => {
            column.cells.iter().flat_map(|cell| &cell.scores[k]).map(|score| score.rmse).collect()
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    Estimate::of(values).map_or(f64::NAN, |estimate| estimate.mean)
}
