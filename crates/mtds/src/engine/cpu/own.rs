//! Codes of their own for every sequence, in lanes: likelihoods, weights and gradients in one pass.
//!
//! The weights of a sequence need all of its likelihoods, so its rollouts are kept until then (K at a time, not N·K) and need
//! not be made again. Of a sequence in windows only the states at which they begin are kept, and each window is rolled out
//! again for its adjoint: memory is that of one window.

use std::ops::Range;

use rayon::prelude::*;

use super::front::Driven;
use super::packs::codes_from;
use crate::base::emission::{Group, Pull};
use crate::base::{GroupInputs, Likelihood, Subject};
use crate::engine::{Codes, OwnBatch, OwnPull, OwnResult, OwnWeights, Trial};
use crate::generator::Tape;
use crate::kernel::{Arch, Kernel, LANES, Lanes, Pack, Scalar, dispatch};

/// Packs per unit of parallel work.
const CHUNK: usize = 16;

/// [`Engine::own`](crate::engine::Engine::own).
pub(super) fn own(
    trial: Trial<'_>,
    codes: &Codes,
    (batch, pull): (&OwnBatch, OwnPull<'_>),
    result: &mut OwnResult,
) {
    let n_seq = batch.n_seq();
    let per_sequence = codes.len() / n_seq.max(1);
    let known = shared_likelihoods(trial, codes, batch, pull);
    let driven = Driven::of_own(trial, batch, std::mem::take(&mut result.memory.front));
    let per_chunk = CHUNK.div_ceil(per_sequence.div_ceil(LANES).max(1));
    let parts: Vec<ChunkResult> = (0..n_seq.div_ceil(per_chunk))
        .into_par_iter()
        .map(|chunk| {
            let sequences = chunk * per_chunk..n_seq.min((chunk + 1) * per_chunk);
            let (driven, known) = (&driven, known.as_deref());
            dispatch(OwnChunk { trial, codes, per_sequence, batch, driven, pull, known, sequences })
        })
        .collect();
    result.clear(trial.parameters.len(), pull);
    let mut d_features = vec![];
    for ChunkResult { found: part, d_features: pulled } in parts {
        result.log_likelihoods.extend(part.log_likelihoods);
        result.weights.extend(part.weights);
        result.codes.extend(part.codes);
        result.parameters.iter_mut().zip(&part.parameters).for_each(|(sum, part)| *sum += part);
        d_features.extend(pulled);
    }
    if let Some(driven) = driven {
        result.memory.front = match pull.weights() {
            Some(_) => driven.pull(trial.system, &d_features, &mut result.parameters),
            None => driven.into_pass(),
        };
    }
}

/// Σ ℓ over the sequences of each set of codes, J × K, where a set serves several: all of them are scored before any is weighed.
pub(super) fn shared_likelihoods(
    trial: Trial<'_>,
    codes: &Codes,
    batch: &OwnBatch,
    pull: OwnPull<'_>,
) -> Option<Vec<f64>> {
    let Some(OwnWeights::Importance(rule)) = pull.weights() else { return None };
    let k = codes.len() / batch.n_seq().max(1);
    rule.is_shared(k).then(|| {
        let found = trial.system.own_gradient(trial.parameters, codes, batch, OwnPull::Nothing);
        let mut totals = vec![0.0; rule.log_ratios.len()];
        for (own, &j) in found.log_likelihoods.chunks_exact(k).zip(rule.code_of) {
            totals[j * k..(j + 1) * k].iter_mut().zip(own).for_each(|(sum, l)| *sum += l);
        }
        totals
    })
}

/// Writes the K weights of sequence `i`; `known` are likelihoods by set of codes, where there are any.
pub(in crate::engine) fn weigh(
    rule: OwnWeights<'_>,
    (i, known): (usize, Option<&[f64]>),
    likelihoods: &[f64],
    weights: &mut [f64],
) {
    let k = weights.len();
    match rule {
        OwnWeights::Equal(weight) => weights.fill(weight),
        OwnWeights::Fixed(all) => weights.copy_from_slice(&all[i * k..(i + 1) * k]),
        OwnWeights::Importance(rule) => {
            let j = rule.code_of[i];
            rule.weigh(i, known.map_or(likelihoods, |all| &all[j * k..(j + 1) * k]), weights);
        }
    }
}

/// What a chunk found, and gradients with respect to the features of its sequences.
#[derive(Default)]
struct ChunkResult {
    found: OwnResult,
    d_features: Vec<Vec<f32>>,
}

/// Sequences with their codes.
struct OwnChunk<'a> {
    trial: Trial<'a>,
    codes: &'a Codes,
    /// Codes K of each sequence.
    per_sequence: usize,
    batch: &'a OwnBatch,
    driven: &'a Option<Driven>,
    pull: OwnPull<'a>,
    /// Likelihoods by set of codes, where weights need those of several sequences.
    known: Option<&'a [f64]>,
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
type Pass<'s, S> = (Subject<'s, S>, &'s mut Likelihood<S>);

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
    type Output = ChunkResult;

    #[inline(always)]
    fn run<A: Arch>(self) -> ChunkResult {
        type P<A> = Pack<f32, A>;
        let system = self.trial.system;
        let (network, layout) = (&system.spec().network, system.layout());
        let packs = self.packs_each();
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
        let parameters = vec![0.0; system.front_range().start];
        let mut found = OwnResult { parameters, ..OwnResult::default() };
        let mut d_features = vec![];
        for (place, i) in self.sequences.clone().enumerate() {
            let features = self.driven.as_ref().map(|driven| driven.features(i));
            let windows = Windows::new(self.batch.windows(i), features);
            scratch.d_features.clear();
            scratch.d_features.resize(features.map_or(0, <[f32]>::len), P::zero());
            self.roll_out(i, place * packs, &windows, &mut scratch, &mut found.log_likelihoods);
            let ours = place * self.per_sequence..(place + 1) * self.per_sequence;
            found.weights.resize(ours.end, 1.0);
            if let Some(rule) = self.pull.weights() {
                let likelihoods = &found.log_likelihoods[ours.clone()];
                weigh(rule, (i, self.known), likelihoods, &mut found.weights[ours.clone()]);
            }
            if !matches!(self.pull, OwnPull::Nothing) {
                let weights = &found.weights[ours];
                self.pull_back(place * packs, &windows, weights, &mut scratch, &mut found.parameters);
                let lanes = |d: &P<A>| d.to_array().iter().sum::<f32>();
                d_features.push(scratch.d_features.iter().map(lanes).collect());
            }
            if self.pull.pulls_codes() {
                self.pull_to_codes(place * packs, &mut scratch, &mut found.codes);
            }
        }
        if self.pull.weights().is_some() {
            let d_phi = &mut found.parameters[..network.n_parameters()];
            network.weight_gradient(&scratch.tape, &scratch.adapted, &scratch.codes, d_phi);
        } else {
            found.weights.clear();
        }
        ChunkResult { found, d_features }
    }
}

