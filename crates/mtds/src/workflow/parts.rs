//! The family, divided by sequence.

use crate::Result;
use crate::family::{Family, SplitPlan, Strata};
use crate::learn::Choices;

/// The family, divided by sequence.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    /// Sequences to learn from, whole.
    pub(super) training: Family,
    /// Sequences that decide when to stop, whole.
    pub(super) held_out: Option<Family>,
    /// Sequences to choose the length of the code by, whole.
    pub(super) apart: Option<Family>,
    /// Training sequences as they are learned: cut, if they are to be.
    pub(super) pieces: Family,
    /// Held-out sequences, likewise.
    pub(super) held_out_pieces: Option<Family>,
}

impl Parts {
    /// Divides and cuts, with those held out that this fold has.
    ///
    /// # Errors
    /// Too few sequences for every part.
    pub(super) fn of(family: &Family, choices: &Choices, (seed, fold): (u64, usize)) -> Result<Self> {
        let plan =
            SplitPlan { validation: choices.validation, test: choices.selection, strata: Strata::Whole };
        let split = plan.fold(family, seed, fold)?;
        let part = |numbers: &[usize]| match numbers {
            [] => Ok(None),
            _ => family.subset(numbers).map(Some),
        };
        let training = family.subset(&split.train)?;
        let (held_out, apart) = (part(&split.validation)?, part(&split.test)?);
        let cut = |family: &Family| match choices.segments() {
            None => Ok(family.clone()),
            Some(segments) => segments.cut(family).map(|cut| cut.family),
        };
        Ok(Self {
            pieces: cut(&training)?,
            held_out_pieces: held_out.as_ref().map(cut).transpose()?,
            training,
            held_out,
            apart,
        })
    }

    /// Sequences that forecasts are judged by: those that decided least.
    pub(super) fn judges(&self) -> Option<&Family> {
        self.apart.as_ref().or(self.held_out.as_ref())
    }

    /// Ids of the sequences that learning did not see.
    pub(super) fn unseen(&self) -> Vec<String> {
        let unseen = self.held_out.iter().chain(&self.apart);
        unseen.flat_map(|family| family.sequences()).map(|sequence| sequence.id().to_owned()).collect()
    }
}
