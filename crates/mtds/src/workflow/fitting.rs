//! A fit in progress: owned, stopped anywhere, gone on with to the same bits.

use serde::{Deserialize, Serialize};

use super::parts::Parts;
use super::{CalibrationRecord, Fit, ending, selection};
use crate::evaluate::ScoreRow;
use crate::family::Family;
use crate::learn::{
    self, Choice, Choices, ChosenPrior, Control, CourseCheckpoint, CourseData, Facts, LearnedBeliefs,
    Learner, RunEnd, StageRecord, Wishes,
};
use crate::model::{DataColumns, Member, Model};
use crate::system::Architecture;
use crate::{Error, Result};

/// Share of the sequences that is kept apart to choose the length of the code by, unless another is asked for.
const SELECTION: f64 = 0.2;

/// What a fit is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FitStage {
    /// Learning begins: from draws of the prior, or from random effects.
    Starting,
    /// What was found is learned to the end.
    Learning,
    /// Where codes of new members are expected.
    Expecting,
    /// How wide forecasts are.
    Calibrating,
    /// The codes of the members.
    Inferring,
    /// Forecasts of sequences that learning did not see.
    Judging,
}

/// How far a fit is.
#[derive(Clone, Copy, Debug)]
pub struct FitProgress<'a> {
    /// What it is busy with.
    pub stage: FitStage,
    /// Steps or sequences done in this stage.
    pub done: u64,
    /// Steps or sequences of this stage.
    pub all: u64,
    /// The step of learning that was just taken.
    pub step: Option<&'a learn::Progress>,
}

/// A fit in progress.
pub struct Fitting {
    fit: Fit,
    family: Family,
    parts: Parts,
    pub(super) state: State,
    learner: Option<Learner>,
}

/// All that a fit needs besides its family and what was asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    pub(super) seed: u64,
    /// Fingerprint of the whole family.
    pub(super) fingerprint: String,
    /// Where the family was read from.
    pub(super) columns: DataColumns,
    pub(super) choices: Choices,
    pub(super) reasons: Vec<Choice>,
    /// Lengths of the code to choose from; empty to take the one of `choices`.
    pub(super) select_code: Vec<usize>,
    /// What was learned so far, in the order of the lengths.
    pub(super) candidates: Vec<Candidate>,
    /// Codes of the members under the chosen one.
    pub(super) members: Option<Vec<Member>>,
    /// Its forecasts.
    pub(super) judged: Option<Vec<ScoreRow>>,
    /// The candidate that is being learned.
    #[serde(skip)]
    pub(super) course: Option<CourseCheckpoint>,
}

/// A system that is learned; what is not known of it yet is `None`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Candidate {
    pub(super) code: usize,
    pub(super) parameters: Vec<f32>,
    pub(super) status: RunEnd,
    pub(super) best_validation: Option<f64>,
    pub(super) stages: Vec<StageRecord>,
    /// What elbo and iwae leave beside the system.
    pub(super) beliefs: Option<LearnedBeliefs>,
    /// What is believed of codes of new members.
    pub(super) prior: Option<ChosenPrior>,
    /// Log likelihood per observed value of each sequence that was kept apart, in data units.
    pub(super) apart: Option<Vec<f64>>,
    /// How wide forecasts are.
    pub(super) calibration: Option<CalibrationRecord>,
}

impl Fitting {
    pub(super) fn new(fit: &Fit, family: &Family) -> Result<Self> {
        let selects = !fit.select_code.is_empty();
        // A replay has it: it learns from the sequences that were left when the length of its code was chosen.
        let keeps_apart = fit.wishes.selection.is_some_and(|share| share > 0.0) && !fit.wishes.is_complete();
        if keeps_apart && !selects {
            let why = "found a share of sequences to choose the length of the code by, but no lengths to choose from; \
                       give `select_code`, or leave it out";
            return Err(Error::setting("selection", why));
        }
        let ours = Wishes { selection: selects.then_some(SELECTION), ..Wishes::default() };
        let mut wishes = fit.wishes.clone().or(ours);
        if selects {
            wishes.code = fit.select_code.first().copied();
        }
        let (choices, mut reasons) = Choices::resolve(&wishes, &Facts::of(family), fit.base.as_ref())?;
        if fit.wishes.selection.is_none() && selects {
            explain(&mut reasons, "selection", "to compare lengths of the code by");
        }
        if selects {
            explain(
                &mut reasons,
                "code",
                &format!("chosen from {:?} by sequences kept apart", fit.select_code),
            );
        }
        let state = State {
            seed: fit.seed,
            fingerprint: family.fingerprint(),
            columns: fit.columns.clone(),
            choices,
            reasons,
            select_code: fit.select_code.clone(),
            candidates: vec![],
            members: None,
            judged: None,
            course: None,
        };
        Self::with(fit, family, state)
    }

    pub(super) fn with(fit: &Fit, family: &Family, state: State) -> Result<Self> {
        let parts = Parts::of(family, &state.choices, state.seed)?;
        Ok(Self { fit: fit.clone(), family: family.clone(), parts, state, learner: None })
    }

