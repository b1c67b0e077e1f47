//! Continuations drawn from a model: what was seen is shaded, every draw a thin line, the truth dotted.

use super::axes::{Frame, Layout, no_data};
use super::scale::{Range, Spacing, ranges};
use super::svg::{Anchor, Path, SMALL, dot, group, text, text_width};
use super::{Key, Picture, Words};
use crate::markup::Element;

const HEIGHT: f64 = 260.0;
const SEEN: &str = "← seen";

/// The numbers of a chart of draws.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Draws {
    /// Words on the chart.
    pub words: Words,
    /// The true sequence at steps 1, 2, …, seen and unseen; a value that is not finite is a gap.
    pub truth: Vec<f64>,
    /// How many of its first steps the model has seen.
    pub seen: usize,
    /// The draws; each ends at the last step of the truth, and may begin anywhere.
    pub draws: Vec<Vec<f64>>,
    /// Vertical range; by default what the data need.
    pub y_range: Option<Range>,
}

impl Draws {
    /// Draws the chart.
    pub fn draw(&self) -> Picture {
        let draws: Vec<_> = self.draws.iter().map(|draw| self.ending_last(draw)).collect();
        let truth = self.ending_last(&self.truth);
        let Some((x, needed)) = ranges(draws.iter().flatten().chain(&truth).copied()) else {
            return no_data(&self.words, HEIGHT);
        };
        let layout = Layout {
            words: &self.words,
            height: HEIGHT,
            x: Range { low: x.low.min(0.0), high: x.high },
            x_spacing: Spacing::Linear,
            y: self.y_range.unwrap_or(needed.padded(0.04)),
            y_spacing: Spacing::Linear,
        };
        let frame = Frame::new(layout);
        let mut data = self.shade(&frame);
        data.push(
            group("draws").children(draws.iter().map(|d| Path::through(&frame.all(d)).element("draw"))),
        );
        data.push(Path::through(&frame.all(&truth)).element("truth dotted"));
        let seen = truth.iter().take(self.seen).filter_map(|p| frame.at(*p));
        data.extend(seen.map(|p| dot(p, 2.2).class("observed")));
        frame.picture(data, self.labels(&frame), keys())
    }

    /// (step, value) of a series whose last value belongs to the last step.
    fn ending_last(&self, values: &[f64]) -> Vec<(f64, f64)> {
        let first = 1.0 + self.truth.len() as f64 - values.len() as f64;
        values.iter().enumerate().map(|(i, v)| (first + i as f64, *v)).collect()
    }

    /// Where the unseen begins, half a step after the last seen one.
    fn boundary(&self, frame: &Frame) -> Option<f64> {
        let at = frame.x.at(self.seen as f64 + 0.5)?;
        (self.seen > 0).then_some(at.min(frame.edges.right))
    }

    fn shade(&self, frame: &Frame) -> Vec<Element> {
        let edges = frame.edges;
        let rect = |boundary: f64| {
            Element::new("rect")
                .class("seen")
                .set_number("x", edges.left)
                .set_number("y", edges.top)
                .set_number("width", (boundary - edges.left).max(0.0))
                .set_number("height", edges.bottom - edges.top)
        };
        self.boundary(frame).map(rect).into_iter().collect()
    }

    /// Beside the shade, where outputs seldom reach the top.
    fn labels(&self, frame: &Frame) -> Vec<Element> {
        let edges = frame.edges;
        let label = |at: f64| text((at + 5.0, edges.top + 4.0), Anchor::Start, SEEN).class("note");
        let fits = |at: &f64| at + 5.0 + text_width(SEEN, SMALL) < edges.right;
        self.boundary(frame).filter(fits).map(label).into_iter().collect()
    }
}

fn keys() -> Vec<Key> {
    vec![
        Key::dot("observed", "observed"),
        Key::line("truth dotted", "what happened"),
        Key::line("draw", "one draw each"),
    ]
}
