//! What can be wrong with a file of sequences: where, what was expected, what was found and what to try.

use std::fmt;
use std::path::PathBuf;

/// A file that cannot be used, with the place in it.
#[derive(Debug, thiserror::Error)]
#[error("{}", crate::shown(&format!("{}{place}: ", path.display())) + &crate::shown(&problem.to_string()))]
pub struct DataError {
    /// The file, or the name that its reader was given.
    pub path: PathBuf,
    /// Where in the file.
    pub place: Place,
    /// What is wrong there.
    #[source]
    pub problem: Problem,
}

/// A place in a file; the row as an editor counts it, so that the header of a CSV file is row 1.
///
/// Rows of Parquet files are counted from 1 without a header.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The row, if one is to blame.
    pub row: Option<u64>,
    /// The column, or the array of an NPZ file.
    pub column: Option<String>,
}

impl Place {
    /// A row as a whole.
    pub(crate) fn row(row: u64) -> Self {
        Self { row: Some(row), column: None }
    }

    /// A column as a whole.
    pub(crate) fn column(column: &str) -> Self {
        Self { row: None, column: Some(column.into()) }
    }

    /// One cell.
    pub(crate) fn cell(row: u64, column: &str) -> Self {
        Self { row: Some(row), column: Some(column.into()) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(row) = self.row {
            write!(f, ", row {row}")?;
        }
        if let Some(column) = &self.column {
            write!(f, ", column `{column}`")?;
        }
        Ok(())
    }
}

/// What is wrong with a file of sequences.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what each field is")]
pub enum Problem {
    /// The name does not tell the format.
    #[error("expected a name ending in {expected}, found `{found}`; rename it, or name its format")]
    UnknownFormat { expected: &'static str, found: String },

    /// The format is known, but this program was built without it, or cannot use it here.
    #[error("{what}; {advice}")]
    Unsupported { what: String, advice: String },

    /// A column that must be there is not.
    #[error("expected a column `{name}` for {role}, found {found}; say which column is meant, or rename one")]
    MissingColumn { role: &'static str, name: String, found: String },

    /// Two columns share a name.
    #[error("expected column names that differ, found `{name}` twice; rename one of them")]
    DuplicateColumn { name: String },

    /// One column was given two meanings.
    #[error("expected one use of a column, found it as {first} and as {second}; name it once")]
    TwoRoles { first: &'static str, second: &'static str },

    /// Other outputs or inputs than a model has.
    #[error(
        "expected the {kind} {expected}, as the model has, in this order; found {found}; say which columns are meant"
    )]
    OtherColumns { kind: &'static str, expected: String, found: String },

    /// Steps of another length than a model's.
    #[error(
        "expected steps of {expected}, as the model was learned with, found steps of {found}; resample to {expected}, or take \
         a model of data with steps of {found}"
    )]
    OtherStep { expected: String, found: String },

    /// No column can be an output.
    #[error("expected output columns, `y`, `y1`, … or any with numbers; found {found}; name the outputs")]
    NoOutputs { found: String },

    /// Inputs were asked for, and there are none.
    #[error("expected inputs, found none")]
    NoInputs,

