//! Gradient of the posterior of a code: many points in packs, or one point after another in plain numbers.
//!
//! ```text
//! ∇_u log p(u, Y) = ∇ log p(u) + (∂θ/∂u)ᵀ ∇_θ log p(Y | θ)        θ = h_φ(z), noise shifted by δ
//! ```
//! A sampler that evaluates one point at a time would leave fifteen of sixteen lanes idle, so it gets the same
//! code over single numbers; see `ARCHITECTURE.md`, "Decisions".

use rayon::prelude::*;

use super::code::generate;
use super::{CodeTarget, Evaluator, GaussianMixture, Points, SmoothTarget};
use crate::base::emission::Pull;
use crate::base::{Given, Likelihood};
use crate::kernel::{Arch, Kernel, LANES, Lanes, Pack, Real, dispatch};
use crate::system::{Buffers, CodePacks, GroupInputs, Precision};

impl<R: Precision> SmoothTarget for CodeTarget<'_, R> {
    /// # Panics
    /// With a carried start, whose dependence on the code has no gradient here.
    fn log_density_and_gradient(&self, points: &Points, out: &mut [f64], gradient: &mut Points) {
        self.refuse_start();
        prior_gradient(self.prior, points, out, gradient);
        let (n, dim) = (points.len(), points.dim());
        let codes = CodePacks::<R>::from_fn(n, dim, |i, d| points.column(d)[i]);
        let packs: Vec<PackGradient> = (0..n.div_ceil(LANES))
            .into_par_iter()
            .map(|pack| (R::KERNELS.gradient)(GradientPack { target: self, codes: &codes, pack }))
            .collect();
        for (i, out) in out.iter_mut().enumerate() {
            let (pack, lane) = (&packs[i / LANES], i % LANES);
            *out += pack.density[lane];
            for d in 0..dim {
                gradient.column_mut(d)[i] += pack.gradient[d][lane];
            }
        }
    }

    /// # Panics
    /// As [`SmoothTarget::log_density_and_gradient`].
    fn evaluator(&self) -> Evaluator<'_> {
        self.refuse_start();
        R::evaluator(self)
    }
}

/// One point after another, in double precision.
pub(crate) fn plain_evaluator<'a>(target: &'a CodeTarget<'_, f64>) -> Evaluator<'a> {
    let mut scratch = Scratch::<f64>::new(target);
    Box::new(move |point, gradient| {
        let prior = target.prior.log_density_with_gradient(point, gradient);
        scratch.point.copy_from_slice(point);
        let density = dispatch(GradientPoint { target, scratch: &mut scratch });
        gradient.iter_mut().zip(&scratch.d_point).for_each(|(g, d)| *g += d);
        prior + density
    })
}

impl<R: Real> CodeTarget<'_, R> {
    fn refuse_start(&self) {
        assert!(self.start.is_none(), "gradients are for sequences from their beginning");
    }
}

/// log density of a mixture and its gradient at each point.
fn prior_gradient(prior: &GaussianMixture, points: &Points, out: &mut [f64], gradient: &mut Points) {
    let mut slope = vec![0.0; points.dim()];
    for (i, out) in out.iter_mut().enumerate() {
        *out = prior.log_density_with_gradient(&points.point(i), &mut slope);
        gradient.set_point(i, &slope);
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
    fn new(target: &CodeTarget<'_, S::Real>) -> Self {
        let (model, base, dim) = (target.model, target.model.base(), target.prior.dim());
        Self {
            point: vec![S::zero(); dim],
            d_point: vec![S::zero(); dim],
            inputs: GroupInputs::new(&target.group),
            buffers: Buffers::new(model),
            likelihood: Likelihood::new(base, &target.group),
            d_theta: vec![S::zero(); model.layout().d_theta()],
        }
    }

    /// log p(Y | u) at `point`; its gradient goes to `d_point`.
    #[inline(always)]
    fn log_likelihood(&mut self, target: &CodeTarget<'_, S::Real>) -> S {
        let (model, base, group) = (target.model, target.model.base(), &target.group);
        let noise = base.noise();
        let theta_of = &mut self.buffers;
        generate(model, target.parameters, &noise, &self.point, theta_of);
        let (theta, drive) = (&theta_of.theta, self.inputs.drive(group));
        let given = Given { base, theta, start: None, drive, group };
        self.likelihood.run(given);
        self.d_theta.fill(S::zero());
        let density = self.likelihood.pull(given, Pull::Dense(&[S::one()]), (&mut self.d_theta, &mut []));
        let d_code = model.d_code();
        if target.infers_noise() {
            self.d_point[d_code] =
                noise.shift_adjoint(&theta_of.theta, self.point[d_code], &mut self.d_theta);
        }
        theta_of.pull_back_into(model, target.parameters, &self.d_theta, &mut self.d_point[..d_code]);
        density
    }
}

/// Densities and gradients of sixteen points.
pub(crate) struct PackGradient {
    density: [f64; LANES],
    gradient: Vec<[f64; LANES]>,
}

/// Sixteen points.
pub(crate) struct GradientPack<'a, R> {
    target: &'a CodeTarget<'a, R>,
    codes: &'a CodePacks<R>,
    pack: usize,
}

impl<R: Real> Kernel for GradientPack<'_, R> {
    type Output = PackGradient;

    #[inline(always)]
    fn run<A: Arch>(self) -> PackGradient {
        let mut scratch = Scratch::<Pack<R, A>>::new(self.target);
        scratch.point = self.codes.pack::<A>(self.pack);
        let density = scratch.log_likelihood(self.target);
        let widen = |p: Pack<R, A>| p.to_array().map(Real::to_f64);
        PackGradient {
            density: widen(density),
            gradient: scratch.d_point.iter().map(|&p| widen(p)).collect(),
        }
    }
}

/// One point.
struct GradientPoint<'a> {
    target: &'a CodeTarget<'a, f64>,
    scratch: &'a mut Scratch<f64>,
}

impl Kernel for GradientPoint<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<A: Arch>(self) -> f64 {
        self.scratch.log_likelihood(self.target)
    }
}
