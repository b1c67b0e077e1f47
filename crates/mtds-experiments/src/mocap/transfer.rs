//! Experiment 3: the inputs of one style walked in another, and a classifier that says whether it is recognised.
//!
//! ```text
//! P(target | motion by inputs of a source and a code of the target), after the paces are made alike
//! (i)      one source of each style; of the target's codes the one that is recognised best over all sources
//! (ii)     several sources of each style, likewise, scores averaged over the sources of a style
//! unseen   codes inferred from clips of the target that nothing learned from, no choice among them
//! ```
//! The classifier learns from recorded clips of the training part alone. What it scores is generated; sources and the codes of `unseen` are
//! of the test part, and how well it knows recorded clips of the test part is told beside. Labels are shown to it and to nothing else.

use mtds::parts::SequenceClassifier;
use mtds::random::{Stream, stream};
use mtds::{Control, Error, Method as Inference, Model, Result, Sequence, Signal};
use serde::{Deserialize, Serialize};

use super::experiment::Experiment;
use super::material::{Clip, Material, Part, Stretch};
use super::model::learn;
use super::pace::{at_places, places};
use super::protocol::Protocol;
use super::settings::Settings;
use super::split::evenly;
use super::window::mean;

/// Rows of a motion that is scored, at the usual pace.
const SCORED: usize = 64;
/// Rows of a source before those that are scored, in which the model finds its state.
const BEFORE: usize = 32;
/// Most rows of a source.
const LONGEST: usize = 224;
/// Rows between segments that the classifier learns from.
const STEP: usize = 16;
/// Segments in a row that are held out together, as neighbours are nearly the same.
const BLOCK: usize = 4;

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    /// The styles, sorted; numbers of styles are in this order.
    pub styles: Vec<String>,
    /// Share of recorded, unseen segments whose style the classifier tells, by style; `None` where there are none.
    pub recognised: Vec<Option<f64>>,
    /// How many there were.
    pub n_unseen: usize,
    /// Variant (i): P(target), by target, then by source; `None` where a style has no source that is long enough.
    pub one: Vec<Vec<Option<f64>>>,
    /// Variant (ii), likewise.
    pub several: Vec<Vec<Option<f64>>>,
    /// By codes of unseen clips, likewise.
    pub unseen: Vec<Vec<Option<f64>>>,
}

impl Transfer {
    /// The mean over pairs of different styles.
    #[must_use]
    pub fn off_diagonal(table: &[Vec<Option<f64>>]) -> Option<f64> {
        let rows = table.iter().enumerate();
        let off = rows.flat_map(|(i, row)| row.iter().enumerate().filter(move |(j, _)| *j != i));
        mean(off.filter_map(|(_, value)| *value))
    }

    /// The share of unseen segments that is recognised, styles counting alike.
    #[must_use]
    pub fn recognised(&self) -> Option<f64> {
        mean(self.recognised.iter().flatten().copied())
    }
}

/// A source: inputs, and where the rows that are scored lie.
struct Source {
    style: usize,
    inputs: Signal,
    places: Vec<f64>,
}

/// Carries the experiment out.
///
/// # Errors
/// Inputs that tell no phase; those of learning.
pub fn transfer(experiment: &Experiment<'_>, seed: u64) -> Result<Transfer> {
    let Experiment { material, protocol, settings, device, .. } = experiment;
    let classifier = classifier(material, settings, seed)?;
    let trained = material.whole(|clip| clip.part == Part::Train);
    let model = learn(&material.family(&trained)?, &settings.model, (device, seed))?;
    let sources = sources(material, protocol)?;
    let styles = material.styles();
    let judge = Judge { model: &model, classifier: &classifier, sources: &sources };
    let (mut one, mut several, mut unseen) = (vec![], vec![], vec![]);
    for (target, style) in styles.iter().enumerate() {
        let of_train = |clip: &Clip| clip.part == Part::Train && clip.style == *style;
        let of_test = |clip: &Clip| clip.part == Part::Test && clip.style == *style;
        let codes = codes(&model, material, &segments(material, &of_train, protocol), protocol.codes, seed)?;
        let scores = codes.iter().map(|code| judge.scores(code, target)).collect::<Result<Vec<_>>>()?;
        one.push(best(&scores, &first_of_each(&sources), &sources, styles.len()));
        several.push(best(&scores, &vec![true; sources.len()], &sources, styles.len()));
        let new = segments(material, &of_test, protocol);
        let codes = self::codes(&model, material, &new, protocol.sources, seed)?;
        let scores = codes.iter().map(|code| judge.scores(code, target)).collect::<Result<Vec<_>>>()?;
        unseen.push(averaged(&scores, &sources, styles.len()));
    }
    let (recognised, n_unseen) = recognised(material, &classifier)?;
    Ok(Transfer { styles: styles.to_vec(), recognised, n_unseen, one, several, unseen })
}

