//! Models against each other and against the oracle: paired differences, tests of significance, findings.
//!
//! ```text
//! excess = mean over repetitions of mean over test sequences i of (score_i(model) − score_i(oracle))
//! gap    = the same for log p*(y_i) − log p(y_i | model), whole sequences
//! ```
//!
//! Both sides of a difference saw the same sequence, so that what sequences have in common drops out.

use mtds::predict::Estimate;
use serde::{Deserialize, Serialize};

use super::cell::CellKind;
use super::protocol::Protocol;
use super::score::SequenceResult;
use super::table::{Column, mean};
use crate::statistics::{MannWhitney, Welch, mann_whitney, welch};

/// Monte-Carlo standard errors of the oracle beyond which being better than it is a finding.
const TOLERATED_ERRORS: f64 = 3.0;

/// How much worse than the oracle a model is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OracleGap {
    /// The model.
    pub model: String,
    /// How many sequences it learned from, where it learned.
    pub n: Option<usize>,
    /// Observations seen before the forecast.
    pub t: usize,
    /// Excess RMSE, standard error over repetitions.
    pub rmse: Estimate,
    /// Excess NLL in nats per step, standard error over repetitions.
    pub nll: Estimate,
}

/// How much less likely whole test sequences are under a model than under the truth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvidenceGap {
    /// The model.
    pub model: String,
    /// How many sequences it learned from, where it learned.
    pub n: Option<usize>,
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
    pub model: String,
    /// How many sequences it learned from.
    pub n: Option<usize>,
    /// The baseline.
    pub against: String,
    /// Observations seen before the forecast.
    pub t: usize,
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
    pub model: String,
    /// How many sequences it learned from, where it learned.
    pub n: Option<usize>,
    /// Observations seen before the forecast; `None` for evidence.
    pub t: Option<usize>,
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
    column: &'a Column<'a>,
    /// Repetitions that both have: for each, the sequences of the model and of the oracle.
    repetitions: Vec<Vec<(&'a SequenceResult, &'a SequenceResult)>>,
}

