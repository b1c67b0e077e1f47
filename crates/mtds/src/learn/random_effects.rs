//! A start for few sequences: parameters that scatter around a common mean, and the axes along which they do.
//!
//! ```text
//! θ_i = m + e_i                  e_i ~ N(0, σ² I),   one m and N effects per restart
//! min  Σ_i [−log p(Y_i | m + e_i) + ½ ‖e_i‖² / σ²] + ½ ‖(m − m₀) / 4 s₀‖²          log s annealed downwards
//! Cov e = Σ_j λ_j v_j v_jᵀ       W_j = √λ_j v_j,   z_ij = v_jᵀ (e_i − ē) / √λ_j,   h_φ(z) ≈ m + ē + W z
//! ```
//! Annealing from prior draws needs many sequences to find what they have in common; with few it settles for a
//! part. Here each sequence is fitted by parameters of its own that are kept close to the others', from many
//! starts; the best of them begin a generator with an affine path. Reference: random-effects models, Laird &
//! Ware (1982).

use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::rules::log_noise_places;
use super::{Interpolation, Proposal, Schedule};
use crate::algebra::symmetric_eigen;
use crate::family::{Family, Scaling};
use crate::generator::{FeatureMap, Role, Skip};
use crate::random::{Random, Stream, stream};
use crate::system::{Architecture, Codes, OwnBatch, OwnPull, System};
use crate::{Error, Result};

/// The mean may wander this many times as far as it was first drawn.
const LOOSE: f64 = 4.0;
/// Scale of the effects at the start.
const FIRST_EFFECT: f64 = 0.1;
/// Variance of the first proposals around each sequence's code.
const PROPOSAL_VARIANCE: f64 = 0.02;
/// Factor on the layers' last weights, so that the affine path leads at first.
const QUIET_LAYERS: f32 = 0.1;
/// Restarts come in blocks, which some engines work on together.
const BLOCK: usize = 16;

/// Settings of the random-effects start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RandomEffects {
    /// Independent starts, rounded up to a multiple of sixteen.
    pub restarts: usize,
    /// Optimiser steps of each.
    pub steps: u64,
    /// Standard deviation σ of an effect, in raw parameters.
    pub spread: f64,
    /// Learning rate; it falls linearly over the second half.
    pub learning_rate: f64,
    /// log s at the first step and from 70 % of the steps on.
    pub log_noise: (f64, f64),
    /// log s that the started models have.
    pub start_log_noise: f64,
}

impl Default for RandomEffects {
    fn default() -> Self {
        Self {
            restarts: 256,
            steps: 2500,
            spread: 0.3,
            learning_rate: 1e-2,
            log_noise: (-0.7, -2.6),
            start_log_noise: -1.5,
        }
    }
}

/// A model ready to be learned, with what is known of its sequences' codes.
#[derive(Clone, Debug)]
pub struct StartedModel {
    /// The model.
    pub model: System,
    /// One proposal per sequence.
    pub proposals: Vec<Proposal>,
    /// What the restart reached: the objective per sequence, lower is better.
    pub objective: f64,
}

/// Means and effects of all restarts, and their Adam moments.
struct Fit {
    n_seq: usize,
    dim: usize,
    restarts: usize,
    /// m, then e_1 … e_N, per restart; each `dim` values.
    values: Vec<f64>,
    moments: Vec<[f64; 2]>,
    /// Misfit and penalty per restart, at the last gradient.
    objective: Vec<f64>,
}

