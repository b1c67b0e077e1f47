//! From rows in memory to a family: order, steps, gaps, inputs known ahead, names.

use mtds::{Family, Sequence, Signal};

use super::attributes::{self, Constant};
use super::block::{self, Stretch};
use super::collect::{Collector, Content};
use super::options::{Columns, ReadOptions, ResampleMethod};
use super::order::{Duplicates, Ordered};
use super::regular::{Gaps, Grid};
use super::resample;
use super::roles::{Role, list};
use super::{ReadFamily, ReadInputs, between_rows, share};
use crate::note::Note;
use crate::problem::{Place, Problem};
use crate::time::{Time, TimeAxis, TimeKind};
use crate::{Error, Result};

/// Which value columns are what, those without numbers left out.
pub(crate) struct Used {
    /// Value columns of the outputs.
    pub outputs: Vec<usize>,
    /// Value columns of the inputs.
    pub inputs: Vec<usize>,
}

/// The rows of one sequence on the common step.
pub(crate) struct Steps {
    /// Time of the first row.
    pub start: Time,
    /// Number of rows.
    pub n_time: usize,
    /// `n_time × d_obs`.
    pub outputs: Stretch,
    /// `n_time × d_input`.
    pub inputs: Vec<f64>,
}

/// All sequences on steps, before they are a family.
struct Stepped {
    all: Vec<Steps>,
    columns: Columns,
    time: TimeAxis,
    notes: Vec<Note>,
}

/// Makes a family of all rows that were collected.
///
/// # Errors
/// [`Error::Data`] as the modules of each step say.
pub(crate) fn family(data: &Collector<'_>, options: &ReadOptions) -> Result<ReadFamily> {
    let Stepped { all, columns, time, mut notes } = stepped(data, options)?;
    let family = build(data, all, &columns, &mut notes)?;
    Ok(ReadFamily { family, columns, time, notes })
}

/// The inputs of all sequences.
///
/// # Errors
/// As [`family`].
pub(crate) fn inputs(data: &Collector<'_>, options: &ReadOptions) -> Result<ReadInputs> {
    let Stepped { all, columns, time, notes } = stepped(data, options)?;
    let signal = |steps: Steps| Signal::new(steps.n_time, columns.inputs.len(), steps.inputs);
    let signals = all.into_iter().map(signal).collect::<mtds::Result<_>>();
    let ids = data.series.iter().map(|series| series.id.clone()).collect();
    Ok(ReadInputs { ids, signals: signals.map_err(|error| data_error(data, error.into()))?, time, notes })
}

/// Order, steps, gaps.
fn stepped(data: &Collector<'_>, options: &ReadOptions) -> Result<Stepped> {
    let mut notes = Vec::new();
    if data.rows.is_empty() {
        return Err(data_error(data, Problem::NoRows { found: "only a header" }));
    }
    let mut used = Used::new(data, options, &mut notes)?;
    let constants = attributes::find(data, &mut used, options, &mut notes)?;
    let averaged = options.resample.is_some_and(|resample| resample.method == ResampleMethod::Mean);
    let duplicates = if averaged { Duplicates::Noted } else { Duplicates::Refused };
    let ordered = Ordered::new(data, duplicates, &mut notes)?;
    let dynamic = |at: &usize| constants.iter().all(|constant| constant.input != *at);
    let dynamic: Vec<usize> = (0..used.inputs.len()).filter(dynamic).collect();
    let pulses = between_rows::pulses(data, &ordered, (&used, &dynamic), options);
    let (step, mut all) = match options.resample {
        Some(resample) => resample::resample(data, &ordered, &used, resample, &mut notes)?,
        None => {
            let grid = Grid::new(data, &ordered, options.step, &mut notes)?;
            let (mut all, gaps) = on_grid(data, &ordered, &grid, &used);
            notes.extend(gaps);
            between_rows::fill(data, (&used, &dynamic), &pulses, &mut all, &mut notes);
            (grid.step, all)
        }
    };
    attributes::expand(&mut all, &used, &constants);
    let kind = axis_kind(data, step);
    let starts = all.iter().map(|steps| steps.start).collect();
    Ok(Stepped {
        all,
        columns: used.columns(data, &constants, pulses),
        time: TimeAxis { kind, step, starts },
        notes,
    })
}

