//! Several labelled series over one axis, with gaps where values are missing.

use super::axes::{Frame, Layout, no_data};
use super::scale::{Range, Spacing, ranges};
use super::svg::{Path, dot};
use super::{Key, Mark, Picture, Words};
use crate::markup::Element;

const HEIGHT: f64 = 300.0;

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stroke {
    /// A plain line.
    #[default]
    Plain,
    /// A thin, pale line for what is noisy.
    Faint,
    /// A dashed line for a reference.
    Dashed,
    /// A line with a dot at every value.
    Dotted,
}

/// One labelled series.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Name in the legend.
    pub label: String,
    /// Points (x, y) in drawing order; a value that is not finite is a gap.
    pub points: Vec<(f64, f64)>,
    /// How it is drawn.
    pub stroke: Stroke,
}

/// The numbers of a line chart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lines {
    /// Words on the chart.
    pub words: Words,
    /// The series; the first six have their own colour.
    pub series: Vec<Series>,
    /// Spacing of the horizontal axis.
    pub x_spacing: Spacing,
    /// Vertical range, e.g. shared between small multiples; by default what the data need.
    pub y_range: Option<Range>,
}

impl Lines {
    /// Draws the chart.
    pub fn draw(&self) -> Picture {
        let placed = self.points().filter(|p| self.x_spacing == Spacing::Linear || p.0 > 0.0);
        let Some((x, needed)) = ranges(placed) else {
            return no_data(&self.words, HEIGHT);
        };
        let y = self.y_range.unwrap_or(needed.padded(0.04));
        let layout = Layout {
            words: &self.words,
            height: HEIGHT,
            x,
            x_spacing: self.x_spacing,
            y,
            y_spacing: Spacing::Linear,
        };
        let frame = Frame::new(layout);
        let data = self.series.iter().enumerate().flat_map(|(i, s)| s.draw(i, &frame)).collect();
        let keys = self.series.iter().enumerate().map(|(i, s)| s.key(i));
        frame.picture(data, Vec::new(), keys.collect())
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.series.iter().flat_map(|s| s.points.iter().copied())
    }
}

impl Series {
    fn classes(&self, index: usize) -> String {
        let stroke = match self.stroke {
            Stroke::Plain | Stroke::Dotted => "line",
            Stroke::Faint => "line faint",
            Stroke::Dashed => "line dashed",
        };
        format!("{stroke} series-{}", index % 6)
    }

    fn key(&self, index: usize) -> Key {
        let mark = match self.stroke {
            Stroke::Dotted => Mark::DottedLine(self.classes(index), dot_classes(index)),
            _ => Mark::Line(self.classes(index)),
        };
        Key { mark, label: self.label.clone() }
    }

    fn draw(&self, index: usize, frame: &Frame) -> Vec<Element> {
        let places = frame.all(&self.points);
        let mut out = vec![Path::through(&places).element(&self.classes(index))];
        if self.stroke == Stroke::Dotted {
            out.extend(places.into_iter().flatten().map(|p| dot(p, 2.6).class(dot_classes(index))));
        }
        out
    }
}

fn dot_classes(index: usize) -> String {
    format!("dot series-{}", index % 6)
}
