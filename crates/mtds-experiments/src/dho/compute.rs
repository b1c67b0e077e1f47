//! Carries a cell out: learn, then score. Test sequences are drawn once learning is over.

use mtds::baseline::PooledLds;
use mtds::learn::Progress;
use mtds::{Control, Error, Result};

use super::cell::{CellId, CellKind};
use super::illustration::{self, Illustration, illustrate_oracle, illustrate_predictor};
use super::oracle::Oracle;
use super::predictor::{Mtlds, Pooled, Single};
use super::protocol::{Protocol, TestSet};
use super::recipe::{Learned, Method, learn};
use super::score::{Predictor, SequenceResult, score_oracle, score_predictor};
use super::settings::{CellSettings, Settings};

/// What a cell is computed for.
#[derive(Clone, Debug, PartialEq)]
pub struct Computed {
    /// One per test sequence.
    pub sequences: Vec<SequenceResult>,
    /// Some test sequences in detail: of oracle and multi-task systems, in one repetition.
    pub illustrations: Vec<Illustration>,
}

/// Computes a cell in the current thread pool.
///
/// The result depends on the cell, the protocol and the settings alone, not on the number of threads. `observer` sees
/// every step of learning and may stop it.
///
/// # Errors
/// A cell that is no part of the experiment; whatever learning and inference find wrong.
pub fn compute(
    cell: &CellId,
    protocol: &Protocol,
    settings: &Settings,
    observer: &mut dyn FnMut(&Progress) -> Control,
) -> Result<Computed> {
    let (kind, repetition) = (&cell.kind, cell.repetition);
    let seed = protocol.inference_seed(repetition, model_number(kind)?)?;
    let predictor: Box<dyn Predictor> = match settings.of(kind)? {
        CellSettings::Oracle(oracle) => {
            return compute_oracle(&oracle, &protocol.test(repetition)?, repetition, seed);
        }
        CellSettings::Pooled { learning, spread } => {
            let training = protocol.pooled(repetition)?;
            let lds = PooledLds::fit(training.family(), None, &learning, observer)?;
            Box::new(Pooled::new(lds, spread))
        }
        CellSettings::Single(single) => Box::new(Single::new(single.restarts, single.sampler, seed)?),
        CellSettings::Mtlds(method) => {
            let learned = learn_cell(cell, protocol, &method, observer)?;
            Box::new(Mtlds::new(learned.members, seed)?.tempered(learned.evidence_power)?)
        }
    };
    let test = protocol.test(repetition)?;
    let sequences = score_predictor(predictor.as_ref(), &test)?;
    let is_shown = repetition == illustration::REPETITION && matches!(kind, CellKind::Mtlds { .. });
    let illustrations =
        if is_shown { illustrate_predictor(predictor.as_ref(), &test, seed)? } else { vec![] };
    Ok(Computed { sequences, illustrations })
}

fn compute_oracle(oracle: &Oracle, test: &TestSet, repetition: usize, seed: u64) -> Result<Computed> {
    let sequences = score_oracle(oracle, test, seed)?;
    let is_shown = repetition == illustration::REPETITION;
    let illustrations = if is_shown { illustrate_oracle(oracle, test, seed)? } else { vec![] };
    Ok(Computed { sequences, illustrations })
}

fn learn_cell(
    cell: &CellId,
    protocol: &Protocol,
    method: &Method,
    observer: &mut dyn FnMut(&Progress) -> Control,
) -> Result<Learned> {
    let n = cell.kind.n(protocol).unwrap_or(0);
    let training = protocol.training(cell.repetition, n)?;
    let seed = protocol.learning_seed(cell.repetition, model_number(&cell.kind)?)?;
    learn(method, &training, seed, observer)
}

/// The number by which a model gets its random streams: the same at every scale.
fn model_number(kind: &CellKind) -> Result<u16> {
    /// Training sizes that the numbers of a recipe have room for.
    const SIZES: usize = 1 << 12;
    let (first, n) = match kind {
        CellKind::Oracle => (0, 0),
        CellKind::Pooled => (0, 1),
        CellKind::Single => (0, 2),
        CellKind::Mtlds { recipe, n } => (if recipe.name() == "paper" { SIZES } else { 2 * SIZES }, *n),
    };
    if n >= SIZES {
        let why = format!("found {n} training sequences; expected below {SIZES}");
        return Err(Error::Setting { name: "training_sizes".into(), why });
    }
    Ok((first + n) as u16)
}

#[cfg(test)]
#[path = "compute_tests.rs"]
mod tests;
