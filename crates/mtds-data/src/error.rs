//! What can go wrong between this crate and the disk, each with the path and what to try.

use std::io;
use std::path::{Path, PathBuf};

use crate::problem::{DataError, Place, Problem};

/// Errors of reading and writing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("{}: cannot {action}: {source}{}", path.display(), advice(source))]
    Io {
        /// What was tried, e.g. `write`.
        action: &'static str,
        /// On which file or directory.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },

    /// The directory in which something is to be written does not exist, or is none.
    #[error("{}: no such directory; create it, or write somewhere else", path.display())]
    NoParent {
        /// The directory that should be there.
        path: PathBuf,
    },

    /// A directory was expected.
    #[error("{}: expected a directory, found {found}; give the path of a model directory", path.display())]
    NotADirectory {
        /// The path given.
        path: PathBuf,
        /// What is there, `a file` or `nothing`.
        found: &'static str,
    },

    /// A file was to be written where there is something that is not a file.
    #[error("{}: is not a file and will not be replaced; give the path of a file", path.display())]
    NotAFile {
        /// The path given.
        path: PathBuf,
    },

    /// A pipe, a device or a directory where a file is to be read.
    #[error("{}: expected a file, found something else, such as a pipe, a device or a directory; copy the file there", path.display())]
    NotRegular {
        /// What should be a file.
        path: PathBuf,
    },

    /// Somebody else is writing it.
    #[error("{}: another program is writing it; wait until it is done, or give another path", path.display())]
    Locked {
        /// The path given.
        path: PathBuf,
    },

    /// A directory was to be replaced that does not look like a model.
    #[error("{}: will not be replaced, it {why}; give a new path, or empty it first", path.display())]
    NotAModel {
        /// The path given.
        path: PathBuf,
        /// What gives it away, e.g. `has no config.json`.
        why: String,
    },

    /// A file that must be in the directory is not.
    #[error("{}: has no `{name}`; it holds: {found}", path.display())]
    MissingFile {
        /// The directory.
        path: PathBuf,
        /// The file that was asked for.
        name: String,
        /// What is there instead, comma separated.
        found: String,
    },

    /// A name that would not lie in the directory, or that comes twice.
    #[error("file name `{name}`: {why}")]
    FileName {
        /// The name given.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },

    /// Replacing failed halfway and the old directory could not be put back.
    #[error("{}: could not be replaced; what was there is safe in {}: {source}", path.display(), kept.display())]
    NotRestored {
        /// The directory to be replaced.
        path: PathBuf,
        /// Where its old content is now.
        kept: PathBuf,
        /// Why it could not be put back.
        source: io::Error,
    },

    /// A file of settings that cannot be understood.
    #[error("{}: {why}\n  try: correct the line; fit.toml of any model shows all keys", path.display())]
    Settings {
        /// The file.
        path: PathBuf,
        /// Line, key and what is wrong.
        why: String,
    },

    /// The files of a model are there, but do not make one.
    #[error("{}: {source}", path.display())]
    Model {
        /// The model directory.
        path: PathBuf,
        /// Which file, what is wrong with it, what to try.
        source: mtds::Error,
    },

    /// A file of sequences that cannot be used.
    #[error(transparent)]
    Data(#[from] Box<DataError>),
}

/// What to try where the operating system refuses; nothing where that is anybody's guess.
fn advice(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound => "; check its name, and the directory that the program runs in",
        io::ErrorKind::PermissionDenied => "; check who may read or write it",
        io::ErrorKind::StorageFull | io::ErrorKind::FileTooLarge | io::ErrorKind::QuotaExceeded => {
            "; make room, or write somewhere else"
        }
        io::ErrorKind::IsADirectory => "; give the path of a file",
        _ => "",
    }
}

/// Result of reading and writing.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// For `map_err`: what was tried on which path.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }

    /// For `map_err`: in which directory the model is.
    pub(crate) fn model(path: impl Into<PathBuf>) -> impl FnOnce(mtds::Error) -> Self {
        let path = path.into();
        move |source| Self::Model { path, source }
    }

    /// A file of sequences, where in it, and what is wrong there.
    pub(crate) fn data(path: &Path, place: Place, problem: Problem) -> Self {
        Self::Data(Box::new(DataError { path: path.into(), place, problem }))
    }
}
