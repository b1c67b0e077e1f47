//! Codes of their own for every sequence: likelihoods, weights and gradients in one pass.
//!
//! ```text
//! ℓ_ik = log p(Y_i | h_φ(z_ik)),  k = 1 … K      w_i = weigh(i, ℓ_i)      ∇ Σ_i Σ_k w_ik ℓ_ik
//! ```
//! What weighs is the caller's: importance weights, 1/K, or one. The weights of a sequence need all of its
//! likelihoods, so its rollouts are kept until then (K at a time, not N·K) and need not be made again.

use std::ops::Range;

use rayon::prelude::*;

use super::particles::GroupInputs;
use super::{CodePacks, Model};
use crate::base::emission::{Group, Pull};
use crate::base::{Trace, TraceGradient};
use crate::family::Family;
use crate::generator::Tape;
use crate::kernel::{Arch, Kernel, LANES, Lanes, Pack, Scalar, dispatch};

/// Packs per unit of parallel work.
const CHUNK: usize = 16;

/// A family with its sequences one by one.
#[derive(Clone, Debug)]
pub struct OwnBatch {
    groups: Vec<Group<f32>>,
    /// Observed values in all.
    pub n_observed: usize,
}

impl OwnBatch {
    /// Arranges a family (in model units).
    #[must_use]
    pub fn new(family: &Family) -> Self {
        let groups = (0..family.n_seq()).map(|i| Group::of_sequence(family, i)).collect();
        Self { groups, n_observed: family.n_observed() }
    }

    /// Number of sequences.
    #[must_use]
    pub fn n_seq(&self) -> usize {
        self.groups.len()
    }
}

/// K codes for each of N sequences, sequence by sequence; K is a whole number of packs.
#[derive(Clone, Debug)]
pub struct OwnCodes {
    codes: CodePacks<f32>,
    per_sequence: usize,
}

impl OwnCodes {
    /// The least number of codes per sequence that is at least `wanted` and fills whole packs.
    #[must_use]
    pub fn round_up(wanted: usize) -> usize {
        wanted.max(1).div_ceil(LANES) * LANES
    }

    /// `at(i, k, d)` is dimension `d` of code `k` of sequence `i`; `per_sequence` as [`OwnCodes::round_up`] gives it.
    ///
    /// # Panics
    /// If `per_sequence` does not fill whole packs.
    #[must_use]
    pub fn from_fn(
        n_seq: usize,
        per_sequence: usize,
        d_code: usize,
        at: impl Fn(usize, usize, usize) -> f64 + Sync,
    ) -> Self {
        assert_eq!(per_sequence % LANES, 0, "codes per sequence fill whole packs");
        let place = |m: usize, d: usize| at(m / per_sequence, m % per_sequence, d);
        Self { codes: CodePacks::from_fn(n_seq * per_sequence, d_code, place), per_sequence }
    }

    fn packs_each(&self) -> usize {
        self.per_sequence / LANES
    }
}

/// Writes the K weights of a sequence, given its place and its K log likelihoods.
pub type Weigh<'a> = dyn Fn(usize, &[f64], &mut [f64]) + Sync + 'a;

/// What is pulled, and by which weights.
#[derive(Clone, Copy)]
pub enum OwnPull<'a> {
    /// Nothing: likelihoods only.
    Nothing,
    /// The parameters; `weigh(i, ℓ_i, w_i)` writes the K weights of sequence i.
    Parameters(&'a Weigh<'a>),
    /// The codes, each by its own likelihood with weight one.
    Codes,
}

impl std::fmt::Debug for OwnPull<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Nothing => "Nothing",
            Self::Parameters(_) => "Parameters",
            Self::Codes => "Codes",
        })
    }
}

/// What a pass over all sequences found.
#[derive(Clone, Debug, Default)]
pub struct OwnResult {
    /// ℓ_ik, N × K.
    pub log_likelihoods: Vec<f64>,
    /// w_ik, N × K; empty unless parameters are pulled.
    pub weights: Vec<f64>,
    /// Gradient in the order of [`Model::parameters`]; empty unless parameters are pulled.
    pub parameters: Vec<f32>,
    /// ∂ℓ_ik/∂z_ik, N × K × k; empty unless codes are pulled.
    pub codes: Vec<f32>,
}

