//! Small made-up cells for tests.

use super::cell::{CellId, CellKind, CellResult, Recipe};
use super::protocol::{Protocol, Scale};
use super::score::{ForecastScore, SequenceResult};

pub(super) fn protocol() -> Protocol {
    Protocol::new(Scale::Quick, 1)
}

pub(super) fn mtlds(n: usize) -> CellKind {
    CellKind::Mtlds { recipe: Recipe::new("fake").unwrap(), n }
}

/// A cell whose scores are `level` plus something that differs between sequences and repetitions.
pub(super) fn cell(kind: CellKind, repetition: usize, level: f64) -> CellResult {
    let protocol = protocol();
    let sequence = |i: usize| {
        let own = 0.01 * i as f64 + 0.003 * repetition as f64;
        let score = |&t: &usize| ForecastScore {
            t,
            rmse: level + own + 1.0 / t as f64,
            nll: 10.0 * level + own,
            crps: 0.5 * level,
            cover50: 0.5,
            cover80: 0.75,
            cover95: 1.0,
            rmse_mc_se: (kind == CellKind::Oracle).then_some(0.012),
            nll_mc_se: (kind == CellKind::Oracle).then_some(0.12),
        };
        SequenceResult {
            scores: protocol.seen.iter().map(score).collect(),
            log_evidence: (kind != CellKind::Single).then_some(100.0 - 100.0 * level - own),
            log_evidence_mc_se: (kind == CellKind::Oracle).then_some(0.3),
        }
    };
    let sequences = (0..protocol.n_test).map(sequence).collect();
    CellResult { cell: CellId { kind, repetition }, protocol, sequences, seconds: 1.5 }
}
