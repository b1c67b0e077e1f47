//! A family as Python has it: the sequences, and what their frame said beside the numbers.

use crate::array::Array;
use crate::error::{Result, data_error, setting_error};
use crate::model::Model;
use crate::table::{self, Table};
use crate::{array, stream, work};
use arrow_array::RecordBatchReader;
use arrow_schema::{DataType, Schema};
use mtds::{DataColumns, Sequence, Signal};
use mtds_data::{
    Columns, ReadFamily, ReadOptions, TimeAxis, columns_of, read_family_from_batches, time_step_of,
};
use pyo3::prelude::*;
use std::path::Path;

/// Rows of a frame from which on several threads are quicker than one, their start included, which takes a tenth of what so many rows take.
const MANY_ROWS: usize = 500_000;

/// A family of sequences.
#[pyclass(frozen, module = "pymtds._core")]
pub(crate) struct Family {
    pub(crate) read: ReadFamily,
    /// The columns that were asked for by name.
    pub(crate) asked: DataColumns,
    /// Types of the columns of sequences and of times, where they were read from a frame.
    pub(crate) types: [Option<DataType>; 2],
    /// Whether somebody said how long a step is.
    pub(crate) has_times: bool,
}

#[pymethods]
impl Family {
    /// Reads a frame, in parts, by its columns, a JSON object; columns that are not named are those that the model was learned from, and rows
    /// lie at its steps; the family must suit it then.
    #[staticmethod]
    #[pyo3(signature = (parts, columns, model=None))]
    fn from_frame(
        py: Python<'_>,
        parts: Vec<Bound<'_, PyAny>>,
        columns: &str,
        model: Option<&Bound<'_, Model>>,
    ) -> PyResult<Self> {
        let asked: DataColumns =
            serde_json::from_str(columns).map_err(|why| setting_error("columns", why))?;
        let mut batches = stream::incoming(&parts)?;
        let model = model.map(|model| model.get().model());
        work::quick(py, || {
            let all = model.map_or(asked.clone(), |model| asked.clone().or(columns_of(model)));
            let (schema, name) = (batches.schema(), Path::new("frame"));
            let options = ReadOptions::by(&all, model.and_then(time_step_of))?;
            let pool = if batches.have_rows(MANY_ROWS) { work::pool(None).ok() } else { None };
            let read = || read_family_from_batches(batches, name, &options);
            let mut read = match pool {
                Some(pool) => pool.install(read),
                None => read(),
            }?;
            if let Some(model) = model {
                read.notes.extend(read.check_suits(model, name)?);
            }
            let types = [type_of(&schema, &read.columns.series), type_of(&schema, &read.columns.time)];
            Ok(Self { read, asked, types, has_times: true })
        })
    }

    /// A family of arrays, steps × columns each; times are counted.
    #[staticmethod]
    fn from_arrays(
        py: Python<'_>,
        ids: Vec<String>,
        outputs: Vec<Array<'_>>,
        inputs: Option<Vec<Array<'_>>>,
        names: (Vec<String>, Vec<String>),
    ) -> PyResult<Self> {
        let signals = |arrays: &[Array<'_>], what: &str| -> PyResult<Vec<Signal>> {
            let named = arrays.iter().zip(&ids);
            named.map(|(array, id)| array::signal(array, &format!("{what} of sequence `{id}`"))).collect()
        };
        let outputs = signals(&outputs, "outputs")?;
        let inputs = inputs.map(|inputs| signals(&inputs, "inputs")).transpose()?;
        work::quick(py, || {
            let family = family_of(ids, (outputs, inputs), names);
            let family = family.map_err(|error| data_error(error.to_string()))?;
            let (columns, time) = (Columns::of(&family), TimeAxis::counted(family.n_seq()));
            let read = ReadFamily { family, columns, time, notes: vec![] };
            Ok(Self { read, asked: DataColumns::default(), types: [None, None], has_times: false })
        })
    }

    /// Names of the sequences, in order.
    #[getter]
    fn ids(&self) -> Vec<&str> {
        self.read.family.sequences().iter().map(Sequence::id).collect()
    }

    /// Labels of the sequences, in order.
    #[getter]
    fn labels(&self) -> Vec<Option<&str>> {
        self.read.family.labels().collect()
    }

