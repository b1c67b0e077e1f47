//! Forecasts of a system, or of several: a tracker follows the sequence and forecasts at each origin.

use super::{Forecaster, Origin};
use crate::Result;
use crate::family::{Family, Signal};
use crate::infer::{Ensemble, EnsembleTracker, Online, Tracker};
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

/// Several systems that follow sequences together, weighed by evidence, with random numbers of their own for each.
#[derive(Clone, Debug)]
pub struct FollowingEnsemble {
    /// The systems, and how the codes of each are inferred.
    pub ensemble: Ensemble,
    /// Seed of all randomness, and the random stream of each sequence.
    pub random: (u64, fn(u64) -> Stream),
}

impl Forecaster for Following {
    fn forecasts(&self, family: &Family, i: usize, origins: &[Origin]) -> Result<Vec<Forecast>> {
        let (seed, stream_of) = self.random;
        let online = match (self.updates, origins.last()) {
            (Updates::Few, Some(last)) => self.online.with_few_updates(last.seen),
            _ => self.online.clone(),
        };
        let tracker = Tracker::new(&self.system, online, stream(seed, stream_of(i as u64)))?;
        walk(tracker, (family, i), origins, (Tracker::observe, Tracker::forecast))
    }
}

impl Forecaster for FollowingEnsemble {
    fn forecasts(&self, family: &Family, i: usize, origins: &[Origin]) -> Result<Vec<Forecast>> {
        let (seed, stream_of) = self.random;
        let tracker = EnsembleTracker::new(&self.ensemble, stream(seed, stream_of(i as u64)))?;
        walk(tracker, (family, i), origins, (EnsembleTracker::observe, EnsembleTracker::forecast))
    }
}

/// How a tracker takes a step of outputs and inputs, and how it forecasts.
type Ways<T> =
    (fn(&mut T, &[f64], &[f64]) -> Result<bool>, fn(&mut T, usize, Option<&Signal>) -> Result<Forecast>);

/// Shows the sequence to a tracker step by step, no further than each origin.
fn walk<T>(
    mut tracker: T,
    (family, i): (&Family, usize),
    origins: &[Origin],
    (observe, forecast): Ways<T>,
) -> Result<Vec<Forecast>> {
    let (outputs, inputs) = (family.sequence(i).outputs(), family.inputs_of(i));
    let (mut forecasts, mut shown) = (Vec::with_capacity(origins.len()), 0);
    for &Origin { seen, n_time } in origins {
        for t in shown..seen {
            observe(&mut tracker, outputs.row(t), inputs.map_or(&[], |inputs| inputs.row(t)))?;
        }
        shown = seen;
        let future = inputs.map(|inputs| inputs.slice(seen..seen + n_time));
        forecasts.push(forecast(&mut tracker, n_time, future.as_ref())?);
    }
    Ok(forecasts)
}
