//! The models of the experiment as forecasters, and what each makes of whole sequences.
//!
//! | model | follows a test sequence with |
//! |---|---|
//! | pooled | one linear system for all sequences, which learns nothing from what it sees |
//! | single | a linear system inferred from what was seen of the sequence alone, anew for every t |
//! | MTLDS | one or several multi-task systems, each inferring a code, mixed by evidence |

use mtds::evaluate::{Forecaster, Origin, from_each_origin};
use mtds::parts::{Candidate, Ensemble, FollowingEnsemble, PooledLds, SingleTask, Spread};
use mtds::random::{Stream, stream};
use mtds::{Error, Family, Online, Result, Sequence};
use rayon::prelude::*;

use super::recipe::Learned;

/// Streams of a seed that a sequence may use.
const STREAMS_PER_SEQUENCE: u64 = 1 << 16;
/// Observations between updates on the way to the evidence of a whole sequence.
const EVIDENCE_EVERY: usize = 20;

/// The same forecast for every sequence, whatever was seen of it.
pub(super) fn pooled(lds: &PooledLds, spread: Spread) -> impl Forecaster {
    from_each_origin(move |family, i, Origin { seen, n_time }| {
        lds.forecast(family.inputs_of(i), seen, n_time, spread)
    })
}

/// The single-task system, from streams of `seed` by sequence and number of observations.
pub(super) fn single(model: SingleTask, seed: u64) -> impl Forecaster {
    from_each_origin(move |family, i, Origin { seen, n_time }| {
        let mut random = stream(seed, i as u64 * STREAMS_PER_SEQUENCE + seen as u64);
        let outputs = family.sequence(i).outputs().slice(0..seen);
        Ok(model.forecast(&outputs, family.inputs_of(i), n_time, &mut random)?.0)
    })
}

/// What was learned, from a stream of `seed` for every sequence.
///
/// # Errors
/// No models; settings out of range.
pub(super) fn mtlds(learned: Learned, seed: u64) -> Result<FollowingEnsemble> {
    let ensemble = Ensemble::new(learned.members)?.tempered(learned.evidence_power)?;
    Ok(FollowingEnsemble { ensemble, random: (seed, |i| Stream::Item(i * STREAMS_PER_SEQUENCE)) })
}

/// log p(y_{1:T}) of sequences under a pooled system: steps are independent, so it is the sum over them.
pub(super) fn pooled_evidences(lds: &PooledLds, spread: Spread, whole: &Family) -> Result<Vec<f64>> {
    let one = |(i, sequence): (usize, &Sequence)| {
        let forecast = lds.forecast(whole.inputs_of(i), 0, sequence.n_time(), spread)?;
        let density = |(t, y): (usize, &[f64])| match y.iter().all(|value| value.is_nan()) {
            true => Ok(0.0),
            false => forecast.log_density(t, y),
        };
        sequence.outputs().rows().enumerate().map(density).sum()
    };
    whole.sequences().iter().enumerate().map(one).collect()
}

/// log p(y_{1:T}) of sequences under an ensemble; noise that inference leaves open is integrated out, as the code is.
pub(super) fn mtlds_evidences(mtlds: &FollowingEnsemble, whole: &Family) -> Result<Vec<f64>> {
    // The end of a sequence alone counts, so few updates do on the way.
    let hurried = |member: &Candidate| {
        let online = Online { every: EVIDENCE_EVERY, ..member.online.clone() };
        Candidate { online, ..member.clone() }
    };
    let ensemble = Ensemble::new(mtlds.ensemble.candidates().iter().map(hurried).collect())?;
    let impossible = || {
        let (what, hint) = ("log evidence of a sequence".into(), "; it is impossible under every member");
        Error::NotFinite { what, value: f64::NEG_INFINITY, hint }
    };
    let one = |(i, sequence): (usize, &Sequence)| {
        let random = stream(mtlds.random.0, Stream::Evidence(i as u64 * STREAMS_PER_SEQUENCE));
        let tracker = ensemble.track(sequence.outputs(), whole.inputs_of(i), random)?;
        tracker.log_evidence().ok_or_else(impossible)
    };
    whole.sequences().par_iter().enumerate().map(one).collect()
}

#[cfg(test)]
#[path = "models_tests.rs"]
mod tests;
