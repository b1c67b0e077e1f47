//! Which sequences are learned from, which stop the learning, and which are kept for the test.
//!
//! A sequence called `NAME~…` is made from the sequence `NAME`, such as its mirror image, and always goes where that goes: else what is
//! held out would have been seen.

use std::collections::{BTreeMap, HashMap, HashSet};

use rand::RngExt;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::{Family, Sequence};
use crate::random::{Stream, stream};
use crate::{Error, Result};

/// How large the parts are, and whether labels are spread evenly over them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SplitPlan {
    /// Fraction of the sequences for validation, in [0, 1).
    pub validation: f64,
    /// Fraction of the sequences for the test, in [0, 1); with `validation` less than 1.
    pub test: f64,
    /// Within what the fractions are kept.
    pub strata: Strata,
}

/// Within what the fractions of a split are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strata {
    /// The family as a whole.
    #[default]
    Whole,
    /// Each label, as nearly as whole sequences allow; sequences without a label count as one more label.
    Labels,
}

/// Numbers of sequences, counted from 0 and ascending: each sequence is in exactly one part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// To learn from; never empty.
    pub train: Vec<usize>,
    /// To decide when to stop.
    pub validation: Vec<usize>,
    /// To judge the result.
    pub test: Vec<usize>,
}

impl SplitPlan {
    /// Splits the sequences of `family`.
    ///
    /// A part gets its fraction of the sequences rounded to the nearest, but at least one if its fraction
    /// is not 0. Which sequence goes where depends on the plan, the seed, the ids and, with
    /// [`Strata::Labels`], the labels; it depends neither on the order of the sequences nor on their
    /// values.
    ///
    /// # Errors
    /// [`Error::Setting`] if a fraction is outside [0, 1), if they leave nothing to learn from, or if the
    /// family has too few sequences for every part to get one.
    pub fn split(&self, family: &Family, seed: u64) -> Result<Split> {
        self.fold(family, seed, (0, 1))
    }

    /// The same with other sequences for validation, further on in the same random order: those of one of so many folds, counted from 0. Folds have
    /// none in common until all that are not for the test were in one; where the fraction is one over their number, each is in exactly one.
    ///
    /// # Errors
    /// As [`SplitPlan::split`].
    pub fn fold(&self, family: &Family, seed: u64, (fold, n_folds): (usize, usize)) -> Result<Split> {
        let made_from = made_from(family);
        let originals = (0..family.n_seq()).filter(|&i| made_from[i] == i).count();
        let (n_validation, n_test) = self.sizes(originals)?;
        let order = self.random_order(family, &made_from, seed);
        let (test, rest) = order.split_at(n_test);
        let mut rest = rest.to_vec();
        let n_rest = rest.len();
        // Whole sequences: all folds together may hold a few more or less than there are.
        let are_all = n_folds > 1 && (n_folds * n_validation).abs_diff(n_rest) < n_folds;
        let (first, n_validation) = match are_all {
            true => (fold * n_rest / n_folds, (fold + 1) * n_rest / n_folds - fold * n_rest / n_folds),
            false => (fold * n_validation % n_rest, n_validation),
        };
        rest.rotate_left(first);
        let (validation, train) = rest.split_at(n_validation);
        let [train, validation, test] = [train, validation, test].map(|part| {
            let part: HashSet<&usize> = part.iter().collect();
            (0..family.n_seq()).filter(|&i| part.contains(&made_from[i])).collect::<Vec<_>>()
        });
        Ok(Split { train, validation, test })
    }

    /// Sizes of the validation and the test part.
    fn sizes(&self, n_seq: usize) -> Result<(usize, usize)> {
        for (name, fraction) in [("validation", self.validation), ("test", self.test)] {
            if !(0.0..1.0).contains(&fraction) {
                let why = format!("found {fraction}; expected a fraction of at least 0 and below 1");
                return Err(Error::setting(name, why));
            }
        }
        let sum = self.validation + self.test;
        if sum >= 1.0 {
            let why =
                format!("together {sum} of the sequences; expected less than 1, to learn from the rest");
            return Err(Error::setting("validation, test", why));
        }
        let size = |fraction: f64| match fraction {
            0.0 => 0,
            _ => ((fraction * n_seq as f64).round() as usize).max(1),
        };
        let (n_validation, n_test) = (size(self.validation), size(self.test));
        if n_validation + n_test >= n_seq {
            let why = format!(
                "{n_validation} and {n_test} of {n_seq} sequence(s) leave none to learn from; \
                 lower the fractions or give more sequences"
            );
            return Err(Error::setting("validation, test", why));
        }
        Ok((n_validation, n_test))
    }

