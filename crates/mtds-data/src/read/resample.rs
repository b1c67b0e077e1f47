//! Rows at any times brought to steps of one length.
//!
//! ```text
//! p_j = (t_j − t_first) / step        place of row j, in steps
//! mean:    new row k = mean of the rows with k ≤ p_j < k + 1
//! linear:  new row k = line through the rows around k, where these are near enough
//! ```
//!
//! Steps of months begin at the first of the month of the first row, and p is measured in months, parts of
//! one by its length.

use super::assemble::{Steps, Used, data_error, values};
use super::block::Stretch;
use super::collect::Collector;
use super::options::{Resample, ResampleMethod};
use super::order::Ordered;
use crate::Result;
use crate::note::Note;
use crate::problem::Problem;
use crate::time::calendar::{in_month, month_start};
use crate::time::{Step, Time, TimeKind, in_months};

/// Neighbouring rows further apart than so many steps, and typical distances, leave a gap.
const NEAR: f64 = 2.0;
/// New rows per old one, and beyond that, before a step must be a mistake.
const MOST_STEPS: (f64, f64) = (1000.0, 1e6);

/// One column or several of one sequence, at its places.
struct Placed<'d> {
    data: &'d Collector<'d>,
    entries: Vec<usize>,
    /// Place of each entry, in steps, ascending.
    places: Vec<f64>,
    n_time: usize,
}

/// The step as it fits the times of the file, and all sequences in such steps.
///
/// # Errors
/// [`Problem::Resample`] if the step does not fit the kind of time, or is far too small.
pub(crate) fn resample(
    data: &Collector<'_>,
    ordered: &Ordered,
    used: &Used,
    resample: Resample,
    notes: &mut Vec<Note>,
) -> Result<(Step, Vec<Steps>)> {
    let refuse =
        |why: &str| data_error(data, Problem::Resample { step: resample.step.to_string(), why: why.into() });
    let step = fitting_step(data, resample.step).map_err(|why| refuse(&why))?;
    let starts: Vec<Time> =
        (0..data.series.len()).map(|i| start(data, ordered.entry(ordered.bounds[i]), step)).collect();
    let places: Vec<Vec<f64>> = (0..data.series.len())
        .map(|i| ordered.entries(i).map(|entry| place(data, entry, starts[i], step)).collect())
        .collect();
    let total: f64 = places.iter().map(|places| places[places.len() - 1] + 1.0).sum();
    if total.is_nan() || total > MOST_STEPS.0 * data.rows.len() as f64 + MOST_STEPS.1 {
        return Err(refuse("it would make far more steps than there are rows; give a longer one"));
    }
    let near = NEAR * typical_distance(&places).max(1.0);
    let all = places.into_iter().zip(starts).enumerate().map(|(i, (places, start))| {
        let entries = ordered.entries(i).collect();
        let n_time = places[places.len() - 1] as usize + 1;
        let placed = Placed { data, entries, places, n_time };
        let (outputs, inputs) = match resample.method {
            ResampleMethod::Mean => {
                (placed.mean(&used.outputs), filled(placed.mean(&used.inputs), &used.inputs))
            }
            ResampleMethod::Linear => {
                (placed.linear(&used.outputs, near), placed.linear(&used.inputs, f64::MAX))
            }
        };
        Steps { start, n_time, outputs: Stretch::Own(outputs), inputs }
    });
    let all: Vec<Steps> = all.collect();
    let n_steps = all.iter().map(|steps| steps.n_time).sum();
    notes.push(Note::Resampled { resample: Resample { step, ..resample }, n_rows: data.rows.len(), n_steps });
    Ok((step, all))
}

/// A bare number is a step between numbers; dates need a unit.
fn fitting_step(data: &Collector<'_>, step: Step) -> std::result::Result<Step, String> {
    let kind = data.times.kind.unwrap_or(TimeKind::Integer);
    let is_positive = step.size() > 0.0 && step.size().is_finite();
    match (kind, step) {
        _ if !is_positive => Err("expected a number above 0".into()),
        (TimeKind::Number, Step::Integer(step)) => Ok(Step::Number(step as f64)),
        (TimeKind::Integer, Step::Integer(_)) | (TimeKind::Integer | TimeKind::Number, Step::Number(_)) => {
            Ok(step)
        }
        (TimeKind::Integer | TimeKind::Number, _) => {
            Err("the times are numbers; expected a step without a unit, such as 0.5".into())
        }
        (_, Step::Integer(_) | Step::Number(_)) => {
            Err("the times are dates; expected a step with a unit, such as 30s, 6h, 1d or 1mo".into())
        }
        (_, Step::MonthEnds(step)) => Ok(Step::Months(step)),
        (_, step) => Ok(step),
    }
}

