//! The figures of the paper, to stand beside those computed here.
//!
//! Bird & Williams (2020), supplement, "DHO test results": means over ten repetitions of twenty test sequences.

use serde::Serialize;

use super::cell::CellKind;
use super::protocol::Protocol;

/// RMSE and NLL of a model after `t` observations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Published {
    /// `pooled`, `single` or `mtlds`.
    pub model: &'static str,
    /// How many sequences it learned from, where it learned.
    pub n: Option<usize>,
    /// Observations seen before the forecast.
    pub t: usize,
    /// Root mean squared error.
    pub rmse: f64,
    /// Mean negative log predictive density.
    pub nll: f64,
}

const TIMES: [usize; 3] = [10, 20, 40];

type Scores = [f64; 3];

const TABLE: [(&str, Option<usize>, Scores, Scores); 5] = [
    ("pooled", Some(1000), [0.36, 0.34, 0.29], [0.38, 0.34, 0.22]),
    ("single", None, [0.43, 0.36, 0.11], [1.98, 1.24, -0.37]),
    ("mtlds", Some(4), [0.30, 0.18, 0.12], [1.47, 0.02, -0.54]),
    ("mtlds", Some(16), [0.25, 0.11, 0.07], [0.94, -0.43, -0.81]),
    ("mtlds", Some(128), [0.23, 0.09, 0.06], [0.83, -0.50, -0.85]),
];

/// All figures of the table, model by model.
pub fn all() -> impl Iterator<Item = Published> {
    TABLE.iter().flat_map(|&(model, n, rmse, nll)| {
        (0..3).map(move |k| Published { model, n, t: TIMES[k], rmse: rmse[k], nll: nll[k] })
    })
}

/// The paper's figures for a model after `t` observations, where it has any; every recipe is an `mtlds`.
#[must_use]
pub fn published(kind: &CellKind, protocol: &Protocol, t: usize) -> Option<Published> {
    let model = match kind {
        CellKind::Oracle => return None,
        CellKind::Pooled => "pooled",
        CellKind::Single => "single",
        CellKind::Mtlds { .. } => "mtlds",
    };
    all().find(|found| (found.model, found.n, found.t) == (model, kind.n(protocol), t))
}

#[cfg(test)]
mod tests {
    use super::super::cell::Recipe;
    use super::super::protocol::Scale;
    use super::*;

    #[test]
    fn figures_stand_with_their_models() {
        let protocol = Protocol::new(Scale::Full, 1);
        let mtlds = |n| CellKind::Mtlds { recipe: Recipe::ours(), n };
        let rmse = |kind: &CellKind, t| published(kind, &protocol, t).map(|found| found.rmse);
        assert_eq!(rmse(&mtlds(16), 20), Some(0.11));
        assert_eq!(rmse(&CellKind::Single, 40), Some(0.11));
        assert_eq!(rmse(&CellKind::Pooled, 10), Some(0.36));
        assert_eq!([rmse(&mtlds(2), 20), rmse(&mtlds(16), 30), rmse(&CellKind::Oracle, 10)], [None; 3]);
        assert_eq!(all().count(), 15);
    }
}