impl<'a> Paired<'a> {
    pub(super) fn new(column: &'a Column<'a>, oracle: &Column<'a>) -> Self {
        let of = |repetition: usize| oracle.cells.iter().find(|cell| cell.cell.repetition == repetition);
        let pair = |cell: &&'a super::CellResult| {
            let exact = of(cell.cell.repetition)?;
            Some(cell.sequences.iter().zip(&exact.sequences).collect())
        };
        Self { column, repetitions: column.cells.iter().filter_map(pair).collect() }
    }

    /// The mean over sequences of each repetition; none where a sequence has no value.
    fn means(&self, of: impl Fn(&SequenceResult, &SequenceResult) -> Option<f64>) -> Vec<f64> {
        let values = |pairs: &Vec<(&SequenceResult, &SequenceResult)>| {
            pairs.iter().map(|(model, oracle)| of(model, oracle)).collect::<Option<Vec<f64>>>()
        };
        let means = self.repetitions.iter().map(|pairs| Some(mean(values(pairs)?.into_iter())));
        means.collect::<Option<Vec<f64>>>().unwrap_or_default()
    }

    pub(super) fn gap(&self, protocol: &Protocol, k: usize) -> Option<OracleGap> {
        let kind = self.column.kind;
        Some(OracleGap {
            model: kind.model(),
            n: kind.n(protocol),
            t: protocol.seen[k],
            rmse: Estimate::of(
                &self.means(|model, oracle| Some(model.scores[k].rmse - oracle.scores[k].rmse)),
            )?,
            nll: Estimate::of(&self.means(|model, oracle| Some(model.scores[k].nll - oracle.scores[k].nll)))?,
        })
    }

    pub(super) fn evidence_gap(&self, protocol: &Protocol) -> Option<EvidenceGap> {
        let by_repetition = self.means(|model, oracle| Some(oracle.log_evidence? - model.log_evidence?));
        let kind = self.column.kind;
        let gap = Estimate::of(&by_repetition)?;
        Some(EvidenceGap { model: kind.model(), n: kind.n(protocol), gap, by_repetition })
    }

    /// Where the model was better than the oracle.
    pub(super) fn findings(&self, protocol: &Protocol) -> Vec<Finding> {
        let of_time = |(k, &t): (usize, &usize)| {
            let rmse = self.finding(Score::Rmse, |model, oracle| {
                let (model, oracle) = (&model.scores[k], &oracle.scores[k]);
                Some((model.rmse - oracle.rmse, oracle.rmse_mc_se))
            });
            let nll = self.finding(Score::Nll, |model, oracle| {
                let (model, oracle) = (&model.scores[k], &oracle.scores[k]);
                Some((model.nll - oracle.nll, oracle.nll_mc_se))
            });
            [rmse, nll].map(|finding| finding.map(|finding| Finding { t: Some(t), ..finding }))
        };
        let evidence = self.finding(Score::LogEvidence, |model, oracle| {
            Some((oracle.log_evidence? - model.log_evidence?, oracle.log_evidence_mc_se))
        });
        let all = protocol.seen.iter().enumerate().flat_map(of_time).chain([evidence]).flatten();
        all.map(|finding| Finding { n: self.column.kind.n(protocol), ..finding }).collect()
    }

    /// The finding about one score, whose excess and Monte-Carlo error on a sequence `of` gives.
    fn finding(
        &self,
        score: Score,
        of: impl Fn(&SequenceResult, &SequenceResult) -> Option<(f64, Option<f64>)>,
    ) -> Option<Finding> {
        let pairs = self.repetitions.iter().flatten();
        let values = pairs.map(|(model, oracle)| of(model, oracle)).collect::<Option<Vec<_>>>()?;
        let excess = Estimate::of(&values.iter().map(|value| value.0).collect::<Vec<_>>())?;
        let squares: f64 = values.iter().filter_map(|value| value.1).map(|error| error * error).sum();
        let monte_carlo_se = squares.sqrt() / values.len() as f64;
        (excess.mean < -TOLERATED_ERRORS * monte_carlo_se).then(|| Finding {
            model: self.column.kind.model(),
            n: None,
            t: None,
            score,
            excess: excess.mean,
            monte_carlo_se,
            sampling_se: excess.std_error,
        })
    }
}

/// The RMSE of an MTLDS against that of a baseline at every time, by repetition and by sequence.
pub(super) fn comparisons(model: &Column<'_>, baseline: &Column<'_>, protocol: &Protocol) -> Vec<Comparison> {
    let is_learned = matches!(model.kind, CellKind::Mtlds { .. });
    let is_baseline = matches!(baseline.kind, CellKind::Pooled | CellKind::Single);
    if !is_learned || !is_baseline || model.cells.is_empty() || baseline.cells.is_empty() {
        return vec![];
    }
    let units = [Unit::Repetition, Unit::Sequence];
    let one = |k: usize, unit: Unit| {
        let (a, b) = (rmse_sample(model, k, unit), rmse_sample(baseline, k, unit));
        Comparison {
            model: model.kind.model(),
            n: model.kind.n(protocol),
            against: baseline.kind.model(),
            t: protocol.seen[k],
            unit,
            difference: mean(a.iter().copied()) - mean(b.iter().copied()),
            welch: welch(&a, &b).ok(),
            mann_whitney: mann_whitney(&a, &b).ok(),
        }
    };
    (0..protocol.seen.len()).flat_map(|k| units.map(|unit| one(k, unit))).collect()
}

fn rmse_sample(column: &Column<'_>, k: usize, unit: Unit) -> Vec<f64> {
    match unit {
        Unit::Repetition => column.repetition_means(|sequence| sequence.scores[k].rmse),
        Unit::Sequence => column
            .cells
            .iter()
            .flat_map(|cell| &cell.sequences)
            .map(|sequence| sequence.scores[k].rmse)
            .collect(),
    }
}
