//! A fit in progress: owned, stopped anywhere, gone on with to the same bits.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::comparison::{self, Decision};
use super::parts::Parts;
use super::record::Judged;
use super::{CalibrationRecord, Fit, StructureRow, ending, selection};
use crate::evaluate::{Baseline, Following, FollowingEnsemble, Forecaster, OfMembers, Origin, Updates};
use crate::family::{Family, Sequence};
use crate::infer::{self, Ensemble};
use crate::learn::{
    self, Choice, Choices, ChosenPrior, Control, CourseCheckpoint, CourseData, Facts, LearnedBeliefs,
    Learner, RunEnd, StageRecord, Structure, Wishes,
};
use crate::model::{Blend, Blended, Companion, DataColumns, Member, Model, Remembered};
use crate::predict::Forecast;
use crate::random::Stream;
use crate::system::{Architecture, System};
use crate::{Error, Result};

/// Share of the sequences that is kept apart to choose the length of the code by, unless another is asked for.
const SELECTION: f64 = 0.2;

/// Most members of a fold that decide how much structures count, and most values that are remembered of members.
const MOST_ASKED: usize = 60;
const MOST_REMEMBERED: usize = 1_000_000;

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
    /// Which of how many systems this is about, counted from 0.
    pub part: (usize, usize),
    /// The step of learning that was just taken.
    pub step: Option<&'a learn::Progress>,
}

/// A fit in progress.
pub struct Fitting {
    fit: Fit,
    family: Family,
    /// The family as each fold divides it; one where nothing is compared.
    parts: Vec<Parts>,
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
    /// Codes of the members under the chosen one.
    pub(super) members: Option<Vec<Member>>,
    /// Its forecasts.
    pub(super) judged: Option<Judged>,
    /// The candidate that is being learned.
    #[serde(skip)]
    pub(super) course: Option<CourseCheckpoint>,
}

