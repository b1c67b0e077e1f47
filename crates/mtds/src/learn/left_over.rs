//! Whether, and how, what codes leave over goes on in forecasts: by sequences that learning did not see.
//!
//! ```text
//! e_k,i = mean of (y − ŷ)² over the steps after the first ones of held-out sequence i, in deviations of an output, with setting k
//! k chosen: the least mean of e_k; without a phase none in its place, unless it is below that by more than its standard error
//! ```
//! Where inputs tell a phase, as those of motions do, what is left over always goes on: held-out sequences are like those that were learned from, and leave less
//! over than one in a style of its own does.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::new_members::FEWEST;
use super::{Control, evenly};
use crate::family::{Family, Phase};
use crate::infer::Online;
use crate::predict::{Estimate, Own, PriorWeight, Remainder};
use crate::random::{Stream, stream};
use crate::system::System;
use crate::{Error, Result};

/// Most sequences that are asked.
const MOST: usize = 16;
/// Most steps that are forecast.
const LONGEST: usize = 200;
/// Steps until the rest has faded that are tried, the last of which did best on recordings of walks.
const FADINGS: [f64; 2] = [8.0, 32.0];

/// Whether what a code leaves over of the steps seen goes on in forecasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemainderRule {
    /// Where inputs tell a phase, or held-out sequences are forecast better by it.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// One setting that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemainderTrial {
    /// The setting.
    pub rule: Remainder,
    /// Its mean squared error less that of forecasts without, in squared deviations of an output: below 0 it is better.
    pub less: Estimate,
}

/// What is added to forecasts, and what was tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemainderRecord {
    /// How it goes on; `None` where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Remainder>,
    /// What was tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<RemainderTrial>,
}

impl RemainderRecord {
    pub(crate) fn is_empty(&self) -> bool {
        self.rule.is_none() && self.trials.is_empty()
    }
}

/// How it is decided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeftOver<'a> {
    pub(crate) system: &'a System,
    /// How codes are inferred.
    pub(crate) online: &'a Online,
    /// Where inputs tell a phase, by the columns of the family.
    pub(crate) phase: Option<Phase>,
    /// Most steps that are seen before a forecast; half of a sequence where it has fewer than twice as many.
    pub(crate) seen: usize,
    pub(crate) seed: u64,
}

impl LeftOver<'_> {
    fn fading(&self, fading: f64) -> Remainder {
        Remainder { weight: PriorWeight::Found(Own::Own), fading, phase: self.phase }
    }

    /// What did best elsewhere.
    pub(crate) fn usual(&self) -> Remainder {
        self.fading(FADINGS[FADINGS.len() - 1])
    }

    /// By forecasts of sequences that were held out; none where they are too few. `progress` may stop the work.
    ///
    /// # Errors
    /// Sequences that the system cannot take; [`Error::Stopped`].
    pub(crate) fn decided(
        &self,
        held_out: &Family,
        progress: &mut dyn FnMut(usize, usize) -> Control,
    ) -> Result<RemainderRecord> {
        let long_enough: Vec<usize> =
            (0..held_out.n_seq()).filter(|&i| held_out.sequence(i).n_time() >= 4).collect();
        let asked = evenly(&long_enough, MOST);
        let rules = FADINGS.map(|fading| self.fading(fading));
        if asked.len() < FEWEST {
            return Ok(RemainderRecord::default());
        }
        if progress(0, asked.len()) == Control::Stop {
            return Err(Error::Stopped);
        }
        let of = |&i: &usize| self.errors((held_out, i), &rules);
        let errors = asked.par_iter().map(of).collect::<Result<Vec<_>>>()?;
        let trial = |(k, &rule): (usize, &Remainder)| {
            let less: Vec<f64> = errors.iter().map(|errors| errors[k + 1] - errors[0]).collect();
            Estimate::of(&less).map(|less| RemainderTrial { rule, less })
        };
        let trials: Vec<RemainderTrial> = rules.iter().enumerate().filter_map(trial).collect();
        let best = trials.iter().min_by(|a, b| a.less.mean.total_cmp(&b.less.mean));
        let goes_on = |trial: &&RemainderTrial| {
            self.phase.is_some() || trial.less.mean + trial.less.std_error.unwrap_or(0.0) < 0.0
        };
        let rule = best.filter(goes_on).map(|trial| trial.rule);
        if progress(asked.len(), asked.len()) == Control::Stop {
            return Err(Error::Stopped);
        }
        Ok(RemainderRecord { rule, trials })
    }

    /// Mean squared error of forecasts of one sequence: without, then by each rule.
    fn errors(&self, (family, i): (&Family, usize), rules: &[Remainder]) -> Result<Vec<f64>> {
        let (outputs, inputs) = (family.sequence(i).outputs(), family.inputs_of(i));
        let seen = self.seen.clamp(1, outputs.n_time() / 2);
        let n_time = (outputs.n_time() - seen).min(LONGEST);
        let (past, truth) = (outputs.slice(0..seen), outputs.slice(seen..seen + n_time));
        let online = self.online.with_few_updates(seen);
        let random = || stream(self.seed, Stream::LeftOver(i as u64));
        let past_inputs = inputs.map(|inputs| inputs.slice(0..seen));
        let mut tracker = self.system.track(&past, past_inputs.as_ref(), online, random())?;
        let posterior = tracker.update()?.clone();
        let error = |rule: Option<Remainder>| {
            let system = self.system.clone().with_remainder(rule)?;
            let mean = system.forecast(&posterior, &past, inputs, n_time, &mut random())?.mean();
            let (d, scaling) = (truth.width(), system.scaling());
            let square = |(at, y): (usize, &f64)| ((y - mean[at]) / scaling.scale(at % d)).powi(2);
            let squares: Vec<f64> =
                truth.values().iter().enumerate().filter(|(_, y)| !y.is_nan()).map(square).collect();
            Ok(squares.iter().sum::<f64>() / squares.len().max(1) as f64)
        };
        std::iter::once(None).chain(rules.iter().copied().map(Some)).map(error).collect()
    }
}
