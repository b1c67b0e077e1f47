//! Minibatches: which codes take part in a step, each once before any comes again.
//!
//! ```text
//! an epoch is a permutation of all N codes; steps take the next B of it
//! ```
//! Where fewer than B are left, the step takes these and goes on with the next epoch, in which they come later: a step never has
//! one code twice.

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use crate::random::Random;
use crate::{Error, Result};

/// The codes of an epoch that are still to come, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Epoch {
    left: Vec<usize>,
}

impl Epoch {
    /// The next `batch` of `n` codes, in ascending order, and what is left after them.
    pub(super) fn take(&self, n: usize, batch: usize, random: &mut Random) -> (Vec<usize>, Self) {
        let mut left = self.left.clone();
        if left.len() < batch {
            let mut next: Vec<usize> = (0..n).collect();
            next.shuffle(random);
            let (again, new): (Vec<usize>, Vec<usize>) = next.into_iter().partition(|j| left.contains(j));
            left.extend(new);
            left.extend(again);
        }
        let rest = left.split_off(batch);
        left.sort_unstable();
        (left, Self { left: rest })
    }

    /// Refuses codes that there are not.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub(super) fn check(&self, n: usize) -> Result<()> {
        if self.left.iter().all(|&j| j < n) {
            return Ok(());
        }
        let why = format!("it names a code beyond the {n} that there are");
        Err(Error::Store { file: "checkpoint".into(), why })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    #[test]
    fn every_code_comes_once_before_any_comes_again() {
        let (n, random) = (7, &mut stream(3, 0));
        for batch in [1, 2, 3, 5, 7] {
            let (mut epoch, mut counts) = (Epoch::default(), vec![0usize; n]);
            for step in 1..=30 {
                let (taken, rest) = epoch.take(n, batch, random);
                epoch = rest;
                assert!(taken.len() == batch && taken.is_sorted_by(|a, b| a < b), "{taken:?}");
                taken.iter().for_each(|&j| counts[j] += 1);
                // Epochs overlap within one step only.
                let (whole, any) = (step * batch / n, usize::from(step * batch % n > 0));
                assert!(
                    counts.iter().all(|&c| (whole..=whole + any).contains(&c)),
                    "{batch} {step}: {counts:?}"
                );
            }
        }
    }
}
