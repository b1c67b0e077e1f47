//! From cells to rows: errors by style and over all, curves over time, tests of pairs, scores of transfer.
//!
//! ```text
//! experiment 1    e = √ mean over starts                      at a share; all styles together, and each by itself; then the mean over repetitions
//! experiment 2    e_style = √ mean over starts                at a row ahead; mean over repetitions; over all: mean over the styles left out
//! ```

use std::collections::BTreeMap;

use mtds::evaluate::Estimate;
use serde::{Deserialize, Serialize};

use super::cell::{CellResult, Errors, Found, StartRecord, Task};
use super::model::NAMES;
use super::protocol::Protocol;
use super::transfer::Transfer;
use super::window::mean;
use crate::statistics::{Paired, paired};

/// Which experiment of forecasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Experiment 1: shares of the data.
    Efficiency,
    /// Experiment 2: styles left out.
    Novel,
}

/// A row of results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Which experiment.
    pub experiment: Kind,
    /// What forecasts.
    pub method: String,
    /// One over the share, or the row ahead.
    pub at: usize,
    /// The style; `None` for all.
    pub style: Option<String>,
    /// Root mean square error in deviations of an output.
    pub rmse: f64,
    /// Standard error: over styles in experiment 2, over repetitions in experiment 1; none for one of them.
    pub std_error: Option<f64>,
    /// Over how many starts of a repetition.
    pub n_starts: usize,
    /// Over how many repetitions.
    pub n_repetitions: usize,
}

/// What pairs of a test are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// Styles: few, and independent as far as performers are.
    Styles,
    /// Starts: many, but those of one style share a clip and a learned model, so that p is too small.
    Starts,
}

/// The model against another way to forecast.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Which experiment.
    pub experiment: Kind,
    /// One over the share, or the row ahead.
    pub at: usize,
    /// The other.
    pub other: String,
    /// What the pairs are.
    pub over: Over,
    /// How many there are.
    pub n: usize,
    /// The mean error of the model over that of the other.
    pub ratio: f64,
    /// The test; none where there are too few pairs, or all differ alike.
    pub test: Option<Paired>,
}

/// All that tables and figures show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assembly {
    /// Errors.
    pub rows: Vec<Row>,
    /// Experiment 2 by row ahead, over all styles, by method.
    pub curves: Vec<(String, Vec<Option<f64>>)>,
    /// Tests.
    pub pairs: Vec<Pair>,
    /// Scores of transfer, by repetition.
    pub transfers: Vec<Transfer>,
}

/// Squared errors of a start, averaged over repetitions: by where it is, then by method.
type ByStart = BTreeMap<(usize, String), BTreeMap<(String, usize), Vec<f64>>>;

/// What is known of one method at one share or row ahead.
#[derive(Default)]
struct Known {
    /// By style: an error for each repetition.
    styles: BTreeMap<String, Vec<f64>>,
    /// All styles together, by repetition.
    all: Vec<f64>,
    /// By style, in each repetition.
    n_starts: BTreeMap<String, usize>,
}

/// Puts cells together.
#[must_use]
pub fn assemble(protocol: &Protocol, cells: &[CellResult]) -> Assembly {
    let mut known: BTreeMap<(Kind, usize, String), Known> = BTreeMap::new();
    let mut by_start: BTreeMap<Kind, ByStart> = BTreeMap::new();
    let mut curves: BTreeMap<String, Vec<&Vec<Option<f64>>>> = BTreeMap::new();
    let mut order: Vec<String> = vec![];
    let mut transfers = vec![];
    for cell in cells {
        let (starts, methods) = match &cell.found {
            Found::Forecasts { starts, methods, .. } => (starts, methods),
            Found::Transfer(transfer) => {
                transfers.push((**transfer).clone());
                continue;
            }
            Found::Map(_) => continue,
        };
        for errors in methods {
            if !order.contains(&errors.method) {
                order.push(errors.method.clone());
            }
            let (kind, ats): (Kind, Vec<usize>) = match cell.cell.task {
                Task::Efficiency(_, divisor) => (Kind::Efficiency, vec![divisor]),
                _ => (Kind::Novel, protocol.told.clone()),
            };
            if kind == Kind::Novel {
                curves.entry(errors.method.clone()).or_default().push(&errors.curve);
            }
            for (k, &at) in ats.iter().enumerate() {
                note(known.entry((kind, at, errors.method.clone())).or_default(), starts, errors, k);
                let entry = by_start.entry(kind).or_default().entry((at, errors.method.clone())).or_default();
                for (start, told) in starts.iter().zip(&errors.starts) {
                    let place = (format!("{}/{}", start.style, start.clip), start.row);
                    entry.entry(place).or_default().extend(told[k]);
                }
            }
        }
    }
    let rank = |method: &String| order.iter().position(|one| one == method);
    let mut found: Vec<_> = known.into_iter().collect();
    found.sort_by_key(|((kind, at, method), _)| (*kind, *at, rank(method)));
    let mut rows: Vec<Row> = found.iter().flat_map(|(key, known)| rows_of(key, known)).collect();
    rows.sort_by_key(|row| (row.experiment, row.style.clone()));
    let pairs = pairs(&found, &by_start);
    let mut curves: Vec<_> = curves.into_iter().map(|(method, of)| (method, mean_curve(&of))).collect();
    curves.sort_by_key(|(method, _)| rank(method));
    Assembly { rows, curves, pairs, transfers }
}

