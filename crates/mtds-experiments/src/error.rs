//! What can go wrong with an experiment.

/// Whatever the surroundings of an experiment, such as a directory of cells, say went wrong.
pub type Trouble = Box<dyn std::error::Error + Send + Sync>;

/// An experiment that could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Whatever learning and inference find wrong.
    #[error(transparent)]
    Library(#[from] mtds::Error),
    /// A whole cell that is kept, but of another experiment or version: it is not to be lost.
    #[error("cell {cell} {problem}")]
    Foreign {
        /// Which cell.
        cell: String,
        /// What it is.
        problem: String,
    },
    /// A cell that could not be looked up or kept.
    #[error("{0}")]
    Surroundings(Trouble),
    /// A pool of threads that cannot be made.
    #[error("threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// What carrying out an experiment returns.
pub type Result<T> = std::result::Result<T, Error>;
