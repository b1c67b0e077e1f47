//! `mtds evaluate`: the library's rolling-origin evaluation of a model on a file, beside baselines.
//!
//! ```text
//! sequence ── seen ──→ forecast of the rest, by the model and by each baseline ──→ scores per sequence ──→ mean ± s.e.
//!          ── a few steps at a time ──→ surprise ──→ anomaly score
//! ```

mod anomaly;
mod document;

use super::observed;
use crate::output::print;
use crate::plan::{EvaluatePlan, Format, Verbosity};
use crate::progress::{Progress, Stage};
use anomaly::AnomalyRow;
use anyhow::{Context, Result, bail};
use mtds::evaluate::{Baseline, BaselineSettings, Forecaster, Origins, ScoreRow, evaluate};
use mtds::{Control, Family, Model};
use mtds_data::model::load_model;
use mtds_data::write_table;
use std::io::Write;

/// What was found.
struct Evaluation {
    rows: Vec<ScoreRow>,
    /// Empty unless asked for.
    anomalies: Vec<AnomalyRow>,
    n_seq: usize,
    /// Whether the sequences are those that the model was learned from.
    is_training: bool,
}

/// Carries the plan out: scores, writes what was asked for, prints the table to `stdout`.
///
/// # Errors
/// A model or data that cannot be used, or do not fit each other; a file that cannot be written.
pub fn run(plan: &EvaluatePlan, stdout: &mut dyn Write) -> Result<()> {
    let model = load_model(&plan.model)?;
    let family = observed::read(&plan.source, &model, plan.common.verbosity)?.family;
    let train = plan.train.as_ref().map(|source| observed::read(source, &model, plan.common.verbosity));
    let train = train.transpose()?.map(|read| read.family);
    let is_training = family.fingerprint() == model.provenance.fingerprint;
    if is_training {
        say(plan, "note: the model was learned from these sequences; scores say little about new ones");
    }
    let mut progress = Progress::new(plan.common.display());
    let rows = rows(plan, &model, (&family, train.as_ref()), &mut progress)?;
    let anomalies = match plan.anomaly {
        Some(_) => anomaly::scores(&model.system, &model.online, &family, plan.common.seed, &mut progress)?,
        None => vec![],
    };
    drop(progress);
    let found = Evaluation { rows, anomalies, n_seq: family.n_seq(), is_training };
    if let Some(path) = &plan.out {
        write_table(path, &document::score_file(&found.rows))?;
    }
    if let Some(path) = &plan.anomaly {
        write_table(path, &document::anomalies(&found.anomalies))?;
    }
    let text = match plan.common.format {
        Format::Text => document::text(plan, &found),
        Format::Json => format!("{}\n", serde_json::to_string_pretty(&document::json(plan, &found))?),
    };
    print(stdout, &text)
}

/// A line on stderr, unless asked to be quiet.
fn say(plan: &EvaluatePlan, line: &str) {
    if plan.common.verbosity != Verbosity::Quiet {
        eprintln!("{line}");
    }
}

/// The scores of the model and of what it is compared with, by origin.
fn rows(
    plan: &EvaluatePlan,
    model: &Model,
    (family, train): (&Family, Option<&Family>),
    progress: &mut Progress,
) -> Result<Vec<ScoreRow>> {
    let origins = Origins { horizon: plan.horizon, ..Origins::after(&plan.seen) };
    if origins.are_beyond(family) {
        bail!("no sequence is longer than {} steps; give fewer with --seen", plan.seen[0]);
    }
    let every: Vec<usize> = (0..family.n_seq()).collect();
    let score = |name: &str, forecaster: &dyn Forecaster, progress: &mut Progress| {
        progress.begin(Stage::Forecasting, every.len() as u64);
        let found = evaluate((name, forecaster), (family, &every), &origins, &mut |done| {
            progress.advance(done as u64, None);
            Control::Continue
        });
        progress.end();
        found.map(|found| found.into_iter().map(|evaluated| evaluated.row))
    };
    let mut rows: Vec<ScoreRow> = vec![];
    rows.extend(score("this model", &model.following(plan.common.seed), progress)?);
    for &baseline in &plan.against {
        if baseline == Baseline::Single {
            say(
                plan,
                "note: `single` samples a posterior for every sequence and origin; this may take minutes",
            );
        }
        let settings = BaselineSettings {
            seen: (plan.seen[0], plan.seen[plan.seen.len() - 1]),
            horizon: plan.horizon,
            network: plan.gru,
            seed: plan.common.seed,
        };
        progress.begin(Stage::Learning, plan.gru.1);
        let learned = baseline.learn(&model.system, train, &settings, &mut |step| {
            progress.advance(step.step, Some(step.bound));
            Control::Continue
        });
        progress.end();
        rows.extend(score(baseline.title(), &learned.context("the baselines")?, progress)?);
    }
    // By origin, the model before what it is compared with.
    let place = |row: &ScoreRow| origins.seen.iter().position(|seen| *seen == row.seen);
    rows.sort_by_key(place);
    Ok(rows)
}
