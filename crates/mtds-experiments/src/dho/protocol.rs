//! What the oscillator experiment is: sizes, times and seeds, and the data sets that follow from them.
//!
//! Every data set has a seed of its own, drawn from the stream that belongs to its repetition and role. What
//! learns takes a [`TrainingSet`]; the outputs of a [`TestSet`] are seen by [`mod@super::compute`], which scores by them, and, once that
//! is done, by [`super::illustration`].

use mtds::evaluate::Origins;
use mtds::random::{Stream, stream};
use mtds::{Error, Family, Result};
use mtds_data::oscillators::Oscillators;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::Scale;

/// Streams that a repetition may use.
const STREAMS_PER_REPETITION: u64 = 1 << 16;

/// The experiment as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Protocol {
    /// How much of it is run.
    pub scale: Scale,
    /// The seed that everything derives from.
    pub seed: u64,
    /// Times that everything is done anew, from the data on.
    pub repetitions: usize,
    /// Numbers N of sequences that an MTLDS learns from.
    pub training_sizes: Vec<usize>,
    /// Sequences that the pooled model learns from.
    pub pooled_size: usize,
    /// Test sequences of a repetition.
    pub n_test: usize,
    /// Sequences of a repetition for choosing settings.
    pub n_validation: usize,
    /// Observations t after which the rest is forecast.
    pub seen: Vec<usize>,
    /// Steps T of a sequence.
    pub n_time: usize,
}

/// What data or randomness is for; each has streams of its own in every repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Training,
    Pooled,
    Validation,
    Test,
    /// Randomness of learning, by the number of the model.
    Learning(u16),
    /// Randomness of inference, by the number of the model.
    Inference(u16),
}

/// Sequences to learn from.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingSet {
    family: Family,
}

/// Sequences to score by; their outputs are taken out for display alone.
#[derive(Clone, Debug, PartialEq)]
pub struct TestSet {
    family: Family,
    seen: Vec<usize>,
}

impl Protocol {
    /// Scale and seed in words.
    pub(super) fn brief(&self) -> String {
        format!("scale {}, seed {}", self.scale.name(), self.seed)
    }

    /// The experiment at a scale.
    #[must_use]
    pub fn new(scale: Scale, seed: u64) -> Self {
        let (repetitions, training_sizes, n_test) = match scale {
            Scale::Quick => (2, vec![4, 16, 128], 10),
            Scale::Full => (10, (1..=7).map(|power| 1 << power).collect(), 20),
        };
        Self {
            scale,
            seed,
            repetitions,
            training_sizes,
            pooled_size: 1000,
            n_test,
            n_validation: n_test,
            seen: vec![10, 20, 40],
            n_time: 80,
        }
    }

    /// The first `n` training sequences of a repetition: those of a smaller `n` are the first of a larger.
    ///
    /// # Errors
    /// [`Error::Shape`] for a repetition that is not there; [`Error::EmptyFamily`] for no sequences.
    pub fn training(&self, repetition: usize, n: usize) -> Result<TrainingSet> {
        Ok(TrainingSet { family: self.draw(repetition, Role::Training, n)? })
    }

    /// The training sequences of the pooled model.
    ///
    /// # Errors
    /// As [`Self::training`].
    pub fn pooled(&self, repetition: usize) -> Result<TrainingSet> {
        Ok(TrainingSet { family: self.draw(repetition, Role::Pooled, self.pooled_size)? })
    }

    /// The sequences for choosing settings.
    ///
    /// # Errors
    /// As [`Self::training`].
    pub fn validation(&self, repetition: usize) -> Result<Family> {
        self.draw(repetition, Role::Validation, self.n_validation)
    }

    /// The test sequences.
    ///
    /// # Errors
    /// As [`Self::training`]; [`Error::Setting`] unless `seen` increases, from 1 to below `n_time`.
    pub fn test(&self, repetition: usize) -> Result<TestSet> {
        let increases = self.seen.windows(2).all(|pair| pair[0] < pair[1]);
        if !(increases && self.seen.iter().all(|t| (1..self.n_time).contains(t))) {
            let why = format!(
                "found {:?}; expected increasing numbers, 1 to {}",
                self.seen,
                self.n_time.saturating_sub(1)
            );
            return Err(Error::Setting { name: "seen".into(), why });
        }
        Ok(TestSet { family: self.draw(repetition, Role::Test, self.n_test)?, seen: self.seen.clone() })
    }

    /// A seed for learning model `model` in a repetition, apart from all data.
    ///
    /// # Errors
    /// [`Error::Shape`] for a repetition that is not there.
    pub fn learning_seed(&self, repetition: usize, model: u16) -> Result<u64> {
        self.seed_of(repetition, Role::Learning(model))
    }

    /// A seed for inference with model `model` in a repetition, apart from all data.
    ///
    /// # Errors
    /// [`Error::Shape`] for a repetition that is not there.
    pub fn inference_seed(&self, repetition: usize, model: u16) -> Result<u64> {
        self.seed_of(repetition, Role::Inference(model))
    }

    fn draw(&self, repetition: usize, role: Role, n: usize) -> Result<Family> {
        let settings = Oscillators { n_time: self.n_time, n_input: self.n_time, ..Oscillators::default() };
        Ok(settings.draw(n, self.seed_of(repetition, role)?)?.family)
    }

    fn seed_of(&self, repetition: usize, role: Role) -> Result<u64> {
        if repetition >= self.repetitions {
            return Err(Error::Shape {
                what: "repetition".into(),
                expected: format!("below {}", self.repetitions),
                found: repetition.to_string(),
            });
        }
        let first = 4 * STREAMS_PER_REPETITION * repetition as u64;
        Ok(stream(self.seed, Stream::Experiment(first + role.offset())).random())
    }
}

