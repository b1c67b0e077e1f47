//! The length of the code, chosen by the likelihood of sequences that nothing else has seen.

use super::state::{Finished, FitState};
use anyhow::{Context, Result};
use mtds::infer::{Followed, Online};
use mtds::predict::Estimate;
use mtds::random::Stream;
use mtds::{Family, System};
use serde::{Deserialize, Serialize};

/// What one length of the code came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SelectionRow {
    pub(super) code: usize,
    /// Log likelihood per observed value, mean over sequences.
    pub(super) log_likelihood: f64,
    pub(super) std_error: Option<f64>,
    /// Difference from the best length, sequence by sequence.
    pub(super) behind: f64,
    pub(super) behind_std_error: Option<f64>,
    pub(super) n_seq: usize,
    pub(super) chosen: bool,
}

/// Log likelihood per observed value of every sequence, in data units; sequences without observations are left out.
pub(super) fn log_likelihoods(
    model: &System,
    online: &Online,
    family: &Family,
    seed: u64,
) -> Result<Vec<f64>> {
    let observed = family.observed();
    let followed = Followed { model, online, family, random: (seed, Stream::Selection) };
    let found = followed.log_evidences(&observed, &mut |_| {})?;
    let per_value = |(&i, evidence): (&usize, &f64)| evidence / family.sequence(i).n_observed() as f64;
    Ok(observed.iter().zip(&found).map(per_value).collect())
}

/// The chosen model and the table: the shortest code that is not clearly worse than the best, within one standard
/// error of the difference.
pub(super) fn choose(state: &FitState) -> Result<(&Finished, Vec<SelectionRow>)> {
    let first = state.finished.first().context("a model is learned")?;
    let mean = |finished: &Finished| finished.estimate().map_or(f64::NEG_INFINITY, |estimate| estimate.mean);
    let best =
        state.finished.iter().fold(first, |best, other| if mean(other) > mean(best) { other } else { best });
    let behind = |finished: &Finished| {
        let differences: Vec<f64> = best.apart.iter().zip(&finished.apart).map(|(b, f)| b - f).collect();
        Estimate::of(&differences)
    };
    let is_close =
        |finished: &&Finished| behind(finished).is_some_and(|by| by.mean <= by.std_error.unwrap_or(0.0));
    let chosen = state.finished.iter().filter(is_close).min_by_key(|finished| finished.code).unwrap_or(best);
    let row = |finished: &Finished| {
        let (own, behind) = (finished.estimate()?, behind(finished)?);
        Some(SelectionRow {
            code: finished.code,
            log_likelihood: own.mean,
            std_error: own.std_error,
            behind: behind.mean,
            behind_std_error: behind.std_error,
            n_seq: own.n,
            chosen: finished.code == chosen.code,
        })
    };
    let rows = if state.select.is_empty() { vec![] } else { state.finished.iter().filter_map(row).collect() };
    Ok((chosen, rows))
}
