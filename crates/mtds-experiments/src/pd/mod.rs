//! Patients who answer to doses, each in a way of his own: the family that variational learning is for.
//!
//! ```text
//! drawn patients ─→ training ─→ learned by every way, and one system for all   ─→ forecasts of the others after t steps
//!                                     └─ codes of the others, given all steps  ─→ do they know the true parameters?
//! ```
//! Inputs differ from patient to patient, so no rollout of a draw from the prior serves two of them. Everything is learned
//! as `mtds fit` learns it, with one concentration and with the blocks adapted in which patients differ.

mod forecast;
mod learn;
mod recovery;
mod settings;
mod summary;
#[cfg(test)]
mod tests;

use mtds::evaluate::ScoreRow;
use mtds::{CodeUsage, Control, Progress, Result};
use serde::{Deserialize, Serialize};

pub use learn::{Learned, Way, learn};
pub use recovery::RecoveryRow;
pub use settings::{Patients, Settings};

pub use crate::Scale;

/// What the experiment found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// Forecasts of held-out patients, by method and number of steps seen.
    pub scores: Vec<ScoreRow>,
    /// What codes of held-out patients, given all steps, say of their parameters.
    pub recovery: Vec<RecoveryRow>,
    /// Use of the code in each repetition, for the ways that learn beliefs.
    pub usage: Vec<UsageRow>,
}

/// Use of the code after one way of learning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UsageRow {
    /// The way.
    pub method: String,
    /// The repetition, from 0.
    pub repetition: usize,
    /// What was measured.
    pub usage: CodeUsage,
}

/// Learns by every way, forecasts, and measures recovery, as often as the settings say; `observer` sees every step of learning
/// with the repetition and the way's name. Figures are means over repetitions.
///
/// The same settings give the same findings on any number of threads.
///
/// # Errors
/// Settings out of range, a loss that is not finite.
pub fn run(
    settings: &Settings,
    observer: &mut dyn FnMut(usize, &str, &Progress) -> Control,
) -> Result<Findings> {
    let (mut scores, mut recovery, mut usage) = (vec![], vec![], vec![]);
    for repetition in 0..settings.repetitions {
        let settings = Settings { seed: settings.seed + repetition as u64, ..settings.clone() };
        let found = run_once(&settings, &mut |way, step| observer(repetition, way, step))?;
        scores.push(found.scores);
        recovery.push(found.recovery);
        usage.extend(found.usage.into_iter().map(|row| UsageRow { repetition, ..row }));
    }
    Ok(Findings {
        scores: over_repetitions(&scores, ScoreRow::over_repetitions),
        recovery: over_repetitions(&recovery, RecoveryRow::over_repetitions),
        usage,
    })
}

/// One row of what each repetition has in the same place; every repetition has the same rows.
fn over_repetitions<R: Clone>(repetitions: &[Vec<R>], mean: impl Fn(&[R]) -> Option<R>) -> Vec<R> {
    let n_rows = repetitions.first().map_or(0, Vec::len);
    let row = |i: usize| match repetitions {
        // Errors over patients, where there is nothing to see them over.
        [only] => Some(only[i].clone()),
        several => mean(&several.iter().map(|rows| rows[i].clone()).collect::<Vec<_>>()),
    };
    (0..n_rows).filter_map(row).collect()
}

fn run_once(settings: &Settings, observer: &mut dyn FnMut(&str, &Progress) -> Control) -> Result<Findings> {
    let patients = settings.patients()?;
    let mut findings = Findings { scores: vec![], recovery: vec![], usage: vec![] };
    for &way in &settings.ways {
        let learned = learn(way, settings, &patients.training, &mut |step| observer(way.name(), step))?;
        findings.scores.extend(forecast::scores(way.name(), &learned, settings, &patients)?);
        findings.recovery.extend(recovery::rows(way.name(), &learned, settings, &patients)?);
        let row = |usage| UsageRow { method: way.name().into(), repetition: 0, usage };
        findings.usage.extend(learned.usage.map(row));
    }
    let pooled = learn::pooled(settings, &patients.training)?;
    findings.scores.extend(forecast::reference_scores(&pooled, settings, &patients)?);
    Ok(findings)
}
