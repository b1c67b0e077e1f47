//! The numbers that `mtds quickstart` reports: everything the page, the table and the JSON document show.

mod page;

pub use page::page;

use crate::chart::{Band, CoverageSeries, Trace};
use serde::Serialize;

/// Everything that the quickstart found out, as plain numbers. A number that is not finite means "not
/// measured" and is shown as a dash or a gap.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QuickstartReport {
    /// The bound while learning, in order of steps.
    pub bound: Vec<BoundPoint>,
    /// Scores of all models; the first row's model is the one that was learned, the others are baselines.
    pub rows: Vec<ScoreRow>,
    /// Forecasts of new members, four to six of them.
    pub panels: Vec<ForecastPanel>,
    /// Coverage of the intervals, one series per number of observations seen.
    pub coverage: Vec<CoverageSeries>,
    /// The codes of the training sequences.
    pub map: CodeMap,
    /// A morph between two members.
    pub morph: MorphPath,
    /// Settings in force, (name, value).
    pub settings: Vec<(String, String)>,
    /// Wall-clock time of each stage, (stage, seconds).
    pub timings: Vec<(String, f64)>,
    /// What to do next, (command, what it does).
    pub next: Vec<(String, String)>,
    /// What the computation left in the output directory, (path below it, what it is).
    pub files: Vec<(String, String)>,
}

/// The bound at one step of learning.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BoundPoint {
    /// Optimiser step.
    pub step: u64,
    /// Bound on the training sequences, per sequence.
    pub training: f64,
    /// The same on sequences held out; not finite where it was not measured.
    pub validation: f64,
}

/// Scores of one model after one number of observations, with standard errors.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoreRow {
    /// Name of the model.
    pub model: String,
    /// Observations seen before the forecast.
    pub t: usize,
    /// Root mean squared error.
    pub rmse: f64,
    /// Its standard error.
    pub rmse_se: f64,
    /// Negative log likelihood per value.
    pub nll: f64,
    /// Its standard error.
    pub nll_se: f64,
    /// Continuous ranked probability score.
    pub crps: f64,
    /// Its standard error.
    pub crps_se: f64,
    /// Share of truths inside the 50 % interval.
    pub cover50: f64,
    /// Share of truths inside the 80 % interval.
    pub cover80: f64,
    /// Share of truths inside the 95 % interval.
    pub cover95: f64,
}

/// The forecast of one new member.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ForecastPanel {
    /// Name of the member.
    pub member: String,
    /// Observations seen before the forecast.
    pub seen: usize,
    /// Those observations, (time, value).
    pub observed: Vec<(f64, f64)>,
    /// What happened after, (time, value).
    pub truth: Vec<(f64, f64)>,
    /// Times of the forecast.
    pub times: Vec<f64>,
    /// Central intervals, one value per time.
    pub bands: Vec<Band>,
    /// Median, one value per time.
    pub median: Vec<f64>,
}

/// Two dimensions of the codes of the training sequences.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CodeMap {
    /// One per sequence.
    pub codes: Vec<CodePoint>,
    /// What the colour stands for, with its unit.
    pub colour: String,
    /// Which dimensions of the code the axes are, counted from 1.
    pub dims: (usize, usize),
}

/// The code of one training sequence.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CodePoint {
    /// Name of the sequence.
    pub name: String,
    /// Posterior mean of the two dimensions of its code.
    pub at: (f64, f64),
    /// Value that sets the colour; never used in learning.
    pub value: f64,
}

/// A morph from one member to another.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MorphPath {
    /// Where it starts.
    pub from: String,
    /// Where it ends.
    pub to: String,
    /// The codes on the way, in the two dimensions of the map.
    pub codes: Vec<(f64, f64)>,
    /// The sequence generated from each code.
    pub traces: Vec<Trace>,
}

impl QuickstartReport {
    /// Name of the model that was learned; empty if there are no scores.
    pub fn model(&self) -> &str {
        self.rows.first().map_or("", |row| &row.model)
    }

    /// The numbers of observations for which there are scores, increasing.
    pub fn seen(&self) -> Vec<usize> {
        let mut seen: Vec<_> = self.rows.iter().map(|row| row.t).collect();
        seen.sort_unstable();
        seen.dedup();
        seen
    }

    /// Names of all models, in the order of the rows.
    pub fn models(&self) -> Vec<&str> {
        let mut models: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !models.contains(&row.model.as_str()) {
                models.push(&row.model);
            }
        }
        models
    }

    /// The scores of a model after `t` observations.
    pub fn row(&self, model: &str, t: usize) -> Option<&ScoreRow> {
        self.rows.iter().find(|row| row.model == model && row.t == t)
    }

    /// The baseline with the smallest error after `t` observations.
    pub fn best_baseline(&self, t: usize) -> Option<&ScoreRow> {
        self.rows
            .iter()
            .filter(|row| row.t == t && row.model != self.model() && row.rmse.is_finite())
            .min_by(|a, b| a.rmse.total_cmp(&b.rmse))
    }

    /// Wall-clock time of all stages, in seconds.
    pub fn total_secs(&self) -> f64 {
        self.timings.iter().map(|(_, secs)| secs).sum()
    }
}
