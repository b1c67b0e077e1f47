//! What members that were held out decide: how much structures and ways count, and how forecasts are judged by what others decided.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::comparison::{self, Decision};
use super::ending::{Observer, announce, told};
use super::fitting::{Candidate, Fitting, Task};
use super::record::Judged;
use super::{FitStage, StructureRow, ending, weights};
use crate::baseline::OfRounds;
use crate::evaluate::{Baseline, Following, FollowingEnsemble, Forecaster, Origin, Updates};
use crate::family::{Family, Sequence, made_from};
use crate::infer::{self, Ensemble};
use crate::learn::Control;
use crate::model::{Blend, Blended, Companion, Remembered};
use crate::predict::Forecast;
use crate::random::Stream;
use crate::{Error, Result};

/// Share of the members that ways do without when they forecast these.
const LEFT_OUT: f64 = 0.05;
/// Most members of a fold that decide how much structures count, and most values that are remembered of members.
const MOST_ASKED: usize = 60;
const MOST_REMEMBERED: usize = 1_000_000;

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

impl Fitting {
    /// How much each structure and each way counts, by the members that each fold held out; nothing where none is compared.
    pub(super) fn compared(&self, observer: &mut Observer<'_>) -> Result<Compared> {
        if !self.choices().compare || !self.state.select_code.is_empty() {
            return Ok(Compared::default());
        }
        let scaling = self.choices().scaling.scaling(&self.parts[0].pieces)?;
        let units: Vec<f64> = (0..self.family.d_obs()).map(|c| scaling.scale(c)).collect();
        let origins = comparison::origins(&self.family);
        announce(FitStage::Comparing, observer)?;
        let mut tell = told(FitStage::Comparing, observer);
        let (ways, rounds) = (self.ways(&mut |_, _| tell(0, 0))?, self.rounds());
        let n_asked: usize = rounds.iter().map(|round| round.asked.len()).sum();
        let (mut cases, mut done) = (vec![], 0);
        for Round { fold, held_out, asked, others } in rounds {
            let of_fold = self.state.candidates.iter().filter(|candidate| candidate.task.fold == fold);
            let following = of_fold.map(|candidate| self.following(candidate)).collect::<Result<Vec<_>>>()?;
            let others = remembered(&self.family, &others)?;
            let mut learned =
                |way: &Baseline| way.of_members_observed(&others, &mut |_, _| tell(done, n_asked));
            let of_members = ways.iter().map(&mut learned).collect::<Result<Vec<_>>>()?;
            let systems = following.iter().map(|one| one as &dyn Forecaster);
            let of_members = of_members.iter().map(|one| one as &dyn Forecaster);
            let forecasting: Vec<&dyn Forecaster> = systems.chain(of_members).collect();
            let members: Vec<(usize, usize)> = asked.iter().map(|&i| (i, self.group(fold, i))).collect();
            cases.extend(comparison::cases(&forecasting, held_out, &members, (&origins, &units))?);
            done += asked.len();
            if tell(done, n_asked) == Control::Stop {
                return Err(Error::Stopped);
            }
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
        let without = (0..self.n_groups()).map(|group| decided(&|other| other != group).0).collect();
        Ok(Compared { ways, decision: Some(decision), without, rows })
    }

    /// Ways to forecast from what members did that every fold can learn; none where members are long.
    fn ways(&self, observer: &mut OfRounds<'_>) -> Result<Vec<Baseline>> {
        let mut ways = vec![];
        for way in Baseline::OF_MEMBERS.into_iter().filter(|_| ending::are_short(&self.family)) {
            let mut learns = true;
            for part in &self.parts {
                let learned =
                    outputs_of(&part.training).and_then(|of| way.of_members_observed(&of, observer));
                match learned {
                    Err(Error::Stopped) => return Err(Error::Stopped),
                    learned => learns &= learned.is_ok(),
                }
            }
            ways.extend(learns.then_some(way));
        }
        Ok(ways)
    }

    /// The members that are asked, a few at a time.
    ///
    /// Systems forecast what their fold held out, and stay as they are in the model. Ways will remember all members there, so that
    /// here they remember all but those that are asked: with a fifth of a dozen less they would look worse than they are.
    fn rounds(&self) -> Vec<Round<'_>> {
        let (n, made_from) = (self.family.n_seq(), made_from(&self.family));
        let at_once = ((LEFT_OUT * n as f64) as usize).max(1);
        let mut rounds = vec![];
        for (fold, part) in self.parts.iter().enumerate() {
            let Some(held_out) = &part.held_out else { continue };
            for asked in ending::spread_out(&held_out.observed(), MOST_ASKED).chunks(at_once) {
                // What is made from a member, such as its mirror image, is no other.
                let own: Vec<usize> = asked.iter().map(|&i| made_from[part.numbers[1][i]]).collect();
                let others = (0..n).filter(|&i| !own.contains(&made_from[i])).collect();
                rounds.push(Round { fold, held_out, asked: asked.to_vec(), others });
            }
        }
        rounds
    }

