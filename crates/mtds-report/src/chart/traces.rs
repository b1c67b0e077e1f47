//! Small multiples: many short sequences in a grid, every one a line with its points, all on the same scale.

use super::axes::{headings, no_data, root, top_margin};
use super::scale::{Range, Scale, Tick};
use super::svg::{Anchor, Path, SMALL, dot, fit, group, text, text_width};
use super::{Picture, WIDTH, Words};
use crate::markup::Element;

/// Horizontal gap between cells.
const GUTTER: f64 = 12.0;
/// Room above each cell, with its label.
const LABEL: f64 = 21.0;
/// Room above cells without labels.
const NO_LABEL: f64 = 10.0;
/// A label this close to the side of a cell stays inside it.
const INSIDE: f64 = 9.0;
/// Least height of a cell's plot.
const LOWEST: f64 = 24.0;
/// Size of the labels of cells.
const LABEL_SIZE: f64 = 11.0;

/// One sequence.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Example {
    /// Label above it; may be empty.
    pub label: String,
    /// Values at steps 1, 2, …; one that is not finite is a gap.
    pub values: Vec<f64>,
}

/// The numbers of a grid of sequences.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Traces {
    /// Words on the chart.
    pub words: Words,
    /// The sequences, row by row.
    pub examples: Vec<Example>,
    /// Cells in a row, at least 1.
    pub columns: usize,
    /// Height of a cell's plot in drawing units.
    pub row_height: f64,
    /// Vertical range, e.g. shared with a neighbouring grid; by default what the data need.
    pub y_range: Option<Range>,
}

/// Where cells are, and their scales.
struct Grid {
    columns: usize,
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    /// Room above each cell.
    above: f64,
    times: Range,
    values: Range,
}

impl Traces {
    /// Draws the grid.
    pub fn draw(&self) -> Picture {
        let values = self.examples.iter().flat_map(|e| e.values.iter().copied());
        let Some(needed) = Range::of(values) else {
            return no_data(&self.words, 160.0);
        };
        let grid = self.grid(self.y_range.unwrap_or(needed.padded(0.05)));
        let rows = self.examples.len().div_ceil(grid.columns);
        let bottom = grid.top + rows as f64 * (grid.height + grid.above);
        let height = bottom + if self.words.x.is_empty() { 22.0 } else { 40.0 };
        let cells =
            self.examples.iter().enumerate().map(|(i, example)| grid.cell(i, self.examples.len(), example));
        let middle = 0.5 * (grid.left + WIDTH);
        let svg = root(&self.words, height)
            .children(headings(&self.words))
            .children(cells)
            .child(text((middle, height - 5.0), Anchor::Middle, &self.words.x).class("label"));
        Picture { svg, keys: Vec::new() }
    }

    fn grid(&self, values: Range) -> Grid {
        let longest = self.examples.iter().map(|e| e.values.len()).max().unwrap_or(0);
        let columns = self.columns.max(1);
        let height = self.row_height.max(LOWEST);
        let labels = y_ticks(values, height).into_iter().map(|t| text_width(&t.label, SMALL));
        let left = labels.fold(0.0, f64::max) + 8.0;
        Grid {
            columns,
            left,
            top: top_margin(&self.words) - 8.0,
            width: (WIDTH - left - 8.0 - GUTTER * (columns - 1) as f64) / columns as f64,
            height,
            above: if self.examples.iter().all(|e| e.label.is_empty()) { NO_LABEL } else { LABEL },
            times: Range { low: 0.0, high: longest.max(1) as f64 },
            values,
        }
    }
}

impl Grid {
    /// Cell number `index` of `count`, with the axes that its place asks for: values left, times below.
    fn cell(&self, index: usize, count: usize, example: &Example) -> Element {
        let (row, column) = (index / self.columns, index % self.columns);
        let left = self.left + column as f64 * (self.width + GUTTER);
        let top = self.top + self.above + row as f64 * (self.height + self.above);
        let (right, bottom) = (left + self.width, top + self.height);
        let x = Scale::linear(self.times, (left, right));
        let y = Scale::linear(self.values, (bottom, top));
        let mut cell = group("trace");
        for tick in y_ticks(self.values, self.height) {
            let Some(at) = y.at(tick.value) else { continue };
            cell = cell.child(Path::segment((left, at), (right, at)).element("grid"));
            if column == 0 {
                cell = cell.child(text((left - 6.0, at + 0.35 * SMALL), Anchor::End, tick.label));
            }
        }
        cell = cell.child(Path::segment((left, bottom), (right, bottom)).element("axis"));
        if index + self.columns >= count {
            cell = cell.children(self.time_labels(x, left, bottom));
        }
        cell.children(self.line(example, x, y)).children(cell_label(example, (left, top), self.width))
    }

    fn line(&self, example: &Example, x: Scale, y: Scale) -> Vec<Element> {
        let place = |(i, v): (usize, &f64)| Some((x.at((i + 1) as f64)?, y.at(*v)?));
        let places: Vec<_> = example.values.iter().enumerate().map(place).collect();
        // Points must not touch: where steps are close, they shrink.
        let step = self.width / self.times.span();
        let radius = (0.42 * step).clamp(0.55, 1.9);
        let mut out = vec![Path::through(&places).element("trace-line")];
        out.extend(places.into_iter().flatten().map(|p| dot(p, radius).class("trace-dot")));
        out
    }

    /// Labels at the sides keep out of the neighbouring cells.
    fn time_labels(&self, x: Scale, left: f64, bottom: f64) -> Vec<Element> {
        let ticks = x.ticks(((self.width / 42.0) as usize).clamp(1, 8));
        let anchor = |at: f64| match at - left {
            inside if inside > self.width - INSIDE => Anchor::End,
            inside if inside < INSIDE => Anchor::Start,
            _ => Anchor::Middle,
        };
        let placed = ticks.into_iter().filter_map(|t| Some((x.at(t.value)?, t.label)));
        placed.map(|(at, label)| text((at, bottom + 15.0), anchor(at), label)).collect()
    }
}

fn y_ticks(values: Range, height: f64) -> Vec<Tick> {
    Scale::linear(values, (0.0, height)).ticks(((height / 18.0) as usize).clamp(2, 5))
}

fn cell_label(example: &Example, (left, top): (f64, f64), width: f64) -> Option<Element> {
    let label = fit(&example.label, LABEL_SIZE, width);
    (!label.is_empty()).then(|| text((left, top - 4.0), Anchor::Start, label).class("note"))
}
