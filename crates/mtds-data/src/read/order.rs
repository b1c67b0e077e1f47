//! The rows of each sequence in order of time, and those that share one.

use std::ops::Range;

use super::collect::{Collector, Times};
use crate::note::Note;
use crate::problem::{Place, Problem};
use crate::time::TimeKind;
use crate::{Error, Result};

/// The entries of all sequences, each sequence together and in order of time.
pub(crate) struct Ordered {
    /// Numbers of entries by place, entries of equal time in file order; `None`: all are in order as they came.
    entries: Option<Vec<u32>>,
    /// At which place each sequence begins, and the end; `n_seq + 1` numbers.
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
            let places = ordered.places(i);
            if ordered.rises(&data.times, places.clone()) {
                continue;
            }
            let mut inner = places.start + 1..places.end;
            let earlier = inner.find(|&j| is_later(&data.times, ordered.entry(j - 1), ordered.entry(j)));
            if let Some(j) = earlier {
                let row = data.rows.get(ordered.entry(j));
                notes.push(Note::Unsorted { series: data.series[i].id.clone(), row });
                let entries = ordered.entries.get_or_insert_with(|| (0..data.rows.len() as u32).collect());
                sort(&data.times, &mut entries[places]);
            }
            ordered.look_for_duplicates(data, i, duplicates, notes)?;
        }
        Ok(ordered)
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.bounds[self.bounds.len() - 1]
    }

    /// The entry at a place.
    #[inline]
    pub fn entry(&self, place: usize) -> usize {
        self.entries.as_ref().map_or(place, |entries| entries[place] as usize)
    }

    /// The places of sequence number `i`.
    pub fn places(&self, i: usize) -> Range<usize> {
        self.bounds[i]..self.bounds[i + 1]
    }

    /// The entries of sequence number `i`.
    pub fn entries(&self, i: usize) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.places(i).map(|place| self.entry(place))
    }

    /// The entries of sequence number `i`, where they follow each other.
    pub fn in_one_piece(&self, i: usize) -> Option<Range<usize>> {
        self.entries.is_none().then(|| self.places(i))
    }

    /// Entries by sequence, in file order: one pass, as each sequence knows its number of rows.
    fn by_series(data: &Collector<'_>) -> Self {
        let mut bounds = vec![0];
        for series in &data.series {
            bounds.push(bounds[bounds.len() - 1] + series.n_rows);
        }
        // Sequences are numbered as they appear.
        if data.series_of.n_runs() == data.series.len() {
            return Self { entries: None, bounds };
        }
        let mut next = bounds.clone();
        let mut entries = vec![0; data.rows.len()];
        for (series, run) in data.series_of.runs() {
            for entry in run {
                entries[next[series]] = entry as u32;
                next[series] += 1;
            }
        }
        Self { entries: Some(entries), bounds }
    }

    /// Whether every time is later than the one before: mostly so, and found out in one pass.
    fn rises(&self, times: &Times, places: Range<usize>) -> bool {
        match (&self.entries, times.kind) {
            (None, Some(TimeKind::Number)) => times.numbers.all_pairs(places, |before, time| before < time),
            (None, _) => times.integers.all_pairs(places, |before, time| before < time),
            _ => (places.start + 1..places.end).all(|j| is_later(times, self.entry(j), self.entry(j - 1))),
        }
    }

    fn look_for_duplicates(
        &self,
        data: &Collector<'_>,
        i: usize,
        duplicates: Duplicates,
        notes: &mut Vec<Note>,
    ) -> Result<()> {
        let places = self.places(i);
        let pairs = (places.start + 1..places.end).map(|j| [self.entry(j - 1), self.entry(j)]);
        let mut pairs = pairs.filter(|pair| is_same(&data.times, pair[0], pair[1]));
        let Some(first) = pairs.next() else {
            return Ok(());
        };
        let (first_row, second_row) = (data.rows.get(first[0]), data.rows.get(first[1]));
        let series = data.series[i].id.clone();
        if duplicates == Duplicates::Noted {
            notes.push(Note::Duplicates { series, n_rows: 1 + pairs.count(), first_row, second_row });
            return Ok(());
        }
        let time = data.times.format(first[0]);
        let place = Place::cell(second_row, &data.roles.names[data.roles.time]);
        Err(Error::data(data.file, place, Problem::DuplicateTime { series, time, first_row }))
    }
}

fn is_later(times: &Times, a: usize, b: usize) -> bool {
    match times.kind {
        Some(TimeKind::Number) => times.numbers.get(a) > times.numbers.get(b),
        _ => times.integers.get(a) > times.integers.get(b),
    }
}

fn is_same(times: &Times, a: usize, b: usize) -> bool {
    !is_later(times, a, b) && !is_later(times, b, a)
}

fn sort(times: &Times, entries: &mut [u32]) {
    match times.kind {
        Some(TimeKind::Number) => {
            entries.sort_by(|&a, &b| times.numbers.get(a as usize).total_cmp(&times.numbers.get(b as usize)));
        }
        _ => entries.sort_by_key(|&entry| times.integers.get(entry as usize)),
    }
}
