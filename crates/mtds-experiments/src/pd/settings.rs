//! How large the experiment is, and the patients that it is made of.

use mtds::{Family, Result};
use mtds_data::pharmacodynamics::{PatientParameters, Pharmacodynamics};
use serde::{Deserialize, Serialize};

use super::Way;
use crate::Scale;

/// Settings of the experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Patients to learn from.
    pub n_training: usize,
    /// Patients to forecast.
    pub n_test: usize,
    /// Steps of a record.
    pub n_time: usize,
    /// Numbers of steps after which the rest is forecast.
    pub seen: Vec<usize>,
    /// Length of a code.
    pub code: usize,
    /// Factor on the usual numbers of learning steps.
    pub effort: f64,
    /// The ways to learn.
    pub ways: Vec<Way>,
    /// Repetitions, each with patients and learning of its own: one says little about a way to learn.
    pub repetitions: usize,
    /// Seed of patients and of learning in the first repetition; the next has the next one.
    pub seed: u64,
}

/// Patients, divided.
#[derive(Clone, Debug)]
pub struct Patients {
    /// Records to learn from.
    pub training: Family,
    /// Records to forecast.
    pub test: Family,
    /// What is true of those.
    pub truth: Vec<PatientParameters>,
    /// Standard deviation of the noise.
    pub noise_std: f64,
}

impl Settings {
    /// The usual settings of a scale.
    #[must_use]
    pub fn new(scale: Scale, seed: u64) -> Self {
        let (n_test, effort, ways, repetitions) = match scale {
            Scale::Quick => (60, 0.25, vec![Way::Elbo], 1),
            Scale::Full => (200, 0.5, vec![Way::Mco, Way::Elbo, Way::Iwae, Way::Amortised], 4),
        };
        let (n_training, n_time, seen, code) = (128, 40, vec![5, 10, 20], 4);
        Self { n_training, n_test, n_time, seen, code, effort, ways, repetitions, seed }
    }

    /// Draws the patients; those to forecast come after those to learn from.
    ///
    /// # Errors
    /// No patients, or no steps.
    pub fn patients(&self) -> Result<Patients> {
        let drawn = Pharmacodynamics { n_time: self.n_time, ..Pharmacodynamics::default() };
        let all = drawn.draw(self.n_training + self.n_test, self.seed)?;
        let numbers: Vec<usize> = (0..self.n_training + self.n_test).collect();
        let (training, test) = numbers.split_at(self.n_training);
        Ok(Patients {
            training: all.family.subset(training)?,
            test: all.family.subset(test)?,
            truth: all.parameters[self.n_training..].to_vec(),
            noise_std: drawn.noise_std,
        })
    }
}
