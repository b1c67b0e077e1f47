//! The step that the times of a file have in common, and each row's place on it.
//!
//! ```text
//! step = lower median of t_{j+1} − t_j over all sequences        k_j = Σ_{i<j} round((t_{i+1} − t_i) / step)
//! ```
//!
//! Times are regular if at least half of the differences are one step and all are whole numbers of steps:
//! exactly for integers and dates, else up to a tenth of a step, as times rounded by an instrument are.
//! Dates may also step by months of the calendar.

use super::collect::Collector;
use super::order::Ordered;
use crate::note::Note;
use crate::problem::{Place, Problem};
use crate::time::calendar::{DAY, in_month};
use crate::time::{Step, Time, TimeKind};
use crate::{Error, Result};

/// How far a row may be from its place, in steps.
const JITTER: f64 = 0.1;
/// Steps that may be added to a file by gaps, per row and beyond that; more would be a mistake in a time.
const MOST_STEPS_PER_ROW: u64 = 100;
/// See [`MOST_STEPS_PER_ROW`].
const MOST_STEPS: u64 = 100_000;

/// Decimals of times in which a common divisor is looked for.
const MOST_DIGITS: i32 = 6;
/// Steps per row that a proposed step may make.
const MOST_FILLED: f64 = 20.0;

/// Microseconds from which on a step between dates may be one of months.
const SHORTEST_MONTH: i64 = 28 * DAY;

/// Where the rows of a family lie in time.
pub(crate) struct Grid {
    /// What one step is.
    pub step: Step,
    /// Where the rows of sequences lie.
    places: Places,
}

/// Where rows lie, counted in steps from the first of their sequence.
enum Places {
    /// One after the other.
    InARow,
    /// Here, by the entries of [`Ordered::entries`].
    At(Vec<usize>),
}

/// Differences of consecutive times in one unit, in the order of the entries; the first of a sequence is 0.
struct Differences(Vec<f64>);

impl Grid {
    /// Finds the step.
    ///
    /// # Errors
    /// [`Problem::Irregular`] at the first row that does not fit; [`Problem::HugeGap`].
    pub fn new(data: &Collector<'_>, ordered: &Ordered, notes: &mut Vec<Note>) -> Result<Self> {
        let kind = data.times.kind.unwrap_or(TimeKind::Integer);
        if data.series.iter().all(|series| series.n_rows < 2) {
            let step = guess(kind);
            notes.push(Note::GuessedStep { step });
            return Ok(Self { step, places: Places::InARow });
        }
        if let Some(step) = without_gaps(data, ordered, kind) {
            return Ok(Self { step, places: Places::InARow });
        }
        let (step, counts) = match kind {
            TimeKind::Number => jittered(data, ordered, kind, notes)?,
            _ => exact(data, ordered, kind, notes)?,
        };
        let places = Places::At(check_gaps(data, ordered, &counts)?);
        Ok(Self { step, places })
    }

    /// Number of steps of sequence `i`, first to last row.
    pub fn n_time(&self, ordered: &Ordered, i: usize) -> usize {
        self.place(ordered, i, ordered.entries(i).len() - 1) + 1
    }

    /// Place of row `k` of sequence `i`.
    pub fn place(&self, ordered: &Ordered, i: usize, k: usize) -> usize {
        match &self.places {
            Places::InARow => k,
            Places::At(places) => places[ordered.bounds[i] + k],
        }
    }
}

/// The step where integers or dates follow each other without a gap, which is mostly so: found in one pass that keeps nothing. Steps of
/// a month and longer may be those of the calendar.
fn without_gaps(data: &Collector<'_>, ordered: &Ordered, kind: TimeKind) -> Option<Step> {
    if kind == TimeKind::Number {
        return None;
    }
    let difference = |j: usize| {
        let (before, entry) = (ordered.entries[j - 1] as usize, ordered.entries[j] as usize);
        data.times.integers[entry].saturating_sub(data.times.integers[before])
    };
    let step = inner_places(ordered).next().map(difference).filter(|step| *step > 0)?;
    let is_whole = inner_places(ordered).all(|j| difference(j) == step);
    match kind {
        _ if !is_whole => None,
        TimeKind::Integer => Some(Step::Integer(step)),
        _ => (step < SHORTEST_MONTH).then_some(Step::Micros(step)),
    }
}

fn guess(kind: TimeKind) -> Step {
    match kind {
        TimeKind::Integer => Step::Integer(1),
        TimeKind::Number => Step::Number(1.0),
        _ => Step::Micros(DAY),
    }
}

