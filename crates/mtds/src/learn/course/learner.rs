//! A course in progress: stages one after another, each with a trainer of its own.

use super::{
    Course, CourseCheckpoint, CourseData, CutFrom, Fitted, LearnedBeliefs, PriorStart, Refine, RefineRule,
    Stage, StageRecord, StartRule, VariationalRefine, broken,
};
use crate::infer::GaussianMixture;
use crate::learn::elbo::{CodeUsage, VariationalObjective};
use crate::learn::{
    Adapted, AdaptedObjective, Control, History, InferenceNetwork, LearnedNetwork, MonteCarloObjective,
    Outcome, Progress, Proposal, RunEnd, Trainer,
};
use crate::random::{Stream, stream};
use crate::system::{Architecture, System};
use crate::{Error, Result};

/// A course in progress.
pub struct Learner {
    course: Course,
    data: CourseData,
    /// The architecture, with the parameters that learning began with.
    first: System,
    finished: Vec<StageRecord>,
    running: Running,
}

/// The stage in progress.
enum Running {
    Effects,
    Prior(Box<Trainer<MonteCarloObjective>>),
    Refine(Box<Trainer<AdaptedObjective>>),
    Variational(Box<Trainer<VariationalObjective>>),
}

impl Learner {
    /// Before the first step.
    ///
    /// # Errors
    /// Settings out of range, a family that does not fit the architecture.
    pub fn new(course: Course, spec: Architecture, data: CourseData) -> Result<Self> {
        let first = first_model(&course, spec, &data)?;
        let running = match &course.start {
            StartRule::Effects(_) => Running::Effects,
            StartRule::Curves(_) | StartRule::Responses(_) => Running::Effects,
            StartRule::Prior(start) => {
                let parameters = first.parameters().to_vec();
                let objective = prior_objective(start, &first, &data)?;
                let trainer = Trainer::new(
                    objective,
                    parameters,
                    start.plan.clone(),
                    stream(data.seed, Stream::Training),
                )?;
                Running::Prior(Box::new(trainer))
            }
            StartRule::None => begin(&course.refine, first.clone(), &data, None)?,
        };
        Ok(Self { course, data, first, finished: vec![], running })
    }

    /// Goes on from a checkpoint, with the settings and data of the course that made it.
    ///
    /// # Errors
    /// [`Error::Store`] when the checkpoint does not fit; else as [`Learner::new`].
    pub fn resume(
        course: Course,
        spec: Architecture,
        data: CourseData,
        from: CourseCheckpoint,
    ) -> Result<Self> {
        let first = first_model(&course, spec, &data)?;
        let running = match (from.stage, &course.start, &course.refine, from.trainer) {
            (
                Stage::Start,
                StartRule::Effects(_) | StartRule::Curves(_) | StartRule::Responses(_),
                _,
                None,
            ) => Running::Effects,
            (Stage::Start, StartRule::Prior(start), _, Some(trainer)) => {
                let objective = prior_objective(start, &first, &data)?;
                Running::Prior(Box::new(Trainer::resume(objective, trainer)?))
            }
            (Stage::Refine, _, RefineRule::Adapted(refine), Some(trainer)) => {
                // The checkpoint brings the proposals; these only say how many there are.
                let any = vec![Proposal::prior(first.d_code()); data.family.n_seq()];
                let objective = adapted(&refine.objective, first.clone(), &data, Some(any))?;
                Running::Refine(Box::new(Trainer::resume(objective, trainer)?))
            }
            (Stage::Variational, _, RefineRule::Variational(refine), Some(trainer)) => {
                let objective = variational(refine, first.clone(), &data)?;
                Running::Variational(Box::new(Trainer::resume(objective, trainer)?))
            }
            _ => {
                return Err(broken(
                    "it is of another way to learn; resume with the settings it was made with",
                ));
            }
        };
        Ok(Self { course, data, first, finished: from.finished, running })
    }

    /// Refines a system that was started in another way, with what is known of the codes.
    ///
    /// # Errors
    /// As [`Learner::new`].
    pub fn after(
        course: Course,
        system: System,
        proposals: Option<Vec<Proposal>>,
        data: CourseData,
    ) -> Result<Self> {
        let running = begin(&course.refine, system.clone(), &data, proposals)?;
        Ok(Self { course, data, first: system, finished: vec![], running })
    }

    /// Takes all steps that are left, or as many as `observer` lets it.
    ///
    /// # Errors
    /// As [`Learner::run`].
    pub fn finish(mut self, observer: &mut dyn FnMut(&Progress) -> Control) -> Result<Fitted> {
        loop {
            let mut wish = Control::Continue;
            let status = self.run(&mut |step| {
                wish = observer(step);
                wish
            })?;
            if status != RunEnd::Interrupted || wish == Control::Stop {
                break;
            }
        }
        self.fitted()?.ok_or_else(|| Error::setting("steps", "learning ended before its first step"))
    }

