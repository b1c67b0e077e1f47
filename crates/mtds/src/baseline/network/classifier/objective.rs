//! The objective of a classifier: the cross-entropy of batches of segments.

use rand::seq::index;

use super::layers::{ClassifierNetwork, Pass, Reading};
use super::settings::ClassifierSettings;
use crate::Result;
use crate::baseline::network::material::Piece;
use crate::kernel::Real;
use crate::learn::{Objective, ParameterGroup, StepReport};
use crate::random::Random;

/// Probabilities below this count as this: the logarithm stays finite.
const LEAST_PROBABILITY: f64 = 1e-300;

/// A segment and the number of its class.
type Classed = (Piece, usize);

/// A classifier and what it learns from.
#[derive(Debug)]
pub(super) struct ClassObjective {
    reader: ClassifierNetwork,
    batch: usize,
    l2: f32,
    train: Vec<Classed>,
    held_out: Vec<Classed>,
    pass: Pass<f32>,
}

impl ClassObjective {
    pub(super) fn new(
        reader: ClassifierNetwork,
        settings: &ClassifierSettings,
        train: Vec<Classed>,
        held_out: Vec<Classed>,
    ) -> Self {
        let (batch, l2) = (settings.batch, settings.l2 as f32);
        Self { reader, batch, l2, train, held_out, pass: Pass::default() }
    }
}

/// The mean cross-entropy of some segments under arranged parameters, and its gradient at the logits.
pub(super) fn cross_entropy<R: Real>(
    reader: &ClassifierNetwork,
    reading: &Reading<R>,
    classes: &[usize],
    pass: &mut Pass<R>,
) -> Result<(f64, Vec<f64>)> {
    let mut d_logits = reader.probabilities(reading, pass)?;
    let (n, n_classes) = (classes.len(), d_logits.len() / classes.len().max(1));
    let mut sum = 0.0;
    for (row, &class) in d_logits.chunks_mut(n_classes).zip(classes) {
        // NaN must not become a finite loss: `max` would drop it.
        sum -= if row[class] > LEAST_PROBABILITY {
            row[class].ln()
        } else {
            (row[class] + LEAST_PROBABILITY).ln()
        };
        row[class] -= 1.0;
        row.iter_mut().for_each(|d| *d /= n as f64);
    }
    Ok((sum / n.max(1) as f64, d_logits))
}

fn arranged(reader: &ClassifierNetwork, segments: &[&Classed]) -> (Reading<f32>, Vec<usize>) {
    let pieces: Vec<&Piece> = segments.iter().map(|(piece, _)| piece).collect();
    (Reading::new(reader.d_obs(), &pieces), segments.iter().map(|(_, class)| *class).collect())
}

impl Objective for ClassObjective {
    fn groups(&self) -> Vec<ParameterGroup> {
        let mut end = 0;
        let group = |(name, n): (&str, usize)| {
            end += n;
            ParameterGroup { name: name.into(), range: end - n..end, rate: 1.0, l2: self.l2 }
        };
        ["recurrent", "hidden", "head"].into_iter().zip(self.reader.sizes()).map(group).collect()
    }

    fn gradient(
        &mut self,
        parameters: &[f32],
        gradient: &mut [f32],
        _step: u64,
        random: &mut Random,
    ) -> Result<StepReport> {
        let chosen = index::sample(random, self.train.len(), self.batch.min(self.train.len()));
        let segments: Vec<&Classed> = chosen.into_iter().map(|i| &self.train[i]).collect();
        let (reading, classes) = arranged(&self.reader, &segments);
        self.reader.arrange(parameters, &mut self.pass)?;
        let (loss, d_logits) = cross_entropy(&self.reader, &reading, &classes, &mut self.pass)?;
        self.reader.adjoint(&reading, &d_logits, &mut self.pass, gradient)?;
        Ok(StepReport { loss, bound: -loss, ess: None })
    }

    fn validate(&mut self, parameters: &[f32]) -> Result<Option<f64>> {
        if self.held_out.is_empty() {
            return Ok(None);
        }
        self.reader.arrange(parameters, &mut self.pass)?;
        let mut sum = 0.0;
        for segments in self.held_out.chunks(self.batch) {
            let (reading, classes) = arranged(&self.reader, &segments.iter().collect::<Vec<_>>());
            sum += cross_entropy(&self.reader, &reading, &classes, &mut self.pass)?.0 * segments.len() as f64;
        }
        Ok(Some(-sum / self.held_out.len() as f64))
    }

    fn state(&self) -> serde_json::Value {
        serde_json::Value::Null
    }

    fn restore(&mut self, _state: &serde_json::Value) -> Result<()> {
        Ok(())
    }
}
