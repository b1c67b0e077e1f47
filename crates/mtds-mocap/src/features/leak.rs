//! How much of the style the inputs give away: a classifier that sees nothing else, beside chance.
//!
//! ```text
//! sequences → segments of two seconds → mean, deviation and mean step of every column → ridge classifier
//! folds hold out whole sequences, all styles spread over them
//! score = mean over styles of the share of its held-out segments that are recognised; chance = 1 / number of styles
//! ```
//!
//! A model could read the style from inputs that leak it, and leave the code without use. Speed and cadence are
//! part of the inputs on purpose, so the score is not expected at chance; the score on outputs shows the other end.

use mtds::random::Random;
use mtds::{Family, Signal};
use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::ridge::Classifier;
use crate::{Error, Result};

/// Rows of a segment.
const SEGMENT: usize = 60;
/// Most folds.
const N_FOLDS: usize = 5;

/// Which columns of a family the classifier sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Columns {
    /// The inputs.
    Inputs,
    /// The outputs.
    Outputs,
}

/// How well styles are recognised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StyleLeak {
    /// Share of held-out segments that are recognised, each style weighing the same.
    pub score: f64,
    /// Its standard error, sequences being the sample.
    pub standard_error: f64,
    /// The score of guessing.
    pub chance: f64,
    /// Styles that took part, in order of their names.
    pub styles: Vec<String>,
    /// Styles with fewer than two sequences, which cannot be held out and learned at once.
    pub left_out: Vec<String>,
    /// Number of sequences that took part.
    pub n_sequences: usize,
    /// Number of segments.
    pub n_segments: usize,
}

/// One segment of the sample.
struct Segment {
    sequence: usize,
    style: usize,
    statistics: Vec<f64>,
}

/// The score of a classifier of styles (labels) on the inputs or outputs of a family.
///
/// `random` deals sequences to folds. Sequences shorter than a segment count as one.
///
/// # Errors
/// [`Error::Shape`] if fewer than two labels have two sequences each, or the family has no inputs.
pub fn style_leak(family: &Family, columns: Columns, random: &mut Random) -> Result<StyleLeak> {
    let (styles, left_out) = styles_of(family);
    if styles.len() < 2 {
        return Err(Error::shape("styles with two sequences or more", "at least 2", styles.len()));
    }
    let segments = segments(family, columns, &styles)?;
    let hits = held_out_hits(family, &styles, &segments, random);
    let per_style = |style: usize| {
        let of_style = |&i: &usize| family.sequence(i).label() == Some(styles[style].as_str());
        (0..family.n_seq()).filter(of_style).map(|i| hits[i][0] / hits[i][1]).collect::<Vec<f64>>()
    };
    let (score, standard_error) = summary((0..styles.len()).map(per_style));
    let n_sequences = hits.iter().filter(|hits| hits[1] > 0.0).count();
    let chance = 1.0 / styles.len() as f64;
    Ok(StyleLeak { score, standard_error, chance, styles, left_out, n_sequences, n_segments: segments.len() })
}

/// For every sequence, how many of its segments were recognised while it was held out, and how many it has.
fn held_out_hits(
    family: &Family,
    styles: &[String],
    segments: &[Segment],
    random: &mut Random,
) -> Vec<[f64; 2]> {
    let folds = folds(family, styles, random);
    let mut hits = vec![[0.0; 2]; family.n_seq()];
    for fold in 0..N_FOLDS {
        let (held, learned): (Vec<&Segment>, Vec<&Segment>) =
            segments.iter().partition(|segment| folds[segment.sequence] == fold);
        let rows: Vec<&[f64]> = learned.iter().map(|segment| segment.statistics.as_slice()).collect();
        let classes: Vec<usize> = learned.iter().map(|segment| segment.style).collect();
        let classifier = Classifier::learned(&rows, &classes, styles.len());
        for segment in held {
            let hit = classifier.classify(&segment.statistics) == segment.style;
            hits[segment.sequence][0] += f64::from(u8::from(hit));
            hits[segment.sequence][1] += 1.0;
        }
    }
    hits
}

/// Labels with at least two sequences, and the others, each in order.
fn styles_of(family: &Family) -> (Vec<String>, Vec<String>) {
    let mut labels: Vec<&str> = family.labels().flatten().collect();
    labels.sort_unstable();
    let counts = labels.chunk_by(|a, b| a == b);
    let (many, few): (Vec<&[&str]>, Vec<&[&str]>) = counts.partition(|same| same.len() > 1);
    let names = |groups: Vec<&[&str]>| groups.iter().map(|same| same[0].to_string()).collect();
    (names(many), names(few))
}

