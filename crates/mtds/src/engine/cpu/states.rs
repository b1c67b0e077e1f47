//! States and outputs by code: rollouts, steps ahead of random states, what is known after observations.

use rand::RngExt;
use rayon::prelude::*;

use super::packs::{Buffers, by_lane, n_packs, pack_of, starts_of, used_lanes};
use crate::base::emission::Noise;
use crate::base::kalman::{Belief, Matrices, lower_factor};
use crate::base::{GroupInputs, Likelihood, RolloutInputs, Subject};
use crate::engine::{Codes, FutureSteps, Observed, Rollout, Starts, StepsAhead, Trial};
use crate::family::Signal;
use crate::kernel::{Arch, Kernel, LANES, Pack, Scalar, dispatch};
use crate::random::{Random, stream};
use crate::system::System;

/// [`Engine::simulate`](crate::engine::Engine::simulate).
pub(super) fn simulate(system: &System, codes: &Codes, from: FutureSteps<'_>) -> Rollout {
    let parts: Vec<Rollout> = (0..n_packs(codes))
        .into_par_iter()
        .map(|pack| dispatch(SimulatePack { system, codes, from, pack }))
        .collect();
    let mut all = Rollout { n_codes: codes.len(), n_time: from.n_time, ..Rollout::default() };
    for part in parts {
        all.outputs.extend(part.outputs);
        all.last_states.extend(part.last_states);
        all.noise_factors.extend(part.noise_factors);
    }
    all
}

/// One pack of codes to roll out.
struct SimulatePack<'a> {
    system: &'a System,
    codes: &'a Codes,
    from: FutureSteps<'a>,
    pack: usize,
}

impl Kernel for SimulatePack<'_> {
    type Output = Rollout;

    #[inline(always)]
    fn run<A: Arch>(self) -> Rollout {
        let (base, n_time) = (self.system.base(), self.from.n_time);
        let used = used_lanes(self.codes, self.pack);
        let mut buffers = Buffers::<Pack<f32, A>>::new(self.system);
        buffers.generate(own_parameters(self.system), &pack_of(self.codes, self.pack));
        let inputs = in_lanes::<A>(self.from);
        let start = starts_of::<Pack<f32, A>>(self.from.starts, base.d_belief(), self.pack);
        let mut trace = base.trace(n_time);
        let driven = RolloutInputs { inputs: &inputs, quiet: &vec![false; n_time] };
        base.roll_out(&buffers.theta, start.as_deref(), driven, &mut trace);
        Rollout {
            n_codes: used,
            n_time,
            outputs: by_lane(&trace.outputs, used),
            last_states: by_lane(&trace.states[n_time * base.d_state()..], used),
            noise_factors: noise_factors(&base.noise(), &buffers.theta, used),
        }
    }
}

/// A system with the parameters that it has.
fn own_parameters(system: &System) -> Trial<'_> {
    Trial { system, parameters: system.parameters() }
}

/// The inputs of all steps, in every lane.
#[inline(always)]
fn in_lanes<A: Arch>(from: FutureSteps<'_>) -> Vec<Pack<f32, A>> {
    let rows = from.inputs.map_or(&[][..], |signal| &signal.values()[..from.n_time * signal.width()]);
    rows.iter().map(|&u| Pack::splat(u as f32)).collect()
}

/// Lower Cholesky factor of S by lane.
fn noise_factors<A: Arch>(noise: &Noise, theta: &[Pack<f32, A>], used: usize) -> Vec<f64> {
    (0..used).flat_map(|lane| noise.cholesky(theta, lane)).collect()
}

/// [`Engine::ahead`](crate::engine::Engine::ahead).
pub(super) fn ahead(
    system: &System,
    points: &Codes,
    from: FutureSteps<'_>,
    random: &mut Random,
) -> StepsAhead {
    let seeds: Vec<u64> = (0..n_packs(points)).map(|_| random.random()).collect();
    let work = seeds.par_iter().enumerate();
    let parts: Vec<StepsAhead> =
        work.map(|(pack, &seed)| dispatch(AheadPack { system, points, from, pack, seed })).collect();
    let mut all = StepsAhead::default();
    for part in parts {
        all.means.extend(part.means);
        all.factors.extend(part.factors);
        all.paths.extend(part.paths);
        all.noise.extend(part.noise);
    }
    all
}

struct AheadPack<'a> {
    system: &'a System,
    points: &'a Codes,
    from: FutureSteps<'a>,
    pack: usize,
    seed: u64,
}