/// Resampling may bring times off what their kind can write.
fn axis_kind(data: &Collector<'_>, step: crate::time::Step) -> TimeKind {
    use crate::time::{Step, calendar::DAY};
    match (data.times.kind.unwrap_or(TimeKind::Integer), step) {
        (TimeKind::Integer, Step::Number(_)) => TimeKind::Number,
        (TimeKind::Date, Step::Micros(step)) if step % DAY != 0 => TimeKind::DateTime,
        (kind, _) => kind,
    }
}

pub(crate) fn data_error(data: &Collector<'_>, problem: Problem) -> Error {
    Error::data(data.file, Place::default(), problem)
}

impl Used {
    fn new(data: &Collector<'_>, options: &ReadOptions, notes: &mut Vec<Note>) -> Result<Self> {
        let mut used = Self { outputs: Vec::new(), inputs: Vec::new() };
        // Columns that nobody named, and that do not change within a sequence: outputs only if there are no others.
        let mut constants = vec![];
        let mut ignore = |name: &str, why: String| notes.push(Note::IgnoredColumn { name: name.into(), why });
        for &at in data.roles.ignored.iter().filter(|_| !options.inputs_alone) {
            ignore(&data.roles.names[at], "it is neither named nor called y… or u…".into());
        }
        for (index, column) in data.roles.values.iter().enumerate() {
            match (column.role, data.contents[index]) {
                (Role::Input, _) => used.inputs.push(index),
                (Role::OutputIfNumeric, Content::Else { row }) => {
                    ignore(&column.name, format!("row {row} holds no number"));
                }
                (Role::OutputIfNumeric, Content::Nothing) => ignore(&column.name, "it is empty".into()),
                (Role::OutputIfNumeric, _) if attributes::differs_between_only(data, index) => {
                    constants.push((index, column.name.clone()));
                }
                _ => used.outputs.push(index),
            }
        }
        match used.outputs.is_empty() {
            true => used.outputs = constants.into_iter().map(|(index, _)| index).collect(),
            false => constants.into_iter().for_each(|(_, name)| {
                let why =
                    "it does not change within a sequence; it can be an input, if it is named as one".into();
                notes.push(Note::IgnoredColumn { name, why });
            }),
        }
        if used.outputs.is_empty() && !options.inputs_alone {
            return Err(data_error(data, Problem::NoOutputs { found: list(&data.roles.names) }));
        }
        Ok(used)
    }

    fn columns(&self, data: &Collector<'_>, constants: &[Constant], pulses: Vec<String>) -> Columns {
        let names = |indices: &[usize]| indices.iter().map(|&i| data.roles.values[i].name.clone()).collect();
        Columns {
            series: data.roles.names[data.roles.series].clone(),
            time: data.roles.names[data.roles.time].clone(),
            label: data.roles.label.map(|at| data.roles.names[at].clone()),
            outputs: names(&self.outputs),
            inputs: attributes::names(data, self, constants),
            attributes: constants.iter().map(|constant| constant.attribute.clone()).collect(),
            pulses,
        }
    }
}

/// The values of some columns of an entry.
pub(crate) fn values<'d>(
    data: &'d Collector<'_>,
    entry: usize,
    columns: &'d [usize],
) -> impl Iterator<Item = f64> + 'd {
    columns.iter().map(move |&column| data.values[column].get(entry))
}

/// Writes the values of some columns, entry by entry.
fn write_table(data: &Collector<'_>, ordered: &Ordered, i: usize, columns: &[usize], table: &mut [f64]) {
    let width = columns.len();
    for (c, &column) in columns.iter().enumerate() {
        let to = table.get_mut(c..).unwrap_or_default();
        match ordered.in_one_piece(i) {
            Some(entries) => data.values[column].write(entries, to, width),
            None => {
                let to = to.iter_mut().step_by(width);
                to.zip(ordered.entries(i)).for_each(|(to, entry)| *to = data.values[column].get(entry));
            }
        }
    }
}

