//! The step that the times of a file have in common, and each row's place on it.
//!
//! ```text
//! step = lower median of t_{j+1} − t_j over all sequences        k_j = Σ_{i<j} round((t_{i+1} − t_i) / step)
//! ```
//!
//! Times are regular if at least half of the differences are one step and all are whole numbers of steps:
//! exactly for integers and dates, else up to a tenth of a step, as times rounded by an instrument are.
//! Dates may also step by months of the calendar. Other times are put on a grid (`irregular`), and so are those that
//! a model is to take that was learned with other steps.

use super::collect::Collector;
use super::irregular::{self, Nearest};
use super::local_days;
use super::order::{Ordered, ROWS_AT_ONCE};
use crate::note::Note;
use crate::problem::{Place, Problem};
use crate::time::calendar::{DAY, in_month};
use crate::time::{Step, Time, TimeKind};
use crate::{Error, Result};

/// How far a row may be from its place, in steps.
const JITTER: f64 = 0.1;
/// Rows of a sequence from which on steps without a gap are no coincidence.
const STEADY: usize = 8;
/// Steps that may be added to a file by gaps, per row and beyond that; more would be a mistake in a time.
const MOST_STEPS_PER_ROW: u64 = 100;
/// See [`MOST_STEPS_PER_ROW`].
const MOST_STEPS: u64 = 100_000;

/// Microseconds from which on a step between dates may be one of months.
const SHORTEST_MONTH: i64 = 28 * DAY;

/// Where the rows of a family lie in time.
pub(crate) struct Grid {
    /// What one step is.
    pub step: Step,
    /// Where the rows of sequences lie.
    places: Places,
    /// Whether steps without a row are still to be said.
    pub gaps: Gaps,
}

/// Where rows lie, counted in steps from the first of their sequence.
enum Places {
    /// One after the other.
    InARow,
    /// Here, by the places of [`Ordered`].
    At(Vec<usize>),
}

/// Who says that there are steps without a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gaps {
    /// A note for each sequence.
    EachTold,
    /// They are what such times mean, and said once for all.
    Told,
}

/// Times that have a step of their own.
struct Steps {
    step: Step,
    /// Steps before each entry.
    counts: Vec<u64>,
    /// Whether rows lie beside their steps.
    jitter: bool,
}

impl Steps {
    fn has_no_gaps(&self, ordered: &Ordered) -> bool {
        inner_places(ordered).all(|j| self.counts[j] == 1)
    }
}

/// Times that have none, and the row that says so.
struct Misfit {
    typical: f64,
    /// Place in `entries`.
    at: usize,
    found: f64,
}

/// Differences of consecutive times in one unit, in the order of the entries; the first of a sequence is 0.
pub(crate) struct Differences(pub(crate) Vec<f64>);

impl Grid {
    /// Finds the step, or takes the one that is `wanted` because a model was learned with it.
    ///
    /// # Errors
    /// [`Problem::Irregular`] at the first row that does not fit; [`Problem::LocalDays`]; [`Problem::OffSteps`]; [`Problem::HugeGap`].
    pub fn new(
        data: &Collector<'_>,
        ordered: &Ordered,
        wanted: Option<Step>,
        notes: &mut Vec<Note>,
    ) -> Result<Self> {
        let kind = data.times.kind.unwrap_or(TimeKind::Integer);
        let wanted = wanted.and_then(|step| between(kind, step));
        if data.series.iter().all(|series| series.n_rows < 2) {
            let step = wanted.unwrap_or(guess(kind));
            if wanted.is_none() {
                notes.push(Note::GuessedStep { step });
            }
            return Ok(Self { step, places: Places::InARow, gaps: Gaps::Told });
        }
        // Sequences that step otherwise throughout were sampled otherwise, or are in another unit: for the caller to refuse.
        let is_steady = data.series.iter().any(|series| series.n_rows >= STEADY);
        let is_wanted =
            |found: &Step| wanted.is_none_or(|step: Step| step.is_as_long_as(found) == Some(true));
        if let Some(step) = without_gaps(data, ordered, kind).filter(|step| is_steady || is_wanted(step)) {
            return Ok(Self { step, places: Places::InARow, gaps: Gaps::Told });
        }
        if let Some(change) = local_days::first_change(data, ordered) {
            return Err(of_change(data, ordered, &change));
        }
        let found = match kind {
            TimeKind::Number => jittered(data, ordered, kind),
            _ => exact(data, ordered, kind),
        };
        let (step, counts, gaps) = match (found, wanted) {
            (Ok(found), _) if is_wanted(&found.step) || is_steady && found.has_no_gaps(ordered) => {
                notes.extend(found.jitter.then_some(Note::Jitter { step: found.step }));
                (found.step, found.counts, Gaps::EachTold)
            }
            (
                Ok(Steps { step: Step::Months(has) | Step::MonthEnds(has), counts, .. }),
                Some(step @ (Step::Months(wants) | Step::MonthEnds(wants))),
            ) if has % wants == 0 => {
                (step, counts.iter().map(|count| count * (has / wants) as u64).collect(), Gaps::EachTold)
            }
            // Months have no one length: what steps otherwise is for the caller to refuse.
            (Ok(found), Some(Step::Months(_) | Step::MonthEnds(_))) => {
                (found.step, found.counts, Gaps::EachTold)
            }
            (_, Some(step)) if !matches!(step, Step::Months(_) | Step::MonthEnds(_)) => {
                let Nearest { counts, moves } =
                    irregular::on_steps(data, ordered, step).map_err(|found| {
                        Error::data(
                            data.file,
                            Place::default(),
                            Problem::OffSteps { step: step.to_string(), found },
                        )
                    })?;
                notes.push(Note::OnSteps { step, moves });
                (step, counts, Gaps::Told)
            }
            (Err(misfit), _) => {
                let chosen = irregular::grid(data, ordered, misfit.typical);
                let Some((step, Nearest { counts, moves })) = chosen else {
                    return Err(misfit.error(data, ordered));
                };
                let step = step_of(kind, step);
                notes.push(Note::Irregular { step, moves });
                (step, counts, Gaps::Told)
            }
            (Ok(found), _) => (found.step, found.counts, Gaps::EachTold),
        };
        let places = Places::At(check_gaps(data, ordered, &counts)?);
        Ok(Self { step, places, gaps })
    }

