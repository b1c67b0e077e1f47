//! What a reader may be told about a file, and which column it takes for what.

use std::path::PathBuf;

use mtds::DataColumns;
use mtds::parts::Attribute;

use crate::format::Format;
use crate::time::Step;

/// How to read a family; by default everything is found by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReadOptions {
    /// The column that tells the sequences apart; `series`.
    pub series: Option<String>,
    /// The column of times; `t`.
    pub time: Option<String>,
    /// The column of labels; `label`, if there is one.
    pub label: Option<String>,
    /// The output columns, in this order; empty: `y`, `y1`, `y_left`, …, else all with numbers.
    pub outputs: Vec<String>,
    /// The input columns, in this order; empty: `u`, `u1`, `u_left`, …
    pub inputs: Vec<String>,
    /// Pass over outputs, which need not be there; for [`read_inputs`](crate::read_inputs).
    pub inputs_alone: bool,
    /// An NPZ file with the inputs under the keys of the outputs; for NPZ files only.
    pub inputs_file: Option<PathBuf>,
    /// The step of a model that is to take the family: rows are put to its nearest steps, or refused.
    pub step: Option<Step>,
    /// Input columns that do not change within a sequence, as a model knows them; `None`: categories, and numbers that look like it.
    pub attributes: Option<Vec<Attribute>>,
    /// Input columns that are 0 at steps without a row; `None`: those that look like single pulses.
    pub pulses: Option<Vec<String>>,
    /// Bring rows at irregular times to steps of one length.
    pub resample: Option<Resample>,
    /// The format, where the name of the file does not tell it.
    pub format: Option<Format>,
}

impl ReadOptions {
    /// The options by which the columns are found that a person, a file of settings or a model names; `step` is that of a model that is
    /// to take the family, and says that the columns are those of a model.
    ///
    /// # Errors
    /// [`mtds::Error::Setting`] for `resample` that is no step, and `resample_by` that is no way to do it.
    pub fn by(columns: &DataColumns, step: Option<Step>) -> mtds::Result<Self> {
        // A model that says nothing of pulses or attributes has none; of a file alone it is found out.
        let is_known = |is_empty: bool| step.is_some() || !is_empty;
        Ok(Self {
            series: columns.series.clone(),
            time: columns.time.clone(),
            label: columns.label.clone(),
            outputs: columns.outputs.clone(),
            inputs: columns.input_columns(),
            attributes: is_known(columns.attributes.is_empty()).then(|| columns.attributes.clone()),
            step,
            pulses: is_known(columns.pulses.is_empty()).then(|| columns.pulses.clone()),
            resample: Resample::named(columns.resample.as_deref(), columns.resample_by.as_deref())?,
            ..Self::default()
        })
    }
}

impl Resample {
    /// From a step such as `0.5` or `15min`, if there is one, and `mean` or `linear`; `mean` where nothing is said.
    fn named(step: Option<&str>, by: Option<&str>) -> mtds::Result<Option<Self>> {
        let wrong = |name: &str, why| mtds::Error::Setting { name: name.into(), why };
        let method = match by {
            None | Some("mean") => ResampleMethod::Mean,
            Some("linear") => ResampleMethod::Linear,
            Some(other) => {
                return Err(wrong("resample_by", format!("found `{other}`; expected mean or linear")));
            }
        };
        let Some(text) = step else { return Ok(None) };
        let step = text.parse().map_err(|why| wrong("resample", format!("`{text}` is no step: {why}")))?;
        Ok(Some(Self { step, method }))
    }
}

/// How to bring rows to steps of one length; the first row of a sequence is its first step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resample {
    /// From one new row to the next.
    pub step: Step,
    /// What a new row holds.
    pub method: ResampleMethod,
}

/// What a resampled row holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResampleMethod {
    /// The mean over the rows from its time until the next; outputs without a row there are missing.
    Mean,
    /// The line between the rows before and after; outputs are missing where these are further apart than
    /// two steps and than two typical distances of rows.
    Linear,
}

/// The names of the columns of a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    /// The column that tells the sequences apart.
    pub series: String,
    /// The column of times.
    pub time: String,
    /// The column of labels, if there is one.
    pub label: Option<String>,
    /// The outputs, in order.
    pub outputs: Vec<String>,
    /// The inputs, in order; categories as their indicators.
    pub inputs: Vec<String>,
    /// Input columns that do not change within a sequence.
    pub attributes: Vec<Attribute>,
    /// Those of the inputs that are 0 at steps without a row; the others keep the value of the row before.
    pub pulses: Vec<String>,
}

impl Columns {
    /// `series`, `t`, the names that the family has for outputs and inputs, and `label` if it has labels.
    #[must_use]
    pub fn of(family: &mtds::Family) -> Self {
        Self {
            series: SERIES.into(),
            time: TIME.into(),
            label: family.labels().any(|label| label.is_some()).then(|| LABEL.into()),
            outputs: family.output_names().to_vec(),
            inputs: family.input_names().to_vec(),
            attributes: vec![],
            pulses: vec![],
        }
    }

    /// The options by which a file with these columns is read as it was written.
    #[must_use]
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            series: Some(self.series.clone()),
            time: Some(self.time.clone()),
            label: self.label.clone(),
            outputs: self.outputs.clone(),
            inputs: self.inputs.clone(),
            ..ReadOptions::default()
        }
    }
}

/// The column of sequences, unless told otherwise.
pub(crate) const SERIES: &str = "series";
/// The column of times, unless told otherwise.
pub(crate) const TIME: &str = "t";
/// The column of labels, unless told otherwise.
pub(crate) const LABEL: &str = "label";
