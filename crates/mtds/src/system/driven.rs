//! What drives the base model: the inputs themselves, or what the front makes of them.

use super::{OwnBatch, System};
use crate::Result;
use crate::base::emission::{Batch, Group, check_inputs};
use crate::family::{Family, Signal};
use crate::front::{FrontPass, FrontReading};
use crate::kernel::Real;

/// The front after a pass over the sequences of a batch.
#[derive(Debug)]
pub(crate) struct Driven {
    pass: FrontPass,
}

impl Driven {
    /// What drives the base model in sequence, or group, `i`: n_time × d_input of the base model.
    pub(crate) fn features(&self, i: usize) -> &[f32] {
        &self.pass.features[i]
    }
}

/// Where the front of one sequence is: nothing without a front, or before the first step.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FrontState(pub(crate) Option<Vec<f32>>);

impl System {
    /// A family (in model units) arranged for scoring.
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

    /// Runs the front over the groups of a batch; `None` without one.
    pub(crate) fn drive_groups(&self, parameters: &[f32], batch: &Batch<f32>) -> Option<Driven> {
        let readings = batch.groups.iter().map(|g| FrontReading { inputs: &g.inputs, seed: &g.seed });
        self.run_front(parameters, &readings.collect::<Vec<_>>())
    }

    /// Runs the front over whole sequences, however they are cut into windows; `None` without one.
    pub(crate) fn drive_own(&self, parameters: &[f32], batch: &OwnBatch) -> Option<Driven> {
        self.spec.front?;
        let inputs: Vec<Vec<f32>> = batch.windows().map(joined_inputs).collect();
        let readings = batch.windows().zip(&inputs).map(|(windows, inputs)| {
            let seed = windows.first().map_or(&[][..], |first| &first.seed);
            FrontReading { inputs, seed }
        });
        self.run_front(parameters, &readings.collect::<Vec<_>>())
    }

    fn run_front(&self, parameters: &[f32], readings: &[FrontReading<'_>]) -> Option<Driven> {
        let front = self.spec.front?;
        let mut pass = FrontPass::default();
        front.run(&parameters[self.front_range()], readings, &mut pass);
        Some(Driven { pass })
    }

    /// Adds what gradients with respect to features give to that of the front's parameters.
    pub(crate) fn pull_front(&self, driven: Option<Driven>, d_features: &[Vec<f32>], gradient: &mut [f32]) {
        if let (Some(front), Some(mut driven)) = (self.spec.front, driven) {
            front.adjoint(d_features, &mut driven.pass, &mut gradient[self.front_range()]);
        }
    }

    /// What drives the base model, given inputs in model units, from `state` on, which is left where the inputs end.
    ///
    /// `seed` are the first outputs of the sequence (model units), for fronts that encode them; it counts at the
    /// beginning only.
    ///
    /// # Errors
    /// Inputs that are missing or of the wrong width.
    pub(crate) fn drive(
        &self,
        inputs: Option<Signal>,
        seed: Option<&Signal>,
        state: &mut FrontState,
    ) -> Result<Option<Signal>> {
        let Some(front) = self.spec.front else { return Ok(inputs) };
        check_inputs(inputs.as_ref(), 0, front.d_input)?;
        let Some(inputs) = inputs else { return Ok(None) };
        let values: Vec<f32> = inputs.values().iter().map(|&u| u as f32).collect();
        let seed = seed.map_or(vec![], |outputs| seed_of(outputs, front.seed_steps()));
        let reading = FrontReading { inputs: &values, seed: &seed };
        let parameters = &self.parameters[self.front_range()];
        let (features, end) = front.run_on(parameters, reading, state.0.as_deref());
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
        let drive = self.drive(inputs, Some(outputs), &mut state)?;
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

/// The inputs of all windows.
fn joined_inputs(windows: &[Group<f32>]) -> Vec<f32> {
    windows.iter().flat_map(|window| &window.inputs).copied().collect()
}

/// The first outputs as an encoder reads them.
fn seed_of(outputs: &Signal, steps: usize) -> Vec<f32> {
    let value = |y: &f64| if y.is_nan() { 0.0 } else { *y as f32 };
    let seen = |y: &f64| f32::from(u8::from(!y.is_nan()));
    outputs.rows().take(steps).flat_map(|row| row.iter().map(value).chain(row.iter().map(seen))).collect()
}