    /// Names of the outputs.
    #[getter]
    fn output_names(&self) -> Vec<String> {
        self.read.family.output_names().to_vec()
    }

    /// Names of the inputs.
    #[getter]
    fn input_names(&self) -> Vec<String> {
        self.read.family.input_names().to_vec()
    }

    /// Names of the columns of sequences and times.
    #[getter]
    fn index_names(&self) -> (&str, &str) {
        (&self.read.columns.series, &self.read.columns.time)
    }

    /// Length of a step, as files write it; nothing where times are only counted.
    #[getter]
    fn time_step(&self) -> Option<String> {
        self.has_times.then(|| self.read.time.step.to_string())
    }

    /// What the reader noticed.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.read.notes.iter().map(ToString::to_string).collect()
    }

    /// Number of steps of every sequence.
    #[getter]
    fn lengths(&self) -> Vec<usize> {
        self.read.family.sequences().iter().map(Sequence::n_time).collect()
    }

    /// Number of observed values.
    #[getter]
    fn n_observed(&self) -> usize {
        self.read.family.n_observed()
    }

    /// The fingerprint of the data.
    fn fingerprint(&self, py: Python<'_>) -> String {
        py.detach(|| self.read.family.fingerprint())
    }

    /// Outputs of sequence `i`, steps × outputs.
    fn outputs<'py>(&self, py: Python<'py>, i: usize) -> PyResult<Array<'py>> {
        array::of_signal(py, self.sequence(i)?.outputs())
    }

    /// Inputs of sequence `i`, steps × inputs.
    fn inputs<'py>(&self, py: Python<'py>, i: usize) -> PyResult<Option<Array<'py>>> {
        self.sequence(i)?;
        self.read.family.inputs_of(i).map(|inputs| array::of_signal(py, inputs)).transpose()
    }

    /// The family as a long table.
    fn table(&self, py: Python<'_>) -> PyResult<Table> {
        work::quick(py, || self.to_table())
    }

    fn __len__(&self) -> usize {
        self.read.family.n_seq()
    }
}

impl Family {
    fn sequence(&self, i: usize) -> PyResult<&Sequence> {
        let sequences = self.read.family.sequences();
        let missing =
            || pyo3::exceptions::PyIndexError::new_err(format!("sequence {i} of {}", sequences.len()));
        sequences.get(i).ok_or_else(missing)
    }

    fn to_table(&self) -> Result<Table> {
        let ReadFamily { family, columns, time, .. } = &self.read;
        let made = mtds_data::family_table(family, columns, time).map_err(data_error)?;
        let n_rows =
            |i: usize| family.inputs_of(i).map_or(0, Signal::n_time).max(family.sequence(i).n_time());
        let rows: Vec<_> = (0..family.n_seq()).flat_map(|i| (0..n_rows(i)).map(move |k| (i, k))).collect();
        let ids: Vec<_> = rows.iter().map(|&(i, _)| family.sequence(i).id()).collect();
        let named = made.columns.into_iter().map(|(name, column)| {
            let column = match &name {
                name if *name == columns.series => table::ids(&ids, self.types[0].as_ref()),
                name if *name == columns.time => table::times(time, &rows, self.types[1].as_ref()),
                _ => table::of_column(column),
            };
            (name, column)
        });
        Table::new(named.collect())
    }
}

/// Sequences of outputs, and of inputs where there are some, under these names.
fn family_of(
    ids: Vec<String>,
    (outputs, inputs): (Vec<Signal>, Option<Vec<Signal>>),
    (output_names, input_names): (Vec<String>, Vec<String>),
) -> mtds::Result<mtds::Family> {
    let mut inputs = inputs.into_iter().flatten();
    let sequence = |(id, outputs)| {
        let sequence = Sequence::new(id, outputs)?;
        match inputs.next() {
            None => Ok(sequence),
            Some(inputs) => sequence.with_inputs(inputs),
        }
    };
    let family = mtds::Family::new(ids.into_iter().zip(outputs).map(sequence).collect::<mtds::Result<_>>()?)?;
    let family = if output_names.is_empty() { family } else { family.with_output_names(output_names)? };
    if input_names.is_empty() { Ok(family) } else { family.with_input_names(input_names) }
}

fn type_of(schema: &Schema, column: &str) -> Option<DataType> {
    schema.field_with_name(column).ok().map(|field| field.data_type().clone())
}
