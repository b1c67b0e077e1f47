//! The training loop: gradient, optimiser, held-out check, and a step that counts wholly or not at all.

mod resident;

use serde::{Deserialize, Serialize};

use super::adam::{self, AdamState};
use super::checkpoint::Checkpoint;
use super::history::{History, StepRecord, ValidationRecord};
use super::objective::{Objective, ParameterGroup, StepReport, check_groups};
use super::plan::TrainingPlan;
use super::stopping::Stopping;
use crate::random::Random;
use crate::{Error, Result};
use resident::Away;

/// What an observer wants after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Continue,
    /// Return from [`Trainer::run`] now; the run can go on later.
    Stop,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunEnd {
    /// All steps of the plan were taken.
    Finished,
    /// The held-out bound stopped gaining.
    StoppedEarly,
    /// The observer asked to stop; there are steps left to take.
    Interrupted,
}

/// Where a run stands after a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The step just taken, from 1.
    pub step: u64,
    /// Steps in the plan.
    pub steps: u64,
    /// The loss with all penalties, before the step.
    pub loss: f64,
    /// The bound per observation in nats, before the step.
    pub bound: f64,
    /// Mean effective sample size, where the objective has one.
    pub ess: Option<f64>,
    /// The held-out bound per observation after the step, where it was checked.
    pub validation: Option<f64>,
    /// The best held-out bound so far.
    pub best_validation: Option<f64>,
    /// The learning rate of the step.
    pub learning_rate: f64,
    /// Norm of the gradient over all parameters, penalties included, before clipping.
    pub gradient_norm: f64,
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The parameters with the best held-out bound; the last ones where nothing was held out. Where the plan averages, averages.
    pub parameters: Vec<f32>,
    /// Why the run ended.
    pub status: RunEnd,
    /// The steps taken so far.
    pub step: u64,
    /// The best held-out bound per observation.
    pub best_validation: Option<f64>,
    /// The course of the run.
    pub history: History,
}

/// Minimises an [`Objective`] by a [`TrainingPlan`].
pub struct Trainer<O: Objective> {
    objective: O,
    groups: Vec<ParameterGroup>,
    plan: TrainingPlan,
    step: u64,
    state: AdamState,
    /// Where a step is prepared; changes places with `state` once nothing can go wrong any more.
    trial: AdamState,
    /// Running average of the parameters, where the plan has one, and where the next one is prepared.
    average: Option<[Vec<f32>; 2]>,
    gradient: Vec<f32>,
    random: Random,
    stopping: Stopping,
    history: History,
    /// Learning by an engine that takes steps whole.
    away: Option<Away>,
}

impl<O: Objective> Trainer<O> {
    /// A run from `parameters`; all its randomness comes from `random`.
    ///
    /// # Errors
    /// [`Error::Setting`] for a plan that cannot be followed, [`Error::Shape`] when the objective's groups do
    /// not tile the parameters, [`Error::NotFinite`] for a parameter that is not finite.
    pub fn new(objective: O, parameters: Vec<f32>, plan: TrainingPlan, random: Random) -> Result<Self> {
        let history = History::new(plan.history_capacity);
        let state = AdamState::new(parameters);
        let start = Checkpoint {
            step: 0,
            plan,
            groups: objective.groups(),
            state,
            average: None,
            stopping: Stopping::default(),
            history,
            random,
            objective: serde_json::Value::Null,
        };
        Self::start(objective, start)
    }

    /// Goes on from a checkpoint, to the same bits as the run that made it.
    ///
    /// Change `checkpoint.plan` beforehand to go on differently, e.g. for more steps or at a lower rate.
    ///
    /// # Errors
    /// [`Error::Store`] when the checkpoint belongs to another objective; else as for [`Trainer::new`].
    pub fn resume(mut objective: O, checkpoint: Checkpoint) -> Result<Self> {
        checkpoint.check_fits(&objective.groups())?;
        objective.restore(&checkpoint.objective)?;
        Self::start(objective, checkpoint)
    }

