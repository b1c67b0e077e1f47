//! Ensembles: several models of the same outputs, weighed by how well each explains what was seen.
//!
//! ```text
//! p(k | y_{1:t})         = ω_k p_k(y_{1:t})^α / Σ_l ω_l p_l(y_{1:t})^α         k = 1 … K candidates, Σ_k ω_k = 1
//! p(y_{t+h} | y_{1:t})   = Σ_k p(k | y_{1:t}) p_k(y_{t+h} | y_{1:t})
//! ```
//! With α = 1 these are eqs 2 and 1 of Hoeting, Madigan, Raftery & Volinsky (1999), *Bayesian Model Averaging: A Tutorial*. The integrated
//! likelihood p_k(y_{1:t}) of candidate k is the evidence that its tracker estimates: over codes, and noise if that is
//! inferred. Candidates that all are wrong are told apart too sharply by it; α below 1 keeps more of them in the
//! mixture (Grünwald & van Ommen 2017, *Inconsistency of Bayesian Inference for Misspecified Linear Models*).

use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

use super::{EnsembleTracker, Online};
use crate::family::{Family, Signal};
use crate::random::Random;
use crate::system::System;
use crate::{Error, Result};

/// A model of an ensemble, and how its codes are inferred.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The model, with its own prior over codes and its own scaling.
    pub model: System,
    /// How a sequence is followed under it; `every` must be the same for all candidates.
    pub online: Online,
    /// Belief ω_k in the candidate before any observation, up to a factor common to all; above 0.
    pub weight: f64,
}

impl Candidate {
    /// A candidate that is believed as much as any other.
    #[must_use]
    pub fn new(model: System, online: Online) -> Self {
        Self { model, online, weight: 1.0 }
    }
}

/// One or more models of the same outputs and inputs, averaged by evidence.
///
/// Generators that were learned from different starting points explain the training sequences alike and differ on new
/// ones; so may models of different size, prior or belief about the noise. Their scalings may differ: densities are
/// compared in data units.
///
/// ```
/// use mtds::parts::{Candidate, Ensemble};
/// use mtds::{Control, Family, Fit, Sequence, Signal, random::stream};
/// # fn main() -> mtds::Result<()> {
/// let decay = |rate: f64| Signal::column((0..20).map(|t| (-rate * f64::from(t)).exp()).collect());
/// let sequences = (1..9).map(|i| Sequence::new(format!("decay {i}"), decay(0.03 * f64::from(i))));
/// let family = Family::new(sequences.collect::<mtds::Result<_>>()?)?;
/// // The same settings from three seeds.
/// let learn = |seed: u64| {
///     let mut fit = Fit { seed, ..Fit::default() };
///     (fit.wishes.code, fit.wishes.effort) = (Some(1), Some(0.05));
///     let model = fit.run(&family, &mut |_| Control::Continue)?.expect("nobody stops it");
///     Ok(Candidate::new(model.system, model.online))
/// };
/// let ensemble = Ensemble::new((1..4).map(learn).collect::<mtds::Result<_>>()?)?;
/// // Without those that failed to learn.
/// let evidence = ensemble.evidence_per_sequence(&family, stream(1, 0))?;
/// let ensemble = ensemble.keep_within(10.0, &evidence)?;
/// // Observe a new sequence, forecast the rest of it.
/// let mut tracker = ensemble.track(&decay(0.1).slice(0..10), None, stream(1, 1))?;
/// let forecast = tracker.forecast(10, None)?;
/// assert!((forecast.mean()[0] - (-1.0_f64).exp()).abs() < 0.15);
/// assert!((tracker.weights().iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Ensemble {
    candidates: Vec<Candidate>,
    evidence_power: f64,
}

impl Ensemble {
    /// An ensemble of these candidates.
    ///
    /// # Errors
    /// [`Error::Shape`] for none, or for widths of outputs or inputs that differ; [`Error::Setting`] for settings out of
    /// range, for `every` that differs, or for a weight that is not finite and above 0.
    pub fn new(candidates: Vec<Candidate>) -> Result<Self> {
        let Some(first) = candidates.first() else {
            return Err(Error::shape("candidates of an ensemble", "at least one", 0));
        };
        candidates.iter().enumerate().try_for_each(|(k, candidate)| check(k, candidate, first))?;
        Ok(Self { candidates, evidence_power: 1.0 })
    }

