//! What a model is compared with, learned once from training sequences and asked from every origin.

use serde::{Deserialize, Serialize};

use super::{Forecaster, Origin, Origins};
use crate::base::Lds;
use crate::baseline::network::{GruForecaster, GruSettings, HeldOut, WarmUp};
use crate::baseline::{
    FactorCurves, NearestMembers, OfRounds, PooledLds, PooledSettings, RidgeRegression, SharedProcess,
    SingleTask, Spread, Subspace,
};
use crate::family::{Family, SegmentPlan, Sequence, Signal};
use crate::infer::Observer;
use crate::learn::{Control, Interpolation, Progress, ScalingRule, Schedule};
use crate::predict::{Forecast, family_mean, last_value};
use crate::random::{Stream, stream};
use crate::system::System;
use crate::{Error, Result};

/// Training sequences from which on the recurrent network holds some out.
const ENOUGH_TO_HOLD_OUT: usize = 8;
/// Longest segment that it learns from, unless seeds are longer.
const LONGEST_SEGMENT: usize = 256;

/// A way to forecast that is not a multi-task system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Baseline {
    /// The last value holds.
    LastValue,
    /// The mean of the training sequences at each step.
    FamilyMean,
    /// Futures of the training sequences whose beginnings are near.
    Nearest,
    /// Ridge regression of each future step on what was seen.
    Ridge,
    /// Functional principal components of the training sequences.
    Fpca,
    /// A Gaussian process in common and one for each sequence.
    Gp,
    /// One linear system for all training sequences.
    Pooled,
    /// A gated recurrent network for all training sequences: takes its time to learn.
    Gru,
    /// A linear system for each sequence on its own, by NUTS: slow.
    Single,
}

impl Baseline {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::LastValue,
        Self::FamilyMean,
        Self::Nearest,
        Self::Ridge,
        Self::Fpca,
        Self::Gp,
        Self::Pooled,
        Self::Gru,
        Self::Single,
    ];

    /// Those that forecast from what members did, step by step.
    pub const OF_MEMBERS: [Self; 4] = [Self::Nearest, Self::Ridge, Self::Fpca, Self::Gp];

    /// What anyone could do without learning: beside these a forecast is judged where nobody says with what.
    pub const USUAL: [Self; 2] = [Self::LastValue, Self::FamilyMean];

    /// As a person types it: [`Baseline::title`] as one word.
    #[must_use]
    pub fn name(self) -> String {
        self.title().replace(' ', "-")
    }

    /// The one of this name.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the names that there are.
    pub fn named(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name).ok_or_else(|| Error::Unknown {
            kind: "baseline",
            name: name.to_owned(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }

    /// In tables.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::LastValue => "last value",
            Self::FamilyMean => "family mean",
            Self::Nearest => "nearest",
            Self::Ridge => "ridge",
            Self::Fpca => "fpca",
            Self::Gp => "gp",
            Self::Pooled => "pooled",
            Self::Gru => "gru",
            Self::Single => "single",
        }
    }

    /// Whether it learns from training sequences.
    #[must_use]
    pub fn needs_training(self) -> bool {
        self != Self::Single
    }

    /// What forecasts in this way, learned from `training` where it needs to be.
    ///
    /// `like` is the system that it is compared with: a linear system gets its size of state, and its units. `observer` sees
    /// how far learning is, where that takes rounds, and may stop it.
    ///
    /// # Errors
    /// No training sequences where they are needed, or such that it cannot be learned from; [`Error::Stopped`].
    pub fn learn(
        self,
        like: &System,
        training: Option<&Family>,
        settings: &BaselineSettings,
        observer: &mut dyn FnMut(&BaselineProgress) -> Control,
    ) -> Result<Learned> {
        let mut wish = Control::Continue;
        let observer = &mut |heard: &BaselineProgress| {
            wish = observer(heard);
            wish
        };
        let learned = self.learned(like, training, settings, observer)?;
        // A run that was stopped gives what it has: that is not what is compared with.
        match wish {
            Control::Continue => Ok(learned),
            Control::Stop => Err(Error::Stopped),
        }
    }

    fn learned(
        self,
        like: &System,
        training: Option<&Family>,
        settings: &BaselineSettings,
        observer: &mut dyn FnMut(&BaselineProgress) -> Control,
    ) -> Result<Learned> {
        let needed = || {
            training.ok_or_else(|| {
                Error::setting("training", format!("found none, which `{}` learns from", self.title()))
            })
        };
        let outputs = |family: &Family| -> Vec<Vec<f64>> {
            family.sequences().iter().map(|sequence| sequence.outputs().values().to_vec()).collect()
        };
        Ok(match self {
            Self::LastValue => Learned::LastValue(outputs(needed()?)),
            Self::FamilyMean => Learned::FamilyMean(outputs(needed()?)),
            Self::Nearest | Self::Ridge | Self::Fpca | Self::Gp => {
                let rounds = &mut |done, all| observer(&BaselineProgress::of_rounds(done, all));
                Learned::OfMembers(self.of_members_observed(needed()?, rounds)?)
            }
            Self::Pooled => {
                let subspace = Subspace { d_state: like.base().d_state(), ..Subspace::default() };
                let settings = PooledSettings {
                    subspace,
                    scaling: ScalingRule::InputUnits,
                    ..PooledSettings::default()
                };
                let steps = &mut |step: &Progress| observer(&BaselineProgress::of_step(step));
                Learned::Pooled(Box::new(PooledLds::fit(needed()?, None, &settings, steps)?))
            }
            Self::Gru => {
                let steps = &mut |step: &Progress| observer(&BaselineProgress::of_step(step));
                Learned::Gru(Box::new(settings.gru(needed()?, steps)?))
            }
            Self::Single => Learned::Single(Box::new(single(like)), settings.seed),
        })
    }
}