impl OwnChunk<'_> {
    /// Packs of each sequence.
    #[inline(always)]
    fn packs_each(&self) -> usize {
        self.per_sequence.div_ceil(LANES)
    }

    /// Codes of pack `p` of a sequence that are not spare.
    #[inline(always)]
    fn used(&self, p: usize) -> usize {
        LANES.min(self.per_sequence - p * LANES)
    }

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
        let (network, layout) = (&self.trial.system.spec().network, self.trial.system.layout());
        let (phi, shared) = self.trial.split();
        let (packs, k) = (self.packs_each(), self.per_sequence);
        let (d_code, d_out, d_theta) = (network.d_code, network.d_out, layout.d_theta());
        scratch
            .starts
            .resize(packs * windows.groups.len() * self.trial.system.base().d_belief(), Pack::zero());
        for p in 0..packs {
            let place = first + p;
            scratch.codes.extend(codes_from::<f32, A>(self.codes, i * k + p * LANES, (i + 1) * k));
            let code = &scratch.codes[place * d_code..];
            let adapted = &mut scratch.adapted[place * d_out..(place + 1) * d_out];
            network.forward(phi, code, (&mut scratch.tape, place), adapted);
            let theta = &mut scratch.thetas[p * d_theta..(p + 1) * d_theta];
            layout.assemble(adapted, shared, theta);
            log_likelihoods.extend(&self.score(p, windows, scratch)[..self.used(p)]);
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
        let (n_windows, n) = (windows.groups.len(), self.trial.system.base().d_belief());
        let (mut total, mut densities) = ([0.0; LANES], [0.0; LANES]);
        for w in 0..n_windows {
            let (of, likelihood) = self.window((p, w), windows, scratch);
            likelihood.turn_to(of.base, of.group);
            likelihood.run(of);
            likelihood.log_density(of, &mut densities);
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
        let (base, group) = (self.trial.system.base(), &windows.groups[w]);
        let (n_windows, n, d_theta) =
            (windows.groups.len(), base.d_belief(), self.trial.system.layout().d_theta());
        let which = if n_windows == 1 { p } else { 0 };
        while scratch.likelihoods.len() <= which {
            scratch.likelihoods.push(Likelihood::new(base, group));
        }
        let theta = &scratch.thetas[p * d_theta..(p + 1) * d_theta];
        let at = (p * n_windows + w) * n;
        let start = (w > 0).then(|| &scratch.starts[at..at + n]);
        let of = Subject { base, theta, start, drive: windows.inputs[w].drive(group), group };
        (of, &mut scratch.likelihoods[which])
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
        let (network, layout) = (&self.trial.system.spec().network, self.trial.system.layout());
        let (phi, _) = self.trial.split();
        let d_shared = &mut parameters[phi.len()..];
        let d_out = network.d_out;
        for p in 0..self.packs_each() {
            // A spare lane repeats a code, and pulls nothing.
            let weight = Pack::from_fn(|lane| weights.get(p * LANES + lane).map_or(0.0, |&w| w as f32));
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
        let (of, likelihood) = self.window((p, w), windows, scratch);
        // The pass over a whole sequence is still there; that over a window has of way to the next.
        if windows.groups.len() > 1 {
            likelihood.turn_to(of.base, of.group);
            likelihood.run(of);
        }
        likelihood.pull(of, Pull::Dense(&[weight]), (&mut d_theta, &mut d_features[place]));
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
        let network = &self.trial.system.spec().network;
        let (phi, _) = self.trial.split();
        let mut d_code = vec![Pack::zero(); network.d_code];
        for p in 0..self.packs_each() {
            let place = first + p;
            let adapted = &scratch.adapted[place * network.d_out..(place + 1) * network.d_out];
            d_code.fill(Pack::zero());
            network.pull_back_to_code(phi, (&mut scratch.tape, place), adapted, &mut d_code);
            for lane in 0..self.used(p) {
                codes.extend(d_code.iter().map(|d| d.lane(lane)));
            }
        }
    }
}
