//! Codes that all sequences share: scores and gradients, sixteen codes to a pack, packs in chunks over the threads.
//!
//! A chunk is a fixed number of packs, whatever the number of threads, and chunk results are added in
//! order: so the bits do not depend on the threads. Memory: scores are codes × sequences; rollouts
//! exist for one pack at a time.

use rayon::prelude::*;

use super::front::Driven;
use super::packs::{Buffers, n_packs, pack_of};
use super::table::Table;
use crate::base::emission::{Batch, Group, Pull};
use crate::base::{Base, GroupInputs, Likelihood, Subject};
use crate::engine::{CodeScores, Codes, Gradient, Trial, Weights};
use crate::kernel::{Arch, Kernel, LANES, Lanes, Pack, Scalar, dispatch};

/// Packs of codes per unit of parallel work.
const CHUNK: usize = 16;

/// [`Engine::score`](crate::engine::Engine::score).
pub(super) fn score(trial: Trial<'_>, codes: &Codes, batch: &Batch<f32>, scores: &mut CodeScores) {
    let n_seq = batch.n_seq;
    let driven = &Driven::of_groups(trial, batch);
    let rows = scores.table.rows_for(codes.len(), n_seq);
    rows.par_chunks_mut(CHUNK * n_seq).enumerate().for_each(|(chunk, rows)| {
        dispatch(ScoreChunk { trial, codes, batch, driven, first: chunk * CHUNK, rows });
    });
    (scores.n_codes, scores.n_seq, scores.on_card) = (codes.len(), n_seq, None);
    (scores.log_evidence, scores.ess) = scores.table.summarise();
}

/// [`Engine::gradient`](crate::engine::Engine::gradient). Scores that a card has are computed again: that takes as long as the way back.
pub(super) fn gradient(
    trial: Trial<'_>,
    codes: &Codes,
    batch: &Batch<f32>,
    weights: Weights<'_>,
) -> Gradient {
    match weights {
        Weights::Normalised(scores) => {
            if scores.on_card.is_some() {
                score(trial, codes, batch, scores);
            }
            scores.table.turn_to_weights();
            weighted(trial, codes, batch, Carried::Table(&scores.table))
        }
        Weights::Resampled { scores, per_sequence, uniforms } => {
            let mut again = CodeScores::default();
            let table = match scores.on_card {
                None => &scores.table,
                Some(_) => {
                    score(trial, codes, batch, &mut again);
                    &again.table
                }
            };
            let chosen = table.resample(per_sequence, uniforms);
            weighted(trial, &codes.select(&chosen.codes), batch, Carried::Pairs(&chosen.pulls))
        }
        Weights::Pairs(pairs) => weighted(trial, codes, batch, Carried::Pairs(pairs)),
    }
}

/// Weights as the kernel reads them.
#[derive(Clone, Copy)]
enum Carried<'a> {
    /// One per code and sequence, arranged like the scores they were made from.
    Table(&'a Table),
    /// For each code, (sequence, weight).
    Pairs(&'a [Vec<(usize, f64)>]),
}

fn weighted(trial: Trial<'_>, codes: &Codes, batch: &Batch<f32>, weights: Carried<'_>) -> Gradient {
    // An even number of equal chunks keeps two, and most other numbers of, threads equally busy.
    let n_packs = n_packs(codes);
    let n_chunks = n_packs.div_ceil(2 * CHUNK) * 2;
    let size = n_packs.div_ceil(n_chunks).max(1);
    let driven = Driven::of_groups(trial, batch);
    let parts: Vec<ChunkGradient> = (0..n_packs.div_ceil(size))
        .into_par_iter()
        .map(|chunk| {
            let packs = chunk * size..n_packs.min((chunk + 1) * size);
            dispatch(GradientChunk { trial, codes, batch, driven: &driven, weights, packs })
        })
        .collect();
    let mut sum = Gradient { parameters: vec![0.0; trial.parameters.len()], weighted_log_likelihood: 0.0 };
    let mut d_features = vec![];
    for ChunkGradient { gradient: part, d_features: pulled } in parts {
        sum.weighted_log_likelihood += part.weighted_log_likelihood;
        sum.parameters.iter_mut().zip(&part.parameters).for_each(|(s, p)| *s += p);
        add_features(&mut d_features, pulled);
    }
    if let Some(driven) = driven {
        driven.pull(trial.system, &d_features, &mut sum.parameters);
    }
    sum
}

/// Adds gradients with respect to features, group by group.
fn add_features(sum: &mut Vec<Vec<f32>>, pulled: Vec<Vec<f32>>) {
    if sum.is_empty() {
        *sum = pulled;
        return;
    }
    for (sum, pulled) in sum.iter_mut().zip(pulled) {
        sum.iter_mut().zip(pulled).for_each(|(s, p)| *s += p);
    }
}

/// Packs of codes to be scored.
struct ScoreChunk<'a> {
    trial: Trial<'a>,
    codes: &'a Codes,
    batch: &'a Batch<f32>,
    driven: &'a Option<Driven>,
    first: usize,
    rows: &'a mut [[f32; LANES]],
}

