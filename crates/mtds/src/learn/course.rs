//! A whole course of learning: a start, then refinement, stopped anywhere and resumed to the same bits.
//!
//! ```text
//! start     prior      Algorithm 1, its noise coming down          steps, can be stopped
//!           effects    random effects, principal axes              one piece
//! refine    proposals adapted to each sequence                     steps, can be stopped, watches held-out sequences
//! ```

use serde::{Deserialize, Serialize};

use super::{
    Adapted, AdaptedObjective, Checkpoint, Control, Fitted, History, MonteCarlo, MonteCarloObjective,
    Outcome, Progress, Proposal, RandomEffects, Refine, ScalingRule, Status, Trainer, TrainingPlan,
};
use crate::family::Family;
use crate::model::{Model, ModelSpec};
use crate::random::stream;
use crate::{Error, Result};

/// First line of a stored course.
const MAGIC: &[u8] = b"mtds course 1\n";

/// The settings of both stages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Course {
    /// From data units to model units.
    pub scaling: ScalingRule,
    /// How learning begins.
    pub start: StartRule,
    /// How it goes on.
    pub refine: Refine,
}

/// How learning begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartRule {
    /// From draws of the prior (Algorithm 1): finds what many sequences have in common.
    Prior(Box<PriorStart>),
    /// From random effects: for few sequences. The architecture needs an affine path.
    Effects(RandomEffects),
}

/// Settings of a start from the prior.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriorStart {
    /// What is maximised.
    pub objective: MonteCarlo,
    /// How it is maximised.
    pub plan: TrainingPlan,
}

/// A stage of a course.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The start.
    Start,
    /// Adapted proposals.
    Refine,
}

/// How a stage went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageRecord {
    /// Which.
    pub stage: Stage,
    /// Steps taken.
    pub steps: u64,
    /// Its course; empty for random effects.
    pub history: History,
}

/// What a course learns from.
#[derive(Clone, Copy, Debug)]
pub struct CourseData<'a> {
    /// The training sequences, in data units.
    pub family: &'a Family,
    /// Sequences whose bound decides when to stop.
    pub held_out: Option<&'a Family>,
    /// Seed of all randomness.
    pub seed: u64,
}

/// A course between two steps: all that [`Learner::resume`] needs besides settings and data.
#[derive(Clone, Debug, PartialEq)]
pub struct CourseCheckpoint {
    /// The stage in progress.
    pub stage: Stage,
    /// The stages before it.
    pub finished: Vec<StageRecord>,
    /// The stage's trainer; none while random effects have not ended.
    pub trainer: Option<Checkpoint>,
}

/// A course in progress.
pub struct Learner<'a> {
    course: &'a Course,
    data: CourseData<'a>,
    /// The architecture, with the parameters that learning began with.
    first: Model,
    finished: Vec<StageRecord>,
    running: Running,
}

/// The stage in progress.
enum Running {
    Effects,
    Prior(Box<Trainer<MonteCarloObjective>>),
    Refine(Box<Trainer<AdaptedObjective>>),
}

impl<'a> Learner<'a> {
    /// Before the first step.
    ///
    /// # Errors
    /// Settings out of range, a family that does not fit the architecture.
    pub fn new(course: &'a Course, spec: ModelSpec, data: CourseData<'a>) -> Result<Self> {
        let first = first_model(course, spec, &data)?;
        let running = match &course.start {
            StartRule::Effects(_) => Running::Effects,
            StartRule::Prior(start) => {
                let parameters = first.parameters().to_vec();
                let objective = prior_objective(start, &first, &data)?;
                let trainer = Trainer::new(objective, parameters, start.plan.clone(), data.seed)?;
                Running::Prior(Box::new(trainer))
            }
        };
        Ok(Self { course, data, first, finished: vec![], running })
    }