    /// All sequences that are made from no other in random order, any run of which holds every stratum in about its share.
    ///
    /// Member `r` of a stratum of size `m`, in random order, goes to position `(r + u) / m` with `u` uniform
    /// in [0, 1) for each stratum: a stretch `c` of all positions then holds `c·m`, give or take one.
    fn random_order(&self, family: &Family, made_from: &[usize], seed: u64) -> Vec<usize> {
        let mut random = stream(seed, Stream::Split);
        let mut positions: Vec<(f64, usize)> = Vec::with_capacity(family.n_seq());
        for mut members in self.strata(family, made_from) {
            members.sort_unstable_by_key(|&i| family.sequence(i).id());
            members.shuffle(&mut random);
            let shift: f64 = random.random();
            let size = members.len() as f64;
            positions.extend(members.iter().enumerate().map(|(r, &i)| ((r as f64 + shift) / size, i)));
        }
        positions.sort_by(|a, b| a.0.total_cmp(&b.0));
        positions.into_iter().map(|(_, i)| i).collect()
    }

    /// The sequences of each stratum, strata in the order of their labels.
    fn strata(&self, family: &Family, made_from: &[usize]) -> Vec<Vec<usize>> {
        let mut strata: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
        let originals = family.sequences().iter().enumerate().filter(|(i, _)| made_from[*i] == *i);
        for (i, sequence) in originals {
            let label = match self.strata {
                Strata::Whole => None,
                Strata::Labels => sequence.label(),
            };
            strata.entry(label).or_default().push(i);
        }
        strata.into_values().collect()
    }
}

