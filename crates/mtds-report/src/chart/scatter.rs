//! A map of points, such as codes: coloured along the ramp, some labelled, with a path drawn over it.

use super::axes::{Frame, Layout, bottom_margin, no_data, top_margin};
use super::scale::{Range, Spacing, ranges, short_number};
use super::svg::{Anchor, Path, SMALL, dot, ramp_colour, text, text_width};
use super::{Key, Picture, WIDTH, Words};
use crate::markup::Element;

const HEIGHT: f64 = 300.0;
const RADIUS: f64 = 4.0;

/// One point of a map.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Point {
    /// Position (x, y); drawn only if both are finite.
    pub at: (f64, f64),
    /// Name, which a reader sees when the pointer rests on it; may be empty.
    pub name: String,
    /// Text beside it, where there is room; may be empty.
    pub label: String,
    /// Value that sets the colour; not finite means no colour.
    pub value: f64,
    /// Which of the groups it belongs to; then its colour is the group's.
    pub group: Option<usize>,
}

/// The numbers of a map.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scatter {
    /// Words on the chart.
    pub words: Words,
    /// The points.
    pub points: Vec<Point>,
    /// What the colour stands for, with its unit; empty if colours mean nothing.
    pub colour: String,
    /// Names of groups of points; the first six have their own colour.
    pub groups: Vec<String>,
    /// A path over the map, its colour moving along the ramp from the first point to the last; may be empty.
    pub path: Vec<(f64, f64)>,
    /// What the path is, for the legend.
    pub path_label: String,
}

impl Scatter {
    /// Draws the map; one unit is as long down as across, so that distances can be compared.
    pub fn draw(&self) -> Picture {
        let Some((x, y)) = ranges(self.points.iter().map(|p| p.at).chain(self.path.iter().copied())) else {
            return no_data(&self.words, HEIGHT);
        };
        let (x, y) = self.equal_units(x.padded(0.06), y.padded(0.06));
        let layout = Layout {
            words: &self.words,
            height: HEIGHT,
            x,
            x_spacing: Spacing::Linear,
            y,
            y_spacing: Spacing::Linear,
        };
        let frame = Frame::new(layout);
        let mut data = self.draw_points(&frame);
        data.extend(self.draw_path(&frame));
        let labels = self.draw_labels(&frame);
        frame.picture(data, labels, self.keys())
    }

    /// Widens the range whose units would be longer.
    fn equal_units(&self, x: Range, y: Range) -> (Range, Range) {
        let width = WIDTH - 48.0;
        let height = HEIGHT - top_margin(&self.words) - bottom_margin(&self.words);
        let unit = (x.span() / width).max(y.span() / height);
        (x.with_span(unit * width), y.with_span(unit * height))
    }

    fn values(&self) -> Option<Range> {
        Range::of(self.points.iter().map(|p| p.value))
    }

    fn draw_points(&self, frame: &Frame) -> Vec<Element> {
        let range = self.values();
        let colour = |value: f64| match range {
            Some(range) if value.is_finite() => ramp_colour((value - range.low) / range.span()),
            _ => "var(--point)".into(),
        };
        self.points
            .iter()
            .filter_map(|p| Some((frame.at(p.at)?, p)))
            .map(|(at, p)| {
                let mark = match p.group {
                    Some(group) => dot(at, RADIUS).class(group_classes(group)),
                    None => dot(at, RADIUS).class("point").set("style", format!("fill:{}", colour(p.value))),
                };
                let name = if p.name.is_empty() { &p.label } else { &p.name };
                mark.children((!name.is_empty()).then(|| Element::new("title").text(name)))
            })
            .collect()
    }