    /// Seed of all randomness.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.state.seed
    }

    /// Every setting of the fit.
    #[must_use]
    pub fn choices(&self) -> &Choices {
        &self.state.choices
    }

    /// Every setting with its reason.
    #[must_use]
    pub fn reasons(&self) -> &[Choice] {
        &self.state.reasons
    }

    /// Goes on until the model is there, or until `observer` stops it: then `None`, and another call goes on. Learning goes on from
    /// the step that it was stopped at, other stages from their beginning.
    ///
    /// # Errors
    /// Numbers that stop being finite; the last good step can still be had from [`checkpoint`](Self::checkpoint).
    pub fn run(&mut self, observer: &mut dyn FnMut(&FitProgress) -> Control) -> Result<Option<Model>> {
        match self.go_on(observer) {
            Err(Error::Stopped) => Ok(None),
            other => other.map(Some),
        }
    }

    fn go_on(&mut self, observer: &mut dyn FnMut(&FitProgress) -> Control) -> Result<Model> {
        for (i, code) in self.codes().into_iter().enumerate() {
            if i == self.state.candidates.len() {
                let learned = self.learn(code, observer)?;
                self.state.candidates.push(learned);
            }
            let architecture = self.architecture(code)?;
            let choices = Choices { code, ..self.state.choices.clone() };
            let ending = ending::Ending { choices: &choices, parts: &self.parts, seed: self.state.seed };
            ending.complete(architecture, &mut self.state.candidates[i], observer)?;
        }
        let (chosen, selection) = selection::choose(&self.state.candidates);
        let candidate = self.state.candidates[chosen].clone();
        let architecture = self.architecture(candidate.code)?;
        let choices = Choices { code: candidate.code, ..self.state.choices.clone() };
        let ending = ending::Ending { choices: &choices, parts: &self.parts, seed: self.state.seed };
        let system = ending.system(architecture, &candidate)?;
        if self.state.members.is_none() {
            self.state.members = Some(ending.members(&system, &self.family, observer)?);
        }
        if self.state.judged.is_none() {
            self.state.judged = Some(ending.judged(&system, observer)?);
        }
        ending.model((&self.fit, &self.family), &self.state, (system, &candidate, selection))
    }

    /// The lengths of the code that are learned, in order.
    fn codes(&self) -> Vec<usize> {
        match self.state.select_code.is_empty() {
            true => vec![self.state.choices.code],
            false => self.state.select_code.clone(),
        }
    }

    fn architecture(&self, code: usize) -> Result<Architecture> {
        let choices = Choices { code, ..self.state.choices.clone() };
        choices.architecture((self.family.d_obs(), self.family.d_input()), self.fit.base.as_ref())
    }

    fn learn(&mut self, code: usize, observer: &mut dyn FnMut(&FitProgress) -> Control) -> Result<Candidate> {
        let mut learner = match self.learner.take() {
            Some(learner) => learner,
            None => self.learner(code)?,
        };
        let ended = take_steps(&mut learner, observer);
        let candidate = ended.and_then(|()| learned(code, &mut learner));
        if candidate.is_err() {
            self.learner = Some(learner); // what was learned so far can still be had
        }
        candidate
    }

    fn learner(&mut self, code: usize) -> Result<Learner> {
        let architecture = self.architecture(code)?;
        let choices = Choices { code, ..self.state.choices.clone() };
        let course = choices.course(&architecture.base)?;
        let data = CourseData {
            family: self.parts.pieces.clone(),
            held_out: self.parts.held_out_pieces.clone(),
            seed: self.state.seed,
        };
        match self.state.course.take() {
            Some(from) => Learner::resume(course, architecture, data, from),
            None => Learner::new(course, architecture, data),
        }
    }

    /// The state with all that was learned so far.
    pub(super) fn snapshot(&self) -> State {
        let course = self.learner.as_ref().map(Learner::checkpoint).or_else(|| self.state.course.clone());
        State { course, ..self.state.clone() }
    }
}

fn explain(reasons: &mut [Choice], key: &str, why: &str) {
    for choice in reasons.iter_mut().filter(|choice| choice.key == key) {
        (choice.why, choice.asked) = (why.to_owned(), false);
    }
}

/// All steps that are left.
fn take_steps(learner: &mut Learner, observer: &mut dyn FnMut(&FitProgress) -> Control) -> Result<()> {
    loop {
        let stage = match learner.stage() {
            learn::Stage::Start => FitStage::Starting,
            learn::Stage::Refine | learn::Stage::Variational => FitStage::Learning,
        };
        let (done, all) = learner.steps();
        let mut wish = observer(&FitProgress { stage, done, all, step: None });
        if wish == Control::Continue {
            let status = learner.run(&mut |step| {
                wish = observer(&FitProgress { stage, done: step.step, all: step.steps, step: Some(step) });
                wish
            })?;
            if status != RunEnd::Interrupted {
                return Ok(());
            }
        }
        if wish == Control::Stop {
            return Err(Error::Stopped);
        }
    }
}

fn learned(code: usize, learner: &mut Learner) -> Result<Candidate> {
    let Some(fitted) = learner.fitted()? else {
        return Err(Error::setting("refine_steps", "learning ended before its first step"));
    };
    Ok(Candidate {
        code,
        parameters: fitted.model.parameters().to_vec(),
        status: fitted.outcome.status,
        best_validation: fitted.outcome.best_validation,
        stages: learner.records(),
        beliefs: learner.beliefs()?,
        prior: None,
        apart: None,
        calibration: None,
    })
}
