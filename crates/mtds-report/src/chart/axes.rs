//! The frame of a chart: heading, grid, ticks, axis labels, and the clipped area where data are drawn.

use super::scale::{Range, Scale, Spacing, Tick};
use super::svg::{Anchor, Path, SMALL, fit, group, text, text_width};
use super::{Key, Picture, WIDTH, Words};
use crate::markup::{Element, number};

/// Size of the heading in a picture.
const HEADING: f64 = 13.5;
/// Room right of the plot, for half of the last tick label.
const RIGHT: f64 = 14.0;

/// What a frame needs to know before it can be laid out.
#[derive(Debug, Clone)]
pub struct Layout<'a> {
    /// Words on the chart.
    pub words: &'a Words,
    /// Height of the picture; the width is [`WIDTH`].
    pub height: f64,
    /// Data range of the horizontal axis.
    pub x: Range,
    /// Spacing of the horizontal axis.
    pub x_spacing: Spacing,
    /// Data range of the vertical axis.
    pub y: Range,
    /// Spacing of the vertical axis.
    pub y_spacing: Spacing,
}

/// A laid-out frame: scales ready for drawing.
#[derive(Debug, Clone)]
pub struct Frame<'a> {
    words: &'a Words,
    height: f64,
    /// Ticks of the horizontal axis that stand for names; empty if it shows numbers.
    names: Vec<Tick>,
    /// Horizontal scale.
    pub x: Scale,
    /// Vertical scale.
    pub y: Scale,
    /// Left, top, right and bottom edge of the plot.
    pub edges: Edges,
}

/// Edges of the plot in drawing units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edges {
    /// Left edge.
    pub left: f64,
    /// Top edge.
    pub top: f64,
    /// Right edge.
    pub right: f64,
    /// Bottom edge.
    pub bottom: f64,
}

impl<'a> Frame<'a> {
    /// Lays a frame out: the left margin fits the widest tick label.
    pub fn new(layout: Layout<'a>) -> Self {
        let words = layout.words;
        let (top, bottom) = (top_margin(words), layout.height - bottom_margin(words));
        let y = Scale::spaced(layout.y_spacing, layout.y, (bottom, top));
        let widest =
            y_ticks(&y, bottom - top).iter().map(|t| text_width(&t.label, SMALL)).fold(0.0, f64::max);
        let edges = Edges { left: (widest + 10.0).max(24.0), top, right: WIDTH - RIGHT, bottom };
        let x = Scale::spaced(layout.x_spacing, layout.x, (edges.left, edges.right));
        Self { words, height: layout.height, names: Vec::new(), x, y, edges }
    }

    /// The frame with names instead of numbers along the horizontal axis.
    pub fn with_names(mut self, names: Vec<Tick>) -> Self {
        self.names = names;
        self
    }

    /// Drawing position of a data point; `None` if either coordinate is a gap.
    pub fn at(&self, point: (f64, f64)) -> Option<(f64, f64)> {
        Some((self.x.at(point.0)?, self.y.at(point.1)?))
    }

    /// Drawing positions of a series.
    pub fn all(&self, points: &[(f64, f64)]) -> Vec<Option<(f64, f64)>> {
        points.iter().map(|point| self.at(*point)).collect()
    }

    /// The finished picture: grid below, then the data clipped to the plot, then `above`, unclipped.
    pub fn picture(&self, data: Vec<Element>, above: Vec<Element>, keys: Vec<Key>) -> Picture {
        let svg = root(self.words, self.height)
            .children(headings(self.words))
            .child(self.grid())
            .child(self.clipped(data))
            .children(above);
        Picture { svg, keys }
    }

    fn grid(&self) -> Element {
        let edges = self.edges;
        let mut grid = group("axes");
        for (at, tick) in placed(&self.y, y_ticks(&self.y, edges.bottom - edges.top)) {
            grid = grid
                .child(Path::segment((edges.left, at), (edges.right, at)).element("grid"))
                .child(text((edges.left - 7.0, at + 0.35 * SMALL), Anchor::End, tick.label));
        }
        for (at, tick) in placed(&self.x, self.x_ticks()) {
            grid = grid
                .child(Path::segment((at, edges.bottom), (at, edges.bottom + 4.0)).element("tick"))
                .child(text((at, edges.bottom + 17.0), Anchor::Middle, tick.label));
        }
        grid.child(Path::segment((edges.left, edges.bottom), (edges.right, edges.bottom)).element("axis"))
            .child(
                text((0.5 * (edges.left + edges.right), self.height - 5.0), Anchor::Middle, &self.words.x)
                    .class("label"),
            )
    }

    fn x_ticks(&self) -> Vec<Tick> {
        if self.names.is_empty() { self.x.ticks(x_tick_count(self.edges)) } else { self.names.clone() }
    }

    /// A nested `<svg>` clips without an id, which could clash between pictures of one page. Two units of
    /// slack keep strokes and dots on the border whole.
    fn clipped(&self, data: Vec<Element>) -> Element {
        let Edges { left, top, right, bottom } = self.edges;
        let (x, y, width, height) = (left - 4.0, top - 4.0, right - left + 8.0, bottom - top + 6.0);
        Element::new("svg")
            .set_number("x", x)
            .set_number("y", y)
            .set_number("width", width)
            .set_number("height", height)
            .set("viewBox", [x, y, width, height].map(number).join(" "))
            .children(data)
    }
}

/// A picture of the usual size that says "no data".
pub fn no_data(words: &Words, height: f64) -> Picture {
    let svg = root(words, height)
        .children(headings(words))
        .child(text((0.5 * WIDTH, 0.5 * height), Anchor::Middle, "no data").class("empty"));
    Picture { svg, keys: Vec::new() }
}

/// The outer element with its accessible name.
pub fn root(words: &Words, height: f64) -> Element {
    Element::new("svg")
        .class("chart")
        .set("xmlns", "http://www.w3.org/2000/svg")
        .set("viewBox", [0.0, 0.0, WIDTH, height].map(number).join(" "))
        .set("role", "img")
        .set("aria-label", words.accessible())
        .child(Element::new("title").text(words.accessible()))
}

/// Heading and the vertical axis's label, both flush left above the plot: no text is turned.
pub fn headings(words: &Words) -> Vec<Element> {
    let mut out = Vec::new();
    let mut baseline = 2.0;
    if !words.heading.is_empty() {
        baseline += 14.0;
        out.push(
            text((0.0, baseline), Anchor::Start, fit(&words.heading, HEADING, WIDTH)).class("chart-heading"),
        );
    }
    if !words.y.is_empty() {
        baseline += 17.0;
        out.push(text((0.0, baseline), Anchor::Start, fit(&words.y, SMALL, WIDTH)).class("label"));
    }
    out
}

/// Room above the plot.
pub fn top_margin(words: &Words) -> f64 {
    let heading = if words.heading.is_empty() { 0.0 } else { 16.0 };
    let label = if words.y.is_empty() { 0.0 } else { 17.0 };
    heading + label + 14.0
}

/// Room below the plot.
pub fn bottom_margin(words: &Words) -> f64 {
    if words.x.is_empty() { 24.0 } else { 42.0 }
}

fn y_ticks(scale: &Scale, height: f64) -> Vec<Tick> {
    scale.ticks(((height / 40.0) as usize).max(2))
}

fn x_tick_count(edges: Edges) -> usize {
    ((edges.right - edges.left) / 60.0) as usize
}

fn placed(scale: &Scale, ticks: Vec<Tick>) -> impl Iterator<Item = (f64, Tick)> {
    ticks.into_iter().filter_map(|tick| Some((scale.at(tick.value)?, tick)))
}
