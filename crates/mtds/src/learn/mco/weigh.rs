//! From scores to evidence, weights and resampled particles.
//!
//! ```text
//! log_evidence_i = log Σ_m e^{score_mi} − log M      w_mi = e^{score_mi} / Σ_m' e^{score_m'i}
//! ess_i = 1 / Σ_m w_mi²
//! ```

use rayon::prelude::*;

use crate::kernel::{Arch, Kernel, LANES, Lanes, Pack, Scalar, dispatch};
use crate::system::LogLikelihoods;

/// Packs that share a reference score: small enough to stay in cache for the two passes over them.
const CHUNK: usize = 16;

/// A weight, relative to the largest, that is taken for zero: products with numbers too small for the normal
/// range cost some processors a hundred times as much.
const NEGLIGIBLE: f32 = 1e-12;

/// What the scores say about each sequence.
pub(super) struct Summary {
    /// Largest score.
    largest: Vec<f32>,
    /// Σ_m e^{score − largest}.
    totals: Vec<f64>,
    chunks: Vec<ChunkSums>,
    /// log (1/M) Σ_m e^{score}.
    pub log_evidence: Vec<f64>,
    /// Effective sample size.
    pub ess: Vec<f64>,
}

/// Sums over one chunk of packs, relative to the chunk's own largest score.
struct ChunkSums {
    /// Largest score of each sequence.
    largest: Vec<f32>,
    /// Σ e^{score − largest} per pack and sequence, pack-major.
    packs: Vec<f32>,
    /// Sums of e^{score − largest} and of its square per sequence.
    totals: Vec<[f64; 2]>,
}

pub(super) fn summarise(scores: &LogLikelihoods) -> Summary {
    let n_seq = scores.n_seq();
    let work = scores.rows().par_chunks(CHUNK * n_seq);
    let chunks: Vec<ChunkSums> = work.map(|rows| dispatch(SumChunk { rows, n_seq })).collect();
    let mut largest = vec![f32::NEG_INFINITY; n_seq];
    for chunk in &chunks {
        largest.iter_mut().zip(&chunk.largest).for_each(|(l, &c)| *l = l.max(c));
    }
    let (mut totals, mut squares) = (vec![0.0; n_seq], vec![0.0; n_seq]);
    for chunk in &chunks {
        for i in 0..n_seq {
            let scale = f64::from(chunk.largest[i] - largest[i]).exp();
            totals[i] += scale * chunk.totals[i][0];
            squares[i] += scale * scale * chunk.totals[i][1];
        }
    }
    let log_m = (scores.n_codes() as f64).ln();
    let log_evidence = totals.iter().zip(&largest).map(|(t, &l)| f64::from(l) + t.ln() - log_m).collect();
    let ess = totals.iter().zip(&squares).map(|(t, s)| t * t / s).collect();
    Summary { largest, totals, chunks, log_evidence, ess }
}

struct SumChunk<'a> {
    rows: &'a [[f32; LANES]],
    n_seq: usize,
}

impl Kernel for SumChunk<'_> {
    type Output = ChunkSums;
    #[inline(always)]
    fn run<A: Arch>(self) -> ChunkSums {
        let n_seq = self.n_seq;
        let mut lanes = vec![Pack::<f32, A>::splat(f32::NEG_INFINITY); n_seq];
        for rows in self.rows.chunks_exact(n_seq) {
            for (lanes, row) in lanes.iter_mut().zip(rows) {
                *lanes = lanes.max(Pack::new(*row));
            }
        }
        let mut largest = vec![f32::NEG_INFINITY; n_seq];
        for (largest, lanes) in largest.iter_mut().zip(&lanes) {
            for x in lanes.to_array() {
                *largest = largest.max(x);
            }
        }
        let mut packs = vec![0.0; self.rows.len()];
        let mut squares = vec![Pack::<f32, A>::zero(); n_seq];
        for (rows, packs) in self.rows.chunks_exact(n_seq).zip(packs.chunks_exact_mut(n_seq)) {
            for i in 0..n_seq {
                let e = (Pack::<f32, A>::new(rows[i]) - Pack::splat(largest[i])).exp();
                packs[i] = e.sum();
                squares[i] = e.mul_add(e, squares[i]);
            }
        }
        let mut totals = vec![[0.0; 2]; n_seq];
        for (i, total) in totals.iter_mut().enumerate() {
            let sum: f64 = packs[i..].iter().step_by(n_seq).map(|&s| f64::from(s)).sum();
            *total = [sum, f64::from(squares[i].sum())];
        }
        ChunkSums { largest, packs, totals }
    }
}

/// Turns scores into weights times `scale`, in place.
pub(super) fn to_weights(scores: &mut LogLikelihoods, summary: &Summary, scale: f64) {
    let factor: Vec<f32> = summary.totals.iter().map(|t| (scale / t) as f32).collect();
    let n_seq = scores.n_seq();
    scores.rows_mut().par_chunks_mut(n_seq).with_min_len(8).for_each(|rows| {
        dispatch(WeighPack { rows, largest: &summary.largest, factor: &factor });
    });
}

struct WeighPack<'a> {
    rows: &'a mut [[f32; LANES]],
    largest: &'a [f32],
    factor: &'a [f32],
}

impl Kernel for WeighPack<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arch>(self) {
        for ((row, &largest), &factor) in self.rows.iter_mut().zip(self.largest).zip(self.factor) {
            let e = (Pack::<f32, A>::new(*row) - Pack::splat(largest)).exp();
            let counted = (e - Pack::splat(NEGLIGIBLE)).max(Pack::zero());
            *row = (counted * Pack::splat(factor)).to_array();
        }
    }
}

