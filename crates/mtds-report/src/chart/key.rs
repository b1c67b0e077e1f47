//! The legend: one small sample and a label per kind of mark.

use super::svg::{Path, dot, ramp_colour};
use crate::markup::Element;

/// How a kind of mark looks.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// A line with these classes.
    Line(String),
    /// A line with these classes and a dot on it with those.
    DottedLine(String, String),
    /// A dot with these classes.
    Dot(String),
    /// A filled area with this colour.
    Area(String),
    /// A strip through the whole colour ramp.
    Ramp,
}

/// One entry of a legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// The sample.
    pub mark: Mark,
    /// What it stands for.
    pub label: String,
}

impl Key {
    /// A key for a line with these classes.
    pub fn line(classes: impl Into<String>, label: impl Into<String>) -> Self {
        Self { mark: Mark::Line(classes.into()), label: label.into() }
    }

    /// A key for a dot with these classes.
    pub fn dot(classes: impl Into<String>, label: impl Into<String>) -> Self {
        Self { mark: Mark::Dot(classes.into()), label: label.into() }
    }

    /// A key for an area of this colour.
    pub fn area(colour: impl Into<String>, label: impl Into<String>) -> Self {
        Self { mark: Mark::Area(colour.into()), label: label.into() }
    }

    /// A key for the colour ramp.
    pub fn ramp(label: impl Into<String>) -> Self {
        Self { mark: Mark::Ramp, label: label.into() }
    }

    /// The legend entry: sample, then label.
    pub fn item(&self) -> Element {
        let sample = Element::new("svg")
            .class("chart key")
            .set("viewBox", "0 0 24 12")
            .set("width", "24")
            .set("height", "12")
            .set("aria-hidden", "true")
            .children(self.sample());
        Element::new("li").child(sample).text(&self.label)
    }

    fn sample(&self) -> Vec<Element> {
        match &self.mark {
            Mark::Line(classes) => vec![Path::segment((1.0, 6.0), (23.0, 6.0)).element(classes)],
            Mark::DottedLine(line, classes) => {
                vec![
                    Path::segment((1.0, 6.0), (23.0, 6.0)).element(line),
                    dot((12.0, 6.0), 3.0).class(classes),
                ]
            }
            Mark::Dot(classes) => vec![dot((12.0, 6.0), 3.5).class(classes)],
            Mark::Area(colour) => vec![block(1.0, 22.0, colour)],
            Mark::Ramp => {
                (0..8).map(|i| block(3.0 * f64::from(i), 3.1, &ramp_colour(f64::from(i) / 7.0))).collect()
            }
        }
    }
}

fn block(x: f64, width: f64, colour: &str) -> Element {
    Element::new("rect")
        .set_number("x", x)
        .set("y", "1")
        .set_number("width", width)
        .set("height", "10")
        .set("style", format!("fill:{colour}"))
}
