//! The report of the experiment: every figure and table of the paper's oscillator sections, from numbers that
//! others computed.
//!
//! | module | shows |
//! |---|---|
//! | `summary` | the result as one document, and as plain tables |
//! | `collect` | what the page shows, from an outcome |
//! | `page` | the order of the page, the facts at its top |
//! | `data` | the family: where its parameters come from, what its members look like |
//! | `forecasts` | draws and predictive intervals for single sequences |
//! | `scores`, `score_tables` | violins; tables against the paper and the oracle |
//! | `convergence` | boxes of log p*(Y) − log p(Y | φ) over N |
//! | `checks` | tests of significance, findings, what is missing |
//! | `names` | what models are called, and their colours |

mod checks;
mod collect;
mod convergence;
mod data;
mod forecasts;
mod names;
mod page;
mod score_tables;
mod scores;
mod summary;

pub use page::page;

use crate::dho::{Assembly, CellResult, Protocol};

/// Everything that the page shows. Parts that are empty are said to be missing.
#[derive(Debug, Clone, PartialEq)]
pub struct DhoReport<'a> {
    /// The experiment.
    pub protocol: &'a Protocol,
    /// Its result, as far as cells are there; tables, tests and boxes come from it.
    pub assembly: &'a Assembly,
    /// The cells themselves, in any order; violins come from them.
    pub cells: &'a [CellResult],
    /// The recipes of the MTLDS, the paper's first; each has its colour and its row in every table.
    pub recipes: Vec<RecipeLabel>,
    /// Members of the family.
    pub examples: Examples,
    /// Continuations drawn from a model after 15 steps.
    pub samples: Vec<SamplePanel>,
    /// Forecasts after 30 steps, in reading order: for each sequence our model, then the oracle.
    pub predictives: Vec<PredictivePanel>,
    /// Settings in force, (name, value).
    pub settings: Vec<(String, String)>,
    /// Wall-clock time by stage, (stage, seconds).
    pub timings: Vec<(String, f64)>,
    /// Commands that make the page again or go further, (command, what it does).
    pub commands: Vec<(String, String)>,
}

/// A recipe, and what the page calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipeLabel {
    /// Name in the cells, as of [`crate::dho::Recipe::name`].
    pub name: String,
    /// What the page calls it, e.g. "paper's recipe".
    pub label: String,
}

/// Members of the family: values at steps 1, 2, …, NaN where missing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Examples {
    /// A few training sequences; the paper shows 4.
    pub training: Vec<Vec<f64>>,
    /// A few test sequences; the paper shows 2.
    pub test: Vec<Vec<f64>>,
    /// Many more; the paper shows 20.
    pub gallery: Vec<Vec<f64>>,
}

/// Draws from a model that has seen the beginning of a sequence.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SamplePanel {
    /// Which sequence, e.g. "test sequence 1".
    pub member: String,
    /// Which model, e.g. "MTLDS-4".
    pub model: String,
    /// Steps that it has seen.
    pub seen: usize,
    /// The whole sequence.
    pub outputs: Vec<f64>,
    /// The draws; each ends at the last step of `outputs` and may begin at the first or after `seen`.
    pub draws: Vec<Vec<f64>>,
}

/// The forecast of a model that has seen the beginning of a sequence.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PredictivePanel {
    /// Which sequence.
    pub member: String,
    /// Which model.
    pub model: String,
    /// Steps that it has seen.
    pub seen: usize,
    /// The whole sequence.
    pub outputs: Vec<f64>,
    /// Predictive mean of the steps after `seen`.
    pub mean: Vec<f64>,
    /// Lower edge of the 95 % interval, one per step of `mean`.
    pub lower: Vec<f64>,
    /// Upper edge of the 95 % interval, one per step of `mean`.
    pub upper: Vec<f64>,
}
