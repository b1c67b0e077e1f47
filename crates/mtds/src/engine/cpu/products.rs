//! Codes of their own for every sequence, by products: for networks too large for lanes.
//!
//! ```text
//! z (pairs × k) ──→ adapted θ (pairs × d_out)      products over the codes of a block: sixteen in a pack, weights φ read once
//! θ, features   ──→ ŷ, ℓ                           products over time, a network per pair (`head`), pairs over the threads
//! inputs        ──→ features                       products over all sequences (`front`)
//! ```
//! A pair is a sequence with one of its codes. Blocks of pairs follow one another in a fixed order, so that the bits do not depend
//! on the threads; memory is that of one block.

use std::ops::Range;

use rayon::prelude::*;

use super::front::Driven;
use super::head::{Head, HeadForm};
use super::own::{shared_likelihoods, weigh};
use super::packs::codes_from;
use crate::engine::{Codes, OwnBatch, OwnPull, OwnResult, OwnWeights, Trial};
use crate::kernel::{Arch, Kernel, LANES, Lanes, Pack, Scalar, dispatch};

/// Pairs of a block, where weights do not bind more of them together.
const BLOCK: usize = 64;

/// [`Engine::own`](crate::engine::Engine::own).
pub(super) fn own(
    network: &HeadForm,
    trial: Trial<'_>,
    codes: &Codes,
    (batch, pull): (&OwnBatch, OwnPull<'_>),
    result: &mut OwnResult,
) {
    let n_seq = batch.n_seq();
    let per_sequence = codes.len() / n_seq.max(1);
    let known = shared_likelihoods(trial, codes, batch, pull);
    let driven = Driven::of_own(trial, batch, std::mem::take(&mut result.memory.front));
    let mut heads = std::mem::take(&mut result.memory.heads);
    let mut d_features: Vec<Vec<f32>> = match &driven {
        Some(driven) => (0..n_seq).map(|i| vec![0.0; driven.features(i).len()]).collect(),
        None => vec![],
    };
    result.clear(trial.parameters.len(), pull);
    let size = match pull.weights() {
        Some(OwnWeights::Importance(_)) => per_sequence * (BLOCK / per_sequence.max(1)).max(1),
        _ => BLOCK,
    };
    for first in (0..codes.len()).step_by(size.max(1)) {
        let pairs = first..codes.len().min(first + size);
        let block = Block { network, trial, codes, per_sequence, batch, driven: &driven, pull };
        let known = known.as_deref();
        dispatch(BlockPass { block, pairs, known, heads: &mut heads, result, d_features: &mut d_features });
    }
    result.memory.heads = heads;
    if pull.weights().is_none() {
        result.weights.clear();
    }
    if let Some(driven) = driven {
        if pull.weights().is_some() {
            result.memory.front = driven.pull(trial.system, &d_features, &mut result.parameters);
        } else {
            result.memory.front = driven.into_pass();
        }
    }
}

/// What all blocks share.
#[derive(Clone, Copy)]
struct Block<'a> {
    network: &'a HeadForm,
    trial: Trial<'a>,
    codes: &'a Codes,
    /// Codes K of each sequence.
    per_sequence: usize,
    batch: &'a OwnBatch,
    driven: &'a Option<Driven>,
    pull: OwnPull<'a>,
}

/// One block, there and back.
struct BlockPass<'a> {
    block: Block<'a>,
    pairs: Range<usize>,
    /// Likelihoods by set of codes, where weights need those of several sequences.
    known: Option<&'a [f64]>,
    heads: &'a mut Vec<Head<f32>>,
    result: &'a mut OwnResult,
    d_features: &'a mut [Vec<f32>],
}

