//! Once parameters are learned: where codes of new members are expected, and how wide forecasts are.

use super::prepare::Parts;
use super::select;
use super::state::Finished;
use crate::expected::CalibrationRecord;
use crate::progress::{Progress, Stage};
use anyhow::{Context, Result};
use mtds::System;
use mtds::learn::{Calibration, Choices, ChosenPrior, Learner, NewMembers};

/// What the end of learning needs besides what was learned.
pub(super) struct Ending<'a> {
    pub(super) choices: &'a Choices,
    pub(super) parts: &'a Parts,
    pub(super) seed: u64,
}

impl Ending<'_> {
    /// The model that was learned, ready for new members.
    ///
    /// # Errors
    /// Sequences that the model cannot take.
    pub(super) fn of(&self, learner: &mut Learner, progress: &mut Progress) -> Result<Finished> {
        let fitted = learner.fitted()?.context("learning has ended")?;
        let prior = self.prior(&fitted.model, progress)?;
        let model = fitted.model.with_prior(prior.prior.clone())?;
        // By the learned noise: a length of the code is judged by what one step leaves unexplained.
        let apart = match &self.parts.apart {
            Some(family) => select::log_likelihoods(&model, &self.choices.online(), family, self.seed)?,
            None => vec![],
        };
        let (model, calibration) = self.calibrated(model, progress)?;
        Ok(Finished {
            code: self.choices.code,
            parameters: model.parameters().to_vec(),
            status: fitted.outcome.status,
            best_validation: fitted.outcome.best_validation,
            records: learner.records(),
            prior,
            calibration,
            beliefs: learner.beliefs()?,
            apart,
        })
    }

    fn prior(&self, model: &System, progress: &mut Progress) -> Result<ChosenPrior> {
        let new_members = NewMembers {
            model,
            online: &self.choices.online(),
            training: &self.parts.training,
            held_out: self.parts.held_out.as_ref(),
            std_dev: self.choices.prior_std,
            seed: self.seed,
        };
        let mut bar = Bar { progress, stage: Stage::Inferring, is_begun: false };
        Ok(new_members.prior(self.choices.prior, &mut |done, all| bar.advance(done, all))?)
    }

    fn calibrated(&self, model: System, progress: &mut Progress) -> Result<(System, CalibrationRecord)> {
        let Some(held_out) = self.parts.held_out.as_ref().filter(|_| self.choices.calibrate) else {
            return Ok((model, CalibrationRecord::default()));
        };
        let calibration = Calibration { online: &self.choices.online(), held_out, seed: self.seed };
        let mut bar = Bar { progress, stage: Stage::Forecasting, is_begun: false };
        let found = calibration.of(model, &mut |done, all| bar.advance(done, all))?;
        Ok((found.model, CalibrationRecord { factor: found.factor, trials: found.trials }))
    }
}

/// A stage that is shown once something is done in it.
struct Bar<'a> {
    progress: &'a mut Progress,
    stage: Stage,
    is_begun: bool,
}

impl Bar<'_> {
    fn advance(&mut self, done: usize, all: usize) {
        if !std::mem::replace(&mut self.is_begun, true) {
            self.progress.begin(self.stage, all as u64);
        }
        self.progress.advance(done as u64, None);
    }
}
