//! Whole sequences of a family, their posteriors at their ends, all threads busy, with what is wanted kept of each.

use rayon::prelude::*;

use super::{GaussianMixture, KnownCode, Online, Posterior};
use crate::family::Family;
use crate::learn::Control;
use crate::random::{Stream, stream};
use crate::system::System;
use crate::{Error, Result};

/// Sequences of each thread between two looks at the progress: a sequence may take a tenth of a second, and who stops the work waits no longer
/// than a second.
const EACH: usize = 2;
/// Draws where something is known of a code: its mean is then known to a tenth of its deviation.
const KNOWN_DRAWS: usize = 256;

/// A model and a family whose sequences are followed.
#[derive(Clone, Copy, Debug)]
pub struct Followed<'a> {
    /// The model.
    pub model: &'a System,
    /// How codes are inferred; when updates are made follows from the length of each sequence.
    pub online: &'a Online,
    /// The sequences, in data units.
    pub family: &'a Family,
    /// What is known of the code of each sequence; those of which nothing is, or that are not named, are followed from their beginnings.
    pub known: &'a [Option<GaussianMixture>],
    /// Seed of all randomness, and what each sequence's stream of it is for.
    pub random: (u64, fn(u64) -> Stream),
}

/// What is known of one sequence, given all of it.
#[derive(Clone, Debug)]
pub struct Whole {
    /// What is known of its code.
    pub posterior: Posterior,
    /// log p(y_{1:T}), in data units.
    pub log_evidence: f64,
}

impl Followed<'_> {
    /// What `keep` makes of each of these sequences, in order; `progress` is told how many are done, and may stop the work.
    ///
    /// The result does not depend on the number of threads.
    ///
    /// # Errors
    /// Sequences that the model cannot take; what `keep` finds wrong; [`Error::Stopped`].
    pub fn each<T: Send>(
        &self,
        sequences: &[usize],
        keep: &(dyn Fn(usize, Whole) -> Result<T> + Sync),
        progress: &mut dyn FnMut(usize) -> Control,
    ) -> Result<Vec<T>> {
        let mut all = vec![];
        self.go_on(sequences, keep, &mut all, progress)?;
        Ok(all)
    }

    /// The same where `done` has what was made of the first of them: what is made of the others is put behind, and stays there when the
    /// work is stopped.
    ///
    /// # Errors
    /// As [`Followed::each`].
    pub fn go_on<T: Send>(
        &self,
        sequences: &[usize],
        keep: &(dyn Fn(usize, Whole) -> Result<T> + Sync),
        done: &mut Vec<T>,
        progress: &mut dyn FnMut(usize) -> Control,
    ) -> Result<()> {
        for batch in sequences[done.len().min(sequences.len())..].chunks(EACH * rayon::current_num_threads())
        {
            let found = batch.par_iter().map(|&i| keep(i, self.one(i)?));
            done.extend(found.collect::<Result<Vec<_>>>()?);
            if progress(done.len()) == Control::Stop {
                return Err(Error::Stopped);
            }
        }
        Ok(())
    }

    /// One sequence.
    fn one(&self, i: usize) -> Result<Whole> {
        let (sequence, inputs) = (self.family.sequence(i), self.family.inputs_of(i));
        let (seed, stream_of) = self.random;
        let mut random = stream(seed, stream_of(i as u64));
        let (posterior, log_evidence) = match self.known.get(i).and_then(Option::as_ref) {
            // A bounded history is no whole sequence.
            Some(belief) if self.online.history.is_none() => {
                let (data, known) = ((sequence.outputs(), inputs), KnownCode { belief, draws: KNOWN_DRAWS });
                let posterior = self.model.infer_known(data, known, self.online, &mut random)?;
                let log_evidence = posterior.log_evidence();
                (posterior, log_evidence)
            }
            _ => {
                let settings = self.online.with_few_updates(sequence.n_time());
                let mut tracker = self.model.track(sequence.outputs(), inputs, settings, random)?;
                (tracker.update()?.clone(), tracker.log_evidence())
            }
        };
        let units = self.model.scaling().log_unit(sequence.outputs());
        Ok(Whole { posterior, log_evidence: log_evidence.unwrap_or(f64::NEG_INFINITY) - units })
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
        self.each(sequences, &|_, whole| Ok(whole.log_evidence), progress)
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
        let codes = self.each(sequences, &|_, whole| self.code_of(&whole), progress)?;
        let parts: Vec<(f64, &GaussianMixture)> = codes.iter().map(|code| (1.0, code)).collect();
        GaussianMixture::average(&parts)
    }

    /// One Gaussian of the code, without what is known of the noise beside it.
    ///
    /// # Errors
    /// A posterior of so few draws that it has no spread.
    pub fn code_of(&self, whole: &Whole) -> Result<GaussianMixture> {
        let (k, posterior) = (self.model.d_code(), &whole.posterior);
        let (mean, covariance, d) = (posterior.mean(), posterior.covariance(), posterior.dim());
        let rows = covariance.chunks_exact(d).take(k);
        let covariance = rows.flat_map(|row| row[..k].to_vec()).collect();
        GaussianMixture::new(vec![1.0], vec![mean[..k].to_vec()], vec![covariance])
    }
}