/// The rows of all sequences at their places, and what there is to say of gaps; rows that share a place are averaged, and steps between them are missing.
fn on_grid(data: &Collector<'_>, ordered: &Ordered, grid: &Grid, used: &Used) -> (Vec<Steps>, Vec<Note>) {
    let n_time = |i: usize| match grid.places(ordered, i) {
        None => ordered.places(i).len(),
        Some(places) => places[places.len() - 1] + 1,
    };
    let write = |i: usize, columns: &[usize], to: &mut [f64]| match grid.places(ordered, i) {
        None => write_table(data, ordered, i, columns, to),
        Some(places) => write_means(data, ordered.entries(i).zip(places), columns, to),
    };
    let (d_obs, d_input) = (used.outputs.len(), used.inputs.len());
    let rows = block::USUAL / d_obs.max(1);
    let groups = ordered.by_groups(rows, |group| {
        let lengths: Vec<usize> = group.clone().map(|i| n_time(i) * d_obs).collect();
        let outputs = block::filled(&lengths, |k, to| write(group.start + k, &used.outputs, to));
        let placed = group.zip(outputs).map(|(i, outputs)| {
            let mut inputs = vec![0.0; n_time(i) * d_input];
            write(i, &used.inputs, &mut inputs);
            let start = data.times.get(ordered.entry(ordered.bounds[i]));
            let told = grid.places(ordered, i).filter(|_| grid.gaps == Gaps::EachTold);
            let gaps = told.and_then(|places| gaps(data, ordered, i, places));
            (Steps { start, n_time: n_time(i), outputs, inputs }, gaps)
        });
        placed.collect::<Vec<_>>()
    });
    let (all, gaps): (Vec<_>, Vec<_>) = groups.into_iter().flatten().unzip();
    (all, gaps.into_iter().flatten().collect())
}

/// Writes the mean of what is known of each column at each place, NaN where nothing is.
fn write_means<'p>(
    data: &Collector<'_>,
    entries: impl Iterator<Item = (usize, &'p usize)>,
    columns: &[usize],
    table: &mut [f64],
) {
    let width = columns.len();
    table.fill(f64::NAN);
    let mut counts: (usize, Vec<u32>) = (usize::MAX, vec![0; width]);
    for (entry, &place) in entries {
        if counts.0 != place {
            counts.0 = place;
            counts.1.fill(0);
        }
        for (c, value) in values(data, entry, columns).enumerate().filter(|(_, value)| !value.is_nan()) {
            let (to, n) = (&mut table[place * width + c], &mut counts.1[c]);
            *n += 1;
            *to = if *n == 1 { value } else { *to + (value - *to) / f64::from(*n) };
        }
    }
}

/// The gaps of one sequence, if it has any.
fn gaps(data: &Collector<'_>, ordered: &Ordered, i: usize, places: &[usize]) -> Option<Note> {
    let mut gaps = (1..places.len()).filter(|&j| places[j] > places[j - 1] + 1);
    let first = gaps.next()?;
    let series = data.series[i].id.clone();
    let row = |k: usize| data.rows.get(ordered.entry(ordered.bounds[i] + k));
    let (before_row, after_row) = (row(first - 1), row(first));
    let n_steps = places[places.len() - 1] + 1 - places.len();
    Some(Note::Gaps { series, n_gaps: 1 + gaps.count(), n_steps, before_row, after_row })
}

/// Sequences with ids, labels and inputs, under the names of their columns.
fn build(data: &Collector<'_>, all: Vec<Steps>, columns: &Columns, notes: &mut Vec<Note>) -> Result<Family> {
    let (d_obs, d_input) = (columns.outputs.len(), columns.inputs.len());
    let labels = data.series.iter().map(|series| series.label.as_ref().map(|(label, _)| label.clone()));
    let ids = data.series.iter().map(|series| series.id.clone());
    let parts = ids.zip(labels).zip(all).map(|((id, label), steps)| share::Part {
        id,
        label,
        outputs: (steps.n_time, steps.outputs),
        inputs: (steps.n_time, steps.inputs),
    });
    let family = share::family(parts.collect(), d_obs, d_input, notes);
    let family = family.and_then(|family| family.with_output_names(columns.outputs.clone()));
    let family = family.and_then(|family| family.with_input_names(columns.inputs.clone()));
    family.map_err(|error| data_error(data, error.into()))
}

/// A signal of rows that were laid out by this crate.
pub(crate) fn sequence(id: String, outputs: Signal, label: Option<String>) -> mtds::Result<Sequence> {
    let sequence = Sequence::new(id, outputs)?;
    Ok(label.into_iter().fold(sequence, Sequence::with_label))
}
