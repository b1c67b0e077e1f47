//! Made-up sequences: the inputs in a file that they answer to, with their times, or none; and the family that they become.

use super::known::find;
use super::motion::WayOptions;
use crate::options::{Common, options_by};
use crate::usage::{UsageError, count};
use anyhow::Result;
use clap::Args;
use mtds::{Family, Model, Sequence, Signal};
use mtds_data::{ReadFamily, ReadOptions, Time, TimeAxis, columns_of, prolonged, read_inputs, time_step_of};
use std::path::{Path, PathBuf};

/// Inputs of made-up sequences, and their length.
#[derive(Debug, Args)]
pub struct InputOptions {
    /// File with inputs, in columns named as when the model was learned
    #[arg(long, value_name = "DATA")]
    pub inputs: Option<PathBuf>,

    /// The sequence of that file whose inputs are taken [default: the one of the same id, or the only one]
    #[arg(long, value_name = "ID", requires = "inputs")]
    pub inputs_of: Option<String>,

    /// Length of a sequence [default: that of the inputs]
    #[arg(long, value_name = "N", value_parser = count("80"))]
    pub steps: Option<usize>,

    /// A way instead of inputs.
    #[command(flatten)]
    pub way: WayOptions,
}

/// Inputs to choose from.
#[derive(Debug)]
pub(super) struct Inputs<'o> {
    options: &'o InputOptions,
    model: &'o Model,
    file: Option<InputsFile>,
}

/// A file with inputs.
#[derive(Debug)]
struct InputsFile {
    path: PathBuf,
    ids: Vec<String>,
    /// One per sequence, or one for all.
    signals: Vec<Signal>,
    time: TimeAxis,
}

/// The inputs of one sequence.
#[derive(Debug)]
pub(super) struct SequenceInputs<'d> {
    /// As many rows as it has steps; `None` for a model without inputs.
    pub(super) signal: Option<Signal>,
    /// Its length.
    pub(super) n_time: usize,
    /// Where the times of its steps are, and under which number.
    times: Option<(&'d TimeAxis, usize)>,
    /// The id of the sequence whose inputs they are, if a file has them.
    pub(super) of: Option<&'d str>,
}

impl InputOptions {
    /// Reads the inputs that were named.
    ///
    /// # Errors
    /// A [`UsageError`] for inputs where the model has none, none where it has some, or no length; a file that
    /// cannot be read, or where an input is missing.
    pub(super) fn read<'o>(&'o self, model: &'o Model, common: &Common) -> Result<Inputs<'o>> {
        let names = &model.columns.inputs;
        let wrong = |option, problem: &str, hint: &str| Err(UsageError::new(option, problem, hint).into());
        let file = match &self.inputs {
            None if !names.is_empty() => {
                let problem =
                    format!("the model has inputs, {}, and a sequence needs them", names.join(", "));
                let hint = "--inputs DATA, e.g. the file that it was learned from; for a model of motions also --path \"walk 4\"";
                return wrong("--inputs", &problem, hint);
            }
            None if self.steps.is_none() => {
                return wrong("--steps", "expected the length of a sequence, found none", "--steps 80");
            }
            Some(_) if names.is_empty() => {
                return wrong("--inputs", "the model has no inputs", "leave it out");
            }
            path => path.as_deref().map(|path| InputsFile::read(path, model, common)).transpose()?,
        };
        Ok(Inputs { options: self, model, file })
    }
}

impl Inputs<'_> {
    /// Those of a sequence like the member `like`.
    ///
    /// # Errors
    /// A [`UsageError`] if it is not clear which inputs are meant, or there are too few.
    pub(super) fn of_sequence(&self, like: Option<&str>) -> Result<SequenceInputs<'_>, UsageError> {
        let steps = self.options.steps;
        let Some(file) = &self.file else {
            return Ok(SequenceInputs { signal: None, n_time: steps.unwrap_or(1), times: None, of: None });
        };
        let i = file.choose(self.options.inputs_of.as_deref(), like)?;
        let signal = &file.signals[i.min(file.signals.len() - 1)];
        let n_time = steps.unwrap_or(signal.n_time());
        let signal = &prolonged(signal, self.model, n_time);
        if n_time > signal.n_time() {
            let (path, id, found) = (file.path.display(), &file.ids[i], signal.n_time());
            let problem = format!("expected inputs for {n_time} steps, found {found} of `{id}` in `{path}`");
            return Err(UsageError::new("--steps", problem, format!("--steps {found}, or more inputs")));
        }
        let of = file.ids.get(i).map(String::as_str);
        Ok(SequenceInputs { signal: Some(signal.slice(0..n_time)), n_time, times: Some((&file.time, i)), of })
    }
}

