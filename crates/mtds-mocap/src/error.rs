//! What can go wrong with motion capture, each with what was expected, what was found and what to try.

use std::path::PathBuf;

/// The one error type of the crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Bytes that are not a BVH file.
    #[error("line {line}, column {column}: expected {expected}, found {found}; {hint}")]
    Bvh {
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What could have stood there.
        expected: String,
        /// What stands there.
        found: String,
        /// What to try.
        hint: &'static str,
    },

    /// Rules that are no rules.
    #[error("skeleton rules: {0}")]
    Rules(String),

    /// A hierarchy that is no known body.
    #[error(
        "the skeleton fits no rule: the nearest, `{rig}`, lacks {missing}; the file has the joints {names}; \
         write a rule for it in a file of your own"
    )]
    NoRig {
        /// The rig whose rule found most joints.
        rig: String,
        /// Joints that it did not find and that cannot be done without.
        missing: String,
        /// Names in the file, comma separated.
        names: String,
    },

    /// The operating system refused.
    #[error("{}: cannot {action}: {source}{}", path.display(), advice(source))]
    Io {
        /// What was tried, e.g. `read`.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },

    /// A file whose content cannot be used.
    #[error("{}: {source}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<Error>,
    },

    /// An array whose size does not fit.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// Which array, e.g. `positions of a track`.
        what: String,
        /// The size that would have fitted.
        expected: String,
        /// The size that came.
        found: String,
    },

    /// A number that must be finite is not.
    #[error("{what}: found {value}; expected a finite number")]
    NotFinite {
        /// Which number, e.g. `LeftKnee in frame 3`.
        what: String,
        /// The offending value.
        value: f64,
    },

    /// A setting outside its range.
    #[error("setting `{name}`: {why}")]
    Setting {
        /// The setting's name.
        name: String,
        /// What was found, what is allowed.
        why: String,
    },

    /// Words of a person that say nothing.
    #[error("{what} `{text}`, character {place}: expected {expected}, found {found}; try {hint}")]
    Words {
        /// What they were to say, e.g. `path`.
        what: &'static str,
        /// The words.
        text: String,
        /// Where it goes wrong, in characters, from 1.
        place: usize,
        /// What could have stood there.
        expected: String,
        /// What stands there.
        found: String,
        /// What to try.
        hint: String,
    },

    /// A style that a model does not know.
    #[error("the model knows no style `{name}`; it knows {known}")]
    UnknownStyle {
        /// The style.
        name: String,
        /// Those that it knows, comma separated.
        known: String,
    },

    /// A model that does not make motions as this crate reads them.
    #[error(
        "no model of motions: expected {expected}, found {found}; learn one from a family of `mtds mocap prepare`"
    )]
    NoMotionModel {
        /// What a model of motions has.
        expected: String,
        /// What it has.
        found: String,
    },

    /// A clip that nothing can be made of.
    #[error("expected {expected}, found {found}; {hint}")]
    Unusable {
        /// What is needed.
        expected: String,
        /// What there is.
        found: String,
        /// What to try.
        hint: &'static str,
    },

    /// What the library of models refused, e.g. a family without sequences.
    #[error(transparent)]
    Library(#[from] mtds::Error),
}

/// What to try where the operating system refuses to read.
fn advice(source: &std::io::Error) -> &'static str {
    match source.kind() {
        std::io::ErrorKind::NotFound => "; check its name, and the directory that the program runs in",
        std::io::ErrorKind::PermissionDenied => "; check who may read it",
        _ => "",
    }
}

/// Result of the crate's fallible operations.
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
