//! What drives the base model: the inputs themselves, what the front makes of them, or they and a clock.

use std::ops::Range;

use super::{Architecture, System};
use crate::Result;
use crate::base::emission::{Batch, Group, check_inputs};
use crate::family::{Family, Signal};
use crate::front::FrontReading;
use crate::kernel::Real;

/// Where the front of one sequence is: nothing without a front, or before the first step.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FrontState(pub(crate) Option<Vec<f32>>);

impl System {
    /// A family (data units) as the base model or the front before it meets it: in model units, with the clock beside its inputs.
    ///
    /// # Errors
    /// As [`Scaling::apply`](crate::family::Scaling::apply).
    pub fn in_model_units(&self, family: &Family) -> Result<Family> {
        self.spec.with_clock(self.scaling.apply(family)?)
    }

    /// A family (as [`System::in_model_units`] gives it) arranged for scoring.
    #[must_use]
    pub fn batch<R: Real>(&self, family: &Family) -> Batch<R> {
        match self.seed_steps() {
            0 => Batch::new(family),
            steps => Batch::seeded(family, steps),
        }
    }

    /// Steps whose outputs are told to the front and not scored.
    pub(crate) fn seed_steps(&self) -> usize {
        self.spec.front.map_or(0, |front| front.seed_steps())
    }

    /// First of so many steps in which a front may still be finding its state: twice those that are not scored, half of them at most.
    pub(crate) fn settling(&self, n_time: usize) -> usize {
        (2 * self.seed_steps()).min(n_time / 2)
    }

    /// What drives the base model in these steps, given their inputs in model units; `state` is where the front is before them, and is
    /// left where they end.
    ///
    /// `seed` are the first outputs of the sequence (model units), for fronts that encode them; it counts at the
    /// beginning only.
    ///
    /// # Errors
    /// Inputs that are missing or of the wrong width.
    pub(crate) fn drive(
        &self,
        inputs: Option<Signal>,
        steps: Range<usize>,
        seed: Option<&Signal>,
        state: &mut FrontState,
    ) -> Result<Option<Signal>> {
        if let Some(clock) = self.spec.clock {
            check_inputs(inputs.as_ref(), steps.len(), self.d_input())?;
            return clock.beside(inputs.as_ref(), steps).map(Some);
        }
        let Some(front) = self.spec.front else { return Ok(inputs) };
        check_inputs(inputs.as_ref(), 0, front.d_input)?;
        let Some(inputs) = inputs else { return Ok(None) };
        let values: Vec<f32> = inputs.values().iter().map(|&u| u as f32).collect();
        let seed = seed.map_or(vec![], |outputs| seed_of(outputs, front.seed_steps()));
        let reading = FrontReading { inputs: &values, seed: &seed };
        let (features, end) = self.engine.features(self, reading, state.0.as_deref());
        state.0 = Some(end);
        let features = features.into_iter().map(f64::from).collect();
        Signal::new(inputs.n_time(), front.d_out(), features).map(Some)
    }

    /// One sequence (model units) arranged for scoring, and where its front is at the end of it.
    ///
    /// # Errors
    /// Outputs that are infinite (NaN is a missing one); inputs shorter than the outputs or of the wrong width.
    pub(crate) fn group_with_front<R: Real>(
        &self,
        outputs: &Signal,
        inputs: Option<&Signal>,
    ) -> Result<(Group<R>, FrontState)> {
        check_inputs(inputs, outputs.n_time(), self.d_input())?;
        let mut state = FrontState::default();
        let inputs = inputs.map(|inputs| inputs.slice(0..outputs.n_time()));
        let drive = self.drive(inputs, 0..outputs.n_time(), Some(outputs), &mut state)?;
        let mut group = Group::single(outputs, drive.as_ref(), self.base().d_input())?;
        group.set_apart(self.seed_steps());
        Ok((group, state))
    }

    /// One sequence (model units) arranged for scoring.
    ///
    /// # Errors
    /// Outputs that are infinite (NaN is a missing one); inputs shorter than the outputs or of the wrong width.
    pub fn group<R: Real>(&self, outputs: &Signal, inputs: Option<&Signal>) -> Result<Group<R>> {
        self.group_with_front(outputs, inputs).map(|(group, _)| group)
    }
}

impl Architecture {
    /// A family (model units) with the clock, if there is one, beside its inputs.
    pub(crate) fn with_clock(&self, family: Family) -> Result<Family> {
        let Some(clock) = self.clock else { return Ok(family) };
        family.with_inputs_from(|inputs, n_time| clock.beside(inputs, 0..n_time))
    }
}

/// The first outputs as an encoder reads them.
fn seed_of(outputs: &Signal, steps: usize) -> Vec<f32> {
    let value = |y: &f64| if y.is_nan() { 0.0 } else { *y as f32 };
    let seen = |y: &f64| f32::from(u8::from(!y.is_nan()));
    outputs.rows().take(steps).flat_map(|row| row.iter().map(value).chain(row.iter().map(seen))).collect()
}