impl Model {
    /// Likelihoods of every sequence under its own codes, and the gradient that `pull` asks for.
    ///
    /// # Shapes
    /// `parameters`: [`Model::n_parameters`]; `codes`: N × K × k, for the N sequences of `batch`.
    #[must_use]
    pub fn own_gradient(
        &self,
        parameters: &[f32],
        codes: &OwnCodes,
        batch: &OwnBatch,
        pull: OwnPull<'_>,
    ) -> OwnResult {
        let per_chunk = CHUNK.div_ceil(codes.packs_each());
        let n_seq = batch.n_seq();
        let parts: Vec<OwnResult> = (0..n_seq.div_ceil(per_chunk))
            .into_par_iter()
            .map(|chunk| {
                let sequences = chunk * per_chunk..n_seq.min((chunk + 1) * per_chunk);
                dispatch(OwnChunk { model: self, parameters, codes, batch, pull, sequences })
            })
            .collect();
        let mut all = OwnResult::default();
        if matches!(pull, OwnPull::Parameters(_)) {
            all.parameters = vec![0.0; parameters.len()];
        }
        for part in parts {
            all.log_likelihoods.extend(part.log_likelihoods);
            all.weights.extend(part.weights);
            all.codes.extend(part.codes);
            all.parameters.iter_mut().zip(&part.parameters).for_each(|(sum, part)| *sum += part);
        }
        all
    }
}

/// Sequences with their codes.
pub(crate) struct OwnChunk<'a> {
    model: &'a Model,
    parameters: &'a [f32],
    codes: &'a OwnCodes,
    batch: &'a OwnBatch,
    pull: OwnPull<'a>,
    sequences: Range<usize>,
}

/// Buffers of a chunk: networks of all its packs, rollouts of one sequence.
struct Scratch<S> {
    tape: Tape<S>,
    codes: Vec<S>,
    /// Adapted θ, then its gradient, pack by pack.
    adapted: Vec<S>,
    /// θ of one sequence's packs.
    thetas: Vec<S>,
    traces: Vec<Trace<S>>,
    d_theta: Vec<S>,
    d_outputs: Vec<S>,
}

impl Kernel for OwnChunk<'_> {
    type Output = OwnResult;

    #[inline(always)]
    fn run<A: Arch>(self) -> OwnResult {
        type P<A> = Pack<f32, A>;
        let (network, layout) = (&self.model.spec.network, &self.model.layout);
        let packs = self.codes.packs_each();
        let n_packs = packs * self.sequences.len();
        let mut scratch = Scratch::<P<A>> {
            tape: network.tape(n_packs),
            codes: vec![],
            adapted: vec![P::zero(); n_packs * network.d_out],
            thetas: vec![P::zero(); packs * layout.d_theta()],
            traces: vec![],
            d_theta: vec![P::zero(); layout.d_theta()],
            d_outputs: vec![],
        };
        let mut found = OwnResult { parameters: vec![0.0; self.parameters.len()], ..OwnResult::default() };
        for (place, i) in self.sequences.clone().enumerate() {
            let group = &self.batch.groups[i];
            let inputs = GroupInputs::new(group);
            self.roll_out(i, place * packs, &inputs, &mut scratch, &mut found.log_likelihoods);
            match self.pull {
                OwnPull::Nothing => {}
                OwnPull::Parameters(weigh) => {
                    let first = found.weights.len();
                    found.weights.resize(first + self.codes.per_sequence, 0.0);
                    let ours = first..first + self.codes.per_sequence;
                    weigh(i, &found.log_likelihoods[ours.clone()], &mut found.weights[ours.clone()]);
                    let weights = &found.weights[ours];
                    self.pull_back(i, place * packs, &inputs, weights, &mut scratch, &mut found.parameters);
                }
                OwnPull::Codes => {
                    let ones = vec![1.0; self.codes.per_sequence];
                    let unused = &mut found.parameters;
                    self.pull_back(i, place * packs, &inputs, &ones, &mut scratch, unused);
                    self.pull_to_codes(place * packs, &mut scratch, &mut found.codes);
                }
            }
        }
        if matches!(self.pull, OwnPull::Parameters(_)) {
            let d_phi = &mut found.parameters[..network.n_parameters()];
            network.weight_gradient(&scratch.tape, &scratch.adapted, &scratch.codes, d_phi);
        }
        found
    }
}