/// Learns to tell styles by recorded clips of the training part and their mirror images.
fn classifier(material: &Material, settings: &Settings, seed: u64) -> Result<SequenceClassifier> {
    let (mut sequences, mut classes) = (vec![], vec![]);
    for clip in material.clips().iter().filter(|clip| clip.part == Part::Train) {
        for (of, from) in [&clip.plain, &clip.mirrored].into_iter().enumerate() {
            for (k, motion) in at_usual_pace(material, from)?.into_iter().enumerate() {
                // A block and its mirror image are held out together: `NAME~…` goes where `NAME` goes.
                let rest = if (k % BLOCK, of) == (0, 0) { String::new() } else { format!("~{k}.{of}") };
                let id = format!("{}#{}{rest}", clip.id, k / BLOCK);
                sequences.push(Sequence::new(id, motion)?);
                classes.push(clip.style.clone());
            }
        }
    }
    if sequences.is_empty() {
        let why = format!("found no clip that has {SCORED} rows at the usual pace; expected longer ones");
        return Err(Error::Setting { name: "clips".into(), why });
    }
    let family = mtds::Family::new(sequences)?;
    let mut watch = |_: &_| Control::Continue;
    Ok(SequenceClassifier::fit(&family, &classes, &settings.classifier, seed, &mut watch)?.network)
}

/// Segments of a recorded clip at the usual pace.
fn at_usual_pace(material: &Material, from: &Sequence) -> Result<Vec<Signal>> {
    let (Some(inputs), Some(phase)) = (from.inputs(), material.phase()) else { return Err(no_phase()) };
    let all = (0..from.n_time()).step_by(STEP).map_while(|first| places(inputs, phase, first, SCORED));
    all.map(|places| at_places(from.outputs(), &places)).collect()
}

fn no_phase() -> Error {
    let why = "found none named `…phase_cos` and `…phase_sin`; expected a family of motions".into();
    Error::Setting { name: "inputs".into(), why }
}

/// How well recorded clips of the test part are recognised.
fn recognised(material: &Material, classifier: &SequenceClassifier) -> Result<(Vec<Option<f64>>, usize)> {
    let mut n_unseen = 0;
    let mut by_style = vec![];
    for style in material.styles() {
        let mut motions = vec![];
        for clip in material.clips().iter().filter(|clip| clip.part == Part::Test && clip.style == *style) {
            motions.extend(at_usual_pace(material, &clip.plain)?);
        }
        n_unseen += motions.len();
        let found = classifier.predict(&motions.iter().collect::<Vec<_>>())?;
        let place = classifier.classes().iter().position(|class| class == style).unwrap_or(0);
        let is_told = |p: &Vec<f64>| f64::from(u8::from(p.iter().all(|other| *other <= p[place])));
        by_style.push(mean(found.iter().map(is_told)));
    }
    Ok((by_style, n_unseen))
}

/// Sources of every style, from the test part where it has clips that are long enough, else from the other.
fn sources(material: &Material, protocol: &Protocol) -> Result<Vec<Source>> {
    let phase = material.phase().ok_or_else(no_phase)?;
    let mut all = vec![];
    for (style, name) in material.styles().iter().enumerate() {
        let of = |part: Part| -> Vec<Source> {
            let clips = material.clips().iter().filter(|clip| clip.style == *name && clip.part == part);
            let inputs = clips.filter_map(|clip| clip.plain.inputs());
            let source = |inputs: &Signal, start: usize| {
                let inputs = inputs.slice(start..inputs.n_time().min(start + LONGEST));
                // Clips that are too short for rows before have fewer.
                let befores = [BEFORE, BEFORE / 4, 0].into_iter();
                let mut found = befores.filter(|&before| before < inputs.n_time());
                let places = found.find_map(|before| places(&inputs, phase, before, SCORED))?;
                Some(Source { style, inputs, places })
            };
            inputs
                .flat_map(|inputs| {
                    (0..inputs.n_time()).step_by(8).filter_map(move |start| source(inputs, start))
                })
                .collect()
        };
        let tests = of(Part::Test);
        let usable = if tests.is_empty() { of(Part::Train) } else { tests };
        let places: Vec<usize> = evenly(&(0..usable.len()).collect::<Vec<_>>(), protocol.sources);
        all.extend(usable.into_iter().enumerate().filter(|(k, _)| places.contains(k)).map(|(_, one)| one));
    }
    Ok(all)
}

