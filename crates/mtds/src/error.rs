//! What can go wrong, each with what was expected, what was found and what to try.

/// The one error type of the library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A family without sequences, or without a single observed output.
    #[error("the family is empty: {0}; give at least one sequence with one observed output")]
    EmptyFamily(String),

    /// A signal, vector or tensor whose size does not fit.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// Which object, e.g. ``inputs of sequence `a` ``.
        what: String,
        /// The size that would have fitted.
        expected: String,
        /// The size that came.
        found: String,
    },

    /// A number that must be finite is not.
    #[error("{what}: found {value}; expected a finite number{hint}")]
    NotFinite {
        /// Which number, e.g. ``output `y` of sequence `a` at step 3``.
        what: String,
        /// The offending value.
        value: f64,
        /// What to try, beginning with a space or empty.
        hint: &'static str,
    },

    /// A setting outside its range.
    #[error("setting `{name}`: {why}")]
    Setting {
        /// The setting's name.
        name: String,
        /// What was found, what is allowed.
        why: String,
    },

    /// A name that does not exist; the message lists those that do.
    #[error("no {kind} `{name}`; there are: {known}")]
    Unknown {
        /// Kind of thing, e.g. `block`.
        kind: &'static str,
        /// The name asked for.
        name: String,
        /// The names that exist, comma separated.
        known: String,
    },

    /// A name given twice where each must be the only one.
    #[error("two {kind}s are called `{name}`; give each a name of its own")]
    Duplicate {
        /// Kind of thing, e.g. `sequence`.
        kind: &'static str,
        /// The name found twice.
        name: String,
    },

    /// A graphics card that cannot be used, or failed.
    #[error("{why}")]
    Device {
        /// What is missing or went wrong, and what to try.
        why: String,
    },

    /// Learning met a loss or a gradient that is not finite.
    #[error(
        "step {step}: {what} is not finite; lower the learning rate, scale the data, or resume from {}",
        last_good.map_or("an earlier start".into(), |step| format!("the checkpoint of step {step}, the last good one"))
    )]
    Diverged {
        /// The optimiser step.
        step: u64,
        /// `the loss`, or the name of the parameter block whose gradient broke.
        what: String,
        /// The last step whose state is good: that of the trainer's checkpoint. `None` where there is none.
        last_good: Option<u64>,
    },

    /// A fit that was interrupted cannot go on with another family, or other settings.
    #[error(
        "`{key}`: the interrupted run had {was}, now it is another; leave it out to go on, or start over"
    )]
    Resumed {
        /// The setting; `data` for the family.
        key: String,
        /// What it was.
        was: String,
    },

    /// An observer asked to stop before the work was done.
    #[error("stopped before the work was done")]
    Stopped,

    /// A stored model or checkpoint that cannot be used.
    #[error("{file}: {why}")]
    Store {
        /// The part of the model directory.
        file: String,
        /// What is wrong and what to try.
        why: String,
    },
}

/// Result of the library's fallible operations.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A size mismatch.
    pub(crate) fn shape(
        what: impl Into<String>,
        expected: impl std::fmt::Display,
        found: impl std::fmt::Display,
    ) -> Self {
        Self::Shape { what: what.into(), expected: expected.to_string(), found: found.to_string() }
    }

    /// A setting outside its range.
    pub(crate) fn setting(name: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Setting { name: name.into(), why: why.into() }
    }
}