    /// The path as a line with a dot at every point, larger at both ends.
    fn draw_path(&self, frame: &Frame) -> Vec<Element> {
        let places = frame.all(&self.path);
        let last = places.len().saturating_sub(1);
        let dots = places.iter().enumerate().filter_map(|(i, place)| {
            let radius = if i == 0 || i == last { RADIUS + 2.0 } else { RADIUS };
            let colour = ramp_colour(i as f64 / last.max(1) as f64);
            Some(dot((*place)?, radius).class("path-dot").set("style", format!("fill:{colour}")))
        });
        let mut out =
            vec![Path::through(&places).element("path-halo"), Path::through(&places).element("path")];
        out.extend(dots);
        out
    }

    /// Labels never cover each other or the path; among the places left they take the one over the fewest
    /// points. Where none is left the point stays unlabelled, but its title still names it.
    fn draw_labels(&self, frame: &Frame) -> Vec<Element> {
        let mut taken: Vec<Area> = frame.all(&self.path).into_iter().flatten().map(Area::around).collect();
        let points: Vec<Area> = self.points.iter().filter_map(|p| frame.at(p.at)).map(Area::around).collect();
        let mut out = Vec::new();
        for point in self.points.iter().filter(|p| !p.label.is_empty()) {
            let Some(at) = frame.at(point.at) else { continue };
            let free = places(at, text_width(&point.label, SMALL))
                .into_iter()
                .filter(|place| place.area.within(frame) && !taken.iter().any(|a| a.overlaps(&place.area)));
            let covered = |place: &Place| points.iter().filter(|p| p.overlaps(&place.area)).count();
            if let Some(place) = free.min_by_key(covered) {
                taken.push(place.area);
                out.push(text(place.at, place.anchor, &point.label).class("point-label"));
            }
        }
        out
    }

    fn keys(&self) -> Vec<Key> {
        let named = self.groups.iter().enumerate();
        let mut keys: Vec<Key> = named.map(|(i, name)| Key::dot(group_classes(i), name)).collect();
        if let (Some(range), false) = (self.values(), self.colour.is_empty()) {
            let decimals = (1.0 - range.span().log10().floor()).clamp(0.0, 6.0) as usize;
            let ends = [range.low, range.high].map(|v| short_number(v, decimals));
            keys.push(Key::ramp(format!("{}, {} to {}", self.colour, ends[0], ends[1])));
        }
        if !self.path.is_empty() && !self.path_label.is_empty() {
            keys.push(Key::ramp(&self.path_label));
        }
        keys
    }
}

fn group_classes(group: usize) -> String {
    format!("dot series-{}", group % 6)
}

/// A rectangle that something occupies.
#[derive(Debug, Clone, Copy)]
struct Area {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Area {
    /// The square around a dot.
    fn around(at: (f64, f64)) -> Self {
        Self { left: at.0 - RADIUS, right: at.0 + RADIUS, top: at.1 - RADIUS, bottom: at.1 + RADIUS }
    }

    fn overlaps(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn within(&self, frame: &Frame) -> bool {
        self.left >= frame.edges.left
            && self.right <= WIDTH
            && self.top >= frame.edges.top - 8.0
            && self.bottom <= frame.edges.bottom
    }
}

/// Where a label can stand.
#[derive(Debug, Clone, Copy)]
struct Place {
    anchor: Anchor,
    at: (f64, f64),
    area: Area,
}

/// Right of a point, left of it, above, below.
fn places(at: (f64, f64), width: f64) -> [Place; 4] {
    let gap = RADIUS + 5.0;
    let place = |anchor, x: f64, y: f64| {
        let left = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - 0.5 * width,
            Anchor::End => x - width,
        };
        let area = Area { left, right: left + width, top: y - 0.8 * SMALL, bottom: y + 0.25 * SMALL };
        Place { anchor, at: (x, y), area }
    };
    [
        place(Anchor::Start, at.0 + gap, at.1 + 0.35 * SMALL),
        place(Anchor::End, at.0 - gap, at.1 + 0.35 * SMALL),
        place(Anchor::Middle, at.0, at.1 - gap),
        place(Anchor::Middle, at.0, at.1 + gap + 0.7 * SMALL),
    ]
}