    /// A row with too few or too many cells.
    #[error(
        "expected {expected} cells as in the header, found {found}; look for a missing quote or separator"
    )]
    Width { expected: usize, found: usize },

    /// A cell that should be a name.
    #[error("expected a name, found {found}; give text, numbers or categories")]
    NotAName { found: String },

    /// A cell that should be a number.
    #[error("expected a number, or nothing where it is missing, found `{found}`; {advice}")]
    NotANumber { found: String, advice: &'static str },

    /// A number that is infinite or too large.
    #[error("expected a finite number, found `{found}`; leave the cell empty where the value is missing")]
    NotFinite { found: String },

    /// An input without a value.
    #[error(
        "expected a number, found nothing; inputs cannot be missing: fill them in, or leave the column out"
    )]
    MissingInput,

    /// A sequence without the value of an attribute.
    #[error(
        "expected a value in some row of sequence `{series}`, found none; fill it in, or leave the column out"
    )]
    MissingAttribute { series: String },

    /// An attribute with two values.
    #[error(
        "expected `{expected}` of sequence `{series}` as in row {first_row}, found `{found}`; categories, and whatever a model knows as \
         such, do not change within a sequence"
    )]
    AttributeChanges { series: String, expected: String, first_row: u64, found: String },

    /// A category that a model does not know.
    #[error(
        "expected one of {known}, as the model was learned with, found `{found}` of sequence `{series}`; learn a model that knows it"
    )]
    UnknownCategory { series: String, found: String, known: String },

    /// An attribute that is a name.
    #[error(
        "expected what several sequences have in common, found {n_values} different values of {n_seq} sequences, which \
         tells them apart and nothing else; leave the column out"
    )]
    NamesSequences { n_values: usize, n_seq: usize },

    /// A row that does not say to which sequence it belongs.
    #[error("expected the name of a sequence, found nothing; name it, or delete the row")]
    MissingSeries,

    /// A time that cannot be read.
    #[error(
        "expected a time, found `{found}`; give integers, numbers or dates such as 2024-01-31 or 2024-01-31T06:30:00Z"
    )]
    BadTime { found: String },

    /// Times of different kinds.
    #[error("expected {expected} as in row {first_row}, found {found}; write all times in one way")]
    MixedTimes { expected: &'static str, first_row: u64, found: String },

    /// Two rows of a sequence share a time.
    #[error(
        "expected each time of sequence `{series}` once, found {time} in row {first_row}, too; \
         delete one, name the column that tells the sequences apart, or resample by mean"
    )]
    DuplicateTime { series: String, time: String, first_row: u64 },

    /// Times are not steps of one length.
    #[error(
        "expected steps of one length, {expected} as mostly here, found one of {found} in sequence `{series}`, from row \
         {before_row}, and no grid on which nearly all rows have a step of their own; resample to a step, by mean or linearly"
    )]
    Irregular { series: String, expected: String, found: String, before_row: u64 },

    /// Days of a place where clocks change.
    #[error(
        "expected steps of one length, found whole days in sequence `{series}` but for {by} between row {before_row} and this one, as where clocks \
         change; give dates without a time of day, such as 2024-01-31"
    )]
    LocalDays { series: String, by: String, before_row: u64 },

    /// Rows do not lie at the steps that a model was learned with.
    #[error(
        "expected steps of {step}, as the model was learned with, found {found}; resample to its steps, or learn a model of such data"
    )]
    OffSteps { step: String, found: String },

    /// A gap that would fill the memory.
    #[error(
        "expected a sequence without huge gaps, found {n_steps} steps missing in sequence `{series}` after row \
         {before_row}; correct the time, or give the parts names of their own"
    )]
    HugeGap { series: String, n_steps: u64, before_row: u64 },

    /// A sequence with two labels.
    #[error(
        "expected label `{expected}` of sequence `{series}` as in row {first_row}, found `{found}`; give one \
         label per sequence"
    )]
    LabelDiffers { series: String, expected: String, first_row: u64, found: String },

    /// Nothing below the header.
    #[error("expected rows of data, found {found}; is it the right file?")]
    NoRows { found: &'static str },

    /// Bytes that are not text.
    #[error("expected UTF-8 text, found {found}; save it as UTF-8")]
    NotUtf8 { found: String },

    /// A line that is not a JSON object of plain values.
    #[error(
        "expected one JSON object per line, {expected}, found {found}; write null where a value is missing"
    )]
    Json { expected: &'static str, found: String },

    /// A file that is cut short or is not what its name says.
    #[error("expected {expected}, found {found}; it may be cut short or damaged: copy or write it again")]
    Damaged { expected: &'static str, found: String },

    /// An array of an NPZ file whose shape or type does not fit.
    #[error("expected {expected}, found {found}; {advice}")]
    Array { expected: String, found: String, advice: &'static str },

    /// Resampling is not possible as asked.
    #[error("cannot resample to a step of {step}: {why}")]
    Resample { step: String, why: String },

    /// The rows are readable, but do not make a family.
    #[error(transparent)]
    Family(#[from] mtds::Error),

    /// A table or family that no file could hold.
    #[error("cannot be written: {0}")]
    Unwritable(String),
}

#[cfg(not(feature = "parquet"))]
impl Problem {
    /// Parquet is a feature of this crate that can be left out.
    pub(crate) fn without_parquet() -> Self {
        let what = "this program was built without Parquet".to_string();
        Self::Unsupported { what, advice: "use CSV, or build it with the feature `parquet`".into() }
    }
}
