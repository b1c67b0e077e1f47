//! A gated recurrent network that tells which class a sequence belongs to.
//!
//! ```text
//! h_t = GRU(h_{t−1}, [ỹ_t, m_t])          ỹ: outputs in model units, 0 where missing; m: flags, 1 where observed
//! a = sigmoid(V h_T + b)                  T: the last step of the sequence, whatever its length
//! p = softmax(W a + c)                    one entry per class
//! ```
//! Learned by the cross-entropy −log p_class, a mean over segments. The classes of the training sequences are an argument: the
//! labels of a family are not looked at. It is the judge of style transfer in Bird & Williams (2020), supplement,
//! experiment 3, and reads outputs only, so that inputs cannot give a class away.

mod layers;
mod objective;
mod settings;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use super::Trained;
use super::material::{Part, Piece, divide, piece_of};
use crate::family::{Family, Scaling, Sequence, Signal};
use crate::learn::{Control, Progress, Trainer};
use crate::random::{Stream, stream};
use crate::{Error, Result};
use layers::{ClassifierNetwork, Pass, Reading};
use objective::ClassObjective;
pub use settings::ClassifierSettings;

/// A network that gives the probability of each class.
///
/// With serde it is its settings, classes, scaling and parameters; equal bits come back.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct SequenceClassifier {
    stored: Stored,
    reader: ClassifierNetwork,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    settings: ClassifierSettings,
    classes: Vec<String>,
    scaling: Scaling,
    parameters: Vec<f32>,
}

impl SequenceClassifier {
    /// Learns to tell classes apart; `classes` names that of every sequence, in the order of the family.
    ///
    /// What is held out is spread evenly over the classes. Segments take the class of their sequence. The result depends on
    /// the arguments and on nothing else. `observer` sees every step and may stop the run; bounds are minus the cross-entropy
    /// in nats per segment.
    ///
    /// # Errors
    /// [`Error::Setting`] for settings out of range, fewer than two classes, or a class that keeps no sequence to learn from;
    /// [`Error::Shape`] if there is not one class per sequence; [`Error::Diverged`] with the step at which a loss or gradient
    /// was not finite.
    pub fn fit<S: AsRef<str>>(
        family: &Family,
        classes: &[S],
        settings: &ClassifierSettings,
        seed: u64,
        observer: &mut dyn FnMut(&Progress) -> Control,
    ) -> Result<Trained<Self>> {
        settings.check()?;
        let (names, class_of) = numbered(family, classes)?;
        let (train, judged) = divide(&marked(family, classes)?, settings.held_out, seed)?;
        let scaling = Scaling::standard_outputs(&train.family)?;
        let pieces = |part: &Part| -> Result<Vec<(Piece, usize)>> {
            let pieces = part.pieces(&scaling, settings.segments)?.into_iter();
            Ok(pieces.map(|piece| (class_of[piece.sequence], piece)).map(|(c, piece)| (piece, c)).collect())
        };
        let (train, judged) = (pieces(&train)?, judged.as_ref().map(pieces).transpose()?);
        if let Some(missing) = (0..names.len()).find(|c| train.iter().all(|(_, class)| class != c)) {
            let why = format!("class `{}` keeps no sequence to learn from; hold less out", names[missing]);
            return Err(Error::setting("held_out", why));
        }
        let reader = ClassifierNetwork::new(family.d_obs(), settings, names.len())?;
        let objective = ClassObjective::new(reader.clone(), settings, train, judged.unwrap_or_default());
        let first = reader.first(&mut stream(seed, Stream::Classifier));
        let outcome = Trainer::new(objective, first, settings.plan.clone(), stream(seed, Stream::Training))?
            .run(observer)?;
        let (settings, parameters) = (settings.clone(), outcome.parameters.clone());
        let stored = Stored { settings, classes: names, scaling, parameters };
        Ok(Trained { network: Self::try_from(stored)?, outcome })
    }

