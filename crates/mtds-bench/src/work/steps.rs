//! Steps of a fit, taken one after another and timed: those that `mtds fit` takes with the same settings.

use std::time::Instant;

use mtds::{Control, Device, Family, Fit, Fitting, Wishes};

use crate::error::{Error, Result};

/// Steps of one fit, which goes on from round to round.
pub struct Steps {
    work: String,
    fitting: Fitting,
}

impl Steps {
    /// A fit before its first step.
    ///
    /// # Errors
    /// If the library refuses family or wishes.
    pub fn new(work: &str, (family, wishes): (&Family, Wishes), card: Option<&Device>) -> Result<Self> {
        let fit = Fit { wishes, device: card.cloned().unwrap_or_else(Device::cpu), ..Fit::default() };
        let begun = fit.begin(family);
        let fitting = begun.map_err(|source| Error::Own { work: work.to_string(), source })?;
        Ok(Self { work: work.to_string(), fitting })
    }

    /// Takes so many steps; the time of one, in milliseconds.
    ///
    /// # Errors
    /// If learning diverges, or comes to its end.
    pub fn take(&mut self, steps: usize) -> Result<f64> {
        let (mut clock, mut taken, mut took) = (Instant::now(), 0, 0.0);
        let outcome = self.fitting.run(&mut |progress| {
            match progress.step {
                None => clock = Instant::now(), // learning is about to go on
                Some(_) => taken += 1,
            }
            took = clock.elapsed().as_secs_f64() * 1e3 / taken.max(1) as f64;
            if taken < steps { Control::Continue } else { Control::Stop }
        });
        outcome.map_err(|source| Error::Own { work: self.work.clone(), source })?;
        Ok(took)
    }
}