    /// Takes the steps of the stage in progress, and prepares the next one at its end.
    ///
    /// [`RunEnd::Interrupted`] says that there is more to do: `observer` said stop, or a stage ended and another
    /// has begun. Call again to go on.
    ///
    /// # Errors
    /// Numbers that stop being finite; the last good step can still be had from
    /// [`checkpoint`](Self::checkpoint).
    pub fn run(&mut self, observer: &mut dyn FnMut(&Progress) -> Control) -> Result<RunEnd> {
        match &mut self.running {
            Running::Refine(trainer) => Ok(trainer.run(observer)?.status),
            Running::Variational(trainer) => Ok(trainer.run(observer)?.status),
            Running::Prior(trainer) => {
                let outcome = trainer.run(observer)?;
                if outcome.status == RunEnd::Interrupted {
                    return Ok(RunEnd::Interrupted);
                }
                if self.course.refine == RefineRule::None {
                    return Ok(outcome.status);
                }
                let model = self.first.clone().with_parameters(outcome.parameters)?;
                self.go_on(model, None, StageRecord::new(outcome.step, outcome.history))
            }
            Running::Effects => {
                let (spec, scaling) = (self.first.spec(), self.first.scaling());
                let effects = match &self.course.start {
                    StartRule::Effects(effects) => effects,
                    StartRule::Curves(curves) => {
                        let best = curves.run(&self.first, &self.data.family)?;
                        return self.go_on(
                            best.model,
                            Some(best.proposals),
                            StageRecord::new(1, History::new(2)),
                        );
                    }
                    StartRule::Responses(responses) => {
                        let codes = responses.codes(&self.first, &self.data.family)?;
                        let record = StageRecord::new(1, History::new(2));
                        return self.go_on(self.first.clone(), Some(codes), record);
                    }
                    _ => return Err(broken("it is of another way to learn")),
                };
                let started = effects.run(spec, scaling, &self.data.family, 1, self.data.seed)?;
                let Some(best) = started.into_iter().next() else {
                    return Err(Error::Diverged {
                        step: effects.steps,
                        what: "every random-effects start".into(),
                        last_good: None,
                    });
                };
                let record = StageRecord::new(effects.steps, History::new(2));
                self.go_on(best.model, Some(best.proposals), record)
            }
        }
    }

    /// From the start to refinement.
    fn go_on(
        &mut self,
        model: System,
        proposals: Option<Vec<Proposal>>,
        record: StageRecord,
    ) -> Result<RunEnd> {
        let proposals = match (&self.course.refine, proposals) {
            // What the start knows of each code is worth keeping.
            (RefineRule::Variational(refine), None) if refine.network.is_none() => {
                let found = adapted(&Adapted::default(), model.clone(), &self.data, None)?;
                Some(found.proposals().to_vec())
            }
            (_, known) => known,
        };
        self.running = begin(&self.course.refine, model, &self.data, proposals)?;
        self.finished.push(record);
        Ok(RunEnd::Interrupted)
    }

    /// The stage in progress.
    #[must_use]
    pub fn stage(&self) -> Stage {
        match self.running {
            Running::Effects | Running::Prior(_) => Stage::Start,
            Running::Refine(_) => Stage::Refine,
            Running::Variational(_) => Stage::Variational,
        }
    }

    /// The step that the stage in progress has come to, and how many it has; random effects count as one.
    #[must_use]
    pub fn steps(&self) -> (u64, u64) {
        match &self.running {
            Running::Effects => (0, 1),
            Running::Prior(trainer) => trainer.steps(),
            Running::Refine(trainer) => trainer.steps(),
            Running::Variational(trainer) => trainer.steps(),
        }
    }

