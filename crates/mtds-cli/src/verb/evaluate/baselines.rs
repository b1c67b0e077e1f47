//! Baselines, learned once from the training sequences, and their forecasts from each origin.

use super::rolling::{Origin, Rolling};
use super::say;
use crate::arguments::BaselineName;
use crate::plan::EvaluatePlan;
use crate::progress::{Progress, Stage};
use anyhow::{Context, Result};
use mtds::baseline::network::{GruForecaster, GruSettings, HeldOut, WarmUp};
use mtds::baseline::{PooledLds, PooledSettings, SingleTask, Spread, Subspace};
use mtds::family::SegmentPlan;
use mtds::learn::{Interpolation, ScalingRule, Schedule};
use mtds::predict::{Forecast, family_mean, last_value};
use mtds::random::{Stream, stream};
use mtds::{Control, Family, Lds, System};

/// Training sequences from which on the recurrent network holds some out.
const ENOUGH_TO_HOLD_OUT: usize = 8;
/// Longest segment that it learns from, unless seeds are longer.
const LONGEST_SEGMENT: usize = 256;

/// What was learned for the baselines that were asked for.
pub(super) struct Baselines<'a> {
    training: Vec<&'a [f64]>,
    pooled: Option<PooledLds>,
    gru: Option<GruForecaster>,
    single: Option<SingleTask>,
    seed: u64,
}

impl<'a> Baselines<'a> {
    /// Learns what was asked for.
    ///
    /// # Errors
    /// Training sequences that a linear system or a network cannot be learned from.
    pub(super) fn prepare(
        plan: &EvaluatePlan,
        model: &System,
        train: Option<&'a Family>,
        progress: &mut Progress,
    ) -> Result<Self> {
        let asked = |name| plan.against.contains(&name);
        let sequences = train.into_iter().flat_map(|family| family.sequences());
        let pooled = match train.filter(|_| asked(BaselineName::Pooled)) {
            Some(family) => {
                let subspace = Subspace { d_state: model.base().d_state(), ..Subspace::default() };
                let scaling = ScalingRule::InputUnits;
                let settings = PooledSettings { subspace, scaling, ..PooledSettings::default() };
                Some(PooledLds::fit(family, None, &settings, &mut |_| Control::Continue)?)
            }
            None => None,
        };
        let gru = train.filter(|_| asked(BaselineName::Gru));
        let gru = gru.map(|family| learn_gru(plan, family, progress)).transpose()?;
        if asked(BaselineName::Single) {
            say(
                plan,
                "note: `single` samples a posterior for every sequence and origin; this may take minutes",
            );
        }
        Ok(Self {
            training: sequences.map(|sequence| sequence.outputs().values()).collect(),
            pooled,
            gru,
            single: asked(BaselineName::Single).then(|| single(model)),
            seed: plan.common.seed,
        })
    }

    /// The forecasts of sequence `i`, one per origin.
    ///
    /// # Errors
    /// Sequences of other widths than those learned from.
    pub(super) fn forecasts(
        &self,
        name: BaselineName,
        rolling: &Rolling<'_>,
        i: usize,
    ) -> Result<Vec<Forecast>> {
        rolling.origins(i).into_iter().map(|origin| self.forecast(name, rolling.family, i, origin)).collect()
    }

    fn forecast(&self, name: BaselineName, family: &Family, i: usize, origin: Origin) -> Result<Forecast> {
        let (outputs, inputs) = (family.sequence(i).outputs(), family.inputs_of(i));
        let (Origin { seen, n_time }, d) = (origin, family.d_obs());
        match name {
            BaselineName::LastValue => {
                Ok(last_value(&self.training, outputs.slice(0..seen).values(), d, n_time)?)
            }
            BaselineName::FamilyMean => Ok(family_mean(&self.training, d, seen, n_time)?),
            BaselineName::Pooled => {
                let pooled = self.pooled.as_ref().context("no pooled system was learned")?;
                Ok(pooled.forecast(inputs, seen, n_time, Spread::ByStep)?)
            }
            BaselineName::Gru => {
                let gru = self.gru.as_ref().context("no recurrent network was learned")?;
                Ok(gru.forecast(&outputs.slice(0..seen), inputs, n_time)?)
            }
            BaselineName::Single => {
                let single = self.single.as_ref().context("no single-task model was made")?;
                // Independent between origins, and the same whichever others are asked for.
                let mut random = stream(self.seed, Stream::Single(((i as u64) << 20) + seen as u64));
                Ok(single.forecast(&outputs.slice(0..seen), inputs, n_time, &mut random)?.0)
            }
        }
    }
}

/// An open-loop network whose seeds are as long as what will have been seen.
fn learn_gru(plan: &EvaluatePlan, family: &Family, progress: &mut Progress) -> Result<GruForecaster> {
    let (units, steps) = plan.gru;
    let warm_up = WarmUp { shortest: plan.seen[0], longest: plan.seen[plan.seen.len() - 1] };
    let ahead = plan.horizon.unwrap_or(usize::MAX);
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
    progress.begin(Stage::Learning, steps);
    let fitted = GruForecaster::fit(family, None, &settings, plan.common.seed, &mut |now| {
        progress.advance(now.step, Some(now.bound));
        Control::Continue
    })?;
    progress.end();
    Ok(fitted.network)
}

/// A linear system with the state size and in the units of the model; without inputs it needs a start to move from.
fn single(model: &System) -> SingleTask {
    let base = model.base();
    let task = SingleTask::new(Lds::new(base.d_state(), base.d_obs(), base.d_input()));
    let task = if base.d_input() == 0 { task.prior("initial_state", 0.0, 1.0) } else { task };
    task.scaling(model.scaling().clone())
}
