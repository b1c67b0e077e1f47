//! Columns that do not change within a sequence: numbers that are known once and for all, and categories, which become indicators.
//!
//! ```text
//! dose              u = dose                                  at every step
//! diet: hay, oats   u = 1 where the diet is oats, else 0      one input for each level but the first
//! ```
//!
//! One row of a sequence is enough to say its value; the others may repeat it or leave it out.

use mtds::parts::Attribute;

use super::assemble::{Steps, Used};
use super::collect::{Collector, Content};
use super::options::ReadOptions;
use crate::note::Note;
use crate::problem::{Place, Problem};
use crate::{Error, Result};

/// Sequences from which on whole numbers without a gap, each of one sequence, are taken for names.
const FEWEST_NUMBERED: usize = 8;

/// An input column that does not change within a sequence.
pub(crate) struct Constant {
    /// Where it stands among the inputs.
    pub input: usize,
    /// What the model knows of it.
    pub attribute: Attribute,
    /// For each sequence, the values of the inputs that it becomes.
    values: Vec<Vec<f64>>,
}

/// All constants among the inputs; inputs that may not be missing and are, are refused.
///
/// # Errors
/// [`Problem::MissingInput`], [`Problem::MissingAttribute`], [`Problem::AttributeChanges`], [`Problem::NamesSequences`].
pub(crate) fn find(
    data: &Collector<'_>,
    used: &mut Used,
    options: &ReadOptions,
    notes: &mut Vec<Note>,
) -> Result<Vec<Constant>> {
    let (mut found, mut kept) = (vec![], vec![]);
    for &column in &used.inputs {
        let name = &data.roles.values[column].name;
        let told = options.attributes.as_ref().map(|all| all.iter().find(|of| of.column == *name));
        let is_constant = match told {
            Some(told) => told.is_some() || data.contents[column] == Content::Categories,
            None => data.contents[column] == Content::Categories || differs_between_only(data, column),
        };
        if !is_constant {
            if let Some(row) = data.missing[column] {
                return Err(Error::data(data.file, Place::cell(row, name), Problem::MissingInput));
            }
            kept.push(column);
            continue;
        }
        let of_series = per_series(data, column)?;
        let constant = match (&data.contents[column], told.flatten()) {
            (Content::Categories, told) => categories(data, column, &of_series, told)?,
            (_, told) => {
                check_numbered(data, name, &of_series, told)?;
                let attribute = Attribute { column: name.clone(), levels: vec![] };
                Constant {
                    input: 0,
                    attribute,
                    values: of_series.into_iter().map(|value| vec![value]).collect(),
                }
            }
        };
        if constant.attribute.levels.len() == 1 {
            let why = format!("all sequences have `{}`", constant.attribute.levels[0]);
            notes.push(Note::IgnoredColumn { name: name.clone(), why });
            continue;
        }
        found.push(Constant { input: kept.len(), ..constant });
        kept.push(column);
    }
    used.inputs = kept;
    if !found.is_empty() {
        let attributes = found.iter().map(|constant| constant.attribute.clone()).collect();
        notes.push(Note::Attributes { attributes });
    }
    Ok(found)
}

/// Whether a column of numbers never changes within a sequence, though some have several rows, and is not the same for all.
pub(crate) fn differs_between_only(data: &Collector<'_>, column: usize) -> bool {
    let mut of_series: Vec<Option<f64>> = vec![None; data.series.len()];
    for (value, series) in data.values[column].iter().zip(data.series_of.each()) {
        let known = &mut of_series[series];
        match known {
            _ if value.is_nan() => {}
            Some(known) if *known != value => return false,
            _ => *known = Some(value),
        }
    }
    let mut known = of_series.iter().flatten();
    let first = known.next();
    let n_long = data.series.iter().filter(|series| series.n_rows > 1).count();
    known.any(|value| Some(value) != first) && 2 * n_long >= data.series.len()
}