    /// Everything that [`Learner::resume`] needs.
    #[must_use]
    pub fn checkpoint(&self) -> CourseCheckpoint {
        let trainer = match &self.running {
            Running::Effects => None,
            Running::Prior(trainer) => Some(trainer.checkpoint()),
            Running::Refine(trainer) => Some(trainer.checkpoint()),
            Running::Variational(trainer) => Some(trainer.checkpoint()),
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
        let of_model = outcome.parameters[..self.first.n_parameters()].to_vec();
        let model = self.first.clone().with_parameters(of_model)?;
        Ok(Some(Fitted { model, outcome }))
    }

    /// What variational learning leaves beside the model; `None` for the other ways to learn.
    ///
    /// # Errors
    /// None in practice, as [`Learner::fitted`].
    pub fn beliefs(&mut self) -> Result<Option<LearnedBeliefs>> {
        let Running::Variational(trainer) = &mut self.running else { return Ok(None) };
        let parameters = trainer.outcome().parameters;
        let usage = CodeUsage::of(&trainer.objective_mut().codes_at(&parameters)?);
        let RefineRule::Variational(refine) = &self.course.refine else { return Ok(None) };
        let network = match refine.network {
            None => None,
            Some(units) => {
                let network = InferenceNetwork::for_model(&self.first, units)?;
                let weights = trainer.objective().beliefs_at(&parameters)?.to_vec();
                Some(LearnedNetwork::new(network, weights)?)
            }
        };
        Ok(Some(LearnedBeliefs { usage, network }))
    }

    /// What learning knows of the code of every sequence or segment that it learned from, and of every one that was held out, one Gaussian
    /// each: `None` for one that is none, all of them left out where learning keeps nothing of codes.
    ///
    /// # Errors
    /// None in practice, as [`Learner::fitted`].
    pub fn codes(&mut self) -> Result<[Vec<Option<GaussianMixture>>; 2]> {
        match &mut self.running {
            Running::Effects | Running::Prior(_) => Ok(Default::default()),
            Running::Refine(trainer) => {
                let parameters = trainer.outcome().parameters;
                let learned = trainer.objective().proposals().iter().map(Proposal::mixture).collect();
                let held_out = trainer.objective_mut().held_out_proposals(&parameters);
                Ok([learned, held_out.iter().map(Proposal::mixture).collect()])
            }
            Running::Variational(trainer) => {
                let parameters = trainer.outcome().parameters;
                let codes = trainer.objective_mut().codes_at(&parameters)?;
                let learned = (0..codes.len()).map(|j| codes.mixture(j).ok()).collect();
                Ok([learned, trainer.objective_mut().held_out_codes_at(&parameters)?])
            }
        }
    }

    fn outcome(&self) -> Option<Outcome> {
        match &self.running {
            Running::Effects => None,
            Running::Prior(trainer) => Some(trainer.outcome()),
            Running::Refine(trainer) => Some(trainer.outcome()),
            Running::Variational(trainer) => Some(trainer.outcome()),
        }
    }
}

impl StageRecord {
    fn new(steps: u64, history: History) -> Self {
        Self { stage: Stage::Start, steps, history }
    }
}

fn first_model(course: &Course, spec: Architecture, data: &CourseData) -> Result<System> {
    let scaling = course.scaling.scaling(&data.family)?;
    let first = System::initialise(spec, scaling, &mut stream(data.seed, Stream::Initialise))?;
    Ok(first.on(&data.device))
}

/// The refinement of `model`, before its first step.
fn begin(
    rule: &RefineRule,
    model: System,
    data: &CourseData,
    proposals: Option<Vec<Proposal>>,
) -> Result<Running> {
    match rule {
        RefineRule::Adapted(refine) => {
            let Refine { objective, plan } = &**refine;
            let parameters = model.parameters().to_vec();
            let objective = adapted(objective, model, data, proposals)?;
            Ok(Running::Refine(Box::new(Trainer::new(
                objective,
                parameters,
                plan.clone(),
                stream(data.seed, Stream::Refinement),
            )?)))
        }
        RefineRule::None => {
            Err(Error::setting("refine", "found none; only a start from the prior can do without"))
        }
        RefineRule::Variational(refine) => {
            let objective = variational(refine, model, data)?;
            let parameters = match proposals.filter(|_| refine.network.is_none()) {
                Some(known) => objective.parameters_at(&known)?,
                None => objective.first_parameters(&mut stream(data.seed, Stream::FirstCodes)),
            };
            let trainer = Trainer::new(
                objective,
                parameters,
                refine.plan.clone(),
                stream(data.seed, Stream::Refinement),
            )?;
            Ok(Running::Variational(Box::new(trainer)))
        }
    }
}

fn prior_objective(start: &PriorStart, model: &System, data: &CourseData) -> Result<MonteCarloObjective> {
    MonteCarloObjective::new(model.clone(), &data.family, None, start.objective.clone())
}

fn adapted(
    settings: &Adapted,
    model: System,
    data: &CourseData,
    proposals: Option<Vec<Proposal>>,
) -> Result<AdaptedObjective> {
    match proposals {
        None => AdaptedObjective::new(model, &data.family, data.held_out.as_ref(), settings.clone()),
        Some(known) => AdaptedObjective::from_proposals(
            model,
            &data.family,
            data.held_out.as_ref(),
            settings.clone(),
            known,
        ),
    }
}

fn variational(refine: &VariationalRefine, model: System, data: &CourseData) -> Result<VariationalObjective> {
    let settings = refine.objective.clone();
    let objective = match refine.network {
        None => VariationalObjective::new(model, &data.family, data.held_out.as_ref(), settings)?,
        Some(units) => {
            let network = InferenceNetwork::for_model(&model, units)?;
            let families = (&data.family, data.held_out.as_ref());
            VariationalObjective::amortised(model, families, settings, network)?
        }
    };
    match &data.cut_from {
        Some(CutFrom { family, origins }) => objective.cut_from(family, origins),
        None => Ok(objective),
    }
}
