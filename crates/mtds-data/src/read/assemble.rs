//! From rows in memory to a family: order, steps, gaps, inputs known ahead, names.

use mtds::{Family, Sequence, Signal};

use super::collect::{Collector, Content};
use super::options::{Columns, ReadOptions, ResampleMethod};
use super::order::{Duplicates, Ordered};
use super::regular::Grid;
use super::resample;
use super::roles::{Role, list};
use super::{ReadFamily, share};
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
    pub outputs: Vec<f64>,
    /// `n_time × d_input`.
    pub inputs: Vec<f64>,
}

/// Makes a family of all rows that were collected.
///
/// # Errors
/// [`Error::Data`] as the modules of each step say.
pub(crate) fn assemble(data: &Collector<'_>, options: &ReadOptions) -> Result<ReadFamily> {
    let mut notes = Vec::new();
    if data.rows.is_empty() {
        return Err(data_error(data, Problem::NoRows { found: "only a header" }));
    }
    let used = Used::new(data, &mut notes)?;
    let averaged = options.resample.is_some_and(|resample| resample.method == ResampleMethod::Mean);
    let duplicates = if averaged { Duplicates::Noted } else { Duplicates::Refused };
    let ordered = Ordered::new(data, duplicates, &mut notes)?;
    let (step, all) = match options.resample {
        Some(resample) => resample::resample(data, &ordered, &used, resample, &mut notes)?,
        None => {
            let grid = Grid::new(data, &ordered, &mut notes)?;
            let place = |i| on_grid(data, &ordered, &grid, &used, i, &mut notes);
            (grid.step, (0..data.series.len()).map(place).collect::<Result<Vec<_>>>()?)
        }
    };
    let kind = axis_kind(data, step);
    let starts = all.iter().map(|steps| steps.start).collect();
    let columns = used.columns(data);
    let family = build(data, all, &columns, &mut notes)?;
    Ok(ReadFamily { family, columns, time: TimeAxis { kind, step, starts }, notes })
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
    fn new(data: &Collector<'_>, notes: &mut Vec<Note>) -> Result<Self> {
        let mut used = Self { outputs: Vec::new(), inputs: Vec::new() };
        let mut ignore = |name: &str, why: String| notes.push(Note::IgnoredColumn { name: name.into(), why });
        for &at in &data.roles.ignored {
            ignore(&data.roles.names[at], "it is neither named nor called y… or u…".into());
        }
        for (index, column) in data.roles.values.iter().enumerate() {
            match (column.role, data.contents[index]) {
                (Role::Input, _) => used.inputs.push(index),
                (Role::OutputIfNumeric, Content::Else { row }) => {
                    ignore(&column.name, format!("row {row} holds no number"));
                }
                (Role::OutputIfNumeric, Content::Nothing) => ignore(&column.name, "it is empty".into()),
                _ => used.outputs.push(index),
            }
        }
        if used.outputs.is_empty() {
            return Err(data_error(data, Problem::NoOutputs { found: list(&data.roles.names) }));
        }
        Ok(used)
    }

    fn columns(&self, data: &Collector<'_>) -> Columns {
        let names = |indices: &[usize]| indices.iter().map(|&i| data.roles.values[i].name.clone()).collect();
        Columns {
            series: data.roles.names[data.roles.series].clone(),
            time: data.roles.names[data.roles.time].clone(),
            label: data.roles.label.map(|at| data.roles.names[at].clone()),
            outputs: names(&self.outputs),
            inputs: names(&self.inputs),
        }
    }
}

/// The values of some columns of an entry.
pub(crate) fn values<'d>(
    data: &'d Collector<'_>,
    entry: u32,
    columns: &'d [usize],
) -> impl Iterator<Item = f64> + 'd {
    let row = &data.values[entry as usize * data.roles.values.len()..];
    columns.iter().map(move |&column| row[column])
}

/// The rows of sequence `i` at their places; steps between them are missing.
fn on_grid(
    data: &Collector<'_>,
    ordered: &Ordered,
    grid: &Grid,
    used: &Used,
    i: usize,
    notes: &mut Vec<Note>,
) -> Result<Steps> {
    let entries = ordered.entries(i);
    let n_time = grid.n_time(ordered, i);
    let place = |k: usize| grid.place(ordered, i, k);
    if n_time > entries.len() {
        note_gaps(data, used, entries, &(0..entries.len()).map(place).collect::<Vec<_>>(), notes)?;
    }
    let mut outputs = vec![f64::NAN; n_time * used.outputs.len()];
    let mut inputs = Vec::with_capacity(n_time * used.inputs.len());
    for (k, &entry) in entries.iter().enumerate() {
        let row = &mut outputs[place(k) * used.outputs.len()..][..used.outputs.len()];
        row.iter_mut().zip(values(data, entry, &used.outputs)).for_each(|(to, from)| *to = from);
        inputs.extend(values(data, entry, &used.inputs));
    }
    Ok(Steps { start: data.times.get(entries[0] as usize), n_time, outputs, inputs })
}

/// Notes the gaps of one sequence, or refuses them where inputs would be missing.
fn note_gaps(
    data: &Collector<'_>,
    used: &Used,
    entries: &[u32],
    places: &[usize],
    notes: &mut Vec<Note>,
) -> Result<()> {
    let mut gaps = (1..places.len()).filter(|&j| places[j] > places[j - 1] + 1);
    let Some(first) = gaps.next() else {
        return Ok(());
    };
    let series = data.series[data.series_of[entries[0] as usize] as usize].id.clone();
    let before_row = data.rows[entries[first - 1] as usize];
    let after_row = data.rows[entries[first] as usize];
    if !used.inputs.is_empty() {
        let n_steps = (places[first] - places[first - 1] - 1) as u64;
        let problem = Problem::GapInInputs { series, n_steps, before_row };
        return Err(Error::data(data.file, Place::row(after_row), problem));
    }
    let n_steps = places[places.len() - 1] + 1 - places.len();
    notes.push(Note::Gaps { series, n_gaps: 1 + gaps.count(), n_steps, before_row, after_row });
    Ok(())
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
