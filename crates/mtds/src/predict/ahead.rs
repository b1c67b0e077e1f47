//! Steps ahead of a random state: the exact distribution of each, and one path per draw through all of them.
//!
//! ```text
//! y_{t+h} | z, y_{1:t} ~ N(C m_h + D u + d, C P_h Cᵀ + S)        m_h, P_h from `base::kalman`
//! ```
//! Steps hang together through the state, so that futures are not drawn from these one by one: each draw of the code has a
//! path of its own, to which the noise of the outputs is added.

use rand::RngExt;
use rayon::prelude::*;

use super::{DrawNoise, Forecast};
use crate::Result;
use crate::base::kalman::{Belief, Matrices};
use crate::base::{Drive, StochasticLds};
use crate::family::Signal;
use crate::infer::{Points, generate_theta};
use crate::kernel::{Arch, Kernel, LANES, Lanes, Pack, Scalar, dispatch};
use crate::random::{Random, stream};
use crate::system::{CodePacks, System};

/// What is known of the state before the first step ahead, and what will drive it.
pub(super) struct Ahead<'a> {
    pub model: &'a System,
    pub lds: &'a StochasticLds,
    pub points: &'a Points,
    /// n_points × d_belief.
    pub beliefs: &'a [f64],
    /// In model units.
    pub inputs: Option<&'a Signal>,
    pub n_time: usize,
}

/// Of several draws, in model units.
#[derive(Default)]
struct Outcome {
    /// n_draws × n_time × p.
    means: Vec<f64>,
    /// Factors of the covariances, n_draws × n_time × p × p.
    factors: Vec<f64>,
    /// n_draws × n_time × p, without the noise of the outputs.
    paths: Vec<f64>,
    /// Factors of S, n_draws × p × p.
    noise: Vec<f64>,
}

impl Ahead<'_> {
    /// The forecast, in model units.
    ///
    /// # Errors
    /// As [`Forecast::new`].
    pub(super) fn forecast(
        &self,
        first_step: usize,
        weights: Vec<f64>,
        random: &mut Random,
    ) -> Result<Forecast> {
        let parameters = self.model.parameters();
        let points = self.points;
        let codes = CodePacks::<f32>::from_fn(points.len(), points.dim(), |i, d| points.column(d)[i]);
        let seeds: Vec<u64> = (0..codes.n_packs()).map(|_| random.random()).collect();
        let ahead = |(pack, &seed): (usize, &u64)| {
            dispatch(AheadPack { ahead: self, parameters, codes: &codes, pack, seed })
        };
        let packs: Vec<Outcome> = seeds.par_iter().enumerate().map(ahead).collect();
        let mut all = Outcome::default();
        for pack in packs {
            all.means.extend(pack.means);
            all.factors.extend(pack.factors);
            all.paths.extend(pack.paths);
            all.noise.extend(pack.noise);
        }
        let d_obs = self.lds.lds.d_obs;
        Forecast::new(first_step, d_obs, weights, all.means, DrawNoise::FullByStep(all.factors))?
            .with_paths(all.paths, DrawNoise::Full(all.noise))
    }
}

struct AheadPack<'a> {
    ahead: &'a Ahead<'a>,
    parameters: &'a [f32],
    codes: &'a CodePacks<f32>,
    pack: usize,
    seed: u64,
}

impl Kernel for AheadPack<'_> {
    type Output = Outcome;

    #[inline(always)]
    fn run<A: Arch>(self) -> Outcome {
        let Ahead { model, lds, beliefs, inputs, n_time, .. } = *self.ahead;
        let theta = generate_theta(model, self.parameters, &self.codes.pack::<A>(self.pack));
        let (n, width) = (lds.lds.d_state, model.base().d_belief());
        let last = self.codes.len() - 1;
        let lane = |d: usize| {
            Pack::<f32, A>::from_fn(|l| beliefs[(self.pack * LANES + l).min(last) * width + d] as f32)
        };
        let belief = Belief { mean: (0..n).map(lane).collect(), factor: (n..width).map(lane).collect() };
        let rows = inputs.map_or(&[][..], |signal| &signal.values()[..n_time * signal.width()]);
        let inputs: Vec<Pack<f32, A>> = rows.iter().map(|&u| Pack::splat(u as f32)).collect();
        let drive = Drive { inputs: &inputs, quiet: &vec![false; n_time] };
        let sizes = "sizes of the model were checked";
        let system = Matrices::new(lds, &theta).expect(sizes);
        let outlook = system.outlook(&belief, drive).expect(sizes);
        let path = system.draw(&belief, drive, &mut stream(self.seed, 0)).expect(sizes);
        let lanes = LANES.min(self.codes.len() - self.pack * LANES);
        let each = |values: &[Pack<f32, A>]| -> Vec<f64> {
            (0..lanes).flat_map(|l| values.iter().map(move |v| f64::from(v.lane(l)))).collect()
        };
        let noise = (0..lanes).flat_map(|l| model.base().noise().cholesky(&theta, l)).collect();
        let (means, factors) = (each(&outlook.means), each(&outlook.factors));
        Outcome { means, factors, paths: each(&path.outputs), noise }
    }
}
