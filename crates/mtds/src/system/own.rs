//! Codes of their own for every sequence: likelihoods, weights and gradients in one pass.
//!
//! ```text
//! ℓ_ik = log p(Y_i | h_φ(z_ik)),  k = 1 … K      w_i = weigh(i, ℓ_i)      ∇ Σ_i Σ_k w_ik ℓ_ik
//! ```
//! What weighs is the caller's: importance weights, 1/K, or one. The weights of a sequence need all of its
//! likelihoods, so its rollouts are kept until then (K at a time, not N·K) and need not be made again.
//!
//! A long sequence may be arranged in windows of time. The state goes on from one to the next, so that likelihoods are
//! the same; gradients stop where a window begins (truncated back-propagation). Only the states at these places are
//! kept, and each window is rolled out again for its adjoint: memory is that of one window.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::particles::GroupInputs;
use super::{CodePacks, Driven, System};
use crate::base::emission::{Group, Pull};
use crate::base::{Given, Likelihood};
use crate::family::Family;
use crate::generator::Tape;
use crate::kernel::{Arch, Kernel, LANES, Lanes, Pack, Scalar, dispatch};

/// Packs per unit of parallel work.
const CHUNK: usize = 16;

/// A family with its sequences one by one.
#[derive(Clone, Debug)]
pub struct OwnBatch {
    /// The windows of each sequence, in order of time; one unless they were asked for.
    sequences: Vec<Arc<[Group<f32>]>>,
    /// Observed values in all.
    pub n_observed: usize,
}

impl OwnBatch {
    /// Arranges a family (in model units).
    #[must_use]
    pub fn new(family: &Family) -> Self {
        Self::windowed(family, usize::MAX)
    }

    /// The same in windows of at most `steps` steps, at least 1, at whose beginnings gradients stop.
    #[must_use]
    pub fn windowed(family: &Family, steps: usize) -> Self {
        let windows = |i: usize| {
            let n_time = family.sequence(i).n_time();
            let starts = (0..n_time).step_by(steps.max(1));
            starts
                .map(|t| Group::of_window(family, i, t..n_time.min(t.saturating_add(steps.max(1)))))
                .collect()
        };
        Self { sequences: (0..family.n_seq()).map(windows).collect(), n_observed: family.n_observed() }
    }

    /// A family (in model units) for a model, which may want the first outputs told and not scored.
    #[must_use]
    pub fn for_model(model: &System, family: &Family, window: Option<usize>) -> Self {
        let seed = model.seed_steps();
        let mut batch = Self::windowed(family, window.unwrap_or(usize::MAX).max(seed));
        if seed == 0 {
            return batch;
        }
        for windows in &mut batch.sequences {
            let mut groups = windows.to_vec();
            groups.iter_mut().take(1).for_each(|first| first.set_apart(seed));
            *windows = groups.into();
        }
        batch.select(&(0..batch.n_seq()).collect::<Vec<_>>())
    }

    /// The sequences at these places.
    #[must_use]
    pub fn select(&self, places: &[usize]) -> Self {
        let sequences: Vec<_> = places.iter().map(|&i| Arc::clone(&self.sequences[i])).collect();
        let counts = sequences.iter().flat_map(|s| s.iter()).flat_map(|window| &window.counts);
        let n_observed = counts.map(|&count| count as usize).sum();
        Self { sequences, n_observed }
    }

    /// The windows of each sequence, in order of time.
    pub(crate) fn windows(&self) -> impl Iterator<Item = &[Group<f32>]> {
        self.sequences.iter().map(|windows| &windows[..])
    }

    /// Number of sequences.
    #[must_use]
    pub fn n_seq(&self) -> usize {
        self.sequences.len()
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
    /// Parameters and codes, both by the weights.
    Both(&'a Weigh<'a>),
}

impl<'a> OwnPull<'a> {
    /// What weighs, where parameters are pulled.
    fn weigh(self) -> Option<&'a Weigh<'a>> {
        match self {
            Self::Parameters(weigh) | Self::Both(weigh) => Some(weigh),
            Self::Nothing | Self::Codes => None,
        }
    }
}

impl std::fmt::Debug for OwnPull<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Nothing => "Nothing",
            Self::Parameters(_) => "Parameters",
            Self::Codes => "Codes",
            Self::Both(_) => "Both",
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
    /// Gradient in the order of [`System::parameters`]; empty unless parameters are pulled.
    pub parameters: Vec<f32>,
    /// w_ik ∂ℓ_ik/∂z_ik, N × K × k, with w = 1 where only codes are pulled; empty unless they are.
    pub codes: Vec<f32>,
    /// With respect to what the front made of each sequence's inputs; empty unless parameters are pulled behind one.
    d_features: Vec<Vec<f32>>,
}