/// Takes the errors of a cell at one place of what is told.
fn note(known: &mut Known, starts: &[StartRecord], errors: &Errors, k: usize) {
    let mut by_style: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (start, told) in starts.iter().zip(&errors.starts) {
        by_style.entry(&start.style).or_default().extend(told[k]);
    }
    known.all.extend(mean(by_style.values().flatten().copied()).map(f64::sqrt));
    for (style, squares) in by_style {
        known.n_starts.insert(style.to_owned(), squares.len());
        known.styles.entry(style.to_owned()).or_default().extend(mean(squares.into_iter()).map(f64::sqrt));
    }
}

fn rows_of((kind, at, method): &(Kind, usize, String), known: &Known) -> Vec<Row> {
    let row = |style: Option<String>, values: &[f64], n_starts: usize, n_repetitions: usize| {
        let Estimate { mean: rmse, std_error, .. } = Estimate::of(values)?;
        let (experiment, method, at) = (*kind, method.clone(), *at);
        Some(Row { experiment, method, at, style, rmse, std_error, n_starts, n_repetitions })
    };
    let own = known
        .styles
        .iter()
        .filter_map(|(style, values)| row(Some(style.clone()), values, known.n_starts[style], values.len()));
    let n_starts = known.n_starts.values().sum();
    let n_repetitions = known.styles.values().map(Vec::len).max().unwrap_or(0);
    let all = match kind {
        Kind::Efficiency => known.all.clone(),
        Kind::Novel => known.styles.values().filter_map(|values| mean(values.iter().copied())).collect(),
    };
    row(None, &all, n_starts, n_repetitions).into_iter().chain(own).collect()
}

/// The mean over cells of root mean squares by row ahead.
fn mean_curve(curves: &[&Vec<Option<f64>>]) -> Vec<Option<f64>> {
    let longest = curves.iter().map(|curve| curve.len()).max().unwrap_or(0);
    let at =
        |h: usize| mean(curves.iter().filter_map(|curve| curve.get(h).copied().flatten()).map(f64::sqrt));
    (0..longest).map(at).collect()
}

fn pairs(found: &[((Kind, usize, String), Known)], by_start: &BTreeMap<Kind, ByStart>) -> Vec<Pair> {
    let ours = |kind: Kind, at: usize| {
        let is_it = |key: &(Kind, usize, String)| (key.0, key.1, key.2.as_str()) == (kind, at, NAMES[0]);
        found.iter().find(|(key, _)| is_it(key)).map(|(_, known)| known)
    };
    let mut all = vec![];
    for ((kind, at, other), theirs) in found.iter().filter(|((_, _, method), _)| method != NAMES[0]) {
        let Some(own) = ours(*kind, *at) else { continue };
        let styles = own.styles.iter().filter_map(|(style, values)| {
            let theirs = theirs.styles.get(style)?;
            Some((mean(values.iter().copied())?, mean(theirs.iter().copied())?))
        });
        all.extend(pair((*kind, *at, other), Over::Styles, styles.collect()));
        let starts = &by_start[kind];
        let (own, theirs) = (&starts[&(*at, NAMES[0].to_owned())], &starts[&(*at, other.clone())]);
        let root = |squares: &Vec<f64>| mean(squares.iter().copied()).map(f64::sqrt);
        let both = own.iter().filter_map(|(place, values)| Some((root(values)?, root(theirs.get(place)?)?)));
        all.extend(pair((*kind, *at, other), Over::Starts, both.collect()));
    }
    all
}