    /// Groups of members, each of which the others decide for: those of a fold, or two of the only one.
    fn n_groups(&self) -> usize {
        self.parts.len().max(2)
    }

    fn group(&self, fold: usize, member: usize) -> usize {
        if self.parts.len() > 1 { fold } else { member % 2 }
    }

    /// What forecasts beside systems, and how wide forecasts are.
    pub(super) fn blend(&self, ways: &[Baseline], decision: &Decision, members: &Family) -> Result<Blend> {
        let weights = &decision.weights[self.state.structures.len()..];
        let kept: Vec<usize> = (0..ways.len()).filter(|&k| weights[k] > 0.0).collect();
        let ways: Vec<(Baseline, f64)> = kept.iter().map(|&k| (ways[k], weights[k])).collect();
        let remembered = match ways.is_empty() {
            true => None,
            false => Some(Remembered::new(Arc::new(outputs_of(members)?), ways, decision.by_seen.of(&kept))),
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
    pub(super) fn judge(
        &self,
        leader: &Candidate,
        compared: &Compared,
        observer: &mut Observer<'_>,
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
    pub(super) fn leader(&self, decision: &Decision) -> usize {
        weights::leader(&decision.weights, self.state.structures.len())
    }

    /// All other candidates, and how much each counts where that one counts 1.
    pub(super) fn companions(&self, leader: usize, decision: &Decision) -> Result<Vec<Companion>> {
        let systems: f64 = decision.weights[..self.state.structures.len()].iter().sum();
        let weight = |candidate: &Candidate| decision.weights[candidate.task.structure] / systems;
        let own = weight(&self.state.candidates[leader]);
        let others = self.state.candidates.iter().enumerate().filter(|(i, _)| *i != leader);
        let kept = others.filter(|(_, candidate)| weight(candidate) > 0.0);
        kept.map(|(_, candidate)| {
            let online = self.choices_of(candidate.task).online();
            Ok(Companion {
                system: self.system(candidate)?,
                online,
                weight: weight(candidate) / own,
                held_out_ids: self.parts[candidate.task.fold].unseen(),
            })
        })
        .collect()
    }
}

/// Members that are asked at once.
struct Round<'a> {
    fold: usize,
    held_out: &'a Family,
    /// Who is asked, among those held out.
    asked: Vec<usize>,
    /// Who is not, in the whole family.
    others: Vec<usize>,
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

/// What is remembered of a family.
fn outputs_of(family: &Family) -> Result<Family> {
    remembered(family, &(0..family.n_seq()).collect::<Vec<_>>())
}

/// What is remembered of these members: their outputs, of some where there are very many.
fn remembered(family: &Family, members: &[usize]) -> Result<Family> {
    let most = (MOST_REMEMBERED / (family.max_time() * family.d_obs()).max(1)).max(1);
    // Nobody needs to know who did it.
    let outputs = |i: usize| Sequence::new(i.to_string(), family.sequence(i).outputs().clone());
    Family::new(ending::spread_out(members, most).into_iter().map(outputs).collect::<Result<_>>()?)
}
