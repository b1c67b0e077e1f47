//! A family from the arrays of an archive, in any of the layouts that the module describes.

use std::fs;
use std::path::Path;

use mtds::{Family, Signal};

use super::archive::Archive;
use crate::note::Note;
use crate::problem::{Place, Problem};
use crate::read::block::Stretch;
use crate::read::share::{self, Part};
use crate::read::{Columns, ReadFamily, ReadOptions, list};
use crate::time::TimeAxis;
use crate::{Error, Result};

/// Rows of one sequence: how many, how wide, and the values row by row.
type Rows = (usize, usize, Vec<f64>);

/// The inputs of a family.
enum Inputs {
    None,
    Common(Rows),
    Own(Vec<Rows>),
}

/// Reads a family from the bytes of an archive.
///
/// # Errors
/// [`Error::Data`] naming the array.
pub(crate) fn read(file: &Path, bytes: Vec<u8>, options: &ReadOptions) -> Result<ReadFamily> {
    let mut archive = Archive::new(file, bytes)?;
    let (keys, outputs) = outputs(&mut archive)?;
    let inputs = match &options.inputs_file {
        None => inputs(&mut archive, &outputs)?,
        Some(path) => inputs_beside(path, &keys)?,
    };
    let n_seq = outputs.len();
    let ids = archive.texts("series", n_seq)?.unwrap_or(keys);
    let labels = archive.texts("label", n_seq)?;
    let (outputs, output_names) = named(&mut archive, outputs, ("outputs", "y"), &options.outputs)?;
    let (inputs, input_names) = match inputs {
        Inputs::None if options.inputs.is_empty() => (Inputs::None, Vec::new()),
        Inputs::None => return Err(missing(&archive, "an input", &options.inputs[0], &[])),
        Inputs::Common(rows) => {
            let (mut rows, names) = named(&mut archive, vec![rows], ("inputs", "u"), &options.inputs)?;
            (Inputs::Common(rows.swap_remove(0)), names)
        }
        Inputs::Own(rows) => {
            let (rows, names) = named(&mut archive, rows, ("inputs", "u"), &options.inputs)?;
            (Inputs::Own(rows), names)
        }
    };
    let has_labels = labels.is_some();
    let mut notes = Vec::new();
    let family = family(ids, labels, outputs, inputs, &mut notes)
        .and_then(|family| family.with_output_names(output_names.clone()))
        .and_then(|family| family.with_input_names(input_names.clone()));
    let family = family.map_err(|error| Error::data(file, Place::default(), Problem::Family(error)))?;
    let columns = Columns {
        series: "series".into(),
        time: "t".into(),
        label: has_labels.then(|| "label".into()),
        outputs: output_names,
        inputs: input_names,
        attributes: vec![],
        pulses: vec![],
    };
    Ok(ReadFamily { time: TimeAxis::counted(family.n_seq()), family, columns, notes })
}

/// Names of the sequences and their outputs.
fn outputs(archive: &mut Archive) -> Result<(Vec<String>, Vec<Rows>)> {
    if let Some((shape, values)) = archive.numbers("Y")? {
        let rows = stacked(archive, "Y", &shape, values)?;
        return Ok(((1..=rows.len()).map(|i| i.to_string()).collect(), rows));
    }
    for prefix in ["Y", ""] {
        let keys = counted(archive, prefix);
        if !keys.is_empty() {
            let rows = keys.iter().map(|key| single(archive, key)).collect::<Result<Vec<_>>>()?;
            let ids = keys.iter().map(|key| key[prefix.len()..].to_string()).collect();
            return Ok((ids, rows));
        }
    }
    Err(missing(archive, "the outputs", "Y", &archive.keys))
}

fn inputs(archive: &mut Archive, outputs: &[Rows]) -> Result<Inputs> {
    let n_seq = outputs.len();
    if let Some((shape, values)) = archive.numbers("U")? {
        return Ok(match shape[..] {
            // One input for outputs that are a plain table, too: a row per sequence.
            [n, n_time] if n == n_seq && outputs.iter().all(|rows| rows.1 == 1 && rows.0 == n_time) => {
                Inputs::Own(stacked(archive, "U", &shape, values)?)
            }
            [n_time, d_input] => Inputs::Common((n_time, d_input, values)),
            _ => Inputs::Own(of_all(archive, n_seq, stacked(archive, "U", &shape, values)?)?),
        });
    }
    let keys = counted(archive, "U");
    if keys.is_empty() {
        return Ok(Inputs::None);
    }
    let rows = keys.iter().map(|key| single(archive, key)).collect::<Result<Vec<_>>>()?;
    Ok(Inputs::Own(of_all(archive, n_seq, rows)?))
}

/// The inputs that another file has under the same keys.
fn inputs_beside(path: &Path, keys: &[String]) -> Result<Inputs> {
    let bytes = fs::read(path).map_err(Error::io("read", path))?;
    let mut archive = Archive::new(path, bytes)?;
    let rows = keys.iter().map(|key| single(&mut archive, key)).collect::<Result<Vec<_>>>()?;
    Ok(Inputs::Own(rows))
}