impl System {
    /// Likelihoods of every sequence under its own codes, and the gradient that `pull` asks for.
    ///
    /// # Shapes
    /// `parameters`: [`System::n_parameters`]; `codes`: N × K × k, for the N sequences of `batch`.
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
        let driven = self.drive_own(parameters, batch);
        let parts: Vec<OwnResult> = (0..n_seq.div_ceil(per_chunk))
            .into_par_iter()
            .map(|chunk| {
                let sequences = chunk * per_chunk..n_seq.min((chunk + 1) * per_chunk);
                let driven = &driven;
                dispatch(OwnChunk { model: self, parameters, codes, batch, driven, pull, sequences })
            })
            .collect();
        let mut all = OwnResult::default();
        if pull.weigh().is_some() {
            all.parameters = vec![0.0; parameters.len()];
        }
        for part in parts {
            all.log_likelihoods.extend(part.log_likelihoods);
            all.weights.extend(part.weights);
            all.codes.extend(part.codes);
            all.parameters.iter_mut().zip(&part.parameters).for_each(|(sum, part)| *sum += part);
            all.d_features.extend(part.d_features);
        }
        if pull.weigh().is_some() {
            self.pull_front(driven, &all.d_features, &mut all.parameters);
        }
        all
    }
}

/// Sequences with their codes.
pub(crate) struct OwnChunk<'a> {
    model: &'a System,
    parameters: &'a [f32],
    codes: &'a OwnCodes,
    batch: &'a OwnBatch,
    driven: &'a Option<Driven>,
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
    /// Passes over one sequence, of each of its packs; only the first is used where there are windows.
    likelihoods: Vec<Likelihood<S>>,
    /// What is known of the states at which the windows of each pack begin; the first, that of θ, is not written.
    starts: Vec<S>,
    d_theta: Vec<S>,
    /// With respect to the features of one sequence.
    d_features: Vec<S>,
}

/// What is passed over, and what keeps the pass.
type Pass<'s, S> = (Given<'s, S>, &'s mut Likelihood<S>);

/// The windows of one sequence, and their inputs in every lane.
struct Windows<'a, S: Scalar> {
    groups: &'a [Group<S::Real>],
    inputs: Vec<GroupInputs<S>>,
    /// Where the features of each window lie among those of the sequence; empty without a front.
    features: Vec<Range<usize>>,
}

