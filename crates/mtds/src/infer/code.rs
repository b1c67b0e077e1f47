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
use super::{GaussianMixture, LogTarget, MapLaplace, Points, Posterior, map_laplace};
use crate::base::emission::{Group, Noise};
use crate::base::{Given, Likelihood};
use crate::family::Signal;
use crate::kernel::{Arch, Kernel, LANES, Lanes, Pack, Real};
use crate::random::Random;
use crate::system::{Buffers, CodePacks, GroupInputs, Precision, System};
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
pub struct CodeTarget<'a, R> {
    pub(super) model: &'a System,
    pub(super) parameters: &'a [R],
    pub(super) prior: &'a GaussianMixture,
    pub(super) group: Group<R>,
    pub(super) start: Option<&'a CarriedState>,
}

/// Packs of points per unit of parallel work.
const CHUNK: usize = 16;

impl<'a, R: Real> CodeTarget<'a, R> {
    /// The target for the sequence in `group` (model units); `prior` is over u.
    ///
    /// With `start`, the rollout begins at the state carried for each code instead of the model's own.
    #[must_use]
    pub fn new(
        model: &'a System,
        parameters: &'a [R],
        prior: &'a GaussianMixture,
        group: Group<R>,
        start: Option<&'a CarriedState>,
    ) -> Self {
        Self { model, parameters, prior, group, start }
    }

    /// Whether δ stands behind the code.
    pub(super) fn infers_noise(&self) -> bool {
        self.prior.dim() > self.model.d_code()
    }

    /// One row of `R` per point, for the states that were carried; empty without.
    fn start_states(&self, points: &Points) -> Vec<f64> {
        self.start.map_or(vec![], |start| start.states(points))
    }
}

impl<R: Precision> LogTarget for CodeTarget<'_, R> {
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
            (R::KERNELS.density)(DensityChunk {
                target: self,
                codes: &codes,
                starts: &starts,
                first: chunk * CHUNK,
                out,
            });
        });
    }
}

/// Packs of points to evaluate.
pub(crate) struct DensityChunk<'a, R> {
    target: &'a CodeTarget<'a, R>,
    codes: &'a CodePacks<R>,
    starts: &'a [f64],
    first: usize,
    out: &'a mut [f64],
}

impl<R: Real> Kernel for DensityChunk<'_, R> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let (target, group) = (self.target, &self.target.group);
        let (model, base) = (target.model, target.model.base());
        let noise = base.noise();
        let inputs = GroupInputs::<Pack<R, A>>::new(group);
        let mut buffers = Buffers::<Pack<R, A>>::new(model);
        let mut likelihood = Likelihood::new(base, group);
        let mut densities = [0.0; LANES];
        for (pack, out) in self.out.chunks_mut(LANES).enumerate() {
            let point = self.codes.pack::<A>(self.first + pack);
            generate(model, target.parameters, &noise, &point, &mut buffers);
            let start =
                start_pack(self.starts, base.d_belief(), (self.first + pack) * LANES, self.codes.len());
            let (theta, drive) = (&buffers.theta, inputs.drive(group));
            let given = Given { base, theta, start: start.as_deref(), drive, group };
            likelihood.run(given);
            likelihood.log_density(given, &mut densities);
            out.iter_mut().zip(&densities).for_each(|(o, d)| *o += d);
        }
    }
}

/// θ of one pack of points u: of its code, with the noise shifted if δ is there.
#[inline(always)]
pub(super) fn generate<S: Lanes>(
    model: &System,
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

/// θ of one pack of points u, on its own.
#[inline(always)]
pub(crate) fn generate_theta<S: Lanes>(model: &System, parameters: &[S::Real], point: &[S]) -> Vec<S> {
    let mut buffers = Buffers::new(model);
    generate(model, parameters, &model.base().noise(), point, &mut buffers);
    buffers.theta
}

/// Carried states of the sixteen points from `first`; `None` where there are none.
#[inline(always)]
pub(super) fn start_pack<S: Lanes>(starts: &[f64], d_state: usize, first: usize, n: usize) -> Option<Vec<S>> {
    if starts.is_empty() {
        return None;
    }
    let lane = |d: usize| S::from_fn(|l| S::Real::from_f64(starts[(first + l).min(n - 1) * d_state + d]));
    Some((0..d_state).map(lane).collect())
}

impl System {
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
        let group = self.group(&outputs, inputs.as_ref())?;
        let parameters = self.parameters_as::<f64>();
        let target = CodeTarget::new(self, &parameters, &prior, group, None);
        map_laplace(settings, &target, &prior, random)
    }
}
