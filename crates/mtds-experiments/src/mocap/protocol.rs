//! What the experiments are: what is seen, what is told of the errors, how many starts, shares and repetitions.

use mtds::Result;
use serde::{Deserialize, Serialize};

use super::material::Material;
use crate::Scale;

/// All that is the same for every model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// How much of it.
    pub scale: Scale,
    /// The seed of the first repetition; the others have those that follow.
    pub seed: u64,
    /// What the clips are.
    pub source: String,
    /// Identifies their numbers.
    pub fingerprint: String,
    /// The styles, sorted; those that are left out in turn are numbered in this order.
    pub styles: Vec<String>,
    /// Repetitions with seeds of their own.
    pub repetitions: usize,
    /// Rows that are seen before a forecast.
    pub seen: usize,
    /// Experiment 1: one over the shares of what there is to learn from.
    pub shares: Vec<usize>,
    /// Experiment 1: rows that are forecast.
    pub ahead: usize,
    /// Experiment 1: starts in each style.
    pub starts_of_style: usize,
    /// Experiment 1: fewest rows of a stretch that is learned from.
    pub least: usize,
    /// Experiment 2: rows ahead at which errors are told; the last is the end of a forecast.
    pub told: Vec<usize>,
    /// Experiment 2: starts in the style that was left out.
    pub starts: usize,
    /// Experiment 2: the styles that are left out in turn, by number.
    pub folds: Vec<usize>,
    /// Experiment 3: sources of each style whose inputs are walked in all styles.
    pub sources: usize,
    /// Experiment 3: most codes of each style that are tried.
    pub codes: usize,
}

impl Protocol {
    /// The experiments on some material.
    ///
    /// # Errors
    /// None for material that was made.
    pub fn new(scale: Scale, seed: u64, material: &Material) -> Result<Self> {
        let n_styles = material.styles().len();
        let (quick, all) = (scale == Scale::Quick, (0..n_styles).collect::<Vec<_>>());
        Ok(Self {
            scale,
            seed,
            source: material.source.clone(),
            fingerprint: material.fingerprint()?,
            styles: material.styles().to_vec(),
            repetitions: if quick { 1 } else { 3 },
            seen: 64,
            shares: if quick { vec![16, 1] } else { vec![32, 16, 8, 4, 2, 1] },
            ahead: 64,
            starts_of_style: 4,
            least: 64,
            told: vec![5, 10, 20, 50, 100, 200],
            starts: if quick { 8 } else { 32 },
            folds: if quick { vec![n_styles / 2, n_styles - 1] } else { all },
            sources: if quick { 2 } else { 4 },
            codes: if quick { 12 } else { 96 },
        })
    }

    /// The seed of a repetition.
    #[must_use]
    pub fn seed_of(&self, repetition: usize) -> u64 {
        self.seed.wrapping_add(repetition as u64)
    }

    /// What it is, in a few words.
    #[must_use]
    pub fn brief(&self) -> String {
        let (scale, seed, source) = (self.scale.name(), self.seed, &self.source);
        format!("scale {scale}, seed {seed}, {source}, data {}", &self.fingerprint)
    }
}