    /// Places of the rows of sequence `i`; none where they follow each other.
    pub fn places(&self, ordered: &Ordered, i: usize) -> Option<&[usize]> {
        match &self.places {
            Places::InARow => None,
            Places::At(places) => Some(&places[ordered.bounds[i]..ordered.bounds[i + 1]]),
        }
    }
}

/// A step as it lies between times of this kind; `None` where the two have nothing in common.
fn between(kind: TimeKind, step: Step) -> Option<Step> {
    let is_number = matches!(kind, TimeKind::Integer | TimeKind::Number);
    match step {
        Step::Integer(step) if kind == TimeKind::Number => Some(Step::Number(step as f64)),
        Step::Integer(_) if is_number => Some(step),
        Step::Number(size) if kind == TimeKind::Integer && size.fract() == 0.0 => {
            Some(Step::Integer(size as i64))
        }
        Step::Number(_) if is_number => Some(step),
        Step::Micros(_) | Step::Months(_) | Step::MonthEnds(_) if !is_number => Some(step),
        _ => None,
    }
}

/// A step of this size between times of this kind.
fn step_of(kind: TimeKind, size: f64) -> Step {
    match kind {
        TimeKind::Number => Step::Number(simplest(size)),
        TimeKind::Integer => Step::Integer(size.round() as i64),
        _ => Step::Micros(size.round() as i64),
    }
}

