//! Ctrl-C: asks a verb to stop at the next good moment; a second one ends the program at once.

use anyhow::{Context, Result};
use mtds::Control;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

const RUNNING: u8 = 0;
const AT_ONCE: u8 = 1;
const ASKED: u8 = 2;

/// Exit code of a program that Ctrl-C ended on the spot.
const EXIT_CODE: i32 = 130;

/// Whether somebody asked the program to stop.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicU8>);

impl Interrupt {
    /// Listens to Ctrl-C, and to the signal by which systems end programs.
    ///
    /// # Errors
    /// A system that does not let the program listen.
    pub fn listen() -> Result<Self> {
        let interrupt = Self::default();
        let state = Arc::clone(&interrupt.0);
        ctrlc::set_handler(move || {
            // Files appear whole or not at all, so that ending on the spot leaves none half-written.
            if state.swap(ASKED, Ordering::SeqCst) != RUNNING {
                std::process::exit(EXIT_CODE);
            }
        })
        .context("cannot listen to Ctrl-C")?;
        Ok(interrupt)
    }

    /// Whether the verb should stop now.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst) == ASKED
    }

    /// The same for the library.
    pub fn control(&self) -> Control {
        if self.is_asked() { Control::Stop } else { Control::Continue }
    }

    /// Does work that cannot be stopped and leaves nothing: meanwhile Ctrl-C ends the program at once.
    pub fn without_stop<T>(&self, work: impl FnOnce() -> T) -> T {
        let _ = self.0.compare_exchange(RUNNING, AT_ONCE, Ordering::SeqCst, Ordering::SeqCst);
        let done = work();
        let _ = self.0.compare_exchange(AT_ONCE, RUNNING, Ordering::SeqCst, Ordering::SeqCst);
        done
    }
}
