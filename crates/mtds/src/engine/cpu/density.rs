//! Densities of one sequence at many points, and their gradients: in packs, or one point after another in plain numbers.
//!
//! ```text
//! log p(Y | u) and ∇_u = (∂θ/∂u)ᵀ ∇_θ log p(Y | θ)        u = (z, perhaps δ),  θ = h_φ(z), noise shifted by δ
//! ```
//! A sampler that evaluates one point at a time would leave fifteen of sixteen lanes idle, so it gets the same
//! code over single numbers; see `ARCHITECTURE.md`, "Decisions".

use rayon::prelude::*;

use super::packs::{Buffers, n_packs, pack_of, starts_of};
use crate::base::emission::Pull;
use crate::base::{GroupInputs, Likelihood, Subject};
use crate::engine::{Codes, Observed, PointEvaluator, Starts};
use crate::kernel::{Arch, Kernel, LANES, Lanes, Pack, Real, dispatch};

/// Packs of points per unit of parallel work.
const CHUNK: usize = 16;

/// Adds log p(Y | u) of each point to `out`.
pub(super) fn densities<R: Real>(of: Observed<'_, R>, points: &Codes, starts: Starts<'_>, out: &mut [f64]) {
    out.par_chunks_mut(CHUNK * LANES).enumerate().for_each(|(chunk, out)| {
        dispatch(DensityChunk { of, points, starts, first: chunk * CHUNK, out });
    });
}

/// Packs of points to evaluate.
struct DensityChunk<'a, R> {
    of: Observed<'a, R>,
    points: &'a Codes,
    starts: Starts<'a>,
    first: usize,
    out: &'a mut [f64],
}

impl<R: Real> Kernel for DensityChunk<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let Observed { trial, group } = self.of;
        let base = trial.system.base();
        let noise = base.noise();
        let inputs = GroupInputs::<Pack<R, A>>::new(group);
        let mut buffers = Buffers::<Pack<R, A>>::new(trial.system);
        let mut likelihood = Likelihood::new(base, group);
        let mut densities = [0.0; LANES];
        for (pack, out) in self.out.chunks_mut(LANES).enumerate() {
            let pack = self.first + pack;
            buffers.generate_shifted(trial, &noise, &pack_of::<R, A>(self.points, pack));
            let start = starts_of(self.starts, base.d_belief(), pack);
            let (theta, drive) = (&buffers.theta, inputs.drive(group));
            let of = Subject { base, theta, start: start.as_deref(), drive, group };
            likelihood.run(of);
            likelihood.log_density(of, &mut densities);
            for i in 0..out.len() {
                out[i] += densities[i];
            }
        }
    }
}

/// Adds log p(Y | u) of each point to `out`, and its gradient to `gradient`, n × dim.
pub(super) fn slopes<R: Real>(of: Observed<'_, R>, points: &Codes, out: &mut [f64], gradient: &mut [f64]) {
    let dim = points.d_code();
    let packs: Vec<PackSlopes> =
        (0..n_packs(points)).into_par_iter().map(|pack| dispatch(SlopePack { of, points, pack })).collect();
    for (i, out) in out.iter_mut().enumerate() {
        let (pack, lane) = (&packs[i / LANES], i % LANES);
        *out += pack.density[lane];
        for d in 0..dim {
            gradient[i * dim + d] += pack.gradient[d][lane];
        }
    }
}

/// What one evaluation needs, used again by the next.
struct Scratch<S: Lanes> {
    point: Vec<S>,
    d_point: Vec<S>,
    inputs: GroupInputs<S>,
    buffers: Buffers<S>,
    likelihood: Likelihood<S>,
    d_theta: Vec<S>,
}

impl<S: Lanes> Scratch<S> {
    #[inline(always)]
    fn new(of: Observed<'_, S::Real>, point: Vec<S>) -> Self {
        let system = of.trial.system;
        Self {
            d_point: vec![S::zero(); point.len()],
            point,
            inputs: GroupInputs::new(of.group),
            buffers: Buffers::new(system),
            likelihood: Likelihood::new(system.base(), of.group),
            d_theta: vec![S::zero(); system.layout().d_theta()],
        }
    }

    /// log p(Y | u) at `point`; its gradient goes to `d_point`.
    #[inline(always)]
    fn log_likelihood(&mut self, observed: Observed<'_, S::Real>) -> S {
        let Observed { trial, group } = observed;
        let (base, d_code) = (trial.system.base(), trial.system.d_code());
        let noise = base.noise();
        self.buffers.generate_shifted(trial, &noise, &self.point);
        let (theta, drive) = (&self.buffers.theta, self.inputs.drive(group));
        let of = Subject { base, theta, start: None, drive, group };
        self.likelihood.run(of);
        self.d_theta.fill(S::zero());
        let density = self.likelihood.pull(of, Pull::Dense(&[S::one()]), (&mut self.d_theta, &mut []));
        if self.point.len() > d_code {
            self.d_point[d_code] =
                noise.shift_adjoint(&self.buffers.theta, self.point[d_code], &mut self.d_theta);
        }
        self.buffers.pull_back(trial, &self.d_theta, &mut self.d_point[..d_code]);
        density
    }
}

/// Densities and gradients of sixteen points.
struct PackSlopes {
    density: [f64; LANES],
    gradient: Vec<[f64; LANES]>,
}

/// Sixteen points.
struct SlopePack<'a, R> {
    of: Observed<'a, R>,
    points: &'a Codes,
    pack: usize,
}

impl<R: Real> Kernel for SlopePack<'_, R> {
    type Output = PackSlopes;

    #[inline(always)]
    fn run<A: Arch>(self) -> PackSlopes {
        let mut scratch = Scratch::<Pack<R, A>>::new(self.of, pack_of(self.points, self.pack));
        let density = scratch.log_likelihood(self.of);
        let widen = |p: Pack<R, A>| p.to_array().map(Real::to_f64);
        PackSlopes { density: widen(density), gradient: scratch.d_point.iter().map(|&p| widen(p)).collect() }
    }
}

/// One point after another, in double precision.
pub(super) fn point_by_point(of: Observed<'_, f64>) -> PointEvaluator<'_> {
    let mut scratch: Option<Scratch<f64>> = None;
    Box::new(move |point, gradient| {
        let scratch = scratch.get_or_insert_with(|| Scratch::new(of, point.to_vec()));
        scratch.point.copy_from_slice(point);
        let density = dispatch(Point { of, scratch });
        gradient.copy_from_slice(&scratch.d_point);
        density
    })
}

/// One point.
struct Point<'a> {
    of: Observed<'a, f64>,
    scratch: &'a mut Scratch<f64>,
}

impl Kernel for Point<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<A: Arch>(self) -> f64 {
        self.scratch.log_likelihood(self.of)
    }
}