/// The step where integers or dates follow each other without a gap, which is mostly so: found in one pass that keeps nothing. Steps of
/// a month and longer may be those of the calendar.
fn without_gaps(data: &Collector<'_>, ordered: &Ordered, kind: TimeKind) -> Option<Step> {
    if kind == TimeKind::Number {
        return None;
    }
    let difference = |j: usize| {
        let (before, entry) = (ordered.entry(j - 1), ordered.entry(j));
        data.times.integers.get(entry).saturating_sub(data.times.integers.get(before))
    };
    let step = inner_places(ordered).next().map(difference).filter(|step| (1..i64::MAX).contains(step))?;
    // Times rise: a difference beyond the largest number is negative here, and no step.
    let follow = |i| match ordered.in_one_piece(i) {
        Some(entries) => {
            data.times.integers.all_pairs(entries, |before, time| time.wrapping_sub(before) == step)
        }
        None => ordered.places(i).skip(1).all(|j| difference(j) == step),
    };
    let is_whole = ordered.by_groups(ROWS_AT_ONCE, |mut group| group.all(follow)).into_iter().all(|all| all);
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
fn exact(data: &Collector<'_>, ordered: &Ordered, kind: TimeKind) -> std::result::Result<Steps, Misfit> {
    let differences = integer_differences(ordered, |entry| data.times.integers.get(entry));
    let whole = whole_steps(ordered, &differences);
    let may_be_months = whole.as_ref().is_none_or(|(step, _)| *step >= SHORTEST_MONTH);
    if kind != TimeKind::Integer
        && may_be_months
        && let Some((step, counts)) = months(data, ordered)
    {
        return Ok(Steps { step, counts, jitter: false });
    }
    match whole {
        Some((step, counts)) => Ok(Steps { step: step_of(kind, step as f64), counts, jitter: false }),
        None => jittered(data, ordered, kind),
    }
}

/// The first entry of each sequence has difference 0; differences beyond the largest number stop there.
fn integer_differences(ordered: &Ordered, time: impl Fn(usize) -> i64) -> Vec<i64> {
    let mut differences = vec![0; ordered.len()];
    for j in inner_places(ordered) {
        let (before, entry) = (ordered.entry(j - 1), ordered.entry(j));
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
pub(crate) fn inner_places(ordered: &Ordered) -> impl Iterator<Item = usize> {
    ordered.bounds.windows(2).flat_map(|pair| pair[0] + 1..pair[1].max(pair[0] + 1))
}

/// Dates that keep the day of the month of their first, where that month has it, or are all the last of one.
fn months(data: &Collector<'_>, ordered: &Ordered) -> Option<(Step, Vec<u64>)> {
    let moments: Vec<_> = data.times.integers.iter().map(in_month).collect();
    let is_end = moments.iter().all(|moment| moment.within == moment.length - DAY);
    let keeps_day = |first: usize, later: usize| {
        let (first, later) = (&moments[first], &moments[later]);
        let day = (first.within / DAY).min(later.length / DAY - 1);
        later.within == day * DAY + first.within % DAY
    };
    let keeps_days = |i: usize| {
        let first = ordered.entry(ordered.bounds[i]);
        ordered.entries(i).all(|entry| keeps_day(first, entry))
    };
    let same_day = (0..data.series.len()).all(keeps_days);
    if !(is_end || same_day) {
        return None;
    }
    let (step, counts) = whole_steps(ordered, &integer_differences(ordered, |entry| moments[entry].month))?;
    Some((if is_end { Step::MonthEnds(step) } else { Step::Months(step) }, counts))
}

/// Times that are whole steps up to a tenth of one.
fn jittered(data: &Collector<'_>, ordered: &Ordered, kind: TimeKind) -> std::result::Result<Steps, Misfit> {
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
    if let Some(at) = misfit.or_else(|| has_none.then(|| differences.longest(ordered))) {
        return Err(Misfit { typical: guess, at, found: differences.0[at] });
    }
    let n_steps: f64 = inner.iter().map(|&difference| count(difference)).sum();
    let step = simplest(inner.iter().sum::<f64>() / n_steps);
    let worst = inner.iter().map(|d| (d / step - count(*d)).abs()).fold(0.0, f64::max);
    let counts = differences.0.iter().map(|&difference| count(difference) as u64).collect();
    Ok(Steps { step: step_of(kind, step), counts, jitter: worst > 1e-6 })
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
    pub fn new(data: &Collector<'_>, ordered: &Ordered) -> Self {
        let time = |entry: usize| match data.times.get(entry) {
            Time::Number(time) => time,
            Time::Integer(time) | Time::Micros(time) => time as f64,
        };
        let mut differences = vec![0.0; ordered.len()];
        for j in inner_places(ordered) {
            differences[j] = time(ordered.entry(j)) - time(ordered.entry(j - 1));
        }
        Self(differences)
    }

    fn longest(&self, ordered: &Ordered) -> usize {
        inner_places(ordered).max_by(|&a, &b| self.0[a].total_cmp(&self.0[b])).unwrap_or_default()
    }
}

/// The number with the fewest digits that is this one but for rounding.
pub(crate) fn simplest(value: f64) -> f64 {
    (0..16)
        .filter_map(|digits| format!("{value:.digits$e}").parse::<f64>().ok())
        .find(|short| (short - value).abs() <= 1e-9 * value.abs())
        .unwrap_or(value)
}

impl Misfit {
    fn error(&self, data: &Collector<'_>, ordered: &Ordered) -> Error {
        let entries = (ordered.entry(self.at - 1), ordered.entry(self.at));
        let duration = |size: f64| step_of(data.times.kind.unwrap_or(TimeKind::Integer), size).to_string();
        let problem = Problem::Irregular {
            series: data.series[data.series_of.get(entries.1)].id.clone(),
            expected: duration(self.typical),
            found: duration(self.found),
            before_row: data.rows.get(entries.0),
        };
        Error::data(
            data.file,
            Place::cell(data.rows.get(entries.1), &data.roles.names[data.roles.time]),
            problem,
        )
    }
}

fn of_change(data: &Collector<'_>, ordered: &Ordered, change: &local_days::Change) -> Error {
    let entries = (ordered.entry(change.at - 1), ordered.entry(change.at));
    let than = if change.by > 0 { "more" } else { "less" };
    let problem = Problem::LocalDays {
        series: data.series[data.series_of.get(entries.1)].id.clone(),
        by: format!("{} {than}", Step::Micros(change.by.abs())),
        before_row: data.rows.get(entries.0),
    };
    Error::data(data.file, Place::cell(data.rows.get(entries.1), &data.roles.names[data.roles.time]), problem)
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
    let entries = (ordered.entry(j - 1), ordered.entry(j));
    let problem = Problem::HugeGap {
        series: data.series[data.series_of.get(entries.1)].id.clone(),
        n_steps: count - 1,
        before_row: data.rows.get(entries.0),
    };
    Error::data(data.file, Place::cell(data.rows.get(entries.1), &data.roles.names[data.roles.time]), problem)
}
