//! The one row of which tables of scores are made.

use serde::{Deserialize, Serialize};

use super::Seen;
use crate::predict::{Estimate, SequenceScore};

/// The scores of one way to forecast from one origin: means over sequences, each counting once, with standard errors, `None` for
/// a single sequence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreRow {
    /// How much was seen.
    pub seen: Seen,
    /// What forecast.
    pub method: String,
    /// Number of sequences.
    pub n_seq: usize,
    /// Root mean squared error of the predictive mean.
    #[serde(with = "crate::store::number")]
    pub rmse: f64,
    /// Its standard error.
    pub rmse_se: Option<f64>,
    /// Negative log predictive density, nats per value.
    #[serde(with = "crate::store::number")]
    pub nll: f64,
    /// Its standard error.
    pub nll_se: Option<f64>,
    /// Continuous ranked probability score.
    #[serde(with = "crate::store::number")]
    pub crps: f64,
    /// Its standard error.
    pub crps_se: Option<f64>,
    /// Share of values inside the central 50 %.
    #[serde(with = "crate::store::number")]
    pub cover50: f64,
    /// Its standard error.
    pub cover50_se: Option<f64>,
    /// Share of values inside the central 80 %.
    #[serde(with = "crate::store::number")]
    pub cover80: f64,
    /// Its standard error.
    pub cover80_se: Option<f64>,
    /// Share of values inside the central 95 %.
    #[serde(with = "crate::store::number")]
    pub cover95: f64,
    /// Its standard error.
    pub cover95_se: Option<f64>,
}

impl ScoreRow {
    /// The row of these scores, taken at [`CENTRAL_LEVELS`](crate::predict::CENTRAL_LEVELS); `None` for none.
    #[must_use]
    pub fn over<'s>(
        method: &str,
        seen: Seen,
        scores: impl Iterator<Item = &'s SequenceScore>,
    ) -> Option<Self> {
        let measures = scores.map(|score| {
            let [cover50, cover80, cover95] = std::array::from_fn(|k| score.coverage[k].share);
            [score.rmse, score.nll, score.crps, cover50, cover80, cover95]
        });
        let measures: Vec<[f64; 6]> = measures.collect();
        Self::mean_of(&measures, (method, seen, measures.len()))
    }

    /// The row of repetitions, each with sequences of its own: the mean of their rows, each counting once, with standard errors over
    /// repetitions; `None` for none. Method and origin are those of the first.
    #[must_use]
    pub fn over_repetitions(rows: &[Self]) -> Option<Self> {
        let measures: Vec<[f64; 6]> =
            rows.iter().map(|row| row.measures().map(|(_, mean, _)| mean)).collect();
        let first = rows.first()?;
        Self::mean_of(&measures, (&first.method, first.seen, rows.iter().map(|row| row.n_seq).sum()))
    }

    fn mean_of(measures: &[[f64; 6]], (method, seen, n_seq): (&str, Seen, usize)) -> Option<Self> {
        let of = |k: usize| {
            let found = Estimate::of(&measures.iter().map(|values| values[k]).collect::<Vec<_>>())?;
            Some((found.mean, found.std_error))
        };
        let (rmse, rmse_se) = of(0)?;
        let (nll, nll_se) = of(1)?;
        let (crps, crps_se) = of(2)?;
        let (cover50, cover50_se) = of(3)?;
        let (cover80, cover80_se) = of(4)?;
        let (cover95, cover95_se) = of(5)?;
        let method = method.to_owned();
        #[rustfmt::skip]
        let row = Self {
            seen, method, n_seq, rmse, rmse_se, nll, nll_se, crps, crps_se,
            cover50, cover50_se, cover80, cover80_se, cover95, cover95_se,
        };
        Some(row)
    }

    /// Every measure by the name of its field, with its standard error.
    #[must_use]
    pub fn measures(&self) -> [(&'static str, f64, Option<f64>); 6] {
        [
            ("rmse", self.rmse, self.rmse_se),
            ("nll", self.nll, self.nll_se),
            ("crps", self.crps, self.crps_se),
            ("cover50", self.cover50, self.cover50_se),
            ("cover80", self.cover80, self.cover80_se),
            ("cover95", self.cover95, self.cover95_se),
        ]
    }
}
