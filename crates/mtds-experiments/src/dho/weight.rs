//! How much work a cell is, so that the longest are begun first and the time that is left can be told.

use super::cell::{CellKind, Recipe};
use crate::Scale;

/// What cells of a kind take: about the seconds of one on one thread, as `-v` prints them. That of our recipe for 128
/// sequences at full scale is the quick one times the number of steps.
pub(super) fn weight(kind: &CellKind, scale: Scale) -> f64 {
    let at_scale = |quick: f64, full: f64| match scale {
        Scale::Quick => quick,
        Scale::Full => full,
    };
    // Between the smallest and the largest training set, a straight line.
    let from_to = |smallest: f64, largest: f64, n: usize| smallest + (largest - smallest) * n as f64 / 128.0;
    match kind {
        CellKind::Pooled => 0.1,
        CellKind::Oracle => at_scale(1.4, 5.0),
        CellKind::Single => at_scale(13.0, 140.0),
        CellKind::Mtlds { recipe: Recipe::Paper, n } => {
            at_scale(from_to(8.0, 18.0, *n), from_to(18.0, 31.0, *n))
        }
        CellKind::Mtlds { recipe: Recipe::Ours, n } => {
            at_scale(from_to(11.0, 42.0, *n), from_to(80.0, 500.0, *n))
        }
    }
}