impl Kernel for AheadPack<'_> {
    type Output = StepsAhead;

    #[inline(always)]
    fn run<A: Arch>(self) -> StepsAhead {
        let sizes = "sizes of the model were checked";
        let base = self.system.base();
        let (lds, noise) = (base.stochastic().expect("a random state"), base.noise());
        let mut buffers = Buffers::<Pack<f32, A>>::new(self.system);
        buffers.generate_shifted(own_parameters(self.system), &noise, &pack_of(self.points, self.pack));
        let known = starts_of::<Pack<f32, A>>(self.from.starts, base.d_belief(), self.pack).expect(sizes);
        let (mean, factor) = known.split_at(lds.lds.d_state);
        let belief = Belief { mean: mean.to_vec(), factor: factor.to_vec() };
        let (inputs, quiet) = (in_lanes::<A>(self.from), vec![false; self.from.n_time]);
        let driven = RolloutInputs { inputs: &inputs, quiet: &quiet };
        let system = Matrices::new(lds, &buffers.theta).expect(sizes);
        let outlook = system.outlook(&belief, driven).expect(sizes);
        let path = system.draw(&belief, driven, &mut stream(self.seed, 0)).expect(sizes);
        let used = used_lanes(self.points, self.pack);
        StepsAhead {
            means: by_lane(&outlook.means, used),
            factors: by_lane(&outlook.factors, used),
            paths: by_lane(&path, used),
            noise: noise_factors(&noise, &buffers.theta, used),
        }
    }
}

/// [`Engine::beliefs`](crate::engine::Engine::beliefs).
///
/// Factors are lower triangular with a diagonal that is not negative, so that they change smoothly with the code.
pub(super) fn beliefs(of: Observed<'_, f32>, points: &Codes, starts: Starts<'_>) -> Vec<f64> {
    let packs: Vec<Vec<f64>> = (0..n_packs(points))
        .into_par_iter()
        .map(|pack| dispatch(BeliefPack { of, points, starts, pack }))
        .collect();
    let mut beliefs = packs.concat();
    let base = of.trial.system.base();
    let (n, width) = (base.d_state(), base.d_belief());
    if width > n {
        beliefs.chunks_exact_mut(width).for_each(|belief| lower_factor(&mut belief[n..]));
    }
    beliefs
}

/// Sixteen points.
struct BeliefPack<'a> {
    of: Observed<'a, f32>,
    points: &'a Codes,
    starts: Starts<'a>,
    pack: usize,
}

impl Kernel for BeliefPack<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn run<A: Arch>(self) -> Vec<f64> {
        let Observed { trial, group } = self.of;
        let base = trial.system.base();
        let inputs = GroupInputs::<Pack<f32, A>>::new(group);
        let mut buffers = Buffers::new(trial.system);
        buffers.generate_shifted(trial, &base.noise(), &pack_of::<f32, A>(self.points, self.pack));
        let start = starts_of(self.starts, base.d_belief(), self.pack);
        let (theta, drive) = (&buffers.theta, inputs.drive(group));
        let of = Subject { base, theta, start: start.as_deref(), drive, group };
        let mut likelihood = Likelihood::new(base, group);
        likelihood.run(of);
        likelihood.log_density(of, &mut [0.0; LANES]);
        by_lane(likelihood.end(), used_lanes(self.points, self.pack))
    }
}

/// [`Engine::morph`](crate::engine::Engine::morph).
pub(super) fn morph(system: &System, path: &Codes, inputs: Option<&Signal>) -> Vec<f64> {
    let base = system.base();
    let parameters = system.parameters_as::<f64>();
    let trial = Trial { system, parameters: &parameters };
    let (mut buffers, mut trace) = (Buffers::<f64>::new(system), base.trace(1));
    let mut state: Option<Vec<f64>> = None;
    let mut outputs = Vec::with_capacity(path.len() * base.d_obs());
    for t in 0..path.len() {
        buffers.generate(trial, path.row(t));
        let u = inputs.map_or(&[][..], |inputs| inputs.row(t));
        let driven = RolloutInputs { inputs: u, quiet: &[u.iter().all(|&u| u == 0.0)] };
        base.roll_out(&buffers.theta, state.as_deref(), driven, &mut trace);
        outputs.extend_from_slice(&trace.outputs);
        state = Some(trace.states[base.d_state()..].to_vec());
    }
    outputs
}
