//! The prior over codes of new members, chosen by how likely it makes sequences that learning did not see.
//!
//! ```text
//! normal       z ~ N(0, τ² I)
//! aggregate    z ~ (1 − ε) 1/N Σ_i N(m_i, S_i + h² I) + ε N(0, τ² I)        i: members that taught the model
//! ```
//! Learning assumes codes that fill N(0, I). Members that come in kinds leave gaps, and a code in a gap is like no
//! member: there the aggregate says more after few observations. A density estimated after learning is an old remedy
//! for such gaps (Ghosh et al. 2020, *From Variational to Deterministic Autoencoders*, section 4); here the posteriors'
//! own spread takes part in it, and held-out evidence decides on h and on whether it is used at all.

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::family::Family;
use crate::generator::{AroundMembers, Prior};
use crate::infer::{Followed, GaussianMixture, Online, Whole};
use crate::learn::Control;
use crate::predict::Estimate;
use crate::random::{Stream, stream};
use crate::system::System;

/// Widths h that are tried, in standard deviations of the prior that learning assumes.
const SPREADS: [f64; 3] = [0.1, 0.3, 0.6];
/// Width where nothing is held out to choose it by.
const USUAL_SPREAD: f64 = 0.3;
/// Share ε of new members that are like none before.
const STRANGERS: f64 = 0.1;
/// Most members whose codes make the aggregate, and most components that are made of them.
const MOST_MEMBERS: usize = 500;
const MOST_COMPONENTS: usize = 128;
/// Most held-out sequences that are asked.
const MOST_HELD_OUT: usize = 100;
/// Fewest held-out sequences that anything about new members is decided by.
pub(crate) const FEWEST: usize = 5;
/// Standard errors by which the aggregate has to be ahead.
const CLEARLY: f64 = 2.0;

/// Which prior over codes new members get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PriorRule {
    /// The aggregate where held-out sequences are clearly more likely under it; else the normal one.
    Auto,
    /// N(0, τ² I).
    Normal,
    /// Around the codes of the members that taught the model.
    Aggregate,
}

/// What one prior came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PriorTrial {
    /// Width h around members.
    pub spread: f64,
    /// How much more likely held-out sequences are under it than under the normal one: nats per sequence.
    pub ahead: Estimate,
}

/// A prior, and how it was chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChosenPrior {
    /// The prior.
    pub prior: Prior,
    /// Width h of an aggregate; `None` for the normal one.
    pub spread: Option<f64>,
    /// What was tried on held-out sequences.
    pub trials: Vec<PriorTrial>,
}

/// What was found on the way to a prior: a choice that was stopped goes on from there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriorSearch {
    /// Codes of those who taught the model under the normal prior; their numbers are those of [`NewMembers::teachers`].
    pub teachers: Vec<GaussianMixture>,
    /// Log evidences of held-out sequences under the normal prior, then under one of each spread.
    evidences: [Evidences; 1 + SPREADS.len()],
    /// What is known of their codes under the normal prior; their numbers are those of [`NewMembers::asked`].
    pub held_out: Vec<Option<GaussianMixture>>,
}

