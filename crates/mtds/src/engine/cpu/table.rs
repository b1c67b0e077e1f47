//! Scores as they lie in memory here, and what becomes of them: evidence, weights, resampled codes.
//!
//! ```text
//! log_evidence_i = log Σ_m e^{score_mi} − log M      w_mi = (1/N) e^{score_mi} / Σ_m' e^{score_m'i}
//! ess_i = 1 / Σ_m (N w_mi)²
//! ```

use rayon::prelude::*;

use crate::kernel::{Arch, Kernel, LANES, Lanes, Pack, Scalar, dispatch};

/// Packs that share a reference score: small enough to stay in cache for the two passes over them.
const CHUNK: usize = 16;

/// A weight, relative to the largest, that is taken for zero: products with numbers too small for the normal
/// range cost some processors a hundred times as much.
const NEGLIGIBLE: f32 = 1e-12;

/// One number per code and sequence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    n_codes: usize,
    n_seq: usize,
    /// Pack by pack, one row of lanes per sequence; spare lanes of the last pack hold −∞.
    rows: Vec<[f32; LANES]>,
    sums: Sums,
}

/// What the scores add up to.
#[derive(Clone, Debug, Default)]
struct Sums {
    /// Largest score of each sequence.
    largest: Vec<f32>,
    /// Σ_m e^{score − largest}.
    totals: Vec<f64>,
    chunks: Vec<ChunkSums>,
}

/// Sums over one chunk of packs, relative to the chunk's own largest score.
#[derive(Clone, Debug)]
struct ChunkSums {
    /// Largest score of each sequence.
    largest: Vec<f32>,
    /// Σ e^{score − largest} per pack and sequence, pack-major.
    packs: Vec<f32>,
    /// Sums of e^{score − largest} and of its square per sequence.
    totals: Vec<[f64; 2]>,
}

/// Resampled codes, each once, with the sequences that chose it.
pub(super) struct Chosen {
    pub codes: Vec<usize>,
    /// For each code, (sequence, weight).
    pub pulls: Vec<Vec<(usize, f64)>>,
}

impl Table {
    /// The rows for so many codes and sequences, to be written whole.
    pub(super) fn rows_for(&mut self, n_codes: usize, n_seq: usize) -> &mut [[f32; LANES]] {
        (self.n_codes, self.n_seq) = (n_codes, n_seq);
        self.rows.resize(n_codes.div_ceil(LANES) * n_seq, [0.0; LANES]);
        &mut self.rows
    }

    /// The rows of one pack, one per sequence.
    #[inline(always)]
    pub(super) fn rows_of(&self, pack: usize) -> &[[f32; LANES]] {
        &self.rows[pack * self.n_seq..(pack + 1) * self.n_seq]
    }

    pub(crate) fn get(&self, code: usize, sequence: usize) -> f32 {
        self.rows[code / LANES * self.n_seq + sequence][code % LANES]
    }

    /// Log evidence and effective number of codes of each sequence; the rows have just been written.
    pub(super) fn summarise(&mut self) -> (Vec<f64>, Vec<f64>) {
        let n_seq = self.n_seq;
        let used = self.n_codes - self.n_codes.div_ceil(LANES).saturating_sub(1) * LANES;
        let last_pack = self.rows.len().saturating_sub(n_seq);
        self.rows[last_pack..].iter_mut().for_each(|row| row[used..].fill(f32::NEG_INFINITY));
        let work = self.rows.par_chunks(CHUNK * n_seq);
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
        let log_m = (self.n_codes as f64).ln();
        let log_evidence = totals.iter().zip(&largest).map(|(t, &l)| f64::from(l) + t.ln() - log_m).collect();
        let ess = totals.iter().zip(&squares).map(|(t, s)| t * t / s).collect();
        self.sums = Sums { largest, totals, chunks };
        (log_evidence, ess)
    }

    /// Turns scores into weights, in place.
    pub(super) fn turn_to_weights(&mut self) {
        let scale = 1.0 / self.n_seq as f64;
        let factor: Vec<f32> = self.sums.totals.iter().map(|t| (scale / t) as f32).collect();
        let largest = &self.sums.largest;
        self.rows.par_chunks_mut(self.n_seq).with_min_len(8).for_each(|rows| {
            dispatch(WeighPack { rows, largest, factor: &factor });
        });
    }