impl RandomEffects {
    /// The best `keep` of the restarts as models of architecture `spec`, which needs [`Skip::Affine`] and log s
    /// shared; the best first.
    ///
    /// Shared blocks other than the noise begin at their usual start.
    ///
    /// # Errors
    /// An architecture that does not fit, settings out of range, families that the model cannot take.
    pub fn run(
        &self,
        spec: &Architecture,
        scaling: &Scaling,
        family: &Family,
        keep: usize,
        seed: u64,
    ) -> Result<Vec<StartedModel>> {
        self.check(spec)?;
        let direct = direct_model(spec, scaling, &mut stream(seed, Stream::Initialise))?;
        let batch = OwnBatch::new(&spec.with_clock(scaling.apply(family)?)?);
        let mut fit = Fit::new(
            &direct,
            batch.n_seq(),
            self.restarts.max(1).next_multiple_of(BLOCK),
            &mut stream(seed, Stream::FirstCodes),
        );
        let places = log_noise_places(&direct);
        let (first, last) = self.log_noise;
        let noise = Schedule::new(
            Interpolation::Linear,
            vec![(0, first), ((0.7 * self.steps as f64).ceil() as u64 + 1, last)],
        )?;
        let prior = MeanPrior::new(&direct);
        let mut parameters = direct.parameters().to_vec();
        for step in 1..=self.steps {
            parameters[places.clone()].fill(noise.value_at(step) as f32);
            let fall = (2.0 * (1.0 - step as f64 / self.steps as f64)).clamp(0.02, 1.0);
            let gradient = fit.gradient(&direct, &parameters, &batch, self.spread, &prior);
            fit.descend(&gradient, self.learning_rate * fall, step);
        }
        fit.gradient(&direct, &parameters, &batch, self.spread, &prior);
        let mut order: Vec<usize> = (0..fit.restarts).filter(|&q| fit.objective[q].is_finite()).collect();
        order.sort_by(|&a, &b| fit.objective[a].total_cmp(&fit.objective[b]));
        let start = |(rank, &q): (usize, &usize)| {
            let mut random = stream(seed, Stream::Restart(rank as u64));
            self.start(spec, scaling, (fit.member(q), fit.objective[q]), &mut random)
        };
        order.iter().take(keep).enumerate().map(start).collect()
    }

    fn check(&self, spec: &Architecture) -> Result<()> {
        if spec.front.is_some() {
            let why = "a random-effects start learns no front; learn by elbo or iwae, or leave the start out";
            return Err(Error::setting("front", why));
        }
        if spec.network.skip != Skip::Affine {
            return Err(Error::setting("skip", "found none; a random-effects start needs the affine path"));
        }
        for (name, value) in [("spread", self.spread), ("learning_rate", self.learning_rate)] {
            if !(value.is_finite() && value > 0.0) {
                return Err(Error::setting(name, format!("found {value}; expected above 0")));
            }
        }
        if self.restarts == 0 || self.steps == 0 {
            return Err(Error::setting(
                "restarts",
                "found no restarts or no steps; expected 1 or more of each",
            ));
        }
        Ok(())
    }

    /// A generator that begins along the principal axes of the effects.
    fn start(
        &self,
        spec: &Architecture,
        scaling: &Scaling,
        (effects, objective): (Vec<Vec<f64>>, f64),
        random: &mut Random,
    ) -> Result<StartedModel> {
        let model = System::initialise(spec.clone(), scaling.clone(), random)?;
        let axes = Axes::of(&effects, model.d_code());
        let mut parameters = model.parameters().to_vec();
        let tensors = spec.network.tensors();
        let n_layers = spec.network.hidden.len() + 1;
        let (weight, bias, skip) =
            (&tensors[2 * n_layers - 2], &tensors[2 * n_layers - 1], &tensors[2 * n_layers]);
        parameters[weight.range()].iter_mut().for_each(|w| *w *= QUIET_LAYERS);
        parameters[skip.range()].iter_mut().zip(&axes.loadings).for_each(|(w, &l)| *w = l as f32);
        let at_origin = adapted_at_origin(&model, &parameters);
        for (d, b) in parameters[bias.range()].iter_mut().enumerate() {
            *b += (axes.mean[d] - at_origin[d]) as f32;
        }
        parameters[log_noise_places(&model)].fill(self.start_log_noise as f32);
        let d_code = model.d_code();
        let proposal = |code: &Vec<f64>| {
            let mut proposal = Proposal::prior(d_code);
            proposal.mean.copy_from_slice(code);
            proposal.covariance.iter_mut().for_each(|c| *c *= PROPOSAL_VARIANCE);
            proposal
        };
        let proposals = axes.codes.iter().map(proposal).collect();
        Ok(StartedModel { model: model.with_parameters(parameters)?, proposals, objective })
    }
}