/// Integers and dates: whole months, whole steps, or nearly whole steps.
fn exact(
    data: &Collector<'_>,
    ordered: &Ordered,
    kind: TimeKind,
    notes: &mut Vec<Note>,
) -> Result<(Step, Vec<u64>)> {
    let differences = integer_differences(ordered, |entry| data.times.integers[entry]);
    let whole = whole_steps(ordered, &differences);
    let may_be_months = whole.as_ref().is_none_or(|(step, _)| *step >= SHORTEST_MONTH);
    if kind != TimeKind::Integer
        && may_be_months
        && let Some(found) = months(data, ordered)
    {
        return Ok(found);
    }
    match whole {
        Some((step, counts)) if kind == TimeKind::Integer => Ok((Step::Integer(step), counts)),
        Some((step, counts)) => Ok((Step::Micros(step), counts)),
        None => jittered(data, ordered, kind, notes),
    }
}

/// The first entry of each sequence has difference 0; differences beyond the largest number stop there.
fn integer_differences(ordered: &Ordered, time: impl Fn(usize) -> i64) -> Vec<i64> {
    let mut differences = vec![0; ordered.entries.len()];
    for j in inner_places(ordered) {
        let (before, entry) = (ordered.entries[j - 1] as usize, ordered.entries[j] as usize);
        differences[j] = time(entry).saturating_sub(time(before));
    }
    differences
}

/// The step, and the number of steps before each entry, if all differences are whole and half are one.
fn whole_steps(ordered: &Ordered, differences: &[i64]) -> Option<(i64, Vec<u64>)> {
    let mut inner: Vec<i64> = inner_places(ordered).map(|j| differences[j]).collect();
    let middle = (inner.len() - 1) / 2;
    let step = *inner.select_nth_unstable(middle).1;
    let n_single = inner.iter().filter(|&&difference| difference == step).count();
    let is_regular = step > 0 && 2 * n_single >= inner.len() && inner.iter().all(|d| d % step == 0);
    is_regular.then(|| (step, differences.iter().map(|d| (d / step) as u64).collect()))
}

/// Places in `entries` that are not the first of their sequence.
fn inner_places(ordered: &Ordered) -> impl Iterator<Item = usize> {
    ordered.bounds.windows(2).flat_map(|pair| pair[0] + 1..pair[1].max(pair[0] + 1))
}

/// Dates that keep the day of the month of their first, where that month has it, or are all the last of one.
fn months(data: &Collector<'_>, ordered: &Ordered) -> Option<(Step, Vec<u64>)> {
    let moments: Vec<_> = data.times.integers.iter().map(|&time| in_month(time)).collect();
    let is_end = moments.iter().all(|moment| moment.within == moment.length - DAY);
    let keeps_day = |first: u32, later: u32| {
        let (first, later) = (&moments[first as usize], &moments[later as usize]);
        let day = (first.within / DAY).min(later.length / DAY - 1);
        later.within == day * DAY + first.within % DAY
    };
    let keeps_days = |entries: &[u32]| entries.iter().all(|&entry| keeps_day(entries[0], entry));
    let same_day = (0..data.series.len()).all(|i| keeps_days(ordered.entries(i)));
    if !(is_end || same_day) {
        return None;
    }
    let (step, counts) = whole_steps(ordered, &integer_differences(ordered, |entry| moments[entry].month))?;
    Some((if is_end { Step::MonthEnds(step) } else { Step::Months(step) }, counts))
}

/// Times that are whole steps up to a tenth of one.
fn jittered(
    data: &Collector<'_>,
    ordered: &Ordered,
    kind: TimeKind,
    notes: &mut Vec<Note>,
) -> Result<(Step, Vec<u64>)> {
    let differences = Differences::new(data, ordered);
    let mut inner: Vec<f64> = inner_places(ordered).map(|j| differences.0[j]).collect();
    let guess = typical(&mut inner);
    let count = |difference: f64| (difference / guess).round();
    let fits = |difference: f64| {
        let count = count(difference);
        count >= 1.0 && (difference / guess - count).abs() <= JITTER * count.sqrt()
    };
    let n_single = inner.iter().filter(|&&difference| fits(difference) && count(difference) == 1.0).count();
    // Integers that are not exact steps are not steps: jitter is for clocks.
    let has_none = 2 * n_single < inner.len() || kind == TimeKind::Integer;
    let misfit = inner_places(ordered).find(|&j| !fits(differences.0[j]));
    if let Some(j) = misfit.or_else(|| has_none.then(|| differences.longest(ordered))) {
        let divisor = divisor(data, &inner);
        return Err(irregular(data, ordered, j, (guess, divisor), differences.0[j]));
    }
    let n_steps: f64 = inner.iter().map(|&difference| count(difference)).sum();
    let step = simplest(inner.iter().sum::<f64>() / n_steps);
    let worst = inner.iter().map(|d| (d / step - count(*d)).abs()).fold(0.0, f64::max);
    let step = if kind == TimeKind::Number { Step::Number(step) } else { Step::Micros(step.round() as i64) };
    if worst > 1e-6 {
        notes.push(Note::Jitter { step });
    }
    Ok((step, differences.0.iter().map(|&difference| count(difference) as u64).collect()))
}