/// What members that were held out decided; empty where nothing is compared.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Compared {
    /// Ways to forecast from what members did, which come after the structures in all weights.
    pub(super) ways: Vec<Baseline>,
    /// By all members; `None` where nothing is compared.
    pub(super) decision: Option<Decision>,
    /// For each group of members, by those of the others: what the forecasts of the group are judged with.
    pub(super) without: Vec<Decision>,
    pub(super) rows: Vec<StructureRow>,
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
            members: None,
            judged: None,
            course: None,
        };
        Self::with(fit, family, state)
    }

    pub(super) fn with(fit: &Fit, family: &Family, state: State) -> Result<Self> {
        let choices = &state.structures[0].choices;
        let folds = if choices.compare { Structure::folds(&Facts::of(family)) } else { 1 };
        let part = |fold| Parts::of(family, choices, (state.seed, fold));
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
        let mut i = 0;
        while let Some(&task) = self.tasks().get(i) {
            let part = (i, self.tasks().len());
            let mut observer = |heard: &FitProgress| observer(&FitProgress { part, ..*heard });
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
        if self.state.compared.is_none() {
            self.state.compared = Some(self.compared()?);
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
        if self.state.members.is_none() {
            let ending = self.ending(&choices, candidate.task);
            self.state.members = Some(ending.members(&system, &self.family, observer)?);
        }
        if self.state.judged.is_none() {
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
    fn tasks(&self) -> Vec<Task> {
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

    /// The settings of a task.
    fn choices_of(&self, task: Task) -> Choices {
        Choices { code: task.code, ..self.state.structures[task.structure].choices.clone() }
    }

    /// The seed of a task: folds have random numbers of their own.
    fn seed_of(&self, task: Task) -> u64 {
        self.state.seed.wrapping_add((task.fold as u64) << 32)
    }

    fn ending<'a>(&'a self, choices: &'a Choices, task: Task) -> ending::Ending<'a> {
        ending::Ending { choices, parts: &self.parts[task.fold], seed: self.seed_of(task) }
    }

    fn architecture(&self, task: Task) -> Result<Architecture> {
        let sizes = (self.family.d_obs(), self.family.d_input(), self.family.max_time());
        self.choices_of(task).architecture(sizes, self.fit.base.as_ref())
    }

    /// The system of a candidate of which everything is known.
    fn system(&self, candidate: &Candidate) -> Result<System> {
        let choices = self.choices_of(candidate.task);
        self.ending(&choices, candidate.task).system(self.architecture(candidate.task)?, candidate)
    }

    /// How much each structure and each way counts, by the members that each fold held out; nothing where none is compared.
    fn compared(&self) -> Result<Compared> {
        if !self.choices().compare || !self.state.select_code.is_empty() {
            return Ok(Compared::default());
        }
        let scaling = self.choices().scaling.scaling(&self.parts[0].pieces)?;
        let units: Vec<f64> = (0..self.family.d_obs()).map(|c| scaling.scale(c)).collect();
        let origins = comparison::origins(Facts::of(&self.family).median_time);
        let (ways, mut learned) = self.ways();
        let (mut cases, n_groups) = (vec![], self.n_groups());
        for (fold, parts) in self.parts.iter().enumerate() {
            let Some(held_out) = &parts.held_out else { continue };
            let of_fold = self.state.candidates.iter().filter(|candidate| candidate.task.fold == fold);
            let following = of_fold.map(|candidate| self.following(candidate)).collect::<Result<Vec<_>>>()?;
            let systems = following.iter().map(|one| one as &dyn Forecaster);
            let of_members = std::mem::take(&mut learned[fold]);
            let of_members = of_members.iter().map(|one| one as &dyn Forecaster);
            let forecasting: Vec<&dyn Forecaster> = systems.chain(of_members).collect();
            let asked = ending::spread_out(&held_out.observed(), MOST_ASKED);
            let members: Vec<(usize, usize)> = asked.iter().map(|&i| (i, self.group(fold, i))).collect();
            cases.extend(comparison::cases(&forecasting, held_out, &members, (&origins, &units))?);
        }
        let names = self.state.structures.iter().map(|chosen| chosen.name.as_str());
        let names: Vec<String> = names.chain(ways.iter().map(|way| way.title())).map(str::to_owned).collect();
        let decided = |keep: &dyn Fn(usize) -> bool| {
            let kept: Vec<&comparison::Case> = cases.iter().filter(|case| keep(case.group)).collect();
            (Decision::of((self.state.structures.len(), names.len()), &kept), kept)
        };
        let (decision, all) = decided(&|_| true);
        let mut rows = decision.rows(&names, &all);
        rows.extend(self.state.left_out.iter().map(|name| StructureRow::left_out(name)));
        let without = (0..n_groups).map(|group| decided(&|other| other != group).0).collect();
        Ok(Compared { ways, decision: Some(decision), without, rows })
    }

    /// Ways to forecast from what members did that every fold can learn, and what each fold learned; none where members are long.
    fn ways(&self) -> (Vec<Baseline>, Vec<Vec<OfMembers>>) {
        let mut learned: Vec<Vec<OfMembers>> = self.parts.iter().map(|_| vec![]).collect();
        let mut ways = vec![];
        if !ending::are_short(&self.family) {
            return (ways, learned);
        }
        for way in Baseline::OF_MEMBERS {
            let of_fold = |part: &Parts| way.of_members(&remembered(&part.training)?);
            if let Ok(found) = self.parts.iter().map(of_fold).collect::<Result<Vec<_>>>() {
                ways.push(way);
                learned.iter_mut().zip(found).for_each(|(fold, one)| fold.push(one));
            }
        }
        (ways, learned)
    }

    /// Groups of members, each of which the others decide for: those of a fold, or two of the only one.
    fn n_groups(&self) -> usize {
        self.parts.len().max(2)
    }

    fn group(&self, fold: usize, member: usize) -> usize {
        if self.parts.len() > 1 { fold } else { member % 2 }
    }

    /// What forecasts beside systems, and how wide forecasts are.
    fn blend(&self, ways: &[Baseline], decision: &Decision, members: &Family) -> Result<Blend> {
        let weights = &decision.weights[self.state.structures.len()..];
        let pairs = ways.iter().copied().zip(weights.iter().copied());
        let ways: Vec<(Baseline, f64)> = pairs.filter(|(_, weight)| *weight > 0.0).collect();
        let remembered = match ways.is_empty() {
            true => None,
            false => Some(Remembered::new(Arc::new(remembered(members)?), ways)),
        };
        Ok(Blend { remembered, widths: decision.widths.clone() })
    }

    fn following(&self, candidate: &Candidate) -> Result<Following> {
        Ok(Following {
            system: self.system(candidate)?,
            online: self.choices_of(candidate.task).online(),
            updates: Updates::Few,
            random: (self.seed_of(candidate.task), Stream::Judge),
        })
    }

    /// Forecasts of the sequences that each part held out, by the systems that were learned without them.
    fn judge(
        &self,
        leader: &Candidate,
        compared: &Compared,
        observer: &mut dyn FnMut(&FitProgress) -> Control,
    ) -> Result<Judged> {
        let mut parts = vec![];
        for (fold, part) in self.parts.iter().enumerate() {
            let Some(judges) = part.judges() else { continue };
            let task = match &compared.decision {
                None => leader.task,
                Some(_) => Task { fold, ..self.tasks()[0] },
            };
            let choices = self.choices_of(task);
            let ending = self.ending(&choices, task);
            let few = judges.max_time().div_ceil(2);
            // Without a decision all groups are forecast in the same way.
            let groups: Vec<usize> = (0..judges.n_seq()).map(|i| self.group(fold, i)).collect();
            let mut by_group = vec![];
            for group in 0..self.n_groups() {
                let decision = compared.without.get(group);
                by_group.push(self.forecasting((leader, fold), (compared, decision), few)?);
            }
            let like = by_group[0].systems.ensemble.candidates()[0].model.clone();
            let ours = ByGroup { by_group, groups };
            parts.push(ending.judged(&ours, &like, observer)?);
        }
        Ok(Judged::of(parts))
    }

    /// What forecasts members that a fold held out: its systems and ways, as decided.
    fn forecasting(
        &self,
        (leader, fold): (&Candidate, usize),
        (compared, decision): (&Compared, Option<&Decision>),
        few_updates: usize,
    ) -> Result<Blended<FollowingEnsemble>> {
        let of_fold = self.state.candidates.iter().filter(|of| of.task.fold == fold);
        let (forecasting, blend): (Vec<(&Candidate, f64)>, Blend) = match decision {
            None => (vec![(leader, 1.0)], Blend::default()),
            Some(decision) => (
                of_fold.map(|of| (of, decision.weights[of.task.structure])).filter(|of| of.1 > 0.0).collect(),
                self.blend(&compared.ways, decision, &self.parts[fold].training)?,
            ),
        };
        let followed = |&(of, weight): &(&Candidate, f64)| {
            let online = self.choices_of(of.task).online().with_few_updates(few_updates);
            Ok(infer::Candidate { model: self.system(of)?, online, weight })
        };
        let followed = forecasting.iter().map(followed).collect::<Result<Vec<_>>>()?;
        let ensemble = Ensemble::new(followed)?.tempered(0.0)?;
        let random = (self.seed_of(forecasting[0].0.task), Stream::Judge as fn(u64) -> Stream);
        Ok(Blended { systems: FollowingEnsemble { ensemble, random }, blend })
    }

    /// The candidate that codes are those of: of the structure that counts most, and the first fold.
    fn leader(&self, decision: &Decision) -> usize {
        comparison::leader(&decision.weights, self.state.structures.len())
    }

    /// All other candidates, and how much each counts where that one counts 1.
    fn companions(&self, leader: usize, decision: &Decision) -> Result<Vec<Companion>> {
        let systems: f64 = decision.weights[..self.state.structures.len()].iter().sum();
        let weight = |candidate: &Candidate| decision.weights[candidate.task.structure] / systems;
        let own = weight(&self.state.candidates[leader]);
        let others = self.state.candidates.iter().enumerate().filter(|(i, _)| *i != leader);
        let kept = others.filter(|(_, candidate)| weight(candidate) > 0.0);
        kept.map(|(_, candidate)| {
            let online = self.choices_of(candidate.task).online();
            Ok(Companion { system: self.system(candidate)?, online, weight: weight(candidate) / own })
        })
        .collect()
    }

    fn learn(&mut self, task: Task, observer: &mut dyn FnMut(&FitProgress) -> Control) -> Result<Candidate> {
        let mut learner = match self.learner.take() {
            Some(learner) => learner,
            None => self.learner(task)?,
        };
        let ended = take_steps(&mut learner, observer);
        let candidate = ended.and_then(|()| learned(task, &mut learner));
        if candidate.is_err() {
            self.learner = Some(learner); // what was learned so far can still be had
        }
        candidate
    }

    fn learner(&mut self, task: Task) -> Result<Learner> {
        let architecture = self.architecture(task)?;
        let choices = self.choices_of(task);
        let course = choices.course(&architecture.base)?;
        let parts = &self.parts[task.fold];
        let data = CourseData {
            family: parts.pieces.clone(),
            held_out: parts.held_out_pieces.clone().filter(|_| choices.patience > 0),
            seed: self.seed_of(task),
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

/// What forecasts members of several groups, each in its own way.
struct ByGroup {
    by_group: Vec<Blended<FollowingEnsemble>>,
    /// The group of each member.
    groups: Vec<usize>,
}

impl Forecaster for ByGroup {
    fn forecasts(&self, family: &Family, i: usize, origins: &[Origin]) -> Result<Vec<Forecast>> {
        self.by_group[self.groups[i]].forecasts(family, i, origins)
    }
}

/// What is remembered of members: their outputs, of some where there are very many.
fn remembered(members: &Family) -> Result<Family> {
    let most = (MOST_REMEMBERED / (members.max_time() * members.d_obs()).max(1)).max(1);
    let every: Vec<usize> = (0..members.n_seq()).collect();
    // Nobody needs to know who did it.
    let outputs = |i: usize| Sequence::new(i.to_string(), members.sequence(i).outputs().clone());
    Family::new(ending::spread_out(&every, most).into_iter().map(outputs).collect::<Result<_>>()?)
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
        let mut wish = observer(&FitProgress { stage, done, all, part: (0, 1), step: None });
        if wish == Control::Continue {
            let status = learner.run(&mut |step| {
                wish = observer(&FitProgress {
                    stage,
                    done: step.step,
                    all: step.steps,
                    part: (0, 1),
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

fn learned(task: Task, learner: &mut Learner) -> Result<Candidate> {
    let Some(fitted) = learner.fitted()? else {
        return Err(Error::setting("refine_steps", "learning ended before its first step"));
    };
    Ok(Candidate {
        task,
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
