//! A fit in progress: owned, stopped anywhere, gone on with to the same bits.

use serde::{Deserialize, Serialize};

use super::compared::Compared;
use super::parts::{Known, Parts};
use super::record::Judged;
use super::work::WorkPlan;
use super::{CalibrationRecord, Fit, ending, selection};
use crate::family::Family;
use crate::learn::{
    self, Choice, Choices, ChosenPrior, Control, CourseCheckpoint, CourseData, Facts, LearnedBeliefs,
    Learner, PriorSearch, RemainderRecord, RunEnd, StageRecord, Structure, Wishes,
};
use crate::model::{Blend, DataColumns, Member, Model, SegmentCode};
use crate::system::{Architecture, System};
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
    /// How much structures, and ways that remember members, count in forecasts.
    Comparing,
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
    /// Which of how many systems this is about, counted from 0.
    pub part: (usize, usize),
    /// Share of the work of the whole fit that is done, as far as can be told beforehand: of all systems, and of what follows them.
    pub whole: f64,
    /// The step of learning that was just taken.
    pub step: Option<&'a learn::Progress>,
}

/// A fit in progress.
pub struct Fitting {
    pub(super) fit: Fit,
    pub(super) family: Family,
    /// The family as each fold divides it; one where nothing is compared.
    pub(super) parts: Vec<Parts>,
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
    /// Structures that are learned; the first where nothing is compared.
    pub(super) structures: Vec<Chosen>,
    /// Structures that could not be learned.
    pub(super) left_out: Vec<String>,
    /// Lengths of the code to choose from; empty to take the one of `choices`.
    pub(super) select_code: Vec<usize>,
    /// What was learned so far, in the order of the lengths, or fold by fold of the structures.
    pub(super) candidates: Vec<Candidate>,
    /// How much each structure and each way counts.
    pub(super) compared: Option<Compared>,
    /// Codes of the members under the chosen one, as far as they were inferred.
    pub(super) members: Vec<Member>,
    /// Its forecasts.
    pub(super) judged: Option<Judged>,
    /// The candidate that is being learned.
    #[serde(skip)]
    pub(super) course: Option<CourseCheckpoint>,
}

/// A structure with every setting, and why each is what it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Chosen {
    pub(super) name: String,
    pub(super) choices: Choices,
    pub(super) reasons: Vec<Choice>,
}

/// What is learned: which structure, with which length of the code, from which part of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Task {
    pub(super) structure: usize,
    pub(super) code: usize,
    pub(super) fold: usize,
}

/// A system that is learned; what is not known of it yet is `None`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Candidate {
    pub(super) task: Task,
    pub(super) parameters: Vec<f32>,
    pub(super) status: RunEnd,
    pub(super) best_validation: Option<f64>,
    pub(super) stages: Vec<StageRecord>,
    /// What elbo and iwae leave beside the system.
    pub(super) beliefs: Option<LearnedBeliefs>,
    /// What learning knows of the code of each member that it learned from, and of each that was held out.
    pub(super) known: Known,
    /// The same of each segment, where sequences are cut.
    pub(super) segments: Vec<SegmentCode>,
    /// What was found on the way to the prior.
    pub(super) search: PriorSearch,
    /// What is believed of codes of new members.
    pub(super) prior: Option<ChosenPrior>,
    /// Log likelihood per observed value of each sequence that was kept apart, in data units.
    pub(super) apart: Option<Vec<f64>>,
    /// How what codes leave over goes on.
    pub(super) remainder: Option<RemainderRecord>,
    /// How wide forecasts are.
    pub(super) calibration: Option<CalibrationRecord>,
}

impl Fitting {
    pub(super) fn new(fit: &Fit, family: &Family) -> Result<Self> {
        let selects = !fit.select_code.is_empty();
        // A replay has it: it learns from the sequences that were left when the length of its code was chosen.
        let keeps_apart = fit.wishes.selection.is_some_and(|share| share > 0.0) && !fit.wishes.is_replayed();
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
        let facts = Facts::of(family);
        let (choices, mut reasons) = Choices::resolve(&wishes, &facts, fit.base.as_ref())?;
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
        let structures = match choices.compare {
            false => vec![Chosen { name: "as chosen".to_owned(), choices, reasons }],
            true => {
                let resolved = |structure: Structure| {
                    let (choices, reasons) = Choices::resolve(&structure.wishes, &facts, fit.base.as_ref())?;
                    Ok(Chosen { name: structure.name.to_owned(), choices, reasons })
                };
                Structure::all(&wishes, &facts).into_iter().map(resolved).collect::<Result<_>>()?
            }
        };
        let state = State {
            seed: fit.seed,
            fingerprint: family.fingerprint(),
            columns: fit.columns.clone(),
            structures,
            left_out: vec![],
            select_code: fit.select_code.clone(),
            candidates: vec![],
            compared: None,
            members: vec![],
            judged: None,
            course: None,
        };
        Self::with(fit, family, state)
    }

