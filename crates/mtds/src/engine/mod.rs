//! The one place that computes with models: coarse operations over whole sets of codes and sequences.
//!
//! ```text
//! score          log p(Y_i | h_φ(z_m)) of every sequence under every code, M × N
//! gradient       ∇_φ Σ_mi w_mi log p(Y_i | z_m), w from scores
//! own            ℓ_ik = log p(Y_i | h_φ(z_ik)), codes of each sequence's own; ∇ Σ_ik w_ik ℓ_ik for φ, for z, or both
//! densities      log p(Y | u) of one sequence at many points, perhaps with gradients, in f32 or f64
//! beliefs        what is known of a state after the last observation, by code
//! ahead          steps ahead of a random state
//! simulate       predicted outputs by code; morph: while the code moves; innovations: errors one step ahead
//! features       what the front of a layered model makes of inputs
//! ```
//! What goes in is plain: matrices of codes, sequences arranged in groups, flat parameters. No operation shows a time step or
//! asks its caller anything half-way: weights are data ([`Weights`], [`OwnWeights`]), so that rollout, weights and adjoint can
//! stay on one device. Big results may stay where they were computed ([`CodeScores`]).
//!
//! [`System`](crate::system::System) holds its engine, so that callers know none. `cpu` is this machine's processor, `cuda` an NVIDIA card;
//! a [`Device`] names one of them. Steps of learning that an engine takes whole are `resident`.

mod codes;
pub(crate) mod cpu;
mod cuda;
mod device;
mod device_name;
mod own;
mod precision;
pub(crate) mod resident;
mod scores;

use std::fmt::Debug;

pub use codes::Codes;
pub use device::{Device, Products};
pub use device_name::DeviceName;
pub use own::{Importance, OwnBatch, OwnPull, OwnResult, OwnWeights, normalised};
pub use precision::Precision;
pub use scores::CodeScores;

use crate::Result;
use crate::base::emission::{Batch, Group};
use crate::family::Signal;
use crate::front::FrontReading;
use crate::kernel::Real;
use crate::random::Random;
use crate::system::System;
use resident::{Beginning, Resident, ResidentTask};

/// A system with parameters that are tried out.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a, R = f32> {
    /// Its architecture.
    pub system: &'a System,
    /// In the order of [`System::parameters`], in the precision of the computation.
    pub parameters: &'a [R],
}

/// How strongly each sequence pulls on each code, one N-th each.
#[derive(Debug)]
pub enum Weights<'a> {
    /// w_mi = (1/N) e^{score_mi} / Σ_m' e^{score_m'i}. The scores are used up: they turn into the weights.
    Normalised(&'a mut CodeScores),
    /// For each sequence `per_sequence` codes, where these weights, cumulated, reach `uniforms`; each pulls by 1 / (N · per_sequence).
    Resampled {
        /// From these codes and sequences.
        scores: &'a CodeScores,
        /// Codes for each sequence, at least 1.
        per_sequence: usize,
        /// N × `per_sequence` numbers in (0, 1).
        uniforms: &'a [f64],
    },
    /// For each code, (sequence, weight).
    Pairs(&'a [Vec<(usize, f64)>]),
}

/// Gradient of Σ_m Σ_i w_mi log p(Y_i | z_m) with respect to the parameters.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// In the order of [`System::parameters`].
    pub parameters: Vec<f32>,
    /// The weighted sum itself.
    pub weighted_log_likelihood: f64,
}

/// One sequence under a system: points are codes, perhaps with δ behind them, by which log s is raised.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'a, R> {
    /// System and parameters.
    pub trial: Trial<'a, R>,
    /// The sequence, alone in its group.
    pub group: &'a Group<R>,
}

/// Where states begin that are not those of θ: n × [`Base::d_belief`](crate::base::Base::d_belief), a row per code; empty for θ's own.
pub type Starts<'a> = &'a [f64];

/// Rollouts of M codes.
#[derive(Clone, Debug, Default)]
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

/// Steps ahead of random states, in model units.
#[derive(Debug, Default)]
pub(crate) struct StepsAhead {
    /// n_codes × n_time × p.
    pub means: Vec<f64>,
    /// Factors of the covariances, n_codes × n_time × p × p.
    pub factors: Vec<f64>,
    /// One path each, n_codes × n_time × p, without the noise of the outputs.
    pub paths: Vec<f64>,
    /// Factors of S, n_codes × p × p.
    pub noise: Vec<f64>,
}

