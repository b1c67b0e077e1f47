//! Do the intervals hold: the share of truths that fell inside, against the share that should.

use super::axes::{Frame, Layout, no_data};
use super::scale::{Range, Spacing};
use super::svg::{Path, dot, group};
use super::{Key, Picture, Words};
use crate::markup::Element;

const HEIGHT: f64 = 300.0;
/// Horizontal distance between series, so that their error bars do not hide each other.
const DODGE: f64 = 7.0;

/// One nominal level.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct CoveragePoint {
    /// Nominal coverage, 0 to 1.
    pub nominal: f64,
    /// Share of truths inside the interval, 0 to 1.
    pub empirical: f64,
    /// Standard error of that share.
    pub std_err: f64,
}

/// Levels measured under one condition, e.g. after 20 observations.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
pub struct CoverageSeries {
    /// Name in the legend.
    pub label: String,
    /// The levels.
    pub points: Vec<CoveragePoint>,
}

/// The numbers of a coverage chart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Coverage {
    /// Words on the chart; its axes are in per cent.
    pub words: Words,
    /// One series per condition.
    pub series: Vec<CoverageSeries>,
}

impl Coverage {
    /// Draws the chart; error bars are two standard errors long each way.
    pub fn draw(&self) -> Picture {
        let mut points = self.series.iter().flat_map(|s| &s.points);
        if !points.any(|p| p.nominal.is_finite() && p.empirical.is_finite()) {
            return no_data(&self.words, HEIGHT);
        }
        let percent = Range { low: 0.0, high: 100.0 };
        let layout = Layout {
            words: &self.words,
            height: HEIGHT,
            x: percent,
            x_spacing: Spacing::Linear,
            y: percent,
            y_spacing: Spacing::Linear,
        };
        let frame = Frame::new(layout);
        let ideal = Path::through(&frame.all(&[(0.0, 0.0), (100.0, 100.0)])).element("line dashed ideal");
        let middle = 0.5 * self.series.len().saturating_sub(1) as f64;
        let groups =
            self.series.iter().enumerate().map(|(i, s)| s.draw(i, DODGE * (i as f64 - middle), &frame));
        let data = std::iter::once(ideal).chain(groups).collect();
        frame.picture(data, Vec::new(), self.keys())
    }

    fn keys(&self) -> Vec<Key> {
        let mut keys: Vec<_> = self
            .series
            .iter()
            .enumerate()
            .map(|(i, s)| Key::dot(format!("dot series-{}", i % 6), &s.label))
            .collect();
        keys.push(Key::line("line dashed ideal", "ideal"));
        keys
    }
}

impl CoverageSeries {
    fn draw(&self, index: usize, shift: f64, frame: &Frame) -> Element {
        let mut out = group(&format!("series-{}", index % 6));
        for point in &self.points {
            let Some(at) = frame.at((100.0 * point.nominal, 100.0 * point.empirical)) else { continue };
            let x = at.0 + shift;
            let reach = if point.std_err.is_finite() { 200.0 * point.std_err } else { 0.0 };
            let ends = [-reach, reach].map(|r| frame.y.at((100.0 * point.empirical + r).clamp(0.0, 100.0)));
            if let [Some(low), Some(high)] = ends {
                out = out.child(Path::segment((x, low), (x, high)).element("error-bar"));
            }
            out = out.child(dot((x, at.1), 4.0).class("dot"));
        }
        out
    }
}
