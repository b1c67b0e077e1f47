//! Work on many sequences, shared out among the threads of the pool that the caller is in; what comes of it stands in order, whatever their
//! number. Who is in no pool works alone: a pool that nobody asked for would be dead in a process that was forked.

use rayon::prelude::*;

/// What comes of every item.
pub(crate) fn map<A: Send, T: Send>(items: Vec<A>, of: impl Fn(A) -> T + Send + Sync) -> Vec<T> {
    match rayon::current_thread_index() {
        Some(_) if items.len() > 1 => items.into_par_iter().map(of).collect(),
        _ => items.into_iter().map(of).collect(),
    }
}
