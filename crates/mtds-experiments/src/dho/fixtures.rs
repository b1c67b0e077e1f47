//! Small made-up cells for tests.

use mtds::evaluate::{Coverage, SequenceScore};
use mtds::parts::Schedule;

use super::cell::{CellId, CellKind, CellResult, Recipe};
use super::oracle::MonteCarloErrors;
use super::protocol::Protocol;
use super::recipe::ours::Effort;
use super::recipe::{Ours, Paper};
use super::settings::{OursScale, Settings};
use crate::Scale;

pub(super) fn protocol() -> Protocol {
    let sizes = vec![2, 4, 8];
    Protocol { training_sizes: sizes, pooled_size: 100, n_test: 6, ..Protocol::new(Scale::Quick, 1) }
}

pub(super) fn mtlds(n: usize) -> CellKind {
    Recipe::Ours.mtlds(n)
}

/// A cell whose scores are `level` plus something that differs between sequences and repetitions.
pub(super) fn cell(kind: CellKind, repetition: usize, level: f64) -> CellResult {
    let protocol = protocol();
    let own = |i: usize| 0.01 * i as f64 + 0.003 * repetition as f64;
    let each = |one: &dyn Fn(usize) -> f64| (0..protocol.n_test).map(one).collect::<Vec<f64>>();
    let score = |t: usize, i: usize| SequenceScore {
        n_observed: protocol.n_time - t,
        rmse: level + own(i) + 1.0 / t as f64,
        nll: 10.0 * level + own(i),
        crps: 0.5 * level,
        coverage: [(0.5, 0.5), (0.8, 0.75), (0.95, 1.0)]
            .map(|(level, share)| Coverage { level, share })
            .to_vec(),
        pit: vec![],
    };
    let scores = protocol.seen.iter().map(|&t| (0..protocol.n_test).map(|i| score(t, i)).collect());
    let by_time = |error: f64| vec![each(&|_| error); protocol.seen.len()];
    CellResult {
        scores: scores.collect(),
        log_evidences: (kind != CellKind::Single).then(|| each(&|i| 100.0 - 100.0 * level - own(i))),
        monte_carlo: (kind == CellKind::Oracle).then(|| MonteCarloErrors {
            rmse: by_time(0.012),
            nll: by_time(0.12),
            log_evidence: each(&|_| 0.3),
        }),
        seconds: 1.5,
        ..CellResult::new(CellId { kind, repetition }, protocol.clone())
    }
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