/// Resampled particles, each once, with the sequences that chose it.
pub(super) struct Chosen {
    pub particles: Vec<usize>,
    /// For each particle, (sequence, weight).
    pub pulls: Vec<Vec<(usize, f64)>>,
}

/// For each sequence, `per_sequence` particles by inversion of the cumulated weights at `uniforms`.
pub(super) fn resample(
    scores: &LogLikelihoods,
    summary: &Summary,
    per_sequence: usize,
    uniforms: &[f64],
) -> Chosen {
    let n_seq = scores.n_seq();
    let weight = 1.0 / (per_sequence * n_seq) as f64;
    let picks = |i: usize| {
        let uniforms = &uniforms[i * per_sequence..(i + 1) * per_sequence];
        uniforms.iter().map(|&u| (pick(scores, summary, i, u), i)).collect::<Vec<_>>()
    };
    let mut pairs: Vec<(usize, usize)> =
        (0..n_seq).into_par_iter().with_min_len(8).flat_map_iter(picks).collect();
    pairs.sort_unstable();
    let mut chosen = Chosen { particles: vec![], pulls: vec![] };
    for (particle, sequence) in pairs {
        if chosen.particles.last() != Some(&particle) {
            chosen.particles.push(particle);
            chosen.pulls.push(vec![]);
        }
        if let Some(pulls) = chosen.pulls.last_mut() {
            match pulls.last_mut() {
                Some((last, total)) if *last == sequence => *total += weight,
                _ => pulls.push((sequence, weight)),
            }
        }
    }
    chosen
}

/// The particle at which the cumulated weight of sequence `i` reaches `u`: first the chunk, then the pack, then
/// the lane.
fn pick(scores: &LogLikelihoods, summary: &Summary, i: usize, u: f64) -> usize {
    let n_seq = scores.n_seq();
    let mut rest = u * summary.totals[i];
    let (last, mut chunk) = (summary.chunks.len() - 1, 0);
    loop {
        let sums = &summary.chunks[chunk];
        let scale = f64::from(sums.largest[i] - summary.largest[i]).exp();
        let total = scale * sums.totals[i][0];
        if rest <= total || chunk == last {
            rest /= scale; // from here on relative to the chunk's own largest score
            break;
        }
        rest -= total;
        chunk += 1;
    }
    let sums = &summary.chunks[chunk];
    let n_packs = sums.packs.len() / n_seq;
    let mut pack = 0;
    while pack + 1 < n_packs && rest > f64::from(sums.packs[pack * n_seq + i]) {
        rest -= f64::from(sums.packs[pack * n_seq + i]);
        pack += 1;
    }
    let place = chunk * CHUNK + pack;
    let used = LANES.min(scores.n_codes() - place * LANES);
    for (lane, &score) in scores.rows()[place * n_seq + i][..used].iter().enumerate() {
        rest -= f64::from((score - sums.largest[i]).exp());
        if rest <= 0.0 {
            return place * LANES + lane;
        }
    }
    place * LANES + used - 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(n_codes: usize, n_seq: usize, phase: f64) -> LogLikelihoods {
        let score = |m: usize, i: usize| 40.0 * ((m * 7 + i * 3) as f64 * 0.37 + phase).sin();
        LogLikelihoods::from_fn(n_codes, n_seq, |m, i| score(m, i) as f32)
    }

    /// The textbook sums of one sequence: log evidence, ESS, normalised weights.
    fn plain(scores: &LogLikelihoods, i: usize) -> (f64, f64, Vec<f64>) {
        let each: Vec<f64> = (0..scores.n_codes()).map(|m| f64::from(scores.get(m, i))).collect();
        let largest = each.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = each.iter().map(|s| (s - largest).exp()).sum();
        let weights: Vec<f64> = each.iter().map(|s| (s - largest).exp() / total).collect();
        let ess = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
        (largest + total.ln() - (each.len() as f64).ln(), ess, weights)
    }

    proptest! {
        #[test]
        fn sums_and_picks_equal_the_plain_ones(
            n_codes in 1usize..700,
            n_seq in 1usize..5,
            phase in 0.0..6.0f64,
            u in 0.001..0.999f64,
        ) {
            let mut scores = table(n_codes, n_seq, phase);
            let summary = summarise(&scores);
            let uniforms = vec![u; n_seq];
            let chosen = resample(&scores, &summary, 1, &uniforms);
            let want: Vec<_> = (0..n_seq).map(|i| plain(&scores, i)).collect();
            to_weights(&mut scores, &summary, 1.0);
            for (i, (log_evidence, ess, weights)) in want.iter().enumerate() {
                prop_assert!((summary.log_evidence[i] - log_evidence).abs() < 1e-5);
                prop_assert!((summary.ess[i] / ess - 1.0).abs() < 1e-4);
                for (m, w) in weights.iter().enumerate() {
                    prop_assert!((f64::from(scores.get(m, i)) - w).abs() < 1e-6);
                }
                // The pick is where the cumulated weight passes u, but for rounding at the border.
                let place = chosen.pulls.iter().position(|pulls| pulls.iter().any(|pull| pull.0 == i));
                let picked = chosen.particles[place.unwrap()];
                let below: f64 = weights[..picked].iter().sum();
                prop_assert!(below < u + 1e-5 && u - 1e-5 < below + weights[picked]);
            }
        }
    }
}