/// Evaluates one point after another: takes its coordinates, writes the gradient, returns log p(Y | u).
pub(crate) type PointEvaluator<'a> = Box<dyn FnMut(&[f64], &mut [f64]) -> f64 + 'a>;

/// What can compute with models; sizes were checked before.
pub(crate) trait Engine: Debug + Send + Sync {
    /// Scores every sequence of `batch` under every code, into a table that is used again: fresh memory costs more than some models.
    fn score(&self, trial: Trial<'_>, codes: &Codes, batch: &Batch<f32>, scores: &mut CodeScores);

    /// Gradient of the weighted log likelihood with respect to the parameters.
    fn gradient(&self, trial: Trial<'_>, codes: &Codes, batch: &Batch<f32>, weights: Weights<'_>)
    -> Gradient;

    /// Likelihoods of every sequence under its own codes, N · K rows sequence by sequence, and the gradients that `pull` asks for.
    fn own(&self, trial: Trial<'_>, codes: &Codes, of: (&OwnBatch, OwnPull<'_>), result: &mut OwnResult);

    /// Adds log p(Y | u) of each point to `out`.
    fn densities_single(&self, of: Observed<'_, f32>, points: &Codes, starts: Starts<'_>, out: &mut [f64]);
    /// The same in double precision.
    fn densities_double(&self, of: Observed<'_, f64>, points: &Codes, starts: Starts<'_>, out: &mut [f64]);

    /// log p(Y | u) of each point, and its gradient, n × dim: both added to what is there.
    fn slopes_single(&self, of: Observed<'_, f32>, points: &Codes, out: &mut [f64], gradient: &mut [f64]);
    /// The same in double precision.
    fn slopes_double(&self, of: Observed<'_, f64>, points: &Codes, out: &mut [f64], gradient: &mut [f64]);
    /// The same at one point after another, for samplers.
    fn point_by_point<'a>(&self, of: Observed<'a, f64>) -> PointEvaluator<'a>;

    /// What is known of the state after the last step, for each point: n × [`Base::d_belief`](crate::base::Base::d_belief).
    fn beliefs(&self, of: Observed<'_, f32>, points: &Codes, starts: Starts<'_>) -> Vec<f64>;

    /// Exact distributions, and one path each, of `n_time` steps ahead of beliefs about random states.
    fn ahead(
        &self,
        system: &System,
        points: &Codes,
        from: FutureSteps<'_>,
        random: &mut Random,
    ) -> StepsAhead;

    /// Rolls out `n_time` steps for each code, from the states that are given or from θ's own.
    fn simulate(&self, system: &System, codes: &Codes, from: FutureSteps<'_>) -> Rollout;

    /// Rolls out one sequence whose code at step t is row t: n_time × d_obs, in double precision.
    fn morph(&self, system: &System, path: &Codes, inputs: Option<&Signal>) -> Vec<f64>;

    /// Errors one step ahead of a sequence with this code, in standard deviations: n_time × d_obs.
    fn innovations(&self, system: &System, code: &[f64], steps: ScoredSteps<'_>) -> Result<Vec<f64>>;

    /// What the front of the system makes of one sequence, n_time × d_out, and its last state; from `state` or from its beginning.
    fn features(
        &self,
        system: &System,
        reading: FrontReading<'_>,
        state: Option<&[f32]>,
    ) -> (Vec<f32>, Vec<f32>);

    /// Learning whose steps this engine takes whole; nothing where it has none for the system.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    fn resident(&self, _: &ResidentTask<'_>, _: Beginning<'_>) -> Result<Option<Box<dyn Resident>>> {
        Ok(None)
    }

    /// What went wrong so far, and was done by another engine.
    fn trouble(&self) -> Option<String> {
        None
    }
}

/// A sequence in model units, and which of its values count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScoredSteps<'a> {
    pub outputs: &'a Signal,
    /// Of the base model.
    pub inputs: Option<&'a Signal>,
    /// Whether each output is observed and scored.
    pub mask: &'a [bool],
}

/// Where steps ahead begin, and what drives them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FutureSteps<'a> {
    /// What is known of the states.
    pub starts: Starts<'a>,
    /// Of the base model, in model units, at least n_time steps.
    pub inputs: Option<&'a Signal>,
    /// Steps.
    pub n_time: usize,
}

impl<'a, R: Real> Trial<'a, R> {
    /// φ, then the shared blocks and what is behind them.
    #[inline(always)]
    pub(crate) fn split(&self) -> (&'a [R], &'a [R]) {
        self.parameters.split_at(self.system.spec().network.n_parameters())
    }
}