/// The fold of every sequence: those of a style are dealt out in random order, from a random fold on.
fn folds(family: &Family, styles: &[String], random: &mut Random) -> Vec<usize> {
    let mut folds = vec![N_FOLDS; family.n_seq()];
    for style in styles {
        let mut members: Vec<usize> =
            (0..family.n_seq()).filter(|&i| family.sequence(i).label() == Some(style.as_str())).collect();
        for last in (1..members.len()).rev() {
            members.swap(last, random.random_range(0..=last));
        }
        let first = random.random_range(0..N_FOLDS);
        members.iter().enumerate().for_each(|(place, &i)| folds[i] = (first + place) % N_FOLDS);
    }
    folds
}

/// The segments of all sequences whose label takes part.
fn segments(family: &Family, columns: Columns, styles: &[String]) -> Result<Vec<Segment>> {
    let mut segments = Vec::new();
    for i in 0..family.n_seq() {
        let label = family.sequence(i).label();
        let Some(style) = styles.iter().position(|style| label == Some(style.as_str())) else { continue };
        let n_time = family.sequence(i).n_time();
        let signal = match columns {
            Columns::Outputs => family.sequence(i).outputs(),
            Columns::Inputs => {
                family.inputs_of(i).ok_or_else(|| Error::shape("inputs of the family", "some", "none"))?
            }
        };
        let n_segments = (n_time / SEGMENT).max(1);
        for k in 0..n_segments {
            let (start, end) = (k * n_time / n_segments, (k + 1) * n_time / n_segments);
            segments.push(Segment { sequence: i, style, statistics: statistics(signal, start, end) });
        }
    }
    Ok(segments)
}

/// Mean, standard deviation and mean absolute step of every column over rows `start..end`, missing values aside.
fn statistics(signal: &Signal, start: usize, end: usize) -> Vec<f64> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let of_column = |column: usize| {
        let values: Vec<f64> =
            (start..end).map(|t| signal.get(t, column)).filter(|value| !value.is_nan()).collect();
        let middle = mean(&values);
        let spread = mean(&values.iter().map(|value| (value - middle).powi(2)).collect::<Vec<_>>()).sqrt();
        let steps: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
        [middle, spread, mean(&steps)]
    };
    (0..signal.width()).flat_map(of_column).collect()
}

/// Mean over styles of the mean over their sequences, and its standard error.
fn summary(per_style: impl Iterator<Item = Vec<f64>>) -> (f64, f64) {
    let (mut total, mut variance, mut n_styles) = (0.0, 0.0, 0.0);
    for shares in per_style {
        let n = shares.len() as f64;
        let mean = shares.iter().sum::<f64>() / n;
        let spread = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (total, variance, n_styles) = (total + mean, variance + spread / n, n_styles + 1.0);
    }
    (total / n_styles, variance.sqrt() / n_styles)
}

#[cfg(test)]
mod tests {
    use mtds::Sequence;
    use rand_distr::StandardNormal;

    use super::*;

    /// Noise around a level: of its own for every label, or the same for all.
    fn noisy_family(levels: [f64; 2]) -> Family {
        let mut random = mtds::random::stream(9, 0);
        let sequence = |i: usize| {
            let values = (0..180).map(|_| levels[i % 2] + random.sample::<f64, _>(StandardNormal)).collect();
            let signal = Signal::column(values);
            let label = ["calm", "wild"][i % 2];
            Sequence::new(format!("{i}"), signal.clone())
                .unwrap()
                .with_inputs(signal)
                .unwrap()
                .with_label(label)
        };
        Family::new((0..40).map(sequence).collect()).unwrap()
    }

    #[test]
    fn inputs_that_leak_are_found_and_others_score_as_chance() {
        let leaky =
            style_leak(&noisy_family([0.0, 2.0]), Columns::Inputs, &mut mtds::random::stream(1, 0)).unwrap();
        assert!(leaky.score > 0.99, "{leaky:?}");
        let tight =
            style_leak(&noisy_family([0.0, 0.0]), Columns::Inputs, &mut mtds::random::stream(1, 0)).unwrap();
        // Four standard errors of 120 guesses: false alarm about once in 16 000 seeds.
        assert!((tight.score - 0.5).abs() < 4.0 * 0.5 / 120f64.sqrt(), "{tight:?}");
        assert_eq!((tight.chance, tight.n_sequences, tight.n_segments), (0.5, 40, 120));
    }

    #[test]
    fn styles_need_two_sequences() {
        let family = noisy_family([0.0, 1.0]);
        let three = family.subset(&[0, 1, 2, 3, 5]).unwrap();
        assert!(style_leak(&three, Columns::Outputs, &mut mtds::random::stream(1, 0)).is_ok());
        let lonely = family.subset(&[0, 1, 3]).unwrap();
        assert!(style_leak(&lonely, Columns::Outputs, &mut mtds::random::stream(1, 0)).is_err());
    }
}
