//! A fan chart: what was seen, what was forecast with nested intervals, and what really happened.

use super::axes::{Frame, Layout, no_data};
use super::scale::{Range, Spacing, ranges};
use super::svg::{Anchor, Path, SMALL, dot, text, text_width};
use super::{Key, Picture, Words};
use crate::markup::Element;

const HEIGHT: f64 = 250.0;

/// A central interval over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// Nominal coverage, 0 to 1.
    pub level: f64,
    /// Lower edge, one value per forecast step.
    pub lower: Vec<f64>,
    /// Upper edge, one value per forecast step.
    pub upper: Vec<f64>,
}

/// What the line in the middle of a fan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Centre {
    /// The median of the forecast.
    #[default]
    Median,
    /// Its mean.
    Mean,
}

/// How what really happened is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TruthStroke {
    /// A plain line.
    #[default]
    Plain,
    /// A dotted line, which hides less of the fan.
    Dotted,
}

/// The numbers of a fan chart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fan {
    /// Words on the chart.
    pub words: Words,
    /// Observations that the forecast was made from, (time, value).
    pub observed: Vec<(f64, f64)>,
    /// What happened after, (time, value).
    pub truth: Vec<(f64, f64)>,
    /// Times of the forecast.
    pub times: Vec<f64>,
    /// Central intervals, in any order; each has one value per time.
    pub bands: Vec<Band>,
    /// Line in the middle, one value per time.
    pub centre: Vec<f64>,
    /// What that line is.
    pub centre_is: Centre,
    /// How the truth is drawn.
    pub truth_stroke: TruthStroke,
    /// Vertical range shared with neighbouring charts; by default what the data need.
    pub y_range: Option<Range>,
}

impl Fan {
    /// Draws the chart.
    pub fn draw(&self) -> Picture {
        let Some((x, needed)) = ranges(self.points()) else {
            return no_data(&self.words, HEIGHT);
        };
        let y = self.y_range.unwrap_or(needed.padded(0.04));
        let layout = Layout {
            words: &self.words,
            height: HEIGHT,
            x,
            x_spacing: Spacing::Linear,
            y,
            y_spacing: Spacing::Linear,
        };
        let frame = Frame::new(layout);
        let mut data = self.draw_bands(&frame);
        data.push(Path::through(&frame.all(&self.truth)).element(self.truth_classes()));
        data.push(Path::through(&frame.all(&self.centre_points())).element("centre"));
        data.extend(self.observed.iter().filter_map(|p| frame.at(*p)).map(|p| dot(p, 2.2).class("observed")));
        frame.picture(data, self.draw_start(&frame), self.keys())
    }

    /// The vertical range that shows every value, with a little room; `None` if there is nothing to show.
    pub fn needed_range(&self) -> Option<Range> {
        ranges(self.points()).map(|(_, y)| y.padded(0.04))
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let edges = self.bands.iter().flat_map(|band| [&band.lower, &band.upper]);
        let forecast = edges.chain([&self.centre]).flat_map(|values| self.times.iter().zip(values));
        let seen = self.observed.iter().chain(&self.truth).copied();
        seen.chain(forecast.map(|(t, v)| (*t, *v)))
    }

    fn centre_points(&self) -> Vec<(f64, f64)> {
        self.times.iter().copied().zip(self.centre.iter().copied()).collect()
    }

    fn truth_classes(&self) -> &'static str {
        match self.truth_stroke {
            TruthStroke::Plain => "truth",
            TruthStroke::Dotted => "truth dotted",
        }
    }

    fn draw_bands(&self, frame: &Frame) -> Vec<Element> {
        let edge = |values: &[f64]| -> Vec<_> {
            self.times.iter().zip(values).map(|(t, v)| frame.at((*t, *v))).collect()
        };
        self.widest_first()
            .iter()
            .enumerate()
            .map(|(rank, band)| {
                Path::between(&edge(&band.lower), &edge(&band.upper))
                    .element("band")
                    .set("style", format!("fill:{}", self.band_colour(rank)))
            })
            .collect()
    }

    fn widest_first(&self) -> Vec<&Band> {
        let mut bands: Vec<_> = self.bands.iter().collect();
        bands.sort_by(|a, b| b.level.total_cmp(&a.level));
        bands
    }

    /// Opaque shades, so that the legend shows just what the chart shows.
    fn band_colour(&self, rank: usize) -> String {
        let inward = (rank + 1) as f64 / self.bands.len().max(1) as f64;
        format!("color-mix(in oklab,var(--forecast) {:.0}%,var(--paper))", 6.0 + 42.0 * inward)
    }

    /// The line between past and future, labelled on the side with more room.
    fn draw_start(&self, frame: &Frame) -> Vec<Element> {
        let last_seen = self.observed.iter().map(|p| p.0).filter(|t| t.is_finite()).fold(f64::NAN, f64::max);
        let first = self.times.iter().copied().filter(|t| t.is_finite() && *t > last_seen);
        let Some(at) = frame.x.at(0.5 * (last_seen + first.fold(f64::NAN, f64::min))) else {
            return Vec::new();
        };
        let edges = frame.edges;
        let label = "forecast →";
        let line = Path::segment((at, edges.top - 4.0), (at, edges.bottom)).element("start");
        if at + 5.0 + text_width(label, SMALL) > edges.right {
            return vec![line];
        }
        vec![line, text((at + 5.0, edges.top + 4.0), Anchor::Start, label).class("note")]
    }

    fn keys(&self) -> Vec<Key> {
        let centre = match self.centre_is {
            Centre::Median => "median forecast",
            Centre::Mean => "mean forecast",
        };
        let mut keys = vec![
            Key::dot("observed", "observed"),
            Key::line(self.truth_classes(), "what happened"),
            Key::line("centre", centre),
        ];
        let bands = self.widest_first();
        keys.extend(bands.iter().enumerate().rev().map(|(rank, band)| {
            Key::area(self.band_colour(rank), format!("{:.0}\u{a0}% interval", 100.0 * band.level))
        }));
        keys
    }
}