    /// The names of the classes, sorted; probabilities come in this order.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        &self.stored.classes
    }

    /// The settings that it was learned by.
    #[must_use]
    pub fn settings(&self) -> &ClassifierSettings {
        &self.stored.settings
    }

    /// All parameters: those of the recurrent layer, V, b, W, c.
    #[must_use]
    pub fn parameters(&self) -> &[f32] {
        &self.stored.parameters
    }

    /// The probability of each class, for each of some sequences of any lengths, in data units.
    ///
    /// # Shapes
    /// Outputs are n × p, n ≥ 1, NaN where missing; each result has an entry per class and sums to 1.
    ///
    /// # Errors
    /// [`Error::Shape`] for another width or no steps; [`Error::NotFinite`] for an infinite output.
    pub fn predict(&self, outputs: &[&Signal]) -> Result<Vec<Vec<f64>>> {
        let mut pass = Pass::default();
        self.reader.arrange(&self.stored.parameters, &mut pass)?;
        let mut probabilities = Vec::with_capacity(outputs.len());
        for some in outputs.chunks(self.stored.settings.batch) {
            let pieces = some.iter().map(|outputs| self.piece(outputs)).collect::<Result<Vec<_>>>()?;
            let reading = Reading::new(self.reader.d_obs(), &pieces.iter().collect::<Vec<_>>());
            let found = self.reader.probabilities(&reading, &mut pass)?;
            probabilities.extend(found.chunks(self.classes().len()).map(<[f64]>::to_vec));
        }
        Ok(probabilities)
    }

    fn piece(&self, outputs: &Signal) -> Result<Piece> {
        if outputs.n_time() == 0 {
            return Err(Error::shape("sequence to classify", "at least one time step", "none"));
        }
        piece_of(outputs, &self.stored.scaling)
    }
}

/// The names of the classes, sorted, and the number of each sequence's class.
fn numbered<S: AsRef<str>>(family: &Family, classes: &[S]) -> Result<(Vec<String>, Vec<usize>)> {
    if classes.len() != family.n_seq() {
        return Err(Error::shape("classes", format!("{}, one per sequence", family.n_seq()), classes.len()));
    }
    let mut names: Vec<String> = classes.iter().map(|class| class.as_ref().to_string()).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() < 2 {
        let why = format!("found {} different one(s); expected at least 2 to tell apart", names.len());
        return Err(Error::setting("classes", why));
    }
    let number = |class: &S| names.partition_point(|name| name.as_str() < class.as_ref());
    let class_of = classes.iter().map(number).collect();
    Ok((names, class_of))
}

/// The outputs with their classes as labels, so that a split can spread them.
fn marked<S: AsRef<str>>(family: &Family, classes: &[S]) -> Result<Family> {
    let pairs = family.sequences().iter().zip(classes);
    let marked = pairs.map(|(sequence, class)| {
        let bare = Sequence::new(sequence.id(), sequence.outputs().clone())?;
        Ok(bare.with_label(class.as_ref()))
    });
    Family::new(marked.collect::<Result<_>>()?)
}

impl TryFrom<Stored> for SequenceClassifier {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self> {
        stored.settings.check()?;
        let reader = ClassifierNetwork::new(stored.scaling.d_obs(), &stored.settings, stored.classes.len())?;
        if stored.parameters.len() != reader.n_parameters() {
            let found = stored.parameters.len();
            return Err(Error::shape("parameters of a classifier", reader.n_parameters(), found));
        }
        if let Some(&value) = stored.parameters.iter().find(|w| !w.is_finite()) {
            let what = "parameter of a classifier".into();
            return Err(Error::NotFinite { what, value: f64::from(value), hint: "" });
        }
        Ok(Self { stored, reader })
    }
}

impl From<SequenceClassifier> for Stored {
    fn from(classifier: SequenceClassifier) -> Self {
        classifier.stored
    }
}
