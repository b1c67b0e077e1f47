//! Violins: the distribution of scores, in clusters; bars mark the smallest, the middle and the largest value.
//!
//! The density is estimated along the axis as it is drawn: on a logarithmic axis, of the logarithms.

use super::axes::{Frame, no_data};
use super::clusters::{Clusters, Reference, beyond, draw_references, remark};
use super::kernel_density::{kernel_density, silverman_bandwidth};
use super::sample::Sample;
use super::scale::{Range, Spacing, short_number};
use super::svg::{Path, group};
use super::{Key, Picture, Words};
use crate::markup::Element;

const HEIGHT: f64 = 320.0;
/// Points along the outline of a violin.
const OUTLINE: usize = 48;
/// A few far values may not squeeze everything else: where those beyond the central 90 % would lengthen the
/// axis on one side by more than this share, it ends without them.
const SQUEEZE: f64 = 0.6;

/// Violins of one kind, one in every cluster.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ViolinGroup {
    /// Name in the legend.
    pub label: String,
    /// Colour, as in a style sheet.
    pub colour: String,
    /// One sample per cluster, in any order; empty ones are left out.
    pub samples: Vec<Vec<f64>>,
}

/// The numbers of a violin chart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Violins {
    /// Words on the chart.
    pub words: Words,
    /// Names of the clusters.
    pub clusters: Vec<String>,
    /// The groups, each with one sample per cluster.
    pub groups: Vec<ViolinGroup>,
    /// Lines to compare with.
    pub references: Vec<Reference>,
    /// Spacing of the vertical axis.
    pub y_spacing: Spacing,
}

impl Violins {
    /// Draws the chart. Values that have no place on the axis are left out, and the picture says how many.
    pub fn draw(&self) -> Picture {
        let samples: Vec<Vec<Sample>> = self.groups.iter().map(|group| self.samples(group)).collect();
        let Some(range) = self.range(&samples) else {
            return no_data(&self.words, HEIGHT);
        };
        let clusters = Clusters { n_clusters: self.clusters.len(), n_groups: self.groups.len() };
        let frame = clusters.frame(&self.words, HEIGHT, (range, self.y_spacing), &self.clusters);
        let (mut data, mut keys) = draw_references(&self.references, &frame);
        let mut above = Vec::new();
        for (g, (group, samples)) in self.groups.iter().zip(&samples).enumerate() {
            for (c, sample) in samples.iter().enumerate() {
                let name = format!("{}, {}", group.label, self.clusters[c]);
                let violin = Violin { sample, colour: &group.colour, name };
                let place = clusters.place(c, g, frame.edges);
                data.extend(violin.draw(place, &frame));
                above.extend(violin.draw_beyond(place.0, &frame));
            }
        }
        above.extend(self.remark(&samples, &above, &frame));
        keys.splice(0..0, self.groups.iter().map(|group| Key::area(&group.colour, &group.label)));
        frame.picture(data, above, keys)
    }

    fn samples(&self, group: &ViolinGroup) -> Vec<Sample> {
        let samples = group.samples.iter().map(|values| Sample::new(values, self.y_spacing));
        samples.take(self.clusters.len()).collect()
    }

    /// What the axis shows.
    fn range(&self, samples: &[Vec<Sample>]) -> Option<Range> {
        let ends = |share: f64| -> Vec<f64> {
            let both = |s: &Sample| [s.quantile(share), s.quantile(1.0 - share)];
            samples.iter().flatten().flat_map(both).flatten().collect()
        };
        Range::of(ends(0.0))?;
        let references = self.references.iter().map(|r| r.value);
        let shown = |share: f64| Range::of(ends(share).into_iter().chain(references.clone()));
        let (whole, central) = (shown(0.0)?, shown(0.05)?);
        if self.y_spacing == Spacing::Log && whole.low > 0.0 {
            return Some(Range { low: whole.low / 1.1, high: whole.high * 1.1 });
        }
        let room = SQUEEZE * central.span();
        let low = if central.low - whole.low > room { central.low } else { whole.low };
        let high = if whole.high - central.high > room { central.high } else { whole.high };
        Some(Range { low, high }.padded(0.05))
    }

