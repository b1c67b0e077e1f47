//! The posterior of a code: prior times likelihood of one sequence under a model.
//!
//! ```text
//! u = z              log p(u, Y) = log p(z) + log p(Y | h_φ(z))
//! u = (z, δ)         log p(u, Y) = log p(z) + log N(δ | m, σ²) + log p(Y | h_φ(z), s e^δ)
//! ```
//! The second form infers the noise together with the code: every standard deviation of the emission is
//! multiplied by e^δ.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::carried::CarriedState;
use super::{GaussianMixture, LogTarget, MapLaplace, Points, Posterior, SmoothTarget, map_laplace};
use crate::base::emission::{Group, Noise, Pull};
use crate::base::{BaseModel, TraceGradient};
use crate::family::Signal;
use crate::kernel::{Arch, Kernel, LANES, Lanes, Pack, Real, Scalar, dispatch};
use crate::model::{Buffers, CodePacks, GroupInputs, Model};
use crate::random::Random;
use crate::{Error, Result};

/// What inference believes about the noise of a new member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoiseBelief {
    /// It is the learned one.
    #[default]
    Learned,
    /// log s = learned log s + δ, δ ~ N(mean, std_dev²), inferred together with the code.
    Uncertain {
        /// Mean m of δ.
        mean: f64,
        /// Standard deviation σ of δ.
        std_dev: f64,
    },
}

impl NoiseBelief {
    /// The prior over u.
    ///
    /// # Errors
    /// A standard deviation that is not positive.
    pub fn extend(self, prior: &GaussianMixture) -> Result<GaussianMixture> {
        match self {
            Self::Learned => Ok(prior.clone()),
            Self::Uncertain { mean, std_dev } if std_dev > 0.0 => {
                prior.with_independent(mean, std_dev * std_dev)
            }
            Self::Uncertain { std_dev, .. } => {
                Err(Error::setting("noise", format!("found standard deviation {std_dev}; expected above 0")))
            }
        }
    }
}

/// log p(u, Y) of one sequence, computed in `R`; densities are added up in f64.
#[derive(Debug)]
pub struct CodeTarget<'a, B, R> {
    model: &'a Model<B>,
    parameters: &'a [R],
    prior: &'a GaussianMixture,
    group: Group<R>,
    start: Option<&'a CarriedState>,
}

/// Packs of points per unit of parallel work.
const CHUNK: usize = 16;

impl<'a, B: BaseModel, R: Real> CodeTarget<'a, B, R> {
    /// The target for the sequence in `group` (model units); `prior` is over u.
    ///
    /// With `start`, the rollout begins at the state carried for each code instead of the model's own.
    #[must_use]
    pub fn new(
        model: &'a Model<B>,
        parameters: &'a [R],
        prior: &'a GaussianMixture,
        group: Group<R>,
        start: Option<&'a CarriedState>,
    ) -> Self {
        Self { model, parameters, prior, group, start }
    }

    /// Whether δ stands behind the code.
    fn infers_noise(&self) -> bool {
        self.prior.dim() > self.model.d_code()
    }

    /// One row of `R` per point, for the states that were carried; empty without.
    fn start_states(&self, points: &Points) -> Vec<f64> {
        self.start.map_or(vec![], |start| start.states(points))
    }
}

impl<B: BaseModel, R: Real> LogTarget for CodeTarget<'_, B, R> {
    fn dim(&self) -> usize {
        self.prior.dim()
    }

    fn log_density(&self, points: &Points, out: &mut [f64]) {
        self.prior.log_density(points, out);
        if points.is_empty() {
            return;
        }
        let starts = self.start_states(points);
        let codes = CodePacks::<R>::from_fn(points.len(), points.dim(), |i, d| points.column(d)[i]);
        out.par_chunks_mut(CHUNK * LANES).enumerate().for_each(|(chunk, out)| {
            dispatch(DensityChunk {
                target: self,
                codes: &codes,
                starts: &starts,
                first: chunk * CHUNK,
                out,
            });
        });
    }
}