/// By sequence: the number of the one that it is made from, its own where there is none.
pub(crate) fn made_from(family: &Family) -> Vec<usize> {
    let numbers: HashMap<&str, usize> =
        family.sequences().iter().enumerate().map(|(i, sequence)| (sequence.id(), i)).collect();
    let original = |(i, sequence): (usize, &Sequence)| {
        sequence.id().split_once('~').and_then(|(name, _)| numbers.get(name).copied()).unwrap_or(i)
    };
    family.sequences().iter().enumerate().map(original).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::family::Signal;

    /// `n_seq` sequences with labels 0, 1, …, `n_labels` − 1 in turn.
    fn family(n_seq: usize, n_labels: usize) -> Family {
        let sequence = |i: usize| {
            let sequence = Sequence::new(format!("s{i}"), Signal::column(vec![i as f64])).unwrap();
            sequence.with_label((i % n_labels).to_string())
        };
        Family::new((0..n_seq).map(sequence).collect()).unwrap()
    }

    fn plan(validation: f64, test: f64) -> SplitPlan {
        SplitPlan { validation, test, strata: Strata::Whole }
    }

    #[test]
    fn sizes_are_rounded_but_not_to_nothing() {
        let sizes = |n_seq, validation, test| {
            let split = plan(validation, test).split(&family(n_seq, 1), 1).unwrap();
            (split.train.len(), split.validation.len(), split.test.len())
        };
        assert_eq!(sizes(10, 0.2, 0.3), (5, 2, 3));
        assert_eq!(sizes(3, 0.01, 0.01), (1, 1, 1));
        assert_eq!(sizes(1, 0.0, 0.0), (1, 0, 0));
        assert_eq!(sizes(10, 0.0, 0.16), (8, 0, 2));
    }

    #[test]
    fn impossible_fractions_are_errors() {
        for (validation, test) in [(-0.1, 0.0), (0.0, 1.0), (0.5, 0.5), (f64::NAN, 0.0), (0.0, f64::INFINITY)]
        {
            let error = plan(validation, test).split(&family(10, 1), 1).unwrap_err();
            assert!(matches!(error, Error::Setting { .. }), "{error}");
        }
        assert!(plan(0.1, 0.1).split(&family(2, 1), 1).is_err());
        assert!(plan(0.45, 0.45).split(&family(4, 1), 1).is_err());
    }

    #[test]
    fn the_seed_decides() {
        let family = family(40, 1);
        let first = plan(0.25, 0.25).split(&family, 1).unwrap();
        assert_eq!(first, plan(0.25, 0.25).split(&family, 1).unwrap());
        assert_ne!(first, plan(0.25, 0.25).split(&family, 2).unwrap());
    }

    /// Of eight members two were held out twice, of thirteen two never.
    #[test]
    fn five_folds_of_a_fifth_hold_out_each_sequence_once() {
        for n_seq in 5..40 {
            let family = family(n_seq, 1);
            let parts = (0..5).map(|k| plan(0.2, 0.0).fold(&family, 3, (k, 5)).unwrap().validation);
            let mut all: Vec<usize> = parts.flatten().collect();
            all.sort_unstable();
            assert_eq!(all, (0..n_seq).collect::<Vec<_>>());
        }
        let thirds = |k| plan(0.2, 0.0).fold(&family(20, 1), 3, (k, 3)).unwrap().validation.len();
        assert_eq!([0, 1, 2].map(thirds), [4, 4, 4]);
    }

    #[test]
    fn what_is_made_from_a_sequence_goes_where_it_goes() {
        let ids = ["a", "b~mirrored", "b", "c", "c~mirrored", "d", "e~only"];
        let sequence = |id: &str| Sequence::new(id, Signal::column(vec![1.0])).unwrap();
        let family = Family::new(ids.iter().map(|id| sequence(id)).collect()).unwrap();
        for seed in 0..20 {
            let split = plan(0.2, 0.4).split(&family, seed).unwrap();
            for part in [&split.train, &split.validation, &split.test] {
                assert_eq!(part.contains(&1), part.contains(&2), "{split:?}");
                assert_eq!(part.contains(&3), part.contains(&4), "{split:?}");
            }
            // Of five that are made from no other, one and two.
            let originals = |part: &[usize]| part.iter().filter(|i| ![1, 4].contains(*i)).count();
            assert_eq!((originals(&split.validation), originals(&split.test)), (1, 2));
            assert_eq!(split.train.len() + split.validation.len() + split.test.len(), 7);
        }
    }

    /// Each of 6 sequences is tested in 2 of 6 cases: over 3 000 seeds 1 000 ± 26 times. Five standard
    /// deviations for six counts: a false alarm in about 1 of 300 000 sets of seeds.
    #[test]
    fn every_sequence_has_the_same_chance() {
        let family = family(6, 2);
        for strata in [Strata::Whole, Strata::Labels] {
            let mut counts = [0.0; 6];
            for seed in 0..3_000 {
                let split =
                    SplitPlan { validation: 0.0, test: 1.0 / 3.0, strata }.split(&family, seed).unwrap();
                split.test.iter().for_each(|&i| counts[i] += 1.0);
            }
            assert!(counts.iter().all(|count: &f64| (count - 1_000.0).abs() < 5.0 * 26.0), "{counts:?}");
        }
    }

    proptest! {
        #[test]
        fn parts_are_disjoint_and_cover(
            (n_seq, n_labels, seed) in (3usize..60, 1usize..5, any::<u64>()),
            (validation, test) in (0.0..0.4f64, 0.0..0.4f64),
            strata in prop_oneof![Just(Strata::Whole), Just(Strata::Labels)],
        ) {
            let plan = SplitPlan { validation, test, strata };
            let family = family(n_seq, n_labels);
            let Ok(split) = plan.split(&family, seed) else {
                prop_assert!(n_seq < 7, "only small families can be too small");
                return Ok(());
            };
            prop_assert!(!split.train.is_empty());
            let mut all = [split.train.clone(), split.validation.clone(), split.test].concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..n_seq).collect::<Vec<_>>());
        }

        #[test]
        fn the_order_of_sequences_does_not_matter(
            order in Just((0..20).collect::<Vec<usize>>()).prop_shuffle(),
            seed in any::<u64>(),
        ) {
            let plan = SplitPlan { validation: 0.2, test: 0.3, strata: Strata::Labels };
            let straight = family(20, 3);
            let shuffled = straight.subset(&order).unwrap();
            let split = plan.split(&straight, seed).unwrap();
            let mut test: Vec<_> = plan.split(&shuffled, seed).unwrap().test.iter().map(|&i| order[i]).collect();
            test.sort_unstable();
            prop_assert_eq!(test, split.test);
        }

        #[test]
        fn labels_get_their_share(
            (n_labels, per_label, seed) in (1usize..6, 4usize..20, any::<u64>()),
            test in 0.1..0.6f64,
        ) {
            let family = family(n_labels * per_label, n_labels);
            let split = SplitPlan { validation: 0.0, test, strata: Strata::Labels }.split(&family, seed).unwrap();
            for label in 0..n_labels {
                let found = split.test.iter().filter(|&&i| i % n_labels == label).count() as f64;
                let share = split.test.len() as f64 / n_labels as f64;
                prop_assert!((found - share).abs() < 2.0, "label {label}: {found} of {share}");
            }
        }
    }
}
