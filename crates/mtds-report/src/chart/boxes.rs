//! Box plots in clusters: box from quartile to quartile, whiskers to the most extreme value within 1.5 times
//! its height, dots beyond; bands in the background give values a meaning.

use super::axes::{Frame, no_data};
use super::clusters::{Clusters, Reference, beyond, draw_references, remark};
use super::sample::{BoxSummary, Sample};
use super::scale::{Range, Spacing, short_number};
use super::svg::{Anchor, Path, dot, group, text};
use super::{Key, Picture, Words};
use crate::markup::Element;

const HEIGHT: f64 = 300.0;

/// Boxes of one kind, one in every cluster.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BoxGroup {
    /// Name in the legend.
    pub label: String,
    /// Colour, as in a style sheet.
    pub colour: String,
    /// One sample per cluster, in any order; empty ones are left out.
    pub samples: Vec<Vec<f64>>,
}

/// A band of values that mean the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Zone {
    /// Its values.
    pub range: Range,
    /// What they mean, drawn in the band.
    pub label: String,
}

/// The numbers of a box chart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Boxes {
    /// Words on the chart.
    pub words: Words,
    /// Names of the clusters.
    pub clusters: Vec<String>,
    /// The groups, each with one sample per cluster.
    pub groups: Vec<BoxGroup>,
    /// Lines to compare with.
    pub references: Vec<Reference>,
    /// Bands in the background, each shaded more than the one before.
    pub zones: Vec<Zone>,
    /// Vertical range; by default what the data and the lines need.
    pub y_range: Option<Range>,
}

impl Boxes {
    /// Draws the chart. Values that are not finite are left out, and the picture says how many.
    pub fn draw(&self) -> Picture {
        let samples: Vec<Vec<Sample>> = self.groups.iter().map(|group| self.samples(group)).collect();
        let Some(range) = self.range(&samples) else {
            return no_data(&self.words, HEIGHT);
        };
        let clusters = Clusters { n_clusters: self.clusters.len(), n_groups: self.groups.len() };
        let frame = clusters.frame(&self.words, HEIGHT, (range, Spacing::Linear), &self.clusters);
        let (lines, mut keys) = draw_references(&self.references, &frame);
        let mut data = self.draw_zones(&frame);
        data.extend(lines);
        let mut outside = Vec::new();
        for (g, (group, samples)) in self.groups.iter().zip(&samples).enumerate() {
            for (c, boxed) in samples.iter().enumerate().filter_map(|(c, s)| Some((c, s.boxed()?))) {
                let name = format!("{}, {}", group.label, self.clusters[c]);
                let mark = BoxMark { boxed, colour: &group.colour, name };
                let place = clusters.place(c, g, frame.edges);
                data.extend(mark.draw(place, &frame));
                outside.extend(mark.draw_beyond(place.0, &frame));
            }
        }
        let remark = self.remark(&samples, outside.len(), &frame);
        let above = self.zone_labels(&frame).into_iter().chain(outside).chain(remark).collect();
        keys.splice(0..0, self.groups.iter().map(|group| Key::area(&group.colour, &group.label)));
        frame.picture(data, above, keys)
    }

    /// What the axis shows; `None` without values.
    fn range(&self, samples: &[Vec<Sample>]) -> Option<Range> {
        let values = samples.iter().flatten().flat_map(Sample::values).copied();
        Range::of(values.clone())?;
        let needed = Range::of(values.chain(self.references.iter().map(|r| r.value)))?;
        Some(self.y_range.unwrap_or(needed.padded(0.04)))
    }

    fn samples(&self, group: &BoxGroup) -> Vec<Sample> {
        let samples = group.samples.iter().map(|values| Sample::new(values, Spacing::Linear));
        samples.take(self.clusters.len()).collect()
    }

