//! The few SVG shapes that the charts are made of, and where their colours come from.

use crate::markup::{Element, number};

/// Average advance of a character of the interface font, in units of the font size. Generous, so that text
/// laid out by this estimate fits with any system font.
const ADVANCE: f64 = 0.58;

/// Size of the small text of a chart.
pub const SMALL: f64 = 12.0;

/// Estimated width of a text in drawing units.
pub fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * ADVANCE
}

/// The text, cut with an ellipsis where it would be wider than `width`.
pub fn fit(text: &str, size: f64, width: f64) -> String {
    let room = (width / (size * ADVANCE)).max(1.0) as usize;
    if text.chars().count() <= room {
        return text.into();
    }
    let kept: String = text.chars().take(room.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Where a text stands relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins at the point.
    Start,
    /// The text is centred on the point.
    Middle,
    /// The text ends at the point.
    End,
}

/// A text with its baseline at a point.
pub fn text(at: (f64, f64), anchor: Anchor, content: impl Into<String>) -> Element {
    let element = Element::new("text").set_number("x", at.0).set_number("y", at.1);
    match anchor {
        Anchor::Start => element,
        Anchor::Middle => element.set("text-anchor", "middle"),
        Anchor::End => element.set("text-anchor", "end"),
    }
    .text(content)
}

/// A filled circle.
pub fn dot(at: (f64, f64), radius: f64) -> Element {
    Element::new("circle").set_number("cx", at.0).set_number("cy", at.1).set_number("r", radius)
}

/// A group with these classes.
pub fn group(classes: &str) -> Element {
    Element::new("g").class(classes)
}

/// A colour along the page's ramp, 0 to 1; outside values take the nearer end.
pub fn ramp_colour(position: f64) -> String {
    let position = if position.is_finite() { position.clamp(0.0, 1.0) } else { 0.5 };
    let (from, to, share) = match position {
        p if p < 0.5 => ("--ramp-low", "--ramp-middle", p * 200.0),
        p => ("--ramp-middle", "--ramp-high", (p - 0.5) * 200.0),
    };
    format!("color-mix(in oklab,var({from}),var({to}) {}%)", number(share))
}

/// Path data, line by line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Path {
    data: String,
}

impl Path {
    /// One straight line.
    pub fn segment(from: (f64, f64), to: (f64, f64)) -> Self {
        Self::through(&[Some(from), Some(to)])
    }

    /// A line through the points, broken at every `None`. A point alone between two gaps becomes a stroke
    /// of no length, which round line caps show as a dot.
    pub fn through(points: &[Option<(f64, f64)>]) -> Self {
        let mut path = Self::default();
        for run in runs(points) {
            path.push_run(&run);
            if run.len() == 1 {
                path.data.push_str("h0");
            }
        }
        path
    }

    /// The area between two lines, broken where either has a gap.
    pub fn between(lower: &[Option<(f64, f64)>], upper: &[Option<(f64, f64)>]) -> Self {
        let both: Vec<_> = lower.iter().zip(upper).map(|(l, u)| Some((l.as_ref()?, u.as_ref()?))).collect();
        let mut path = Self::default();
        for run in runs(&both) {
            let there = run.iter().map(|(_, upper)| **upper);
            let back = run.iter().rev().map(|(lower, _)| **lower);
            path.push_run(&there.chain(back).collect::<Vec<_>>());
            path.data.push('Z');
        }
        path
    }

    /// Whether nothing would be drawn.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// The `<path>` element.
    pub fn element(self, classes: &str) -> Element {
        Element::new("path").class(classes).set("d", self.data)
    }

    fn push_run(&mut self, run: &[(f64, f64)]) {
        for (i, (x, y)) in run.iter().enumerate() {
            self.data.push(if i == 0 { 'M' } else { 'L' });
            self.data.push_str(&number(*x));
            self.data.push(' ');
            self.data.push_str(&number(*y));
        }
    }
}

/// Maximal stretches without a gap.
fn runs<T: Copy>(points: &[Option<T>]) -> Vec<Vec<T>> {
    points
        .split(Option::is_none)
        .filter(|run| !run.is_empty())
        .map(|run| run.iter().flatten().copied().collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_breaks_the_line_and_a_lone_point_stays_visible() {
        let points = [Some((0.0, 0.0)), Some((1.0, 1.0)), None, Some((3.0, 2.0)), None, None];
        assert_eq!(Path::through(&points).data, "M0 0L1 1M3 2h0");
        assert!(Path::through(&[None, None]).is_empty());
    }

    #[test]
    fn an_area_breaks_where_either_edge_has_a_gap() {
        let lower = [Some((0.0, 0.0)), Some((1.0, 0.0)), None, Some((3.0, 0.0))];
        let upper = [Some((0.0, 2.0)), Some((1.0, 2.0)), Some((2.0, 2.0)), Some((3.0, 2.0))];
        assert_eq!(Path::between(&lower, &upper).data, "M0 2L1 2L1 0L0 0ZM3 2L3 0Z");
    }

    #[test]
    fn long_text_is_cut_within_its_width() {
        let cut = fit("a heading that is much too long", 12.0, 80.0);
        assert!(cut.ends_with('…') && text_width(&cut, 12.0) <= 80.0, "{cut}");
        assert_eq!(fit("short", 12.0, 80.0), "short");
    }

    #[test]
    fn ramp_ends_are_the_ramp_colours() {
        assert_eq!(ramp_colour(-1.0), "color-mix(in oklab,var(--ramp-low),var(--ramp-middle) 0%)");
        assert_eq!(ramp_colour(1.0), "color-mix(in oklab,var(--ramp-middle),var(--ramp-high) 100%)");
        assert!(!ramp_colour(f64::NAN).contains("NaN"));
    }
}
