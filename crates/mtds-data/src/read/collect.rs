//! Rows of a file, one after another, taken in by sequence, time and value; nothing else of the file is kept.

use std::collections::HashMap;
use std::path::Path;

use super::cell::{Cell, Value};
use super::entries::{Rows, Runs};
use super::numbers::Numbers;
use super::options::ReadOptions;
use super::roles::{Role, Roles};
use crate::problem::{Place, Problem};
use crate::time::{Time, TimeKind};
use crate::{Error, Result};

/// All rows of a file, in file order.
pub(crate) struct Collector<'a> {
    pub file: &'a Path,
    pub roles: Roles,
    /// The sequences in order of appearance.
    pub series: Vec<Series>,
    /// Times, all of one kind.
    pub times: Times,
    /// The row of the file that each entry comes from.
    pub rows: Rows,
    /// The sequence of each entry.
    pub series_of: Runs,
    /// Values, column by column, a number per entry; NaN where missing.
    pub values: Vec<Numbers<f64, f32>>,
    /// What is known about the content of each value column.
    pub contents: Vec<Content>,
    /// The categories of each value column, in order of appearance; a value is the number of one.
    pub levels: Vec<Vec<String>>,
    /// The first row in which each value column is empty.
    pub missing: Vec<Option<u64>>,
    by_id: HashMap<String, u32>,
}

/// What is known of a sequence before its rows are put in order.
pub(crate) struct Series {
    pub id: String,
    /// The label, and the row that gave it.
    pub label: Option<(String, u64)>,
    pub n_rows: usize,
}

/// What a column holds, as far as it has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// Nothing yet.
    Nothing,
    /// Numbers.
    Numbers,
    /// Categories; only of inputs.
    Categories,
    /// Something else, first in this row; only of columns that nobody named.
    Else {
        /// The row.
        row: u64,
    },
}

/// Times of one kind; integers serve dates, too, as microseconds.
#[derive(Default)]
pub(crate) struct Times {
    /// The kind, from the first time on.
    pub kind: Option<TimeKind>,
    /// For all kinds but numbers.
    pub integers: Numbers<i64>,
    /// For numbers.
    pub numbers: Numbers<f64, f32>,
}

impl<'a> Collector<'a> {
    /// Ready for the rows of a file with these columns.
    pub fn new(file: &'a Path, names: Vec<String>, options: &ReadOptions) -> Result<Self> {
        let roles = Roles::new(file, names, options)?;
        let content = |name: &String| match options.attributes.iter().flatten().find(|of| of.column == *name)
        {
            // What a model knows as categories may look like numbers.
            Some(known) if !known.levels.is_empty() => Content::Categories,
            _ => Content::Nothing,
        };
        let contents: Vec<Content> = roles.values.iter().map(|column| content(&column.name)).collect();
        let n_values = contents.len();
        Ok(Self {
            file,
            roles,
            series: Vec::new(),
            times: Times::default(),
            rows: Rows::default(),
            series_of: Runs::default(),
            values: (0..n_values).map(|_| Numbers::default()).collect(),
            contents,
            levels: vec![vec![]; n_values],
            missing: vec![None; n_values],
            by_id: HashMap::new(),
        })
    }

