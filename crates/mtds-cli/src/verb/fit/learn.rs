//! Learning, one length of the code after another, with checkpoints on the way.

use super::ending::Ending;
use super::prepare::Parts;
use super::say;
use super::state::FitState;
use crate::base::BaseKind;
use crate::interrupt::Interrupt;
use crate::plan::FitPlan;
use crate::progress::{Progress, Stage};
use crate::tensorboard::EventFile;
use anyhow::{Context, Result, bail};
use mtds::Architecture;
use mtds::learn::{self, Choices, Control, Course, CourseData, Learner, StartRule, Status};
use std::time::Instant;

/// Steps from one record in the event files to the next.
const EVENT_EVERY: u64 = 10;

/// Learns every length of the code that is not learned yet.
///
/// # Errors
/// Numbers that stop being finite; a checkpoint that cannot be written; an interrupt, after a checkpoint.
pub(super) fn learn(
    plan: &FitPlan,
    interrupt: &Interrupt,
    parts: &Parts,
    state: &mut FitState,
    progress: &mut Progress,
) -> Result<()> {
    for code in state.codes() {
        if state.finished.iter().any(|finished| finished.code == code) {
            continue;
        }
        let (spec, choices) = architecture(&state.choices, code, parts)?;
        let course = choices.course(&spec.base)?;
        let data =
            CourseData { family: &parts.pieces, held_out: parts.held_out_pieces.as_ref(), seed: state.seed };
        let mut learner = match state.course.take() {
            Some(course_state) => Learner::resume(&course, spec, data, course_state)?,
            None => Learner::new(&course, spec, data)?,
        };
        let mut following = Following { plan, interrupt, course: &course, events: None };
        following.run(&mut learner, state, progress)?;
        let ending = Ending { choices: &choices, parts, seed: state.seed };
        // The checkpoint has all that was learned: ended on the spot, this is done again.
        let finished = interrupt.without_stop(|| ending.of(&mut learner, progress))?;
        state.finished.push(finished);
        state.course = None;
        state.save(&plan.checkpoint)?;
    }
    progress.end();
    Ok(())
}

/// The architecture with codes of this length.
///
/// # Errors
/// A kind of base model that this program does not know.
pub(super) fn architecture(choices: &Choices, code: usize, parts: &Parts) -> Result<(Architecture, Choices)> {
    let choices = Choices { code, ..choices.clone() };
    let kind = BaseKind::named(&choices.base).context("the base model is one of those in the list")?;
    let (d_obs, d_input) = (parts.training.d_obs(), parts.training.d_input());
    let front = choices.front(d_input, d_obs);
    let driven = front.map_or(d_input, |front| front.d_out());
    let base = match choices.residual {
        true => kind.adding_up(choices.state, d_obs, driven).context("the base model adds outputs up")?,
        false => kind.sized(choices.state, d_obs, driven),
    };
    let spec = choices.spec(base);
    Ok((front.map_or(spec.clone(), |front| spec.behind(front)), choices))
}

/// Follows one course: progress, event files, checkpoints.
struct Following<'a> {
    plan: &'a FitPlan,
    interrupt: &'a Interrupt,
    course: &'a Course,
    events: Option<EventFile>,
}

impl Following<'_> {
    fn run(&mut self, learner: &mut Learner, state: &mut FitState, progress: &mut Progress) -> Result<()> {
        if let Some(folder) = &self.plan.tensorboard {
            self.events = Some(EventFile::create(folder)?);
        }
        let mut stage = None;
        loop {
            if stage != Some(learner.stage()) {
                stage = Some(learner.stage());
                progress.begin(shown(learner.stage()), learner.steps().1);
            }
            let status = self.some_steps(learner, progress)?;
            state.course = Some(learner.checkpoint());
            state.save(&self.plan.checkpoint)?;
            if status != Status::Interrupted {
                return Ok(());
            }
            if self.interrupt.is_asked() {
                progress.end();
                bail!("{}", self.stopped(learner));
            }
        }
    }

    /// Steps until the stage ends, a checkpoint is due, or somebody asks to stop.
    fn some_steps(&mut self, learner: &mut Learner, progress: &mut Progress) -> Result<Status> {
        let is_start = learner.stage() == learn::Stage::Start;
        if is_start && matches!(self.course.start, StartRule::Effects(_)) {
            return Ok(self.interrupt.without_stop(|| learner.run(&mut |_| Control::Continue))?);
        }
        let before = if is_start { 0 } else { start_steps(self.course) };
        let started = Instant::now();
        let mut trouble = None;
        let status = learner.run(&mut |step| {
            progress.advance(step.step, Some(step.best_validation.unwrap_or(step.bound)));
            if let Some(Err(error)) = self.events.as_mut().map(|events| record(events, before, step)) {
                trouble = Some(error);
                self.events = None;
            }
            let due = started.elapsed() >= self.plan.checkpoint_every;
            if due || self.interrupt.is_asked() { Control::Stop } else { Control::Continue }
        })?;
        if let Some(error) = trouble {
            say(self.plan, &format!("warning: {error:#}; learning goes on without event files"));
        }
        Ok(status)
    }

    fn stopped(&self, learner: &Learner) -> String {
        let (step, steps) = learner.steps();
        let stage = shown(learner.stage()).name();
        format!(
            "interrupted while {stage}, after step {step} of {steps}; the same command with --resume goes on from there"
        )
    }
}

fn shown(stage: learn::Stage) -> Stage {
    match stage {
        learn::Stage::Start | learn::Stage::Variational => Stage::Learning,
        learn::Stage::Refine => Stage::Refining,
    }
}

fn start_steps(course: &Course) -> u64 {
    match &course.start {
        StartRule::Prior(start) => start.plan.steps,
        StartRule::Effects(effects) => effects.steps,
        StartRule::None => 0,
    }
}

/// Every tenth step, and every check of the held-out bound.
fn record(events: &mut EventFile, before: u64, step: &learn::Progress) -> Result<()> {
    if !step.step.is_multiple_of(EVENT_EVERY) && step.validation.is_none() {
        return Ok(());
    }
    let mut values = vec![
        ("bound/training", step.bound),
        ("loss", step.loss),
        ("learning_rate", step.learning_rate),
        ("gradient_norm", step.gradient_norm),
    ];
    values.extend(step.ess.map(|ess| ("effective_sample_size", ess)));
    values.extend(step.validation.map(|bound| ("bound/held_out", bound)));
    events.scalars(before + step.step, &values)
}
