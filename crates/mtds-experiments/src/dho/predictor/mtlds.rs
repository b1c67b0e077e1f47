//! Multi-task linear systems that follow a sequence by online inference of its code.
//!
//! Every member follows on its own; forecasts and evidences of several are mixed by what the sequence says of each.

use mtds::infer::{Online, Tracker};
use mtds::random::stream;
use mtds::{Error, Family, Forecast, Lds, Model, Result, Sequence};
use rayon::prelude::*;

use super::impulse;
use super::mixing::{log_mean_evidence, mix};
use crate::dho::score::{Follower, Predictor};

/// Streams of the seed that a sequence may use: one per member.
const STREAMS_PER_SEQUENCE: u64 = 1 << 16;
/// First stream of the evidences of whole sequences.
const EVIDENCE_STREAM: u64 = 1 << 48;
/// Observations between updates on the way to the evidence of a whole sequence.
const EVIDENCE_EVERY: usize = 20;

/// A learned model and how its codes are inferred.
#[derive(Clone, Debug)]
pub struct Member {
    /// The model.
    pub model: Model<Lds>,
    /// Settings of online inference.
    pub online: Online,
}

/// One or several multi-task systems as one predictor.
#[derive(Clone, Debug)]
pub struct Mtlds {
    members: Vec<Member>,
    seed: u64,
}

struct MtldsFollower<'a> {
    trackers: Vec<Tracker<'a, Lds>>,
}

impl Mtlds {
    /// Follows with `members`; member k draws for sequence i from a stream of `seed` of its own.
    ///
    /// # Errors
    /// [`Error::Setting`] for no members.
    pub fn new(members: Vec<Member>, seed: u64) -> Result<Self> {
        if members.is_empty() {
            let why = "found none; expected at least one learned model".into();
            return Err(Error::Setting { name: "members".into(), why });
        }
        Ok(Self { members, seed })
    }

    fn stream_of(first: u64, sequence: usize, member: usize) -> u64 {
        first + sequence as u64 * STREAMS_PER_SEQUENCE + member as u64
    }

    fn log_evidence(&self, i: usize, sequence: &Sequence) -> Result<f64> {
        let inputs = impulse(0, sequence.n_time());
        let of = |(k, member): (usize, &Member)| {
            let settings = Online { every: EVIDENCE_EVERY, ..member.online.clone() };
            let random = stream(self.seed, Self::stream_of(EVIDENCE_STREAM, i, k));
            let tracker = member.model.track(sequence.outputs(), Some(&inputs), settings, random)?;
            evidence_so_far(&tracker)
        };
        let evidences = self.members.iter().enumerate().map(of).collect::<Result<Vec<f64>>>()?;
        Ok(log_mean_evidence(&evidences))
    }
}

impl Predictor for Mtlds {
    fn follow(&self, sequence: usize) -> Result<Box<dyn Follower + '_>> {
        let mut trackers = Vec::with_capacity(self.members.len());
        for (k, Member { model, online }) in self.members.iter().enumerate() {
            let random = stream(self.seed, Self::stream_of(0, sequence, k));
            trackers.push(Tracker::new(model, online.clone(), random)?);
        }
        Ok(Box::new(MtldsFollower { trackers }))
    }

    /// Noise that inference leaves open is integrated out, as the code is.
    fn log_evidences(&self, whole: &Family) -> Result<Option<Vec<f64>>> {
        let sequences = whole.sequences().par_iter().enumerate();
        Ok(Some(sequences.map(|(i, sequence)| self.log_evidence(i, sequence)).collect::<Result<_>>()?))
    }
}

impl Follower for MtldsFollower<'_> {
    fn observe(&mut self, outputs: &[f64]) -> Result<()> {
        for tracker in &mut self.trackers {
            let inputs = impulse(tracker.n_observed_steps(), outputs.len());
            for (y, u) in outputs.chunks_exact(1).zip(inputs.rows()) {
                tracker.observe(y, u)?;
            }
        }
        Ok(())
    }

    fn forecast(&mut self, n_time: usize) -> Result<Forecast> {
        let (mut forecasts, mut evidences) = (vec![], vec![]);
        for tracker in &mut self.trackers {
            let inputs = impulse(tracker.n_observed_steps(), n_time);
            forecasts.push(tracker.forecast(n_time, Some(&inputs))?);
            evidences.push(evidence_so_far(tracker)?);
        }
        mix(forecasts, &evidences)
    }
}

/// log p(y_{1:t}) in data units: a density of y is one of y / scale, divided by the scale.
fn evidence_so_far(tracker: &Tracker<'_, Lds>) -> Result<f64> {
    let in_model_units = tracker.log_evidence().ok_or_else(|| Error::Setting {
        name: "log evidence".into(),
        why: "nothing was inferred yet; observe something first".into(),
    })?;
    let scale = tracker.model().scaling().scale(0);
    Ok(in_model_units - tracker.n_observed_steps() as f64 * scale.ln())
}
