//! What the report says: scores, forecasts to draw, coverage, from sequences that learning did not see where there are any.

use super::{panels::panels, residuals, stored};
use crate::explained::explained_of;
use crate::plan::ReportPlan;
use crate::progress::{Progress, Stage};
use crate::usage::usage_of;
use crate::verb::evaluate::rolling::{Origin, Rolling, follow};
use crate::verb::observed;
use crate::verb::posterior::online_of;
use anyhow::{Result, bail};
use mtds::Family;
use mtds::learn::Facts;
use mtds::predict::{Forecast, Scores, SequenceScore, family_mean, last_value, score};
use mtds::store::Model;
use mtds_data::model::load_model;
use mtds_report::chart::{CoveragePoint, CoverageSeries};
use mtds_report::code_map::CodeMap;
use mtds_report::fit::{FitReport, ScoreLine};
use rayon::prelude::*;
use std::path::Path;

/// Levels at which coverage is counted; that at [`EIGHTY`] is in the table.
const LEVELS: [f64; 7] = [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95];
/// Place of 80 % among them.
const EIGHTY: usize = 4;
/// Most sequences that are judged: more change the last digit only.
const MOST: usize = 200;
/// Sequences between two looks at the progress.
const BATCH: usize = 16;

/// The sequences to judge by, and those that baselines may learn from.
struct Judged {
    family: Family,
    training: Option<Family>,
    words: String,
}

/// Measures all that the page shows.
///
/// # Errors
/// A model or data that cannot be read, or do not fit each other.
pub(super) fn report(plan: &ReportPlan, progress: &mut Progress) -> Result<FitReport> {
    let bundle = load_model(&plan.model)?;
    let read = observed::read(&plan.source, &bundle.provenance, plan.common.verbosity)?;
    let judged = judged(plan, &bundle, &read.family)?;
    let seen = origins(plan, &judged.family)?;
    let followed = follow_all(plan, &bundle, &judged.family, &seen, progress)?;
    let explained = match explained_of(&bundle) {
        stored if stored.is_empty() => {
            let codes = residuals::codes(&bundle, &judged.family, plan.common.seed)?;
            bundle.system.explained(&judged.family, &codes)?
        }
        stored => stored,
    };
    Ok(FitReport {
        model: name(&plan.model),
        curves: stored::curves(&plan.model, plan.common.verbosity),
        map: if bundle.members.is_empty() { None } else { Some(CodeMap::of(&bundle.members)?) },
        explained,
        usage: usage_of(&bundle),
        scores: score_lines(&judged, &seen, &followed)?,
        panels: panels(plan, &judged.family, &seen, &followed)?,
        coverage: coverage(&seen, &followed)?,
        residuals: residuals::of(&bundle, &judged.family, plan.common.seed, &last_scores(&seen, &followed))?,
        settings: stored::settings(&bundle),
        judged: judged.words,
        members: bundle.members,
    })
}

fn name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// With the family of the fit, what it held out; with other data, all of it.
fn judged(plan: &ReportPlan, bundle: &Model, family: &Family) -> Result<Judged> {
    let file = name(&plan.source.path);
    let stored = bundle.provenance.settings.get("held_out_ids").cloned().unwrap_or_default();
    let held_out: Vec<String> = serde_json::from_value(stored).unwrap_or_default();
    let is_held_out = |i: &usize| held_out.iter().any(|id| id == family.sequence(*i).id());
    let (apart, learned): (Vec<usize>, Vec<usize>) = (0..family.n_seq()).partition(is_held_out);
    let some = |indices: &[usize]| family.subset(&indices[..indices.len().min(MOST)]);
    let same = family.fingerprint() == bundle.provenance.fingerprint;
    Ok(match (same, apart.is_empty()) {
        (true, false) => Judged {
            family: some(&apart)?,
            training: Some(family.subset(&learned)?),
            words: format!("{} sequences of {file} that were held out of learning", apart.len().min(MOST)),
        },
        (true, true) => Judged {
            family: some(&learned)?,
            training: Some(family.clone()),
            words: format!(
                "{} sequences of {file}, the very ones that it was learned from: no sequence was held out, and new ones will \
                 be forecast less well",
                learned.len().min(MOST)
            ),
        },
        (false, _) => {
            let all: Vec<usize> = (0..family.n_seq()).collect();
            let words = format!("{} sequences of {file}", all.len().min(MOST));
            Judged { family: some(&all)?, training: None, words }
        }
    })
}

/// The steps after which sequences are forecast.
fn origins(plan: &ReportPlan, family: &Family) -> Result<Vec<usize>> {
    let middle = Facts::of(family).median_time;
    let mut seen =
        if plan.seen.is_empty() { vec![middle.div_ceil(4), middle.div_ceil(2)] } else { plan.seen.clone() };
    seen.dedup();
    if Rolling::new(family, &seen, None).is_empty() {
        bail!("no sequence is longer than {} steps; give fewer with --seen", seen[0]);
    }
    Ok(seen)
}

