//! The rows of each sequence in order of time, and those that share one.

use super::collect::{Collector, Times};
use crate::note::Note;
use crate::problem::{Place, Problem};
use crate::time::TimeKind;
use crate::{Error, Result};

/// The entries of all sequences, each sequence together and in order of time.
pub(crate) struct Ordered {
    /// Numbers of entries; entries of equal time in file order.
    pub entries: Vec<u32>,
    /// Where each sequence begins in `entries`, and the end; `n_seq + 1` numbers.
    pub bounds: Vec<usize>,
}

/// What to do with rows of one sequence that share a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Duplicates {
    /// Refuse them.
    Refused,
    /// Note them; they will be averaged.
    Noted,
}

impl Ordered {
    /// Sorts the rows by sequence and time.
    ///
    /// # Errors
    /// [`Problem::DuplicateTime`] if duplicates are refused.
    pub fn new(data: &Collector<'_>, duplicates: Duplicates, notes: &mut Vec<Note>) -> Result<Self> {
        let mut ordered = Self::by_series(data);
        for i in 0..data.series.len() {
            let range = ordered.bounds[i]..ordered.bounds[i + 1];
            let entries = &mut ordered.entries[range];
            let earlier = entries.windows(2).find(|pair| is_later(&data.times, pair[0], pair[1]));
            if let Some(pair) = earlier {
                let row = data.rows[pair[1] as usize];
                notes.push(Note::Unsorted { series: data.series[i].id.clone(), row });
                sort(&data.times, entries);
            }
            look_for_duplicates(data, i, entries, duplicates, notes)?;
        }
        Ok(ordered)
    }

    /// The entries of sequence number `i`.
    pub fn entries(&self, i: usize) -> &[u32] {
        &self.entries[self.bounds[i]..self.bounds[i + 1]]
    }

    /// Entries by sequence, in file order: one pass, as each sequence knows its number of rows.
    fn by_series(data: &Collector<'_>) -> Self {
        let mut bounds = vec![0];
        for series in &data.series {
            bounds.push(bounds[bounds.len() - 1] + series.n_rows);
        }
        let mut next = bounds.clone();
        let mut entries = vec![0; data.rows.len()];
        for (entry, &series) in data.series_of.iter().enumerate() {
            entries[next[series as usize]] = entry as u32;
            next[series as usize] += 1;
        }
        Self { entries, bounds }
    }
}

fn is_later(times: &Times, a: u32, b: u32) -> bool {
    let (a, b) = (a as usize, b as usize);
    match times.kind {
        Some(TimeKind::Number) => times.numbers[a] > times.numbers[b],
        _ => times.integers[a] > times.integers[b],
    }
}

fn is_same(times: &Times, a: u32, b: u32) -> bool {
    !is_later(times, a, b) && !is_later(times, b, a)
}

fn sort(times: &Times, entries: &mut [u32]) {
    match times.kind {
        Some(TimeKind::Number) => {
            entries.sort_by(|&a, &b| times.numbers[a as usize].total_cmp(&times.numbers[b as usize]));
        }
        _ => entries.sort_by_key(|&entry| times.integers[entry as usize]),
    }
}

fn look_for_duplicates(
    data: &Collector<'_>,
    i: usize,
    entries: &[u32],
    duplicates: Duplicates,
    notes: &mut Vec<Note>,
) -> Result<()> {
    let mut pairs = entries.windows(2).filter(|pair| is_same(&data.times, pair[0], pair[1]));
    let Some(first) = pairs.next() else {
        return Ok(());
    };
    let (first_row, second_row) = (data.rows[first[0] as usize], data.rows[first[1] as usize]);
    let series = data.series[i].id.clone();
    if duplicates == Duplicates::Noted {
        notes.push(Note::Duplicates { series, n_rows: 1 + pairs.count(), first_row, second_row });
        return Ok(());
    }
    let time = data.times.format(first[0] as usize);
    let place = Place::cell(second_row, &data.roles.names[data.roles.time]);
    Err(Error::data(data.file, place, Problem::DuplicateTime { series, time, first_row }))
}
