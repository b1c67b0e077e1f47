//! Which outputs of a sequence were observed, arranged by the distinct sets that occur.

use std::ops::Range;

use super::expect_len;
use crate::{Error, Result};

/// The observed outputs of every step; sequences with equal patterns share gains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    d_obs: usize,
    /// The distinct sets of outputs observed together, each in rising order; one may be empty.
    sets: Vec<Vec<usize>>,
    /// Place in `sets` for each step.
    set_of: Vec<usize>,
    /// Observed values before each step, and in all.
    before: Vec<usize>,
}

impl Pattern {
    /// From a mask, n_time × p, true where an output was observed (as in [`Group::patterns`](crate::base::emission::Group)).
    ///
    /// # Errors
    /// A mask that is not a whole number of steps.
    pub fn new(mask: &[bool], d_obs: usize) -> Result<Self> {
        if d_obs == 0 {
            return Err(Error::setting("d_obs", "found 0; a pattern needs at least 1 output"));
        }
        let n_time = mask.len() / d_obs;
        expect_len("mask of observed outputs", n_time * d_obs, mask.len())?;
        let mut pattern = Self { d_obs, sets: vec![], set_of: Vec::with_capacity(n_time), before: vec![0] };
        for (t, row) in mask.chunks_exact(d_obs).enumerate() {
            let set: Vec<usize> = (0..d_obs).filter(|&o| row[o]).collect();
            pattern.before.push(pattern.before[t] + set.len());
            let known = pattern.sets.iter().position(|known| *known == set);
            pattern.set_of.push(known.unwrap_or(pattern.sets.len()));
            if known.is_none() {
                pattern.sets.push(set);
            }
        }
        Ok(pattern)
    }

    /// Number of steps.
    #[must_use]
    pub fn n_time(&self) -> usize {
        self.set_of.len()
    }

    /// Number of outputs p, observed or not.
    #[must_use]
    pub fn d_obs(&self) -> usize {
        self.d_obs
    }

    /// Observed values in all steps.
    #[must_use]
    pub fn n_observed(&self) -> usize {
        self.before[self.n_time()]
    }

    /// Outputs observed at a step (counted from 0), in rising order.
    #[must_use]
    pub fn observed(&self, t: usize) -> &[usize] {
        &self.sets[self.set_of[t]]
    }

    /// The distinct sets of outputs observed together.
    pub(super) fn sets(&self) -> &[Vec<usize>] {
        &self.sets
    }

    /// Place of a step's set in [`Pattern::sets`].
    #[inline(always)]
    pub(super) fn set_of(&self, t: usize) -> usize {
        self.set_of[t]
    }

    /// Where the observed values of a step lie among all of them.
    #[inline(always)]
    pub(super) fn places(&self, t: usize) -> Range<usize> {
        self.before[t]..self.before[t + 1]
    }

    /// Number of steps at which a set was observed.
    pub(super) fn n_steps_with(&self, set: usize) -> usize {
        self.set_of.iter().filter(|&&s| s == set).count()
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn sets_are_found_once_and_values_counted() {
        let mask = [true, true, false, false, false, true, true, true];
        let pattern = Pattern::new(&mask, 2).unwrap();
        assert_eq!((pattern.n_time(), pattern.n_observed(), pattern.sets().len()), (4, 5, 3));
        assert_eq!([0, 1, 2, 3].map(|t| pattern.observed(t)), [&[0, 1][..], &[], &[1], &[0, 1]]);
        assert_eq!((pattern.places(2), pattern.n_steps_with(0)), (2..3, 2));
    }

    #[test]
    fn ragged_masks_are_refused() {
        assert!(Pattern::new(&[true; 5], 2).unwrap_err().to_string().contains("expected 4, found 5"));
        assert!(Pattern::new(&[], 0).is_err());
    }
}
