//! Inputs at steps without a row.
//!
//! An input is known at all times, so a row that is not there leaves the value of the row before in force: doors stay open, rates go
//! on. Not so where an input comes in single pulses, as doses and blows do: 0 but in rows that stand alone. Between rows it is 0 then, or a
//! dose would be given again at every step until the next row. Which inputs are pulses is found out when a model is learned, and
//! stays with it: a new member may have too few rows to tell.

use super::assemble::{Steps, Used};
use super::collect::Collector;
use super::options::ReadOptions;
use super::order::Ordered;
use crate::note::Note;

/// The inputs that come in single pulses, by column: those that the options name, else those that look like it.
pub(crate) fn pulses(
    data: &Collector<'_>,
    ordered: &Ordered,
    (used, dynamic): (&Used, &[usize]),
    options: &ReadOptions,
) -> Vec<String> {
    let name = |column: usize| &data.roles.values[column].name;
    let is_pulse = |&column: &usize| match &options.pulses {
        Some(known) => known.contains(name(column)),
        None => comes_in_pulses(data, ordered, column),
    };
    let columns = dynamic.iter().map(|&at| used.inputs[at]);
    columns.filter(is_pulse).map(|column| name(column).clone()).collect()
}

/// Whether a column is 0 in at least half of all rows, and nowhere else than 0 in two rows that follow each other.
fn comes_in_pulses(data: &Collector<'_>, ordered: &Ordered, column: usize) -> bool {
    let (mut n_pulses, mut n_rows) = (0, 0);
    for i in 0..data.series.len() {
        let mut was_pulse = false;
        for entry in ordered.entries(i) {
            let is_pulse = data.values[column].get(entry) != 0.0;
            if was_pulse && is_pulse {
                return false;
            }
            n_pulses += usize::from(is_pulse);
            n_rows += 1;
            was_pulse = is_pulse;
        }
    }
    n_pulses > 0 && 2 * n_pulses <= n_rows
}

/// Fills in the inputs of steps without a row, `dynamic` ones among them, and says so.
pub(crate) fn fill(
    data: &Collector<'_>,
    (used, dynamic): (&Used, &[usize]),
    pulses: &[String],
    all: &mut [Steps],
    notes: &mut Vec<Note>,
) {
    let width = used.inputs.len();
    let names: Vec<&String> = used.inputs.iter().map(|&column| &data.roles.values[column].name).collect();
    let mut n_steps = 0;
    for steps in all.iter_mut().filter(|_| !dynamic.is_empty()) {
        for t in 1..steps.n_time {
            let (before, now) = steps.inputs.split_at_mut(t * width);
            let now = &mut now[..width];
            n_steps += usize::from(now[dynamic[0]].is_nan());
            for &c in dynamic {
                if now[c].is_nan() {
                    now[c] = if pulses.contains(names[c]) { 0.0 } else { before[(t - 1) * width + c] };
                }
            }
        }
    }
    if n_steps > 0 {
        let (zero, held) = dynamic.iter().map(|&c| names[c].clone()).partition(|name| pulses.contains(name));
        notes.push(Note::FilledInputs { n_steps, held, zero });
    }
}
