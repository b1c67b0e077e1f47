//! Rows of a batch, taken in column by column: what comes of it is what [`Collector::push`] of one row after the other would give, errors included.

use std::ops::Range;

use arrow_array::types::{Float32Type, Float64Type, Int64Type};
use arrow_array::{Array, ArrowPrimitiveType, PrimitiveArray};

use super::arrow::Values;
use super::collect::{Collector, Content, Times};
use super::numbers::{Foreign, spread};
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
                self.took_numbers(ahead, column, &found);
                match found.null_count() {
                    0 => self.values[column].share(found.values().clone()),
                    _ => self.values[column].share_foreign(found),
                }
            }
            Values::Singles(found) if may_be_numbers && !have_infinite(&found.values()[..n]) => {
                let found = found.slice(0, n);
                self.took_numbers(ahead, column, &found);
                match found.null_count() {
                    0 => self.values[column].share_narrow(found.values().clone()),
                    _ => self.values[column].share_foreign(found),
                }
            }
            Values::Integers(found) if may_be_numbers => {
                let found = found.slice(0, n);
                self.took_numbers(ahead, column, &found);
                self.values[column].share_foreign(found);
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

    /// Notes what numbers say of their column.
    fn took_numbers<T: Number>(&mut self, ahead: Ahead, column: usize, added: &PrimitiveArray<T>) {
        let is_missing = |at: &usize| added.get(*at).is_nan();
        if self.missing[column].is_none() {
            self.missing[column] = (0..ahead.n).find(is_missing).map(|at| ahead.row(at));
        }
        if self.contents[column] != Content::Numbers && !(0..ahead.n).all(|at| is_missing(&at)) {
            self.contents[column] = Content::Numbers;
        }
    }
}

/// Types of numbers that a column may have, and null.
trait Number: ArrowPrimitiveType {
    /// As a number of double precision.
    fn double(value: Self::Native) -> f64;
}

impl Number for Float64Type {
    fn double(value: f64) -> f64 {
        value
    }
}

impl Number for Float32Type {
    fn double(value: f32) -> f64 {
        value.into()
    }
}

impl Number for Int64Type {
    fn double(value: i64) -> f64 {
        value as f64
    }
}

/// What is null is NaN.
impl<T: Number> Foreign<f64> for PrimitiveArray<T> {
    fn len(&self) -> usize {
        Array::len(self)
    }

    fn get(&self, at: usize) -> f64 {
        if self.is_valid(at) { T::double(self.value(at)) } else { f64::NAN }
    }

    fn write(&self, range: Range<usize>, to: &mut [f64], width: usize) {
        let values = &self.values()[range.clone()];
        spread(values, to, width, T::double);
        let Some(nulls) = self.nulls() else {
            return;
        };
        // Word by word: most values are known, and what is null has any number in its place.
        let known = nulls.inner().slice(range.start, range.len());
        for (word, known) in known.bit_chunks().iter_padded().enumerate() {
            let mut null = !known;
            while null != 0 {
                let at = 64 * word + null.trailing_zeros() as usize;
                if at >= values.len() {
                    break;
                }
                to[at * width] = f64::NAN;
                null &= null - 1;
            }
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
