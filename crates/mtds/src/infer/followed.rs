//! Whole sequences of a family followed to their ends, all threads busy, with what is wanted kept of each.

use rayon::prelude::*;

use super::{GaussianMixture, Online, Tracker};
use crate::family::Family;
use crate::learn::Control;
use crate::random::{Stream, stream};
use crate::system::System;
use crate::{Error, Result};

/// Sequences between two looks at the progress.
const BATCH: usize = 8;

/// A model and a family whose sequences are followed.
#[derive(Clone, Copy, Debug)]
pub struct Followed<'a> {
    /// The model.
    pub model: &'a System,
    /// How codes are inferred; when updates are made follows from the length of each sequence.
    pub online: &'a Online,
    /// The sequences, in data units.
    pub family: &'a Family,
    /// Seed of all randomness, and what each sequence's stream of it is for.
    pub random: (u64, fn(u64) -> Stream),
}

impl Followed<'_> {
    /// What `keep` makes of each of these sequences at its end, in order; `progress` is told how many are done, and may stop the work.
    ///
    /// The result does not depend on the number of threads.
    ///
    /// # Errors
    /// Sequences that the model cannot take; what `keep` finds wrong; [`Error::Stopped`].
    pub fn each<T: Send>(
        &self,
        sequences: &[usize],
        keep: &(dyn Fn(usize, &mut Tracker) -> Result<T> + Sync),
        progress: &mut dyn FnMut(usize) -> Control,
    ) -> Result<Vec<T>> {
        let mut all = Vec::with_capacity(sequences.len());
        for batch in sequences.chunks(BATCH) {
            let found = batch.par_iter().map(|&i| keep(i, &mut self.one(i)?));
            all.extend(found.collect::<Result<Vec<_>>>()?);
            if progress(all.len()) == Control::Stop {
                return Err(Error::Stopped);
            }
        }
        Ok(all)
    }

    /// One sequence.
    fn one(&self, i: usize) -> Result<Tracker> {
        let sequence = self.family.sequence(i);
        let settings = self.online.with_few_updates(sequence.n_time());
        let (seed, stream_of) = self.random;
        let random = stream(seed, stream_of(i as u64));
        self.model.track(sequence.outputs(), self.family.inputs_of(i), settings, random)
    }

    /// log p(y_{1:T}) of each of these sequences, in data units.
    ///
    /// # Errors
    /// Sequences that the model cannot take.
    pub fn log_evidences(
        &self,
        sequences: &[usize],
        progress: &mut dyn FnMut(usize) -> Control,
    ) -> Result<Vec<f64>> {
        let one = |i: usize, tracker: &mut Tracker| {
            let units = self.model.scaling().log_unit(self.family.sequence(i).outputs());
            Ok(tracker.log_evidence().unwrap_or(f64::NEG_INFINITY) - units)
        };
        self.each(sequences, &one, progress)
    }

    /// What is known of the codes of these sequences, one Gaussian each, all with the same weight.
    ///
    /// # Errors
    /// Sequences that the model cannot take; none at all.
    pub fn codes(
        &self,
        sequences: &[usize],
        progress: &mut dyn FnMut(usize) -> Control,
    ) -> Result<GaussianMixture> {
        let k = self.model.d_code();
        let one = |_: usize, tracker: &mut Tracker| {
            let posterior = tracker.update()?;
            let (mean, covariance, d) = (posterior.mean(), posterior.covariance(), posterior.dim());
            let rows = covariance.chunks_exact(d).take(k);
            let covariance = rows.flat_map(|row| row[..k].to_vec()).collect();
            GaussianMixture::new(vec![1.0], vec![mean[..k].to_vec()], vec![covariance])
        };
        let codes = self.each(sequences, &one, progress)?;
        let parts: Vec<(f64, &GaussianMixture)> = codes.iter().map(|code| (1.0, code)).collect();
        GaussianMixture::average(&parts)
    }
}