impl OwnChunk<'_> {
    /// Generates, rolls out and scores the codes of sequence `i`, whose packs begin at `first` of the chunk.
    #[inline(always)]
    fn roll_out<A: Arch>(
        &self,
        i: usize,
        first: usize,
        inputs: &GroupInputs<Pack<f32, A>>,
        scratch: &mut Scratch<Pack<f32, A>>,
        log_likelihoods: &mut Vec<f64>,
    ) {
        let (base, group) = (&self.model.spec.base, &self.batch.groups[i]);
        let (network, layout) = (&self.model.spec.network, &self.model.layout);
        let (phi, shared) = self.parameters.split_at(network.n_parameters());
        let packs = self.codes.packs_each();
        if scratch.traces.first().is_none_or(|t| t.n_time != group.n_time) {
            scratch.traces.clear();
            for _ in 0..packs {
                scratch.traces.push(base.trace(group.n_time));
            }
        }
        let (d_code, d_out, d_theta) = (network.d_code, network.d_out, layout.d_theta());
        let mut densities = [0.0; LANES];
        for p in 0..packs {
            let place = first + p;
            scratch.codes.extend(self.codes.codes.pack::<A>(i * packs + p));
            let code = &scratch.codes[place * d_code..];
            let adapted = &mut scratch.adapted[place * d_out..(place + 1) * d_out];
            network.forward(phi, code, (&mut scratch.tape, place), adapted);
            let theta = &mut scratch.thetas[p * d_theta..(p + 1) * d_theta];
            layout.assemble(adapted, shared, theta);
            base.roll_out(theta, None, inputs.drive(group), &mut scratch.traces[p]);
            base.noise().log_density(theta, &scratch.traces[p].outputs, group, &mut densities);
            log_likelihoods.extend(densities);
        }
    }

    /// Gradients of the weighted likelihoods: shared blocks are added to `parameters`, hidden layers left on the tape.
    #[inline(always)]
    fn pull_back<A: Arch>(
        &self,
        i: usize,
        first: usize,
        inputs: &GroupInputs<Pack<f32, A>>,
        weights: &[f64],
        scratch: &mut Scratch<Pack<f32, A>>,
        parameters: &mut [f32],
    ) {
        let (base, group) = (&self.model.spec.base, &self.batch.groups[i]);
        let (network, layout) = (&self.model.spec.network, &self.model.layout);
        let phi = &self.parameters[..network.n_parameters()];
        let d_shared = &mut parameters[phi.len()..];
        let (noise, start) = (base.noise(), base.start_range());
        let (d_out, n_theta) = (network.d_out, layout.d_theta());
        scratch.d_outputs.resize(group.n_time * group.d_obs, Pack::zero());
        let mut d_start = vec![Pack::zero(); base.d_state()];
        for p in 0..self.codes.packs_each() {
            let weight = [Pack::from_fn(|lane| weights[p * LANES + lane] as f32)];
            let theta = &scratch.thetas[p * n_theta..(p + 1) * n_theta];
            let trace = &scratch.traces[p];
            scratch.d_theta.fill(Pack::zero());
            let gradients = (scratch.d_outputs.as_mut_slice(), scratch.d_theta.as_mut_slice());
            noise.pull(theta, &trace.outputs, group, Pull::Dense(&weight), gradients);
            let outputs = &scratch.d_outputs;
            let gradient = TraceGradient { outputs, theta: &mut scratch.d_theta, start: &mut d_start };
            base.pull_back(theta, inputs.drive(group), trace, gradient);
            for (at, &d) in start.clone().zip(&d_start) {
                scratch.d_theta[at] += d;
            }
            let place = first + p;
            let adapted = &mut scratch.adapted[place * d_out..(place + 1) * d_out];
            layout.assemble_adjoint(&scratch.d_theta, adapted, d_shared);
            network.pull_back(phi, (&mut scratch.tape, place), adapted);
        }
    }

    /// Gradients with respect to the codes of one sequence, after [`OwnChunk::pull_back`].
    #[inline(always)]
    fn pull_to_codes<A: Arch>(
        &self,
        first: usize,
        scratch: &mut Scratch<Pack<f32, A>>,
        codes: &mut Vec<f32>,
    ) {
        let network = &self.model.spec.network;
        let phi = &self.parameters[..network.n_parameters()];
        let mut d_code = vec![Pack::zero(); network.d_code];
        for place in first..first + self.codes.packs_each() {
            let adapted = &scratch.adapted[place * network.d_out..(place + 1) * network.d_out];
            d_code.fill(Pack::zero());
            network.pull_back_to_code(phi, (&mut scratch.tape, place), adapted, &mut d_code);
            for lane in 0..LANES {
                codes.extend(d_code.iter().map(|d| d.lane(lane)));
            }
        }
    }
}