impl<'a, S: Scalar> Windows<'a, S> {
    #[inline(always)]
    fn new(groups: &'a [Group<S::Real>], features: Option<&[S::Real]>) -> Self {
        let Some(features) = features else {
            return Self { groups, inputs: groups.iter().map(GroupInputs::new).collect(), features: vec![] };
        };
        let n_time: usize = groups.iter().map(|group| group.n_time).sum();
        let width = features.len() / n_time.max(1);
        let (mut start, mut places, mut inputs) = (0, vec![], vec![]);
        for group in groups {
            let place = start..start + group.n_time * width;
            inputs.push(GroupInputs::of_features(&features[place.clone()], group.n_time));
            start = place.end;
            places.push(place);
        }
        Self { groups, inputs, features: places }
    }
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
            likelihoods: vec![],
            starts: vec![],
            d_theta: vec![P::zero(); layout.d_theta()],
            d_features: vec![],
        };
        let mut found = OwnResult { parameters: vec![0.0; self.parameters.len()], ..OwnResult::default() };
        for (place, i) in self.sequences.clone().enumerate() {
            let features = self.driven.as_ref().map(|driven| driven.features(i));
            let windows = Windows::new(&self.batch.sequences[i], features);
            scratch.d_features.clear();
            scratch.d_features.resize(features.map_or(0, <[f32]>::len), P::zero());
            self.roll_out(i, place * packs, &windows, &mut scratch, &mut found.log_likelihoods);
            let ours = place * self.codes.per_sequence..(place + 1) * self.codes.per_sequence;
            match self.pull.weigh() {
                Some(weigh) => {
                    found.weights.resize(ours.end, 0.0);
                    weigh(i, &found.log_likelihoods[ours.clone()], &mut found.weights[ours.clone()]);
                }
                None => found.weights.resize(ours.end, 1.0),
            }
            if !matches!(self.pull, OwnPull::Nothing) {
                let weights = &found.weights[ours];
                self.pull_back(place * packs, &windows, weights, &mut scratch, &mut found.parameters);
                let lanes = |d: &P<A>| d.to_array().iter().sum::<f32>();
                found.d_features.push(scratch.d_features.iter().map(lanes).collect());
            }
            if matches!(self.pull, OwnPull::Codes | OwnPull::Both(_)) {
                self.pull_to_codes(place * packs, &mut scratch, &mut found.codes);
            }
        }
        if self.pull.weigh().is_some() {
            let d_phi = &mut found.parameters[..network.n_parameters()];
            network.weight_gradient(&scratch.tape, &scratch.adapted, &scratch.codes, d_phi);
        } else {
            found.weights.clear();
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
        windows: &Windows<'_, Pack<f32, A>>,
        scratch: &mut Scratch<Pack<f32, A>>,
        log_likelihoods: &mut Vec<f64>,
    ) {
        let (network, layout) = (&self.model.spec.network, &self.model.layout);
        let (phi, shared) = self.parameters.split_at(network.n_parameters());
        let packs = self.codes.packs_each();
        let (d_code, d_out, d_theta) = (network.d_code, network.d_out, layout.d_theta());
        scratch.starts.resize(packs * windows.groups.len() * self.model.spec.base.d_belief(), Pack::zero());
        for p in 0..packs {
            let place = first + p;
            scratch.codes.extend(self.codes.codes.pack::<A>(i * packs + p));
            let code = &scratch.codes[place * d_code..];
            let adapted = &mut scratch.adapted[place * d_out..(place + 1) * d_out];
            network.forward(phi, code, (&mut scratch.tape, place), adapted);
            let theta = &mut scratch.thetas[p * d_theta..(p + 1) * d_theta];
            layout.assemble(adapted, shared, theta);
            log_likelihoods.extend(self.score(p, windows, scratch));
        }
    }

    /// Log likelihoods of a pack; leaves its rollout, and the states at which its windows begin.
    #[inline(always)]
    fn score<A: Arch>(
        &self,
        p: usize,
        windows: &Windows<'_, Pack<f32, A>>,
        scratch: &mut Scratch<Pack<f32, A>>,
    ) -> [f64; LANES] {
        let (n_windows, n) = (windows.groups.len(), self.model.spec.base.d_belief());
        let (mut total, mut densities) = ([0.0; LANES], [0.0; LANES]);
        for w in 0..n_windows {
            let (given, likelihood) = self.window((p, w), windows, scratch);
            likelihood.turn_to(given.base, given.group);
            likelihood.run(given);
            likelihood.log_density(given, &mut densities);
            for lane in 0..LANES {
                total[lane] += densities[lane];
            }
            if w + 1 < n_windows {
                let next = (p * n_windows + w + 1) * n;
                scratch.starts[next..next + n].copy_from_slice(scratch.likelihoods[0].end());
            }
        }
        total
    }

    /// One window of a pack, from θ's start or what was kept, and the pass that goes over it.
    #[inline(always)]
    fn window<'s, A: Arch>(
        &'s self,
        (p, w): (usize, usize),
        windows: &'s Windows<'_, Pack<f32, A>>,
        scratch: &'s mut Scratch<Pack<f32, A>>,
    ) -> Pass<'s, Pack<f32, A>> {
        let (base, group) = (&self.model.spec.base, &windows.groups[w]);
        let (n_windows, n, d_theta) = (windows.groups.len(), base.d_belief(), self.model.layout.d_theta());
        let which = if n_windows == 1 { p } else { 0 };
        while scratch.likelihoods.len() <= which {
            scratch.likelihoods.push(Likelihood::new(base, group));
        }
        let theta = &scratch.thetas[p * d_theta..(p + 1) * d_theta];
        let at = (p * n_windows + w) * n;
        let start = (w > 0).then(|| &scratch.starts[at..at + n]);
        let given = Given { base, theta, start, drive: windows.inputs[w].drive(group), group };
        (given, &mut scratch.likelihoods[which])
    }

    /// Gradients of the weighted likelihoods: shared blocks are added to `parameters`, hidden layers left on the tape.
    #[inline(always)]
    fn pull_back<A: Arch>(
        &self,
        first: usize,
        windows: &Windows<'_, Pack<f32, A>>,
        weights: &[f64],
        scratch: &mut Scratch<Pack<f32, A>>,
        parameters: &mut [f32],
    ) {
        let (network, layout) = (&self.model.spec.network, &self.model.layout);
        let phi = &self.parameters[..network.n_parameters()];
        let d_shared = &mut parameters[phi.len()..];
        let d_out = network.d_out;
        for p in 0..self.codes.packs_each() {
            let weight = Pack::from_fn(|lane| weights[p * LANES + lane] as f32);
            scratch.d_theta.fill(Pack::zero());
            for w in 0..windows.groups.len() {
                self.pull_window((p, w), windows, weight, scratch);
            }
            let place = first + p;
            let adapted = &mut scratch.adapted[place * d_out..(place + 1) * d_out];
            layout.assemble_adjoint(&scratch.d_theta, adapted, d_shared);
            network.pull_back(phi, (&mut scratch.tape, place), adapted);
        }
    }

    /// Adds what one window of a pack gives to the gradient of θ.
    #[inline(always)]
    fn pull_window<A: Arch>(
        &self,
        (p, w): (usize, usize),
        windows: &Windows<'_, Pack<f32, A>>,
        weight: Pack<f32, A>,
        scratch: &mut Scratch<Pack<f32, A>>,
    ) {
        let mut d_theta = std::mem::take(&mut scratch.d_theta);
        let mut d_features = std::mem::take(&mut scratch.d_features);
        let place = windows.features.get(w).cloned().unwrap_or(0..0);
        let (given, likelihood) = self.window((p, w), windows, scratch);
        // The pass over a whole sequence is still there; that over a window has given way to the next.
        if windows.groups.len() > 1 {
            likelihood.turn_to(given.base, given.group);
            likelihood.run(given);
        }
        likelihood.pull(given, Pull::Dense(&[weight]), (&mut d_theta, &mut d_features[place]));
        (scratch.d_theta, scratch.d_features) = (d_theta, d_features);
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
