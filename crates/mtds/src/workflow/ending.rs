//! Once parameters are learned: codes of new members, width of forecasts, codes of the members, a first judgement.

use super::fitting::{Candidate, FitProgress, FitStage, State};
use super::parts::{Known, Parts};
use super::{CalibrationRecord, Fit, FitRecord, NewMembersRecord, PriorRecord, Reason};
use super::{SelectionRow, StructureRow, selection};
use crate::engine::Device;
use crate::evaluate::{Baseline, BaselineSettings, Evaluated, Forecaster, Learned, OURS, Origins, evaluate};
use crate::family::{Family, Phase};
use crate::infer::{Followed, GaussianMixture, Online, Whole};
use crate::learn::{
    Calibration, Choices, ChosenPrior, Control, LeftOver, NewMembers, PriorSearch, RemainderRecord,
    RemainderRule, Wishes, evenly,
};
use crate::model::{Blend, CardScore, Companion, DataColumns, Member, Model, Provenance};
use crate::predict::usual_misfit;
use crate::random::Stream;
use crate::system::{Architecture, System};
use crate::{Error, Result};

/// Most sequences that are judged, evenly spaced, and the shortest of them.
const MOST_JUDGED: usize = 50;
const SHORTEST_JUDGED: usize = 4;

/// What a fit is compared with at its end.
const RIVALS: [Baseline; 6] = [
    Baseline::LastValue,
    Baseline::FamilyMean,
    Baseline::Nearest,
    Baseline::Ridge,
    Baseline::Fpca,
    Baseline::Gp,
];
/// Most steps times outputs of members for which rivals are learned that take them whole.
const MOST_ENTRIES: usize = 600;

/// What hears how far a fit is.
pub(super) type Observer<'o> = dyn FnMut(&FitProgress) -> Control + 'o;

/// What the end of a fit needs besides what was learned.
pub(super) struct Ending<'a> {
    pub(super) choices: &'a Choices,
    pub(super) parts: &'a Parts,
    pub(super) seed: u64,
    pub(super) device: &'a Device,
}