/// The mean of the differences near their lower median: rounded times make single ones inexact.
fn typical(differences: &mut [f64]) -> f64 {
    let middle = (differences.len() - 1) / 2;
    let median = *differences.select_nth_unstable_by(middle, f64::total_cmp).1;
    let near = || differences.iter().filter(|&&difference| (difference / median - 1.0).abs() < 0.25);
    let mean = near().sum::<f64>() / near().count() as f64;
    if mean.is_finite() { mean } else { median }
}

impl Differences {
    fn new(data: &Collector<'_>, ordered: &Ordered) -> Self {
        let time = |entry: u32| match data.times.get(entry as usize) {
            Time::Number(time) => time,
            Time::Integer(time) | Time::Micros(time) => time as f64,
        };
        let mut differences = vec![0.0; ordered.entries.len()];
        for j in inner_places(ordered) {
            differences[j] = time(ordered.entries[j]) - time(ordered.entries[j - 1]);
        }
        Self(differences)
    }

    fn longest(&self, ordered: &Ordered) -> usize {
        inner_places(ordered).max_by(|&a, &b| self.0[a].total_cmp(&self.0[b])).unwrap_or_default()
    }
}

/// The number with the fewest digits that is this one but for rounding.
fn simplest(value: f64) -> f64 {
    (0..16)
        .filter_map(|digits| format!("{value:.digits$e}").parse::<f64>().ok())
        .find(|short| (short - value).abs() <= 1e-9 * value.abs())
        .unwrap_or(value)
}

/// The greatest step of which all differences are whole numbers, unless it is so short that hardly any step would have a row.
fn divisor(data: &Collector<'_>, differences: &[f64]) -> Option<f64> {
    let most_digits = if data.times.kind == Some(TimeKind::Number) { MOST_DIGITS } else { 0 };
    let units = (0..=most_digits).map(|digits| 10f64.powi(digits));
    let is_whole = |unit: f64, d: f64| {
        let count = d * unit;
        // Beyond 2^53 a difference is no longer the one that was written.
        count < 9e15 && (count - count.round()).abs() <= 1e-3
    };
    let unit = units.into_iter().find(|&unit| differences.iter().all(|&d| is_whole(unit, d)))?;
    let whole = differences.iter().map(|d| (d * unit).round() as u64);
    let step = whole.fold(0, greatest_common_divisor) as f64 / unit;
    let n_steps = differences.iter().sum::<f64>() / step;
    (step > 0.0 && n_steps <= MOST_FILLED * differences.len() as f64).then_some(step)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

fn irregular(
    data: &Collector<'_>,
    ordered: &Ordered,
    j: usize,
    (expected, divisor): (f64, Option<f64>),
    found: f64,
) -> Error {
    let entries = (ordered.entries[j - 1] as usize, ordered.entries[j] as usize);
    let duration = |size: f64| match data.times.kind {
        Some(TimeKind::Number) => Step::Number(simplest(size)).to_string(),
        Some(TimeKind::Integer) => Step::Integer(size as i64).to_string(),
        _ => Step::Micros(size as i64).to_string(),
    };
    let problem = Problem::Irregular {
        series: data.series[data.series_of[entries.1] as usize].id.clone(),
        expected: duration(expected),
        found: duration(found),
        before_row: data.rows[entries.0],
        divisor: divisor.map(duration),
    };
    Error::data(data.file, Place::cell(data.rows[entries.1], &data.roles.names[data.roles.time]), problem)
}

/// Adds up the steps of each sequence; refuses what only a mistaken time can explain.
fn check_gaps(data: &Collector<'_>, ordered: &Ordered, counts: &[u64]) -> Result<Vec<usize>> {
    let most = data.rows.len() as u64 * MOST_STEPS_PER_ROW + MOST_STEPS;
    let mut total = 0u64;
    let mut places = vec![0; counts.len()];
    for j in inner_places(ordered) {
        total = total.saturating_add(counts[j]);
        if total > most {
            let longest = inner_places(ordered).max_by_key(|&j| counts[j]).unwrap_or(j);
            return Err(huge_gap(data, ordered, longest, counts[longest]));
        }
        places[j] = places[j - 1] + counts[j] as usize;
    }
    Ok(places)
}

fn huge_gap(data: &Collector<'_>, ordered: &Ordered, j: usize, count: u64) -> Error {
    let entries = (ordered.entries[j - 1] as usize, ordered.entries[j] as usize);
    let problem = Problem::HugeGap {
        series: data.series[data.series_of[entries.1] as usize].id.clone(),
        n_steps: count - 1,
        before_row: data.rows[entries.0],
    };
    Error::data(data.file, Place::cell(data.rows[entries.1], &data.roles.names[data.roles.time]), problem)
}