fn pair((experiment, at, other): (Kind, usize, &str), over: Over, values: Vec<(f64, f64)>) -> Option<Pair> {
    let (own, theirs): (Vec<f64>, Vec<f64>) = values.into_iter().unzip();
    let ratio = mean(own.iter().copied())? / mean(theirs.iter().copied())?;
    let test = paired(&own, &theirs).ok();
    Some(Pair { experiment, at, other: other.to_owned(), over, n: own.len(), ratio, test })
}

impl Assembly {
    /// The row of a method, over all styles or of one.
    #[must_use]
    pub fn row(&self, experiment: Kind, method: &str, at: usize, style: Option<&str>) -> Option<&Row> {
        self.rows.iter().find(|row| {
            row.experiment == experiment
                && row.method == method
                && row.at == at
                && row.style.as_deref() == style
        })
    }

    /// Methods of an experiment, in the order of their cells.
    #[must_use]
    pub fn methods(&self, experiment: Kind) -> Vec<&str> {
        let mut names: Vec<&str> = vec![];
        for row in self.rows.iter().filter(|row| row.experiment == experiment) {
            if !names.contains(&row.method.as_str()) {
                names.push(&row.method);
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{forecasts, protocol};
    use super::*;

    /// Two styles left out, two repetitions: √ of means over starts, then means over repetitions, then over styles.
    #[test]
    fn means_are_taken_in_the_order_that_is_said() {
        let (protocol, mut cells) = (protocol(), vec![]);
        // Squares of the two starts of a cell, the same at every row that is told.
        for (name, squares) in [
            ("e2-mtds-f00-r00", [1.0, 7.0]), // 2
            ("e2-mtds-f00-r01", [9.0, 9.0]), // 3
            ("e2-mtds-f01-r00", [1.0, 1.0]), // 1
            ("e2-mtds-f01-r01", [4.0, 4.0]), // 2
            ("e2-gru-open-f00-r00", [16.0, 16.0]),
            ("e2-gru-open-f01-r00", [25.0, 25.0]),
        ] {
            cells.push(forecasts(&protocol, name, &squares));
        }
        let assembly = assemble(&protocol, &cells);
        let row = assembly.row(Kind::Novel, "mtds", 5, None).unwrap();
        assert!((row.rmse - 2.0).abs() < 1e-12 && row.n_repetitions == 2, "{row:?}");
        assert!((row.std_error.unwrap() - 0.5).abs() < 1e-12, "{row:?}");
        let of_style = assembly.row(Kind::Novel, "mtds", 5, Some(&protocol.styles[0])).unwrap();
        assert!((of_style.rmse - 2.5).abs() < 1e-12 && of_style.n_starts == 2);
        let pair = |over: Over| assembly.pairs.iter().find(|pair| pair.over == over && pair.at == 5).unwrap();
        let styles = pair(Over::Styles);
        // 2.5 and 1.5 against 4 and 5.
        assert_eq!((styles.other.as_str(), styles.n), ("gru-open", 2));
        assert!((styles.ratio - 4.0 / 9.0).abs() < 1e-12 && styles.test.unwrap().difference == -2.5);
        assert_eq!(pair(Over::Starts).n, 4);
        assert_eq!(assembly.methods(Kind::Novel), ["mtds", "gru-open"]);
    }

    #[test]
    fn the_first_experiment_takes_all_styles_together() {
        let protocol = protocol();
        let cells = [forecasts(&protocol, "e1-mtds-s01-r00", &[1.0, 7.0])];
        let assembly = assemble(&protocol, &cells);
        let row = assembly.row(Kind::Efficiency, "mtds", 1, None).unwrap();
        assert!((row.rmse - 2.0).abs() < 1e-12 && row.std_error.is_none() && row.n_starts == 2, "{row:?}");
        assert!(assembly.pairs.is_empty() && assemble(&protocol, &[]).rows.is_empty());
    }
}