impl Ending<'_> {
    /// Finds out what is not known yet of a candidate.
    ///
    /// # Errors
    /// Sequences that the system cannot take; [`Error::Stopped`](crate::Error::Stopped), with what was found so far kept.
    pub(super) fn complete(
        &self,
        architecture: Architecture,
        candidate: &mut Candidate,
        observer: &mut Observer<'_>,
    ) -> Result<()> {
        if candidate.calibration.is_some() {
            return Ok(());
        }
        let scaling = self.choices.scaling.scaling(&self.parts.pieces)?;
        let learned = System::new(architecture, scaling, candidate.parameters.clone())?.on(self.device);
        let chosen = match candidate.prior.take() {
            Some(known) => known,
            None => {
                let mut search = std::mem::take(&mut candidate.search);
                let chosen = self.prior(&learned, &candidate.known, &mut search, observer);
                candidate.search = search;
                chosen?
            }
        };
        let system = learned.with_prior(candidate.prior.insert(chosen).prior.clone())?;
        if candidate.apart.is_none() {
            // By the learned noise: a length of the code is judged by what one step leaves unexplained.
            candidate.apart = Some(match &self.parts.apart {
                Some(family) => {
                    let (online, seed) = (self.choices.online(), self.seed);
                    selection::log_likelihoods(&system, &online, family, seed, &mut |_| {
                        observer(&progress(FitStage::Expecting, (1, 1)))
                    })?
                }
                None => vec![],
            });
        }
        if candidate.remainder.is_none() {
            candidate.remainder = Some(self.remainder(&system, observer)?);
        }
        candidate.calibration = Some(self.calibration(system, observer)?);
        Ok(())
    }

    /// How what codes leave over goes on.
    fn remainder(&self, system: &System, observer: &mut Observer<'_>) -> Result<RemainderRecord> {
        let phase = Phase::of(self.parts.training.input_names());
        let seen = if self.choices.segment > 0 { self.choices.segment } else { usize::MAX };
        let online = &self.choices.online();
        let left_over = LeftOver { system, online, phase, seen, seed: self.seed };
        match (self.choices.remainder, &self.parts.held_out) {
            (RemainderRule::Always, _) => {
                Ok(RemainderRecord { rule: Some(left_over.usual()), trials: vec![] })
            }
            (RemainderRule::Auto, Some(held_out)) => {
                announce(FitStage::Calibrating, observer)?;
                left_over.decided(held_out, &mut told(FitStage::Calibrating, observer))
            }
            _ => Ok(RemainderRecord::default()),
        }
    }

    fn prior(
        &self,
        learned: &System,
        known: &Known,
        search: &mut PriorSearch,
        observer: &mut Observer<'_>,
    ) -> Result<ChosenPrior> {
        announce(FitStage::Expecting, observer)?;
        let online = self.choices.online();
        let new_members = self.new_members((learned, &online), known);
        new_members.prior(self.choices.prior, search, &mut told(FitStage::Expecting, observer))
    }

    fn new_members<'s>(
        &'s self,
        (model, online): (&'s System, &'s Online),
        known: &'s Known,
    ) -> NewMembers<'s> {
        NewMembers {
            model,
            online,
            training: &self.parts.training,
            held_out: self.parts.held_out.as_ref(),
            known: [&known[0], &known[1]],
            std_dev: self.choices.prior_std,
            seed: self.seed,
        }
    }

    fn calibration(&self, system: System, observer: &mut Observer<'_>) -> Result<CalibrationRecord> {
        let Some(held_out) = self.parts.held_out.as_ref().filter(|_| self.choices.calibrate) else {
            return Ok(CalibrationRecord::default());
        };
        announce(FitStage::Calibrating, observer)?;
        let calibration = Calibration { online: &self.choices.online(), held_out, seed: self.seed };
        let found = calibration.of(system, &mut told(FitStage::Calibrating, observer))?;
        Ok(CalibrationRecord { factor: found.factor, trials: found.trials })
    }

    /// The system of a candidate of which everything is known.
    pub(super) fn system(&self, architecture: Architecture, candidate: &Candidate) -> Result<System> {
        let scaling = self.choices.scaling.scaling(&self.parts.pieces)?;
        let mut system = System::new(architecture, scaling, candidate.parameters.clone())?.on(self.device);
        if let Some(chosen) = &candidate.prior {
            system = system.with_prior(chosen.prior.clone())?;
        }
        system = system.with_remainder(candidate.remainder.as_ref().and_then(|found| found.rule))?;
        let factor = candidate.calibration.as_ref().map_or(1.0, |calibration| calibration.factor);
        Ok(system.clone().with_process_noise(factor)?.unwrap_or(system))
    }

    /// The code of every sequence of the family, given all of it; `done` has those of the first ones.
    pub(super) fn members(
        &self,
        (system, candidate): (&System, &Candidate),
        family: &Family,
        done: &mut Vec<Member>,
        observer: &mut Observer<'_>,
    ) -> Result<()> {
        announce(FitStage::Inferring, observer)?;
        let (online, k) = (self.choices.online(), system.d_code());
        let one = |i: usize, whole: Whole| {
            let ((id, label), posterior) = (family.identity(i), whole.posterior);
            Ok(Member {
                id,
                label,
                code_mean: posterior.mean()[..k].to_vec(),
                code_std_dev: posterior.std_dev()[..k].to_vec(),
            })
        };
        let known = self.known((system, &online), candidate, family.n_seq());
        let random = (self.seed, Stream::Member as fn(u64) -> Stream);
        let followed = Followed { model: system, online: &online, family, known: &known, random };
        let (n, mut tell) = (family.n_seq(), told(FitStage::Inferring, observer));
        followed.go_on(&(0..n).collect::<Vec<_>>(), &one, done, &mut |done| tell(done, n))
    }

    /// What is known of the codes of a family of `n`: by learning, and better by the choice of the prior.
    fn known(
        &self,
        with: (&System, &Online),
        candidate: &Candidate,
        n: usize,
    ) -> Vec<Option<GaussianMixture>> {
        let mut known = vec![None; n];
        for (numbers, codes) in self.parts.numbers.iter().zip(&candidate.known) {
            numbers.iter().zip(codes).for_each(|(&i, code)| known[i] = code.clone());
        }
        let [training, held_out] = &self.parts.numbers;
        let (new_members, search) = (self.new_members(with, &candidate.known), &candidate.search);
        let taught = new_members.teachers().into_iter().map(|i| training[i]);
        taught.zip(&search.teachers).for_each(|(i, code)| known[i] = Some(code.clone()));
        let asked = new_members.asked().into_iter().map(|i| held_out[i]);
        asked.zip(&search.held_out).for_each(|(i, code)| known[i] = code.clone());
        known
    }

    /// Forecasts by `ours` of sequences that learning did not see, after half of each, beside rivals that learned from the same ones;
    /// none where there are no such sequences. `like` is the system that rivals are like in size.
    pub(super) fn judged(
        &self,
        ours: &dyn Forecaster,
        like: &System,
        observer: &mut Observer<'_>,
    ) -> Result<Vec<Evaluated>> {
        let Some(family) = self.parts.judges() else { return Ok(vec![]) };
        announce(FitStage::Judging, observer)?;
        let long_enough = |&i: &usize| family.sequence(i).n_time() >= SHORTEST_JUDGED;
        let judged: Vec<usize> = (0..family.n_seq()).filter(long_enough).collect();
        let judged = evenly(&judged, MOST_JUDGED);
        let settings = BaselineSettings::of((&Origins::half(), family), self.seed);
        let mut rivals: Vec<(&str, Learned)> = vec![];
        for rival in self.rivals() {
            let learned = rival.learn(like, Some(&self.parts.training), &settings, &mut |_| {
                observer(&progress(FitStage::Judging, (0, 0)))
            });
            match learned {
                Err(Error::Stopped) => return Err(Error::Stopped),
                // A rival that cannot learn from so few, or such values, is no rival.
                learned => rivals.extend(learned.ok().map(|learned| (rival.title(), learned))),
            }
        }
        let theirs = rivals.iter().map(|(name, rival)| (*name, rival as &dyn Forecaster));
        let all: Vec<(&str, &dyn Forecaster)> = std::iter::once((OURS, ours)).chain(theirs).collect();
        let (n, n_all) = (judged.len(), all.len());
        let mut found = vec![];
        for (k, method) in all.into_iter().enumerate() {
            let mut tell = told(FitStage::Judging, observer);
            let mut tell = |done| tell(k * n + done, n_all * n);
            found.extend(evaluate(method, (family, &judged), &Origins::half(), &mut tell)?);
        }
        Ok(found)
    }

    /// What forecasts are compared with: those that know the family, too, where curves are short enough to learn them in no time.
    fn rivals(&self) -> &'static [Baseline] {
        if are_short(&self.parts.training) { &RIVALS } else { &Baseline::USUAL }
    }

    /// The model, with all that is known of it.
    pub(super) fn model(
        &self,
        (fit, family): (&Fit, &Family),
        state: &State,
        found: Found<'_>,
    ) -> Result<Model> {
        let Found { system, candidate, companions, blend, selection, structures } = found;
        let chosen = &state.structures[candidate.task.structure];
        // A fit that went no further than to forecasts knows none, or not of all.
        let are_known = state.members.len() == family.n_seq();
        let members = if are_known { state.members.clone() } else { vec![] };
        let judged = state.judged.clone().unwrap_or_default();
        let codes: Vec<Vec<f64>> = members.iter().map(|member| member.code_mean.clone()).collect();
        let n_seq = |part: &Option<Family>| part.as_ref().map_or(0, Family::n_seq);
        let record = FitRecord {
            // Of a comparison what was asked for is what makes it again; of one structure, every setting.
            settings: match self.choices.compare {
                true => Wishes { compare: Some(true), ..fit.wishes.clone() },
                false => Wishes::from(self.choices.clone()),
            },
            reasons: chosen
                .reasons
                .iter()
                .map(|choice| Reason { key: choice.key.clone(), why: choice.why.clone() })
                .collect(),
            selection,
            structures,
            new_members: NewMembersRecord {
                prior: candidate.prior.as_ref().map(PriorRecord::from).unwrap_or_default(),
                calibration: candidate.calibration.clone().unwrap_or_default(),
                remainder: candidate.remainder.clone().unwrap_or_default(),
            },
            judged: judged.rows,
            best_rival: judged.best_rival,
            status: candidate.status,
            best_validation: candidate.best_validation,
            explained: if are_known { system.explained(family, &codes)? } else { vec![] },
            usage: candidate.beliefs.as_ref().map(|beliefs| beliefs.usage.clone()),
            held_out_ids: self.parts.unseen(),
            n_training: self.parts.training.n_seq(),
            n_held_out: n_seq(&self.parts.held_out),
            n_apart: n_seq(&self.parts.apart),
            stages: candidate.stages.clone(),
        };
        let known = members.iter().enumerate().map(|(i, member)| {
            (member.code_mean.as_slice(), family.sequence(i).outputs(), family.inputs_of(i))
        });
        Ok(Model {
            usual_misfit: usual_misfit(&system, &known.collect::<Vec<_>>())?,
            system,
            companions,
            blend,
            online: self.choices.online(),
            columns: DataColumns {
                outputs: family.output_names().to_vec(),
                inputs: family.input_names().to_vec(),
                ..fit.columns.clone()
            },
            time_step: fit.time_step.clone(),
            provenance: Provenance::new(state.seed, family),
            members,
            segments: candidate.segments.clone(),
            network: candidate.beliefs.as_ref().and_then(|beliefs| beliefs.network.clone()),
            scores: CardScore::of(&record.judged),
            fit: Some(record),
        })
    }
}

