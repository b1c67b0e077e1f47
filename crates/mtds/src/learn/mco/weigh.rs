//! From scores to evidence, weights and resampled particles.
//!
//! ```text
//! log_evidence_i = log Σ_m e^{score_mi} − log M      w_mi = e^{score_mi} / Σ_m' e^{score_m'i}
//! ess_i = 1 / Σ_m w_mi²
//! ```

use rayon::prelude::*;

use crate::kernel::{Arch, Kernel, LANES, Lanes, Pack, Scalar, dispatch};
use crate::model::LogLikelihoods;

/// What the scores say about each sequence.
pub(super) struct Summary {
    /// Largest score.
    largest: Vec<f32>,
    /// Σ_m e^{score − largest}, per pack and sequence (pack-major).
    pack_sums: Vec<f32>,
    /// The same over all packs.
    totals: Vec<f64>,
    /// log (1/M) Σ_m e^{score}.
    pub log_evidence: Vec<f64>,
    /// Effective sample size.
    pub ess: Vec<f64>,
}

pub(super) fn summarise(scores: &LogLikelihoods) -> Summary {
    let (n_seq, rows) = (scores.n_seq(), scores.rows());
    let n_packs = rows.len() / n_seq;
    let mut largest = vec![f32::NEG_INFINITY; n_seq];
    for rows in rows.chunks_exact(n_seq) {
        for (largest, row) in largest.iter_mut().zip(rows) {
            *largest = row.iter().fold(*largest, |m, &s| m.max(s));
        }
    }
    let mut sums = vec![[0.0f32; 2]; n_packs * n_seq];
    let work = rows.par_chunks(n_seq).zip(sums.par_chunks_mut(n_seq)).with_min_len(8);
    work.for_each(|(rows, sums)| dispatch(SumPack { rows, largest: &largest, sums }));
    let (mut totals, mut squares) = (vec![0.0f64; n_seq], vec![0.0f64; n_seq]);
    for sums in sums.chunks_exact(n_seq) {
        for (i, [sum, square]) in sums.iter().enumerate() {
            totals[i] += f64::from(*sum);
            squares[i] += f64::from(*square);
        }
    }
    let log_m = (scores.n_codes() as f64).ln();
    let log_evidence = totals.iter().zip(&largest).map(|(t, &l)| f64::from(l) + t.ln() - log_m).collect();
    let ess = totals.iter().zip(&squares).map(|(t, s)| t * t / s).collect();
    Summary { largest, pack_sums: sums.into_iter().map(|s| s[0]).collect(), totals, log_evidence, ess }
}

/// Sums of e^{score − largest} and of its square over the lanes of one pack, for every sequence.
struct SumPack<'a> {
    rows: &'a [[f32; LANES]],
    largest: &'a [f32],
    sums: &'a mut [[f32; 2]],
}

impl Kernel for SumPack<'_> {
    type Output = ();
    #[inline(always)]
    fn run<A: Arch>(self) {
        for ((row, &largest), sums) in self.rows.iter().zip(self.largest).zip(self.sums) {
            let e = (Pack::<f32, A>::new(*row) - Pack::splat(largest)).exp();
            *sums = [e.sum(), (e * e).sum()];
        }
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
            *row = (e * Pack::splat(factor)).to_array();
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

/// The particle at which the cumulated weight of sequence `i` reaches `u`.
fn pick(scores: &LogLikelihoods, summary: &Summary, i: usize, u: f64) -> usize {
    let n_seq = scores.n_seq();
    let n_packs = summary.pack_sums.len() / n_seq;
    let mut rest = u * summary.totals[i];
    let mut pack = 0;
    while pack + 1 < n_packs && rest > f64::from(summary.pack_sums[pack * n_seq + i]) {
        rest -= f64::from(summary.pack_sums[pack * n_seq + i]);
        pack += 1;
    }
    let row = &scores.rows()[pack * n_seq + i];
    let used = LANES.min(scores.n_codes() - pack * LANES);
    for (lane, &score) in row[..used].iter().enumerate() {
        rest -= f64::from((score - summary.largest[i]).exp());
        if rest <= 0.0 {
            return pack * LANES + lane;
        }
    }
    pack * LANES + used - 1
}
