//! Probability densities as filled curves over one axis.

use super::axes::{Frame, Layout, no_data};
use super::scale::{Range, Spacing, ranges};
use super::svg::{Path, group};
use super::{Key, Picture, Words};
use crate::markup::Element;

const HEIGHT: f64 = 210.0;

/// One density.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DensityCurve {
    /// Name in the legend.
    pub label: String,
    /// (value, density) in increasing order of values; outside them the density is 0.
    pub points: Vec<(f64, f64)>,
}

/// The numbers of a chart of densities.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Densities {
    /// Words on the chart.
    pub words: Words,
    /// The curves; the first six have their own colour.
    pub curves: Vec<DensityCurve>,
}

impl Densities {
    /// Draws the chart; the vertical axis begins at 0.
    pub fn draw(&self) -> Picture {
        let Some((x, y)) = ranges(self.curves.iter().flat_map(|c| c.points.iter().copied())) else {
            return no_data(&self.words, HEIGHT);
        };
        let layout = Layout {
            words: &self.words,
            height: HEIGHT,
            x: x.padded(0.06),
            x_spacing: Spacing::Linear,
            y: Range { low: 0.0, high: if y.high > 0.0 { 1.08 * y.high } else { 1.0 } },
            y_spacing: Spacing::Linear,
        };
        let frame = Frame::new(layout);
        let data = self.curves.iter().enumerate().map(|(i, curve)| curve.draw(i, &frame)).collect();
        let keys = self.curves.iter().enumerate();
        let keys = keys.map(|(i, c)| Key::line(format!("line series-{}", i % 6), &c.label));
        frame.picture(data, Vec::new(), keys.collect())
    }
}

impl DensityCurve {
    /// The area down to 0, and its outline with the jumps at both ends.
    fn draw(&self, index: usize, frame: &Frame) -> Element {
        let ground: Vec<_> = self.points.iter().map(|p| frame.at((p.0, 0.0 * p.1))).collect();
        let outline = frame.all(&self.points);
        let jump = |end: Option<&(f64, f64)>| end.map(|p| frame.at((p.0, 0.0))).into_iter();
        let whole: Vec<_> = jump(self.points.first())
            .chain(outline.iter().copied())
            .chain(jump(self.points.last()))
            .collect();
        group(&format!("density series-{}", index % 6))
            .child(Path::between(&ground, &outline).element("area"))
            .child(Path::through(&whole).element("line"))
    }
}
