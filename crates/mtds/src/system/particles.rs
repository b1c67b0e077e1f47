//! LogLikelihoods and gradients over sets of codes, sixteen to a pack, packs in chunks over the threads.
//!
//! A chunk is a fixed number of packs, whatever the number of threads, and chunk results are added in
//! order: so the bits do not depend on the threads. Memory: scores are particles × sequences; rollouts
//! exist for one pack at a time.

use rayon::prelude::*;

use super::{Driven, System};
use crate::base::emission::{Batch, Group, Pull};
use crate::base::{Base, Drive, Given, Likelihood};
use crate::generator::Tape;
use crate::kernel::{Arch, Kernel, LANES, Lanes, Pack, Real, Scalar, dispatch};

/// Packs of codes per unit of parallel work.
const CHUNK: usize = 16;

/// Codes arranged in packs: pack by pack, one row of lanes per dimension.
#[derive(Clone, Debug, PartialEq)]
pub struct CodePacks<R> {
    n: usize,
    d_code: usize,
    rows: Vec<[R; LANES]>,
}

impl<R: Real> CodePacks<R> {
    /// `n` codes, `at(i, d)` being dimension `d` of code `i`. Spare lanes of the last pack repeat the last code.
    #[must_use]
    pub fn from_fn(n: usize, d_code: usize, at: impl Fn(usize, usize) -> f64 + Sync) -> Self {
        let packs = n.div_ceil(LANES);
        let row = |pack: usize, d: usize| {
            std::array::from_fn(|lane| R::from_f64(at((pack * LANES + lane).min(n - 1), d)))
        };
        let places = (0..packs * d_code).into_par_iter().with_min_len(64);
        let rows = places.map(|i| row(i / d_code, i % d_code)).collect();
        Self { n, d_code, rows }
    }

    /// Number of codes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Number of packs.
    #[must_use]
    pub fn n_packs(&self) -> usize {
        self.n.div_ceil(LANES)
    }

    /// Dimension `d` of code `i`.
    #[must_use]
    pub fn get(&self, i: usize, d: usize) -> R {
        self.rows[i / LANES * self.d_code + d][i % LANES]
    }

    /// The codes at these places.
    #[must_use]
    pub fn select(&self, places: &[usize]) -> Self {
        Self::from_fn(places.len(), self.d_code, |i, d| self.get(places[i], d).to_f64())
    }

    pub(crate) fn pack<A: Arch>(&self, pack: usize) -> Vec<Pack<R, A>> {
        self.rows[pack * self.d_code..(pack + 1) * self.d_code].iter().map(|&r| Pack::new(r)).collect()
    }
}

/// log p(Y_i | z_m) for every code m and sequence i.
#[derive(Clone, Debug, Default)]
pub struct LogLikelihoods {
    n_codes: usize,
    n_seq: usize,
    /// Pack by pack, one row of lanes per sequence.
    rows: Vec<[f32; LANES]>,
}

impl LogLikelihoods {
    /// Number of codes.
    #[must_use]
    pub fn n_codes(&self) -> usize {
        self.n_codes
    }

    /// Number of sequences.
    #[must_use]
    pub fn n_seq(&self) -> usize {
        self.n_seq
    }

    /// The score of one code and one sequence.
    #[must_use]
    pub fn get(&self, code: usize, sequence: usize) -> f32 {
        self.rows[code / LANES * self.n_seq + sequence][code % LANES]
    }

    /// A table with these entries.
    #[cfg(test)]
    pub(crate) fn from_fn(n_codes: usize, n_seq: usize, at: impl Fn(usize, usize) -> f32) -> Self {
        let entry = |m: usize, i: usize| if m < n_codes { at(m, i) } else { f32::NEG_INFINITY };
        let row = |r: usize| std::array::from_fn(|lane| entry(r / n_seq * LANES + lane, r % n_seq));
        Self { n_codes, n_seq, rows: (0..n_codes.div_ceil(LANES) * n_seq).map(row).collect() }
    }

    /// Pack by pack, one row of lanes per sequence; spare lanes of the last pack hold −∞.
    pub(crate) fn rows(&self) -> &[[f32; LANES]] {
        &self.rows
    }

    /// See [`LogLikelihoods::rows`].
    pub(crate) fn rows_mut(&mut self) -> &mut [[f32; LANES]] {
        &mut self.rows
    }
}

/// How strongly each sequence pulls on each code.
#[derive(Clone, Copy, Debug)]
pub enum Weights<'a> {
    /// One weight per code and sequence, arranged like the scores they were made from.
    Dense(&'a LogLikelihoods),
    /// For each code, (sequence, weight).
    Sparse(&'a [Vec<(usize, f64)>]),
}

/// Gradient of Σ_m Σ_i w_mi log p(Y_i | z_m) with respect to the parameters.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// In the order of [`System::parameters`].
    pub parameters: Vec<f32>,
    /// The weighted sum itself.
    pub weighted_log_likelihood: f64,
}

/// A group's inputs in every lane.
pub(crate) struct GroupInputs<S> {
    inputs: Vec<S>,
    /// Steps without any, where the group does not say it.
    quiet: Option<Vec<bool>>,
}

