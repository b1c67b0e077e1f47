//! Rows of a batch, taken in column by column: what comes of it is what [`Collector::push`] of one row after the other would give, errors included.

use arrow_array::{Array, ArrowPrimitiveType, PrimitiveArray};

use super::arrow::Values;
use super::collect::{Collector, Content, Times};
use crate::time::TimeKind;
use crate::{Error, Result};

/// A column that was taken in, or the first of its rows that was not, and why.
type Taken = std::result::Result<(), (usize, Error)>;

/// Rows that follow each other.
#[derive(Clone, Copy)]
struct Ahead {
    /// Number of the first in the file.
    first: u64,
    n: usize,
}

impl Ahead {
    fn row(self, index: usize) -> u64 {
        self.first + index as u64
    }
}

impl Collector<'_> {
    /// Takes in `n` rows that follow each other, the first with this number; `columns` by position, those that are needed.
    ///
    /// # Errors
    /// That of the first row that has one.
    pub fn push_batch(&mut self, first: u64, n: usize, columns: &[Option<Values<'_>>]) -> Result<()> {
        let mut ahead = Ahead { first, n };
        let mut error = None;
        // What is wrong further down does not matter, nor what other columns hold there.
        let mut until = |ahead: Ahead, taken: Taken| match taken {
            Ok(()) => ahead,
            Err((at, why)) => {
                error = Some(why);
                Ahead { n: at, ..ahead }
            }
        };
        self.rows.extend(first, n);
        let mut runs = vec![];
        let of = |position: usize| columns[position].as_ref().unwrap_or(&Values::Nothing);
        ahead = until(ahead, self.push_series(ahead, of(self.roles.series), &mut runs));
        ahead = until(ahead, self.push_times(ahead, of(self.roles.time)));
        if let Some(at) = self.roles.label {
            ahead = until(ahead, self.take_labels(ahead, of(at), &runs));
        }
        for column in 0..self.roles.values.len() {
            let found = of(self.roles.values[column].position);
            ahead = until(ahead, self.push_values(ahead, column, found));
        }
        error.map_or(Ok(()), Err)
    }

    /// Names of sequences; `runs` are the number of each sequence and the row after its last.
    fn push_series(&mut self, ahead: Ahead, values: &Values<'_>, runs: &mut Vec<(u32, usize)>) -> Taken {
        let mut start = 0;
        while start < ahead.n {
            let end = values.run_end(start, ahead.n);
            let series = self.find_series(ahead.row(start), values.cell(start));
            let series = series.map_err(|why| (start, why))?;
            self.series_of.push(series, end - start);
            self.series[series as usize].n_rows += end - start;
            runs.push((series, end));
            start = end;
        }
        Ok(())
    }

    fn push_times(&mut self, ahead: Ahead, values: &Values<'_>) -> Taken {
        let n = ahead.n;
        let may_be = |times: &Times, kind| n > 0 && times.kind.is_none_or(|known| known == kind);
        match values {
            Values::Integers(found) if found.null_count() == 0 && may_be(&self.times, TimeKind::Integer) => {
                self.times.kind = Some(TimeKind::Integer);
                self.times.integers.share(found.slice(0, n).values().clone());
            }
            Values::Moments(found, kind) if found.null_count() == 0 && may_be(&self.times, *kind) => {
                self.times.kind = Some(*kind);
                self.times.integers.share(found.slice(0, n).values().clone());
            }
            Values::Numbers(found)
                if found.null_count() == 0
                    && may_be(&self.times, TimeKind::Number)
                    && are_finite(&found.values()[..n]) =>
            {
                self.times.kind = Some(TimeKind::Number);
                self.times.numbers.share(found.slice(0, n).values().clone());
            }
            Values::Singles(found)
                if found.null_count() == 0
                    && may_be(&self.times, TimeKind::Number)
                    && are_finite(&found.values()[..n]) =>
            {
                self.times.kind = Some(TimeKind::Number);
                self.times.numbers.share_narrow(found.slice(0, n).values().clone());
            }
            _ => {
                for index in 0..n {
                    self.push_time(ahead.row(index), values.cell(index)).map_err(|why| (index, why))?;
                }
            }
        }
        Ok(())
    }

    fn take_labels(&mut self, ahead: Ahead, values: &Values<'_>, runs: &[(u32, usize)]) -> Taken {
        let mut start = 0;
        for &(series, last) in runs {
            while start < last.min(ahead.n) {
                let label = self.take_label(ahead.row(start), series, values.cell(start));
                label.map_err(|why| (start, why))?;
                start = values.run_end(start, last.min(ahead.n));
            }
        }
        Ok(())
    }

    fn push_values(&mut self, ahead: Ahead, column: usize, values: &Values<'_>) -> Taken {
        let n = ahead.n;
        let may_be_numbers = matches!(self.contents[column], Content::Nothing | Content::Numbers);
        match values {
            Values::Numbers(found) if may_be_numbers && are_all_known(found, n) => {
                self.contents[column] = Content::Numbers;
                self.values[column].share(found.slice(0, n).values().clone());
            }
            Values::Singles(found) if may_be_numbers && are_all_known(found, n) => {
                self.contents[column] = Content::Numbers;
                self.values[column].share_narrow(found.slice(0, n).values().clone());
            }
            Values::Numbers(found) if may_be_numbers && !have_infinite(&found.values()[..n]) => {
                let found = found.slice(0, n);
                match found.null_count() {
                    0 => {
                        self.took_numbers(ahead, column, found.values());
                        self.values[column].share(found.values().clone());
                    }
                    _ => self.push_numbers(ahead, column, found.iter()),
                }
            }
            Values::Singles(found) if may_be_numbers && !have_infinite(&found.values()[..n]) => {
                let found = found.slice(0, n);
                // What is null has any number in its place.
                let found = match found.null_count() {
                    0 => found.values().clone(),
                    _ => found.iter().map(|value| value.unwrap_or(f32::NAN)).collect(),
                };
                self.took_numbers(ahead, column, &found);
                self.values[column].share_narrow(found);
            }
            Values::Integers(found) if may_be_numbers => {
                let found = found.slice(0, n);
                self.push_numbers(ahead, column, found.iter().map(|value| value.map(|value| value as f64)));
            }
            _ => {
                for index in 0..n {
                    let value = self.value(ahead.row(index), column, values.cell(index));
                    self.values[column].push(value.map_err(|why| (index, why))?);
                }
            }
        }
        Ok(())
    }

    fn push_numbers(&mut self, ahead: Ahead, column: usize, values: impl Iterator<Item = Option<f64>>) {
        let values: Vec<f64> = values.map(|value| value.unwrap_or(f64::NAN)).collect();
        self.took_numbers(ahead, column, &values);
        self.values[column].share(values);
    }

    /// Notes what numbers say of their column.
    fn took_numbers<T: Copy + Into<f64>>(&mut self, ahead: Ahead, column: usize, added: &[T]) {
        let is_missing = |value: &T| (*value).into().is_nan();
        let missing = if are_finite(added) { None } else { added.iter().position(is_missing) };
        if let (Some(at), None) = (missing, self.missing[column]) {
            self.missing[column] = Some(ahead.row(at));
        }
        if !added.iter().all(is_missing) {
            self.contents[column] = Content::Numbers;
        }
    }
}

/// Without a way out in the middle, so that it takes many at once.
fn are_finite<T: Copy + Into<f64>>(values: &[T]) -> bool {
    values.iter().fold(true, |all, &value| all & value.into().is_finite())
}

/// Whether the first rows have a number each: mostly so, and found out in one pass.
fn are_all_known<T: ArrowPrimitiveType<Native: Into<f64>>>(found: &PrimitiveArray<T>, n: usize) -> bool {
    n > 0 && found.null_count() == 0 && are_finite(&found.values()[..n])
}

fn have_infinite<T: Copy + Into<f64>>(values: &[T]) -> bool {
    !are_finite(values) && values.iter().any(|&value| value.into().is_infinite())
}
