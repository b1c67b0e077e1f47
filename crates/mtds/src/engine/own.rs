//! Codes of their own for every sequence: the sequences, what is asked for, what is found.
//!
//! ```text
//! ℓ_ik = log p(Y_i | h_φ(z_ik)),  k = 1 … K      w_i from ℓ_i by a rule      ∇ Σ_i Σ_k w_ik ℓ_ik
//! ```
//! A long sequence may be arranged in windows of time. The state goes on from one to the next, so that likelihoods are
//! the same; gradients stop where a window begins (truncated back-propagation).

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::cpu::OwnMemory;
use crate::base::emission::Group;
use crate::family::Family;
use crate::system::System;

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
        let whole = |i: usize| windows(family, (i, 0..family.sequence(i).n_time()), steps);
        Self { sequences: (0..family.n_seq()).map(whole).collect(), n_observed: family.n_observed() }
    }

    /// A family (in model units) for a model, which may want the first outputs told and not scored.
    #[must_use]
    pub fn for_model(model: &System, family: &Family, window: Option<usize>) -> Self {
        let seed = model.seed_steps();
        let batch = Self::windowed(family, window.unwrap_or(usize::MAX).max(seed));
        if seed == 0 { batch } else { batch.told(seed) }
    }

    /// Pieces of the sequences of a family (in model units), by number of the sequence and its steps, likewise.
    #[must_use]
    pub fn of_pieces(
        model: &System,
        family: &Family,
        pieces: Vec<(usize, Range<usize>)>,
        window: Option<usize>,
    ) -> Self {
        let seed = model.seed_steps();
        let steps = window.unwrap_or(usize::MAX).max(seed);
        let sequences = pieces.into_iter().map(|piece| windows(family, piece, steps)).collect();
        Self { sequences, n_observed: 0 }.told(seed)
    }

    /// The same with the outputs of the first steps told, and all that are scored counted.
    fn told(self, seed: usize) -> Self {
        let mut batch = self;
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

    /// The windows of sequence `i`, in order of time.
    pub(crate) fn windows(&self, i: usize) -> &[Group<f32>] {
        &self.sequences[i]
    }

    /// Number of sequences.
    #[must_use]
    pub fn n_seq(&self) -> usize {
        self.sequences.len()
    }
}

/// Windows of at most `steps` steps of a piece of a sequence.
fn windows(family: &Family, (i, piece): (usize, Range<usize>), steps: usize) -> Arc<[Group<f32>]> {
    let window = |t: usize| Group::of_window(family, i, t..piece.end.min(t.saturating_add(steps.max(1))));
    piece.clone().step_by(steps.max(1)).map(window).collect()
}

/// What is pulled, and by which weights.
#[derive(Clone, Copy, Debug)]
pub enum OwnPull<'a> {
    /// Nothing: likelihoods only.
    Nothing,
    /// The parameters.
    Parameters(OwnWeights<'a>),
    /// The codes, each by its own likelihood with weight one.
    Codes,
    /// Parameters and codes, both by the weights.
    Both(OwnWeights<'a>),
}

impl<'a> OwnPull<'a> {
    /// The weights, where parameters are pulled.
    pub(super) fn weights(self) -> Option<OwnWeights<'a>> {
        match self {
            Self::Parameters(weights) | Self::Both(weights) => Some(weights),
            Self::Nothing | Self::Codes => None,
        }
    }

    /// Whether gradients with respect to codes are asked for.
    pub(super) fn pulls_codes(self) -> bool {
        matches!(self, Self::Codes | Self::Both(_))
    }
}

/// Weights w_ik as data.
#[derive(Clone, Copy, Debug)]
pub enum OwnWeights<'a> {
    /// The same for every code of every sequence.
    Equal(f64),
    /// By likelihood.
    Importance(Importance<'a>),
    /// These, N × K.
    Fixed(&'a [f64]),
}

/// w_ik ∝ exp(τ Σ ℓ + r), normalised over k; the sum is over the sequences that share a code.
#[derive(Clone, Copy, Debug)]
pub struct Importance<'a> {
    /// τ.
    pub temperature: f64,
    /// r: for each set of K codes what is added, J × K.
    pub log_ratios: &'a [f64],
    /// Which set each sequence has; all sequences of a set must have the same K codes.
    pub code_of: &'a [usize],
    /// Log of a weight, relative to the largest, that is taken for zero; −∞ for none.
    pub log_negligible: f64,
}

impl Importance<'_> {
    /// Whether a set of codes serves several sequences.
    pub(super) fn is_shared(&self, per_sequence: usize) -> bool {
        self.code_of.len() * per_sequence > self.log_ratios.len()
    }

    /// Weights of the codes of sequence `i`, given the likelihoods of its set.
    pub(super) fn weigh(&self, i: usize, likelihoods: &[f64], weights: &mut [f64]) {
        let (k, j) = (weights.len(), self.code_of[i]);
        normalised(
            likelihoods,
            &self.log_ratios[j * k..(j + 1) * k],
            (self.temperature, self.log_negligible),
            weights,
        );
    }
}

/// w_k = exp(τ ℓ_k + r_k) / Σ; all zero where nothing is possible.
pub fn normalised(
    likelihoods: &[f64],
    log_ratios: &[f64],
    (temperature, log_negligible): (f64, f64),
    weights: &mut [f64],
) {
    let mut largest = f64::NEG_INFINITY;
    for ((w, l), r) in weights.iter_mut().zip(likelihoods).zip(log_ratios) {
        *w = temperature * l + r;
        largest = largest.max(*w);
    }
    let mut total = 0.0;
    for w in weights.iter_mut() {
        let relative = *w - largest;
        // Without a cut, NaN stays NaN: what is broken must show.
        let counts = relative > log_negligible || log_negligible == f64::NEG_INFINITY;
        *w = if counts { relative.exp() } else { 0.0 };
        total += *w;
    }
    weights.iter_mut().for_each(|w| *w /= total.max(f64::MIN_POSITIVE));
}

/// What a pass over all sequences found; used again, it keeps the memory of the pass.
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
    /// What the engine uses again.
    pub(super) memory: OwnMemory,
}

impl OwnResult {
    /// Nothing found yet, and a gradient of zeros where one is asked for.
    pub(super) fn clear(&mut self, n_parameters: usize, pull: OwnPull<'_>) {
        self.log_likelihoods.clear();
        self.weights.clear();
        self.codes.clear();
        let n_pulled = if pull.weights().is_some() { n_parameters } else { 0 };
        self.parameters.resize(n_pulled, 0.0);
        self.parameters.par_chunks_mut(1 << 16).for_each(|part| part.fill(0.0));
    }
}
