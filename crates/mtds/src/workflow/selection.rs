//! The length of the code, chosen by the likelihood of sequences that nothing else has seen.

use serde::{Deserialize, Serialize};

use super::fitting::Candidate;
use crate::Result;
use crate::family::Family;
use crate::infer::{Followed, Online};
use crate::learn::{Control, evenly};
use crate::predict::Estimate;
use crate::random::Stream;
use crate::system::System;

/// Most sequences that lengths are compared by, evenly spaced.
const MOST_APART: usize = 200;

/// What one length of the code came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelectionRow {
    /// The length.
    pub code: usize,
    /// Log likelihood per observed value, mean over sequences.
    #[serde(with = "crate::store::number")]
    pub log_likelihood: f64,
    /// Its standard error.
    pub std_error: Option<f64>,
    /// Difference from the best length, sequence by sequence.
    #[serde(with = "crate::store::number")]
    pub behind: f64,
    /// Its standard error.
    pub behind_std_error: Option<f64>,
    /// Number of sequences.
    pub n_seq: usize,
    /// Whether this length was chosen.
    pub chosen: bool,
}

/// Log likelihood per observed value of every sequence, in data units; sequences without observations are left out. `observer` is told
/// sequences done, and may stop it.
pub(super) fn log_likelihoods(
    system: &System,
    online: &Online,
    family: &Family,
    seed: u64,
    observer: &mut dyn FnMut(usize) -> Control,
) -> Result<Vec<f64>> {
    let observed = evenly(&family.observed(), MOST_APART);
    let followed = Followed { model: system, online, family, known: &[], random: (seed, Stream::Selection) };
    let found = followed.log_evidences(&observed, observer)?;
    let per_value = |(&i, evidence): (&usize, &f64)| evidence / family.sequence(i).n_observed() as f64;
    Ok(observed.iter().zip(&found).map(per_value).collect())
}

/// The number of the chosen candidate and the table: the shortest code that is not clearly worse than the best, within one
/// standard error of the difference. No table for a single candidate.
pub(super) fn choose(candidates: &[Candidate]) -> (usize, Vec<SelectionRow>) {
    let apart = |i: usize| candidates[i].apart.as_deref().unwrap_or_default();
    let mean = |i: usize| Estimate::of(apart(i)).map_or(f64::NEG_INFINITY, |estimate| estimate.mean);
    let best = (1..candidates.len()).fold(0, |best, i| if mean(i) > mean(best) { i } else { best });
    let behind = |i: usize| {
        let differences: Vec<f64> = apart(best).iter().zip(apart(i)).map(|(b, f)| b - f).collect();
        Estimate::of(&differences)
    };
    let is_close = |&i: &usize| behind(i).is_some_and(|by| by.mean <= by.std_error.unwrap_or(0.0));
    let close = (0..candidates.len()).filter(is_close);
    let chosen = close.min_by_key(|&i| candidates[i].task.code).unwrap_or(best);
    let row = |i: usize| {
        let (own, behind) = (Estimate::of(apart(i))?, behind(i)?);
        Some(SelectionRow {
            code: candidates[i].task.code,
            log_likelihood: own.mean,
            std_error: own.std_error,
            behind: behind.mean,
            behind_std_error: behind.std_error,
            n_seq: own.n,
            chosen: i == chosen,
        })
    };
    (chosen, if candidates.len() > 1 { (0..candidates.len()).filter_map(row).collect() } else { vec![] })
}
