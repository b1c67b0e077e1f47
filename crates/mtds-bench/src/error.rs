//! What can go wrong in a benchmark run; whatever a peer did wrong names the peer.

use std::path::PathBuf;

/// Result of the fallible operations of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// The one error type of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The worker process could not be started.
    #[error("peer `{peer}`: cannot start `{command}`: {source}; is the path of the interpreter right?")]
    PeerStart {
        /// Name of the peer.
        peer: String,
        /// The command line.
        command: String,
        /// What the system said.
        source: std::io::Error,
    },

    /// The worker ended, or closed its output, before it answered.
    #[error("peer `{peer}` ended before it answered ({status}){stderr}")]
    PeerEnded {
        /// Name of the peer.
        peer: String,
        /// Its exit status, in words.
        status: String,
        /// The last lines of its error output, on lines of their own, or empty.
        stderr: String,
    },

    /// The worker did not answer in time.
    #[error("peer `{peer}` gave no answer within {seconds} s; try --quick, or fewer jobs on this machine")]
    PeerSilent {
        /// Name of the peer.
        peer: String,
        /// How long the driver waited.
        seconds: u64,
    },

    /// The worker's answer is not what the protocol says.
    #[error("peer `{peer}` answered `{line}`: {why}")]
    PeerGarbage {
        /// Name of the peer.
        peer: String,
        /// The start of its answer.
        line: String,
        /// What was expected.
        why: String,
    },

    /// The worker said that it could not do what was asked.
    #[error("peer `{peer}` could not do `{request}`: {why}")]
    PeerRefused {
        /// Name of the peer.
        peer: String,
        /// What was asked.
        request: String,
        /// The peer's own words.
        why: String,
    },

    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },

    /// A problem for AdaIS whose sizes do not fit.
    #[error("AdaIS problem: {what}: expected {expected}, found {found}")]
    Problem {
        /// Which part.
        what: String,
        /// The size that would have fitted.
        expected: String,
        /// The size that came.
        found: String,
    },

    /// The threads asked for could not be had.
    #[error("cannot start the threads: {0}; try a smaller --threads")]
    Threads(String),

    /// One of our own works failed.
    #[error("work `{work}`: {source}")]
    Own {
        /// Name of the work.
        work: String,
        /// The library's error.
        source: mtds::Error,
    },
}