/// The model whose code is the adapted part of θ itself.
fn direct_model(spec: &Architecture, scaling: &Scaling, random: &mut Random) -> Result<System> {
    let mut spec = spec.clone();
    let d_out = spec.network.d_out;
    spec.network.d_code = d_out;
    spec.network.features = FeatureMap::Identity;
    spec.network.hidden.clear();
    spec.network.skip = Skip::None;
    let model = System::initialise(spec, scaling.clone(), random)?;
    let mut parameters = model.parameters().to_vec();
    parameters[..d_out * (d_out + 1)].fill(0.0);
    (0..d_out).for_each(|d| parameters[d * d_out + d] = 1.0);
    if log_noise_places(&model).is_empty() {
        return Err(Error::setting("noise", "a random-effects start needs the block `noise` to be shared"));
    }
    model.with_parameters(parameters)
}

/// The adapted part of θ that these parameters give the code 0.
fn adapted_at_origin(model: &System, parameters: &[f32]) -> Vec<f64> {
    let network = &model.spec().network;
    let phi: Vec<f64> = parameters[..network.n_parameters()].iter().map(|&x| f64::from(x)).collect();
    let mut out = vec![0.0; network.d_out];
    network.forward(&phi, &vec![0.0; network.d_code], (&mut network.tape(1), 0), &mut out);
    out
}

/// N(m₀, (4 s₀)²) of the common mean, entry by entry: where blocks usually start.
struct MeanPrior {
    mean: Vec<f64>,
    spread: Vec<f64>,
}

impl MeanPrior {
    fn new(direct: &System) -> Self {
        let blocks = || direct.layout().blocks().iter().filter(|b| b.role == Role::Adapted);
        Self {
            mean: blocks().flat_map(|b| vec![b.spec.mean; b.spec.len]).collect(),
            spread: blocks().flat_map(|b| vec![b.spec.spread.max(1e-3); b.spec.len]).collect(),
        }
    }
}

impl Fit {
    fn new(direct: &System, n_seq: usize, restarts: usize, random: &mut Random) -> Self {
        let (prior, dim) = (MeanPrior::new(direct), direct.d_code());
        let mut normal = || -> f64 { StandardNormal.sample(random) };
        let mut values = Vec::with_capacity(restarts * (n_seq + 1) * dim);
        for _ in 0..restarts {
            values.extend((0..dim).map(|d| prior.mean[d] + prior.spread[d] * normal()));
            values.extend((0..n_seq * dim).map(|_| FIRST_EFFECT * normal()));
        }
        let moments = vec![[0.0; 2]; values.len()];
        Self { n_seq, dim, restarts, values, moments, objective: vec![f64::INFINITY; restarts] }
    }

    /// m and e_i of one restart.
    fn parts(&self, q: usize, i: usize) -> (&[f64], &[f64]) {
        let start = q * (self.n_seq + 1) * self.dim;
        let effect = start + (i + 1) * self.dim;
        (&self.values[start..start + self.dim], &self.values[effect..effect + self.dim])
    }

    /// θ_i of all sequences of one restart.
    fn member(&self, q: usize) -> Vec<Vec<f64>> {
        let one = |i: usize| {
            let (mean, effect) = self.parts(q, i);
            mean.iter().zip(effect).map(|(m, e)| m + e).collect()
        };
        (0..self.n_seq).map(one).collect()
    }

