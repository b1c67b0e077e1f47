//! A grid for times that have no step of their own: rows lie on few of its steps, outputs are missing at the others.
//!
//! ```text
//! k_j = round((t_j − t_first) / step)        place of row j of a sequence, counted from its first row
//! ```
//!
//! The step is the greatest common divisor of all gaps, where that makes at most [`MOST_FILLED`] steps per gap: nothing is moved. Else it
//! is the longest round one that moves rows by at most [`MOST_MOVED`] of a typical gap on average and puts next to no two of them on
//! one step, and where none does, the shortest round one within that bound. Times of which more than a tenth
//! would fall together are left to the person who knows them.

use super::collect::Collector;
use super::order::Ordered;
use super::regular::{Differences, inner_places, simplest};
use crate::time::calendar::{DAY, HOUR, MINUTE, SECOND};
use crate::time::{Step, Time, TimeKind};

/// Decimals of times in which a common divisor is looked for.
const MOST_DIGITS: i32 = 6;
/// Steps per gap between rows that a grid may have: the work of learning grows with steps, what is known with rows.
const MOST_FILLED: f64 = 12.0;
/// How far rows may move on average without a shorter step being tried, in typical gaps.
const MOST_MOVED: f64 = 0.05;
/// Shares of rows that may fall on a step with another: without a shorter step being tried, and at all.
const MOST_MERGED: [f64; 2] = [0.01, 0.1];
/// How far rows may lie from the steps of a model on average, in gaps between rows.
const MOST_OFF: f64 = 0.15;

/// Rows at the nearest steps of a grid.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Nearest {
    /// Steps from the row before; 0 for the first of a sequence, and for rows that share a step.
    pub counts: Vec<u64>,
    /// What it did to the rows.
    pub moves: Moves,
}

/// What putting rows to their nearest steps did to them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moves {
    /// Rows of all sequences.
    pub n_rows: usize,
    /// Steps of all sequences.
    pub n_steps: usize,
    /// Rows that were not at a step.
    pub n_moved: usize,
    /// How far they were moved on average over all rows but the first of each sequence, in steps.
    pub mean: f64,
    /// How far one was moved at most, in steps.
    pub most: f64,
    /// Rows that share a step with the one before, and were averaged with it.
    pub n_merged: usize,
}

impl Nearest {
    /// Puts every row to its nearest step.
    pub fn new(data: &Collector<'_>, ordered: &Ordered, step: f64) -> Self {
        let mut counts = vec![0; ordered.len()];
        let mut moves = Moves { n_rows: counts.len(), ..Moves::default() };
        let mut moved = 0.0;
        for bounds in ordered.bounds.windows(2).filter(|bounds| bounds[0] < bounds[1]) {
            let mut before = 0;
            for j in bounds[0] + 1..bounds[1] {
                let place = since(data, ordered.entry(bounds[0]), ordered.entry(j)) / step;
                let nearest = place.round();
                let off = (place - nearest).abs();
                // Decimals such as 0.1 are no binary numbers: that is rounding, not a row off its step.
                moves.n_moved += usize::from(off > 1e-6);
                moves.most = moves.most.max(off);
                moved += off;
                counts[j] = (nearest as u64).saturating_sub(before);
                moves.n_merged += usize::from(counts[j] == 0);
                before = nearest as u64;
            }
            moves.n_steps = moves.n_steps.saturating_add(before as usize).saturating_add(1);
        }
        moves.mean = moved / inner_places(ordered).count().max(1) as f64;
        Self { counts, moves }
    }

    /// Whether so few rows share a step that their mean may stand for them.
    fn is_usable(&self) -> bool {
        self.moves.n_merged as f64 <= MOST_MERGED[1] * self.moves.n_rows as f64
    }
}

fn since(data: &Collector<'_>, first: usize, later: usize) -> f64 {
    match (data.times.get(first), data.times.get(later)) {
        (Time::Number(first), Time::Number(later)) => later - first,
        (Time::Integer(first) | Time::Micros(first), Time::Integer(later) | Time::Micros(later)) => {
            (i128::from(later) - i128::from(first)) as f64
        }
        _ => f64::NAN,
    }
}

/// A grid for all rows; `None` where none is sensible.
pub(crate) fn grid(data: &Collector<'_>, ordered: &Ordered, typical: f64) -> Option<(f64, Nearest)> {
    let differences = Differences::new(data, ordered);
    let inner: Vec<f64> = inner_places(ordered).map(|j| differences.0[j]).collect();
    let total: f64 = inner.iter().sum();
    if !total.is_finite() {
        return None;
    }
    if let Some(step) = divisor(data, &inner) {
        return Some((step, Nearest::new(data, ordered, step)));
    }
    let shortest = total / (MOST_FILLED * inner.len() as f64);
    let longest = inner.iter().copied().fold(0.0, f64::max);
    let mut finest = None;
    for step in round_steps(data.times.kind, typical, shortest..=longest) {
        let found = Nearest::new(data, ordered, step);
        let is_near = found.moves.mean * step <= MOST_MOVED * typical;
        let is_apart = found.moves.n_merged as f64 <= MOST_MERGED[0] * found.moves.n_rows as f64;
        if is_near && is_apart {
            return Some((step, found));
        }
        finest = Some((step, found));
    }
    finest.filter(|(_, found)| found.is_usable())
}

