//! Following a sequence under every candidate of an ensemble, and weighing them as it goes.
//!
//! ```text
//! log p_k(y_{1:t}) = log p_k(y_{1:t} in model units of k) − Σ_d n_d log scale_kd        n_d: values observed of output d
//! ```
//! Densities in model units of different scalings cannot be compared; those in data units can.

use rayon::prelude::*;

use super::ensemble::generators;
use super::{Ensemble, Posterior, Tracker, TrackerState};
use crate::random::Random;
use crate::{Error, Result};

/// The posterior of one sequence, over candidates and under each of them, followed online.
///
/// Candidates run in parallel, each with random numbers of its own.
#[derive(Debug)]
pub struct EnsembleTracker {
    ensemble: Ensemble,
    trackers: Vec<Tracker>,
    /// Values observed of each output, `d_obs`.
    n_observed: Vec<usize>,
    /// log p_k(y_{1:t}) at the last update, in data units.
    log_evidences: Vec<f64>,
    /// p(k | y_{1:t}) at the last update.
    weights: Vec<f64>,
    log_evidence: Option<f64>,
}

impl EnsembleTracker {
    /// Before the first observation.
    ///
    /// The first candidate takes its random numbers from `random` itself, so that an ensemble of one is a [`Tracker`]
    /// to the bit; the others take them from generators that `random` seeds.
    ///
    /// # Errors
    /// Settings out of range.
    pub fn new(ensemble: &Ensemble, random: Random) -> Result<Self> {
        let candidates = ensemble.candidates();
        let trackers = candidates
            .iter()
            .zip(generators(candidates.len(), random))
            .map(|(candidate, random)| Tracker::new(&candidate.model, candidate.online.clone(), random))
            .collect::<Result<Vec<_>>>()?;
        Ok(Self {
            ensemble: ensemble.clone(),
            trackers,
            n_observed: vec![0; ensemble.d_obs()],
            log_evidences: vec![0.0; candidates.len()],
            weights: ensemble.prior_weights(),
            log_evidence: None,
        })
    }

    /// The ensemble that is followed.
    #[must_use]
    pub fn ensemble(&self) -> &Ensemble {
        &self.ensemble
    }

    /// The trackers of the candidates, with the posterior under each.
    #[must_use]
    pub fn trackers(&self) -> &[Tracker] {
        &self.trackers
    }

    pub(crate) fn trackers_mut(&mut self) -> &mut [Tracker] {
        &mut self.trackers
    }

    /// What is known of the code under the first candidate, at the last update.
    #[must_use]
    pub fn posterior(&self) -> Option<&Posterior> {
        self.trackers[0].posterior()
    }

    /// What every tracker knows, to be stored, and how many values were observed of each output.
    #[must_use]
    pub fn states(&self) -> (Vec<TrackerState>, Vec<usize>) {
        (self.trackers.iter().map(Tracker::state).collect(), self.n_observed.clone())
    }

    /// The tracker that had these states; it goes on to the same bits. `ensemble` must be the one that it followed.
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of states or outputs; else as [`Tracker::restore`].
    pub fn restore(
        ensemble: &Ensemble,
        (states, n_observed): (Vec<TrackerState>, Vec<usize>),
    ) -> Result<Self> {
        let candidates = ensemble.candidates();
        for (what, expected, found) in [
            ("trackers of the state", candidates.len(), states.len()),
            ("outputs that the state counts", ensemble.d_obs(), n_observed.len()),
        ] {
            if expected != found {
                return Err(Error::shape(what, expected, found));
            }
        }
        let pairs = candidates.iter().zip(states);
        let trackers = pairs.map(|(candidate, state)| Tracker::restore(&candidate.model, state));
        let mut restored = Self {
            ensemble: ensemble.clone(),
            trackers: trackers.collect::<Result<_>>()?,
            n_observed,
            log_evidences: vec![0.0; candidates.len()],
            weights: ensemble.prior_weights(),
            log_evidence: None,
        };
        if restored.posterior().is_some() {
            restored.weigh();
        }
        Ok(restored)
    }

    /// Observations so far.
    #[must_use]
    pub fn n_observed_steps(&self) -> usize {
        self.trackers[0].n_observed_steps()
    }

