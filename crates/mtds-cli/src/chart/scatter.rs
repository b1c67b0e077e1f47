//! A map of points, such as codes: coloured along the ramp, some labelled, with a path drawn over it.

use super::axes::{Frame, Layout, bottom_margin, no_data, top_margin};
use super::scale::{Range, Spacing, ranges, short_number};
use super::svg::{Anchor, Path, SMALL, dot, ramp_colour, text, text_width};
use super::{Key, Picture, WIDTH, Words};
use crate::markup::Element;

const HEIGHT: f64 = 300.0;
const RADIUS: f64 = 4.0;

/// One point of a map.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Point {
    /// Position (x, y); drawn only if both are finite.
    pub at: (f64, f64),
    /// Label, or empty.
    pub label: String,
    /// Value that sets the colour; not finite means no colour.
    pub value: f64,
}

/// The numbers of a map.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scatter {
    /// Words on the chart.
    pub words: Words,
    /// The points.
    pub points: Vec<Point>,
    /// What the colour stands for, with its unit; empty if colours mean nothing.
    pub colour: String,
    /// A path over the map, from its first to its last point; may be empty.
    pub path: Vec<(f64, f64)>,
    /// What the path is, for the legend.
    pub path_label: String,
}

impl Scatter {
    /// Draws the map; one unit is as long down as across, so that distances can be compared.
    pub fn draw(&self) -> Picture {
        let Some((x, y)) = ranges(self.points.iter().map(|p| p.at).chain(self.path.iter().copied())) else {
            return no_data(&self.words, HEIGHT);
        };
        let (x, y) = self.equal_units(x.padded(0.06), y.padded(0.06));
        let layout = Layout { words: &self.words, height: HEIGHT, x, x_spacing: Spacing::Linear, y };
        let frame = Frame::new(layout);
        let mut data = self.draw_points(&frame);
        data.extend(self.draw_path(&frame));
        let labels = self.draw_labels(&frame);
        frame.picture(data, labels, self.keys())
    }

    /// Widens the range whose units would be longer.
    fn equal_units(&self, x: Range, y: Range) -> (Range, Range) {
        let width = WIDTH - 48.0;
        let height = HEIGHT - top_margin(&self.words) - bottom_margin(&self.words);
        let unit = (x.span() / width).max(y.span() / height);
        (x.with_span(unit * width), y.with_span(unit * height))
    }

    fn values(&self) -> Option<Range> {
        Range::of(self.points.iter().map(|p| p.value))
    }

    fn draw_points(&self, frame: &Frame) -> Vec<Element> {
        let range = self.values();
        let colour = |value: f64| match range {
            Some(range) if value.is_finite() => ramp_colour((value - range.low) / range.span()),
            _ => "var(--muted)".into(),
        };
        self.points
            .iter()
            .filter_map(|p| Some((frame.at(p.at)?, p)))
            .map(|(at, p)| {
                dot(at, RADIUS)
                    .class("point")
                    .set("style", format!("fill:{}", colour(p.value)))
                    .children((!p.label.is_empty()).then(|| Element::new("title").text(&p.label)))
            })
            .collect()
    }

    /// The path, with a ring where it starts and a filled dot where it ends.
    fn draw_path(&self, frame: &Frame) -> Vec<Element> {
        let places = frame.all(&self.path);
        let known: Vec<_> = places.iter().flatten().copied().collect();
        let (Some(first), Some(last)) = (known.first(), known.last()) else {
            return Vec::new();
        };
        vec![
            Path::through(&places).element("path-halo"),
            Path::through(&places).element("path"),
            dot(*first, RADIUS + 1.5).class("path-start"),
            dot(*last, RADIUS + 1.5).class("path-end"),
        ]
    }

    /// Labels take the first of four places that is free; where all are taken, the point stays unlabelled
    /// (its title still names it).
    fn draw_labels(&self, frame: &Frame) -> Vec<Element> {
        let mut taken: Vec<Box> = Vec::new();
        let mut out = Vec::new();
        for point in self.points.iter().filter(|p| !p.label.is_empty()) {
            let Some(at) = frame.at(point.at) else { continue };
            let width = text_width(&point.label, SMALL);
            let free = places(at, width).into_iter().find(|(_, _, place)| {
                place.within(frame) && taken.iter().all(|other| !place.overlaps(other))
            });
            if let Some((anchor, place_at, place)) = free {
                taken.push(place);
                out.push(text(place_at, anchor, &point.label).class("point-label"));
            }
        }
        out
    }

    fn keys(&self) -> Vec<Key> {
        let mut keys = Vec::new();
        if let (Some(range), false) = (self.values(), self.colour.is_empty()) {
            let decimals = (1.0 - range.span().log10().floor()).clamp(0.0, 6.0) as usize;
            let ends = [range.low, range.high].map(|v| short_number(v, decimals));
            keys.push(Key::ramp(format!("{}, {} to {}", self.colour, ends[0], ends[1])));
        }
        if !self.path.is_empty() && !self.path_label.is_empty() {
            keys.push(Key::line("path", &self.path_label));
        }
        keys
    }
}

/// The box of a label.
#[derive(Debug, Clone, Copy)]
struct Box {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Box {
    fn overlaps(&self, other: &Box) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn within(&self, frame: &Frame) -> bool {
        self.left >= frame.edges.left && self.right <= WIDTH && self.top >= frame.edges.top - 8.0
    }
}

/// Right, left, above, below.
fn places(at: (f64, f64), width: f64) -> [(Anchor, (f64, f64), Box); 4] {
    let gap = RADIUS + 4.0;
    let place = |anchor, x: f64, y: f64| {
        let left = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - 0.5 * width,
            Anchor::End => x - width,
        };
        (anchor, (x, y), Box { left, right: left + width, top: y - 0.8 * SMALL, bottom: y + 0.25 * SMALL })
    };
    [
        place(Anchor::Start, at.0 + gap, at.1 + 0.35 * SMALL),
        place(Anchor::End, at.0 - gap, at.1 + 0.35 * SMALL),
        place(Anchor::Middle, at.0, at.1 - gap),
        place(Anchor::Middle, at.0, at.1 + gap + 0.7 * SMALL),
    ]
}
