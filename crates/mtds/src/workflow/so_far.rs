//! What a fit that was stopped knows already, as a model.

use super::fitting::{Candidate, Fitting, learned};
use super::{ending, selection};
use crate::Result;
use crate::learn::Stage;
use crate::model::{Blend, Model};

impl Fitting {
    /// The model as it stands, for somebody who stopped a fit and needs an answer now; `None` before learning has got past its start.
    ///
    /// It is the first system that was learned, or the one that is being learned, with the best parameters so far; where structures were
    /// compared already, all of them. What was not reached is left out: codes of members, what is expected of new members, the width of
    /// forecasts, the judgement. The fit stays as it is, and can go on.
    ///
    /// # Errors
    /// None in practice: parameters that a trainer accepted are finite.
    pub fn so_far(&self) -> Result<Option<Model>> {
        let Some((candidate, selection)) = self.best_so_far()? else { return Ok(None) };
        let compared = self.state.compared.clone().unwrap_or_default();
        let (companions, blend) = match (&compared.decision, self.place_of(&candidate)) {
            (Some(decision), Some(place)) => {
                (self.companions(place, decision)?, self.blend(&compared.ways, decision, &self.family)?)
            }
            _ => (vec![], Blend::default()),
        };
        let (system, choices) = (self.system(&candidate)?, self.choices_of(candidate.task));
        let structures = compared.rows;
        let found = ending::Found { system, candidate: &candidate, companions, blend, selection, structures };
        let ending = self.ending(&choices, candidate.task);
        ending.model((&self.fit, &self.family), &self.state, found).map(Some)
    }

    fn place_of(&self, candidate: &Candidate) -> Option<usize> {
        self.state.candidates.iter().position(|other| other.task == candidate.task)
    }

    /// The system that answers, and how lengths of the code compare.
    fn best_so_far(&self) -> Result<Option<(Candidate, Vec<selection::SelectionRow>)>> {
        if !self.state.candidates.is_empty() {
            let (chosen, rows) = selection::choose(&self.state.candidates);
            let decision = self.state.compared.as_ref().and_then(|compared| compared.decision.as_ref());
            let chosen = decision.map_or(chosen, |decision| self.leader(decision));
            return Ok(Some((self.state.candidates[chosen].clone(), rows)));
        }
        // Another learner of the same state: what is asked of one moves it.
        let Some(course) = self.snapshot().course else { return Ok(None) };
        let task = self.tasks()[0];
        let mut learner = self.learner(task, Some(course))?;
        if learner.stage() == Stage::Start || learner.steps().0 == 0 {
            return Ok(None);
        }
        Ok(Some((learned(task, &mut learner, &self.parts[task.fold])?, vec![])))
    }
}