impl InputsFile {
    /// Reads nothing but the inputs, at the steps of the model: the file may have outputs, and need not.
    fn read(path: &Path, model: &Model, common: &Common) -> Result<Self> {
        let learned = columns_of(model);
        let options = ReadOptions {
            outputs: vec![],
            attributes: Some(learned.attributes.clone()),
            pulses: Some(learned.pulses.clone()),
            ..options_by(&learned, time_step_of(model))?
        };
        let read = read_inputs(path, &options)?;
        if common.verbose {
            common.say_notes(&read.notes);
        }
        Ok(Self { path: path.to_path_buf(), ids: read.ids, signals: read.signals, time: read.time })
    }

    /// The sequence whose inputs are meant: named, of the same id, the only one, or like all others.
    fn choose(&self, of: Option<&str>, like: Option<&str>) -> Result<usize, UsageError> {
        let ids: Vec<_> = self.ids.iter().map(String::as_str).collect();
        if let Some(id) = of {
            return find("--inputs-of", id, &ids, &self.path);
        }
        if let Some(i) = like.and_then(|like| ids.iter().position(|id| *id == like)) {
            return Ok(i);
        }
        if self.signals.iter().all(|signal| *signal == self.signals[0]) {
            return Ok(0);
        }
        let problem =
            format!("`{}` has inputs of {} sequences, which differ", self.path.display(), ids.len());
        Err(UsageError::new("--inputs-of", problem, format!("--inputs-of {}", ids[0])))
    }
}

/// A family of made-up sequences: id, outputs, and inputs; with their times.
///
/// # Errors
/// Two of one id; outputs that are not finite.
pub(super) fn family(
    made: Vec<(String, Signal, SequenceInputs<'_>)>,
    model: &Model,
) -> Result<(Family, TimeAxis)> {
    let axis = made.first().and_then(|(_, _, inputs)| inputs.times).map(|(axis, _)| axis.clone());
    let start =
        |inputs: &SequenceInputs<'_>| inputs.times.map_or(Time::Integer(1), |(axis, i)| axis.time(i, 0));
    let starts = made.iter().map(|(_, _, inputs)| start(inputs)).collect();
    let axis = TimeAxis { starts, ..axis.unwrap_or_else(|| TimeAxis::counted(made.len())) };
    let sequence = |(id, outputs, inputs): (String, Signal, SequenceInputs<'_>)| -> Result<Sequence> {
        let sequence = Sequence::new(id, outputs)?;
        Ok(inputs.signal.map_or(Ok(sequence.clone()), |inputs| sequence.with_inputs(inputs))?)
    };
    let family = Family::new(made.into_iter().map(sequence).collect::<Result<_>>()?)?;
    let family = family.with_output_names(model.columns.outputs.clone())?;
    Ok((family.with_input_names(model.columns.inputs.clone())?, axis))
}

impl<'d> SequenceInputs<'d> {
    /// All inputs of sequence `i` of a family that was read.
    pub(super) fn of_family(read: &'d ReadFamily, i: usize, inputs: &Signal) -> Self {
        let of = Some(read.family.sequence(i).id());
        Self { signal: Some(inputs.clone()), n_time: inputs.n_time(), times: Some((&read.time, i)), of }
    }

    /// All inputs of a route, counted from its beginning.
    pub(super) fn of_route(inputs: Signal) -> Self {
        Self { n_time: inputs.n_time(), signal: Some(inputs), times: None, of: None }
    }
}
