//! Predicted outputs of given codes, in data-free model units.

use rayon::prelude::*;

use super::System;
use super::particles::{Buffers, CodePacks};
use crate::Result;
use crate::base::Drive;
use crate::base::emission::check_inputs;
use crate::family::Signal;
use crate::kernel::{Arch, Kernel, LANES, Lanes, Pack, Scalar, dispatch};

/// Where rollouts begin.
#[derive(Clone, Copy, Debug)]
pub enum Start<'a> {
    /// At the model's own initial state.
    Initial,
    /// At what is known of the states, one row per code: M × [`Base::d_belief`](crate::base::Base::d_belief).
    States(&'a [f64]),
}

/// Rollouts of M codes.
#[derive(Clone, Debug)]
pub struct Rollout {
    /// Number of codes M.
    pub n_codes: usize,
    /// Steps.
    pub n_time: usize,
    /// Predicted outputs, M × n_time × d_obs.
    pub outputs: Vec<f64>,
    /// State after the last step, M × d_state.
    pub last_states: Vec<f64>,
    /// Lower Cholesky factor of the emission covariance, M × d_obs × d_obs.
    pub noise_factors: Vec<f64>,
}

impl System {
    /// Rolls out `n_time` steps for each code.
    ///
    /// # Shapes
    /// `codes`: M × k; `inputs` (model units): what drives the base model, at least n_time × its d_input, required if it has any.
    ///
    /// # Errors
    /// Inputs that are too short or of the wrong width.
    pub fn simulate(
        &self,
        codes: &CodePacks<f32>,
        start: Start<'_>,
        inputs: Option<&Signal>,
        n_time: usize,
    ) -> Result<Rollout> {
        check_inputs(inputs, n_time, self.spec.base.d_input())?;
        let parts: Vec<Rollout> = (0..codes.n_packs())
            .into_par_iter()
            .map(|pack| dispatch(SimulatePack { model: self, codes, start, inputs, n_time, pack }))
            .collect();
        let mut all = Rollout {
            n_codes: codes.len(),
            n_time,
            outputs: vec![],
            last_states: vec![],
            noise_factors: vec![],
        };
        for part in parts {
            all.outputs.extend(part.outputs);
            all.last_states.extend(part.last_states);
            all.noise_factors.extend(part.noise_factors);
        }
        Ok(all)
    }
}

/// One pack of codes to roll out.
pub(crate) struct SimulatePack<'a> {
    model: &'a System,
    codes: &'a CodePacks<f32>,
    start: Start<'a>,
    inputs: Option<&'a Signal>,
    n_time: usize,
    pack: usize,
}

impl Kernel for SimulatePack<'_> {
    type Output = Rollout;

    #[inline(always)]
    fn run<A: Arch>(self) -> Rollout {
        let (model, base) = (self.model, &self.model.spec.base);
        let lanes = LANES.min(self.codes.len() - self.pack * LANES);
        let mut buffers = Buffers::<Pack<f32, A>>::new(model);
        buffers.generate(model, &model.parameters, &self.codes.pack::<A>(self.pack));
        let inputs: Vec<Pack<f32, A>> = self.inputs.map_or(vec![], |signal| {
            let rows = signal.rows().take(self.n_time);
            rows.flatten().map(|&u| Pack::splat(u as f32)).collect()
        });
        let quiet = vec![false; self.n_time];
        let (n, p, width) = (base.d_state(), base.d_obs(), base.d_belief());
        let start: Option<Vec<Pack<f32, A>>> = match self.start {
            Start::Initial => None,
            Start::States(states) => Some((0..width).map(|d| self.lane_states(states, width, d)).collect()),
        };
        let mut trace = base.trace(self.n_time);
        let drive = Drive { inputs: &inputs, quiet: &quiet };
        base.roll_out(&buffers.theta, start.as_deref(), drive, &mut trace);
        let last = &trace.states[self.n_time * n..];
        let each = |values: &[Pack<f32, A>]| -> Vec<f64> {
            (0..lanes).flat_map(|l| values.iter().map(move |v| f64::from(v.lane(l)))).collect()
        };
        let noise = base.noise();
        let noise_factors = (0..lanes).flat_map(|l| noise.cholesky(&buffers.theta, l)).collect::<Vec<_>>();
        debug_assert_eq!(noise_factors.len(), lanes * p * p);
        let (outputs, last_states) = (each(&trace.outputs), each(last));
        Rollout { n_codes: lanes, n_time: self.n_time, outputs, last_states, noise_factors }
    }
}

impl SimulatePack<'_> {
    fn lane_states<A: Arch>(&self, states: &[f64], n: usize, d: usize) -> Pack<f32, A> {
        let last = self.codes.len() - 1;
        Pack::from_fn(|l| states[(self.pack * LANES + l).min(last) * n + d] as f32)
    }
}