    /// Goes on from a checkpoint, with the settings and data of the course that made it.
    ///
    /// # Errors
    /// [`Error::Store`] when the checkpoint does not fit; else as [`Learner::new`].
    pub fn resume(
        course: &'a Course,
        spec: ModelSpec,
        data: CourseData<'a>,
        from: CourseCheckpoint,
    ) -> Result<Self> {
        let first = first_model(course, spec, &data)?;
        let running = match (from.stage, &course.start, from.trainer) {
            (Stage::Start, StartRule::Effects(_), None) => Running::Effects,
            (Stage::Start, StartRule::Prior(start), Some(trainer)) => {
                let objective = prior_objective(start, &first, &data)?;
                Running::Prior(Box::new(Trainer::resume(objective, trainer)?))
            }
            (Stage::Refine, _, Some(trainer)) => {
                // The checkpoint brings the proposals; these only say how many there are.
                let any = vec![Proposal::prior(first.d_code()); data.family.n_seq()];
                let objective = adapted(&course.refine.objective, first.clone(), &data, Some(any))?;
                Running::Refine(Box::new(Trainer::resume(objective, trainer)?))
            }
            _ => {
                return Err(broken(
                    "it is of another way to start; resume with the settings it was made with",
                ));
            }
        };
        Ok(Self { course, data, first, finished: from.finished, running })
    }

    /// Takes the steps of the stage in progress, and prepares the next one at its end.
    ///
    /// [`Status::Interrupted`] says that there is more to do: `observer` said stop, or a stage ended and another
    /// has begun. Call again to go on.
    ///
    /// # Errors
    /// Numbers that stop being finite; the last good step can still be had from
    /// [`checkpoint`](Self::checkpoint).
    pub fn run(&mut self, observer: &mut dyn FnMut(&Progress) -> Control) -> Result<Status> {
        match &mut self.running {
            Running::Refine(trainer) => Ok(trainer.run(observer)?.status),
            Running::Prior(trainer) => {
                let outcome = trainer.run(observer)?;
                if outcome.status == Status::Interrupted {
                    return Ok(Status::Interrupted);
                }
                let model = self.first.clone().with_parameters(outcome.parameters)?;
                self.refine(model, None, StageRecord::new(outcome.step, outcome.history))
            }
            Running::Effects => {
                let StartRule::Effects(effects) = &self.course.start else {
                    return Err(broken("it is of another way to start"));
                };
                let (spec, scaling) = (self.first.spec(), self.first.scaling());
                let started = effects.run(spec, scaling, self.data.family, 1, self.data.seed)?;
                let Some(best) = started.into_iter().next() else {
                    return Err(Error::Diverged {
                        step: effects.steps,
                        what: "every random-effects start".into(),
                        last_good: None,
                    });
                };
                let record = StageRecord::new(effects.steps, History::new(2));
                self.refine(best.model, Some(best.proposals), record)
            }
        }
    }

    fn refine(
        &mut self,
        model: Model,
        proposals: Option<Vec<Proposal>>,
        record: StageRecord,
    ) -> Result<Status> {
        let Refine { objective, plan } = &self.course.refine;
        let parameters = model.parameters().to_vec();
        let objective = adapted(objective, model, &self.data, proposals)?;
        let trainer = Trainer::new(objective, parameters, plan.clone(), self.data.seed)?;
        self.running = Running::Refine(Box::new(trainer));
        self.finished.push(record);
        Ok(Status::Interrupted)
    }

    /// The stage in progress.
    #[must_use]
    pub fn stage(&self) -> Stage {
        match self.running {
            Running::Effects | Running::Prior(_) => Stage::Start,
            Running::Refine(_) => Stage::Refine,
        }
    }

    /// The step that the stage in progress has come to, and how many it has; random effects count as one.
    #[must_use]
    pub fn steps(&self) -> (u64, u64) {
        match &self.running {
            Running::Effects => (0, 1),
            Running::Prior(trainer) => trainer.steps(),
            Running::Refine(trainer) => trainer.steps(),
        }
    }