struct DensityChunk<'a, B, R> {
    target: &'a CodeTarget<'a, B, R>,
    codes: &'a CodePacks<R>,
    starts: &'a [f64],
    first: usize,
    out: &'a mut [f64],
}

impl<B: BaseModel, R: Real> Kernel for DensityChunk<'_, B, R> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let (target, group) = (self.target, &self.target.group);
        let (model, base) = (target.model, target.model.base());
        let noise = base.noise();
        let inputs = GroupInputs::<Pack<R, A>>::new(group);
        let mut buffers = Buffers::<Pack<R, A>>::new(model);
        let mut trace = base.trace(group.n_time);
        let mut densities = [0.0; LANES];
        for (pack, out) in self.out.chunks_mut(LANES).enumerate() {
            let point = self.codes.pack::<A>(self.first + pack);
            generate(model, target.parameters, &noise, &point, &mut buffers);
            let start =
                start_pack(self.starts, base.d_state(), (self.first + pack) * LANES, self.codes.len());
            base.rollout(&buffers.theta, start.as_deref(), inputs.drive(group), &mut trace);
            noise.log_density(&buffers.theta, &trace.outputs, group, &mut densities);
            out.iter_mut().zip(&densities).for_each(|(o, d)| *o += d);
        }
    }
}

/// θ of one pack of points u: of its code, with the noise shifted if δ is there.
#[inline(always)]
fn generate<B: BaseModel, S: Lanes>(
    model: &Model<B>,
    parameters: &[S::Real],
    noise: &Noise,
    point: &[S],
    buffers: &mut Buffers<S>,
) {
    let (code, delta) = point.split_at(model.d_code());
    buffers.generate(model, parameters, code);
    if let Some(&delta) = delta.first() {
        noise.shift(&mut buffers.theta, delta);
    }
}

/// Carried states of the sixteen points from `first`; `None` where there are none.
#[inline(always)]
fn start_pack<S: Lanes>(starts: &[f64], d_state: usize, first: usize, n: usize) -> Option<Vec<S>> {
    if starts.is_empty() {
        return None;
    }
    let lane = |d: usize| S::from_fn(|l| S::Real::from_f64(starts[(first + l).min(n - 1) * d_state + d]));
    Some((0..d_state).map(lane).collect())
}

impl<B: BaseModel, R: Real> SmoothTarget for CodeTarget<'_, B, R> {
    /// # Panics
    /// With a carried start, whose dependence on the code has no gradient here.
    fn log_density_and_gradient(&self, points: &Points, out: &mut [f64], gradient: &mut Points) {
        assert!(self.start.is_none(), "gradients are for sequences from their beginning");
        prior_gradient(self.prior, points, out, gradient);
        let (n, dim) = (points.len(), points.dim());
        let codes = CodePacks::<R>::from_fn(n, dim, |i, d| points.column(d)[i]);
        let packs: Vec<PackGradient> = (0..n.div_ceil(LANES))
            .into_par_iter()
            .map(|pack| dispatch(GradientPack { target: self, codes: &codes, pack }))
            .collect();
        for (i, out) in out.iter_mut().enumerate() {
            let (pack, lane) = (&packs[i / LANES], i % LANES);
            *out += pack.density[lane];
            for d in 0..dim {
                gradient.column_mut(d)[i] += pack.gradient[d][lane];
            }
        }
    }
}