/// The one value of each sequence.
fn per_series(data: &Collector<'_>, column: usize) -> Result<Vec<f64>> {
    let name = &data.roles.values[column].name;
    let mut found: Vec<Option<(f64, u64)>> = vec![None; data.series.len()];
    for (entry, (value, i)) in data.values[column].iter().zip(data.series_of.each()).enumerate() {
        let row = data.rows.get(entry);
        match found[i] {
            _ if value.is_nan() => {}
            None => found[i] = Some((value, row)),
            Some((known, first_row)) if known != value => {
                let shown = |value: f64| match data.contents[column] {
                    Content::Categories => data.levels[column][value as usize].clone(),
                    _ => value.to_string(),
                };
                let series = data.series[i].id.clone();
                let (expected, found) = (shown(known), shown(value));
                let problem = Problem::AttributeChanges { series, expected, first_row, found };
                return Err(Error::data(data.file, Place::cell(row, name), problem));
            }
            Some(_) => {}
        }
    }
    if let Some(i) = found.iter().position(Option::is_none) {
        let problem = Problem::MissingAttribute { series: data.series[i].id.clone() };
        return Err(Error::data(data.file, Place::column(name), problem));
    }
    Ok(found.into_iter().flatten().map(|(value, _)| value).collect())
}

/// Levels in order of the alphabet, or those that a model knows.
fn categories(
    data: &Collector<'_>,
    column: usize,
    of_series: &[f64],
    told: Option<&Attribute>,
) -> Result<Constant> {
    let name = &data.roles.values[column].name;
    let of_series: Vec<&String> = of_series.iter().map(|&at| &data.levels[column][at as usize]).collect();
    let attribute = told.cloned().unwrap_or_else(|| {
        let mut levels: Vec<String> = of_series.iter().map(|level| (*level).clone()).collect();
        levels.sort();
        levels.dedup();
        Attribute { column: name.clone(), levels }
    });
    let (n_levels, n_seq) = (attribute.levels.len(), data.series.len());
    let refused = |problem| Error::data(data.file, Place::column(name), problem);
    if told.is_none() && n_levels > 1 && 2 * n_levels > n_seq {
        return Err(refused(Problem::NamesSequences { n_values: n_levels, n_seq }));
    }
    let indicators = of_series.iter().enumerate().map(|(i, level)| {
        attribute.indicators(level).ok_or_else(|| {
            let (series, known) = (data.series[i].id.clone(), attribute.levels.join(", "));
            refused(Problem::UnknownCategory { series, found: (*level).clone(), known })
        })
    });
    let values = indicators.collect::<Result<_>>()?;
    Ok(Constant { input: 0, attribute, values })
}

/// Refuses numbers that only count the sequences.
fn check_numbered(
    data: &Collector<'_>,
    name: &str,
    of_series: &[f64],
    told: Option<&Attribute>,
) -> Result<()> {
    let mut sorted = of_series.to_vec();
    sorted.sort_by(f64::total_cmp);
    let is_count = sorted.windows(2).all(|pair| pair[1] - pair[0] == 1.0);
    if told.is_none() && sorted.len() >= FEWEST_NUMBERED && is_count {
        let problem = Problem::NamesSequences { n_values: sorted.len(), n_seq: sorted.len() };
        return Err(Error::data(data.file, Place::column(name), problem));
    }
    Ok(())
}

/// The inputs by name, constants as what they become.
pub(crate) fn names(data: &Collector<'_>, used: &Used, constants: &[Constant]) -> Vec<String> {
    let of = |(at, &column): (usize, &usize)| match constants.iter().find(|constant| constant.input == at) {
        Some(constant) => constant.attribute.inputs(),
        None => vec![data.roles.values[column].name.clone()],
    };
    used.inputs.iter().enumerate().flat_map(of).collect()
}

/// Puts the values of constants into the inputs of all sequences, at every step.
pub(crate) fn expand(all: &mut [Steps], used: &Used, constants: &[Constant]) {
    if constants.is_empty() {
        return;
    }
    for (i, steps) in all.iter_mut().enumerate() {
        let row = |row: &[f64]| -> Vec<f64> {
            let of =
                |(at, &value): (usize, &f64)| match constants.iter().find(|constant| constant.input == at) {
                    Some(constant) => constant.values[i].clone(),
                    None => vec![value],
                };
            row.iter().enumerate().flat_map(of).collect()
        };
        steps.inputs = steps.inputs.chunks_exact(used.inputs.len()).flat_map(row).collect();
    }
}
