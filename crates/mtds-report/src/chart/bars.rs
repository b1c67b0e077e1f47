//! Bars over an axis, with a band that they should stay in: histograms and autocorrelations.

use super::axes::{Frame, Layout, no_data};
use super::scale::{Range, Spacing};
use super::svg::Path;
use super::{Key, Picture, Words};
use crate::markup::Element;

const HEIGHT: f64 = 250.0;
/// Part of its room that a bar fills.
const FILLED: f64 = 0.86;

/// The numbers of a bar chart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bars {
    /// Words on the chart.
    pub words: Words,
    /// Middles and heights, evenly spaced; a height that is not finite is a gap.
    pub bars: Vec<(f64, f64)>,
    /// Room of a bar along the axis.
    pub width: f64,
    /// Where heights should lie, and what to call that.
    pub expected: Option<(Range, String)>,
}

impl Bars {
    /// Draws the chart; bars begin at zero.
    pub fn draw(&self) -> Picture {
        let heights = self.bars.iter().map(|bar| bar.1).filter(|height| height.is_finite());
        let band = self.expected.iter().flat_map(|(range, _)| [range.low, range.high]);
        let (Some(x), Some(y)) = (
            Range::of(self.bars.iter().flat_map(|bar| [bar.0 - 0.5 * self.width, bar.0 + 0.5 * self.width])),
            Range::of(heights.clone().chain(band).chain([0.0])).filter(|_| heights.count() > 0),
        ) else {
            return no_data(&self.words, HEIGHT);
        };
        let y = Range {
            low: if y.low < 0.0 { y.low - 0.05 * y.span() } else { 0.0 },
            high: y.high + 0.05 * y.span(),
        };
        let layout = Layout {
            words: &self.words,
            height: HEIGHT,
            x,
            x_spacing: Spacing::Linear,
            y,
            y_spacing: Spacing::Linear,
        };
        let frame = Frame::new(layout);
        let mut data: Vec<Element> = self.bars.iter().filter_map(|bar| self.bar(&frame, *bar)).collect();
        let edges = self.expected.iter().flat_map(|(range, _)| [range.low, range.high]);
        data.extend(edges.map(|height| {
            Path::through(&frame.all(&[(x.low, height), (x.high, height)])).element("line dashed ideal")
        }));
        let keys = self.expected.iter().map(|(_, label)| Key::line("line dashed ideal", label)).collect();
        frame.picture(data, Vec::new(), keys)
    }

    fn bar(&self, frame: &Frame, (middle, height): (f64, f64)) -> Option<Element> {
        let half = 0.5 * FILLED * self.width;
        let ((left, top), (right, bottom)) =
            (frame.at((middle - half, height))?, frame.at((middle + half, 0.0))?);
        Some(
            Element::new("rect")
                .class("histogram-bar")
                .set_number("x", left)
                .set_number("y", top.min(bottom))
                .set_number("width", right - left)
                .set_number("height", (bottom - top).abs()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars(heights: &[f64]) -> Bars {
        let bars = heights.iter().enumerate().map(|(i, h)| (i as f64, *h)).collect();
        Bars {
            bars,
            width: 1.0,
            expected: Some((Range { low: -0.2, high: 0.2 }, "chance".into())),
            ..Bars::default()
        }
    }

    #[test]
    fn bars_go_up_and_down_and_gaps_are_left_out() {
        let svg = bars(&[0.5, f64::NAN, -0.4]).draw().svg.render();
        assert_eq!(svg.matches("<rect").count(), 2 + usize::from(svg.contains("clipPath")));
        assert_eq!(svg.matches("line dashed ideal").count(), 2);
    }

    #[test]
    fn nothing_to_draw_says_so() {
        assert!(bars(&[f64::NAN]).draw().svg.render().contains("no data"));
    }
}
