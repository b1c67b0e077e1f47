//! The report of any fit: what is measured of a model on a family, and the page that tells it.

mod measure;
mod morph;
mod page;
mod panels;
mod residuals;
mod stored;

pub use measure::Questions;
pub use morph::MorphPath;
pub use page::page;

use crate::chart::{Band, CoverageSeries};
use crate::code_map::CodeMap;
use mtds::evaluate::ScoreRow;
use mtds::{CodeUsage, Explained, Member};

/// Everything on the page.
#[derive(Debug, Clone)]
pub struct FitReport {
    /// Name of the model.
    pub model: String,
    /// The sequences that forecasts are judged on, in words, e.g. `12 held-out sequences of family.csv`.
    pub judged: String,
    /// One curve per stage of learning that has one.
    pub curves: Vec<Curve>,
    /// The members that were learned from.
    pub members: Vec<Member>,
    /// Where they lie; `None` without members.
    pub map: Option<CodeMap>,
    /// What rollouts explain of each output; may be empty.
    pub explained: Vec<Explained>,
    /// How much of the code is used, where the model was learned by elbo or iwae.
    pub usage: Option<CodeUsage>,
    /// Scores, by origin and method.
    pub scores: Vec<ScoreRow>,
    /// Forecasts to draw.
    pub panels: Vec<Panel>,
    /// Whether intervals hold, by origin.
    pub coverage: Vec<CoverageSeries>,
    /// A morph between two members; `None` without members.
    pub morph: Option<MorphPath>,
    /// Residual checks.
    pub residuals: Residuals,
    /// Commands that go further: (command, what it does).
    pub next: Vec<(String, String)>,
    /// Settings by name.
    pub settings: Vec<(String, String)>,
}

/// The bound over the steps of one stage.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Name of the stage.
    pub stage: String,
    /// (step, bound per value) of training sequences.
    pub training: Vec<(f64, f64)>,
    /// The same of held-out sequences; may be empty.
    pub held_out: Vec<(f64, f64)>,
}

/// One forecast to draw.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Id of the sequence, and the output where there are several.
    pub title: String,
    /// Steps seen.
    pub seen: usize,
    /// (step, value) that were seen.
    pub observed: Vec<(f64, f64)>,
    /// (step, value) that came after.
    pub truth: Vec<(f64, f64)>,
    /// Steps of the forecast.
    pub times: Vec<f64>,
    /// Central intervals.
    pub bands: Vec<Band>,
    /// The median.
    pub median: Vec<f64>,
}

/// What is left of the outputs once the model has had its say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Residuals {
    /// Share of the values in each tenth of their forecasts, at the last origin; empty without forecasts.
    pub tenths: Vec<f64>,
    /// How far a tenth may be from 0.1 by chance: two standard errors.
    pub tenth_error: f64,
    /// Autocorrelation of residuals at lags 1, 2, …
    pub autocorrelation: Vec<f64>,
    /// How far it may be from 0 by chance: two standard errors.
    pub autocorrelation_error: f64,
}