    /// p(k | y_{1:t}) at the last update, one per candidate; they sum to 1.
    ///
    /// Before the first update, and where the observations are impossible under every candidate, these are the
    /// beliefs held before; [`EnsembleTracker::log_evidence`] is then `None`.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// log p_k(y_{1:t}) at the last update in data units, one per candidate; −∞ where nothing fits, 0 before the first
    /// update.
    #[must_use]
    pub fn log_evidences(&self) -> &[f64] {
        &self.log_evidences
    }

    /// log Σ_k ω_k p_k(y_{1:t}) at the last update, of outputs in data units; `None` before it, or where nothing fits.
    ///
    /// [`Tracker::log_evidence`] is in model units instead, of which an ensemble may have several.
    #[must_use]
    pub fn log_evidence(&self) -> Option<f64> {
        self.log_evidence
    }

    /// Whether a step can be taken. Scalings may differ, so what one candidate can take another may refuse: all are asked.
    ///
    /// # Errors
    /// As [`EnsembleTracker::observe`].
    pub fn check(&self, outputs: &[f64], inputs: &[f64]) -> Result<()> {
        self.trackers.iter().try_for_each(|tracker| tracker.to_model_units(outputs, inputs).map(drop))
    }

    /// Takes one step of outputs (NaN = missing) and inputs, in data units; updates every τ steps.
    ///
    /// Returns whether posteriors and weights were updated. On an error nothing has changed.
    ///
    /// # Errors
    /// Rows of the wrong width, infinite outputs, inputs that are not finite.
    pub fn observe(&mut self, outputs: &[f64], inputs: &[f64]) -> Result<bool> {
        self.check(outputs, inputs)?;
        let updated = self.each(|tracker| tracker.observe(outputs, inputs))?;
        let observed = outputs.iter().map(|y| usize::from(!y.is_nan()));
        self.n_observed.iter_mut().zip(observed).for_each(|(n, seen)| *n += seen);
        let due = updated.contains(&true);
        if due {
            self.weigh();
        }
        Ok(due)
    }

    /// Brings posteriors and weights up to the last observation, if they are not; returns the weights.
    ///
    /// # Errors
    /// None for settings that [`EnsembleTracker::new`] accepted.
    pub fn update(&mut self) -> Result<&[f64]> {
        self.each(|tracker| tracker.update().map(drop))?;
        self.weigh();
        Ok(&self.weights)
    }

    /// `work` on every tracker in parallel; the first error in order.
    fn each<T: Send>(&mut self, work: impl Fn(&mut Tracker) -> Result<T> + Send + Sync) -> Result<Vec<T>> {
        let results: Vec<Result<T>> = self.trackers.par_iter_mut().map(work).collect();
        results.into_iter().collect()
    }

    fn weigh(&mut self) {
        self.log_evidences = self.trackers.iter().map(|tracker| self.in_data_units(tracker)).collect();
        let prior = self.ensemble.prior_weights();
        let joint = |power: f64| -> Vec<f64> {
            prior.iter().zip(&self.log_evidences).map(|(w, e)| w.ln() + power * e).collect()
        };
        let Some((_, log_evidence)) = shares(&joint(1.0)) else {
            (self.weights, self.log_evidence) = (prior, None);
            return;
        };
        self.log_evidence = Some(log_evidence);
        // A power of zero would make a number of an impossible candidate's −∞.
        let power = self.ensemble.evidence_power().max(f64::MIN_POSITIVE);
        self.weights = shares(&joint(power)).map_or(prior, |(weights, _)| weights);
    }

    fn in_data_units(&self, tracker: &Tracker) -> f64 {
        let scaling = tracker.model().scaling();
        let counts = self.n_observed.iter().enumerate();
        let log_jacobian: f64 = counts.map(|(d, &n)| n as f64 * scaling.scale(d).ln()).sum();
        tracker.log_evidence().unwrap_or(f64::NEG_INFINITY) - log_jacobian
    }
}

/// Parts of the whole, from their logarithms, and the whole's logarithm; `None` where all are −∞.
fn shares(log_parts: &[f64]) -> Option<(Vec<f64>, f64)> {
    let highest = log_parts.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if highest == f64::NEG_INFINITY {
        return None;
    }
    let parts: Vec<f64> = log_parts.iter().map(|l| (l - highest).exp()).collect();
    let total: f64 = parts.iter().sum();
    Some((parts.iter().map(|part| part / total).collect(), highest + total.ln()))
}
