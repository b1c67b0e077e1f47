//! Small made-up cells for tests.

use mtds::learn::Schedule;

use super::cell::{CellId, CellKind, CellResult, Recipe};
use super::protocol::{Protocol, Scale};
use super::recipe::ours::Effort;
use super::recipe::{Ours, Paper};
use super::score::{ForecastScore, SequenceResult};
use super::settings::{OursScale, Settings};

pub(super) fn protocol() -> Protocol {
    let sizes = vec![2, 4, 8];
    Protocol { training_sizes: sizes, pooled_size: 100, n_test: 6, ..Protocol::new(Scale::Quick, 1) }
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
    let cell = CellId { kind, repetition };
    CellResult { cell, protocol, sequences, illustrations: vec![], seconds: 1.5 }
}

/// An experiment that takes a second: two repetitions, sequences of 24 steps.
pub(super) fn tiny_protocol() -> Protocol {
    Protocol {
        repetitions: 2,
        training_sizes: vec![3],
        pooled_size: 20,
        n_test: 2,
        n_validation: 2,
        seen: vec![5, 12],
        n_time: 24,
        ..Protocol::new(Scale::Quick, 5)
    }
}

/// Models that our recipe learns in a tiny experiment.
pub(super) const OUR_MODELS: usize = 2;

/// Settings to go with it: few steps, few draws.
pub(super) fn tiny_settings() -> Settings {
    let mut settings = Settings::new(Scale::Quick).unwrap();
    settings.oracle.sampler.prior_points = 2048;
    settings.oracle.sampler.prior_ess = 256.0;
    settings.oracle.sampler.chains = 64;
    settings.oracle.draws = 64;
    settings.pooled.plan.steps = 5;
    settings.single.restarts = 2;
    (settings.single.sampler.warmup, settings.single.sampler.draws) = (60, 40);
    settings.paper = Paper::new(20).unwrap();
    settings.paper.hidden = 12;
    settings.paper.start.objective.particles = Schedule::constant(64.0).unwrap();
    settings.paper.online.every = 12;
    settings.paper.online.importance.samples = 200;
    let effort = Effort { models: (0, OUR_MODELS), prior_steps: (10, 10), effects_steps: 20 };
    let mut ours = Ours::new(3, effort).unwrap();
    ours.online = settings.paper.online.clone();
    settings.ours = OursScale::Exactly(Box::new(ours));
    settings
}