    fn draw_zones(&self, frame: &Frame) -> Vec<Element> {
        let edges = frame.edges;
        let zone = |(i, zone): (usize, &Zone)| {
            let (low, high) = (frame.y.at(zone.range.low)?, frame.y.at(zone.range.high)?);
            let (low, high) = (low.clamp(edges.top, edges.bottom), high.clamp(edges.top, edges.bottom));
            let rect = Element::new("rect")
                .class("zone")
                .set_number("x", edges.left)
                .set_number("y", high)
                .set_number("width", edges.right - edges.left)
                .set_number("height", low - high)
                .set("style", format!("fill-opacity:{:.2}", 0.03 + 0.05 * i as f64));
            (low - high > 0.5).then_some(rect)
        };
        self.zones.iter().enumerate().filter_map(zone).collect()
    }

    /// Each at the top of its band.
    fn zone_labels(&self, frame: &Frame) -> Vec<Element> {
        let edges = frame.edges;
        let label = |zone: &Zone| {
            let (low, high) = (frame.y.at(zone.range.low)?, frame.y.at(zone.range.high)?);
            let (low, high) = (low.min(edges.bottom), high.max(edges.top));
            let place = (edges.left + 6.0, high + 13.0);
            (low - high > 15.0).then(|| text(place, Anchor::Start, &zone.label).class("note"))
        };
        self.zones.iter().filter_map(label).collect()
    }

    fn remark(&self, samples: &[Vec<Sample>], n_beyond: usize, frame: &Frame) -> Option<Element> {
        let left_out: usize = samples.iter().flatten().map(Sample::left_out).sum();
        let mut words = Vec::new();
        if n_beyond > 0 {
            words.push("▲ beyond this axis".to_string());
        }
        if left_out > 0 {
            words.push(format!("{left_out} left out: not numbers"));
        }
        (!words.is_empty()).then(|| remark(frame.edges, &words.join("; ")))
    }
}

/// One box.
struct BoxMark<'a> {
    boxed: BoxSummary,
    colour: &'a str,
    name: String,
}

impl BoxMark<'_> {
    fn draw(&self, (middle, half): (f64, f64), frame: &Frame) -> Option<Element> {
        let BoxSummary { whiskers, quartiles, median, outliers } = &self.boxed;
        let at = |value: f64| frame.y.at(value);
        let (low, q1, q2, q3, high) =
            (at(whiskers.0)?, at(quartiles.0)?, at(*median)?, at(quartiles.1)?, at(whiskers.1)?);
        let numbers = [*median, quartiles.0, quartiles.1].map(|v| short_number(v, 2));
        let title =
            format!("{}: median {}, quartiles {} and {}", self.name, numbers[0], numbers[1], numbers[2]);
        let across = |y: f64, reach: f64, classes: &str| {
            Path::segment((middle - reach, y), (middle + reach, y)).element(classes)
        };
        let body = Element::new("rect")
            .class("body")
            .set_number("x", middle - half)
            .set_number("y", q3)
            .set_number("width", 2.0 * half)
            .set_number("height", (q1 - q3).max(0.0));
        let dots = outliers.iter().filter_map(|v| Some(dot((middle, at(*v)?), 2.2).class("outlier")));
        Some(
            group("box")
                .set("style", format!("--this:{}", self.colour))
                .child(Element::new("title").text(title))
                .child(Path::segment((middle, low), (middle, q1)).element("whisker"))
                .child(Path::segment((middle, q3), (middle, high)).element("whisker"))
                .children([across(low, 0.5 * half, "whisker"), across(high, 0.5 * half, "whisker"), body])
                .child(across(q2, half, "bar middle"))
                .children(dots),
        )
    }

    fn draw_beyond(&self, middle: f64, frame: &Frame) -> Vec<Element> {
        let farthest = self.boxed.outliers.iter().copied();
        let ends =
            farthest.chain([self.boxed.whiskers.0, self.boxed.whiskers.1]).filter_map(|v| frame.y.at(v));
        let ends = ends.fold((f64::NEG_INFINITY, f64::INFINITY), |e, at| (e.0.max(at), e.1.min(at)));
        let marks = beyond(middle, ends, frame.edges);
        marks.into_iter().map(|mark| mark.set("style", format!("--this:{}", self.colour))).collect()
    }
}
