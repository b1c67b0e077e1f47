//! Multi-task linear systems that follow a sequence by online inference of its code.
//!
//! Several are an [`Ensemble`]: each follows on its own, and their forecasts are mixed by what the sequence says of each.

use mtds::infer::{Candidate, Ensemble, EnsembleTracker, Online};
use mtds::random::{Stream, stream};
use mtds::{Error, Family, Forecast, Result, Sequence};
use rayon::prelude::*;

use super::{impulse, stream_of};
use crate::dho::score::{Follower, Predictor};

/// Observations between updates on the way to the evidence of a whole sequence.
const EVIDENCE_EVERY: usize = 20;

/// One or several multi-task systems as one predictor.
#[derive(Clone, Debug)]
pub struct Mtlds {
    ensemble: Ensemble,
    seed: u64,
}

struct MtldsFollower {
    tracker: EnsembleTracker,
}

impl Mtlds {
    /// Follows with `members`, from a stream of `seed` for every sequence.
    ///
    /// # Errors
    /// Those of [`Ensemble::new`]: no members, settings out of range.
    pub fn new(members: Vec<Candidate>, seed: u64) -> Result<Self> {
        Ok(Self { ensemble: Ensemble::new(members)?, seed })
    }

    /// The same, mixed by this power of their evidences.
    ///
    /// # Errors
    /// Those of [`Ensemble::tempered`]: a power outside 0 … 1.
    pub fn tempered(self, evidence_power: f64) -> Result<Self> {
        Ok(Self { ensemble: self.ensemble.tempered(evidence_power)?, ..self })
    }

    /// The same members with fewer updates, for where the end of the sequence alone counts.
    fn hurried(&self) -> Result<Ensemble> {
        let hurry = |member: &Candidate| {
            let online = Online { every: EVIDENCE_EVERY, ..member.online.clone() };
            Candidate { online, ..member.clone() }
        };
        Ensemble::new(self.ensemble.candidates().iter().map(hurry).collect())
    }
}

impl Predictor for Mtlds {
    fn follow(&self, sequence: usize) -> Result<Box<dyn Follower + '_>> {
        let random = stream(self.seed, stream_of(sequence, 0));
        Ok(Box::new(MtldsFollower { tracker: EnsembleTracker::new(&self.ensemble, random)? }))
    }

    /// Noise that inference leaves open is integrated out, as the code is.
    fn log_evidences(&self, whole: &Family) -> Result<Option<Vec<f64>>> {
        let ensemble = self.hurried()?;
        let of = |(i, sequence): (usize, &Sequence)| {
            let random = stream(self.seed, Stream::Evidence(stream_of(i, 0)));
            let inputs = impulse(0, sequence.n_time());
            let tracker = ensemble.track(sequence.outputs(), Some(&inputs), random)?;
            tracker.log_evidence().ok_or_else(impossible)
        };
        Ok(Some(whole.sequences().par_iter().enumerate().map(of).collect::<Result<_>>()?))
    }
}

impl Follower for MtldsFollower {
    fn observe(&mut self, outputs: &[f64]) -> Result<()> {
        let inputs = impulse(self.tracker.n_observed_steps(), outputs.len());
        for (y, u) in outputs.chunks_exact(1).zip(inputs.rows()) {
            self.tracker.observe(y, u)?;
        }
        Ok(())
    }

    fn forecast(&mut self, n_time: usize) -> Result<Forecast> {
        let inputs = impulse(self.tracker.n_observed_steps(), n_time);
        self.tracker.forecast(n_time, Some(&inputs))
    }
}

fn impossible() -> Error {
    let (what, hint) = ("log evidence of a sequence".into(), "; it is impossible under every member");
    Error::NotFinite { what, value: f64::NEG_INFINITY, hint }
}
