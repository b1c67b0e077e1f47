//! Carries a cell out: learn, then score. Test sequences are drawn once learning is over.

use mtds::baseline::PooledLds;
use mtds::learn::Progress;
use mtds::{Control, Error, Result};

use super::cell::{CellId, CellKind};
use super::predictor::{Mtlds, Pooled, single_task};
use super::protocol::Protocol;
use super::recipe::{Method, learn};
use super::score::{Predictor, SequenceResult, score_oracle, score_predictor};
use super::settings::{CellSettings, Settings};

/// Models, by [`CellKind::model`], that this build cannot compute; tables leave them out.
pub const UNAVAILABLE: &[&str] = &["single"];

/// Whether this build can compute cells of `kind`.
#[must_use]
pub fn is_available(kind: &CellKind) -> bool {
    !UNAVAILABLE.contains(&kind.model().as_str())
}

/// The results of a cell, one per test sequence, computed in the current thread pool.
///
/// They depend on the cell, the protocol and the settings alone, not on the number of threads. `observer` sees
/// every step of learning and may stop it.
///
/// # Errors
/// A cell that is no part of the experiment; whatever learning and inference find wrong.
pub fn compute(
    cell: &CellId,
    protocol: &Protocol,
    settings: &Settings,
    observer: &mut dyn FnMut(&Progress) -> Control,
) -> Result<Vec<SequenceResult>> {
    let (kind, repetition) = (&cell.kind, cell.repetition);
    let inference_seed = protocol.inference_seed(repetition, model_number(kind)?)?;
    let predictor: Box<dyn Predictor> = match settings.of(kind)? {
        CellSettings::Oracle(oracle) => {
            return score_oracle(&oracle, &protocol.test(repetition)?, inference_seed);
        }
        CellSettings::Pooled { learning, spread } => {
            let training = protocol.pooled(repetition)?;
            let lds = PooledLds::fit(training.family(), None, &learning, observer)?;
            Box::new(Pooled::new(lds, spread))
        }
        CellSettings::Single => single_task(inference_seed)?,
        CellSettings::Mtlds(method) => {
            let learned = learn_cell(cell, protocol, &method, observer)?;
            Box::new(Mtlds::new(learned.members, inference_seed)?)
        }
    };
    score_predictor(predictor.as_ref(), &protocol.test(repetition)?)
}

fn learn_cell(
    cell: &CellId,
    protocol: &Protocol,
    method: &Method,
    observer: &mut dyn FnMut(&Progress) -> Control,
) -> Result<super::recipe::Learned> {
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