    pub(super) fn with(fit: &Fit, family: &Family, state: State) -> Result<Self> {
        let choices = &state.structures[0].choices;
        let folds = if choices.compare { Structure::folds(choices.budget, &Facts::of(family)) } else { 1 };
        let part = |fold| Parts::of(family, choices, (state.seed, (fold, folds)));
        let parts = (0..folds).map(part).collect::<Result<_>>()?;
        Ok(Self { fit: fit.clone(), family: family.clone(), parts, state, learner: None })
    }

    /// Seed of all randomness.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.state.seed
    }

    /// Every setting of the fit; of the first structure, where several are compared.
    #[must_use]
    pub fn choices(&self) -> &Choices {
        &self.state.structures[0].choices
    }

    /// Every setting with its reason; of the first structure, where several are compared.
    #[must_use]
    pub fn reasons(&self) -> &[Choice] {
        &self.state.structures[0].reasons
    }

    /// Names of the structures that are compared, and from how many parts of the family each is learned.
    #[must_use]
    pub fn structures(&self) -> (Vec<&str>, usize) {
        (self.state.structures.iter().map(|chosen| chosen.name.as_str()).collect(), self.parts.len())
    }

    /// Goes on until the model is there, or until `observer` stops it: then `None`, and another call goes on. Learning goes on from
    /// the step that it was stopped at, inference from the last sequences that were done.
    ///
    /// # Errors
    /// Numbers that stop being finite; the last good step can still be had from [`checkpoint`](Self::checkpoint).
    pub fn run(&mut self, observer: &mut dyn FnMut(&FitProgress) -> Control) -> Result<Option<Model>> {
        unless_stopped(self.go_on(Until::Judged, observer))
    }

    /// The same as far as forecasts need: the model without codes of its members, what these explain, and a judgement. Where members are
    /// long, these take most of the time; [`run`](Self::run) finds them out afterwards. Forecasts are the same.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_to_forecasts(
        &mut self,
        observer: &mut dyn FnMut(&FitProgress) -> Control,
    ) -> Result<Option<Model>> {
        unless_stopped(self.go_on(Until::Forecasts, observer))
    }

    fn go_on(&mut self, until: Until, observer: &mut dyn FnMut(&FitProgress) -> Control) -> Result<Model> {
        let mut i = 0;
        while let Some(&task) = self.tasks().get(i) {
            let (part, plan) = ((i, self.tasks().len()), self.plan());
            let mut observer = |heard: &FitProgress| {
                let whole = plan.share(Some(i), heard.stage, (heard.done, heard.all));
                observer(&FitProgress { part, whole, ..*heard })
            };
            if i == self.state.candidates.len() {
                match self.learn(task, &mut observer) {
                    Ok(learned) => self.state.candidates.push(learned),
                    Err(error) if task.structure == 0 || matches!(error, Error::Stopped) => {
                        return Err(error);
                    }
                    // A structure that cannot be learned from a family is no reason to have no model.
                    Err(_) => {
                        self.leave_out(task.structure);
                        i = self.state.candidates.len();
                        continue;
                    }
                }
            }
            let (architecture, choices) = (self.architecture(task)?, self.choices_of(task));
            let ending = self.ending(&choices, task);
            let mut candidate = self.state.candidates[i].clone();
            let completed = ending.complete(architecture, &mut candidate, &mut observer);
            self.state.candidates[i] = candidate;
            completed?;
            i += 1;
        }
        let plan = self.plan();
        let observer = &mut |heard: &FitProgress| {
            let whole = plan.share(None, heard.stage, (heard.done, heard.all));
            observer(&FitProgress { whole, ..*heard })
        };
        if self.state.compared.is_none() {
            self.state.compared = Some(self.compared(observer)?);
        }
        let compared = self.state.compared.clone().unwrap_or_default();
        let (chosen, selection) = selection::choose(&self.state.candidates);
        let chosen = match &compared.decision {
            Some(decision) => self.leader(decision),
            None => chosen,
        };
        let candidate = self.state.candidates[chosen].clone();
        let (system, choices) = (self.system(&candidate)?, self.choices_of(candidate.task));
        let (companions, blend) = match &compared.decision {
            None => (vec![], Blend::default()),
            Some(decision) => {
                (self.companions(chosen, decision)?, self.blend(&compared.ways, decision, &self.family)?)
            }
        };
        if until == Until::Judged && self.state.members.len() < self.family.n_seq() {
            let mut members = std::mem::take(&mut self.state.members);
            let ending = self.ending(&choices, candidate.task);
            let inferred = ending.members((&system, &candidate), &self.family, &mut members, observer);
            self.state.members = members;
            inferred?;
        }
        if until == Until::Judged && self.state.judged.is_none() {
            self.state.judged = Some(self.judge(&candidate, &compared, observer)?);
        }
        let ending = self.ending(&choices, candidate.task);
        let structures = compared.rows;
        let found = ending::Found { system, candidate: &candidate, companions, blend, selection, structures };
        ending.model((&self.fit, &self.family), &self.state, found)
    }

    /// Goes on without a structure.
    fn leave_out(&mut self, structure: usize) {
        (self.learner, self.state.course) = (None, None);
        self.state.left_out.push(self.state.structures.remove(structure).name);
        self.state.candidates.retain(|candidate| candidate.task.structure != structure);
        for candidate in &mut self.state.candidates {
            candidate.task.structure -= usize::from(candidate.task.structure > structure);
        }
    }

    /// What is learned, in order.
    pub(super) fn tasks(&self) -> Vec<Task> {
        if !self.state.select_code.is_empty() {
            let task = |&code: &usize| Task { structure: 0, code, fold: 0 };
            return self.state.select_code.iter().map(task).collect();
        }
        let n = self.state.structures.len();
        let task = |k: usize| {
            let structure = k % n;
            Task { structure, code: self.state.structures[structure].choices.code, fold: k / n }
        };
        (0..n * self.parts.len()).map(task).collect()
    }

    /// The work of all that there is to do.
    fn plan(&self) -> WorkPlan {
        let tasks: Vec<_> = self.tasks().into_iter().map(|task| (task, self.choices_of(task))).collect();
        WorkPlan::of(&tasks, &self.parts, &self.family)
    }

    /// The settings of a task.
    pub(super) fn choices_of(&self, task: Task) -> Choices {
        Choices { code: task.code, ..self.state.structures[task.structure].choices.clone() }
    }

    /// The seed of a task: folds have random numbers of their own.
    pub(super) fn seed_of(&self, task: Task) -> u64 {
        self.state.seed.wrapping_add((task.fold as u64) << 32)
    }

    pub(super) fn ending<'a>(&'a self, choices: &'a Choices, task: Task) -> ending::Ending<'a> {
        let (parts, seed) = (&self.parts[task.fold], self.seed_of(task));
        ending::Ending { choices, parts, seed, device: &self.fit.device }
    }

    fn architecture(&self, task: Task) -> Result<Architecture> {
        let sizes = (self.family.d_obs(), self.family.d_input(), self.family.max_time());
        self.choices_of(task).architecture(sizes, self.fit.base.as_ref())
    }

    /// The system of a candidate of which everything is known.
    pub(super) fn system(&self, candidate: &Candidate) -> Result<System> {
        let choices = self.choices_of(candidate.task);
        self.ending(&choices, candidate.task).system(self.architecture(candidate.task)?, candidate)
    }

    fn learn(&mut self, task: Task, observer: &mut dyn FnMut(&FitProgress) -> Control) -> Result<Candidate> {
        let mut learner = match self.learner.take() {
            Some(learner) => learner,
            None => {
                let from = self.state.course.take();
                self.learner(task, from)?
            }
        };
        let ended = take_steps(&mut learner, observer);
        let candidate = ended.and_then(|()| learned(task, &mut learner, &self.parts[task.fold]));
        if candidate.is_err() {
            self.learner = Some(learner); // what was learned so far can still be had
        }
        candidate
    }

    pub(super) fn learner(&self, task: Task, from: Option<CourseCheckpoint>) -> Result<Learner> {
        let architecture = self.architecture(task)?;
        let choices = self.choices_of(task);
        let course = choices.course(&architecture.base)?;
        let parts = &self.parts[task.fold];
        let data = CourseData {
            family: parts.pieces.clone(),
            cut_from: (choices.jitter > 0 || choices.smooth > 0.0).then(|| parts.cut_from()),
            held_out: parts.held_out_pieces.clone().filter(|_| choices.patience > 0),
            seed: self.seed_of(task),
            device: self.fit.device.clone(),
        };
        match from {
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

/// How far a fit goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// A model that forecasts.
    Forecasts,
    /// All that is known of it.
    Judged,
}

/// Nothing where the work was stopped.
fn unless_stopped(outcome: Result<Model>) -> Result<Option<Model>> {
    match outcome {
        Err(Error::Stopped) => Ok(None),
        other => other.map(Some),
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
        let mut wish = observer(&FitProgress { stage, done, all, part: (0, 1), whole: 0.0, step: None });
        if wish == Control::Continue {
            let status = learner.run(&mut |step| {
                wish = observer(&FitProgress {
                    stage,
                    done: step.step,
                    all: step.steps,
                    part: (0, 1),
                    whole: 0.0,
                    step: Some(step),
                });
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

pub(super) fn learned(task: Task, learner: &mut Learner, parts: &Parts) -> Result<Candidate> {
    let Some(fitted) = learner.fitted()? else {
        return Err(Error::setting("refine_steps", "learning ended before its first step"));
    };
    let codes = learner.codes()?;
    Ok(Candidate {
        task,
        parameters: fitted.model.parameters().to_vec(),
        status: fitted.outcome.status,
        best_validation: fitted.outcome.best_validation,
        stages: learner.records(),
        beliefs: learner.beliefs()?,
        segments: parts.segments(&codes),
        known: parts.by_member(&codes)?,
        search: PriorSearch::default(),
        prior: None,
        apart: None,
        remainder: None,
        calibration: None,
    })
}