impl<S: Scalar> GroupInputs<S> {
    #[inline(always)]
    pub(crate) fn new(group: &Group<S::Real>) -> Self {
        Self { inputs: group.inputs.iter().map(|&u| S::splat(u)).collect(), quiet: None }
    }

    /// What the front made of the inputs, in every lane.
    #[inline(always)]
    pub(crate) fn of_features(features: &[S::Real], n_time: usize) -> Self {
        let inputs = features.iter().map(|&v| S::splat(v)).collect();
        Self { inputs, quiet: Some(vec![false; n_time]) }
    }

    #[inline(always)]
    pub(crate) fn drive<'a>(&'a self, group: &'a Group<S::Real>) -> Drive<'a, S> {
        Drive { inputs: &self.inputs, quiet: self.quiet.as_deref().unwrap_or(&group.quiet) }
    }
}

impl System {
    /// log p(Y_i | z_m) of every sequence under every code, with parameters that learning is trying out.
    ///
    /// # Shapes
    /// `parameters`: [`System::n_parameters`]; `codes`: M × k; result M × N.
    #[must_use]
    pub fn log_likelihoods(
        &self,
        parameters: &[f32],
        codes: &CodePacks<f32>,
        batch: &Batch<f32>,
    ) -> LogLikelihoods {
        let mut table = LogLikelihoods::default();
        self.log_likelihoods_into(parameters, codes, batch, &mut table);
        table
    }

    /// [`System::log_likelihoods`] into a table that is used again: fresh memory costs more than some models.
    pub fn log_likelihoods_into(
        &self,
        parameters: &[f32],
        codes: &CodePacks<f32>,
        batch: &Batch<f32>,
        table: &mut LogLikelihoods,
    ) {
        let n_seq = batch.n_seq;
        let driven = &self.drive_groups(parameters, batch);
        let rows = &mut table.rows;
        rows.resize(codes.n_packs() * n_seq, [0.0; LANES]);
        rows.par_chunks_mut(CHUNK * n_seq).enumerate().for_each(|(chunk, rows)| {
            let first = chunk * CHUNK;
            dispatch(ScoreChunk { model: self, parameters, codes, batch, driven, first, rows });
        });
        let used = codes.len() - codes.n_packs().saturating_sub(1) * LANES;
        let last_pack = rows.len().saturating_sub(n_seq);
        rows[last_pack..].iter_mut().for_each(|row| row[used..].fill(f32::NEG_INFINITY));
        (table.n_codes, table.n_seq) = (codes.len(), n_seq);
    }

    /// Gradient of the weighted log likelihood with respect to the parameters.
    ///
    /// # Shapes
    /// As [`System::log_likelihoods`]; `weights`: M × N.
    #[must_use]
    pub fn gradient(
        &self,
        parameters: &[f32],
        codes: &CodePacks<f32>,
        batch: &Batch<f32>,
        weights: Weights<'_>,
    ) -> Gradient {
        // An even number of equal chunks keeps two, and most other numbers of, threads equally busy.
        let n_packs = codes.n_packs();
        let n_chunks = n_packs.div_ceil(2 * CHUNK) * 2;
        let size = n_packs.div_ceil(n_chunks).max(1);
        let driven = self.drive_groups(parameters, batch);
        let parts: Vec<ChunkGradient> = (0..n_packs.div_ceil(size))
            .into_par_iter()
            .map(|chunk| {
                let packs = chunk * size..n_packs.min((chunk + 1) * size);
                let driven = &driven;
                dispatch(GradientChunk { model: self, parameters, codes, batch, driven, weights, packs })
            })
            .collect();
        let mut sum = Gradient { parameters: vec![0.0; parameters.len()], weighted_log_likelihood: 0.0 };
        let mut d_features = vec![];
        for ChunkGradient { gradient: part, d_features: pulled } in parts {
            sum.weighted_log_likelihood += part.weighted_log_likelihood;
            sum.parameters.iter_mut().zip(&part.parameters).for_each(|(s, p)| *s += p);
            add_features(&mut d_features, pulled);
        }
        self.pull_front(driven, &d_features, &mut sum.parameters);
        sum
    }
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

/// Buffers of one pack.
pub(crate) struct Buffers<S> {
    pub tape: Tape<S>,
    pub adapted: Vec<S>,
    pub theta: Vec<S>,
}

impl<S: Lanes> Buffers<S> {
    pub(crate) fn new(model: &System) -> Self {
        let (network, layout) = (&model.spec.network, &model.layout);
        Self {
            tape: network.tape(1),
            adapted: vec![S::zero(); layout.d_adapted()],
            theta: vec![S::zero(); layout.d_theta()],
        }
    }

    /// θ of one pack of codes.
    #[inline(always)]
    pub(crate) fn generate(&mut self, model: &System, parameters: &[S::Real], code: &[S]) {
        let network = &model.spec.network;
        let (phi, shared) = parameters.split_at(network.n_parameters());
        network.forward(phi, code, (&mut self.tape, 0), &mut self.adapted);
        model.layout.assemble(&self.adapted, shared, &mut self.theta);
    }