    /// Takes in a row; `cell(position)` gives its values.
    ///
    /// # Errors
    /// Whatever `cell` fails with, and [`Error::Data`] at the first cell that does not fit.
    pub fn push<'c>(&mut self, row: u64, cell: impl Fn(usize) -> Result<Cell<'c>>) -> Result<()> {
        let series = self.find_series(row, cell(self.roles.series)?)?;
        self.push_time(row, cell(self.roles.time)?)?;
        if let Some(at) = self.roles.label {
            self.take_label(row, series, cell(at)?)?;
        }
        for column in 0..self.roles.values.len() {
            let found = cell(self.roles.values[column].position)?;
            let value = self.value(row, column, found)?;
            self.values[column].push(value);
        }
        self.rows.push(row);
        self.series_of.push(series, 1);
        self.series[series as usize].n_rows += 1;
        Ok(())
    }

    /// The number of the sequence with this name, a new one if need be.
    pub(super) fn find_series(&mut self, row: u64, cell: Cell<'_>) -> Result<u32> {
        if cell.is_empty() {
            return Err(self.error(row, self.roles.series, Problem::MissingSeries));
        }
        self.check_name(row, self.roles.series, cell)?;
        cell.with_text(|id| {
            // Files are mostly sorted by sequence, so the one before is mostly right.
            if let Some(last) = self.series_of.last()
                && self.series[last as usize].id == id
            {
                return Ok(last);
            }
            if let Some(&known) = self.by_id.get(id) {
                return Ok(known);
            }
            let new = self.series.len() as u32;
            self.by_id.insert(id.into(), new);
            self.series.push(Series { id: id.into(), label: None, n_rows: 0 });
            Ok(new)
        })
    }

    pub(super) fn push_time(&mut self, row: u64, cell: Cell<'_>) -> Result<()> {
        let Some((time, kind)) = cell.time() else {
            return Err(self.error(row, self.roles.time, Problem::BadTime { found: cell.shown() }));
        };
        let known = self.times.kind.unwrap_or(kind);
        let Some(common) = known.common(kind) else {
            let first_row = if self.rows.is_empty() { row } else { self.rows.get(0) };
            let found = format!("{}, `{}`", kind.describe(), cell.shown());
            let problem = Problem::MixedTimes { expected: known.describe(), first_row, found };
            return Err(self.error(row, self.roles.time, problem));
        };
        self.times.push(time, common);
        Ok(())
    }

    /// Labels must agree; rows may leave them out.
    pub(super) fn take_label(&mut self, row: u64, series: u32, cell: Cell<'_>) -> Result<()> {
        if cell.is_empty() {
            return Ok(());
        }
        self.check_name(row, self.roles.label.unwrap_or_default(), cell)?;
        let series = &mut self.series[series as usize];
        match &series.label {
            None => series.label = Some((cell.with_text(str::to_string), row)),
            Some((label, _)) if cell.with_text(|text| text == label) => {}
            Some((label, first_row)) => {
                let problem = Problem::LabelDiffers {
                    series: series.id.clone(),
                    expected: label.clone(),
                    first_row: *first_row,
                    found: cell.shown(),
                };
                let at = self.roles.label.unwrap_or_default();
                return Err(self.error(row, at, problem));
            }
        }
        Ok(())
    }

    /// Whether a cell can be a name: what has no text of its own would be the same one in every row.
    fn check_name(&self, row: u64, position: usize, cell: Cell<'_>) -> Result<()> {
        match cell {
            Cell::Other(found) => {
                Err(self.error(row, position, Problem::NotAName { found: found.to_owned() }))
            }
            _ => Ok(()),
        }
    }

    /// The number in a cell, NaN where it is missing or its column is not of numbers.
    pub(super) fn value(&mut self, row: u64, column: usize, cell: Cell<'_>) -> Result<f64> {
        if matches!(self.contents[column], Content::Else { .. }) {
            return Ok(f64::NAN);
        }
        let ValueColumnRef { position, role } = self.column(column);
        match cell.value() {
            Value::Finite(_) | Value::Infinite | Value::Other if self.holds_categories(column, cell) => {
                self.contents[column] = Content::Categories;
                Ok(cell.with_text(|text| self.level(column, text.trim())))
            }
            Value::Finite(value) => {
                self.contents[column] = Content::Numbers;
                Ok(value)
            }
            Value::Missing => {
                self.missing[column] = self.missing[column].or(Some(row));
                Ok(f64::NAN)
            }
            Value::Infinite => Err(self.error(row, position, Problem::NotFinite { found: cell.shown() })),
            Value::Other if role == Role::OutputIfNumeric && self.contents[column] == Content::Nothing => {
                self.contents[column] = Content::Else { row };
                Ok(f64::NAN)
            }
            Value::Other => Err(self.error(row, position, cell.not_a_number())),
        }
    }

    /// Whether a column is of categories: an input that begins with text, or that a model knows as such.
    fn holds_categories(&self, column: usize, cell: Cell<'_>) -> bool {
        match self.contents[column] {
            Content::Categories => true,
            Content::Nothing => {
                self.roles.values[column].role == Role::Input
                    && matches!(cell, Cell::Text(_))
                    && cell.value() == Value::Other
            }
            _ => false,
        }
    }

    /// The number of a category.
    fn level(&mut self, column: usize, text: &str) -> f64 {
        let levels = &mut self.levels[column];
        let at = levels.iter().position(|level| level == text).unwrap_or_else(|| {
            levels.push(text.to_owned());
            levels.len() - 1
        });
        at as f64
    }

    fn column(&self, column: usize) -> ValueColumnRef {
        let column = &self.roles.values[column];
        ValueColumnRef { position: column.position, role: column.role }
    }

    fn error(&self, row: u64, position: usize, problem: Problem) -> Error {
        Error::data(self.file, Place::cell(row, &self.roles.names[position]), problem)
    }
}

/// The two small fields of a value column, free of its borrow.
struct ValueColumnRef {
    position: usize,
    role: Role,
}

impl Times {
    /// Adds a time of a kind that `kind` can hold; earlier ones become of that kind.
    fn push(&mut self, time: Time, kind: TimeKind) {
        if kind == TimeKind::Number && self.kind == Some(TimeKind::Integer) {
            let integers = std::mem::take(&mut self.integers);
            self.numbers.extend(integers.iter().map(|time| time as f64));
        }
        self.kind = Some(kind);
        match time {
            Time::Number(time) => self.numbers.push(time),
            Time::Integer(time) if kind == TimeKind::Number => self.numbers.push(time as f64),
            Time::Integer(time) | Time::Micros(time) => self.integers.push(time),
        }
    }

    /// The time of an entry.
    pub fn get(&self, entry: usize) -> Time {
        match self.kind {
            Some(TimeKind::Number) => Time::Number(self.numbers.get(entry)),
            Some(TimeKind::Integer) | None => Time::Integer(self.integers.get(entry)),
            Some(_) => Time::Micros(self.integers.get(entry)),
        }
    }

    /// The time of an entry, written out.
    pub fn format(&self, entry: usize) -> String {
        self.get(entry).format(self.kind.unwrap_or(TimeKind::Integer))
    }
}
