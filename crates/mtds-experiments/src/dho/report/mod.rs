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

use crate::dho::{Assembly, CellResult, Illustration, Protocol, Recipe};

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
    pub recipes: Vec<Recipe>,
    /// Members of the family.
    pub examples: Examples,
    /// A multi-task system by its name, and test sequences as it sees them.
    pub illustrated: Option<(String, Vec<Illustration>)>,
    /// The same sequences as the oracle sees them.
    pub exact: Vec<Illustration>,
    /// Settings in force, (name, value).
    pub settings: Vec<(String, String)>,
    /// Wall-clock time by stage, (stage, seconds).
    pub timings: Vec<(String, f64)>,
    /// Commands that make the page again or go further, (command, what it does).
    pub commands: Vec<(String, String)>,
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
