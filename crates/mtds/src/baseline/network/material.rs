//! What networks learn from: sequences held out or not, cut into segments, in model units.

use super::settings::HeldOut;
use crate::family::{Family, Scaling, SegmentPlan, Sequence, Signal, SplitPlan, Strata};
use crate::{Error, Result};

/// A stretch of a sequence in model units.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// Number of its sequence in the family that was handed over.
    pub(super) sequence: usize,
    pub(super) n_time: usize,
    /// n_time × p, NaN where missing.
    pub(super) outputs: Vec<f64>,
    /// n_time × m.
    pub(super) inputs: Vec<f64>,
}

/// Sequences, and their numbers in the family that was handed over.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) family: Family,
    numbers: Vec<usize>,
}

impl Part {
    /// All of a family.
    pub(super) fn whole(family: &Family) -> Self {
        Self { family: family.clone(), numbers: (0..family.n_seq()).collect() }
    }

    fn subset(family: &Family, numbers: Vec<usize>) -> Result<Self> {
        Ok(Self { family: family.subset(&numbers)?, numbers })
    }

    /// The part in model units, cut.
    ///
    /// # Errors
    /// A plan that cannot be followed, or widths other than those of the scaling.
    pub(super) fn pieces(&self, scaling: &Scaling, plan: Option<SegmentPlan>) -> Result<Vec<Piece>> {
        let plan = plan.unwrap_or(SegmentPlan { length: self.family.max_time(), overlap: 0 });
        let segments = plan.cut(&scaling.apply(&self.family)?)?;
        let piece = |(i, sequence): (usize, &Sequence)| {
            let n_time = sequence.n_time();
            let inputs = segments.family.inputs_of(i).map(|u| u.slice(0..n_time).values().to_vec());
            Piece {
                sequence: self.numbers[segments.origins[i].sequence],
                n_time,
                outputs: sequence.outputs().values().to_vec(),
                inputs: inputs.unwrap_or_default(),
            }
        };
        Ok(segments.family.sequences().iter().enumerate().map(piece).collect())
    }
}

/// What is learned from, and what learning is judged by.
///
/// # Errors
/// Too few sequences, or none with an observed output on one of the sides.
pub(super) fn divide(family: &Family, rule: HeldOut, seed: u64) -> Result<(Part, Option<Part>)> {
    match rule {
        HeldOut::Nothing => Ok((Part::whole(family), None)),
        HeldOut::Sequences(validation) => {
            let plan = SplitPlan { validation, test: 0.0, strata: Strata::Labels };
            let split = plan.split(family, seed).map_err(|error| match error {
                Error::Setting { why, .. } => Error::setting("held_out", why),
                other => other,
            })?;
            Ok((Part::subset(family, split.train)?, Some(Part::subset(family, split.validation)?)))
        }
        HeldOut::Ends(fraction) => {
            // A sequence of one step has no end to give.
            let cut = |n: usize| n - ((fraction * n as f64).round() as usize).clamp(1, (n - 1).max(1));
            let start = stretches(family, |n| (0, if n == 1 { 1 } else { cut(n) }))?;
            let end = stretches(family, |n| if n == 1 { (0, 0) } else { (cut(n), n) })?;
            Ok((start, Some(end)))
        }
    }
}

/// The steps `from .. to` of each sequence, by its length; sequences without a step are left out.
fn stretches(family: &Family, range: impl Fn(usize) -> (usize, usize)) -> Result<Part> {
    let (mut sequences, mut numbers) = (vec![], vec![]);
    for (i, sequence) in family.sequences().iter().enumerate() {
        let (from, to) = range(sequence.n_time());
        if from == to {
            continue;
        }
        let piece = Sequence::new(sequence.id(), sequence.outputs().slice(from..to))?;
        let inputs = family.inputs_of(i).map(|inputs| inputs.slice(from..to));
        sequences.push(inputs.into_iter().try_fold(piece, Sequence::with_inputs)?);
        numbers.push(i);
    }
    let part = Family::new(sequences)?.with_output_names(family.output_names().to_vec())?;
    Ok(Part { family: part.with_input_names(family.input_names().to_vec())?, numbers })
}

/// Outputs as a piece without inputs, in model units.
pub(super) fn piece_of(outputs: &Signal, scaling: &Scaling) -> Result<Piece> {
    if let Some(&value) = outputs.values().iter().find(|value| value.is_infinite()) {
        let hint = ", or NaN where the output is missing";
        return Err(Error::NotFinite { what: "output of a sequence".into(), value, hint });
    }
    let (n_time, outputs) = (outputs.n_time(), scaling.outputs_to_model(outputs)?.values().to_vec());
    Ok(Piece { sequence: 0, n_time, outputs, inputs: vec![] })
}