    fn remark(&self, samples: &[Vec<Sample>], beyond: &[Element], frame: &Frame) -> Option<Element> {
        let left_out: usize = samples.iter().flatten().map(Sample::left_out).sum();
        let far =
            samples.iter().flatten().filter_map(|s| s.values().last()).copied().fold(f64::NAN, f64::max);
        let mut words = Vec::new();
        if !beyond.is_empty() {
            words.push(format!("▲ goes on beyond the axis, to {} at most", short_number(far, 1)));
        }
        if left_out > 0 {
            words.push(format!("{left_out} left out: not a number with a place here"));
        }
        (!words.is_empty()).then(|| remark(frame.edges, &words.join("; ")))
    }
}

/// One violin.
struct Violin<'a> {
    sample: &'a Sample,
    colour: &'a str,
    name: String,
}

impl Violin<'_> {
    fn draw(&self, (middle, half): (f64, f64), frame: &Frame) -> Option<Element> {
        let [low, median, high] = self.sample.three_numbers()?;
        let n = self.sample.values().len();
        let numbers = [low, median, high].map(|v| short_number(v, 3));
        let title = format!(
            "{}: smallest {}, median {}, largest {} of {n}",
            self.name, numbers[0], numbers[1], numbers[2]
        );
        let bar = |value: f64, reach: f64, classes: &str| {
            let at = frame.y.at(value)?;
            Some(Path::segment((middle - reach, at), (middle + reach, at)).element(classes))
        };
        let spine = (frame.y.at(low)?, frame.y.at(high)?);
        Some(
            group("violin")
                .set("style", format!("--this:{}", self.colour))
                .child(Element::new("title").text(title))
                .children(self.outline((middle, half), frame))
                .child(Path::segment((middle, spine.0), (middle, spine.1)).element("spine"))
                .children(bar(low, 0.5 * half, "bar"))
                .children(bar(high, 0.5 * half, "bar"))
                .children(bar(median, half, "bar middle")),
        )
    }

    /// The density, widest where it is highest; `None` for values that do not differ.
    fn outline(&self, (middle, half): (f64, f64), frame: &Frame) -> Option<Element> {
        let drawn: Vec<f64> = self.sample.values().iter().filter_map(|v| frame.y.at(*v)).collect();
        let drawn = Sample::new(&drawn, Spacing::Linear);
        let bandwidth = silverman_bandwidth(&drawn)?;
        let [first, _, last] = drawn.three_numbers()?;
        let step = (last - first) / (OUTLINE - 1) as f64;
        let heights: Vec<f64> = (0..OUTLINE).map(|i| first + step * i as f64).collect();
        let densities: Vec<f64> =
            heights.iter().map(|y| kernel_density(drawn.values(), bandwidth, *y)).collect();
        let highest = densities.iter().copied().fold(0.0, f64::max);
        let side = |sign: f64| -> Vec<Option<(f64, f64)>> {
            let reach = |f: &f64| middle + sign * half * f / highest;
            heights.iter().zip(&densities).map(|(y, f)| Some((reach(f), *y))).collect()
        };
        Some(Path::between(&side(-1.0), &side(1.0)).element("outline"))
    }

    fn draw_beyond(&self, middle: f64, frame: &Frame) -> Vec<Element> {
        let ends = self.sample.three_numbers().map(|[low, _, high]| (frame.y.at(low), frame.y.at(high)));
        let Some((Some(low), Some(high))) = ends else { return Vec::new() };
        let mut out = beyond(middle, (low, high), frame.edges);
        out.truncate(2);
        out.into_iter().map(|mark| mark.set("style", format!("--this:{}", self.colour))).collect()
    }
}
