//! Marks in clusters: where each group stands within each cluster, what all cluster charts have in common.

use super::axes::{Edges, Frame, Layout};
use super::scale::{Range, Spacing, Tick};
use super::svg::{Anchor, Path, text};
use super::{Key, WIDTH, Words};
use crate::markup::{Element, number};

/// Share of a cluster that marks may fill; the rest keeps clusters apart.
const FILLED: f64 = 0.8;
/// Share of its place that a mark fills.
const MARK: f64 = 0.84;
/// Widest a mark becomes, each way, in drawing units.
const WIDEST: f64 = 15.0;

/// A horizontal line to compare with.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reference {
    /// Where.
    pub value: f64,
    /// What it is, for the legend.
    pub label: String,
}

/// Clusters along the horizontal axis, each with a place for every group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clusters {
    /// How many clusters.
    pub n_clusters: usize,
    /// How many groups in each.
    pub n_groups: usize,
}

impl Clusters {
    /// A frame with the clusters' names along its axis.
    pub fn frame<'a>(
        &self,
        words: &'a Words,
        height: f64,
        (y, y_spacing): (Range, Spacing),
        names: &[String],
    ) -> Frame<'a> {
        let x = Range { low: 0.0, high: self.n_clusters.max(1) as f64 };
        let tick = |(i, name): (usize, &String)| Tick { value: i as f64 + 0.5, label: name.clone() };
        Frame::new(Layout { words, height, x, x_spacing: Spacing::Linear, y, y_spacing })
            .with_names(names.iter().enumerate().map(tick).collect())
    }

    /// Middle and half width of a group's place, in drawing units.
    pub fn place(&self, cluster: usize, group: usize, edges: Edges) -> (f64, f64) {
        let width = (edges.right - edges.left) / self.n_clusters.max(1) as f64;
        let slot = FILLED * width / self.n_groups.max(1) as f64;
        let half = (0.5 * MARK * slot).min(WIDEST);
        // Few narrow groups stand close together, so that a cluster is seen as one.
        let slot = slot.min(3.0 * WIDEST);
        let middle = edges.left + (cluster as f64 + 0.5) * width;
        (middle + slot * (group as f64 + 0.5 - 0.5 * self.n_groups as f64), half)
    }
}

/// The lines to compare with, and their keys.
pub fn draw_references(references: &[Reference], frame: &Frame) -> (Vec<Element>, Vec<Key>) {
    let known = references.iter().enumerate().filter_map(|(i, r)| Some((i, frame.y.at(r.value)?, &r.label)));
    known
        .map(|(i, at, label)| {
            let classes = format!("reference-{}", i % 2);
            let line = Path::segment((frame.edges.left, at), (frame.edges.right, at)).element(&classes);
            (line, Key::line(classes, label))
        })
        .unzip()
}

/// A triangle at the edge beyond which a mark goes on; nothing if it ends inside.
pub fn beyond(middle: f64, ends: (f64, f64), edges: Edges) -> Vec<Element> {
    let triangle = |edge: f64, tip: f64| {
        let points = [(middle - 4.0, edge), (middle + 4.0, edge), (middle, tip)];
        let points = points.map(|(x, y)| format!("{},{}", number(x), number(y))).join(" ");
        Element::new("polygon").class("beyond").set("points", points)
    };
    let (lowest, highest) = (ends.0.max(ends.1), ends.0.min(ends.1));
    let up = (highest < edges.top - 1.0).then(|| triangle(edges.top + 2.0, edges.top - 5.0));
    let down = (lowest > edges.bottom + 1.0).then(|| triangle(edges.bottom - 7.0, edges.bottom));
    up.into_iter().chain(down).collect()
}

/// Remarks on what the picture does not show, flush right beside the label of the vertical axis.
pub fn remark(edges: Edges, words: &str) -> Element {
    text((WIDTH - 2.0, edges.top - 14.0), Anchor::End, words).class("note")
}