    fn start(objective: O, from: Checkpoint) -> Result<Self> {
        let Checkpoint { step, plan, state, average, stopping, history, random, .. } = from;
        plan.check()?;
        let groups = objective.groups();
        check_groups(&groups, state.parameters.len())?;
        if let Some(i) = state.parameters.iter().position(|w| !w.is_finite()) {
            let what = format!("initial parameter {i}");
            return Err(Error::NotFinite { what, value: f64::from(state.parameters[i]), hint: "" });
        }
        let (trial, gradient) = (state.clone(), vec![0.0; state.parameters.len()]);
        // A plan may begin to average, or cease to, where a run goes on.
        let average = plan.averaging.map(|_| {
            let average = average.unwrap_or_else(|| state.parameters.clone());
            [average.clone(), average]
        });
        let away = None;
        let trainer = Self {
            objective,
            groups,
            plan,
            step,
            state,
            trial,
            average,
            gradient,
            random,
            stopping,
            history,
            away,
        };
        trainer.settle()
    }

    /// Takes steps until the plan is done, the held-out bound stops gaining, or `observer` says stop.
    ///
    /// The observer sees every step. After [`RunEnd::Interrupted`], `run` may be called again.
    ///
    /// # Errors
    /// [`Error::Diverged`] with the step, and the parameter group or number that broke; and whatever the
    /// objective returns. The failed step leaves no trace: [`parameters`](Self::parameters) and
    /// [`checkpoint`](Self::checkpoint) are those of the step before it.
    pub fn run(&mut self, observer: &mut dyn FnMut(&Progress) -> Control) -> Result<Outcome> {
        let ended = self.take_steps(observer);
        let home = self.bring_home();
        ended.and(home)?;
        Ok(self.outcome())
    }

    fn take_steps(&mut self, observer: &mut dyn FnMut(&Progress) -> Control) -> Result<()> {
        while self.status() == RunEnd::Interrupted {
            let progress = if self.away.is_some() { self.advance_away() } else { self.advance() }?;
            if observer(&progress) == Control::Stop {
                break;
            }
        }
        Ok(())
    }

    /// The current parameters: those after the last good step.
    #[must_use]
    pub fn parameters(&self) -> &[f32] {
        &self.state.parameters
    }

    /// Steps taken, and steps in the plan.
    #[must_use]
    pub fn steps(&self) -> (u64, u64) {
        (self.step, self.plan.steps)
    }

    /// The objective.
    #[must_use]
    pub fn objective(&self) -> &O {
        &self.objective
    }

    /// The objective, for questions that need its memory.
    pub(crate) fn objective_mut(&mut self) -> &mut O {
        &mut self.objective
    }

    /// The objective, after the run.
    #[must_use]
    pub fn into_objective(self) -> O {
        self.objective
    }

