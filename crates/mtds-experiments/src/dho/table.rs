//! The rows of the result table: means over repetitions of means over test sequences, with standard errors.

use mtds::predict::Estimate;
use serde::{Deserialize, Serialize};

use super::cell::{CellKind, CellResult};
use super::protocol::Protocol;
use super::score::{ForecastScore, SequenceResult};

/// One row of `results/dho-full.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// `oracle`, `pooled`, `single` or `mtlds-` and the recipe.
    pub model: String,
    /// How many sequences it learned from, where it learned.
    pub n: Option<usize>,
    /// Observations seen before the forecast.
    pub t: usize,
    /// Root mean squared error of the predictive mean.
    pub rmse: f64,
    /// Standard error of `rmse` over repetitions; `None` for one repetition.
    pub rmse_se: Option<f64>,
    /// Mean negative log predictive density, in nats per step.
    pub nll: f64,
    /// Standard error of `nll` over repetitions; `None` for one repetition.
    pub nll_se: Option<f64>,
    /// Mean continuous ranked probability score.
    pub crps: f64,
    /// Share of steps inside the central 50 % interval.
    pub cover50: f64,
    /// Share of steps inside the central 80 % interval.
    pub cover80: f64,
    /// Share of steps inside the central 95 % interval.
    pub cover95: f64,
}

/// The cells of one kind, by repetition in increasing order.
#[derive(Clone, Debug)]
pub(super) struct Column<'a> {
    pub(super) kind: &'a CellKind,
    pub(super) cells: Vec<&'a CellResult>,
}

impl Column<'_> {
    /// The mean over sequences of each repetition.
    pub(super) fn repetition_means(&self, of: impl Fn(&SequenceResult) -> f64) -> Vec<f64> {
        let mean = |cell: &&CellResult| mean(cell.sequences.iter().map(&of));
        self.cells.iter().map(mean).collect()
    }

    /// The rows at all times; none without cells.
    pub(super) fn rows(&self, protocol: &Protocol) -> Vec<Row> {
        (0..protocol.seen.len()).filter_map(|k| self.row(protocol, k)).collect()
    }

    fn row(&self, protocol: &Protocol, k: usize) -> Option<Row> {
        let estimate = |of: fn(&ForecastScore) -> f64| {
            Estimate::of(&self.repetition_means(|sequence| of(&sequence.scores[k])))
        };
        let (rmse, nll) = (estimate(|score| score.rmse)?, estimate(|score| score.nll)?);
        Some(Row {
            model: self.kind.model(),
            n: self.kind.n(protocol),
            t: protocol.seen[k],
            rmse: rmse.mean,
            rmse_se: rmse.std_error,
            nll: nll.mean,
            nll_se: nll.std_error,
            crps: estimate(|score| score.crps)?.mean,
            cover50: estimate(|score| score.cover50)?.mean,
            cover80: estimate(|score| score.cover80)?.mean,
            cover95: estimate(|score| score.cover95)?.mean,
        })
    }
}

/// The mean of at least one value.
pub(super) fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len() as f64;
    values.sum::<f64>() / n
}
