//! Charts as inline SVG: numbers in, a [`Picture`] out.
//!
//! Colours, line styles and fonts come from the page's style sheet through classes and custom properties,
//! so one picture works on a light page, a dark page and on paper. All charts are drawn about 400 units
//! wide, so that their text stays readable from a phone to a wide screen; a page sets several side by side.
//!
//! Values that are not finite are gaps, never coordinates. A chart without a single drawable value says
//! "no data".

mod axes;
pub mod bars;
pub mod boxes;
mod clusters;
pub mod coverage;
pub mod densities;
pub mod drawing;
pub mod draws;
pub mod fan;
mod kernel_density;
mod key;
pub mod lines;
pub mod morph;
mod sample;
pub mod scale;
pub mod scatter;
pub mod svg;
pub mod traces;
pub mod violins;

pub use bars::Bars;
pub use boxes::{BoxGroup, Boxes, Zone};
pub use clusters::Reference;
pub use coverage::{Coverage, CoveragePoint, CoverageSeries};
pub use densities::{Densities, DensityCurve};
pub use drawing::{StraightStroke, drawing};
pub use draws::Draws;
pub use fan::{Band, Centre, Fan, TruthStroke};
pub use key::{Key, Mark};
pub use lines::{Lines, Series, Stroke};
pub use morph::{Morph, Trace};
pub use scale::{Range, Spacing};
pub use scatter::{Point, Scatter};
pub use traces::{Example, Traces};
pub use violins::{ViolinGroup, Violins};

use crate::markup::Element;

/// Width of a picture in drawing units, which are pixels at its natural size.
pub const WIDTH: f64 = 400.0;

/// A drawn chart, and the keys a reader needs to tell its marks apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// The `<svg>` element.
    pub svg: Element,
    /// What each kind of mark means; pictures that stand together share one legend.
    pub keys: Vec<Key>,
}

/// Words on a chart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Words {
    /// Short heading, drawn in the picture; may be empty.
    pub heading: String,
    /// Full description for a reader who cannot see the picture; falls back to the heading.
    pub description: String,
    /// Label of the horizontal axis, with its unit if it has one.
    pub x: String,
    /// Label of the vertical axis, with its unit if it has one.
    pub y: String,
}

impl Words {
    /// Heading and axis labels; the description repeats the heading until [`Words::describe`] says more.
    pub fn new(heading: impl Into<String>, x: impl Into<String>, y: impl Into<String>) -> Self {
        let heading = heading.into();
        Self { description: heading.clone(), heading, x: x.into(), y: y.into() }
    }

    /// Sets the description for readers who cannot see the picture.
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    fn accessible(&self) -> &str {
        if self.description.is_empty() { &self.heading } else { &self.description }
    }
}