    /// Everything that [`Trainer::resume`] needs.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        if let Some(lost) = self.lost() {
            return lost.clone();
        }
        Checkpoint {
            step: self.step,
            plan: self.plan.clone(),
            groups: self.groups.clone(),
            state: self.state.clone(),
            average: self.average.as_ref().map(|[average, _]| average.clone()),
            stopping: self.stopping.clone(),
            history: self.history.clone(),
            random: self.random.clone(),
            objective: self.objective.state(),
        }
    }

    /// What the run has come to so far.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        let best = self.stopping.best.as_ref();
        Outcome {
            parameters: best.map_or(self.learned(), |best| &best.parameters).to_vec(),
            status: self.status(),
            step: self.step,
            best_validation: best.map(|best| best.bound),
            history: self.history.clone(),
        }
    }

    /// What is learned as it stands: the average, or the parameters.
    fn learned(&self) -> &[f32] {
        self.average.as_ref().map_or(&self.state.parameters, |[average, _]| average)
    }

    fn status(&self) -> RunEnd {
        if self.step >= self.plan.steps {
            RunEnd::Finished
        } else if self.stopping.is_exhausted(&self.plan.stopping) {
            RunEnd::StoppedEarly
        } else {
            RunEnd::Interrupted
        }
    }

    fn advance(&mut self) -> Result<Progress> {
        let step = self.step + 1;
        let mut random = self.random.clone();
        let (report, gradient_norm) = self.penalised_gradient(step, &mut random)?;
        let settings = self.plan.adam_step(step);
        self.state.step_into(&mut self.trial, &self.gradient, &self.groups, &settings);
        self.objective.finish_step(&mut self.trial.parameters, step);
        let changed = self.objective.change_units(&mut self.trial.parameters, step)?;
        for &(place, factor) in &changed {
            self.trial.change_unit(place, factor);
        }
        self.require_finite(&self.trial.parameters, step, f32::is_finite)?;
        self.prepare_average(step, changed.is_empty());
        let validation = self.held_out_bound(step)?;

        std::mem::swap(&mut self.state, &mut self.trial);
        if let Some(averages) = &mut self.average {
            averages.swap(0, 1);
        }
        self.random = random;
        self.step = step;
        self.note(&report, validation);
        Ok(Progress {
            step,
            steps: self.plan.steps,
            loss: report.loss,
            bound: report.bound,
            ess: report.ess,
            validation,
            best_validation: self.stopping.best.as_ref().map(|best| best.bound),
            learning_rate: settings.learning_rate,
            gradient_norm,
        })
    }

    /// Fills the gradient, penalties added and clipped; the report counts the penalties, the norm is unclipped.
    fn penalised_gradient(&mut self, step: u64, random: &mut Random) -> Result<(StepReport, f64)> {
        let parameters = &self.state.parameters;
        adam::clear(&mut self.gradient);
        let mut report = self.objective.gradient(parameters, &mut self.gradient, step, random)?;
        report.loss += adam::add_l2(&self.groups, parameters, &mut self.gradient);
        let numbers = [
            ("the loss", report.loss),
            ("the bound", report.bound),
            ("the effective sample size", report.ess.unwrap_or(0.0)),
        ];
        if let Some((what, _)) = numbers.iter().find(|(_, value)| !value.is_finite()) {
            let group = self.broken_group(&self.gradient, f32::is_finite);
            let also = group
                .map_or(String::new(), |g| format!(", with the gradient of parameter group `{}`,", g.name));
            return Err(diverged(step, format!("{what}{also}")));
        }
        self.require_finite(&self.gradient, step, f32::is_finite)?;
        let norm = adam::norm(&self.gradient);
        adam::clip(&mut self.gradient, norm, self.plan.clip_norm);
        // A square that overflows would freeze its parameter for the rest of the run without a word.
        self.require_finite(&self.gradient, step, |g| (g * g).is_finite())?;
        Ok((report, norm))
    }

    fn require_finite(
        &self,
        values: &[f32],
        step: u64,
        is_good: impl Fn(f32) -> bool + Copy + Sync,
    ) -> Result<()> {
        match self.broken_group(values, is_good) {
            Some(group) => Err(diverged(step, format!("parameter group `{}`", group.name))),
            None => Ok(()),
        }
    }

    /// The first group with a value that is not good.
    fn broken_group(
        &self,
        values: &[f32],
        is_good: impl Fn(f32) -> bool + Copy + Sync,
    ) -> Option<&ParameterGroup> {
        let broken = |group: &&ParameterGroup| !adam::all_good(&values[group.range.clone()], is_good);
        self.groups.iter().find(broken)
    }

    /// The average after a step: young in the first steps, and anew where units change.
    fn prepare_average(&mut self, step: u64, goes_on: bool) {
        if let (Some(kept), Some([now, next])) = (self.plan.averaging, &mut self.average) {
            let young = step as f64 / (step as f64 + 9.0);
            let kept = if goes_on { kept.min(young) } else { 0.0 };
            adam::average_into(next, now, &self.trial.parameters, kept);
        }
    }

    fn held_out_bound(&mut self, step: u64) -> Result<Option<f64>> {
        if !self.plan.stopping.is_due(step, self.plan.steps) {
            return Ok(None);
        }
        let learned = self.average.as_ref().map_or(&self.trial.parameters, |[_, next]| next);
        match self.objective.validate(learned)? {
            Some(bound) if !bound.is_finite() => Err(diverged(step, "the held-out bound".into())),
            bound => Ok(bound),
        }
    }

    fn note(&mut self, report: &StepReport, validation: Option<f64>) {
        self.history.record_step(StepRecord::new(self.step, report));
        if let Some(bound) = validation {
            let learned = self.average.as_ref().map_or(&self.state.parameters, |[average, _]| average);
            self.stopping.observe(&self.plan.stopping, self.step, bound, learned);
            self.history.record_validation(ValidationRecord { step: self.step, bound });
        }
    }
}

/// The step before is the last good one: nothing of this one was kept.
fn diverged(step: u64, what: String) -> Error {
    Error::Diverged { step, what, last_good: Some(step - 1) }
}

#[cfg(test)]
#[path = "trainer_tests.rs"]
mod tests;