impl Role {
    /// Its place among the streams of a repetition.
    fn offset(self) -> u64 {
        match self {
            Self::Training => 0,
            Self::Pooled => 1,
            Self::Validation => 2,
            Self::Test => 3,
            Self::Learning(model) => STREAMS_PER_REPETITION + u64::from(model),
            Self::Inference(model) => 2 * STREAMS_PER_REPETITION + u64::from(model),
        }
    }
}

impl TrainingSet {
    /// The sequences, with the common impulse input.
    #[must_use]
    pub fn family(&self) -> &Family {
        &self.family
    }
}

impl TestSet {
    /// How many sequences there are.
    #[must_use]
    pub fn n_seq(&self) -> usize {
        self.family.n_seq()
    }

    /// Observations t after which the rest is forecast.
    #[must_use]
    pub fn seen(&self) -> &[usize] {
        &self.seen
    }

    /// The same, to the end of each sequence.
    pub(super) fn origins(&self) -> Origins {
        Origins::after(&self.seen)
    }

    /// The outputs of the first `n` sequences, to be looked at by a person once every model has been scored.
    ///
    /// Nothing that learns, chooses settings or infers may be given them.
    #[must_use]
    pub fn for_display(&self, n: usize) -> Vec<Vec<f64>> {
        (0..self.n_seq().min(n)).map(|i| self.outputs(i).to_vec()).collect()
    }

    pub(super) fn family(&self) -> &Family {
        &self.family
    }

    pub(super) fn outputs(&self, i: usize) -> &[f64] {
        self.family.sequence(i).outputs().values()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn rows(family: &Family) -> impl Iterator<Item = Vec<u64>> {
        family.sequences().iter().map(|one| one.outputs().values().iter().map(|y| y.to_bits()).collect())
    }

    #[test]
    fn the_full_scale_is_the_papers() {
        let full = Protocol::new(Scale::Full, 1);
        assert_eq!(full.training_sizes, [2, 4, 8, 16, 32, 64, 128]);
        assert_eq!((full.repetitions, full.n_test, full.pooled_size, full.n_time), (10, 20, 1000, 80));
        assert_eq!(full.seen, [10, 20, 40]);
        assert_eq!(full.test(9).unwrap().n_seq(), 20);
    }

    #[test]
    fn smaller_training_sets_are_the_beginning_of_larger() {
        let protocol = Protocol::new(Scale::Full, 2);
        let all: Vec<_> = rows(protocol.training(3, 128).unwrap().family()).collect();
        for &n in &protocol.training_sizes {
            let some: Vec<_> = rows(protocol.training(3, n).unwrap().family()).collect();
            assert_eq!(some, all[..n]);
        }
    }

    /// No sequence, and no single output of one, occurs twice in the whole experiment.
    #[test]
    fn no_two_data_sets_share_anything() {
        let protocol = Protocol::new(Scale::Full, 3);
        let (mut outputs, mut expected) = (HashSet::new(), 0);
        for repetition in 0..10 {
            let sets = [
                protocol.training(repetition, 128).unwrap().family,
                protocol.pooled(repetition).unwrap().family,
                protocol.validation(repetition).unwrap(),
                protocol.test(repetition).unwrap().family,
            ];
            for set in &sets {
                expected += set.n_observed();
                outputs.extend(rows(set).flatten());
            }
        }
        // Doubles near 1 have 2⁵² values: two of a million agree by chance once in a thousand seeds.
        assert!(outputs.len() + 2 >= expected, "{} {expected}", outputs.len());
    }

    #[test]
    fn every_role_of_every_repetition_has_a_seed_of_its_own() {
        let protocol = Protocol::new(Scale::Full, 4);
        let roles = [Role::Training, Role::Pooled, Role::Validation, Role::Test];
        let work = (0..300).chain([u16::MAX]).flat_map(|m| [Role::Learning(m), Role::Inference(m)]);
        let roles: Vec<Role> = roles.into_iter().chain(work).collect();
        let offsets: HashSet<u64> = roles.iter().map(|role| role.offset()).collect();
        assert!(offsets.len() == roles.len() && offsets.iter().all(|&o| o < 4 * STREAMS_PER_REPETITION));
        let seed = |r: usize| roles.iter().map(move |&role| (r, role));
        let seeds: HashSet<u64> =
            (0..10).flat_map(seed).map(|(r, role)| protocol.seed_of(r, role).unwrap()).collect();
        assert_eq!(seeds.len(), 10 * roles.len());
        let other = Protocol::new(Scale::Full, 5);
        assert_ne!(protocol.test(0).unwrap(), other.test(0).unwrap());
    }

    #[test]
    fn a_repetition_does_not_depend_on_the_scale() {
        let (quick, full) = (Protocol::new(Scale::Quick, 6), Protocol::new(Scale::Full, 6));
        let (few, many) = (quick.test(1).unwrap(), full.test(1).unwrap());
        assert!((0..few.n_seq()).all(|i| few.outputs(i) == many.outputs(i)));
    }

    #[test]
    fn what_is_not_part_of_the_experiment_is_refused() {
        let protocol = Protocol::new(Scale::Quick, 7);
        assert!(matches!(protocol.test(2), Err(Error::Shape { .. })));
        assert!(matches!(protocol.learning_seed(2, 0), Err(Error::Shape { .. })));
        assert!(matches!(protocol.training(0, 0), Err(Error::EmptyFamily(_))));
        let empty = Protocol { n_time: 0, ..protocol.clone() };
        assert!(matches!(empty.test(0), Err(Error::Setting { .. })));
        for seen in [vec![20, 10], vec![0, 10], vec![80]] {
            let bad = Protocol { seen, ..protocol.clone() };
            assert!(matches!(bad.test(0), Err(Error::Setting { .. })));
        }
    }
}