/// What a fit found.
pub(super) struct Found<'a> {
    /// The system that codes are those of.
    pub(super) system: System,
    pub(super) candidate: &'a Candidate,
    /// Those that forecast beside it.
    pub(super) companions: Vec<Companion>,
    /// What forecasts beside systems.
    pub(super) blend: Blend,
    pub(super) selection: Vec<SelectionRow>,
    pub(super) structures: Vec<StructureRow>,
}

/// Whether members are short enough for ways to forecast that take them whole.
pub(super) fn are_short(family: &Family) -> bool {
    family.max_time() * family.d_obs() <= MOST_ENTRIES
}

/// At most `most` of these, evenly spread.
pub(super) fn spread_out(all: &[usize], most: usize) -> Vec<usize> {
    match all.len() {
        n if n <= most => all.to_vec(),
        n => (0..most).map(|k| all[k * n / most]).collect(),
    }
}

/// How far a stage is.
fn progress(stage: FitStage, (done, all): (usize, usize)) -> FitProgress<'static> {
    FitProgress { stage, done: done as u64, all: all as u64, part: (0, 1), whole: 0.0, step: None }
}

/// Says that a stage begins.
pub(super) fn announce(stage: FitStage, observer: &mut Observer<'_>) -> Result<()> {
    match observer(&progress(stage, (0, 0))) {
        Control::Stop => Err(Error::Stopped),
        Control::Continue => Ok(()),
    }
}

/// Sequences done and sequences in all, as progress of a stage.
pub(super) fn told<'o>(
    stage: FitStage,
    observer: &'o mut Observer<'_>,
) -> impl FnMut(usize, usize) -> Control + 'o {
    move |done, all| observer(&progress(stage, (done, all)))
}

impl From<&ChosenPrior> for PriorRecord {
    fn from(chosen: &ChosenPrior) -> Self {
        Self { spread: chosen.spread, trials: chosen.trials.clone() }
    }
}