/// Segments of clips that codes are inferred from.
fn segments(material: &Material, is_in: &dyn Fn(&Clip) -> bool, protocol: &Protocol) -> Vec<Stretch> {
    let clips = material.whole(is_in);
    let cut = clips.iter().flat_map(|clip| {
        let n = protocol.seen.min(clip.n_time);
        let last = clip.n_time - n;
        (0..=last).step_by(n.max(2) / 2).map(move |start| Stretch { clip: clip.clip, start, n_time: n })
    });
    cut.collect()
}

/// Mean codes of segments, at most so many.
pub(super) fn codes(
    model: &Model,
    material: &Material,
    segments: &[Stretch],
    most: usize,
    seed: u64,
) -> Result<Vec<Vec<f64>>> {
    let chosen = evenly(segments, most);
    let one = |(i, segment): (usize, &Stretch)| {
        let (outputs, inputs) = material.signals(segment);
        let random = stream(seed, Stream::Infer(1 + i as u64));
        let found = model.infer((&outputs, Some(&inputs)), Inference::MapLaplace, 1, random)?;
        Ok(found.posterior.mean()[..model.system.d_code()].to_vec())
    };
    chosen.iter().enumerate().map(one).collect()
}

/// What scores codes.
struct Judge<'a> {
    model: &'a Model,
    classifier: &'a SequenceClassifier,
    sources: &'a [Source],
}

impl Judge<'_> {
    /// P(target) of the motion by a code, for each source.
    fn scores(&self, code: &[f64], target: usize) -> Result<Vec<f64>> {
        let motion = |source: &Source| {
            let moved = self.model.generate(code, Some(&source.inputs), source.inputs.n_time())?;
            at_places(&moved, &source.places)
        };
        let motions = self.sources.iter().map(motion).collect::<Result<Vec<_>>>()?;
        let found = self.classifier.predict(&motions.iter().collect::<Vec<_>>())?;
        Ok(found.iter().map(|p| p[target]).collect())
    }
}

/// Which sources are those of variant (i): the middle one of each style.
fn first_of_each(sources: &[Source]) -> Vec<bool> {
    let n_before = |k: usize| sources[..k].iter().filter(|one| one.style == sources[k].style).count();
    let n_all = |k: usize| sources.iter().filter(|one| one.style == sources[k].style).count();
    (0..sources.len()).map(|k| n_before(k) == n_all(k) / 2).collect()
}

/// Of codes the one with the best mean score over the sources that count; its scores by style.
fn best(scores: &[Vec<f64>], counts: &[bool], sources: &[Source], n_styles: usize) -> Vec<Option<f64>> {
    let counted = |row: &Vec<f64>| -> f64 {
        row.iter().zip(counts).filter(|(_, counts)| **counts).map(|(score, _)| score).sum()
    };
    let chosen = scores.iter().max_by(|a, b| counted(a).total_cmp(&counted(b)));
    let of = |style: usize| {
        let row = chosen?.iter().zip(counts).zip(sources);
        mean(row.filter(|((_, counts), one)| **counts && one.style == style).map(|((score, _), _)| *score))
    };
    (0..n_styles).map(of).collect()
}

/// Scores by style of the source, averaged over codes and sources.
fn averaged(scores: &[Vec<f64>], sources: &[Source], n_styles: usize) -> Vec<Option<f64>> {
    let of = |style: usize| {
        let all = scores.iter().flat_map(|row| row.iter().zip(sources));
        mean(all.filter(|(_, one)| one.style == style).map(|(score, _)| *score))
    };
    (0..n_styles).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(style: usize) -> Source {
        Source { style, inputs: Signal::column(vec![0.0]), places: vec![] }
    }

    #[test]
    fn the_code_is_chosen_by_the_sources_that_count() {
        let sources: Vec<Source> = [0, 0, 1, 1].into_iter().map(source).collect();
        let scores = [vec![0.9, 0.1, 0.9, 0.1], vec![0.2, 0.6, 0.3, 0.8]];
        let counts = first_of_each(&sources);
        assert_eq!(counts, [false, true, false, true]);
        assert_eq!(best(&scores, &counts, &sources, 3), [Some(0.6), Some(0.8), None]);
        let all = best(&scores, &[true; 4], &sources, 2);
        assert!((all[0].unwrap() - 0.5).abs() < 1e-12 && (all[1].unwrap() - 0.5).abs() < 1e-12, "{all:?}");
        let mean = averaged(&scores, &sources, 2);
        assert!((mean[0].unwrap() - 0.45).abs() < 1e-12 && (mean[1].unwrap() - 0.525).abs() < 1e-12);
    }

    #[test]
    fn the_mean_off_the_diagonal_leaves_out_what_is_missing() {
        let table = vec![vec![Some(1.0), Some(0.4)], vec![None, Some(1.0)]];
        assert_eq!(Transfer::off_diagonal(&table), Some(0.4));
        assert_eq!(Transfer::off_diagonal(&[vec![Some(1.0)]]), None);
    }
}