    /// Gradient of every restart's objective; notes the objectives.
    fn gradient(
        &mut self,
        direct: &System,
        parameters: &[f32],
        batch: &OwnBatch,
        spread: f64,
        prior: &MeanPrior,
    ) -> Vec<f64> {
        let (n, dim, restarts) = (self.n_seq, self.dim, self.restarts);
        let codes = Codes::from_fn(n * restarts, dim, |m, d| {
            let (mean, effect) = self.parts(m % restarts, m / restarts);
            mean[d] + effect[d]
        });
        let found = direct.own_gradient(parameters, &codes, batch, OwnPull::Codes);
        let mut gradient = vec![0.0; self.values.len()];
        let this = &*self;
        let restart = |(q, gradient): (usize, &mut [f64])| {
            let (of_mean, of_effects) = gradient.split_at_mut(dim);
            let mut objective = 0.0;
            for i in 0..n {
                let (_, effect) = this.parts(q, i);
                let at = i * restarts + q;
                objective -= found.log_likelihoods[at];
                for d in 0..dim {
                    let pull = -f64::from(found.codes[at * dim + d]);
                    of_effects[i * dim + d] = pull + effect[d] / (spread * spread);
                    of_mean[d] += pull;
                    objective += 0.5 * (effect[d] / spread).powi(2);
                }
            }
            let (mean, _) = this.parts(q, 0);
            for d in 0..dim {
                let scale = LOOSE * prior.spread[d];
                of_mean[d] += (mean[d] - prior.mean[d]) / (scale * scale);
            }
            objective / n as f64
        };
        let work = gradient.par_chunks_exact_mut((n + 1) * dim).enumerate();
        self.objective = work.map(restart).collect();
        gradient
    }

    /// One step of Adam (β 0.9, 0.99) for all restarts; a gradient that is not finite moves nothing.
    fn descend(&mut self, gradient: &[f64], rate: f64, step: u64) {
        let power = |beta: f64| 1.0 - beta.powf(step as f64);
        let (first, second) = (power(0.9), power(0.99));
        let moments = self.moments.par_iter_mut();
        self.values.par_iter_mut().zip(moments).zip(gradient).with_min_len(4096).for_each(|((x, m), &g)| {
            if g.is_finite() {
                *m = [0.9 * m[0] + 0.1 * g, 0.99 * m[1] + 0.01 * g * g];
                *x -= rate * (m[0] / first) / ((m[1] / second).sqrt() + 1e-8);
            }
        });
    }
}

/// Principal axes of the sequences' parameters.
struct Axes {
    mean: Vec<f64>,
    /// W, d_out × k row-major.
    loadings: Vec<f64>,
    /// z_i of each sequence, k values.
    codes: Vec<Vec<f64>>,
}

impl Axes {
    fn of(parameters: &[Vec<f64>], d_code: usize) -> Self {
        let (n, dim) = (parameters.len(), parameters[0].len());
        let mean: Vec<f64> =
            (0..dim).map(|d| parameters.iter().map(|p| p[d]).sum::<f64>() / n as f64).collect();
        let centred = |i: usize, d: usize| parameters[i][d] - mean[d];
        let mut covariance = vec![0.0; dim * dim];
        for a in 0..dim {
            for b in 0..dim {
                covariance[a * dim + b] =
                    (0..n).map(|i| centred(i, a) * centred(i, b)).sum::<f64>() / n as f64;
            }
        }
        let (values, vectors) = symmetric_eigen(&covariance, dim);
        let mut order: Vec<usize> = (0..dim).collect();
        order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
        let used = d_code.min(n - 1).min(dim);
        let (mut loadings, mut codes) = (vec![0.0; dim * d_code], vec![vec![0.0; d_code]; n]);
        for (j, &axis) in order.iter().take(used).enumerate() {
            let length = values[axis].max(0.0).sqrt();
            if length < 1e-9 {
                break;
            }
            let along = |d: usize| vectors[d * dim + axis];
            (0..dim).for_each(|d| loadings[d * d_code + j] = length * along(d));
            for (i, code) in codes.iter_mut().enumerate() {
                code[j] = (0..dim).map(|d| centred(i, d) * along(d)).sum::<f64>() / length;
            }
        }
        Self { mean, loadings, codes }
    }
}

#[cfg(test)]
#[path = "random_effects_tests.rs"]
mod tests;