impl Baseline {
    /// What forecasts in this way from what members did.
    ///
    /// # Errors
    /// Members that it cannot be learned from; a way that is none of [`Baseline::OF_MEMBERS`].
    pub(crate) fn of_members(self, members: &Family) -> Result<OfMembers> {
        self.of_members_observed(members, &mut |_, _| Control::Continue)
    }

    /// [`Baseline::of_members`] whose `observer` is told rounds done and in all, and may stop it.
    ///
    /// # Errors
    /// As [`Baseline::of_members`]; [`Error::Stopped`].
    pub(crate) fn of_members_observed(
        self,
        members: &Family,
        observer: &mut OfRounds<'_>,
    ) -> Result<OfMembers> {
        Ok(match self {
            Self::Nearest => OfMembers::Nearest(Box::new(NearestMembers::fit(members)?)),
            Self::Ridge => OfMembers::Ridge(Box::new(RidgeRegression::fit(members)?)),
            Self::Fpca => OfMembers::Fpca(Box::new(FactorCurves::fit_observed(members, observer)?)),
            Self::Gp => OfMembers::Gp(Box::new(SharedProcess::fit_observed(members, observer)?)),
            Self::LastValue | Self::FamilyMean | Self::Pooled | Self::Gru | Self::Single => {
                let why = format!("found `{}`; expected one that needs members alone", self.title());
                return Err(Error::setting("way", why));
            }
        })
    }
}

/// How far the learning of a baseline is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BaselineProgress {
    /// Steps or rounds done.
    pub step: u64,
    /// Steps or rounds in all, at most.
    pub steps: u64,
    /// The bound, or the log likelihood, that was reached, where it is known.
    pub bound: Option<f64>,
}

impl BaselineProgress {
    fn of_step(progress: &Progress) -> Self {
        Self { step: progress.step, steps: progress.steps, bound: Some(progress.bound) }
    }

    fn of_rounds(done: usize, all: usize) -> Self {
        Self { step: done as u64, steps: all as u64, bound: None }
    }
}

/// What baselines need to know beside their training sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BaselineSettings {
    /// Fewest and most steps that will have been seen.
    pub seen: (usize, usize),
    /// Most steps that will be forecast; `None` to the end.
    pub horizon: Option<usize>,
    /// Units of the recurrent network, and most steps of its learning.
    pub network: (usize, u64),
    /// Seed of all randomness.
    pub seed: u64,
}

impl BaselineSettings {
    /// Units of the recurrent network, and most steps of its learning, unless others are asked for.
    pub const NETWORK: (usize, u64) = (64, 1500);

    /// For forecasts of this family from these origins.
    #[must_use]
    pub fn of((origins, family): (&Origins, &Family), seed: u64) -> Self {
        let lengths = || family.sequences().iter().map(Sequence::n_time);
        let seen = || lengths().flat_map(|n_time| origins.seen.iter().map(move |seen| seen.steps_of(n_time)));
        let seen = (seen().min().unwrap_or(1).max(1), seen().max().unwrap_or(1).max(1));
        Self { seen, horizon: origins.horizon, network: Self::NETWORK, seed }
    }

    /// An open-loop network whose seeds are as long as what will have been seen.
    fn gru(&self, family: &Family, observer: &mut dyn FnMut(&Progress) -> Control) -> Result<GruForecaster> {
        let (units, steps) = self.network;
        let warm_up = WarmUp { shortest: self.seen.0, longest: self.seen.1 };
        let ahead = self.horizon.unwrap_or(usize::MAX);
        let length = warm_up.longest.saturating_add(ahead).min(LONGEST_SEGMENT.max(2 * warm_up.longest));
        let held_out = match family.n_seq() {
            ENOUGH_TO_HOLD_OUT.. => HeldOut::Sequences(0.125),
            _ => HeldOut::Nothing,
        };
        let mut settings = GruSettings {
            units: vec![units],
            warm_up,
            segments: Some(SegmentPlan { length, overlap: length / 2 }),
            held_out,
            ..GruSettings::default()
        };
        settings.plan.steps = steps;
        settings.plan.learning_rate = match steps {
            1 => Schedule::constant(5e-3)?,
            _ => Schedule::new(Interpolation::Log, vec![(1, 5e-3), (steps, 2e-4)])?,
        };
        settings.plan.clip_norm = Some(1.0);
        Ok(GruForecaster::fit(family, None, &settings, self.seed, observer)?.network)
    }
}

