//! Forecasts of a system: one tracker follows the sequence and forecasts at each origin.

use super::{Forecaster, Origin};
use crate::Result;
use crate::family::Family;
use crate::infer::{Online, Tracker};
use crate::predict::Forecast;
use crate::random::{Stream, stream};
use crate::system::System;

/// How often a posterior is brought up to date on the way to an origin; at the origin itself it always is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Updates {
    /// As set.
    AsSet,
    /// A few, as [`Online::with_few_updates`].
    Few,
}

/// A system that follows sequences, with random numbers of its own for each.
#[derive(Clone, Debug)]
pub struct Following {
    /// The system.
    pub system: System,
    /// How codes are inferred.
    pub online: Online,
    /// How often the posterior is brought up to date on the way.
    pub updates: Updates,
    /// Seed of all randomness, and the random stream of each sequence.
    pub random: (u64, fn(u64) -> Stream),
}

impl Forecaster for Following {
    fn forecasts(&self, family: &Family, i: usize, origins: &[Origin]) -> Result<Vec<Forecast>> {
        let (outputs, inputs) = (family.sequence(i).outputs(), family.inputs_of(i));
        let (seed, stream_of) = self.random;
        let online = match (self.updates, origins.last()) {
            (Updates::Few, Some(last)) => self.online.with_few_updates(last.seen),
            _ => self.online.clone(),
        };
        let mut tracker = Tracker::new(&self.system, online, stream(seed, stream_of(i as u64)))?;
        let mut forecasts = Vec::with_capacity(origins.len());
        for &Origin { seen, n_time } in origins {
            for t in tracker.n_observed_steps()..seen {
                tracker.observe(outputs.row(t), inputs.map_or(&[], |inputs| inputs.row(t)))?;
            }
            let future = inputs.map(|inputs| inputs.slice(seen..seen + n_time));
            forecasts.push(tracker.forecast(n_time, future.as_ref())?);
        }
        Ok(forecasts)
    }
}