    /// For each sequence, `per_sequence` codes by inversion of the cumulated weights at `uniforms`.
    pub(super) fn resample(&self, per_sequence: usize, uniforms: &[f64]) -> Chosen {
        let weight = 1.0 / (per_sequence * self.n_seq) as f64;
        let picks = |i: usize| {
            let uniforms = &uniforms[i * per_sequence..(i + 1) * per_sequence];
            uniforms.iter().map(|&u| (self.pick(i, u), i)).collect::<Vec<_>>()
        };
        let mut pairs: Vec<(usize, usize)> =
            (0..self.n_seq).into_par_iter().with_min_len(8).flat_map_iter(picks).collect();
        pairs.sort_unstable();
        let mut chosen = Chosen { codes: vec![], pulls: vec![] };
        for (code, sequence) in pairs {
            if chosen.codes.last() != Some(&code) {
                chosen.codes.push(code);
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

    /// The code at which the cumulated weight of sequence `i` reaches `u`: first the chunk, then the pack, then
    /// the lane.
    fn pick(&self, i: usize, u: f64) -> usize {
        let (n_seq, all) = (self.n_seq, &self.sums);
        let mut rest = u * all.totals[i];
        let (last, mut chunk) = (all.chunks.len() - 1, 0);
        loop {
            let sums = &all.chunks[chunk];
            let scale = f64::from(sums.largest[i] - all.largest[i]).exp();
            let total = scale * sums.totals[i][0];
            if rest <= total || chunk == last {
                rest /= scale; // from here on relative to the chunk's own largest score
                break;
            }
            rest -= total;
            chunk += 1;
        }
        let sums = &all.chunks[chunk];
        let n_packs = sums.packs.len() / n_seq;
        let mut pack = 0;
        while pack + 1 < n_packs && rest > f64::from(sums.packs[pack * n_seq + i]) {
            rest -= f64::from(sums.packs[pack * n_seq + i]);
            pack += 1;
        }
        let place = chunk * CHUNK + pack;
        let used = LANES.min(self.n_codes - place * LANES);
        for (lane, &score) in self.rows[place * n_seq + i][..used].iter().enumerate() {
            rest -= f64::from((score - sums.largest[i]).exp());
            if rest <= 0.0 {
                return place * LANES + lane;
            }
        }
        place * LANES + used - 1
    }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(n_codes: usize, n_seq: usize, phase: f64) -> Table {
        let score = |m: usize, i: usize| 40.0 * ((m * 7 + i * 3) as f64 * 0.37 + phase).sin();
        let mut table = Table::default();
        for (r, row) in table.rows_for(n_codes, n_seq).iter_mut().enumerate() {
            *row = std::array::from_fn(|lane| score(r / n_seq * LANES + lane, r % n_seq) as f32);
        }
        table
    }

    /// The textbook sums of one sequence: log evidence, ESS, normalised weights.
    fn plain(scores: &Table, i: usize) -> (f64, f64, Vec<f64>) {
        let each: Vec<f64> = (0..scores.n_codes).map(|m| f64::from(scores.get(m, i))).collect();
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
            let (log_evidences, esses) = scores.summarise();
            let uniforms = vec![u; n_seq];
            let chosen = scores.resample(1, &uniforms);
            let want: Vec<_> = (0..n_seq).map(|i| plain(&scores, i)).collect();
            scores.turn_to_weights();
            for (i, (log_evidence, ess, weights)) in want.iter().enumerate() {
                prop_assert!((log_evidences[i] - log_evidence).abs() < 1e-5);
                prop_assert!((esses[i] / ess - 1.0).abs() < 1e-4);
                for (m, w) in weights.iter().enumerate() {
                    prop_assert!((n_seq as f64 * f64::from(scores.get(m, i)) - w).abs() < 1e-6);
                }
                // The pick is where the cumulated weight passes u, but for rounding at the border.
                let place = chosen.pulls.iter().position(|pulls| pulls.iter().any(|pull| pull.0 == i));
                let picked = chosen.codes[place.unwrap()];
                let below: f64 = weights[..picked].iter().sum();
                prop_assert!(below < u + 1e-5 && u - 1e-5 < below + weights[picked]);
            }
        }
    }
}