impl Kernel for ScoreChunk<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arch>(self) {
        type P<A> = Pack<f32, A>;
        let base = self.trial.system.base();
        let mut buffers = Buffers::<P<A>>::new(self.trial.system);
        let mut parts = group_parts(base, self.batch, self.driven);
        for (pack, rows) in self.rows.chunks_exact_mut(self.batch.n_seq).enumerate() {
            buffers.generate(self.trial, &pack_of::<f32, A>(self.codes, self.first + pack));
            for (group, part) in self.batch.groups.iter().zip(&mut parts) {
                let GroupPart { inputs, likelihood, scores, .. } = part;
                let (theta, drive) = (&buffers.theta, inputs.drive(group));
                let of = Subject { base, theta, start: None, drive, group };
                likelihood.run(of);
                likelihood.scores(of, scores);
                for (&i, score) in group.members.iter().zip(&part.scores) {
                    rows[i] = score.to_array();
                }
            }
        }
    }
}

/// Buffers of one group of sequences.
struct GroupPart<S> {
    inputs: GroupInputs<S>,
    likelihood: Likelihood<S>,
    /// Log likelihoods, or weights, of the members.
    scores: Vec<S>,
    /// Gradient with respect to features; empty where there is no front.
    d_features: Vec<S>,
}

impl<S: Lanes> GroupPart<S> {
    fn new(base: &Base, group: &Group<S::Real>, features: Option<&[S::Real]>) -> Self {
        let own = || GroupInputs::new(group);
        Self {
            inputs: features.map_or_else(own, |features| GroupInputs::of_features(features, group.n_time)),
            likelihood: Likelihood::new(base, group),
            scores: vec![S::zero(); group.n_members()],
            d_features: vec![S::zero(); features.map_or(0, <[S::Real]>::len)],
        }
    }
}

fn group_parts<S: Lanes<Real = f32>>(
    base: &Base,
    batch: &Batch<f32>,
    driven: &Option<Driven>,
) -> Vec<GroupPart<S>> {
    let features = |g: usize| driven.as_ref().map(|driven| driven.features(g));
    batch.groups.iter().enumerate().map(|(g, group)| GroupPart::new(base, group, features(g))).collect()
}

/// The gradient of a chunk, and that with respect to the features of every group.
struct ChunkGradient {
    gradient: Gradient,
    d_features: Vec<Vec<f32>>,
}

/// Packs of codes whose gradients are added up.
struct GradientChunk<'a> {
    trial: Trial<'a>,
    codes: &'a Codes,
    batch: &'a Batch<f32>,
    driven: &'a Option<Driven>,
    weights: Carried<'a>,
    packs: std::ops::Range<usize>,
}