impl Kernel for BlockPass<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        type P<A> = Pack<f32, A>;
        let (block, pairs) = (self.block, self.pairs);
        let (generator, layout) = (&block.trial.system.spec().network, block.trial.system.layout());
        let (phi, shared) = block.trial.split();
        let (n_packs, d_out, k) = (pairs.len().div_ceil(LANES), generator.d_out, generator.d_code);
        let mut tape = generator.tape::<P<A>>(n_packs);
        let mut codes: Vec<P<A>> = vec![];
        let mut adapted = vec![P::<A>::zero(); n_packs * d_out];
        self.heads.resize_with(self.heads.len().max(pairs.len()), Head::default);
        let heads = &mut self.heads[..pairs.len()];
        for (pack, adapted) in adapted.chunks_exact_mut(d_out).enumerate() {
            codes.extend(codes_from::<f32, A>(block.codes, pairs.start + pack * LANES, pairs.end));
            generator.forward(phi, &codes[pack * k..], (&mut tape, pack), adapted);
        }
        heads.par_iter_mut().enumerate().for_each(|(at, head)| {
            let packs = &adapted[at / LANES * d_out..(at / LANES + 1) * d_out];
            let own: Vec<f32> = packs.iter().map(|value| value.lane(at % LANES)).collect();
            head.theta.resize(layout.d_theta(), 0.0);
            layout.assemble(&own, shared, &mut head.theta);
        });
        block.score(&pairs, heads, &mut self.result.log_likelihoods);
        block.weigh(&pairs, self.known, self.result);
        if matches!(block.pull, OwnPull::Nothing) {
            return;
        }
        block.pull_heads(&pairs, heads, self.result, self.d_features);
        adapted.fill(P::zero()); // a spare lane repeats a code, and pulls nothing
        let (d_phi, d_shared) = match block.pull.weights() {
            Some(_) => self.result.parameters.split_at_mut(phi.len()),
            None => (&mut [][..], &mut [][..]),
        };
        let mut own = vec![0.0; d_out];
        for (at, head) in heads.iter().enumerate() {
            match block.pull.weights() {
                Some(_) => layout.assemble_adjoint(&head.d_theta, &mut own, d_shared),
                None => layout.adapted_adjoint(&head.d_theta, &mut own),
            }
            let packs = &mut adapted[at / LANES * d_out..(at / LANES + 1) * d_out];
            for (to, &from) in packs.iter_mut().zip(&own) {
                to.set_lane(at % LANES, from);
            }
        }
        let mut d_code = vec![P::<A>::zero(); k];
        for (pack, adapted) in adapted.chunks_exact(d_out).enumerate() {
            generator.pull_back(phi, (&mut tape, pack), adapted);
            if block.pull.pulls_codes() {
                d_code.fill(P::zero());
                generator.pull_back_to_code(phi, (&mut tape, pack), adapted, &mut d_code);
                for lane in 0..LANES.min(pairs.len() - pack * LANES) {
                    self.result.codes.extend(d_code.iter().map(|d| d.lane(lane)));
                }
            }
        }
        if block.pull.weights().is_some() {
            generator.weight_gradient(&tape, &adapted, &codes, d_phi);
        }
    }
}

impl Block<'_> {
    /// What drives the base model in sequence `i`.
    fn inputs(&self, i: usize) -> std::borrow::Cow<'_, [f32]> {
        match (self.driven, self.batch.windows(i)) {
            (Some(driven), _) => driven.features(i).into(),
            (None, [window]) => (&window.inputs[..]).into(),
            (None, windows) => windows.iter().flat_map(|w| &w.inputs).copied().collect::<Vec<_>>().into(),
        }
    }

    fn score(&self, pairs: &Range<usize>, heads: &mut [Head<f32>], log_likelihoods: &mut Vec<f64>) {
        let score = |(at, head): (usize, &mut Head<f32>)| {
            let i = (pairs.start + at) / self.per_sequence;
            self.network.log_likelihood(head, self.batch.windows(i), &self.inputs(i))
        };
        let scores: Vec<f64> = heads.par_iter_mut().enumerate().map(score).collect();
        log_likelihoods.extend(scores);
    }

    /// Writes the weights of the pairs; ones where only codes are pulled.
    fn weigh(&self, pairs: &Range<usize>, known: Option<&[f64]>, result: &mut OwnResult) {
        let k = self.per_sequence;
        result.weights.resize(pairs.end, 1.0);
        match self.pull.weights() {
            None => {}
            Some(OwnWeights::Equal(weight)) => result.weights[pairs.clone()].fill(weight),
            Some(OwnWeights::Fixed(all)) => {
                result.weights[pairs.clone()].copy_from_slice(&all[pairs.clone()])
            }
            // A block is of whole sequences then.
            Some(rule) => {
                for i in pairs.start / k..pairs.end / k {
                    let ours = i * k..(i + 1) * k;
                    let likelihoods = &result.log_likelihoods[ours.clone()];
                    weigh(rule, (i, known), likelihoods, &mut result.weights[ours]);
                }
            }
        }
    }

    /// Gradients of every pair; those with respect to features are added up in the order of the pairs.
    fn pull_heads(
        &self,
        pairs: &Range<usize>,
        heads: &mut [Head<f32>],
        result: &OwnResult,
        d_features: &mut [Vec<f32>],
    ) {
        heads.par_iter_mut().zip(pairs.clone()).for_each(|(head, pair)| {
            let windows = self.batch.windows(pair / self.per_sequence);
            self.network.pull(head, windows, result.weights[pair] as f32);
        });
        if self.driven.is_some() {
            for (head, pair) in heads.iter().zip(pairs.clone()) {
                let sum = &mut d_features[pair / self.per_sequence];
                sum.iter_mut().zip(&head.d_inputs).for_each(|(sum, d)| *sum += d);
            }
        }
    }
}
