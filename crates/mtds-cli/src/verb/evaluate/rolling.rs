//! Rolling origins: every sequence is forecast after each number of steps that it is longer than.

use crate::progress::{Progress, Stage};
use anyhow::Result;
use mtds::infer::{Online, Tracker};
use mtds::predict::{CENTRAL_LEVELS, Estimate, Forecast, Scores, SequenceScore, score};
use mtds::random::{Stream, stream};
use mtds::{Family, System};
use rayon::prelude::*;

/// Sequences between two looks at the progress.
const BATCH: usize = 16;

/// The scores of one way to forecast from one origin.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScoreRow {
    pub(super) seen: usize,
    pub(super) method: &'static str,
    pub(super) n_seq: usize,
    /// RMSE, NLL, CRPS, coverage at each of the central levels.
    pub(super) estimates: Vec<Estimate>,
}

/// A family and the origins of its sequences.
#[derive(Debug, Clone, Copy)]
pub(in crate::verb) struct Rolling<'a> {
    pub(super) family: &'a Family,
    seen: &'a [usize],
    horizon: Option<usize>,
}

/// Steps seen, and steps to forecast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::verb) struct Origin {
    pub(in crate::verb) seen: usize,
    pub(in crate::verb) n_time: usize,
}

/// The forecasts of a sequence, one per origin.
pub(super) type Forecaster<'f> = dyn Fn(usize) -> Result<Vec<Forecast>> + Sync + 'f;

impl<'a> Rolling<'a> {
    pub(in crate::verb) fn new(family: &'a Family, seen: &'a [usize], horizon: Option<usize>) -> Self {
        Self { family, seen, horizon }
    }

    /// Whether no sequence is long enough.
    pub(in crate::verb) fn is_empty(&self) -> bool {
        (0..self.family.n_seq()).all(|i| self.origins(i).is_empty())
    }

    /// Origins of a sequence that leave something to forecast, rising.
    pub(in crate::verb) fn origins(&self, i: usize) -> Vec<Origin> {
        let length = self.family.sequence(i).n_time();
        let rest = |seen: usize| (length - seen).min(self.horizon.unwrap_or(usize::MAX));
        let long_enough = self.seen.iter().filter(|&&seen| seen < length);
        long_enough.map(|&seen| Origin { seen, n_time: rest(seen) }).collect()
    }

    /// One row per origin that any sequence has, with something observed behind it.
    ///
    /// # Errors
    /// Those of the forecaster.
    pub(super) fn score(
        &self,
        method: &'static str,
        forecaster: &Forecaster<'_>,
        progress: &mut Progress,
    ) -> Result<Vec<ScoreRow>> {
        let n = self.family.n_seq();
        let mut found: Vec<(usize, SequenceScore)> = Vec::new();
        progress.begin(Stage::Inferring, n as u64);
        for start in (0..n).step_by(BATCH) {
            let batch = (start..n.min(start + BATCH)).into_par_iter();
            let batch = batch.map(|i| self.score_one(i, forecaster)).collect::<Result<Vec<_>>>()?;
            found.extend(batch.into_iter().flatten());
            progress.advance(n.min(start + BATCH) as u64, None);
        }
        progress.end();
        let row = |&seen: &usize| -> Result<Option<ScoreRow>> {
            let here = found.iter().filter(|(at, _)| *at == seen).map(|(_, score)| score.clone());
            row(seen, method, &here.collect::<Vec<_>>())
        };
        self.seen.iter().filter_map(|seen| row(seen).transpose()).collect()
    }

    fn score_one(&self, i: usize, forecaster: &Forecaster<'_>) -> Result<Vec<(usize, SequenceScore)>> {
        let origins = self.origins(i);
        if origins.is_empty() {
            return Ok(vec![]);
        }
        let outputs = self.family.sequence(i).outputs();
        let mut scores = Vec::new();
        for (origin, forecast) in origins.iter().zip(forecaster(i)?) {
            let truth = outputs.slice(origin.seen..origin.seen + origin.n_time);
            let scored = score(&forecast, truth.values(), &CENTRAL_LEVELS)?;
            scores.extend(scored.map(|scored| (origin.seen, scored)));
        }
        Ok(scores)
    }
}

fn row(seen: usize, method: &'static str, scores: &[SequenceScore]) -> Result<Option<ScoreRow>> {
    if scores.is_empty() {
        return Ok(None);
    }
    let over = Scores::over(scores)?;
    let mut estimates = vec![over.rmse, over.nll, over.crps];
    estimates.extend(over.coverage.iter().map(|coverage| coverage.share));
    Ok(Some(ScoreRow { seen, method, n_seq: scores.len(), estimates }))
}

/// Forecasts of the model: one tracker follows the sequence and forecasts at each origin.
///
/// # Errors
/// A sequence that the model cannot take.
pub(in crate::verb) fn follow(
    model: &System,
    online: &Online,
    rolling: &Rolling<'_>,
    i: usize,
    seed: u64,
) -> Result<Vec<Forecast>> {
    let (outputs, inputs) = (rolling.family.sequence(i).outputs(), rolling.family.inputs_of(i));
    let mut tracker = Tracker::new(model, online.clone(), stream(seed, Stream::Evaluate(i as u64)))?;
    let mut forecasts = Vec::new();
    for Origin { seen, n_time } in rolling.origins(i) {
        for t in tracker.n_observed_steps()..seen {
            tracker.observe(outputs.row(t), inputs.map_or(&[], |inputs| inputs.row(t)))?;
        }
        let future = inputs.map(|inputs| inputs.slice(seen..seen + n_time));
        forecasts.push(tracker.forecast(n_time, future.as_ref())?);
    }
    Ok(forecasts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mtds::{Sequence, Signal};

    #[test]
    fn origins_leave_something_to_forecast() {
        let sequence = |n: usize| Sequence::new(format!("{n}"), Signal::column(vec![0.5; n])).expect("fine");
        let family = Family::new(vec![sequence(3), sequence(6), sequence(30)]).expect("fine");
        let rolling = Rolling::new(&family, &[3, 5, 10], Some(4));
        let pairs = |i| rolling.origins(i).iter().map(|o| (o.seen, o.n_time)).collect::<Vec<_>>();
        assert_eq!((pairs(0), pairs(1)), (vec![], vec![(3, 3), (5, 1)]));
        assert_eq!(pairs(2), [(3, 4), (5, 4), (10, 4)]);
        assert!(!rolling.is_empty() && Rolling::new(&family, &[30], None).is_empty());
    }
}