/// A linear system with the state size and in the units of the model; without inputs it needs a start to move from.
fn single(like: &System) -> SingleTask {
    let base = like.base();
    let task = SingleTask::new(Lds::new(base.d_state(), base.d_obs(), like.d_input()));
    let task = if like.d_input() == 0 { task.prior("initial_state", 0.0, 1.0) } else { task };
    task.scaling(like.scaling().clone())
}

/// A baseline that is ready to forecast.
#[derive(Debug)]
pub enum Learned {
    /// [`Baseline::LastValue`], with the training outputs.
    LastValue(Vec<Vec<f64>>),
    /// [`Baseline::FamilyMean`], likewise.
    FamilyMean(Vec<Vec<f64>>),
    /// One of [`Baseline::OF_MEMBERS`].
    OfMembers(OfMembers),
    /// [`Baseline::Pooled`].
    Pooled(Box<PooledLds>),
    /// [`Baseline::Gru`].
    Gru(Box<GruForecaster>),
    /// [`Baseline::Single`], with the seed of its chains.
    Single(Box<SingleTask>, u64),
}

/// What forecasts from what members did: steps of a sequence, one beside the other.
#[derive(Debug)]
pub enum OfMembers {
    /// [`Baseline::Nearest`].
    Nearest(Box<NearestMembers>),
    /// [`Baseline::Ridge`].
    Ridge(Box<RidgeRegression>),
    /// [`Baseline::Fpca`].
    Fpca(Box<FactorCurves>),
    /// [`Baseline::Gp`].
    Gp(Box<SharedProcess>),
}

impl OfMembers {
    /// The forecast of the `n_time` steps after `past`, in data units.
    ///
    /// # Errors
    /// Another number of outputs; no steps asked for.
    pub(crate) fn forecast(&self, past: &Signal, n_time: usize) -> Result<Forecast> {
        self.forecast_observed(past, n_time, &|| Control::Continue)
    }

    /// [`OfMembers::forecast`] that ends when `observe` says so.
    ///
    /// # Errors
    /// As [`OfMembers::forecast`]; [`Error::Stopped`].
    fn forecast_observed(&self, past: &Signal, n_time: usize, observe: &Observer<'_>) -> Result<Forecast> {
        match self {
            Self::Nearest(nearest) => nearest.forecast(past, n_time, observe),
            Self::Ridge(ridge) => ridge.forecast(past, n_time, observe),
            Self::Fpca(factors) => factors.forecast(past, n_time),
            Self::Gp(process) => process.forecast(past, n_time),
        }
    }

    /// Steps that members show.
    pub(crate) fn n_time(&self) -> usize {
        match self {
            Self::Nearest(nearest) => nearest.n_time(),
            Self::Ridge(ridge) => ridge.n_time(),
            Self::Fpca(factors) => factors.n_time(),
            Self::Gp(process) => process.n_time(),
        }
    }
}

impl Forecaster for OfMembers {
    fn forecasts(&self, family: &Family, i: usize, origins: &[Origin]) -> Result<Vec<Forecast>> {
        let outputs = family.sequence(i).outputs();
        origins.iter().map(|origin| self.forecast(&outputs.slice(0..origin.seen), origin.n_time)).collect()
    }
}

impl Forecaster for Learned {
    fn forecasts(&self, family: &Family, i: usize, origins: &[Origin]) -> Result<Vec<Forecast>> {
        self.forecasts_observed((family, i), origins, &|| Control::Continue)
    }

    fn forecasts_observed(
        &self,
        (family, i): (&Family, usize),
        origins: &[Origin],
        observe: &Observer<'_>,
    ) -> Result<Vec<Forecast>> {
        let (outputs, inputs, d) = (family.sequence(i).outputs(), family.inputs_of(i), family.d_obs());
        let one = |&Origin { seen, n_time }: &Origin| match self {
            _ if observe() == Control::Stop => Err(Error::Stopped),
            Self::LastValue(training) => {
                let training: Vec<&[f64]> = training.iter().map(Vec::as_slice).collect();
                last_value(&training, outputs.slice(0..seen).values(), d, n_time)
            }
            Self::FamilyMean(training) => {
                let training: Vec<&[f64]> = training.iter().map(Vec::as_slice).collect();
                family_mean(&training, d, seen, n_time)
            }
            Self::OfMembers(way) => way.forecast_observed(&outputs.slice(0..seen), n_time, observe),
            Self::Pooled(pooled) => pooled.forecast(inputs, seen, n_time, Spread::ByStep),
            Self::Gru(gru) => gru.forecast(&outputs.slice(0..seen), inputs, n_time),
            Self::Single(single, seed) => {
                // Independent between origins, and the same whichever others are asked for.
                let mut random = stream(*seed, Stream::Single(((i as u64) << 20) + seen as u64));
                let past = outputs.slice(0..seen);
                Ok(single.forecast_observed((&past, inputs), n_time, &mut random, observe)?.0)
            }
        };
        origins.iter().map(one).collect()
    }
}

#[cfg(test)]
#[path = "baselines_tests.rs"]
mod tests;
