//! A start from curves: principal components of members that begin together become the generator's first weights.
//!
//! ```text
//! y_i = μ + W z_i + ε                     by EM over all steps and outputs, with gaps (`FactorCurves`)
//! D κ(t) + d ≈ μ_t,  D_j κ(t) + d_j ≈ W_tj        κ: the clock's functions; by least squares over steps
//! h_φ(z) = (D + Σ_j z_j D_j, d + Σ_j z_j d_j, …)
//! ```
//! Gradients find such a model only after thousands of steps, and of a dozen members a worse one than EM does. What learning adds then
//! is a state that remembers what is left over, and codes that do more than add curves up.

use serde::{Deserialize, Serialize};

use super::Proposal;
use super::random_effects::StartedModel;
use super::rules::log_noise_places;
use crate::algebra::Matrix;
use crate::baseline::FactorCurves;
use crate::family::Family;
use crate::generator::{FeatureMap, Role, Skip};
use crate::system::System;
use crate::{Error, Result};

/// Process noise at the start, in standard deviations of what curves leave over: the state has most of its work before it.
const FIRST_PROCESS: f64 = 0.3;
/// Least noise at the start, in deviations of an output.
const LEAST_NOISE: f64 = 0.02;
/// Singular values of the least squares, relative to the largest, below which steps do not tell functions apart.
const TOLERANCE: f64 = 1e-6;

/// A start from curves; it has nothing to set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurvesStart {}

impl CurvesStart {
    /// `first` with curves of the members of `family` (data units) as its components, and what is known of their codes.
    ///
    /// # Errors
    /// An architecture without a clock, or whose code reaches D and d in no straight way; fewer members than components need.
    pub(super) fn run(self, first: &System, family: &Family) -> Result<StartedModel> {
        let (spec, d, k) = (first.spec(), first.base().d_obs(), first.d_code());
        let Some(clock) = spec.clock else {
            return Err(Error::setting("start", "found `curves` without a clock; ask for `clock`, too"));
        };
        let straight = match (spec.network.hidden.is_empty(), spec.network.skip, spec.network.features) {
            (true, Skip::None, FeatureMap::Identity) => 0,
            (_, Skip::Affine, _) => 2 * spec.network.hidden.len() + 2,
            _ => {
                let why = "found `curves`, which need a straight path from the code; leave out `hidden`";
                return Err(Error::setting("start", why));
            }
        };
        let places = |name: &str| {
            let block = first.layout().block(name).filter(|block| block.role == Role::Adapted);
            block.map(|block| block.slot).ok_or_else(|| {
                Error::setting("start", format!("found `curves`, and a code that does not adapt `{name}`"))
            })
        };
        let (feedthrough, offset) = (places("feedthrough")?, places("offset")?);
        let curves = FactorCurves::up_to(family, k)?;
        let n_time = curves.n_time();
        let told = clock.beside(None, 0..n_time)?;
        let design = Matrix::from_fn(n_time, 1 + clock.functions, |t, j| match j {
            0 => 1.0,
            j => told.get(t, j - 1),
        });
        let (mut parameters, tensors) = (first.parameters().to_vec(), spec.network.tensors());
        let (weight, bias) = (&tensors[straight], &tensors[2 * spec.network.hidden.len() + 1]);
        let (scaling, inputs) = (first.scaling(), first.base().d_input());
        for c in 0..d {
            // Mean and components of output c, in model units, side by side.
            let curve = |t: usize, j: usize| match j {
                0 => (curves.mean(t * d + c) - scaling.offset(c)) / scaling.scale(c),
                j if j <= curves.rank() => curves.loading(t * d + c, j - 1) / scaling.scale(c),
                _ => 0.0, // components that members left out did not confirm
            };
            let found = design.least_squares(&Matrix::from_fn(n_time, 1 + k, curve), TOLERANCE);
            for function in 0..=clock.functions {
                let entry = match function {
                    0 => offset + c,
                    j => feedthrough + c * inputs + first.d_input() + j - 1,
                };
                parameters[bias.start + entry] = found[(function, 0)] as f32;
                for j in 0..k {
                    parameters[weight.start + entry * k + j] = found[(function, 1 + j)] as f32;
                }
            }
        }
        let noise = (0..d).map(|c| curves.noise(c) / scaling.scale(c)).fold(0.0, f64::max).max(LEAST_NOISE);
        parameters[log_noise_places(first)].fill(noise.ln() as f32);
        if let Some(block) = first.layout().block("process_noise").filter(|block| block.role == Role::Shared)
        {
            let start = spec.network.n_parameters();
            parameters[start + block.slots().start..start + block.slots().end]
                .fill((FIRST_PROCESS * noise).ln() as f32);
        }
        let known = curves.codes(family)?;
        let proposal = |(mean, covariance): (Vec<f64>, Vec<f64>)| {
            let (mut whole, r) = (Proposal::prior(k), mean.len());
            whole.mean[..r].copy_from_slice(&mean);
            covariance.iter().enumerate().for_each(|(ij, c)| whole.covariance[ij / r * k + ij % r] = *c);
            whole
        };
        let proposals = known.into_iter().map(proposal).collect();
        Ok(StartedModel { model: first.clone().with_parameters(parameters)?, proposals, objective: 0.0 })
    }
}
