//! A morph as a ridge: traces stacked from one member to another, the colour moving along the path.

use super::axes::{bottom_margin, headings, no_data, root, top_margin};
use super::scale::{Range, Scale};
use super::svg::{Anchor, Path, SMALL, fit, group, ramp_colour, text};
use super::{Key, Picture, WIDTH, Words};
use crate::markup::Element;

/// Distance between the baselines of neighbouring traces.
const SPACING: f64 = 26.0;
/// Height of a trace; more than the spacing, so that neighbours interlock.
const REACH: f64 = 44.0;
/// Room for the names on the left.
const LEFT: f64 = 84.0;

/// One trace of a morph.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
pub struct Trace {
    /// Name at its left; may be empty.
    pub label: String,
    /// How far along the path, 0 to 1.
    pub position: f64,
    /// Values, one per time step; a value that is not finite is a gap.
    pub values: Vec<f64>,
}

/// The numbers of a morph.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Morph {
    /// Words on the chart.
    pub words: Words,
    /// The traces, from the first member to the last, drawn from top to bottom.
    pub traces: Vec<Trace>,
    /// What the colour stands for, in the legend.
    pub colour: String,
}

impl Morph {
    /// Draws the ridge.
    pub fn draw(&self) -> Picture {
        let longest = self.traces.iter().map(|t| t.values.len()).max().unwrap_or(0);
        let Some(values) = Range::of(self.traces.iter().flat_map(|t| t.values.iter().copied())) else {
            return no_data(&self.words, 200.0);
        };
        let times = Range { low: 0.0, high: longest.saturating_sub(1).max(1) as f64 };
        let x = Scale::linear(times, (LEFT, WIDTH - 14.0));
        let first = top_margin(&self.words) + 0.5 * REACH;
        let ridges = self.traces.iter().enumerate().map(|(i, trace)| {
            let middle = first + SPACING * i as f64;
            trace.draw(x, Scale::linear(values, (middle + 0.5 * REACH, middle - 0.5 * REACH)), middle)
        });
        let bottom = first + SPACING * (self.traces.len() - 1) as f64 + 0.5 * REACH + 6.0;
        let height = bottom + bottom_margin(&self.words);
        let svg = root(&self.words, height)
            .children(headings(&self.words))
            .child(self.time_axis(x, bottom))
            .children(ridges);
        let keys = if self.colour.is_empty() { Vec::new() } else { vec![Key::ramp(&self.colour)] };
        Picture { svg, keys }
    }

    fn time_axis(&self, x: Scale, bottom: f64) -> Element {
        let mut axis = group("axes");
        for tick in x.ticks(5) {
            let Some(at) = x.at(tick.value) else { continue };
            axis = axis
                .child(Path::segment((at, top_margin(&self.words)), (at, bottom)).element("grid"))
                .child(text((at, bottom + 17.0), Anchor::Middle, tick.label));
        }
        let middle = 0.5 * (LEFT + WIDTH - 14.0);
        axis.child(Path::segment((LEFT, bottom), (WIDTH - 14.0, bottom)).element("axis"))
            .child(text((middle, bottom + 37.0), Anchor::Middle, &self.words.x).class("label"))
    }
}

impl Trace {
    /// A halo in the paper's colour keeps crossing lines apart.
    fn draw(&self, x: Scale, y: Scale, middle: f64) -> Element {
        let places: Vec<_> =
            self.values.iter().enumerate().map(|(t, v)| Some((x.at(t as f64)?, y.at(*v)?))).collect();
        let colour = ramp_colour(self.position);
        let label = fit(&self.label, SMALL, LEFT - 8.0);
        group("ridge")
            .child(Path::through(&places).element("ridge-halo"))
            .child(Path::through(&places).element("ridge-line").set("style", format!("stroke:{colour}")))
            .child(text((LEFT - 10.0, middle + 0.35 * SMALL), Anchor::End, label).class("ridge-label"))
    }
}
