//! What the report says: scores, forecasts to draw, coverage, from sequences that learning did not see where there are any.

use super::{FitReport, MorphPath, panels::panels, residuals, stored};
use crate::chart::{CoveragePoint, CoverageSeries};
use crate::code_map::CodeMap;
use mtds::evaluate::{Baseline, Estimate, Evaluated, Origins, Scoring, ScoringProgress, SequenceScore};
use mtds::parts::Facts;
use mtds::{Control, Error, Explained, Family, Model, Result};

/// Levels at which coverage is drawn.
const LEVELS: [f64; 7] = [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95];
/// Most sequences that are judged: more change the last digit only.
const MOST: usize = 200;

/// The sequences to judge by, and those that baselines may learn from.
struct Judged {
    family: Family,
    training: Option<Family>,
    /// What forecasts them, where that is not the whole model.
    by: Option<Model>,
    words: String,
}

/// What is asked of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Questions<'a> {
    /// What the model is called.
    pub model: &'a str,
    /// What the family is called.
    pub family: &'a str,
    /// Steps after which the rest is forecast, rising; empty to choose by the data.
    pub seen: &'a [usize],
    /// Most sequences that are drawn.
    pub shown: usize,
    /// Seed of all randomness.
    pub seed: u64,
}

impl FitReport {
    /// Measures all that the page shows; `progress` hears how many of how many sequences are forecast. The commands that go
    /// further are left to the caller.
    ///
    /// # Errors
    /// Sequences that the model cannot take; [`Error::Setting`] where none is longer than what is seen.
    pub fn measure(
        model: Model,
        family: &Family,
        asked: &Questions<'_>,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Self> {
        let judged = judged(asked.family, &model, family)?;
        let seen = seen(asked.seen, &judged.family)?;
        let by = judged.by.as_ref().unwrap_or(&model);
        let scoring = Scoring {
            model: by,
            family: &judged.family,
            training: judged.training.as_ref(),
            against: if judged.training.is_some() { &Baseline::USUAL } else { &[] },
            origins: Origins::after(&seen),
            network: Scoring::NETWORK,
            seed: asked.seed,
        };
        let mut tell = |heard: &ScoringProgress| {
            if !heard.is_learning {
                progress(heard.done as usize, heard.all as usize);
            }
            Control::Continue
        };
        let scored = scoring.run(&mut tell, &|| Control::Continue)?;
        let explained = match model.fit.as_ref().map_or(&[][..], |fit| &fit.explained) {
            [] => {
                let codes = residuals::codes(&model, &judged.family, asked.seed)?;
                model.system.explained(&judged.family, &codes)?
            }
            stored => stored.to_vec(),
        };
        let ours = scored.iter().filter(|one| one.baseline.is_none());
        let ours: Vec<&Evaluated> = ours.map(|one| &one.evaluated).collect();
        let last: Vec<SequenceScore> =
            ours.last().map_or(vec![], |one| one.sequences.iter().map(|(_, score)| score.clone()).collect());
        let map = if model.members.is_empty() { None } else { Some(CodeMap::of(&model.members)?) };
        let output = most_explained(&explained, &judged.family);
        let between =
            |map| MorphPath::between_ends(&model.system, &model.members, map, &judged.family, output);
        Ok(Self {
            model: asked.model.to_owned(),
            curves: stored::curves(&model),
            morph: map.as_ref().map(between).transpose()?.flatten(),
            map,
            explained,
            usage: model.fit.as_ref().and_then(|fit| fit.usage.clone()),
            panels: panels(asked.shown, &judged.family, &seen, &by.following(asked.seed)?)?,
            coverage: ours.iter().map(|one| coverage(one)).collect(),
            residuals: residuals::of(by, &judged.family, asked.seed, &last)?,
            settings: stored::settings(&model),
            next: vec![],
            judged: judged.words,
            scores: scored.into_iter().map(|one| one.evaluated.row).collect(),
            members: model.members,
        })
    }
}

/// The output of which the code explains most.
fn most_explained(explained: &[Explained], family: &Family) -> usize {
    let gain = |row: &&Explained| row.with_code - row.without_code;
    let best = explained.iter().max_by(|a, b| gain(a).total_cmp(&gain(b)));
    best.and_then(|row| family.output_names().iter().position(|name| *name == row.output)).unwrap_or(0)
}

/// With the family of the fit, what it held out; with other data, all of it.
fn judged(file: &str, model: &Model, family: &Family) -> Result<Judged> {
    let all: Vec<usize> = (0..family.n_seq()).collect();
    let some = |indices: &[usize]| family.subset(&indices[..indices.len().min(MOST)]);
    if family.fingerprint() != model.provenance.fingerprint {
        let words = format!("{} sequences of {file}", all.len().min(MOST));
        return Ok(Judged { family: some(&all)?, training: None, by: None, words });
    }
    let Some((unseen, by)) = model.unseen(family)? else {
        let words = format!(
            "{} sequences of {file}, the very ones that it was learned from: no sequence was held out, and new ones will \
             be forecast less well",
            all.len().min(MOST)
        );
        return Ok(Judged { family: some(&all)?, training: Some(family.clone()), by: None, words });
    };
    let learned: Vec<usize> = all.into_iter().filter(|i| unseen.binary_search(i).is_err()).collect();
    let n = unseen.len().min(MOST);
    let is_part = by.companions.len() < model.companions.len() || model.blend.remembered.is_some();
    let words = match is_part {
        true => format!(
            "{n} sequences of {file}, by the part of the model that has seen none of them: other systems learned from \
             them, and new ones will be forecast by all together"
        ),
        false => format!("{n} sequences of {file} that were held out of learning"),
    };
    let (family, training) = (some(&unseen)?, Some(family.subset(&learned)?));
    Ok(Judged { family, training, by: Some(by), words })
}

/// The steps after which sequences are forecast.
fn seen(asked: &[usize], family: &Family) -> Result<Vec<usize>> {
    let middle = Facts::of(family).median_time;
    let mut seen =
        if asked.is_empty() { vec![middle.div_ceil(4), middle.div_ceil(2)] } else { asked.to_vec() };
    seen.dedup();
    if Origins::after(&seen).are_beyond(family) {
        let why = format!("no sequence is longer than {} steps", seen[0]);
        return Err(Error::Setting { name: "seen".into(), why });
    }
    Ok(seen)
}

/// Share of true values inside central intervals, over sequences.
fn coverage(evaluated: &Evaluated) -> CoverageSeries {
    let inside = |score: &SequenceScore, level: f64| {
        let n = score.pit.iter().filter(|&&p| (p - 0.5).abs() <= 0.5 * level).count();
        n as f64 / score.pit.len() as f64
    };
    let point = |&level: &f64| {
        let shares: Vec<f64> = evaluated.sequences.iter().map(|(_, score)| inside(score, level)).collect();
        let share = Estimate::of(&shares)?;
        let std_err = share.std_error.unwrap_or(f64::NAN);
        Some(CoveragePoint { nominal: level, empirical: share.mean, std_err })
    };
    let label = format!("after {}", evaluated.row.seen);
    CoverageSeries { label, points: LEVELS.iter().filter_map(point).collect() }
}
