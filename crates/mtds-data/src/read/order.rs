//! The rows of each sequence in order of time, and those that share one.

use std::ops::Range;

use super::collect::{Collector, Times};
use super::threads;
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

/// Rows of a sequence that are looked through by one thread, together with those of others where it has fewer.
pub(crate) const ROWS_AT_ONCE: usize = 1 << 17;

/// A sequence with times that are not later than those before.
struct Untidy {
    /// If some are earlier, the row of the first, and all entries in order of time.
    sorted: Option<(u64, Vec<u32>)>,
    /// If some are the same, the first two, and how many there are.
    duplicates: Option<([usize; 2], usize)>,
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
        let untidy = ordered.by_groups(ROWS_AT_ONCE, |group| {
            group.filter_map(|i| ordered.untidy(data, i).map(|found| (i, found))).collect::<Vec<_>>()
        });
        for (i, Untidy { sorted, duplicates: found }) in untidy.into_iter().flatten() {
            let series = || data.series[i].id.clone();
            if let Some((row, sorted)) = sorted {
                notes.push(Note::Unsorted { series: series(), row });
                let places = ordered.places(i);
                let entries = ordered.entries.get_or_insert_with(|| (0..data.rows.len() as u32).collect());
                entries[places].copy_from_slice(&sorted);
            }
            let Some((first, n_rows)) = found else {
                continue;
            };
            let [first_row, second_row] = first.map(|entry| data.rows.get(entry));
            if duplicates == Duplicates::Refused {
                let time = data.times.format(first[0]);
                let place = Place::cell(second_row, &data.roles.names[data.roles.time]);
                let problem = Problem::DuplicateTime { series: series(), time, first_row };
                return Err(Error::data(data.file, place, problem));
            }
            notes.push(Note::Duplicates { series: series(), n_rows, first_row, second_row });
        }
        Ok(ordered)
    }

    /// What comes of groups of sequences that follow each other, all in order, on all threads. A group has `n_rows` rows or more, if sequences
    /// are left.
    pub fn by_groups<T: Send>(&self, n_rows: usize, of: impl Fn(Range<usize>) -> T + Send + Sync) -> Vec<T> {
        let (mut groups, mut start) = (vec![], 0);
        for end in 1..self.bounds.len() {
            if self.bounds[end] - self.bounds[start] >= n_rows || end + 1 == self.bounds.len() {
                groups.push(start..end);
                start = end;
            }
        }
        threads::map(groups, of)
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

    /// What keeps sequence number `i` from being in order; `None` where every time is later than the one before.
    fn untidy(&self, data: &Collector<'_>, i: usize) -> Option<Untidy> {
        let (times, places) = (&data.times, self.places(i));
        if self.rises(times, places.clone()) {
            return None;
        }
        let mut inner = places.start + 1..places.end;
        let earlier = inner.find(|&j| is_later(times, self.entry(j - 1), self.entry(j)));
        let sorted = earlier.map(|j| {
            let mut entries: Vec<u32> = places.clone().map(|place| self.entry(place) as u32).collect();
            sort(times, &mut entries);
            (data.rows.get(self.entry(j)), entries)
        });
        let entry = |k: usize| match &sorted {
            Some((_, entries)) => entries[k] as usize,
            None => self.entry(places.start + k),
        };
        let pairs = (1..places.len()).map(|k| [entry(k - 1), entry(k)]);
        let mut pairs = pairs.filter(|pair| is_same(times, pair[0], pair[1]));
        let duplicates = pairs.next().map(|first| (first, 1 + pairs.count()));
        Some(Untidy { sorted, duplicates })
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
        Some(TimeKind::Number) => sort_by(entries, |entry| times.numbers.get(entry), f64::total_cmp),
        _ => sort_by(entries, |entry| times.integers.get(entry), i64::cmp),
    }
}

/// Sorts by times, each looked up once: entries of equal time stay as they are.
fn sort_by<T: Copy>(
    entries: &mut [u32],
    time: impl Fn(usize) -> T,
    compare: impl Fn(&T, &T) -> std::cmp::Ordering,
) {
    let mut timed: Vec<(T, u32)> = entries.iter().map(|&entry| (time(entry as usize), entry)).collect();
    timed.sort_by(|a, b| compare(&a.0, &b.0));
    entries.iter_mut().zip(timed).for_each(|(to, (_, entry))| *to = entry);
}
