//! A drawing of straight strokes in colours of their own, such as a row of poses.

use super::Picture;
use crate::markup::{Element, number};

/// One straight stroke.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StraightStroke {
    /// Both ends, as (x, y).
    pub ends: [[f64; 2]; 2],
    /// Its colour, which must show on light and dark pages.
    pub colour: &'static str,
    /// Its width.
    pub width: f64,
}

/// Draws strokes on a plane of this size, those of one colour and width as one path; `label` says what is to be seen.
pub fn drawing(label: &str, size: [f64; 2], strokes: impl IntoIterator<Item = StraightStroke>) -> Picture {
    let mut groups: Vec<(&'static str, f64, String)> = Vec::new();
    for StraightStroke { ends, colour, width } in strokes {
        let [[x1, y1], [x2, y2]] = ends.map(|end| end.map(number));
        let piece = format!("M{x1} {y1}L{x2} {y2}");
        match groups.iter_mut().find(|(other, of_other, _)| *other == colour && *of_other == width) {
            Some((_, _, path)) => path.push_str(&piece),
            None => groups.push((colour, width, piece)),
        }
    }
    let path = |(colour, width, path): (&'static str, f64, String)| {
        let stroke = Element::new("path").set("d", path).set("fill", "none").set("stroke", colour);
        stroke.set_number("stroke-width", width).set("stroke-linecap", "round")
    };
    let [width, height] = size.map(number);
    let svg = Element::new("svg")
        .set("viewBox", format!("0 0 {width} {height}"))
        .set("role", "img")
        .set("aria-label", label)
        .children(groups.into_iter().map(path));
    Picture { svg, keys: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strokes_of_one_kind_are_one_path() {
        let stroke = |x: f64, colour| StraightStroke { ends: [[x, 0.0], [x, 5.0]], colour, width: 2.0 };
        let picture =
            drawing("Poses", [10.0, 5.0], [stroke(1.0, "#111"), stroke(2.0, "#222"), stroke(3.0, "#111")]);
        let svg = picture.svg.render();
        assert_eq!(svg.matches("<path").count(), 2, "{svg}");
        assert!(svg.contains("M1 0L1 5M3 0L3 5") && svg.contains("Poses"), "{svg}");
    }
}
