//! What is known of a state after the last observation, as a function of the code.
//!
//! ```text
//! x_t(z)                          where the state is a function of θ
//! N(m_t(z, y_{1:t}), P_t(z))      where it is random: m, then F by rows, P = F Fᵀ
//! ```

use rayon::prelude::*;

use super::Points;
use super::carried::CarriedState;
use super::code::{generate, start_pack};
use crate::base::emission::Group;
use crate::base::kalman::lower_factor;
use crate::base::{Given, Likelihood};
use crate::kernel::{Arch, Kernel, LANES, Lanes, Pack, dispatch};
use crate::system::{Buffers, CodePacks, GroupInputs, System};

/// A model and what was observed of one sequence.
pub(crate) struct Observed<'a> {
    pub model: &'a System,
    pub parameters: &'a [f32],
    pub group: &'a Group<f32>,
    /// What is known of the state before the first step; `None` for the model's own.
    pub start: Option<&'a CarriedState>,
}

impl Observed<'_> {
    /// What is known after the last step, for each point: n × [`Base::d_belief`](crate::base::Base::d_belief).
    ///
    /// Factors are lower triangular with a diagonal that is not negative, so that they change smoothly with the code.
    pub(crate) fn beliefs(&self, points: &Points) -> Vec<f64> {
        if points.is_empty() {
            return vec![];
        }
        let starts = self.start.map_or(vec![], |start| start.states(points));
        let codes = CodePacks::<f32>::from_fn(points.len(), points.dim(), |i, d| points.column(d)[i]);
        let packs: Vec<Vec<f64>> = (0..codes.n_packs())
            .into_par_iter()
            .map(|pack| dispatch(BeliefPack { observed: self, codes: &codes, starts: &starts, pack }))
            .collect();
        let mut beliefs = packs.concat();
        let (n, width) = (self.model.base().d_state(), self.model.base().d_belief());
        if width > n {
            beliefs.chunks_exact_mut(width).for_each(|belief| lower_factor(&mut belief[n..]));
        }
        beliefs
    }
}

/// Sixteen points.
struct BeliefPack<'a> {
    observed: &'a Observed<'a>,
    codes: &'a CodePacks<f32>,
    starts: &'a [f64],
    pack: usize,
}

impl Kernel for BeliefPack<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn run<A: Arch>(self) -> Vec<f64> {
        let Observed { model, parameters, group, .. } = *self.observed;
        let base = model.base();
        let inputs = GroupInputs::<Pack<f32, A>>::new(group);
        let mut buffers = Buffers::new(model);
        generate(model, parameters, &base.noise(), &self.codes.pack::<A>(self.pack), &mut buffers);
        let start = start_pack(self.starts, base.d_belief(), self.pack * LANES, self.codes.len());
        let (theta, drive) = (&buffers.theta, inputs.drive(group));
        let given = Given { base, theta, start: start.as_deref(), drive, group };
        let mut likelihood = Likelihood::new(base, group);
        likelihood.run(given);
        likelihood.log_density(given, &mut [0.0; LANES]);
        let lanes = LANES.min(self.codes.len() - self.pack * LANES);
        let end = likelihood.end();
        (0..lanes).flat_map(|lane| end.iter().map(move |value| f64::from(value.lane(lane)))).collect()
    }
}