    /// The same with evidences taken to the power α when candidates are weighed; 1 is Bayes' rule.
    ///
    /// # Errors
    /// [`Error::Setting`] unless α lies in 0 … 1.
    pub fn tempered(mut self, power: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&power) {
            return Err(Error::setting("evidence_power", format!("found {power}; expected 0 to 1")));
        }
        self.evidence_power = power;
        Ok(self)
    }

    /// The power α of the evidences.
    #[must_use]
    pub fn evidence_power(&self) -> f64 {
        self.evidence_power
    }

    /// The candidates, in the order of all weights and evidences.
    #[must_use]
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// Width of the outputs.
    #[must_use]
    pub fn d_obs(&self) -> usize {
        self.candidates[0].model.base().d_obs()
    }

    /// Beliefs ω before any observation, one per candidate; they sum to 1.
    #[must_use]
    pub fn prior_weights(&self) -> Vec<f64> {
        let largest = self.candidates.iter().map(|c| c.weight).fold(0.0, f64::max);
        let total: f64 = self.candidates.iter().map(|c| c.weight / largest).sum();
        self.candidates.iter().map(|c| c.weight / largest / total).collect()
    }

    /// Follows a whole sequence (data units) and returns the tracker at its end.
    ///
    /// # Errors
    /// Settings out of range; outputs or inputs of the wrong size.
    pub fn track(
        &self,
        outputs: &Signal,
        inputs: Option<&Signal>,
        random: Random,
    ) -> Result<EnsembleTracker> {
        crate::base::emission::check_inputs(inputs, outputs.n_time(), self.candidates[0].model.d_input())?;
        let mut tracker = EnsembleTracker::new(self, random)?;
        for (t, y) in outputs.rows().enumerate() {
            tracker.observe(y, inputs.map_or(&[], |inputs| inputs.row(t)))?;
        }
        tracker.update()?;
        Ok(tracker)
    }

    /// Mean over the sequences of a family of log p_k(y_{1:T}), in data units, one per candidate; −∞ for a candidate that
    /// some sequence is impossible under.
    ///
    /// # Errors
    /// As [`Ensemble::track`].
    pub fn evidence_per_sequence(&self, family: &Family, random: Random) -> Result<Vec<f64>> {
        let found: Vec<Result<Vec<f64>>> = generators(family.n_seq(), random)
            .into_par_iter()
            .enumerate()
            .map(|(i, random)| {
                let tracker = self.track(family.sequence(i).outputs(), family.inputs_of(i), random)?;
                Ok(tracker.log_evidences().to_vec())
            })
            .collect();
        let mut mean = vec![0.0; self.candidates.len()];
        for evidences in found {
            mean.iter_mut().zip(evidences?).for_each(|(sum, e)| *sum += e / family.n_seq() as f64);
        }
        Ok(mean)
    }

    /// The ensemble without candidates whose evidence per training sequence lies more than `nats` below the best.
    ///
    /// Ten nats keep what learned about as well as the best and drop what learning left in a poor optimum; the weights
    /// alone would let such a candidate speak where a new sequence is still short. The evidences are those of
    /// [`Ensemble::evidence_per_sequence`], or others in units common to all candidates.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there is one evidence per candidate; [`Error::NotFinite`] for an evidence that is NaN or
    /// +∞, or if all are −∞; [`Error::Setting`] unless `nats` is 0 or more.
    pub fn keep_within(self, nats: f64, evidence_per_sequence: &[f64]) -> Result<Self> {
        if evidence_per_sequence.len() != self.candidates.len() {
            let expected = format!("{}, one per candidate", self.candidates.len());
            return Err(Error::shape("evidences", expected, evidence_per_sequence.len()));
        }
        if nats.is_nan() || nats < 0.0 {
            return Err(Error::setting("nats", format!("found {nats}; expected 0 or more")));
        }
        let best = evidence_per_sequence.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let unfit = evidence_per_sequence.iter().copied().find(|e| e.is_nan() || !best.is_finite());
        if let Some(value) = unfit {
            let what = "evidence per sequence of the candidates".into();
            return Err(Error::NotFinite { what, value, hint: ", but for -inf beside a finite one" });
        }
        let pairs = self.candidates.into_iter().zip(evidence_per_sequence);
        let kept = pairs.filter(|(_, e)| **e >= best - nats).map(|(candidate, _)| candidate).collect();
        Self::new(kept)?.tempered(self.evidence_power)
    }
}

fn check(k: usize, candidate: &Candidate, first: &Candidate) -> Result<()> {
    let widths = |candidate: &Candidate| (candidate.model.base().d_obs(), candidate.model.d_input());
    let (wanted, own) = (widths(first), widths(candidate));
    for (what, expected, found) in [("outputs", wanted.0, own.0), ("inputs", wanted.1, own.1)] {
        if expected != found {
            let expected = format!("{expected}, as candidate 0 has");
            return Err(Error::shape(format!("{what} of candidate {k}"), expected, found));
        }
    }
    candidate.online.validate()?;
    let (expected, found) = (first.online.every, candidate.online.every);
    if expected != found {
        let why = format!(
            "found {found} in candidate {k}; expected {expected}, as in candidate 0: evidences must be of the same steps"
        );
        return Err(Error::setting("every", why));
    }
    if candidate.weight.is_finite() && candidate.weight > 0.0 {
        return Ok(());
    }
    let why = format!("found {} in candidate {k}; expected a finite number above 0", candidate.weight);
    Err(Error::setting("weight", why))
}

/// `n` independent generators: the one given, and others seeded from it before it goes on.
pub(super) fn generators(n: usize, mut random: Random) -> Vec<Random> {
    let mut others: Vec<Random> = (1..n).map(|_| Random::from_rng(&mut random)).collect();
    others.insert(0, random);
    others.truncate(n);
    others
}