impl<B: BaseModel> Model<B> {
    /// Posterior of a whole sequence (data units) by MAP with Laplace, corrected by importance weights.
    ///
    /// # Errors
    /// Settings out of range; outputs or inputs of the wrong size.
    pub fn infer_modes(
        &self,
        outputs: &Signal,
        inputs: Option<&Signal>,
        noise: NoiseBelief,
        settings: &MapLaplace,
        random: &mut Random,
    ) -> Result<Posterior> {
        let prior = noise.extend(&self.prior().mixture(self.d_code())?)?;
        let outputs = self.scaling().outputs_to_model(outputs)?;
        let inputs = inputs.map(|u| self.scaling().inputs_to_model(u)).transpose()?;
        let group = Group::single(&outputs, inputs.as_ref(), self.base().d_input())?;
        let parameters = self.parameters_as::<f64>();
        let target = CodeTarget::new(self, &parameters, &prior, group, None);
        map_laplace(settings, &target, &prior, random)
    }
}

/// log density of a mixture and its gradient: −Σ_j r_j Σ_j⁻¹ (u − μ_j).
fn prior_gradient(prior: &GaussianMixture, points: &Points, out: &mut [f64], gradient: &mut Points) {
    prior.log_density(points, out);
    let (n, dim, n_components) = (points.len(), points.dim(), prior.len());
    let mut parts = vec![0.0; n * n_components];
    prior.component_log_densities(points, &mut parts);
    gradient.values_mut().fill(0.0);
    for j in 0..n_components {
        let Some(precision) = super::linear::invert_spd(prior.component_covariance(j), dim) else { continue };
        for i in 0..n {
            let responsibility = (parts[j * n + i] - out[i]).exp();
            let error: Vec<f64> =
                (0..dim).map(|d| points.column(d)[i] - prior.component_mean(j)[d]).collect();
            let pull = super::linear::times_vector(&precision, &error);
            for d in 0..dim {
                gradient.column_mut(d)[i] -= responsibility * pull[d];
            }
        }
    }
}

struct PackGradient {
    density: [f64; LANES],
    gradient: Vec<[f64; LANES]>,
}

struct GradientPack<'a, B, R> {
    target: &'a CodeTarget<'a, B, R>,
    codes: &'a CodePacks<R>,
    pack: usize,
}

impl<B: BaseModel, R: Real> Kernel for GradientPack<'_, B, R> {
    type Output = PackGradient;

    #[inline(always)]
    fn run<A: Arch>(self) -> PackGradient {
        let (target, group) = (self.target, &self.target.group);
        let (model, base) = (target.model, target.model.base());
        let noise = base.noise();
        let inputs = GroupInputs::<Pack<R, A>>::new(group);
        let mut buffers = Buffers::<Pack<R, A>>::new(model);
        let mut trace = base.trace(group.n_time);
        let point = self.codes.pack::<A>(self.pack);
        generate(model, target.parameters, &noise, &point, &mut buffers);
        base.rollout(&buffers.theta, None, inputs.drive(group), &mut trace);
        let mut d_outputs = vec![Pack::zero(); trace.outputs.len()];
        let mut d_theta = vec![Pack::zero(); buffers.theta.len()];
        let one = [Pack::one()];
        let gradients = (d_outputs.as_mut_slice(), d_theta.as_mut_slice());
        let density = noise.pull(&buffers.theta, &trace.outputs, group, Pull::Dense(&one), gradients);
        let mut d_start = vec![Pack::zero(); base.d_state()];
        let gradient = TraceGradient { outputs: &d_outputs, theta: &mut d_theta, start: &mut d_start };
        base.adjoint(&buffers.theta, inputs.drive(group), &trace, gradient);
        base.start_range().zip(&d_start).for_each(|(at, &d)| d_theta[at] += d);
        let mut d_point = vec![];
        if target.infers_noise() {
            let delta = point[model.d_code()];
            d_point.push(noise.shift_adjoint(&buffers.theta, delta, &mut d_theta));
        }
        let d_code = buffers.pull_back(model, target.parameters, &d_theta);
        let d_point = d_code.into_iter().chain(d_point);
        let widen = |p: Pack<R, A>| p.to_array().map(Real::to_f64);
        PackGradient { density: widen(density), gradient: d_point.map(widen).collect() }
    }
}
