//! Cells side by side: each worker has a thread pool of its own and takes the next cell when it is done.
//!
//! A step of learning is a few milliseconds, of which sharing it out costs a part; runs side by side share nothing.

use crate::Result;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Runs `work` on every cell, `threads` threads in all, and hands the results to `done` on this thread, in the order
/// in which they come.
///
/// # Errors
/// The first error of `done`, after which no further cell is begun; a thread pool that cannot be made.
pub(super) fn run<C: Sync, T: Send>(
    cells: &[C],
    threads: usize,
    work: impl Fn(&C) -> Result<T> + Sync,
    mut done: impl FnMut(&C, Result<T>) -> Result<()>,
) -> Result<()> {
    let pools = pools(threads, cells.len())?;
    let next = AtomicUsize::new(0);
    let (next, work) = (&next, &work);
    let mut outcome = Ok(());
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for pool in &pools {
            let sender = sender.clone();
            scope.spawn(move || {
                pool.install(|| {
                    while let Some(cell) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
                        // Nobody listens any more once something went wrong with the files.
                        if sender.send((cell, work(cell))).is_err() {
                            break;
                        }
                    }
                });
            });
        }
        drop(sender);
        for (cell, result) in receiver {
            outcome = done(cell, result);
            if outcome.is_err() {
                break;
            }
        }
    });
    outcome
}

/// One pool per worker; all threads are used where there are fewer cells than threads.
fn pools(threads: usize, cells: usize) -> Result<Vec<rayon::ThreadPool>> {
    let workers = threads.min(cells);
    let share = |w: usize| threads / workers + usize::from(w < threads % workers);
    let pool = |w: usize| Ok(rayon::ThreadPoolBuilder::new().num_threads(share(w)).build()?);
    (0..workers).map(pool).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_cell_is_done_once_on_any_number_of_threads() {
        for (n, threads) in [(0, 2), (1, 3), (7, 2), (3, 8)] {
            let (cells, mut seen): (Vec<usize>, _) = ((0..n).collect(), vec![]);
            let work = |cell: &usize| Ok(cell * 10);
            run(&cells, threads, work, |cell, result| {
                seen.push((*cell, result?));
                Ok(())
            })
            .expect("nothing fails");
            let distinct: BTreeSet<_> = seen.iter().copied().collect();
            assert_eq!((seen.len(), distinct), (n, (0..n).map(|r| (r, r * 10)).collect()));
        }
    }

    #[test]
    fn threads_are_shared_out() {
        let shares = |threads, cells| -> Vec<usize> {
            pools(threads, cells).expect("made").iter().map(rayon::ThreadPool::current_num_threads).collect()
        };
        assert_eq!(shares(2, 5), [1, 1]);
        assert_eq!(shares(7, 3), [3, 2, 2]);
        assert!(shares(4, 0).is_empty());
    }

    #[test]
    fn a_result_that_cannot_be_kept_ends_the_run() {
        let (cells, mut kept): (Vec<usize>, _) = ((0..50).collect(), 0);
        let error = run(
            &cells,
            1,
            |_| Ok(()),
            |_, _| {
                kept += 1;
                Err(crate::Error::Surroundings("no room".into()))
            },
        );
        assert_eq!((error.expect_err("it failed").to_string().as_str(), kept), ("no room", 1));
    }
}
