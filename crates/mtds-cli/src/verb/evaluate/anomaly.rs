//! Anomaly scores: each sequence is forecast a few steps at a time, and what came is compared with what was expected.

use crate::progress::{Progress, Stage};
use anyhow::Result;
use mtds::infer::{Online, Tracker};
use mtds::predict::Surprise;
use mtds::random::{Stream, stream};
use mtds::{Family, System};
use rayon::prelude::*;

/// Outcomes drawn from every forecast: their mean is off by a tenth of a deviation, a hundredth of the variance.
const DRAWS: usize = 100;
/// From here on a sequence counts as an anomaly in the text.
pub(super) const ANOMALY: f64 = 3.0;

/// The score of one sequence.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AnomalyRow {
    pub(super) series: String,
    pub(super) label: Option<String>,
    pub(super) surprise: Surprise,
}

/// Scores of all sequences, in their order.
///
/// # Errors
/// Sequences that the model cannot take.
pub(super) fn scores(
    model: &System,
    online: &Online,
    family: &Family,
    seed: u64,
    progress: &mut Progress,
) -> Result<Vec<AnomalyRow>> {
    progress.begin(Stage::Inferring, family.n_seq() as u64);
    let one = |i: usize| -> Result<AnomalyRow> {
        let sequence = family.sequence(i);
        Ok(AnomalyRow {
            series: sequence.id().to_owned(),
            label: sequence.label().map(str::to_owned),
            surprise: surprise(model, online, family, i, seed)?,
        })
    };
    let rows = (0..family.n_seq()).into_par_iter().map(one).collect();
    progress.end();
    rows
}

/// The surprise of a whole sequence, in blocks of as many steps as there are between two updates.
fn surprise(model: &System, online: &Online, family: &Family, i: usize, seed: u64) -> Result<Surprise> {
    let (outputs, inputs) = (family.sequence(i).outputs(), family.inputs_of(i));
    let mut tracker = Tracker::new(model, online.clone(), stream(seed, Stream::Anomaly(i as u64)))?;
    let mut random = stream(seed, Stream::Surprise(i as u64));
    let mut total = Surprise::default();
    for start in (0..outputs.n_time()).step_by(online.every) {
        let end = outputs.n_time().min(start + online.every);
        let future = inputs.map(|inputs| inputs.slice(start..end));
        let forecast = tracker.forecast(end - start, future.as_ref())?;
        let truth = outputs.slice(start..end);
        total = total.and(Surprise::of(&forecast, truth.values(), DRAWS, &mut random)?);
        for t in start..end {
            tracker.observe(outputs.row(t), inputs.map_or(&[], |inputs| inputs.row(t)))?;
        }
    }
    Ok(total)
}