/// What came of one origin of one sequence.
pub(super) struct Followed {
    pub(super) sequence: usize,
    pub(super) origin: Origin,
    pub(super) forecast: Forecast,
    score: Option<SequenceScore>,
}

fn follow_all(
    plan: &ReportPlan,
    bundle: &Model,
    family: &Family,
    seen: &[usize],
    progress: &mut Progress,
) -> Result<Vec<Followed>> {
    let (online, rolling) = (online_of(bundle), Rolling::new(family, seen, None));
    let one = |i: usize| -> Result<Vec<Followed>> {
        let forecasts = follow(&bundle.system, &online, &rolling, i, plan.common.seed)?;
        let scored = rolling.origins(i).into_iter().zip(forecasts).map(|(origin, forecast)| {
            let truth = family.sequence(i).outputs().slice(origin.seen..origin.seen + origin.n_time);
            let score = score(&forecast, truth.values(), &LEVELS)?;
            Ok(Followed { sequence: i, origin, forecast, score })
        });
        scored.collect()
    };
    let n = family.n_seq();
    let mut all = Vec::new();
    progress.begin(Stage::Forecasting, n as u64);
    for start in (0..n).step_by(BATCH) {
        let batch = (start..n.min(start + BATCH)).into_par_iter().map(one).collect::<Result<Vec<_>>>()?;
        all.extend(batch.into_iter().flatten());
        progress.advance(n.min(start + BATCH) as u64, None);
    }
    progress.end();
    Ok(all)
}

fn scores_at(seen: usize, followed: &[Followed]) -> Vec<SequenceScore> {
    followed.iter().filter(|f| f.origin.seen == seen).filter_map(|f| f.score.clone()).collect()
}

/// The scores of the last origin that has any.
fn last_scores(seen: &[usize], followed: &[Followed]) -> Vec<SequenceScore> {
    let each = seen.iter().rev().map(|&seen| scores_at(seen, followed));
    each.into_iter().find(|scores| !scores.is_empty()).unwrap_or_default()
}

/// The model and what anyone could do, from each origin.
fn score_lines(judged: &Judged, seen: &[usize], followed: &[Followed]) -> Result<Vec<ScoreLine>> {
    let mut lines = vec![];
    for &seen in seen {
        lines.extend(line(seen, "this model", &scores_at(seen, followed))?);
        let Some(training) = &judged.training else { continue };
        let values: Vec<&[f64]> = training.sequences().iter().map(|s| s.outputs().values()).collect();
        let d = judged.family.d_obs();
        let here = || followed.iter().filter(|f| f.origin.seen == seen);
        let truth = |f: &Followed| {
            let outputs = judged.family.sequence(f.sequence).outputs();
            (outputs.slice(0..seen), outputs.slice(seen..seen + f.origin.n_time))
        };
        let score_of = |forecast: mtds::Result<Forecast>, truth: &[f64]| -> Result<Option<SequenceScore>> {
            Ok(score(&forecast?, truth, &LEVELS)?)
        };
        let last = here().map(|f| {
            let (past, future) = truth(f);
            score_of(last_value(&values, past.values(), d, f.origin.n_time), future.values())
        });
        let last = last.collect::<Result<Vec<_>>>()?;
        let mean =
            here().map(|f| score_of(family_mean(&values, d, seen, f.origin.n_time), truth(f).1.values()));
        let mean = mean.collect::<Result<Vec<_>>>()?;
        lines.extend(line(seen, "last value", &last.into_iter().flatten().collect::<Vec<_>>())?);
        lines.extend(line(seen, "family mean", &mean.into_iter().flatten().collect::<Vec<_>>())?);
    }
    Ok(lines)
}

fn line(seen: usize, method: &str, scores: &[SequenceScore]) -> Result<Option<ScoreLine>> {
    if scores.is_empty() {
        return Ok(None);
    }
    let over = Scores::over(scores)?;
    Ok(Some(ScoreLine {
        seen,
        method: method.to_owned(),
        n_seq: scores.len(),
        rmse: over.rmse,
        nll: over.nll,
        crps: over.crps,
        cover80: over.coverage[EIGHTY].share,
    }))
}

fn coverage(seen: &[usize], followed: &[Followed]) -> Result<Vec<CoverageSeries>> {
    let mut series = vec![];
    for &seen in seen {
        let scores = scores_at(seen, followed);
        if scores.is_empty() {
            continue;
        }
        let point = |c: &mtds::predict::Coverage<mtds::predict::Estimate>| CoveragePoint {
            nominal: c.level,
            empirical: c.share.mean,
            std_err: c.share.std_error.unwrap_or(f64::NAN),
        };
        let points = Scores::over(&scores)?.coverage.iter().map(point).collect();
        series.push(CoverageSeries { label: format!("after {seen} steps"), points });
    }
    Ok(series)
}