    /// Everything that [`Learner::resume`] needs.
    #[must_use]
    pub fn checkpoint(&self) -> CourseCheckpoint {
        let trainer = match &self.running {
            Running::Effects => None,
            Running::Prior(trainer) => Some(trainer.checkpoint()),
            Running::Refine(trainer) => Some(trainer.checkpoint()),
        };
        CourseCheckpoint { stage: self.stage(), finished: self.finished.clone(), trainer }
    }

    /// How the stages went so far, the one in progress last.
    #[must_use]
    pub fn records(&self) -> Vec<StageRecord> {
        let mut records = self.finished.clone();
        if let Some(outcome) = self.outcome() {
            records.push(StageRecord { stage: self.stage(), steps: outcome.step, history: outcome.history });
        }
        records
    }

    /// The model as it stands: with the best held-out bound of the refinement, or with the last parameters.
    ///
    /// # Errors
    /// None in practice: parameters that a trainer accepted are finite.
    pub fn fitted(&self) -> Result<Option<Fitted>> {
        let Some(outcome) = self.outcome() else { return Ok(None) };
        let model = self.first.clone().with_parameters(outcome.parameters.clone())?;
        Ok(Some(Fitted { model, outcome }))
    }

    fn outcome(&self) -> Option<Outcome> {
        match &self.running {
            Running::Effects => None,
            Running::Prior(trainer) => Some(trainer.outcome()),
            Running::Refine(trainer) => Some(trainer.outcome()),
        }
    }
}

impl StageRecord {
    fn new(steps: u64, history: History) -> Self {
        Self { stage: Stage::Start, steps, history }
    }
}

fn first_model(course: &Course, spec: ModelSpec, data: &CourseData) -> Result<Model> {
    Model::initialise(spec, course.scaling.scaling(data.family)?, &mut stream(data.seed, 0))
}

fn prior_objective(start: &PriorStart, model: &Model, data: &CourseData) -> Result<MonteCarloObjective> {
    MonteCarloObjective::new(model.clone(), data.family, None, start.objective.clone())
}

fn adapted(
    settings: &Adapted,
    model: Model,
    data: &CourseData,
    proposals: Option<Vec<Proposal>>,
) -> Result<AdaptedObjective> {
    match proposals {
        None => AdaptedObjective::new(model, data.family, data.held_out, settings.clone()),
        Some(known) => {
            AdaptedObjective::from_proposals(model, data.family, data.held_out, settings.clone(), known)
        }
    }
}

fn broken(why: impl Into<String>) -> Error {
    Error::Store { file: "checkpoint".into(), why: why.into() }
}

/// What is not the trainer.
#[derive(Serialize, Deserialize)]
struct Record {
    stage: Stage,
    finished: Vec<StageRecord>,
    trainer: bool,
}

impl CourseCheckpoint {
    /// The checkpoint as bytes; the same checkpoint always gives the same bytes.
    ///
    /// # Errors
    /// As [`Checkpoint::to_bytes`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let record =
            Record { stage: self.stage, finished: self.finished.clone(), trainer: self.trainer.is_some() };
        let text = serde_json::to_vec(&record).map_err(|error| broken(error.to_string()))?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text);
        if let Some(trainer) = &self.trainer {
            bytes.extend(trainer.to_bytes()?);
        }
        Ok(bytes)
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// [`Error::Store`] with the reason when the bytes are cut short or are no checkpoint of a course.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let another = || broken("not the checkpoint of a course, or of another version; start over");
        let short = || broken("cut short; use an earlier one, or start over");
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(another)?;
        let (length, rest) = rest.split_first_chunk::<8>().ok_or_else(short)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| short())?;
        let (text, rest) = rest.split_at_checked(length).ok_or_else(short)?;
        let record: Record = serde_json::from_slice(text).map_err(|error| broken(error.to_string()))?;
        let trainer = if record.trainer { Some(Checkpoint::from_bytes(rest)?) } else { None };
        Ok(Self { stage: record.stage, finished: record.finished, trainer })
    }
}

#[cfg(test)]
#[path = "course_tests.rs"]
mod tests;
