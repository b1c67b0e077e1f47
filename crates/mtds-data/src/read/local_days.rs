//! Days of a place where clocks change, told as moments: a day has 24 hours, but for one of 23 in spring and one of 25 in autumn.
//!
//! ```text
//! (t_j − t_first) mod 24 h ∈ {0, c}        c: by how much clocks change; the same until they change again, months later
//! ```
//!
//! No step fits: their mean is no day, and 24 h leave midnight at the first change. Dates have no such trouble.

use super::collect::Collector;
use super::order::Ordered;
use crate::time::TimeKind;
use crate::time::calendar::{DAY, HOUR, MINUTE};

/// By how much clocks change: nearly everywhere, and on Lord Howe Island.
const CHANGES: [i64; 2] = [HOUR, 30 * MINUTE];
/// Rows from which on such days are no coincidence.
const FEWEST: usize = 8;
/// From one change to the next, at least: clocks go back for the month of Ramadan in Morocco.
const SHORTEST_SEASON: i64 = 27 * DAY;

/// Clocks that changed between two rows.
pub(crate) struct Change {
    /// Place of the later row in [`Ordered`].
    pub at: usize,
    /// By how much more than whole days lie between the two, in microseconds.
    pub by: i64,
}

/// The first change, where all rows are days of such places.
pub(crate) fn first_change(data: &Collector<'_>, ordered: &Ordered) -> Option<Change> {
    let has_hours = matches!(data.times.kind, Some(TimeKind::DateTime | TimeKind::UtcDateTime));
    if !has_hours || data.rows.len() < FEWEST {
        return None;
    }
    let mut first = None;
    for i in 0..data.series.len() {
        let change = of_sequence(data, ordered, i)?;
        first = first.or(change);
    }
    first
}

/// The first change in a sequence, if it has one; `None` where its rows are no such days.
fn of_sequence(data: &Collector<'_>, ordered: &Ordered, i: usize) -> Option<Option<Change>> {
    let places = ordered.places(i);
    let time = |place: usize| data.times.integers.get(ordered.entry(place));
    let (mut first, mut since, mut other): (Option<Change>, Option<i64>, i64) = (None, None, 0);
    let mut before = 0;
    for at in places.clone().skip(1) {
        let passed = time(at).checked_sub(time(places.start))?;
        // From half a day less to half a day more than whole days.
        let beyond = (passed + DAY / 2).rem_euclid(DAY) - DAY / 2;
        let is_known = beyond == 0 || beyond == other || other == 0 && CHANGES.contains(&beyond.abs());
        if !is_known || time(at) - time(at - 1) < DAY - HOUR {
            return None;
        }
        if beyond != before {
            if since.is_some_and(|since| time(at) - since < SHORTEST_SEASON) {
                return None;
            }
            since = Some(time(at));
            other = if other == 0 { beyond } else { other };
            first = first.or(Some(Change { at, by: beyond - before }));
        }
        before = beyond;
    }
    Some(first)
}
