//! Ctrl-C: asks a verb to stop at the next good moment; a second one ends the program at once.

use anyhow::{Context, Result};
use mtds::Control;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit code of a program that Ctrl-C ended on the spot.
const EXIT_CODE: i32 = 130;

/// Whether somebody asked the program to stop.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

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
            if state.swap(true, Ordering::SeqCst) {
                std::process::exit(EXIT_CODE);
            }
        })
        .context("cannot listen to Ctrl-C")?;
        Ok(interrupt)
    }

    /// Whether the verb should stop now.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// The same for the library.
    pub fn control(&self) -> Control {
        if self.is_asked() { Control::Stop } else { Control::Continue }
    }
}