impl Kernel for GradientChunk<'_> {
    type Output = ChunkGradient;

    #[inline(always)]
    fn run<A: Arch>(self) -> ChunkGradient {
        let system = self.trial.system;
        let (network, layout) = (&system.spec().network, system.layout());
        let mut parts = group_parts::<Pack<f32, A>>(system.base(), self.batch, self.driven);
        let (phi, shared) = self.trial.split();
        let mut parameters = vec![0.0; system.front_range().start];
        let (d_phi, d_shared) = parameters.split_at_mut(phi.len());
        let (n_packs, d_out) = (self.packs.len(), network.d_out);
        let mut tape = network.tape::<Pack<f32, A>>(n_packs);
        let (mut codes, mut d_adapted) = (vec![], vec![Pack::zero(); n_packs * d_out]);
        let mut theta = vec![Pack::zero(); layout.d_theta()];
        let mut d_theta = theta.clone();
        let mut total = 0.0;
        for (place, pack) in self.packs.clone().enumerate() {
            let adapted = &mut d_adapted[place * d_out..(place + 1) * d_out];
            codes.extend(pack_of::<f32, A>(self.codes, pack));
            network.forward(phi, &codes[place * network.d_code..], (&mut tape, place), adapted);
            layout.assemble(adapted, shared, &mut theta);
            d_theta.fill(Pack::zero());
            total += self.pull_groups(pack, &theta, &mut parts, &mut d_theta);
            layout.assemble_adjoint(&d_theta, adapted, d_shared);
            network.pull_back(phi, (&mut tape, place), adapted);
        }
        network.weight_gradient(&tape, &d_adapted, &codes, d_phi);
        let lanes = |d: &Pack<f32, A>| d.to_array().iter().sum::<f32>();
        let d_features = parts.iter().map(|part| part.d_features.iter().map(lanes).collect()).collect();
        let gradient = Gradient { parameters, weighted_log_likelihood: total };
        ChunkGradient { gradient, d_features }
    }
}

impl GradientChunk<'_> {
    /// Adds the gradient with respect to θ over all groups; returns the weighted log likelihood.
    #[inline(always)]
    fn pull_groups<A: Arch>(
        &self,
        pack: usize,
        theta: &[Pack<f32, A>],
        parts: &mut [GroupPart<Pack<f32, A>>],
        d_theta: &mut [Pack<f32, A>],
    ) -> f64 {
        let base = self.trial.system.base();
        let mut total = 0.0;
        for (group, part) in self.batch.groups.iter().zip(parts) {
            let sparse = self.sparse_pull(pack, group);
            let lanes: Vec<&[(usize, f64)]> = sparse.iter().map(Vec::as_slice).collect();
            let pull = match self.weights {
                Carried::Table(weights) => {
                    let rows = weights.rows_of(pack);
                    for (s, &i) in part.scores.iter_mut().zip(&group.members) {
                        *s = Pack::new(rows[i]);
                    }
                    Pull::Dense(&part.scores)
                }
                Carried::Pairs(_) if lanes.iter().all(|l| l.is_empty()) => continue,
                Carried::Pairs(_) => Pull::Sparse(&lanes),
            };
            let GroupPart { inputs, likelihood, d_features, .. } = part;
            let of = Subject { base, theta, start: None, drive: inputs.drive(group), group };
            likelihood.run(of);
            let weighted = likelihood.pull(of, pull, (&mut *d_theta, d_features));
            total += (0..LANES).map(|l| f64::from(weighted.lane(l))).sum::<f64>();
        }
        total
    }

    /// For each lane of a pack, the members of the group that pull on it.
    fn sparse_pull(&self, pack: usize, group: &Group<f32>) -> Vec<Vec<(usize, f64)>> {
        let Carried::Pairs(all) = self.weights else { return vec![] };
        let lanes = (pack * LANES..(pack + 1) * LANES).map(|m| all.get(m).map_or(&[][..], Vec::as_slice));
        let place = |i: usize| group.members.binary_search(&i).ok();
        lanes.map(|pairs| pairs.iter().filter_map(|&(i, w)| Some((place(i)?, w))).collect()).collect()
    }
}
