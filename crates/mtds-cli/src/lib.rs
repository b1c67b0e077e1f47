//! The parts of the `mtds` program, a shell around the library: a verb is its options, a call, and what is printed.
//!
//! ```text
//! command   the verbs and their help    options   those that many verbs have    usage   what cannot be meant
//! verb      one module each: the options as a struct, and what `run` does with them
//! progress, interrupt, output           stderr; Ctrl-C; stdout and files
//! advice, tensorboard                   options that help with a file; event files
//! ```

pub mod advice;
pub mod command;
pub mod interrupt;
pub mod options;
pub mod output;
pub mod progress;
pub mod tensorboard;
pub mod usage;
pub mod verb;