/// The first step of a sequence whose first row is `entry`.
fn start(data: &Collector<'_>, entry: usize, step: Step) -> Time {
    match (data.times.get(entry), step) {
        (Time::Micros(time), Step::Months(_)) => Time::Micros(month_start(in_month(time).month)),
        (Time::Integer(time), Step::Number(_)) => Time::Number(time as f64),
        (time, _) => time,
    }
}

/// Steps from `start` to an entry.
fn place(data: &Collector<'_>, entry: usize, start: Time, step: Step) -> f64 {
    match (data.times.get(entry), start, step) {
        (Time::Micros(time), Time::Micros(start), Step::Months(step)) => {
            (in_months(time) - in_months(start)) / step as f64
        }
        (Time::Micros(time), Time::Micros(start), _) | (Time::Integer(time), Time::Integer(start), _) => {
            (i128::from(time) - i128::from(start)) as f64 / step.size()
        }
        (Time::Integer(time), Time::Number(start), _) => (time as f64 - start) / step.size(),
        // A row that rounding put just below its step belongs to it.
        (Time::Number(time), Time::Number(start), _) => snap((time - start) / step.size()),
        _ => 0.0,
    }
}

fn snap(place: f64) -> f64 {
    if (place - place.round()).abs() < 1e-9 * place.abs().max(1.0) { place.round() } else { place }
}

/// Lower median of the distances of neighbouring rows, in steps.
fn typical_distance(places: &[Vec<f64>]) -> f64 {
    let pairs = places.iter().flat_map(|places| places.windows(2));
    let mut distances: Vec<f64> = pairs.map(|pair| pair[1] - pair[0]).collect();
    if distances.is_empty() {
        return 0.0;
    }
    let middle = (distances.len() - 1) / 2;
    *distances.select_nth_unstable_by(middle, f64::total_cmp).1
}

impl Placed<'_> {
    /// The mean of each column over the rows of each step, `n_time × columns`; NaN without a row.
    fn mean(&self, columns: &[usize]) -> Vec<f64> {
        let width = columns.len();
        let mut sums = vec![0.0; self.n_time * width];
        let mut counts = vec![0u32; self.n_time * width];
        for (&entry, &place) in self.entries.iter().zip(&self.places) {
            for (c, value) in values(self.data, entry, columns).enumerate() {
                let at = place as usize * width + c;
                if !value.is_nan() {
                    sums[at] += value;
                    counts[at] += 1;
                }
            }
        }
        sums.iter().zip(&counts).map(|(sum, &n)| if n == 0 { f64::NAN } else { sum / f64::from(n) }).collect()
    }

    /// Each column along the lines between its known values that are at most `near` steps apart.
    fn linear(&self, columns: &[usize], near: f64) -> Vec<f64> {
        let mut table = vec![f64::NAN; self.n_time * columns.len()];
        for c in 0..columns.len() {
            let known = self.entries.iter().zip(&self.places).filter_map(|(&entry, &place)| {
                values(self.data, entry, &columns[c..=c]).next().filter(|v| !v.is_nan()).map(|v| (place, v))
            });
            let mut before: Option<(f64, f64)> = None;
            for (place, value) in known {
                let (from, first) = before.unwrap_or((place, value));
                if place - from <= near {
                    for k in from.ceil() as usize..=place.floor() as usize {
                        let part = if place > from { (k as f64 - from) / (place - from) } else { 1.0 };
                        table[k * columns.len() + c] = first + part * (value - first);
                    }
                } else if place.fract() == 0.0 {
                    table[place as usize * columns.len() + c] = value;
                }
                before = Some((place, value));
            }
        }
        table
    }
}

/// Inputs of steps without a row, along the line between the steps around them.
fn filled(mut table: Vec<f64>, columns: &[usize]) -> Vec<f64> {
    let width = columns.len();
    for c in 0..width {
        let mut before: Option<usize> = None;
        for at in (c..table.len()).step_by(width) {
            if table[at].is_nan() {
                continue;
            }
            if let Some(from) = before {
                let (first, last) = (table[from], table[at]);
                for between in (from + width..at).step_by(width) {
                    let part = (between - from) as f64 / (at - from) as f64;
                    table[between] = first + part * (last - first);
                }
            }
            before = Some(at);
        }
    }
    table
}