/// Log evidences of sequences in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
struct Evidences(#[serde(with = "crate::store::number::list")] Vec<f64>);

/// A learned model and the sequences by which a prior is made and chosen.
#[derive(Clone, Copy, Debug)]
pub struct NewMembers<'a> {
    /// The model; its prior is replaced.
    pub model: &'a System,
    /// How codes of new members are inferred.
    pub online: &'a Online,
    /// Sequences that it was learned from, whole.
    pub training: &'a Family,
    /// Sequences that it was not.
    pub held_out: Option<&'a Family>,
    /// What learning knows of the codes of each training sequence, and of each held-out one; empty where it knows nothing.
    pub known: [&'a [Option<GaussianMixture>]; 2],
    /// Standard deviation τ of the normal prior.
    pub std_dev: f64,
    /// Seed of all randomness.
    pub seed: u64,
}

impl NewMembers<'_> {
    /// Held-out sequences that are asked: at most a hundred, evenly spaced, so that the work is bounded; none where they are too few to decide.
    #[must_use]
    pub fn asked(&self) -> Vec<usize> {
        let asked = self.held_out.map_or(vec![], |family| evenly(&family.observed(), MOST_HELD_OUT));
        if asked.len() >= FEWEST { asked } else { vec![] }
    }

    /// Those who say where codes of new members lie: at most five hundred, evenly spaced, of which few components are made.
    #[must_use]
    pub fn teachers(&self) -> Vec<usize> {
        evenly(&self.training.observed(), MOST_MEMBERS)
    }

    /// The prior by this rule; `found` has what is known already, and gets what is found. `progress` is told sequences done and
    /// sequences in all, and may stop the work.
    ///
    /// # Errors
    /// Sequences that the model cannot take; a standard deviation out of range.
    pub fn prior(
        &self,
        rule: PriorRule,
        found: &mut PriorSearch,
        progress: &mut dyn FnMut(usize, usize) -> Control,
    ) -> Result<ChosenPrior> {
        let asked = self.asked();
        let held_out = self.held_out.filter(|_| !asked.is_empty());
        let teachers = self.teachers();
        let is_choice = rule != PriorRule::Auto || held_out.is_some();
        if rule == PriorRule::Normal || !is_choice || teachers.is_empty() {
            return Ok(self.normal(vec![]));
        }
        let all = teachers.len() + (1 + SPREADS.len()) * asked.len();
        let codes = self.codes(&teachers, &mut found.teachers, &mut |done| progress(done, all))?;
        let Some(held_out) = held_out else { return self.aggregate(&codes, USUAL_SPREAD, vec![]) };
        let mut tell = |done| progress(teachers.len() + done, all);
        let trials = self.trials(&codes, (held_out, &asked), found, &mut tell)?;
        match best(&trials).cloned() {
            Some(best) if rule == PriorRule::Aggregate || is_clear(&best.ahead) => {
                self.aggregate(&codes, best.spread, trials)
            }
            _ => Ok(self.normal(trials)),
        }
    }

    /// What is known of the codes of those who taught the model.
    fn codes(
        &self,
        teachers: &[usize],
        found: &mut Vec<GaussianMixture>,
        progress: &mut dyn FnMut(usize) -> Control,
    ) -> Result<GaussianMixture> {
        let model = self.with_prior(self.normal(vec![]).prior)?;
        let (online, family, known) = (self.online, self.training, self.known[0]);
        let random = (self.seed, Stream::Teacher as fn(u64) -> Stream);
        let followed = Followed { model: &model, online, family, known, random };
        followed.go_on(teachers, &|_, whole| followed.code_of(&whole), found, progress)?;
        let parts: Vec<(f64, &GaussianMixture)> = found.iter().map(|code| (1.0, code)).collect();
        GaussianMixture::average(&parts)?.reduced(MOST_COMPONENTS, &mut stream(self.seed, Stream::Reduction))
    }

    /// How likely held-out sequences are under each aggregate, compared with the normal prior. Where their codes lie under that one says
    /// where to look under the others.
    fn trials(
        &self,
        codes: &GaussianMixture,
        (held_out, asked): (&Family, &[usize]),
        found: &mut PriorSearch,
        progress: &mut dyn FnMut(usize) -> Control,
    ) -> Result<Vec<PriorTrial>> {
        let n = asked.len();
        let random = (self.seed, Stream::HeldOut as fn(u64) -> Stream); // the same for every prior
        let online = self.online;
        let PriorSearch { evidences: [normal, around @ ..], held_out: beliefs, .. } = found;
        let model = &self.with_prior(self.normal(vec![]).prior)?;
        let followed = Followed { model, online, family: held_out, known: self.known[1], random };
        let mut both = vec![(0.0, None); beliefs.len()]; // these are known
        let keep = |_, whole: Whole| Ok((whole.log_evidence, whole.posterior.mixture().cloned()));
        let looked = followed.go_on(asked, &keep, &mut both, progress);
        for (evidence, belief) in both.into_iter().skip(beliefs.len()) {
            normal.0.push(evidence);
            beliefs.push(belief);
        }
        looked?;
        let mut known = vec![None; held_out.n_seq()];
        asked.iter().zip(beliefs.iter()).for_each(|(&i, belief)| known[i] = belief.clone());
        let mut trials = vec![];
        for (k, (spread, Evidences(own))) in SPREADS.into_iter().zip(around).enumerate() {
            let model = &self.with_prior(self.around(codes, spread)?)?;
            let followed = Followed { model, online, family: held_out, known: &known, random };
            let mut tell = |done| progress((1 + k) * n + done);
            followed.go_on(asked, &|_, whole| Ok(whole.log_evidence), own, &mut tell)?;
            let ahead: Vec<f64> = own.iter().zip(&normal.0).map(|(own, normal)| own - normal).collect();
            trials.extend(Estimate::of(&ahead).map(|ahead| PriorTrial { spread, ahead }));
        }
        Ok(trials)
    }

    fn with_prior(&self, prior: Prior) -> Result<System> {
        self.model.clone().with_prior(prior)
    }

    fn around(&self, codes: &GaussianMixture, spread: f64) -> Result<Prior> {
        Prior::around(codes, &AroundMembers { spread, strangers: STRANGERS, std_dev: self.std_dev })
    }

    fn normal(&self, trials: Vec<PriorTrial>) -> ChosenPrior {
        ChosenPrior { prior: Prior::Normal { std_dev: self.std_dev }, spread: None, trials }
    }

    fn aggregate(
        &self,
        codes: &GaussianMixture,
        spread: f64,
        trials: Vec<PriorTrial>,
    ) -> Result<ChosenPrior> {
        Ok(ChosenPrior { prior: self.around(codes, spread)?, spread: Some(spread), trials })
    }
}

/// The trial that is furthest ahead; one that is no number never is.
fn best(trials: &[PriorTrial]) -> Option<&PriorTrial> {
    let numbers = trials.iter().filter(|trial| !trial.ahead.mean.is_nan());
    numbers.max_by(|a, b| a.ahead.mean.total_cmp(&b.ahead.mean))
}

fn is_clear(ahead: &Estimate) -> bool {
    ahead.std_error.is_some_and(|std_error| ahead.mean > CLEARLY * std_error)
}

/// At most `most` of these, evenly spaced.
pub(crate) fn evenly(all: &[usize], most: usize) -> Vec<usize> {
    match all.len() <= most {
        true => all.to_vec(),
        false => (0..most).map(|i| all[i * all.len() / most]).collect(),
    }
}