/// Rows at the steps that a model was learned with; an error says why they do not fit.
///
/// # Errors
/// Too many rows on one step, or too far from one, in words.
pub(crate) fn on_steps(
    data: &Collector<'_>,
    ordered: &Ordered,
    step: Step,
) -> std::result::Result<Nearest, String> {
    let found = Nearest::new(data, ordered, step.size());
    let Moves { n_rows, mean, n_merged, .. } = found.moves;
    let n_gaps = inner_places(ordered).count().max(1);
    let total: f64 = Differences::new(data, ordered).0.iter().sum();
    let gap = total / (step.size() * n_gaps as f64);
    if !found.is_usable() {
        return Err(format!("{n_merged} of {n_rows} rows less than a step after the one before"));
    }
    if mean.is_nan() || mean > MOST_OFF * gap {
        let (mean, gap) = (duration(step, mean), duration(step, gap));
        return Err(format!("rows that lie {mean} off its steps on average, where they are {gap} apart"));
    }
    Ok(found)
}

/// So many steps, as a time in words.
pub(crate) fn duration(step: Step, count: f64) -> String {
    let size = step.size() * count;
    match step {
        Step::Integer(_) | Step::Number(_) => rounded(size).to_string(),
        _ => Step::Micros(rounded(size).round() as i64).to_string(),
    }
}

/// Two digits, for people.
fn rounded(value: f64) -> f64 {
    format!("{value:.1e}").parse().unwrap_or(value)
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

/// Steps that people would choose, and the typical gap or half of it where it is round, longest first.
fn round_steps(kind: Option<TimeKind>, typical: f64, range: std::ops::RangeInclusive<f64>) -> Vec<f64> {
    // A week, or the 0.04 s of a camera; not the mean of times that were never meant to be even.
    let is_round = |step: &f64| rounded(*step) == *step;
    let parts = [typical, typical / 2.0].map(simplest).into_iter().filter(is_round);
    let decimal = |unit: f64| {
        let (from, to) = ((range.start() / unit).log10().floor(), (range.end() / unit).log10().ceil());
        let powers = from.max(-300.0) as i32..=to.min(300.0) as i32;
        powers.flat_map(move |power| {
            [1.0, 2.0, 2.5, 5.0].map(|digit| format!("{digit}e{power}").parse::<f64>().unwrap_or(0.0) * unit)
        })
    };
    let of_clocks = || {
        let sixtieths = [1, 2, 3, 5, 10, 15, 20, 30].map(|n| [n * SECOND, n * MINUTE]).concat();
        let hours = [1, 2, 3, 4, 6, 8, 12].map(|n| n * HOUR);
        let days = [1, 2, 7, 14, 28].map(|n| n * DAY);
        [sixtieths, hours.to_vec(), days.to_vec()].concat().into_iter().map(|micros| micros as f64)
    };
    let mut steps: Vec<f64> = match kind {
        Some(TimeKind::Number | TimeKind::Integer) | None => parts.chain(decimal(1.0)).collect(),
        _ => {
            let short = decimal(1.0).filter(|step| *step < SECOND as f64);
            let long = decimal(DAY as f64).filter(|step| *step >= 50.0 * DAY as f64);
            parts.chain(short).chain(of_clocks()).chain(long).collect()
        }
    };
    let is_whole = |step: f64| kind == Some(TimeKind::Number) || step.fract() == 0.0;
    steps.retain(|step| range.contains(step) && *step > 0.0 && is_whole(*step));
    steps.sort_by(|a, b| b.total_cmp(a));
    steps.dedup();
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_such_as_people_would_choose() {
        assert_eq!(
            round_steps(Some(TimeKind::Number), 1.1, 0.24..=3.0),
            [2.5, 2.0, 1.1, 1.0, 0.55, 0.5, 0.25]
        );
        assert_eq!(round_steps(Some(TimeKind::Integer), 7.0, 2.0..=30.0), [25.0, 20.0, 10.0, 7.0, 5.0, 2.0]);
        let days = round_steps(Some(TimeKind::Date), DAY as f64, HOUR as f64..=30.0 * DAY as f64);
        assert!(
            days.contains(&(7.0 * DAY as f64))
                && days.iter().all(|step| step % HOUR as f64 == 0.0 || *step < DAY as f64)
        );
    }

    #[test]
    fn lengths_are_said_in_two_digits() {
        assert_eq!(duration(Step::Number(0.25), 0.2612), "0.065");
        assert_eq!(duration(Step::Micros(HOUR), 0.25), "15min");
    }
}