fn of_all(archive: &Archive, n_seq: usize, rows: Vec<Rows>) -> Result<Vec<Rows>> {
    if rows.len() == n_seq {
        return Ok(rows);
    }
    Err(archive.unfit(
        "U",
        &format!("inputs of {n_seq} sequences, as there are outputs"),
        rows.len().to_string(),
    ))
}

/// Keys that are `prefix` and a whole number, by that number.
fn counted(archive: &Archive, prefix: &str) -> Vec<String> {
    let number = |key: &String| {
        let digits = key.strip_prefix(prefix)?;
        // Signs would parse, too.
        digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(())?;
        Some((digits.parse::<u64>().ok()?, key.clone()))
    };
    let mut keys: Vec<_> = archive.keys.iter().filter_map(number).collect();
    keys.sort_unstable();
    keys.into_iter().map(|(_, key)| key).collect()
}

/// An array of one sequence.
fn single(archive: &mut Archive, key: &str) -> Result<Rows> {
    let Some((shape, values)) = archive.numbers(key)? else {
        return Err(missing(archive, "a sequence", key, &archive.keys));
    };
    match shape[..] {
        [n_time] => Ok((n_time, 1, values)),
        [n_time, width] => Ok((n_time, width, values)),
        _ => Err(archive.unfit(key, "an array of time × columns", format!("one of shape {shape:?}"))),
    }
}

/// An array of all sequences, cut along its first axis.
fn stacked(archive: &Archive, key: &str, shape: &[usize], values: Vec<f64>) -> Result<Vec<Rows>> {
    let (n_time, width) = match *shape {
        [_, n_time] => (n_time, 1),
        [_, n_time, width] => (n_time, width),
        _ => {
            let expected = "an array of sequences × time × columns";
            return Err(archive.unfit(key, expected, format!("one of shape {shape:?}")));
        }
    };
    if n_time * width == 0 {
        return Err(archive.unfit(key, "at least one value per sequence", format!("shape {shape:?}")));
    }
    Ok(values.chunks_exact(n_time * width).map(|values| (n_time, width, values.to_vec())).collect())
}

/// The columns asked for, in that order, and the names of the columns.
fn named(
    archive: &mut Archive,
    mut all: Vec<Rows>,
    (key, prefix): (&str, &str),
    asked: &[String],
) -> Result<(Vec<Rows>, Vec<String>)> {
    let width = all.first().map_or(0, |rows| rows.1);
    let names = archive.texts(key, width)?.unwrap_or_else(|| match width {
        1 => vec![prefix.to_string()],
        _ => (1..=width).map(|column| format!("{prefix}{column}")).collect(),
    });
    if asked.is_empty() || asked == names {
        return Ok((all, names));
    }
    let find = |name: &String| {
        let at = names.iter().position(|found| found == name);
        at.ok_or_else(|| missing(archive, "a column of an array", name, &names))
    };
    let picked = asked.iter().map(find).collect::<Result<Vec<_>>>()?;
    for (_, row_width, values) in all.iter_mut().filter(|rows| rows.1 == width) {
        *values = values.chunks_exact(width).flat_map(|row| picked.iter().map(|&at| row[at])).collect();
        *row_width = picked.len();
    }
    Ok((all, asked.to_vec()))
}

fn missing(archive: &Archive, role: &'static str, name: &str, found: &[String]) -> Error {
    let problem = Problem::MissingColumn { role, name: name.into(), found: list(found) };
    Error::data(&archive.file, Place::default(), problem)
}

fn family(
    ids: Vec<String>,
    labels: Option<Vec<String>>,
    outputs: Vec<Rows>,
    inputs: Inputs,
    notes: &mut Vec<Note>,
) -> mtds::Result<Family> {
    let d_obs = outputs.first().map_or(0, |rows| rows.1);
    let (common, own) = match inputs {
        Inputs::None => (None, Vec::new()),
        Inputs::Common(rows) => (Some(rows), Vec::new()),
        Inputs::Own(rows) => (None, rows),
    };
    let d_input = own.first().map_or(0, |rows| rows.1);
    let mut own = own.into_iter();
    let mut labels = labels.into_iter().flatten();
    let mut parts = Vec::with_capacity(outputs.len());
    for (id, (n_time, width, values)) in ids.into_iter().zip(outputs) {
        check_width(&id, "outputs", width, d_obs)?;
        let (n_inputs, input_width, inputs) = own.next().unwrap_or((0, d_input, Vec::new()));
        check_width(&id, "inputs", input_width, d_input)?;
        let label = labels.next().filter(|label| !label.is_empty());
        parts.push(Part { id, label, outputs: (n_time, Stretch::Own(values)), inputs: (n_inputs, inputs) });
    }
    let family = share::family(parts, d_obs, d_input, notes)?;
    match common {
        None => Ok(family),
        Some((n_time, width, values)) => family.with_common_inputs(Signal::new(n_time, width, values)?),
    }
}

fn check_width(id: &str, what: &str, found: usize, expected: usize) -> mtds::Result<()> {
    if found == expected {
        return Ok(());
    }
    let what = format!("{what} of sequence `{id}`");
    let expected = format!("{expected} column(s) as in the first sequence");
    Err(mtds::Error::Shape { what, expected, found: format!("{found}") })
}
