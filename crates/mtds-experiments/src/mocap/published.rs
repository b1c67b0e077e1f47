//! The paper's figures of the same experiments, on other recordings: for orientation, not for comparison.

use super::assemble::Kind;

/// Where they stand.
pub const SOURCE: &str = "Bird & Williams (2020), supplement, tables of mocap experiments 1 and 2; 31 recordings in 8 styles \
                          that are not public";

/// A row of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PublishedRow {
    /// Which experiment.
    pub experiment: Kind,
    /// What the paper calls it.
    pub name: &'static str,
    /// The method here that is nearest to it.
    pub method: &'static str,
    /// Experiment 1: at 3, 7, 13, 27, 53 and 97 % of the data; experiment 2: at 5, 10, 20, 50, 100 and 200 rows.
    pub rmse: [f64; 6],
}

const fn row(experiment: Kind, name: &'static str, method: &'static str, rmse: [f64; 6]) -> PublishedRow {
    PublishedRow { experiment, name, method, rmse }
}

/// All rows; the tables say RMSE, their captions MSE.
pub const ROWS: [PublishedRow; 16] = [
    row(Kind::Efficiency, "training mean", "training-mean", [0.76, 0.76, 0.72, 0.73, 0.73, 0.73]),
    row(Kind::Efficiency, "zero velocity", "last-frame", [1.23, 1.23, 1.23, 1.23, 1.23, 1.23]),
    row(Kind::Efficiency, "pooled GRU, closed loop", "gru-closed", [0.79, 0.61, 0.82, 0.87, 0.76, 1.21]),
    row(Kind::Efficiency, "GRU per style, open loop", "gru-styles", [1.11, 0.88, 0.40, 0.33, 0.18, 0.18]),
    row(Kind::Efficiency, "pooled GRU, open loop", "gru-open", [0.69, 0.52, 0.36, 0.29, 0.16, 0.16]),
    row(Kind::Efficiency, "MTDS, k = 3", "mtds-code", [0.62, 0.34, 0.35, 0.21, 0.21, 0.19]),
    row(Kind::Efficiency, "MTDS, k = 5", "mtds-code", [0.53, 0.29, 0.22, 0.19, 0.15, 0.16]),
    row(Kind::Efficiency, "MTDS, k = 7", "mtds-code", [0.51, 0.27, 0.24, 0.20, 0.16, 0.18]),
    row(Kind::Novel, "training mean", "training-mean", [1.04, 1.04, 1.05, 1.04, 1.06, 1.07]),
    row(Kind::Novel, "zero velocity", "last-frame", [0.69, 1.20, 1.37, 1.21, 1.35, 1.48]),
    row(Kind::Novel, "one-layer GRU, closed loop", "gru-closed", [0.35, 0.64, 0.81, 1.00, 1.45, 7.28]),
    row(Kind::Novel, "two-layer GRU, closed loop", "gru2-closed", [0.34, 0.61, 0.79, 0.97, 1.41, 6.34]),
    row(Kind::Novel, "one-layer GRU, open loop", "gru-open", [0.56, 0.56, 0.60, 0.73, 0.83, 0.92]),
    row(Kind::Novel, "two-layer GRU, open loop", "gru2-open", [0.53, 0.55, 0.59, 0.73, 0.85, 0.94]),
    row(Kind::Novel, "MTDS, k = 3", "mtds-code", [0.61, 0.62, 0.59, 0.61, 0.63, 0.63]),
    row(Kind::Novel, "MTDS, k = 7", "mtds-code", [0.49, 0.46, 0.50, 0.54, 0.53, 0.61]),
];
