//! The map of codes: a model with a code of two numbers, the codes of segments of all clips, and motions at points of the map.

use mtds::random::{Stream, stream};
use mtds::{Method as Inference, Result, Signal};
use serde::{Deserialize, Serialize};

use super::experiment::Experiment;
use super::material::{Material, Part, Stretch};
use super::model::learn;
use super::split::evenly;
use crate::Scale;

/// Rows of a motion that is shown, and rows before them in which the model finds its state.
const SHOWN: usize = 72;
const BEFORE: usize = 32;
/// Digits that are kept of motions, which are there to be looked at.
const KEPT: f64 = 1e4;

/// The code of a segment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapPoint {
    /// The clip.
    pub clip: String,
    /// Its style.
    pub style: String,
    /// The first row of the segment.
    pub row: usize,
    /// The code.
    pub at: [f64; 2],
}

/// A motion by a code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapMotion {
    /// What the code is.
    pub what: String,
    /// The code.
    pub at: [f64; 2],
    /// Outputs, row by row, rounded.
    pub outputs: Vec<f64>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeMapResult {
    /// Segments.
    pub points: Vec<MapPoint>,
    /// Motions at the mean code of each style, and half-way between the two that are farthest apart, all by the inputs of one clip.
    pub motions: Vec<MapMotion>,
    /// That clip.
    pub inputs_of: String,
}

/// Learns and maps.
///
/// # Errors
/// Those of learning and inference.
pub fn map(experiment: &Experiment<'_>, seed: u64) -> Result<CodeMapResult> {
    let Experiment { material, protocol, settings, device, .. } = experiment;
    let trained = material.whole(|clip| clip.part == Part::Train);
    let model = learn(&material.family(&trained)?, &settings.map(), (device, seed))?;
    let n = protocol.seen;
    let cut = trained.iter().flat_map(|clip| {
        let whole = clip.n_time / n;
        (0..whole).map(|k| Stretch { clip: clip.clip, start: k * n, n_time: n })
    });
    let most = if protocol.scale == Scale::Quick { 96 } else { 768 };
    let segments = evenly(&cut.collect::<Vec<_>>(), most);
    let mut points = vec![];
    for (i, segment) in segments.iter().enumerate() {
        let (outputs, inputs) = material.signals(segment);
        let random = stream(seed, Stream::Infer(i as u64));
        let found = model.infer((&outputs, Some(&inputs)), Inference::MapLaplace, 1, random)?;
        let code = found.posterior.mean();
        let clip = &material.clips()[segment.clip];
        let (style, at) = (clip.style.clone(), [code[0], code[1]]);
        points.push(MapPoint { clip: clip.id.clone(), style, row: segment.start, at });
    }
    let (inputs_of, inputs) = common_inputs(material)?;
    let motion = |(what, at): (String, [f64; 2])| -> Result<MapMotion> {
        let all = model.generate(&at, Some(&inputs), inputs.n_time())?;
        let shown = all.slice(BEFORE.min(all.n_time() / 2)..all.n_time());
        let outputs = shown.values().iter().map(|value| (value * KEPT).round() / KEPT).collect();
        Ok(MapMotion { what, at, outputs })
    };
    let motions = shown(material, &points).into_iter().map(motion).collect::<Result<_>>()?;
    Ok(CodeMapResult { points, motions, inputs_of })
}

/// Inputs that all motions walk by: the beginning of the longest clip of the test part, or of all where there is none.
fn common_inputs(material: &Material) -> Result<(String, Signal)> {
    let longest = |part: Option<Part>| {
        let clips = material.clips().iter().filter(|clip| part.is_none_or(|part| clip.part == part));
        // Of equal ones the first.
        clips.rev().max_by_key(|clip| clip.plain.n_time())
    };
    let clip = longest(Some(Part::Test)).or_else(|| longest(None));
    let found = clip.and_then(|clip| Some((clip.id.clone(), clip.plain.inputs()?)));
    let (id, inputs) = found.ok_or_else(|| mtds::Error::EmptyFamily("clips with inputs".into()))?;
    Ok((id, inputs.slice(0..inputs.n_time().min(BEFORE + SHOWN))))
}

/// Codes at which motions are shown.
fn shown(material: &Material, points: &[MapPoint]) -> Vec<(String, [f64; 2])> {
    let centre = |style: &String| {
        let own: Vec<[f64; 2]> = points.iter().filter(|p| p.style == *style).map(|p| p.at).collect();
        let mean = |k: usize| own.iter().map(|at| at[k]).sum::<f64>() / own.len() as f64;
        (!own.is_empty()).then(|| (style.clone(), [mean(0), mean(1)]))
    };
    let mut all: Vec<_> = material.styles().iter().filter_map(centre).collect();
    let far = |a: &[f64; 2], b: &[f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
    let pairs = (0..all.len()).flat_map(|i| (0..i).map(move |j| (j, i)));
    let farthest =
        pairs.max_by(|&(a, b), &(c, d)| far(&all[a].1, &all[b].1).total_cmp(&far(&all[c].1, &all[d].1)));
    if let Some((a, b)) = farthest {
        let (one, other) = (&all[a], &all[b]);
        let middle = [0, 1].map(|k| (one.1[k] + other.1[k]) / 2.0);
        let what = format!("half-way from {} to {}", one.0, other.0);
        all.push((what, middle));
    }
    all
}