    /// Gradient with respect to the code, given that with respect to θ.
    #[inline(always)]
    pub(crate) fn pull_back_into(
        &mut self,
        model: &System,
        parameters: &[S::Real],
        d_theta: &[S],
        d_code: &mut [S],
    ) {
        let network = &model.spec.network;
        let phi = &parameters[..network.n_parameters()];
        model.layout.adapted_adjoint(d_theta, &mut self.adapted);
        network.pull_back(phi, (&mut self.tape, 0), &self.adapted);
        network.pull_back_to_code(phi, (&mut self.tape, 0), &self.adapted, d_code);
    }
}

/// Packs of codes to be scored.
pub(crate) struct ScoreChunk<'a> {
    model: &'a System,
    parameters: &'a [f32],
    codes: &'a CodePacks<f32>,
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
        let base = &self.model.spec.base;
        let mut buffers = Buffers::<P<A>>::new(self.model);
        let mut parts = group_parts(base, self.batch, self.driven);
        for (pack, rows) in self.rows.chunks_exact_mut(self.batch.n_seq).enumerate() {
            buffers.generate(self.model, self.parameters, &self.codes.pack::<A>(self.first + pack));
            for (group, part) in self.batch.groups.iter().zip(&mut parts) {
                let GroupPart { inputs, likelihood, scores, .. } = part;
                let (theta, drive) = (&buffers.theta, inputs.drive(group));
                let given = Given { base, theta, start: None, drive, group };
                likelihood.run(given);
                likelihood.scores(given, scores);
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
pub(crate) struct ChunkGradient {
    gradient: Gradient,
    d_features: Vec<Vec<f32>>,
}

/// Packs of codes whose gradients are added up.
pub(crate) struct GradientChunk<'a> {
    model: &'a System,
    parameters: &'a [f32],
    codes: &'a CodePacks<f32>,
    batch: &'a Batch<f32>,
    driven: &'a Option<Driven>,
    weights: Weights<'a>,
    packs: std::ops::Range<usize>,
}

impl Kernel for GradientChunk<'_> {
    type Output = ChunkGradient;

    #[inline(always)]
    fn run<A: Arch>(self) -> ChunkGradient {
        let (model, base) = (self.model, &self.model.spec.base);
        let (network, layout) = (&model.spec.network, &model.layout);
        let mut parts = group_parts::<Pack<f32, A>>(base, self.batch, self.driven);
        let (phi, shared) = self.parameters.split_at(network.n_parameters());
        let mut parameters = vec![0.0; self.parameters.len()];
        let (d_phi, d_shared) = parameters.split_at_mut(phi.len());
        let (n_packs, d_out) = (self.packs.len(), network.d_out);
        let mut tape = network.tape::<Pack<f32, A>>(n_packs);
        let (mut codes, mut d_adapted) = (vec![], vec![Pack::zero(); n_packs * d_out]);
        let mut theta = vec![Pack::zero(); layout.d_theta()];
        let mut d_theta = theta.clone();
        let mut total = 0.0;
        for (place, pack) in self.packs.clone().enumerate() {
            let adapted = &mut d_adapted[place * d_out..(place + 1) * d_out];
            codes.extend(self.codes.pack::<A>(pack));
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
        let base = &self.model.spec.base;
        let mut total = 0.0;
        for (group, part) in self.batch.groups.iter().zip(parts) {
            let sparse = self.sparse_pull(pack, group);
            let lanes: Vec<&[(usize, f64)]> = sparse.iter().map(Vec::as_slice).collect();
            let pull = match self.weights {
                Weights::Dense(weights) => {
                    let rows = &weights.rows[pack * weights.n_seq..(pack + 1) * weights.n_seq];
                    for (s, &i) in part.scores.iter_mut().zip(&group.members) {
                        *s = Pack::new(rows[i]);
                    }
                    Pull::Dense(&part.scores)
                }
                Weights::Sparse(_) if lanes.iter().all(|l| l.is_empty()) => continue,
                Weights::Sparse(_) => Pull::Sparse(&lanes),
            };
            let GroupPart { inputs, likelihood, d_features, .. } = part;
            let given = Given { base, theta, start: None, drive: inputs.drive(group), group };
            likelihood.run(given);
            let weighted = likelihood.pull(given, pull, (&mut *d_theta, d_features));
            total += (0..LANES).map(|l| f64::from(weighted.lane(l))).sum::<f64>();
        }
        total
    }

    /// For each lane of a pack, the members of the group that pull on it.
    fn sparse_pull(&self, pack: usize, group: &Group<f32>) -> Vec<Vec<(usize, f64)>> {
        let Weights::Sparse(all) = self.weights else { return vec![] };
        let lanes = (pack * LANES..(pack + 1) * LANES).map(|m| all.get(m).map_or(&[][..], Vec::as_slice));
        let place = |i: usize| group.members.binary_search(&i).ok();
        lanes.map(|pairs| pairs.iter().filter_map(|&(i, w)| Some((place(i)?, w))).collect()).collect()
    }
}
