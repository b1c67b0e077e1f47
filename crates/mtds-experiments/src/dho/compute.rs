//! Carries a cell out: learn, then score. Test sequences are drawn once learning is over.

use mtds::evaluate::{Forecaster, SequenceScore, evaluate};
use mtds::parts::{PooledLds, SingleTask};
use mtds::{Control, Error, Progress, Result};

use super::cell::{CellId, CellKind, CellResult, Recipe};
use super::illustration::{self, illustrate};
use super::models::{mtlds, mtlds_evidences, pooled, pooled_evidences, single};
use super::protocol::{Protocol, TestSet};
use super::recipe::learn;
use super::settings::{CellSettings, Settings};

/// Computes a cell in the current thread pool; how long it took is for the caller to say.
///
/// The result depends on the cell, the protocol and the settings alone, not on the number of threads. `observer` sees
/// every step of learning and may stop it.
///
/// # Errors
/// A cell that is no part of the experiment; whatever learning and inference find wrong; [`Error::NotFinite`] for a score
/// that is not finite.
pub fn compute(
    cell: &CellId,
    protocol: &Protocol,
    settings: &Settings,
    observer: &mut dyn FnMut(&Progress) -> Control,
) -> Result<CellResult> {
    let CellId { kind, repetition } = cell;
    let number = model_number(kind)?;
    let seed = protocol.inference_seed(*repetition, number)?;
    let draw_test = || protocol.test(*repetition);
    let is_shown = *repetition == illustration::REPETITION;
    let mut result = CellResult::new(cell.clone(), protocol.clone());
    match settings.of(kind)? {
        CellSettings::Oracle(oracle) => {
            let test = draw_test()?;
            let known = oracle.follow(test.family(), test.seen(), seed)?;
            result.scores = scores(&known, &test)?;
            result.log_evidences = Some(known.log_evidences());
            result.monte_carlo = known.monte_carlo_errors(test.family())?;
            if is_shown {
                result.illustrations = illustrate(&oracle.anew(seed), &test, seed)?;
            }
        }
        CellSettings::Pooled { learning, spread } => {
            let lds = PooledLds::fit(protocol.pooled(*repetition)?.family(), None, &learning, observer)?;
            let test = draw_test()?;
            result.scores = scores(&pooled(&lds, spread), &test)?;
            result.log_evidences = Some(pooled_evidences(&lds, spread, test.family())?);
        }
        // It has no evidence: chains give draws, but not what they are normalised by.
        CellSettings::Single(settings) => {
            let model = SingleTask::oscillator().inference(settings.restarts, settings.sampler);
            result.scores = scores(&single(model, seed), &draw_test()?)?;
        }
        CellSettings::Mtlds(method) => {
            let training = protocol.training(*repetition, kind.n(protocol).unwrap_or(0))?;
            let of_learning = protocol.learning_seed(*repetition, number)?;
            let learned = mtlds(learn(&method, &training, of_learning, observer)?, seed)?;
            let test = draw_test()?;
            result.scores = scores(&learned, &test)?;
            result.log_evidences = Some(mtlds_evidences(&learned, test.family())?);
            if is_shown {
                result.illustrations = illustrate(&learned, &test, seed)?;
            }
        }
    }
    result.check()?;
    Ok(result)
}

/// The scores of all test sequences after each number of observations; places within forecasts are many, and no table has them.
///
/// # Errors
/// Those of the forecaster, or of [`mtds::evaluate::evaluate`].
pub fn scores(forecaster: &dyn Forecaster, test: &TestSet) -> Result<Vec<Vec<SequenceScore>>> {
    let every: Vec<usize> = (0..test.n_seq()).collect();
    let scored = (test.family(), &every[..]);
    let found = evaluate(("", forecaster), scored, &test.origins(), &mut |_| Control::Continue)?;
    let one = |(_, score)| SequenceScore { pit: vec![], ..score };
    Ok(found.into_iter().map(|from| from.sequences.into_iter().map(one).collect()).collect())
}

/// The number by which a model gets its random streams: the same at every scale.
fn model_number(kind: &CellKind) -> Result<u16> {
    /// Training sizes that the numbers of a recipe have room for.
    const SIZES: usize = 1 << 12;
    let (first, n) = match kind {
        CellKind::Oracle => (0, 0),
        CellKind::Pooled => (0, 1),
        CellKind::Single => (0, 2),
        CellKind::Mtlds { recipe: Recipe::Paper, n } => (SIZES, *n),
        CellKind::Mtlds { recipe: Recipe::Ours, n } => (2 * SIZES, *n),
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
